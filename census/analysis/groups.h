/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Groups of siblings in the dominator tree: the children of a node, or of all nodes of a
 * group, that are of one type and that the same field leads to. For census/analysis.
 *
 * Note [Groups of siblings]
 *
 * The field is the pattern of an edge's name (field_pattern.h), so the elements of an
 * array, of a hash table or of a dict are one group. Objects that no edge of their parent
 * leads to, such as the inner nodes of a list that is linked in both directions, count
 * with the siblings of their type that one does, if they are more, or if these are
 * elements of one container.
 *
 * Objects of one type that hang on one another by plain fields (the chains of a hash
 * table, the nodes of a tree) are all members of the group that the first one is in, and
 * not its children. If there is only one first one, the same field has to lead from one
 * to the next three times: an object that merely refers to one of its own type is no
 * list.
 *
 * A member that retains most of its group is a group of its own, so that it keeps its
 * name: of a module with two dicts the one that grows is `["SESSIONS"]`, not one of "[]".
 * The variables of a module are named, not elements: each that retains a sixteenth of the
 * module's bytes is a group of its own.
 */
#ifndef HI_CENSUS_ANALYSIS_GROUPS_H
#define HI_CENSUS_ANALYSIS_GROUPS_H

#include <pthread.h>

#include "base/arena.h"
#include "base/table.h"
#include "base/vector.h"
#include "census/analysis/analysis.h"
#include "census/graph/edge_name.h"

/* Names of edges. */
struct hi_field_reader {
	/* Fills in texts, one for each edge of the node; they live until the next call.
	 * NULL: no names are known. */
	enum hi_status (*read)(void *arg, hi_node node, const char **texts,
			       struct hi_error *err);
	void *arg;
	/* Optional: the same as names, which live until the worker's next call. Several
	 * threads call it at once, each as another worker, [0, workers). Their keys are
	 * the worker's own; keys of elements may be empty ("[].name"). */
	enum hi_status (*names)(void *arg, unsigned worker, hi_node node,
				struct hi_edge_name *names, struct hi_error *err);
	unsigned workers; /* 0 is 1 */
	/* Optional: `names` will be called soon. Fetches what that reads; `is_near`: what
	 * it fetched for the same node before has arrived. */
	void (*ahead)(void *arg, unsigned worker, hi_node node, bool is_near);
};

struct hi_field_maker; /* census/analysis/group_fields.c */
struct hi_positions HI_VECTOR(hi_node);

struct hi_group {
	uint32_t field;	 /* number of its pattern; 0: no edge leads there */
	uint32_t type;	 /* of all; 0 untyped, or a root */
	hi_node node;	 /* the only one of a root or a large object at the top;
			  * HI_NODE_NONE: grouped */
	uint64_t tops;	 /* children of the parent */
	uint64_t count;	 /* with those that hang on them */
	uint64_t bytes;	 /* retained */
	uint64_t own;	 /* cost of the members themselves */
	hi_node largest; /* the member that retains most */
	/* A member, and the node of the parent that has an edge to it; HI_NODE_NONE:
	 * there is none. */
	hi_node held, holder;
	bool is_list;		/* one after the other by one field */
	bool is_forked;		/* some have two that hang on them */
	struct hi_positions at; /* in the dominators' order; its children once expanded */
};
struct hi_group_list HI_VECTOR(struct hi_group);

struct hi_grouping {
	const struct hi_graph *graph;
	const struct hi_reach *reach; /* of what is to be seen */
	const struct hi_dominators *dominators;
	const struct hi_field_reader *fields; /* NULL: by type alone */
	uint32_t most_edges; /* nodes with more are grouped by type alone */
	uint64_t most_links; /* members of a group with those that hang on them; the
			      * next ones are children; 0: no limit */
	bool names_singles;  /* children of several nodes are grouped by type alone */
	bool joins_threads;  /* at the top: a variable of all threads is one group */
	uint32_t *field_of;  /* by node, of the parent that is being expanded */
	struct hi_arena arena;
	pthread_mutex_t pattern_lock; /* of the arena and the next two */
	struct HI_VECTOR(const char *) patterns;
	struct hi_table pattern_ids;
	struct hi_field_maker *makers;
	unsigned n_makers;
	struct HI_VECTOR(const char *) texts;
	struct hi_table modules; /* nodes that hold the variables of modules */
	struct hi_table index;	 /* of the list that is being filled */
};

/* Borrows all; hi_grouping_deinit(), also after a failure. HI_NO_MEMORY. */
enum hi_status hi_grouping_init(struct hi_grouping *gr, const struct hi_graph *graph,
				const struct hi_reach *reach,
				const struct hi_dominators *dominators,
				const struct hi_field_reader *fields,
				struct hi_error *err);
void hi_grouping_deinit(struct hi_grouping *gr);
/* "->sessions[]"; "" of 0. Lives as long as the grouping. */
const char *hi_grouping_pattern(const struct hi_grouping *gr, uint32_t field);
/* Returns the part of the name of a node's edge that the node's own lacks: the names of a
 * root's edges begin with the root's, which is left out. Points into text. */
const char *hi_grouping_exact_name(const struct hi_grouping *gr, hi_node node,
				   const char *text);

/* The name of a root without its thread: "request_scratch" of "thread 7 request_scratch";
 * NULL: it is no variable of a thread. */
const char *hi_grouping_thread_variable(const struct hi_graph *g, hi_node node);

/* Adds what lies directly under the super-root or a kind: roots and objects that retain
 * `single` bytes or more each for itself, the others by type. */
enum hi_status hi_grouping_tops(struct hi_grouping *gr, uint64_t single,
				struct hi_group_list *list, struct hi_error *err);
/* Completes the group by what hangs on its members, and adds its children to the list,
 * the largest first. */
enum hi_status hi_grouping_expand(struct hi_grouping *gr, struct hi_group *group,
				  struct hi_group_list *list, struct hi_error *err);
void hi_group_list_free(struct hi_group_list *list);

#endif
