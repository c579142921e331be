/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What holds much of the heap, and where it piles up.
 *
 * Note [Runs of one type]
 *
 * From the top one goes down while one child holds most of its parent. In a
 * linked list this leads from node to node almost to the tail, which says
 * nothing. So when the way down ends in a run of nodes of one type, the run's
 * first node is the place; untyped ones are alike when they cost the same.
 */
#include <string.h>

#include "base/cleanup.h"
#include "base/vector.h"
#include "census/analysis.h"
#include "census/walk_internal.h"

HI_DEFINE_GUARD(struct hi_suspects *, hi_suspects_destroy)

/* A bound for tiny shares; with 20 % there are five at most. */
enum { MAX_SUSPECTS = 64 };

struct finder {
	const struct hi_graph *graph;
	const struct hi_dominators *dominators;
	struct hi_suspects *found;
	uint64_t *on_way; /* bits: nodes on the way down from a top */
	hi_node last[MAX_SUSPECTS];
};

static bool is_kind(const struct hi_graph *g, hi_node node)
{
	return node >= g->first_kind;
}

static int by_retained(const void *a, const void *b)
{
	const struct hi_suspect *x = a, *y = b;

	if (x->retained != y->retained)
		return x->retained > y->retained ? -1 : 1;
	return x->top < y->top ? -1 : x->top > y->top;
}

static bool collect_tops(struct finder *f, double least)
{
	const struct hi_dominators *d = f->dominators;
	struct HI_VECTOR(struct hi_suspect) tops = {};

	for (hi_node i = 0; i < d->n_nodes; i++) {
		if (d->idom[i] == HI_NODE_NONE || is_kind(f->graph, i) ||
		    !is_kind(f->graph, d->idom[i]) || !d->retained[i] ||
		    (double)d->retained[i] < least)
			continue;
		if (!hi_vector_push(&tops,
				    ((struct hi_suspect){.top = i,
							 .retained = d->retained[i]}))) {
			hi_vector_free(&tops);
			return false;
		}
	}
	if (tops.count)
		qsort(tops.items, tops.count, sizeof(*tops.items), by_retained);
	f->found->items = tops.items;
	f->found->count = tops.count < MAX_SUSPECTS ? tops.count : MAX_SUSPECTS;
	return true;
}

static bool are_alike(const struct hi_graph *g, hi_node a, hi_node b)
{
	uint32_t type;

	if (!hi_graph_is_object(g, a) || !hi_graph_is_object(g, b))
		return false;
	type = hi_type_of(g, a);
	if (type != hi_type_of(g, b))
		return false;
	return type || hi_graph_cost(g, a) == hi_graph_cost(g, b);
}

/* node is the heavy child of parent, which is on the way of some suspect. */
static void go_down(struct finder *f, hi_node parent, hi_node node)
{
	for (size_t i = 0; i < f->found->count; i++) {
		if (f->last[i] != parent)
			continue;
		f->last[i] = node;
		if (!are_alike(f->graph, parent, node))
			f->found->items[i].accumulation = node;
	}
	hi_bit_take(f->on_way, node);
}

/* In preorder every node comes after its dominators: one sweep is enough. */
static void follow(struct finder *f)
{
	enum { AHEAD = 16 };
	const struct hi_dominators *d = f->dominators;

	for (size_t i = 0; i < f->found->count; i++) {
		f->last[i] = f->found->items[i].accumulation = f->found->items[i].top;
		hi_bit_take(f->on_way, f->last[i]);
	}
	for (hi_node i = 1; i < d->n_order; i++) {
		hi_node node = d->order[i], parent = d->idom[node];

		if (i + AHEAD < d->n_order)
			__builtin_prefetch(&d->idom[d->order[i + AHEAD]]);
		if (hi_bit(f->on_way, parent) && d->retained[parent] &&
		    (double)d->retained[node] >= 0.7 * (double)d->retained[parent])
			go_down(f, parent, node);
	}
}

struct tally {
	uint64_t count, bytes;
};

static void describe(struct finder *f, struct hi_suspect *s, struct tally *tally)
{
	const struct hi_graph *g = f->graph;
	const struct hi_dominators *d = f->dominators;
	uint32_t best = 0;

	memset(tally, 0, g->n_types * sizeof(*tally));
	for (hi_node i = 0; i < g->n_objects; i++) {
		struct tally *t;

		if (d->idom[i] != s->accumulation)
			continue;
		t = &tally[hi_type_of(g, i)];
		t->count++;
		t->bytes += d->retained[i];
	}
	for (uint32_t type = 1; type < g->n_types; type++)
		if (tally[type].bytes > tally[best].bytes)
			best = type;
	s->accumulation_retained = d->retained[s->accumulation];
	s->child_type = best;
	s->children = tally[best].count;
	s->children_bytes = tally[best].bytes;
}

enum hi_status hi_suspects_find(const struct hi_graph *g, const struct hi_reach *reach,
				const struct hi_dominators *d, double share,
				struct hi_suspects **ret, struct hi_error *err)
{
	HI_GUARD(hi_suspects_destroy) struct hi_suspects *s = hi_calloc(1, sizeof(*s));
	HI_GUARD(free) uint64_t *on_way = hi_calloc(1, hi_bits_size(g->n_nodes));
	HI_GUARD(free) struct tally *tally = hi_calloc(g->n_types, sizeof(*tally));
	struct finder f = {.graph = g, .dominators = d, .found = s, .on_way = on_way};

	if (!s || !on_way || !tally ||
	    !collect_tops(&f, share * (double)reach->live_bytes))
		return hi_fail_memory(err, "suspects");
	follow(&f);
	for (size_t i = 0; i < s->count; i++)
		describe(&f, &s->items[i], tally);
	*ret = hi_take(s);
	return HI_OK;
}

void hi_suspects_destroy(struct hi_suspects *suspects)
{
	if (!suspects)
		return;
	free(suspects->items);
	free(suspects);
}
