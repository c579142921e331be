/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Gathers the children of the members of a group. Many members are taken in parts, which
 * threads gather each into a list of its own; these are joined in the order of the parts,
 * so that the result does not depend on the number of threads.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "census/analysis/groups_internal.h"

enum {
	PART = 1024,	/* members */
	WAVE = 256,	/* parts that are gathered before they are joined */
	FEW = 4 * PART, /* members that one thread gathers at once */
	STAGE = 8,	/* members from one look ahead to the next */
	FEW_EDGES = 4,
};

struct gathering {
	struct hi_grouping *gr;
	const struct hi_group *group;
	bool names, has_links;
	struct hi_group_list *list;
	struct hi_table *index;
	struct hi_positions links; /* members that were found below members */
	uint64_t own;		   /* of them */
	bool is_forked;
	uint64_t last_key, last; /* UINT64_MAX: none; where in the list it is */
};

/* ---- one member ---- */

static bool is_full(const struct gathering *g)
{
	return g->gr->most_links && g->group->count + g->links.count >= g->gr->most_links;
}

static bool hangs_on(const struct gathering *g, hi_node node, hi_node child,
		     uint32_t field)
{
	return g->has_links && !is_full(g) &&
	       hi_group_kind_is_same(g->gr->graph, node, child) &&
	       (field == HI_NO_FIELD || (field & 1));
}

static void prefetch_child(const struct hi_grouping *gr, hi_node node)
{
	__builtin_prefetch(&gr->dominators->retained[node]);
	if (node < gr->graph->n_objects) {
		__builtin_prefetch(&gr->graph->objects->type[node]);
		__builtin_prefetch(&gr->graph->objects->usable_low[node]);
		__builtin_prefetch(&gr->graph->objects->flags[node]);
	}
}

/* Fetches up to n children ahead. *child: the next one; the end once there is none. */
static void prefetch_children(const struct hi_grouping *gr, hi_node *child, hi_node end,
			      unsigned n)
{
	const struct hi_dominators *d = gr->dominators;

	for (; n && *child < end; n--) {
		prefetch_child(gr, d->order[*child]);
		*child += d->span[*child];
	}
}

/* The field of a child; only names of the member's edges leave any. */
static uint32_t take_field(const struct gathering *g, hi_node child)
{
	uint32_t field;

	if (!g->names)
		return 0;
	field = g->gr->field_of[child];
	g->gr->field_of[child] = 0;
	return field;
}

static void prefetch_row(const struct hi_graph *g, hi_node node)
{
	const struct hi_edge_chunk *c = &g->chunks[node >> HI_CHUNK_SHIFT];

	__builtin_prefetch(&c->row[node & (HI_CHUNK_NODES - 1)]);
}

static void prefetch_edges(const struct hi_graph *g, hi_node node)
{
	struct hi_edges edges = hi_graph_edges(g, node);

	__builtin_prefetch(edges.to);
	__builtin_prefetch(edges.grade);
}

/* The first few edges, where names are asked for, and the first children. */
static void prefetch_ends(const struct gathering *g, hi_node place)
{
	const struct hi_grouping *gr = g->gr;
	const struct hi_dominators *d = gr->dominators;
	struct hi_edges edges = {};
	hi_node child = place + 1;

	if (g->names)
		edges = hi_graph_edges(gr->graph, d->order[place]);
	for (uint32_t i = 0; i < edges.count && i < FEW_EDGES; i++) {
		__builtin_prefetch(&d->idom[edges.to[i]]);
		__builtin_prefetch(&gr->field_of[edges.to[i]], 1);
	}
	prefetch_children(gr, &child, place + d->span[place], FEW_EDGES);
}

/* Adds a node to the group of its field and type; makes that. */
static bool add_child(struct gathering *g, uint32_t field, hi_node at, hi_node holder)
{
	uint32_t type = hi_group_type(g->gr->graph, g->gr->dominators->order[at]);
	uint64_t key = (uint64_t)field << 32 | type;

	if (g->last_key != key) {
		if (!hi_group_list_find(g->list, g->index, field, type, &g->last))
			return false;
		g->last_key = key;
	}
	return hi_group_count(g->gr, &g->list->items[g->last], at, holder);
}

static bool add_link(struct gathering *g, hi_node at)
{
	const struct hi_grouping *gr = g->gr;

	g->own += hi_group_cost(gr->graph, gr->dominators->order[at]);
	return hi_vector_push(&g->links, at);
}

static enum hi_status gather_member(struct gathering *g, unsigned worker, hi_node at,
				    struct hi_error *err)
{
	struct hi_grouping *gr = g->gr;
	const struct hi_dominators *d = gr->dominators;
	hi_node node = d->order[at], end = at + d->span[at], ahead = at + 1;
	unsigned links = 0;
	enum hi_status status = HI_OK;

	if (d->span[at] == 1)
		return HI_OK;
	if (g->names)
		status = hi_group_fields_name(gr, worker, node, err);
	prefetch_children(gr, &ahead, end, HI_GROUP_AHEAD);
	for (hi_node c = at + 1; status == HI_OK && c < end; c += d->span[c]) {
		hi_node child = d->order[c];
		uint32_t field = take_field(g, child);
		bool ok;

		prefetch_children(gr, &ahead, end, 1);
		if (!hi_group_child_is_shown(gr, child))
			continue;
		if (hangs_on(g, node, child, field)) {
			g->is_forked |= links++ > 0;
			ok = add_link(g, c);
		} else {
			ok = add_child(g, field >> 1, c, field ? node : HI_NODE_NONE);
		}
		if (!ok)
			status = hi_fail_memory(err, "groups");
	}
	return status;
}

/* In stages, as each needs what the one before has fetched: the row of a node, its edges,
 * their ends, and its children. */
static void look_at_members(const struct gathering *g, unsigned worker, size_t i,
			    size_t end)
{
	const struct hi_field_reader *reader = g->names ? g->gr->fields : NULL;
	const struct hi_graph *graph = g->gr->graph;
	const struct hi_dominators *d = g->gr->dominators;
	const hi_node *at = g->group->at.items;

	if (end - i > 4 * STAGE) {
		__builtin_prefetch(&d->order[at[i + 4 * STAGE]]);
		__builtin_prefetch(&d->span[at[i + 4 * STAGE]]);
	}
	for (unsigned stage = 1; stage < 4 && end - i > stage * STAGE; stage++) {
		hi_node place = at[i + stage * STAGE], node = d->order[place];

		if (d->span[place] == 1 || !hi_graph_is_object(graph, node))
			continue;
		if (stage == 1)
			prefetch_ends(g, place);
		else if (g->names && stage == 2)
			prefetch_edges(graph, node);
		else if (g->names)
			prefetch_row(graph, node);
		if (stage > 1 && reader && reader->names && reader->ahead)
			reader->ahead(reader->arg, worker, node, stage == 2);
	}
}

static enum hi_status gather_members(struct gathering *g, unsigned worker, size_t first,
				     size_t end, struct hi_error *err)
{
	enum hi_status status = HI_OK;

	for (size_t i = first; i < end && status == HI_OK; i++) {
		look_at_members(g, worker, i, end);
		status = gather_member(g, worker, g->group->at.items[i], err);
	}
	return status;
}

/* ---- parts ---- */

struct part {
	struct gathering found;
	struct hi_group_list list;
	struct hi_table index;
	enum hi_status status;
	struct hi_error err;
};

struct wave {
	const struct gathering *all;
	struct part *parts;
	size_t first, end; /* of the members */
};

static void gather_part(void *arg, size_t task, unsigned worker)
{
	struct wave *w = arg;
	struct part *p = &w->parts[task];
	size_t first = w->first + task * PART;
	size_t end = w->end - first < PART ? w->end : first + PART;

	p->found = (struct gathering){.gr = w->all->gr,
				      .group = w->all->group,
				      .names = w->all->names,
				      .has_links = w->all->has_links,
				      .list = &p->list,
				      .index = &p->index,
				      .last_key = UINT64_MAX};
	p->status = gather_members(&p->found, worker, first, end, &p->err);
}

static void free_part_lists(struct part *p)
{
	hi_group_list_free(&p->list);
	hi_vector_free(&p->found.links);
	hi_table_free(&p->index);
	*p = (struct part){};
}

static bool join_group(const struct hi_grouping *gr, struct hi_group *into,
		       const struct hi_group *from)
{
	if (!hi_group_add(gr, into, from))
		return false;
	if (into->held == HI_NODE_NONE) {
		into->held = from->held;
		into->holder = from->holder;
	}
	return true;
}

static bool join_part(struct gathering *all, struct part *p)
{
	for (size_t i = 0; i < p->list.count; i++) {
		struct hi_group *from = &p->list.items[i];
		uint64_t at;

		if (!hi_group_list_find(all->list, all->index, from->field, from->type,
					&at) ||
		    !join_group(all->gr, &all->list->items[at], from))
			return false;
	}
	all->own += p->found.own;
	all->is_forked |= p->found.is_forked;
	return hi_vector_append(&all->links, p->found.links.items, p->found.links.count);
}

static enum hi_status gather_wave(struct gathering *all, struct part *parts, size_t first,
				  size_t end, struct hi_error *err)
{
	struct wave w = {.all = all, .parts = parts, .first = first, .end = end};
	size_t n = (end - first + PART - 1) / PART;
	enum hi_status status = HI_OK;

	hi_parallel(all->gr->n_makers, n, gather_part, &w);
	for (size_t i = 0; i < n; i++) {
		struct part *p = &parts[i];

		if (status == HI_OK && p->status != HI_OK) {
			status = p->status;
			*err = p->err;
		}
		if (status == HI_OK && !join_part(all, p))
			status = hi_fail_memory(err, "groups");
		free_part_lists(p);
	}
	return status;
}

static enum hi_status gather_many(struct gathering *all, size_t first, size_t end,
				  struct hi_error *err)
{
	struct part *parts = hi_calloc(WAVE, sizeof(*parts));
	enum hi_status status = parts ? HI_OK : hi_fail_memory(err, "groups");

	for (size_t i = first, next; i < end && status == HI_OK; i = next) {
		next = end - i < (size_t)WAVE * PART ? end : i + (size_t)WAVE * PART;
		status = gather_wave(all, parts, i, next, err);
	}
	free(parts);
	return status;
}

/* ---- all members ---- */

/* Adds the objects that hang on members as members. */
static bool take_links(struct gathering *g, struct hi_group *group)
{
	bool ok = hi_vector_append(&group->at, g->links.items, g->links.count);

	group->count += g->links.count;
	group->own += g->own;
	g->links.count = 0;
	g->own = 0;
	return ok;
}

enum hi_status hi_group_children_gather(struct hi_grouping *gr, struct hi_group *group,
					bool has_links, struct hi_group_list *list,
					bool *is_forked, struct hi_error *err)
{
	struct gathering all = {.gr = gr,
				.group = group,
				.names = !gr->names_singles ||
					 (group->tops == 1 && !has_links),
				.has_links = has_links,
				.list = list,
				.index = &gr->index,
				.last_key = UINT64_MAX};
	enum hi_status status = HI_OK;

	for (size_t i = 0, end; i < group->at.count && status == HI_OK; i = end) {
		end = group->at.count;
		status = end - i < FEW || gr->n_makers == 1 || gr->most_links
				 ? gather_members(&all, 0, i, end, err)
				 : gather_many(&all, i, end, err);
		if (status == HI_OK && !take_links(&all, group))
			status = hi_fail_memory(err, "groups");
	}
	hi_vector_free(&all.links);
	*is_forked = all.is_forked;
	return status;
}
