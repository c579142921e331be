/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The live objects by a property other than their type. One pass; the key of a row is
 * the text that it shows. Internal blocks are left out.
 *
 * To add a break-down: a member of enum hi_by and its word; its key in census_by.c
 * (find_group_row; break_down where it needs a table, keep_group_rows where it makes
 * names); its bit, heading and column in report/reports/census/census_report.c; its word
 * in the help of --by (cli/options/option_table.c) and in docs/guide/live.md; the word
 * in docs/schema/series.v1.json; scripts/schemas --update; a question in
 * tests/support/questions.c, and its name in tests/census/by_test.c.
 */
#ifndef HI_CENSUS_ANALYSIS_CENSUS_BY_H
#define HI_CENSUS_ANALYSIS_CENSUS_BY_H

#include "base/arena.h"
#include "base/cleanup.h"
#include "census/analysis/analysis.h"

enum hi_by {
	HI_BY_TYPE,   /* hi_census_by_type */
	HI_BY_TYPE2,  /* the type and the types of what it refers to */
	HI_BY_MODULE, /* that defines the type */
	HI_BY_CLASS,  /* record, array, string, … */
	HI_BY_SIZE,   /* usable bytes: each size up to HI_BY_SIZE_EXACT, then up to each
		       * power of two */
	HI_BY_OWNER,  /* as by type, but parts that one object alone refers to (the table
		       * of a dict, the items of a list) are in its row; a row counts no
		       * parts but those that nothing owns */
	HI_BY_NAMESPACE, /* that the name of the type has (type_namespace.h) */
	HI_BY_COUNT
};
/* Words of command lines and documents, by enum hi_by. */
#define HI_BY_WORDS                                                                      \
	[HI_BY_TYPE] = "type", [HI_BY_TYPE2] = "type2", [HI_BY_MODULE] = "module",       \
	[HI_BY_CLASS] = "class", [HI_BY_SIZE] = "size", [HI_BY_OWNER] = "owner",         \
	[HI_BY_NAMESPACE] = "namespace"
extern const char *const hi_by_words[HI_BY_COUNT];

enum { HI_BY_CHILDREN = 4, HI_BY_SIZE_EXACT = 1024, HI_BY_LEADS = 6 };

/* Targets of the edges of a row, roughly counted: a type, or the size class of objects
 * without one. */
struct hi_by_lead {
	uint64_t key; /* type id, or HI_BY_SIZE_KEY + the largest size of the class */
	uint64_t edges;
};
#define HI_BY_SIZE_KEY (1ull << 63)

struct hi_by_row {
	struct hi_census_row sum; /* type: TYPE2 only, else 0; retained: not of TYPE2
				   * (UINT64_MAX), nor without dominators */
	/* TYPE2: the types that precise edges of the object lead to, each once,
	 * by id; of more than HI_BY_CHILDREN the first ones. */
	uint32_t children[HI_BY_CHILDREN];
	uint32_t n_children;
	bool more;
	/* SIZE: the largest size of the class; edges of its objects to others; most of
	 * the edges go to the first of leads (each with more than a seventh is there;
	 * edges 0 ends them). */
	uint64_t size, edges;
	struct hi_by_lead leads[HI_BY_LEADS];
	/* "struct session {char [], struct item}"; the module, "" unknown; the
	 * namespace, "" none; the class; "48 B", "to 2.0 KiB". Hostile. */
	const char *name;
};
struct hi_by_census {
	enum hi_by by;
	struct hi_by_row *rows; /* by shallow, then name */
	size_t n_rows;
	uint64_t objects, bytes; /* live; also of types that were not selected */
	uint64_t other_types, other_bytes; /* that were not selected */
	struct hi_arena strings;
};

/* only: by type, those to count; NULL: all. dominators may be NULL. Not for
 * HI_BY_TYPE. Parts are what a runtime keeps
 * for its objects in blocks of their own (hi_is_part_type()). A record that is in truth
 * an array of them is in class "array". */
enum hi_status hi_census_break_down(const struct hi_graph *g,
				    const struct hi_reach *reach,
				    const struct hi_dominators *dominators, enum hi_by by,
				    const bool *only, struct hi_by_census **ret,
				    struct hi_error *err);
void hi_by_census_destroy(struct hi_by_census *census);
HI_DEFINE_GUARD(struct hi_by_census *, hi_by_census_destroy)

#endif
