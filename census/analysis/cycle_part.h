/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One strongly connected component of leaked objects with the fields of its edges, for
 * cycle_edges.c: Note [Fields that close cycles].
 */
#ifndef HI_CENSUS_ANALYSIS_CYCLE_PART_H
#define HI_CENSUS_ANALYSIS_CYCLE_PART_H

#include "base/arena.h"
#include "base/table.h"
#include "base/vector.h"
#include "census/analysis/cycle_pointer.h"
#include "census/graph/graph.h"

/* A field: a type and a pattern. */
struct hi_cycle_field {
	uint32_t type;
	const char *pattern;
	enum hi_cycle_pointer pointer;
	bool is_link; /* of a container */
	/* The components that it closes, its edges in them, and the nodes to which these
	 * lead. */
	uint64_t cycles, edges, targets;
	uint32_t item; /* of the caller */
};
struct hi_cycle_fields {
	const struct hi_graph *graph;
	struct HI_VECTOR(struct hi_cycle_field) all; /* [0]: links */
	struct hi_table ids;
	struct hi_arena arena;
	struct HI_VECTOR(const char *) texts;
};
/* The number of the field of an edge; 0: a link, or there is no memory (*ok is false). */
uint32_t hi_cycle_field_take(struct hi_cycle_fields *fields, hi_node from, hi_node to,
			     uint8_t grade, const char *text, bool *ok);
bool hi_cycle_fields_init(struct hi_cycle_fields *fields, const struct hi_graph *graph);
void hi_cycle_fields_free(struct hi_cycle_fields *fields);

struct hi_cycle_arc {
	uint32_t from, to; /* members; once joined: nodes */
	uint32_t field;
	hi_node from_object, to_object;
};
/* A field that closes the component, by an arc of the cycle that was looked at. */
struct hi_cycle_closer {
	uint32_t field;
	hi_node from, to;
	uint32_t back; /* field; 0: none */
};
enum { HI_CYCLE_TRIED = 24 };

struct hi_cycle_part {
	struct hi_cycle_fields *fields;
	struct HI_VECTOR(hi_node) members;
	struct HI_VECTOR(struct hi_cycle_arc) arcs;
	struct HI_VECTOR(uint32_t) joined; /* member: another of its node, or itself */
	struct HI_VECTOR(uint32_t) row;	   /* of arcs, by node */
	struct HI_VECTOR(struct hi_cycle_arc) inner; /* arcs within nodes */
	struct HI_VECTOR(uint32_t) degree, queue, way;
	uint32_t n_nodes;
	struct hi_cycle_closer closers[HI_CYCLE_TRIED];
	uint32_t n_closers;
};
/* Finds the closers of the component with these members and arcs, and counts its arcs for
 * their fields. False: no memory. */
bool hi_cycle_part_solve(struct hi_cycle_part *part);
void hi_cycle_part_free(struct hi_cycle_part *part);

#endif
