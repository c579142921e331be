/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files of the text renderer: width of text, lines, cuts, colours. */
#ifndef HI_REPORT_RENDER_TEXT_INTERNAL_H
#define HI_REPORT_RENDER_TEXT_INTERNAL_H

#include "report/render/text.h"

/* Columns of a page's tables that its width has no room for. */
enum { HI_TEXT_LEFT_OUT = 8 };
struct hi_text_left_out {
	const char *titles[HI_TEXT_LEFT_OUT]; /* the first ones, each once; of the page */
	size_t n, more;			      /* more: that titles[] has no room for */
	unsigned width;			      /* the least one that shows them all */
};

struct hi_text_style {
	FILE *out;
	unsigned width;
	bool color, utf8;
	bool full_names;		   /* of types: tables shorten no arguments */
	struct hi_text_left_out *left_out; /* tables add to it; NULL: no matter */
};

/* Returns the bytes of the first character of a text that is not empty, and the columns
 * that it takes in *columns. */
size_t hi_text_character(const struct hi_text_style *style, const char *text,
			 unsigned *columns);

/* Returns the columns that text takes on a terminal; a byte that is not UTF-8 takes
 * one. */
unsigned hi_text_columns(const struct hi_text_style *style, const char *text);
/* Returns the bytes of the longest prefix of text that takes at most `columns`. */
size_t hi_text_prefix(const struct hi_text_style *style, const char *text,
		      unsigned columns, unsigned *taken_ret);
/* A line of a text that goes on below: what it shows, and where the next one begins, 0
 * only at the end of the text. The blanks between them are in neither. */
struct hi_text_line {
	size_t bytes, next;
	unsigned columns;
};
/* Returns the line that text begins with, in at most `columns` columns where one
 * character fits into these. It ends between words or parts of a name ("a::b<c, d>") if
 * it can; a number stays with its unit. */
struct hi_text_line hi_text_next_line(const struct hi_text_style *style, const char *text,
				      unsigned columns);
/* Returns the columns of the widest part of text that hi_text_next_line() need not
 * break. */
unsigned hi_text_widest_part(const struct hi_text_style *style, const char *text);
/* Returns whether text[i] is a blank at which a line may end: not that between a number
 * and its unit, "10.7 MiB", "5.0 %". */
bool hi_text_may_end_at_blank(const char *text, size_t i);
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
/* Returns text without the namespaces of arguments of a library's templates:
 * "vector<…::Order>"; text itself if it has none, or out of memory. text:
 * hi_text_plain(). */
const char *hi_text_short_arguments(const struct hi_text_style *style,
				    struct hi_arena *arena, const char *text);
/* Returns the text, in ASCII if the style is ASCII. */
const char *hi_text_plain(const struct hi_text_style *style, struct hi_arena *arena,
			  const char *text);
/* Starts a colour ('b' bold, 'd' dim, 'y' yellow, 'c' cyan) or ends it (0). */
void hi_text_color(const struct hi_text_style *style, char what);

enum hi_status hi_text_table(const struct hi_text_style *style,
			     const struct hi_report_table *table, struct hi_error *err);

#endif
