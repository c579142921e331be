/* SPDX-License-Identifier: BSD-2-Clause */
/* The report `waste`: bytes that the heap holds without need. Strings are borrowed. */
#ifndef HI_REPORT_REPORTS_WASTE_WASTE_REPORT_H
#define HI_REPORT_REPORTS_WASTE_WASTE_REPORT_H

#include "census/analysis/waste.h"
#include "report/document.h"
#include "report/parts/report_header.h"
#include "report/parts/report_node.h"
#include "report/parts/row_selection.h"

struct hi_waste_line {
	const char *name; /* of the type, "" untyped; or of the row */
	struct hi_waste_row n;
};

struct hi_waste_report {
	const struct hi_report_header *header;
	const struct hi_waste *waste;  /* totals, groups; groups are as restricted */
	const struct hi_heap_use *use; /* unrestricted */
	const struct hi_graph *graph;
	/* What rows are, where not types: their names by number, hostile. NULL: types. */
	const char *const *row_names;
	struct hi_waste_line *rows; /* by hi_waste_worst, types that waste anything */
	size_t n_rows;
	/* Of use, by what they waste: as many as are asked for, the rest counted. */
	struct hi_slab_class *slabs;
	size_t n_slabs;
	struct hi_slab_class
		all_slabs;	       /* the total; size and allocator have no meaning */
	struct hi_hidden slabs_beyond; /* in bytes that they waste */
	bool restricted;
	struct hi_hidden_rows hidden; /* in bytes of hi_waste_worst */
};

/* Returns the rank of a type: the largest of its copied, savable and zero bytes. They
 * may be the same bytes, so their sum has no meaning. */
uint64_t hi_waste_worst(const struct hi_waste_row *row);

struct hi_waste_inputs {
	const struct hi_report_header *header;
	const struct hi_graph *graph;
	const struct hi_waste *waste;
	/* Optional: rows by the function that allocated, and their names by number; waste
	 * has the totals and groups. */
	const struct hi_waste *by_site;
	const char *const *site_names;
	/* All zero where no allocator is known (header->allocator is NULL). */
	const struct hi_heap_use *use;
	const struct hi_restrict *only;
};
/* Makes the report. Borrows its inputs. HI_NO_MEMORY. */
enum hi_status hi_waste_report_create(const struct hi_waste_inputs *inputs,
				      struct hi_waste_report **ret, struct hi_error *err);
/* Frees the report; NULL is fine. */
void hi_waste_report_destroy(struct hi_waste_report *report);
/* Adds the report to a page. */
void hi_waste_display(const struct hi_waste_report *report, struct hi_page *page);
/* The document "heapinspect/waste/v1" after its header. */
extern const struct hi_doc_fields hi_waste_document;
/* Writes the report as the JSON document "heapinspect/waste/v1". */
void hi_waste_json(const struct hi_waste_report *report, struct hi_json *json);

#endif
