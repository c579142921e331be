/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * References that objects count against those that were found, by type. Plain data:
 * decode/inference/audit.c fills it in, report/ prints it.
 */
#ifndef HI_CENSUS_ANALYSIS_AUDIT_H
#define HI_CENSUS_ANALYSIS_AUDIT_H

#include "census/graph/graph.h"

/* Habits of libraries that take references once and never give them back, which costs
 * little and never grows. */
enum hi_known_loss {
	HI_LOSS_UNKNOWN, /* none of them */
	HI_LOSS_CYTHON,
	HI_LOSS_F2PY,
	HI_LOSS_SIP,
	HI_KNOWN_LOSSES,
};
/* "constants of Cython", …; of HI_LOSS_UNKNOWN "". */
const char *hi_known_loss_name(enum hi_known_loss loss);

struct hi_audit_row {
	uint32_t type;	  /* of the graph */
	uint64_t objects; /* that count more references than were found */
	uint64_t excess;  /* references */
	uint64_t bytes;	  /* of those objects */
	hi_node example;  /* the one with the largest excess; of several the lowest */
	uint64_t example_counted, example_found;
	enum hi_known_loss loss; /* of known_rows */
};
/* The same of objects that count fewer references than lead to them for certain: they
 * will be freed while they are in use. excess is what is missing. */
struct hi_audit {
	struct hi_audit_row *rows; /* by excess, then bytes, then type */
	size_t n_rows;
	struct hi_audit_row *short_rows; /* in the same order */
	size_t n_short_rows;
	uint64_t short_objects, missing;
	uint64_t objects;		 /* that count references */
	uint64_t excess_objects, excess; /* those of rows */
	/* Known losses, which are in none of the other numbers: in the same order. */
	struct hi_audit_row *known_rows;
	size_t n_known_rows;
	uint64_t known_objects, known;
};

/* Frees the rows; the struct is then zero. Zero-initialised is fine. */
void hi_audit_deinit(struct hi_audit *audit);

#endif
