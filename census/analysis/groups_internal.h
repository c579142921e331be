/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by the parts of groups.h: group_fields.c finds the fields that lead to the
 * children of nodes, group_children.c gathers the children of all members of a group;
 * both may run on several threads, one struct hi_field_maker each.
 *
 * Note [Fields by key]
 *
 * A million nodes of one type have edges of a few names. The text of a name, its pattern
 * and the number of that pattern are made once for each key of a name (edge_name.h), and
 * after that only looked up; names without a key are texts of their own. Numbers depend
 * on which thread was first, so nothing may depend on them but equality.
 */
#ifndef HI_CENSUS_ANALYSIS_GROUPS_INTERNAL_H
#define HI_CENSUS_ANALYSIS_GROUPS_INTERNAL_H

#include "census/analysis/groups.h"

enum {
	HI_NO_FIELD = 0, /* as a pattern: the parent has no edge to it */
	HI_PATTERN_MAX = 512,
	HI_GROUP_AHEAD = 16, /* nodes to prefetch */
};

/* ---- nodes ---- */

static inline uint64_t hi_group_cost(const struct hi_graph *g, hi_node node)
{
	if (!hi_graph_is_object(g, node) || hi_is_internal(g, node))
		return 0;
	return hi_graph_cost(g, node);
}

static inline uint32_t hi_group_type(const struct hi_graph *g, hi_node node)
{
	return hi_graph_is_object(g, node) ? g->objects->type[node] : 0;
}

/* Returns whether both are of one type, or both untyped and of one size. */
static inline bool hi_group_kind_is_same(const struct hi_graph *g, hi_node a, hi_node b)
{
	if (!hi_graph_is_object(g, a) || !hi_graph_is_object(g, b) ||
	    hi_group_type(g, a) != hi_group_type(g, b))
		return false;
	return hi_group_type(g, a) || hi_graph_cost(g, a) == hi_graph_cost(g, b);
}

static inline bool hi_group_child_is_shown(const struct hi_grouping *gr, hi_node node)
{
	return hi_bit(gr->reach->any, node) && gr->dominators->retained[node];
}

/* ---- fields ---- */

/* A field is a pattern's number, and whether the name is one plain member. */
static inline uint32_t hi_field_pack(uint32_t pattern, bool is_link)
{
	return pattern << 1 | is_link;
}

/* The number of a pattern, the same for equal ones; threads may ask at once. False: out
 * of memory. */
bool hi_group_pattern_intern(struct hi_grouping *gr, const char *pattern, uint32_t *ret);
/* One maker for each of the reader's workers, at least one. False: out of memory. */
bool hi_group_fields_init(struct hi_grouping *gr);
void hi_group_fields_deinit(struct hi_grouping *gr);
/* Fills in field_of of the node's children; of several edges the first counts. Threads
 * may do so at once for different nodes. */
enum hi_status hi_group_fields_name(struct hi_grouping *gr, unsigned worker, hi_node node,
				    struct hi_error *err);

/* ---- lists ---- */

/* Counts the node there as a member. False: out of memory. */
bool hi_group_count(const struct hi_grouping *gr, struct hi_group *group, hi_node at,
		    hi_node holder);
/* Adds the members and sums of a group to another one, whose holder stays as it is. False: out
 * of memory. */
bool hi_group_add(const struct hi_grouping *gr, struct hi_group *into,
		  const struct hi_group *from);
/* Adds an empty group. False: out of memory. */
bool hi_group_list_push(struct hi_group_list *list, uint32_t field, uint32_t type,
			hi_node node);
/* The place in the list of the group of a field and a type; makes it. index: of the list.
 * False: out of memory. */
bool hi_group_list_find(struct hi_group_list *list, struct hi_table *index,
			uint32_t field, uint32_t type, uint64_t *ret);

/* Adds the children of all members to the list, and what hangs on them to the group's
 * members (only if has_links). gr->index is of the list. *is_forked: two hang on one. */
enum hi_status hi_group_children_gather(struct hi_grouping *gr, struct hi_group *group,
					bool has_links, struct hi_group_list *list,
					bool *is_forked, struct hi_error *err);

#endif
