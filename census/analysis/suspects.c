/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds what holds much of the heap, and where it accumulates.
 *
 * Note [Down to the branch]
 *
 * The dominator tree is followed by groups of siblings (groups.h), from the super-root
 * into every group that holds enough. A group of one node is gone through. If it is a
 * group of many, its parent is the accumulation point: the many accumulate there. If no
 * group holds enough, the node itself is it, with the largest group of its children. So
 * suspects never overlap, and two variables with one large object are one suspect.
 *
 * Inner parts that a runtime names (the keys of a dict) belong to their container: their
 * children are its own. Elements whose type is not telling (tuples, untyped blocks,
 * closures) and that hold one object each, and arrays, are named by the type of these.
 *
 * Memory that the C library or a runtime keeps for itself is no suspect, nor is a word
 * that may be left over.
 *
 * Objects of one type that several roots hold are a suspect where most of them are
 * nearest to one root (nearest.h). Scattered ones, like the classes of all modules, have
 * no place that could be named: of these only the members of the foremost root count.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/bits.h"
#include "base/cleanup.h"
#include "base/number.h"
#include "base/vector.h"
#include "census/analysis/analysis.h"
#include "census/analysis/field_pattern.h"
#include "census/analysis/groups.h"
#include "census/analysis/nearest_holder.h"
#include "census/graph/type_origin.h"

enum {
	MAX_SUSPECTS = 64, /* a bound for tiny shares; with 20 % there are five at most */
	LESSER = 4,	   /* a part of the share, from which on holders are named, too */
	MAX_LESSER = 16,
	MAX_STEPS = 64,	   /* nodes one below the other: more are no way to a container */
	MANY_EDGES = 4096, /* elements of containers, which have one field */
	MAX_PARTS = 16,
};

struct way {
	struct hi_group group;
	hi_node top;
	hi_node parent;	  /* the node above, or the super-root */
	unsigned steps;	  /* from the top */
	uint32_t threads; /* it is in each of them; 0: of no thread */
};

struct way_list HI_VECTOR(struct way);
struct suspect_list HI_VECTOR(struct hi_suspect);

struct finder {
	struct hi_grouping grouping;
	const struct hi_graph *graph;
	const struct hi_reach *reach;
	const struct hi_dominators *dominators;
	struct hi_nearest *nearest; /* NULL: not needed so far */
	uint64_t least, largest;    /* of the groups at the top */
	uint64_t least_lesser;
	size_t most;
	struct way_list ways;
	struct way_list lesser; /* groups that were passed by */
	struct suspect_list found;
};

/* Takes the group's members. above: NULL at the top. */
static bool push_way(const struct finder *f, struct way_list *ways,
		     struct hi_group *group, const struct way *above)
{
	struct way way = {.group = *group,
			  .top = above ? above->top : group->largest,
			  .parent = above ? above->group.largest : f->graph->super_root,
			  .steps = above ? above->steps + 1 : 0,
			  .threads = above ? above->threads : 0};

	if (!above && !hi_graph_is_object(f->graph, way.top) && group->tops > 1)
		way.threads = (uint32_t)group->tops;
	if (!hi_vector_push(ways, way))
		return false;
	group->at = (struct hi_positions){};
	return true;
}

/* ---- the top ---- */

/* Marks the objects that edges of named roots lead to: a module's dict is no element of
 * anything. */
static bool mark_held_by_roots(const struct hi_graph *g, uint64_t *held)
{
	for (hi_node root = g->first_root; root < g->first_kind; root++) {
		struct hi_edges edges = hi_graph_edges(g, root);

		for (uint32_t i = 0; i < edges.count; i++)
			if (hi_grade_is_precise(edges.grade[i]))
				held[edges.to[i] >> 6] |= 1ull << (edges.to[i] & 63);
	}
	return true;
}

/* Leaves the members whose bit is as wanted. */
static void keep_members(const struct finder *f, struct hi_group *group,
			 const uint64_t *bits, bool wanted)
{
	const struct hi_dominators *d = f->dominators;
	size_t kept = 0;

	group->bytes = group->own = 0;
	group->largest = HI_NODE_NONE;
	for (size_t i = 0; i < group->at.count; i++) {
		hi_node node = d->order[group->at.items[i]];

		if (hi_bit(bits, node) != wanted)
			continue;
		group->at.items[kept++] = group->at.items[i];
		group->bytes += d->retained[node];
		group->own += hi_graph_cost(f->graph, node);
		if (group->largest == HI_NODE_NONE ||
		    d->retained[node] > d->retained[group->largest])
			group->largest = node;
	}
	group->at.count = kept;
	group->tops = group->count = kept;
}

/* The root that most of the group's bytes are nearest to; of equal ones the first. */
static uint32_t find_foremost_root(const struct finder *f, const struct hi_group *group,
				   uint64_t *by_root, uint64_t *bytes_ret)
{
	uint32_t foremost = HI_NEAREST_NONE;

	*bytes_ret = 0;
	for (size_t i = 0; i < group->at.count; i++) {
		hi_node node = f->dominators->order[group->at.items[i]];
		uint32_t root = f->nearest->root_of[node];

		if (root == HI_NEAREST_NONE)
			continue;
		by_root[root] += f->dominators->retained[node];
		if (by_root[root] > *bytes_ret ||
		    (by_root[root] == *bytes_ret && root < foremost)) {
			foremost = root;
			*bytes_ret = by_root[root];
		}
	}
	return foremost;
}

/* Keeps, of members that are scattered over many roots, those of the foremost one. */
static enum hi_status keep_foremost(struct finder *f, struct hi_group *group,
				    struct hi_error *err)
{
	const struct hi_graph *g = f->graph;
	HI_GUARD(free)
	uint64_t *by_root = hi_calloc((size_t)g->n_roots + 1, sizeof(*by_root));
	HI_GUARD(free)
	uint64_t *near = hi_calloc(((size_t)g->n_nodes + 63) / 64 + 1, sizeof(*near));
	uint64_t bytes;
	uint32_t root;

	if (!by_root || !near)
		return hi_fail_memory(err, "suspects");
	if (!f->nearest) {
		enum hi_status status = hi_nearest_compute(g, f->reach, &f->nearest, err);

		if (status != HI_OK)
			return status;
	}
	root = find_foremost_root(f, group, by_root, &bytes);
	if (root == HI_NEAREST_NONE || bytes >= group->bytes / 2)
		return HI_OK;
	for (size_t i = 0; i < group->at.count; i++) {
		hi_node node = f->dominators->order[group->at.items[i]];

		if (f->nearest->root_of[node] == root)
			near[node >> 6] |= 1ull << (node & 63);
	}
	keep_members(f, group, near, true);
	return HI_OK;
}

/* Is it an object, or a root of the program? */
static bool may_be_blamed(const struct hi_graph *g, hi_node node)
{
	return node < g->first_root || node >= g->first_kind ||
	       hi_root_rank(&g->roots[node - g->first_root]) > HI_RANK_SYSTEM;
}

/* Judges an object that no root holds directly, or a variable. Sets whether it may be a
 * suspect. */
static enum hi_status judge_top(struct finder *f, struct hi_group *group,
				const uint64_t *held, bool *ret, struct hi_error *err)
{
	bool is_group = group->node == HI_NODE_NONE &&
			hi_graph_is_object(f->graph, group->largest);
	enum hi_status status = HI_OK;

	*ret = false;
	if (!is_group && !may_be_blamed(f->graph, group->largest))
		return HI_OK;
	if (is_group)
		keep_members(f, group, held, false);
	if (is_group && group->tops > 1 &&
	    (group->bytes >= f->least_lesser || group->bytes > f->largest))
		status = keep_foremost(f, group, err);
	if (group->tops && group->bytes > f->largest)
		f->largest = group->bytes;
	*ret = group->tops && group->bytes >= f->least_lesser;
	return status;
}

static enum hi_status begin_at_top(struct finder *f, struct hi_error *err)
{
	HI_GUARD(free)
	uint64_t *held =
		hi_calloc(((size_t)f->graph->n_nodes + 63) / 64 + 1, sizeof(*held));
	struct hi_group_list list = {};
	enum hi_status status;
	size_t n = 0;

	if (!held)
		return hi_fail_memory(err, "suspects");
	mark_held_by_roots(f->graph, held);
	status = hi_grouping_tops(&f->grouping, f->least, &list, err);
	/* The largest first: after a large variable few groups need a closer look. */
	for (size_t i = 0; status == HI_OK && i < list.count; i++) {
		bool may = false;

		status = judge_top(f, &list.items[i], held, &may, err);
		if (may) {
			struct hi_group group = list.items[n];

			list.items[n++] = list.items[i];
			list.items[i] = group;
		}
	}
	/* The largest is looked at last and is the first on the stack: a stack. */
	while (status == HI_OK && n-- > 0)
		if (!push_way(f, list.items[n].bytes >= f->least ? &f->ways : &f->lesser,
			      &list.items[n], NULL))
			status = hi_fail_memory(err, "suspects");
	hi_group_list_free(&list);
	return status;
}

/* ---- the way down ---- */

static const struct hi_type_name *type_of_group(const struct finder *f,
						const struct hi_group *group)
{
	return &f->graph->types[group->type < f->graph->n_types ? group->type : 0];
}

static bool is_array_group(const struct finder *f, const struct hi_group *group)
{
	return hi_graph_is_object(f->graph, group->largest) &&
	       f->graph->objects->flags[group->largest] & HI_OBJECT_ARRAY;
}

/* "struct {...}": a closure, for instance. */
static bool has_no_name(const struct finder *f, const struct hi_group *group)
{
	const char *name = type_of_group(f, group)->name;

	return name && strstr(name, "{...}");
}

/* Says the type of an element what is in it? "struct entry", "app.Session", a node of a
 * container of these. */
static bool says_what_it_is(const struct finder *f, const struct hi_group *element,
			    const struct hi_group *inner)
{
	const char *name = type_of_group(f, element)->name;
	const char *within = type_of_group(f, inner)->name;

	if (has_no_name(f, element))
		return false;
	return hi_type_is_own(type_of_group(f, element)) ||
	       (!is_array_group(f, element) && name && within && *within &&
		strstr(name, within));
}

/* One child for each element, or for each item of elements that are arrays (the pieces of
 * a deque), which has most of its bytes and a more telling type. */
static const struct hi_group *find_inner(const struct finder *f,
					 const struct hi_group *elements,
					 const struct hi_group_list *children)
{
	const struct hi_group *inner = children->count ? &children->items[0] : NULL;

	if (!inner || inner->count < elements->count - elements->count / 10 ||
	    (inner->count > elements->count + elements->count / 10 &&
	     !is_array_group(f, elements)) ||
	    (double)inner->bytes < 0.5 * (double)elements->bytes ||
	    !(hi_type_is_own(type_of_group(f, inner)) ||
	      (has_no_name(f, elements) &&
	       type_of_group(f, inner)->klass == HI_TYPE_RECORD)) ||
	    says_what_it_is(f, elements, inner))
		return NULL;
	return inner;
}

/* The variable above an object, of those that are alike in all threads. */
static hi_node find_root_above(const struct finder *f, hi_node node)
{
	while (hi_graph_is_object(f->graph, node))
		node = f->dominators->idom[node];
	return node;
}

static enum hi_status add_suspect(struct finder *f, const struct way *way, hi_node at,
				  const struct hi_group *elements,
				  const struct hi_group *inner, struct hi_error *err)
{
	const uint64_t *retained = f->dominators->retained;
	struct hi_suspect s = {.top = way->top,
			       .retained = retained[way->top],
			       .accumulation = at,
			       .accumulation_retained = retained[at],
			       .held = HI_NODE_NONE,
			       .holder = HI_NODE_NONE,
			       .threads = way->threads,
			       .example = HI_NODE_NONE};

	if (way->threads)
		s.top = find_root_above(f, at);
	if (elements) {
		s.children = elements->count;
		s.children_bytes = elements->bytes;
		s.child_type = elements->type;
		s.held = elements->held;
		s.holder = elements->holder;
		s.example = elements->largest;
		s.is_list = elements->is_list || (way->threads && !elements->is_forked &&
						  elements->count >= 4 * elements->tops);
	}
	if (inner) {
		s.children = inner->count;
		s.child_type = inner->type;
		s.is_list = false;
	}
	/* For several at the top, which no single node holds, the whole counts. */
	if ((at == f->graph->super_root || way->threads) && elements)
		s.retained = s.accumulation_retained = elements->bytes;
	return hi_vector_push(&f->found, s) ? HI_OK : hi_fail_memory(err, "suspects");
}

/* The children of inner parts are the container's. */
static enum hi_status open_parts(struct finder *f, struct hi_group_list *list,
				 struct hi_error *err)
{
	enum hi_status status = HI_OK;
	size_t kept = 0, n = list->count;
	struct hi_group parts[MAX_PARTS];
	size_t n_parts = 0;

	for (size_t i = 0; i < n; i++) {
		const char *pattern =
			hi_grouping_pattern(&f->grouping, list->items[i].field);

		if (n_parts < MAX_PARTS && hi_field_is_part(pattern))
			parts[n_parts++] = list->items[i];
		else
			list->items[kept++] = list->items[i];
	}
	list->count = kept;
	for (size_t i = 0; i < n_parts; i++) {
		struct hi_group_list inside = {};

		if (status == HI_OK)
			status =
				hi_grouping_expand(&f->grouping, &parts[i], &inside, err);
		if (status == HI_OK &&
		    !hi_vector_append(list, inside.items, inside.count))
			status = hi_fail_memory(err, "suspects");
		else if (status == HI_OK)
			inside.count = 0;
		hi_group_list_free(&inside);
		hi_vector_free(&parts[i].at);
	}
	return status;
}

static struct hi_group *find_largest_group(struct hi_group_list *list)
{
	struct hi_group *largest = NULL;

	for (size_t i = 0; i < list->count; i++)
		if (!largest || list->items[i].bytes > largest->bytes)
			largest = &list->items[i];
	return largest;
}

/* A node where no group of children holds enough, or most is in those that do not. */
static enum hi_status stop_at_node(struct finder *f, const struct way *way, hi_node node,
				   struct hi_group_list *children, struct hi_error *err)
{
	struct hi_group *largest = find_largest_group(children);
	struct hi_group_list below = {};
	enum hi_status status = HI_OK;

	if (largest)
		status = hi_grouping_expand(&f->grouping, largest, &below, err);
	if (status == HI_OK)
		status = add_suspect(f, way, node, largest,
				     largest && largest->count > 1
					     ? find_inner(f, largest, &below)
					     : NULL,
				     err);
	hi_group_list_free(&below);
	return status;
}

/* Keeps the groups that hold less than a suspect, but much. named: the one that the
 * suspect at their parent names; NULL: there is none. */
static enum hi_status keep_lesser(struct finder *f, const struct way *way,
				  struct hi_group_list *list,
				  const struct hi_group *named, struct hi_error *err)
{
	for (size_t i = 0; i < list->count; i++) {
		struct hi_group *group = &list->items[i];

		if (group != named && group->bytes < f->least &&
		    group->bytes >= f->least_lesser && f->lesser.count < MAX_LESSER &&
		    !push_way(f, &f->lesser, group, way))
			return hi_fail_memory(err, "suspects");
	}
	return HI_OK;
}

static enum hi_status go_down(struct finder *f, struct way *way, struct hi_error *err)
{
	struct hi_group_list list = {};
	hi_node node = way->group.largest;
	enum hi_status status = hi_grouping_expand(&f->grouping, &way->group, &list, err);
	uint64_t rest = 0, retained = f->dominators->retained[node];
	const struct hi_group *named = NULL;
	size_t n = f->ways.count;

	if (status == HI_OK && way->group.count > (way->threads ? way->threads : 1)) {
		status = add_suspect(f, way, way->parent, &way->group,
				     find_inner(f, &way->group, &list), err);
		hi_group_list_free(&list);
		return status;
	}
	if (status == HI_OK && way->steps >= MAX_STEPS) {
		hi_group_list_free(&list);
		return add_suspect(f, way, way->top, NULL, NULL, err);
	}
	if (status == HI_OK)
		status = open_parts(f, &list, err);
	for (size_t i = list.count; status == HI_OK && i-- > 0;) {
		if (list.items[i].bytes < f->least)
			continue;
		if (!push_way(f, &f->ways, &list.items[i], way))
			status = hi_fail_memory(err, "suspects");
		list.items[i].bytes = 0;
	}
	for (size_t i = 0; i < list.count; i++)
		rest += list.items[i].bytes;
	if (status == HI_OK &&
	    (f->ways.count == n || (rest >= f->least && rest > retained / 2))) {
		named = find_largest_group(&list);
		status = stop_at_node(f, way, node, &list, err);
	}
	if (status == HI_OK)
		status = keep_lesser(f, way, &list, named, err);
	hi_group_list_free(&list);
	return status;
}

static int compare_suspects(const void *a, const void *b)
{
	const struct hi_suspect *x = a, *y = b;
	uint64_t bytes_x = x->children_bytes, bytes_y = y->children_bytes;

	if (bytes_x != bytes_y)
		return bytes_x > bytes_y ? -1 : 1;
	if (x->accumulation_retained != y->accumulation_retained)
		return x->accumulation_retained > y->accumulation_retained ? -1 : 1;
	return x->example < y->example ? -1 : x->example > y->example;
}

static enum hi_status follow_ways(struct finder *f, struct hi_error *err)
{
	enum hi_status status = HI_OK;

	while (status == HI_OK && f->ways.count) {
		struct way way = f->ways.items[--f->ways.count];

		if (f->found.count < f->most)
			status = go_down(f, &way, err);
		hi_vector_free(&way.group.at);
	}
	if (status == HI_OK && f->found.count > 1)
		qsort(f->found.items, f->found.count, sizeof(*f->found.items),
		      compare_suspects);
	return status;
}

static void free_ways(struct way_list *ways)
{
	for (size_t i = 0; i < ways->count; i++)
		hi_vector_free(&ways->items[i].group.at);
	hi_vector_free(ways);
}

static void free_finder(struct finder *f)
{
	free_ways(&f->ways);
	free_ways(&f->lesser);
	hi_vector_free(&f->found);
	hi_nearest_destroy(f->nearest);
	hi_grouping_deinit(&f->grouping);
}

static enum hi_status find_below(struct finder *f, struct hi_error *err)
{
	enum hi_status status = begin_at_top(f, err);

	return status == HI_OK ? follow_ways(f, err) : status;
}

/* Moves the suspects into the result; if nothing has the share, the largest alone. */
static enum hi_status take_first_suspects(struct finder *f, struct hi_suspects *s,
					  struct hi_error *err)
{
	size_t n = s->is_below && f->found.count > 1 ? 1 : f->found.count;

	s->items = hi_calloc(n + 1, sizeof(*s->items));
	if (!s->items)
		return hi_fail_memory(err, "suspects");
	s->count = n;
	if (n)
		memcpy(s->items, f->found.items, n * sizeof(*s->items));
	f->found.count -= n;
	if (f->found.count)
		memmove(f->found.items, f->found.items + n,
			f->found.count * sizeof(*f->found.items));
	return HI_OK;
}

/* The walk goes on from the groups that it has passed by. They share nothing with what was
 * found. */
static enum hi_status find_lesser(struct finder *f, struct hi_suspects *s,
				  struct hi_error *err)
{
	struct way_list walked = f->ways;
	enum hi_status status = take_first_suspects(f, s, err);

	if (status != HI_OK || f->least <= f->least_lesser)
		return status;
	f->ways = f->lesser;
	f->lesser = walked;
	f->least = f->least_lesser;
	status = follow_ways(f, err);
	s->lesser = f->found.items;
	s->n_lesser = f->found.count;
	f->found = (struct suspect_list){};
	return status;
}

enum hi_status hi_suspects_find(const struct hi_graph *g, const struct hi_reach *reach,
				const struct hi_dominators *d, double share,
				const struct hi_field_reader *fields,
				struct hi_suspects **ret, struct hi_error *err)
{
	HI_GUARD(hi_suspects_destroy) struct hi_suspects *s = hi_calloc(1, sizeof(*s));
	struct finder f = {
		.graph = g, .reach = reach, .dominators = d, .most = MAX_SUSPECTS};
	double least = share * (double)reach->live_bytes;
	enum hi_status status;

	if (!s)
		return hi_fail_memory(err, "suspects");
	f.least = least < 1 ? 1 : (uint64_t)least + ((double)(uint64_t)least < least);
	f.least_lesser = f.least / LESSER + (f.least % LESSER != 0);
	status = hi_grouping_init(&f.grouping, g, reach, d, fields, err);
	f.grouping.most_edges = MANY_EDGES;
	f.grouping.joins_threads = true;
	f.grouping.names_singles = true; /* names of a million elements take time */
	if (status == HI_OK)
		status = find_below(&f, err);
	if (status == HI_OK && f.found.count == 0 && f.largest) {
		s->is_below = true;
		f.least = f.largest - f.largest / 4;
		f.least_lesser = hi_min(f.least, f.least_lesser);
		free_ways(&f.lesser);
		f.lesser = (struct way_list){};
		status = find_below(&f, err);
	}
	if (status == HI_OK)
		status = find_lesser(&f, s, err);
	s->nearest = hi_take(f.nearest);
	if (status == HI_OK)
		*ret = hi_take(s);
	free_finder(&f);
	return status;
}

void hi_suspects_destroy(struct hi_suspects *suspects)
{
	if (!suspects)
		return;
	free(suspects->items);
	free(suspects->lesser);
	hi_nearest_destroy(suspects->nearest);
	free(suspects);
}
