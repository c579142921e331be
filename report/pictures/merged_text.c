/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/pictures/merged_text.h"

#include <stdio.h>

#include "report/function_name.h"
#include "report/type_name.h"

const char *hi_merged_type_text(const struct hi_graph *g, uint32_t key,
				char out[HI_MERGED_TEXT])
{
	const char *name = hi_merged_name(g, key);

	if (key < g->n_types)
		return hi_type_short(name, out, HI_MERGED_TEXT);
	snprintf(out, HI_MERGED_TEXT, "%s", name);
	return out;
}

const char *hi_merged_text(const struct hi_graph *g, const struct hi_merged *m,
			   uint32_t frame, char out[HI_MERGED_TEXT])
{
	const struct hi_merged_frame *f = &m->frames[frame];
	bool is_plain = f->key == HI_MERGED_PLAIN;
	int n;

	if (is_plain)
		return hi_function_short(f->label, out, HI_MERGED_TEXT);
	n = snprintf(out, HI_MERGED_TEXT, "%s%s", f->label, *f->label ? ": " : "");
	if (n >= 0 && n < HI_MERGED_TEXT) {
		char type[HI_MERGED_TEXT];

		snprintf(out + n, HI_MERGED_TEXT - (size_t)n, "%s",
			 hi_merged_type_text(g, f->key, type));
	}
	return out;
}
