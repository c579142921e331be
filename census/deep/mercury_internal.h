/* SPDX-License-Identifier: BSD-2-Clause */
/* A file Deep.data as it was read: its nodes by id, not yet checked against each other.
 */
#ifndef HI_CENSUS_DEEP_MERCURY_INTERNAL_H
#define HI_CENSUS_DEEP_MERCURY_INTERNAL_H

#include "base/vector.h"
#include "census/deep/deep_profile.h"
#include "census/deep/mercury_format.h"

struct hi_mercury_css {
	bool is_there;
	uint8_t kind;
	uint32_t callee;	    /* PS; 0: not known */
	uint32_t file, line, place; /* texts of the profile */
};
struct hi_mercury_csd {
	bool is_there;
	uint32_t callee; /* PD; 0: none */
	struct hi_deep_costs own;
};
struct hi_mercury_ps {
	bool is_there;
	struct hi_deep_procedure procedure;
	size_t first_site; /* of sites */
	uint32_t n_sites;
};
/* A call in a slot. */
struct hi_mercury_call {
	uint32_t slot, csd;
};
struct hi_mercury_pd {
	bool is_there;
	uint32_t ps, n_slots;
	size_t first_kind; /* of kinds: one for each slot */
	size_t first_call; /* of calls, by slot */
	uint32_t n_calls;
};

struct hi_mercury_file {
	const uint8_t *data;
	size_t size;
	unsigned version;
	uint32_t word; /* bytes */
	bool has_static_coverage, has_dynamic_coverage;
	uint32_t counts[HI_MERCURY_TOKENS]; /* the last id */
	uint32_t there[HI_MERCURY_TOKENS];  /* nodes that the file has */
	uint64_t ticks_per_second, tool_ticks, user_ticks, sequence;
	uint32_t root; /* PD */
	/* By id; [0] is none. */
	struct hi_mercury_css *css;
	struct hi_mercury_csd *csd;
	struct hi_mercury_ps *ps;
	struct hi_mercury_pd *pd;
	struct HI_VECTOR(uint32_t) sites; /* CSSs of PSs */
	struct HI_VECTOR(uint8_t) kinds;
	struct HI_VECTOR(struct hi_mercury_call) calls;
	struct hi_deep_costs total; /* of all CSDs: no sum of them overflows */
};

void hi_mercury_file_free(struct hi_mercury_file *file);

/* Makes functions, call sites and the graph of it. Errors as of hi_deep_mercury_read().
 */
enum hi_status hi_mercury_link(const struct hi_mercury_file *file,
			       struct hi_deep_profile *profile, struct hi_error *err);

/*
 * Finds the cliques of a graph that has nodes (function, first_edge, n_edges) and edges
 * (caller, site, callee), and folds them as hi_deep_mercury_read() does. All nodes are
 * reached from node 0, to which no edge leads. Fills cliques (without entries, some
 * empty) and members, and no more. HI_BAD_DATA; HI_NO_MEMORY.
 */
enum hi_status hi_mercury_find_cliques(struct hi_deep_graph *graph, uint32_t n_functions,
				       struct hi_error *err);

#endif
