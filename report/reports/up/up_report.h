/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The report `up`: from the objects of a type to the roots, step by step: what retains
 * them, what retains those, and so on. No step starts from a type that an earlier step
 * had.
 */
#ifndef HI_REPORT_REPORTS_UP_UP_REPORT_H
#define HI_REPORT_REPORTS_UP_UP_REPORT_H

#include "base/cleanup.h"
#include "census/retainers/retainers.h"
#include "report/parts/report_header.h"
#include "report/reports/retainers/retainers_report.h"

enum { HI_UP_STEPS = 16, HI_UP_SETS = 4, HI_UP_TYPES = 6 };

struct hi_up_step {
	/* The types of this step, the one with most bytes first; types beyond
	 * HI_UP_TYPES are only counted. */
	uint32_t types[HI_UP_TYPES];
	uint32_t n_types;
	uint64_t objects, bytes; /* alive, of these types */
	struct hi_retainers_row *rows;
	size_t n_rows;		 /* by bytes, at most HI_UP_SETS without --all */
	struct hi_hidden hidden; /* sets that are not listed */
};
struct hi_up_report {
	const struct hi_report_header *header;
	const struct hi_graph *graph;
	const char *pattern; /* as typed */
	hi_set_name_fn *name;
	void *arg;
	struct hi_up_step *steps;
	size_t n_steps;
	bool cut;  /* there are more steps */
	bool many; /* a set was MANY: its members are not known */
	struct hi_arena arena;
};

struct hi_up_view {
	const char *pattern;
	const bool *types;	 /* by graph type: to begin with */
	const uint32_t *of_type; /* identity of retainers of a type; 0: none */
	hi_set_name_fn *name;
	void *arg;
	size_t top; /* sets a step */
};

/* The document "heapinspect/up/v1" after its header. */
extern const struct hi_doc_fields hi_up_document;

/* Makes the report. Borrows its inputs, which outlive it. HI_NO_MEMORY. */
enum hi_status
hi_up_report_create(const struct hi_report_header *header, const struct hi_graph *graph,
		    const struct hi_reach *reach, const struct hi_retainers *retainers,
		    const struct hi_set_pool *pool, const struct hi_up_view *view,
		    struct hi_up_report **ret, struct hi_error *err);
/* Frees the report; NULL is fine. */
void hi_up_report_destroy(struct hi_up_report *report);
HI_DEFINE_GUARD(struct hi_up_report *, hi_up_report_destroy)
/* Adds the report to a page. */
void hi_up_display(const struct hi_up_report *report, struct hi_page *page);
/* Writes the report as the JSON document "heapinspect/up/v1". */
void hi_up_json(const struct hi_up_report *report, struct hi_json *json);

#endif
