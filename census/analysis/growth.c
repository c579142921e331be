/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds what holds marked objects, down the dominator tree. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "census/analysis/compare.h"

/* One child with so much of its parent's is where to look on. */
static const double most_of_it = 0.7;
enum { LINKS = 3 }; /* from one of a kind to the next, in a list */

/* Marked bytes and objects of order[0] .. order[i - 1]. */
struct prefix {
	uint64_t bytes;
	uint32_t objects;
};

static struct prefix *sum_marked_prefixes(const struct hi_heap_side *side,
					  const uint64_t *marked)
{
	const struct hi_dominators *d = side->dominators;
	struct prefix *p = hi_calloc((size_t)d->n_order + 1, sizeof(*p));

	for (hi_node i = 0; p && i < d->n_order; i++) {
		hi_node node = d->order[i];
		bool is = node < side->graph->n_objects && hi_bit(marked, node);

		p[i + 1].bytes = p[i].bytes;
		p[i + 1].objects = p[i].objects + is;
		if (is)
			p[i + 1].bytes += hi_graph_cost(side->graph, node);
	}
	return p;
}

static uint64_t marked_bytes_below(const struct hi_dominators *d, const struct prefix *p,
				   uint32_t at)
{
	return p[at + d->span[at]].bytes - p[at].bytes;
}

/* The first child with that share of the marked bytes below a position; the position:
 * there is none. */
static uint32_t find_main_child(const struct hi_dominators *d, const struct prefix *p,
				uint32_t at, double share)
{
	uint64_t bytes = marked_bytes_below(d, p, at);

	for (uint32_t c = at + 1; bytes && c < at + d->span[at]; c += d->span[c])
		if ((double)marked_bytes_below(d, p, c) >= share * (double)bytes)
			return c;
	return at;
}

static bool is_of_marked_kind(const struct hi_graph *g, hi_node up, hi_node down)
{
	return up < g->n_objects && down < g->n_objects && g->objects->type[up] &&
	       g->objects->type[up] == g->objects->type[down];
}

/* Does a list begin here? Its beginning holds it, not the middle of it. A dict in a dict
 * is none: it takes LINKS of them. */
static bool begins_marked_run(const struct hi_heap_side *side, const struct prefix *p,
			      uint32_t at)
{
	const struct hi_dominators *d = side->dominators;

	for (unsigned i = 0; i < LINKS; i++) {
		uint32_t next = find_main_child(d, p, at, 0.5);

		if (next == at ||
		    !is_of_marked_kind(side->graph, d->order[at], d->order[next]))
			return false;
		at = next;
	}
	return true;
}

/* Down from a position, as long as one child has most of it. */
static uint32_t descend_to_marked_holder(const struct hi_heap_side *side,
					 const struct prefix *p, uint32_t at)
{
	for (;;) {
		uint32_t next = find_main_child(side->dominators, p, at, most_of_it);

		if (next == at || begins_marked_run(side, p, at))
			return at;
		at = next;
	}
}

static void insert_growth(struct hi_growth *items, size_t *n, size_t most,
			  struct hi_growth g)
{
	size_t at = *n;

	while (at && items[at - 1].bytes < g.bytes)
		at--;
	if (at >= most)
		return;
	if (*n < most)
		++*n;
	for (size_t i = *n - 1; i > at; i--)
		items[i] = items[i - 1];
	items[at] = g;
}

/* Variables, and what several of them hold: below the super-root, past the kinds. */
static void find_growths(const struct hi_heap_side *side, const struct prefix *p,
			 size_t most, struct hi_growth *items, size_t *n)
{
	const struct hi_dominators *d = side->dominators;

	for (uint32_t at = 1; at < d->n_order;) {
		hi_node node = d->order[at];
		struct hi_growth g = {.top = node};
		uint32_t holder;

		if (node >= side->graph->first_kind) {
			at++;
			continue;
		}
		g.bytes = marked_bytes_below(d, p, at);
		g.objects = p[at + d->span[at]].objects - p[at].objects;
		holder = descend_to_marked_holder(side, p, at);
		g.holder = d->order[holder];
		g.holder_bytes = marked_bytes_below(d, p, holder);
		if (g.bytes)
			insert_growth(items, n, most, g);
		at += d->span[at];
	}
}

enum hi_status hi_growth_find(const struct hi_heap_side *side, const uint64_t *marked,
			      size_t most, struct hi_growth *items, size_t *n_ret,
			      struct hi_error *err)
{
	HI_GUARD(free) struct prefix *p = sum_marked_prefixes(side, marked);

	if (!p)
		return hi_fail_memory(err, "growth");
	*n_ret = 0;
	find_growths(side, p, most, items, n_ret);
	return HI_OK;
}
