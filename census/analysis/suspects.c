/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds what holds much of the heap, and where it accumulates.
 *
 * Note [Runs of one type]
 *
 * The path down goes on while one child retains most of its parent. In a linked list this
 * leads from element to element almost to the tail, which does not show the cause.
 * So when the path down ends in a run of nodes of one type, the accumulation point is the
 * first node of the run. Untyped nodes count as one type when they cost the same.
 */
#include <string.h>

#include "base/cleanup.h"
#include "base/vector.h"
#include "census/analysis/analysis.h"
#include "census/graph/walk_internal.h"

HI_DEFINE_GUARD(struct hi_suspects *, hi_suspects_destroy)

/* A bound for tiny shares; with 20 % there are five at most. */
enum { MAX_SUSPECTS = 64 };

struct place { /* a top, and its position in the dominators' order */
	struct hi_suspect suspect;
	hi_node at;
};

struct finder {
	const struct hi_graph *graph;
	const struct hi_dominators *dominators;
	struct HI_VECTOR(struct place) tops;
	struct tally { /* by type */
		uint64_t count, bytes;
	} * tally;
};

static uint64_t retained_at(const struct finder *f, hi_node at)
{
	return f->dominators->retained[f->dominators->order[at]];
}

/* Children of the node at `at` are at at + 1, and behind each other's span. */
static hi_node children_end(const struct finder *f, hi_node at)
{
	return at + f->dominators->span[at];
}

static bool add_suspect_top(struct finder *f, hi_node at, double least)
{
	struct place place = {.at = at};

	place.suspect.top = f->dominators->order[at];
	place.suspect.retained = retained_at(f, at);
	if (!place.suspect.retained || (double)place.suspect.retained < least)
		return true;
	return hi_vector_push(&f->tops, place);
}

/* What lies directly under the super-root or a kind, and is none itself. */
static bool collect_tops(struct finder *f, double least)
{
	const struct hi_dominators *d = f->dominators;

	for (hi_node at = 1; at < d->n_order;) {
		if (d->order[at] >= f->graph->first_kind) {
			at++; /* go into the kind */
			continue;
		}
		if (!add_suspect_top(f, at, least))
			return false;
		at += d->span[at];
	}
	return true;
}

static int compare_suspects(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->suspect.retained != y->suspect.retained)
		return x->suspect.retained > y->suspect.retained ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
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

/* The child that holds >= 0.7 of its parent; there is at most one. 0: none. */
static hi_node heavy_child(const struct finder *f, hi_node at)
{
	double least = 0.7 * (double)retained_at(f, at);
	hi_node end = children_end(f, at);

	for (hi_node child = at + 1; least > 0 && child < end;
	     child += f->dominators->span[child])
		if ((double)retained_at(f, child) >= least)
			return child;
	return 0;
}

static hi_node accumulation_at(const struct finder *f, hi_node top)
{
	const hi_node *order = f->dominators->order;
	hi_node first = top, next;

	for (hi_node at = top; (next = heavy_child(f, at)); at = next)
		if (!are_alike(f->graph, order[at], order[next]))
			first = next;
	return first;
}

static void describe_suspect(struct finder *f, struct place *place)
{
	const struct hi_graph *g = f->graph;
	hi_node at = accumulation_at(f, place->at), end = children_end(f, at);
	uint32_t best = 0;

	memset(f->tally, 0, g->n_types * sizeof(*f->tally));
	for (hi_node child = at + 1; child < end; child += f->dominators->span[child]) {
		hi_node node = f->dominators->order[child];

		if (!hi_graph_is_object(g, node))
			continue;
		f->tally[hi_type_of(g, node)].count++;
		f->tally[hi_type_of(g, node)].bytes += retained_at(f, child);
	}
	for (uint32_t type = 1; type < g->n_types; type++)
		if (f->tally[type].bytes > f->tally[best].bytes)
			best = type;
	place->suspect.accumulation = f->dominators->order[at];
	place->suspect.accumulation_retained = retained_at(f, at);
	place->suspect.child_type = best;
	place->suspect.children = f->tally[best].count;
	place->suspect.children_bytes = f->tally[best].bytes;
}

static bool collect_largest_suspects(struct finder *f, double least,
				     struct hi_suspects *found)
{
	size_t n;

	if (!collect_tops(f, least))
		return false;
	n = f->tops.count < MAX_SUSPECTS ? f->tops.count : MAX_SUSPECTS;
	found->items = hi_calloc(n, sizeof(*found->items));
	if (!found->items)
		return false;
	if (f->tops.count)
		qsort(f->tops.items, f->tops.count, sizeof(*f->tops.items),
		      compare_suspects);
	for (; found->count < n; found->count++) {
		describe_suspect(f, &f->tops.items[found->count]);
		found->items[found->count] = f->tops.items[found->count].suspect;
	}
	return true;
}

enum hi_status hi_suspects_find(const struct hi_graph *g, const struct hi_reach *reach,
				const struct hi_dominators *d, double share,
				struct hi_suspects **ret, struct hi_error *err)
{
	HI_GUARD(hi_suspects_destroy) struct hi_suspects *s = hi_calloc(1, sizeof(*s));
	HI_GUARD(free) struct tally *tally = hi_calloc(g->n_types, sizeof(*tally));
	struct finder f = {.graph = g, .dominators = d, .tally = tally};
	bool ok = s && tally &&
		  collect_largest_suspects(&f, share * (double)reach->live_bytes, s);

	hi_vector_free(&f.tops);
	if (!ok)
		return hi_fail_memory(err, "suspects");
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
