/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/analysis/subgraph.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "census/analysis/walk_internal.h"

enum hi_status hi_within_mark(const struct hi_graph *g, const hi_node *starts, size_t n,
			      uint64_t **bits_ret, struct hi_error *err)
{
	HI_GUARD(free) uint64_t *bits = hi_calloc(1, hi_bits_size(g->n_nodes));
	struct hi_walk walk;

	if (!bits || !hi_walk_init(&walk, g))
		return hi_fail_memory(err, "restriction");
	for (size_t i = 0; i < n; i++)
		if (starts[i] < g->n_nodes && hi_bit_take(bits, starts[i]))
			walk.stack[walk.depth++] = starts[i];
	hi_walk_run(&walk, hi_walk_take_strong, bits);
	hi_walk_deinit(&walk);
	*bits_ret = hi_take(bits);
	return HI_OK;
}

static void count_objects_within(const struct hi_graph *g, const struct hi_reach *whole,
				 const uint64_t *bits, struct hi_reach *r)
{
	for (hi_node i = 0; i < g->n_objects; i++) {
		uint64_t cost;

		if (!hi_bit(bits, i))
			continue;
		cost = hi_cost_of(g->objects, i);
		if (hi_is_internal(g, i)) {
			r->internal_objects++;
			r->internal_bytes += cost;
		} else if (!hi_bit(whole->any, i)) {
			bool likely = whole->likely && hi_bit(whole->likely, i);

			r->leak_objects++;
			r->leak_bytes += cost;
			r->likely_objects += likely;
			r->likely_bytes += likely ? cost : 0;
		} else {
			r->live_objects++;
			r->live_bytes += cost;
			if (hi_bit(whole->exact, i)) {
				r->exact_objects++;
				r->exact_bytes += cost;
			}
		}
	}
}

/* The bits of objects in a word of 64 nodes. */
static uint64_t objects_of(const struct hi_graph *g, size_t word)
{
	uint64_t first = (uint64_t)word * 64;

	if (first >= g->n_objects)
		return 0;
	return g->n_objects - first >= 64 ? UINT64_MAX
					  : (1ull << (g->n_objects - first)) - 1;
}

enum hi_status hi_within_reach(const struct hi_graph *g, const struct hi_reach *reach,
			       const uint64_t *bits, bool leaks, struct hi_reach **ret,
			       struct hi_error *err)
{
	HI_GUARD(hi_reach_destroy) struct hi_reach *r = hi_calloc(1, sizeof(*r));
	size_t size = hi_bits_size(g->n_nodes);

	if (!r)
		return hi_fail_memory(err, "restriction");
	r->any = hi_calloc(1, size);
	r->exact = hi_calloc(1, size);
	r->likely = reach->likely ? hi_calloc(1, size) : NULL;
	if (!r->any || !r->exact || (reach->likely && !r->likely))
		return hi_fail_memory(err, "restriction");
	r->is_doubtful = reach->is_doubtful;
	r->unread_bytes = reach->unread_bytes;
	r->apart_bytes = reach->apart_bytes;
	for (size_t i = 0; i < size / sizeof(*bits); i++) {
		uint64_t objects = objects_of(g, i);

		r->any[i] = objects &
			    (leaks ? reach->any[i] | ~bits[i] : reach->any[i] & bits[i]);
		r->exact[i] = objects & reach->exact[i] & bits[i];
		if (r->likely)
			r->likely[i] = objects & reach->likely[i] & bits[i];
	}
	count_objects_within(g, reach, bits, r);
	*ret = hi_take(r);
	return HI_OK;
}

enum hi_status hi_within_dominators(const struct hi_graph *g,
				    const struct hi_reach *shown,
				    const struct hi_dominators *d,
				    struct hi_dominators *ret, struct hi_error *err)
{
	/* Bytes of order[0] .. order[i - 1]: a subtree is a range of them. */
	HI_GUARD(free)
	uint64_t *before = hi_calloc((size_t)d->n_order + 1, sizeof(*before));
	HI_GUARD(free) uint64_t *retained = hi_calloc(g->n_nodes, sizeof(*retained));

	if (!before || !retained)
		return hi_fail_memory(err, "restriction");
	for (hi_node i = 0; i < d->n_order; i++) {
		hi_node node = d->order[i];
		bool counts = node < g->n_objects && hi_bit(shown->any, node) &&
			      !hi_is_internal(g, node);

		before[i + 1] = before[i] + (counts ? hi_cost_of(g->objects, node) : 0);
	}
	for (hi_node i = 0; i < d->n_order; i++)
		retained[d->order[i]] = before[i + d->span[i]] - before[i];
	*ret = *d;
	ret->is_borrowed = true;
	ret->retained = hi_take(retained);
	return HI_OK;
}

enum hi_status hi_within_sum(const struct hi_graph *g, const struct hi_reach *reach,
			     const hi_node *starts, size_t n, struct hi_reachable *ret,
			     struct hi_error *err)
{
	HI_GUARD(free) uint64_t *bits = NULL;
	enum hi_status status = hi_within_mark(g, starts, n, &bits, err);

	*ret = (struct hi_reachable){};
	for (hi_node i = 0; status == HI_OK && i < g->n_objects; i++) {
		if (!hi_bit(bits, i) || !hi_bit(reach->any, i) || hi_is_internal(g, i))
			continue;
		ret->objects++;
		ret->bytes += hi_graph_cost(g, i);
	}
	return status;
}
