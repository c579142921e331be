/* SPDX-License-Identifier: BSD-2-Clause */
/* The report `explain`: all that is known about one address. The caller fills it in,
 * because it knows fields and mappings. Strings are borrowed and hostile. */
#ifndef HI_REPORT_REPORTS_EXPLAIN_EXPLAIN_REPORT_H
#define HI_REPORT_REPORTS_EXPLAIN_EXPLAIN_REPORT_H

#include "census/analysis/alloc_sites.h"
#include "census/analysis/subgraph.h"
#include "report/parts/births_report.h"
#include "report/parts/object_life.h"
#include "report/parts/report_header.h"
#include "report/parts/report_node.h"

struct hi_explain_field {
	const char *path, *type;
	const char *value; /* escaped already */
	uint64_t offset, size;
	bool points; /* to `to` */
	struct hi_node_info to;
	uint8_t grade;
};
struct hi_explain_link {
	struct hi_node_info info;
	const char *text; /* the referring field as text */
	uint8_t grade;
};
/* One field of the evidence chain: why the object has its type. */
struct hi_explain_step {
	struct hi_node_info
		info;	  /* the referring node; the name of a root is in `text` too */
	const char *text; /* the field as text; escaped already */
	const char *says; /* type of the field: "dictEntry *"; escaped already; "" none */
	const char *origin; /* "redis.hints:12"; "" the declared type */
	bool is_believed;
};
struct hi_explain_report {
	const struct hi_report_header *header;
	uint64_t address;
	/* "live", "leak", "internal", "free_tcache", … "variable", "mapped",
	 * "unmapped"; text of this program */
	const char *state;
	enum hi_unreachable_class unreachable_class;
	/* Of a leak; because: the word that refers to it, as text; "" unknown. */
	bool is_likely;
	bool is_piece; /* live because the rest of its block is */
	const char *because;
	const char *mapping; /* "[heap]", "/usr/lib/…"; "" unknown */
	/* A block, else zero: */
	uint64_t block, usable, cost;
	uint64_t offset; /* of address in block or variable */
	/* An object (or a root variable), else sort is HI_NODE_SUPER: */
	struct hi_node_info info;
	bool conflict;	      /* two candidates for its type */
	const char *evidence; /* as text; "" none */
	/* Of an object of a runtime, else id is 0: as the program knows it. */
	uint64_t id, counted;
	bool counts;			     /* `counted` is its reference count */
	const char *name, *value;	     /* hostile; "" none */
	const struct hi_explain_step *steps; /* from a root, or from what is known
					      * by itself, to the object */
	size_t n_steps;
	size_t gap, left_out; /* steps left out before steps[gap] */
	const struct hi_explain_field *fields;
	size_t n_fields, n_fields_total;
	bool values_missing; /* a snapshot file without contents */
	const struct hi_explain_link *referrers;
	size_t n_referrers, n_referrers_total;
	size_t n_referrers_hidden;	       /* by --under; in neither of them */
	const struct hi_node_info *dominators; /* from the object upwards, roots last */
	size_t n_dominators;
	bool dominators_cut;
	struct hi_reachable reachable; /* of what is alive; UINT64_MAX: unknown */
	uint64_t live_bytes;
	struct hi_birth_info birth; /* of an object */
	/* Lines of the program that can have made the object, by the code alone. */
	struct hi_alloc_fits made_by;
	/* Its biography; life NULL: it has none. */
	const struct hi_bio_summary *lives;
	const struct hi_bio_life_row *life;
	/* The piece of a pool, or the mapping, that the address is in; NULL: none. */
	const struct hi_piece *piece;
	const struct hi_recorded *recorded; /* of the piece */
};

/* Adds the report to a page. */
void hi_explain_display(const struct hi_explain_report *report, struct hi_page *page);
/* Writes the report as the JSON document "heapinspect/explain/v1". */
void hi_explain_json(const struct hi_explain_report *report, struct hi_json *json);

#endif
