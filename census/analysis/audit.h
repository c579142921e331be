/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * References that objects count against those that were found, by type. Plain data:
 * decode/inference/audit.c fills it in, report/ prints it.
 */
#ifndef HI_CENSUS_ANALYSIS_AUDIT_H
#define HI_CENSUS_ANALYSIS_AUDIT_H

#include "census/graph/graph.h"

struct hi_audit_row {
	uint32_t type;	  /* of the graph */
	uint64_t objects; /* that count more references than were found */
	uint64_t excess;  /* references */
	uint64_t bytes;	  /* of those objects */
	hi_node example;  /* the one with the largest excess; of several the lowest */
	uint64_t example_counted, example_found;
};
/* The same of objects that count fewer references than lead to them for certain: they
 * will be freed while they are in use. excess is what is missing. */
struct hi_audit {
	struct hi_audit_row *rows; /* by excess, then bytes, then type */
	size_t n_rows;
	struct hi_audit_row *short_rows; /* in the same order */
	size_t n_short_rows;
	uint64_t short_objects, missing;
	uint64_t objects; /* that count references */
	uint64_t excess_objects, excess;
};

/* Frees the rows; the struct is then zero. Zero-initialised is fine. */
void hi_audit_deinit(struct hi_audit *audit);

#endif
