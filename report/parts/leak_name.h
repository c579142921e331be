/* SPDX-License-Identifier: BSD-2-Clause */
/* What leaked objects are called: by their type, else by what looks the same or fits. */
#ifndef HI_REPORT_PARTS_LEAK_NAME_H
#define HI_REPORT_PARTS_LEAK_NAME_H

#include "census/analysis/analysis.h"
#include "report/display.h"
#include "report/json_writer.h"

/* All strings are hostile and borrowed from the graph and the groups. */
struct hi_leak_name {
	const char *type; /* "" untyped; then: */
	const char *like; /* "" none */
	uint64_t n_like;
	const char *fits[HI_LEAK_FITS]; /* the likeliest first */
	uint32_t n_fits;
	uint64_t usable;   /* 0: not known */
	uint32_t pointers; /* words of a block */
	bool text;	   /* begins with text */
	/* The beginning of that text, set by the caller, which owns it; NULL: not read;
	 * "": it is shown elsewhere. */
	const char *beginning;
	bool beginnings_differ; /* of a row: those of other blocks are not the same */
	/* What it holds: a type or the only record that fits; "" none. */
	const char *held;
	bool held_fits; /* held is not a type, but fits */
	/* Objects of that kind in the cycle; 1 and 1: no cycle. */
	uint32_t least_members, most_members;
};

/* Returns the name of the leak roots of a row. */
struct hi_leak_name hi_leak_name_of_row(const struct hi_graph *g,
					const struct hi_leaks *leaks,
					const struct hi_leak_row *row);
/* Returns the name of one leak root. */
struct hi_leak_name hi_leak_name_of_root(const struct hi_graph *g,
					 const struct hi_leaks *leaks,
					 const struct hi_leak_root *root);
/* Returns "struct node", "cycle of 2 struct node", "like live struct value (2,025)",
 * "fits struct value", "(untyped) 48 B, 2 pointers", "(untyped) 120 B, text", of which
 * the beginning was read "text of 120 B, "user=anna..."", and where other blocks of the row
 * have others "texts of 120 B, as "user=anna..."". Safe. */
const char *hi_leak_name_text(const struct hi_leak_name *name, enum hi_leak_shape shape,
			      struct hi_page *page);
/* The same without the beginning of a text ("text of 120 B"), for a second place on a page.
 */
const char *hi_leak_name_short_text(const struct hi_leak_name *name,
				    enum hi_leak_shape shape, struct hi_page *page);
/* Does its text say of which type it is, may be, or that it is text? */
static inline bool hi_leak_name_has_type(const struct hi_leak_name *name)
{
	return *name->type || name->text || name->n_fits;
}
/* Returns a line that explains such a name; "" where none is needed. */
const char *hi_leak_name_legend(const struct hi_leak_name *name);
/* Fields of struct hi_leak_name (document.h). */
extern const struct hi_doc_fields hi_leak_name_fields;
/* Writes the members type, like, like_count, fits, size, text of an object that the
 * caller opened. */
void hi_leak_name_json(const struct hi_leak_name *name, struct hi_json *json);

#endif
