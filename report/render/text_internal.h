/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files of the text renderer: width of text, cuts, colours. */
#ifndef HI_REPORT_RENDER_TEXT_INTERNAL_H
#define HI_REPORT_RENDER_TEXT_INTERNAL_H

#include "report/render/text.h"

struct hi_text_style {
	FILE *out;
	unsigned width;
	bool color, utf8;
};

/* Returns the columns that text takes on a terminal; a byte that is not UTF-8 takes
 * one. */
unsigned hi_text_columns(const struct hi_text_style *style, const char *text);
/* Returns the bytes of the longest prefix of text that takes at most `columns`. */
size_t hi_text_prefix(const struct hi_text_style *style, const char *text,
		      unsigned columns, unsigned *taken_ret);
/* Returns text in at most `columns` columns, cut with an ellipsis inside of template
 * arguments or in the middle, in ASCII if the style is ASCII. Lives in the arena. NULL:
 * out of memory. */
const char *hi_text_fit(const struct hi_text_style *style, struct hi_arena *arena,
			const char *text, unsigned columns);
/* The same for a text with template arguments, which is cut inside of them, and keeps
 * what stands outside. NULL: it has none, or does not fit so, or out of memory. text:
 * hi_text_plain(). */
const char *hi_text_fit_arguments(const struct hi_text_style *style,
				  struct hi_arena *arena, const char *text,
				  unsigned columns);
/* Returns the text, in ASCII if the style is ASCII. */
const char *hi_text_plain(const struct hi_text_style *style, struct hi_arena *arena,
			  const char *text);
/* Starts a colour ('b' bold, 'd' dim, 'y' yellow, 'c' cyan) or ends it (0). */
void hi_text_color(const struct hi_text_style *style, char what);

enum hi_status hi_text_table(const struct hi_text_style *style,
			     const struct hi_report_table *table, struct hi_error *err);

#endif
