/* SPDX-License-Identifier: BSD-2-Clause */
/* New objects by type: what they retain, a path to one of them, what holds them.
 * Borrowed. */
#ifndef HI_REPORT_REPORTS_DIFF_NEW_OBJECTS_H
#define HI_REPORT_REPORTS_DIFF_NEW_OBJECTS_H

#include "census/analysis/compare.h"
#include "census/analysis/leak_totals.h"
#include "report/display.h"
#include "report/json_writer.h"
#include "report/parts/hidden_rows.h"

struct hi_new_row {
	const char *type; /* "" untyped; hostile */
	uint64_t count, bytes;
	uint64_t leaked, likely, garbage; /* of count */
	uint64_t retained;		  /* a lower bound */
	uint64_t of;	  /* survivors: objects of the type that were born; 0: unknown */
	uint64_t example; /* the address of the one that retains most */
	const char *way;  /* to it, from a root; escaped already; "" none */
};
struct hi_new_holder {
	const char *name; /* the path to the holder, as text; escaped already */
	const char *type; /* of the holder; hostile */
	uint64_t address; /* 0: a variable's */
	uint64_t objects, bytes;
};
struct hi_new_objects {
	const struct hi_new_row *rows; /* most bytes first */
	size_t n_rows;
	struct hi_hidden_rows hidden;
	struct hi_heap_total all, unheld[HI_LEAK_KINDS]; /* unheld: nothing holds them */
	const struct hi_new_holder *holders;		 /* most bytes first */
	size_t n_holders;
};

/* Returns whether one of the objects is live. */
bool hi_new_row_is_held(const struct hi_new_row *row);
/* Adds both tables to a page, nothing if no object is new. survivors: the wording of
 * `diff --three`. */
void hi_new_objects_show(const struct hi_new_objects *n, bool survivors,
			 struct hi_page *page);
/* Forms of the fields of new objects, beside those of the report. */
enum { HI_NEW_BORN = 1 << 16, HI_NEW_SURVIVED = 1 << 17 };
/* Fields of struct hi_new_row. */
extern const struct hi_doc_fields hi_new_row_fields;
/* The members growth, leaked, likely and garbage. */
extern const struct hi_doc_fields hi_new_objects_fields;
/* Fields of struct hi_heap_total. */
extern const struct hi_doc_fields hi_heap_total_fields;

#endif
