/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/lookup.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool hi_lookup_is_address(const char *text, uint64_t *ret)
{
	char *end;
	unsigned long long n;

	if (text[0] != '0' || (text[1] != 'x' && text[1] != 'X') || !text[2] ||
	    strspn(text + 2, "0123456789abcdefABCDEF") != strlen(text + 2))
		return false;
	errno = 0;
	n = strtoull(text, &end, 16);
	if (errno || *end)
		return false;
	*ret = n;
	return true;
}

enum hi_status hi_lookup_types(const struct hi_inspection *in, const char *pattern,
			       struct hi_type_set *ret, struct hi_error *err)
{
	const char *near[HI_NAMES_NEAREST];
	struct hi_error missing;
	enum hi_status status = hi_types_select(in->graph, pattern, ret, near, &missing);

	if (status != HI_NOT_FOUND) {
		if (status != HI_OK && err)
			*err = missing;
		return status;
	}
	if (!near[0])
		return hi_fail(err, HI_NOT_FOUND, 0,
			       "%.140s; heapinspect census lists them", missing.text);
	return hi_fail(err, HI_NOT_FOUND, 0, "%.100s; near it: %.50s%s%.50s%s%.50s",
		       missing.text, near[0], near[1] ? ", " : "", near[1] ? near[1] : "",
		       near[2] ? ", " : "", near[2] ? near[2] : "");
}

size_t hi_lookup_top(const struct hi_options *options, size_t usual)
{
	if (options->selection.all)
		return SIZE_MAX;
	return options->selection.top ? options->selection.top : usual;
}

enum hi_status hi_lookup_restrict(const struct hi_inspection *in, size_t usual,
				  struct hi_type_set *set, struct hi_restrict *ret,
				  struct hi_error *err)
{
	struct hi_restrict only = {.top = hi_lookup_top(in->options, usual),
				   .type_pattern = in->options->selection.type,
				   .min_size = in->options->selection.min_size};

	*set = (struct hi_type_set){};
	if (in->options->selection.type) {
		enum hi_status status =
			hi_lookup_types(in, in->options->selection.type, set, err);

		if (status != HI_OK)
			return status;
		only.types = set;
	}
	*ret = only;
	return HI_OK;
}
