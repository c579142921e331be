/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/operands.h"

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

enum hi_status hi_lookup_types(struct hi_inspection *in, const char *pattern,
			       struct hi_type_set *ret, struct hi_error *err)
{
	struct hi_types_near near;
	struct hi_error missing;
	enum hi_status status = hi_types_select(in->graph, pattern, ret, &near, &missing);

	if (status == HI_OK && *ret->taken)
		hi_inspect_note(in, "%.100s is taken as %s", pattern, ret->taken);
	if (status == HI_OK)
		return HI_OK;
	if (status == HI_NOT_FOUND && near.name[0][0])
		hi_types_near_append(missing.text, sizeof(missing.text), &near);
	else if (status == HI_NOT_FOUND)
		return hi_fail(err, HI_NOT_FOUND, 0,
			       "%.140s; heapinspect census lists them", missing.text);
	if (err)
		*err = missing;
	return status;
}

size_t hi_lookup_top(const struct hi_options *options, size_t usual)
{
	if (options->selection.all)
		return SIZE_MAX;
	return options->selection.top ? options->selection.top : usual;
}

enum hi_status hi_lookup_restrict(struct hi_inspection *in, size_t usual,
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

		/* A series that counts these alone may have them later. */
		if (status == HI_NOT_FOUND && in->run->census_cache &&
		    in->options->selection.type_restricts) {
			*ret = only;
			return HI_OK;
		}
		if (status != HI_OK)
			return status;
		only.types = set;
	}
	*ret = only;
	return HI_OK;
}
