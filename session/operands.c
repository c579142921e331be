/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/operands.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/type_name.h"

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

/* "Order: 2 types have this name: shop::Order, bill::Order" */
static void note_all_names(struct hi_inspection *in, const char *pattern,
			   const struct hi_type_set *set)
{
	char out[HI_TYPE_SHORT_SIZE], text[400];
	size_t used = 0;
	uint32_t shown = 0;

	for (uint32_t i = 0; i < set->n_types && used < sizeof(text) / 2; i++) {
		if (!set->has[i])
			continue;
		hi_type_short(hi_graph_type_name(in->graph, i), out, sizeof(out));
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%.100s",
					 shown++ ? ", " : "", out);
	}
	hi_inspect_note(in, "%.60s is the name of %u types: %s%s", pattern, set->count,
			text, shown < set->count ? ", …" : "");
}

enum hi_status hi_lookup_types(struct hi_inspection *in, const char *pattern,
			       struct hi_type_set *ret, struct hi_error *err)
{
	struct hi_types_near near;
	struct hi_error missing;
	enum hi_status status = hi_types_select(in->graph, pattern, ret, &near, &missing);

	if (status == HI_OK && ret->ambiguous)
		note_all_names(in, pattern, ret);

	if (status != HI_NOT_FOUND) {
		if (status != HI_OK && err)
			*err = missing;
		return status;
	}
	if (!near.name[0][0])
		return hi_fail(err, HI_NOT_FOUND, 0,
			       "%.140s; heapinspect census lists them", missing.text);
	return hi_fail(err, HI_NOT_FOUND, 0, "%.100s; near it: %.50s%s%.50s%s%.50s",
		       missing.text, near.name[0], near.name[1][0] ? ", " : "",
		       near.name[1], near.name[2][0] ? ", " : "", near.name[2]);
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
