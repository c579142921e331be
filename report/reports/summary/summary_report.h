/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The report `summary`: what is on the heap, what keeps it alive, what is leaked. Strings
 * are borrowed from graph and header.
 */
#ifndef HI_REPORT_REPORTS_SUMMARY_SUMMARY_REPORT_H
#define HI_REPORT_REPORTS_SUMMARY_SUMMARY_REPORT_H

#include "base/cleanup.h"
#include "census/analysis/alloc_sites.h"
#include "census/analysis/ledger.h"
#include "census/analysis/nearest_holder.h"
#include "census/analysis/owners.h"
#include "report/parts/leak_cycle.h"
#include "report/parts/leak_name.h"
#include "report/parts/report_header.h"
#include "report/parts/report_node.h"
#include "report/parts/unread_memory.h"
#include "report/reports/threads/threads_report.h"
#include "report/reports/tree/tree_report.h"

struct hi_summary_type {
	const char *type; /* "" untyped */
	uint64_t count, shallow, retained;
	enum hi_evidence evidence; /* that most of its bytes have */
};
struct hi_summary_leak {
	struct hi_leak_name kind;
	enum hi_leak_shape shape;
	enum hi_unreachable_class unreachable_class;
	bool is_likely; /* its leak roots; else certain */
	uint64_t count, bytes, objects;
	uint64_t example; /* address */
	uint64_t named;	  /* address of the object that kind is of */
	/* Lines of the program that can have made the example, by the code alone; set by
	 * the caller, which owns the sites. */
	struct hi_alloc_fits made_by;
};
struct hi_summary_suspect {
	struct hi_node_info top, accumulation;
	const char *path;	/* to its elements, without their indices; "" unknown */
	const char *child_type; /* "" untyped */
	uint64_t children, children_bytes; /* the elements; 0: none */
	uint64_t held;			   /* at the accumulation point, with all else */
	/* Lines of the program that can have made its elements, by the code alone; set by
	 * the caller, which owns the sites. */
	struct hi_alloc_fits made_by;
	bool is_list; /* each is linked to the next */
};

/* Variables that hold the same objects together; each of them would hold these alone,
 * too. */
struct hi_summary_owner {
	const struct hi_node_info *variables; /* n; those of the program first */
	size_t n;
	bool is_many;  /* more than HI_OWNERS_MAX, which are not listed: n is 0 */
	bool is_named; /* else words without a variable */
	uint64_t bytes;
	uint64_t nearest; /* of bytes: shared by many variables, of which this is the
			   * nearest (census/analysis/nearest_holder.h) */
	struct hi_node_info largest; /* of what they hold: a variable or an object */
};

enum { HI_SUMMARY_OWN_TYPES = 3, HI_SUMMARY_SIZES = 65 };

/* Live objects of a kind, or of a range of sizes. */
struct hi_summary_part {
	uint64_t objects, bytes;
};

struct hi_summary_inputs {
	const struct hi_report_header *header;
	const struct hi_graph *graph;
	const struct hi_reach *reach;
	const struct hi_dominators *dominators;
	const struct hi_leaks *leaks;
	const struct hi_census *census;
	const struct hi_suspects *suspects;
	const struct hi_owners *owners;	  /* of dominators */
	const struct hi_nearest *nearest; /* NULL: what many hold is a row of its own */
	/* One per suspect, as text, or NULL: the path to its top from a root (""
	 * where that is a root itself), and to where it accumulates. */
	const char *const *suspect_names, *const *suspect_paths;
	const char *const *lesser_names, *const *lesser_paths; /* of lesser ones, alike */
	const struct hi_ledger *ledger;	     /* NULL: could not be filled */
	const struct hi_leak_cycles *cycles; /* NULL: not asked for */
	size_t top;			     /* rows kept per table; SIZE_MAX: all */
	/* The top of the dominator tree, for a page with pictures; NULL: without it. */
	const struct hi_tree_report *tree;
};

struct hi_summary_report {
	const struct hi_report_header *header;
	const struct hi_ledger *ledger;
	bool heap_known; /* false: no objects are known; all below is empty */
	uint64_t live_objects, live_bytes;
	uint64_t leak_objects, leak_bytes; /* certain and likely */
	uint64_t likely_objects, likely_bytes;
	struct hi_unread unread;
	uint64_t untyped_bytes;	       /* of live */
	struct hi_summary_type *types; /* by shallow bytes */
	size_t n_types, n_types_total;
	uint64_t types_hidden_bytes; /* shallow, of those beyond n_types */
	/* The program's own types (census/graph/type_origin.h), the first of them, and
	 * their places among all types. */
	struct hi_summary_type own_types[HI_SUMMARY_OWN_TYPES];
	size_t own_places[HI_SUMMARY_OWN_TYPES], n_own_types;
	uint64_t kinds[HI_ROOT_KINDS];	    /* retained */
	uint64_t kind_roots[HI_ROOT_KINDS]; /* variables */
	uint64_t shared_by_kinds;	    /* live, but no kind alone keeps it */
	uint64_t shared_nearest[HI_NEAREST_CLASSES]; /* of that; 0: not known */
	struct hi_node_info
		*roots; /* by retained bytes; those that retain none are out */
	size_t n_roots, n_roots_total;
	struct hi_summary_owner *owners; /* by bytes */
	size_t n_owners, n_owners_total;
	struct hi_node_info *owner_variables; /* of all of them */
	struct hi_summary_leak *leaks;	      /* by bytes */
	size_t n_leaks, n_leaks_total;
	uint64_t leak_roots;
	const struct hi_leak_cycles *cycles; /* NULL: none are shown */
	const uint64_t *by_class; /* bytes[HI_UNREACHABLE_CLASSES]; NULL: no collector */
	struct hi_summary_suspect *suspects;
	size_t n_suspects;
	bool suspects_below; /* none has the share: the only one is the largest holder */
	/* By kind, and by usable bytes: [n] is above 2^(n - 1), up to 2^n. */
	struct hi_summary_part by_kind[HI_PICTURE_KINDS], by_size[HI_SUMMARY_SIZES];
	const struct hi_tree_report *tree; /* borrowed; NULL: none */
	struct hi_threads_report *threads; /* with the tree; else NULL */
	struct hi_summary_suspect *lesser; /* holders of a quarter of the share */
	size_t n_lesser;
};

/* Makes the report. Borrows its inputs, which outlive it. HI_NO_MEMORY. */
enum hi_status hi_summary_report_create(const struct hi_summary_inputs *in,
					struct hi_summary_report **ret,
					struct hi_error *err);
/* Frees the report; NULL is fine. */
void hi_summary_report_destroy(struct hi_summary_report *report);
HI_DEFINE_GUARD(struct hi_summary_report *, hi_summary_report_destroy)

/* Fills in the threads. HI_NO_MEMORY. */
enum hi_status hi_summary_take_threads(const struct hi_summary_inputs *in,
				       struct hi_summary_report *report,
				       struct hi_error *err);
/* Adds the table of threads; without threads, nothing. */
void hi_summary_threads(const struct hi_summary_report *report, struct hi_page *page);
/* Adds what the heap is made of as pictures; text has none. */
void hi_summary_pictures(const struct hi_summary_report *report, struct hi_page *page);
/* At most 60 lines at 80 columns with the default top. */
void hi_summary_display(const struct hi_summary_report *report, struct hi_page *page);
/* Parts of it, for other pages. Adds the line that says how much, and held by what. */
void hi_summary_show_headline(const struct hi_summary_report *report,
			      struct hi_page *page);
/* Returns "server.db: 1,312 × struct entry hold 712 KiB (97 %)". Safe. */
const char *hi_summary_suspect_text(const struct hi_summary_report *report,
				    const struct hi_summary_suspect *suspect,
				    struct hi_page *page);
/* Returns "server.db", "several variables". Safe. */
const char *hi_summary_suspect_place(const struct hi_summary_suspect *suspect,
				     struct hi_page *page);
/* Returns "server", "server + 2". Safe. */
const char *hi_summary_owner_label(const struct hi_summary_owner *owner,
				   struct hi_page *page);
/* The document "heapinspect/summary/v1". */
void hi_summary_json(const struct hi_summary_report *report, struct hi_json *json);

#endif
