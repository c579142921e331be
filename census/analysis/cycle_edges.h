/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fields that close leaked cycles: without its edges a component of leaked objects has
 * no cycle, so that reference counts would fall to zero.
 *
 * Note [Fields that close cycles]
 *
 * A field is the type of an object and the pattern of an edge's name (field_pattern.h).
 * One that closes every cycle of a component lies on each of them, so those of one cycle,
 * a shortest one, are all there are to try: each by one sort of the component without its
 * edges. Links of containers (HI_EDGE_LINK, and members that only the C++ library names)
 * go in both directions, and are no cycles of the program: what they join is one node.
 * An object that refers to itself is none either, as in leaks.c.
 *
 * Several fields may close the same cycles. The preferred one is a member and no element,
 * is a reference that is counted, is called after an owner ("parent", "owner", "prev"),
 * leads from many objects to few, closes most cycles; then by name.
 *
 * Free without it is what these components hold, without what other leak roots, or cycles that
 * stay, hold as well.
 */
#ifndef HI_CENSUS_ANALYSIS_CYCLE_EDGES_H
#define HI_CENSUS_ANALYSIS_CYCLE_EDGES_H

#include "base/arena.h"
#include "base/cleanup.h"
#include "census/analysis/analysis.h"
#include "census/analysis/cycle_pointer.h"
#include "census/analysis/groups.h"

struct hi_cycle_edge {
	uint32_t type;	   /* of the object that has the field */
	const char *field; /* "->owner"; hostile; of the arena */
	/* The field that leads on from the object which the edge leads to; "" none. */
	uint32_t back_type;
	const char *back_field;
	enum hi_cycle_pointer pointer;
	uint64_t cycles;	 /* components of leak roots that it closes */
	uint64_t objects, bytes; /* that would be free without it */
	hi_node from, to;	 /* an example */
};

struct hi_cycle_edges {
	struct hi_cycle_edge *items; /* by bytes, then by name; at most HI_CYCLE_EDGES */
	size_t count;
	uint64_t cycles;   /* leak roots that are cycles of several objects */
	uint64_t unclosed; /* those that no single field closes */
	bool is_partial;   /* there were too many objects to look at all of them */
	struct hi_arena arena;
};
enum { HI_CYCLE_EDGES = 16 };

/*
 * Finds the fields for the leak roots of `reach` that are cycles. fields: of texts with
 * marks. Borrows its inputs; the result refers to none of them. HI_NO_MEMORY, and errors
 * of fields.
 */
enum hi_status hi_cycle_edges_find(const struct hi_graph *g, const struct hi_reach *reach,
				   const struct hi_leaks *leaks,
				   const struct hi_field_reader *fields,
				   struct hi_cycle_edges **ret, struct hi_error *err);
/* Frees the edges; NULL is fine. */
void hi_cycle_edges_destroy(struct hi_cycle_edges *edges);
HI_DEFINE_GUARD(struct hi_cycle_edges *, hi_cycle_edges_destroy)

#endif
