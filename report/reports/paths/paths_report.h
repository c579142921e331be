/* SPDX-License-Identifier: BSD-2-Clause */
/* The report `paths`: the shortest paths from a root to an object or to the objects of
 * a type. The caller names the edges. */
#ifndef HI_REPORT_REPORTS_PATHS_PATHS_REPORT_H
#define HI_REPORT_REPORTS_PATHS_PATHS_REPORT_H

#include "report/document.h"
#include "report/parts/report_header.h"
#include "report/parts/report_node.h"

struct hi_paths_step {
	struct hi_node_info info;
	const char *edge; /* how the step before refers to it; "" for the first */
};
struct hi_paths_way {
	const char *text; /* "server.db[0].dict->ht_table[0][17]->next" */
	/* Of ways that are alike: "server.db[0].dict->ht_table[0][*]->next"; else the
	 * text. */
	const char *pattern;
	size_t n_alike;	   /* with this one; at least 1 */
	bool more_alike;   /* there may be more of them */
	bool named_by_key; /* the first key is the name of a variable */
	enum hi_grade worst;
	struct hi_paths_step *steps;
	hi_node *nodes; /* n_steps */
	size_t n_steps;
};
/* Plain data, filled by the caller; strings borrowed and hostile. */
struct hi_paths_report {
	const struct hi_report_header *header;
	const char *query;  /* as typed */
	const char *target; /* "struct dict 0x55… (32 B)", "struct conn (12 objects)" */
	uint64_t n_targets; /* live objects among the selected ones */
	uint64_t n_unreachable; /* selected, but leaked */
	struct hi_paths_way *ways;
	size_t n_ways;
	uint64_t n_doubtful; /* conservative ways that are left out, of more steps than */
	unsigned doubtful_steps;
	bool more;  /* there may be other paths */
	bool steps; /* show every step (-v) */
};

/* Adds the report to a page. */
void hi_paths_display(const struct hi_paths_report *report, struct hi_page *page);
/* The document "heapinspect/paths/v1" after its header. */
extern const struct hi_doc_fields hi_paths_document;
/* Writes the report as the JSON document "heapinspect/paths/v1". */
void hi_paths_json(const struct hi_paths_report *report, struct hi_json *json);

#endif
