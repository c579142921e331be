/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which of several overlapping candidates are objects. Candidates that overlap, directly
 * or through others, are a cluster; most are clusters of one. In each the best
 * candidate is taken first, then the next one that overlaps none of those taken, and
 * so on. Taken ones are disjoint, so those in a candidate's way are its neighbours:
 * bitmaps of 64-fold levels find them, whatever a hostile target
 * makes of its clusters.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "decode/inference/subobjects_internal.h"

enum {
	LEVELS = 6,	     /* 2^36 positions */
	MAX_IN_THE_WAY = 64, /* that one is compared with */
};
#define NO_POSITION SIZE_MAX

struct levels {
	uint64_t *words[LEVELS];
	size_t bits[LEVELS]; /* in use */
	uint64_t *memory;
};

struct cluster {
	struct hi_layouts *layouts;
	struct hi_subobject_candidate
		*candidates; /* of the cluster at hand, by address */
	size_t n;
	uint32_t *order; /* positions, the best first */
	struct levels taken;
	struct hi_subobject_stats *stats;
};

/* ---- sets of positions ---- */

static bool levels_init(struct levels *l, size_t max)
{
	size_t words = 0, n = max;

	for (unsigned i = 0; i < LEVELS; i++) {
		n = n / 64 + 1;
		words += n;
	}
	l->memory = hi_calloc(words, sizeof(*l->memory));
	words = 0;
	n = max;
	for (unsigned i = 0; i < LEVELS && l->memory; i++) {
		l->words[i] = l->memory + words;
		n = n / 64 + 1;
		words += n;
	}
	return l->memory;
}

/* Empty, for positions below n. */
static void levels_clear(struct levels *l, size_t n)
{
	for (unsigned i = 0; i < LEVELS; i++) {
		l->bits[i] = n;
		n = (n + 63) / 64;
		memset(l->words[i], 0, n * sizeof(**l->words));
	}
}

static void levels_add(struct levels *l, size_t at)
{
	for (unsigned i = 0; i < LEVELS; i++) {
		l->words[i][at / 64] |= 1ull << (at & 63);
		at /= 64;
	}
}

/* The first position from `at` on. */
static size_t levels_from(const struct levels *l, size_t at)
{
	for (unsigned i = 0; i < LEVELS && at < l->bits[i]; i++) {
		uint64_t word = l->words[i][at / 64] & (~0ull << (at & 63));

		if (!word) {
			at = at / 64 + 1;
			continue;
		}
		at = at / 64 * 64 + (size_t)__builtin_ctzll(word);
		while (i--)
			at = at * 64 + (size_t)__builtin_ctzll(l->words[i][at]);
		return at;
	}
	return NO_POSITION;
}

/* The last position up to `at`. */
static size_t levels_to(const struct levels *l, size_t at)
{
	for (unsigned i = 0; i < LEVELS; i++) {
		uint64_t word = l->words[i][at / 64] & (~0ull >> (63 - (at & 63)));

		if (word) {
			at = at / 64 * 64 + 63 - (size_t)__builtin_clzll(word);
			while (i--)
				at = at * 64 + 63 -
				     (size_t)__builtin_clzll(l->words[i][at]);
			return at;
		}
		if (at / 64 == 0)
			break;
		at = at / 64 - 1;
	}
	return NO_POSITION;
}

/* ---- candidates ---- */

static const struct hi_layout *
layout_of_candidate_key(struct hi_layouts *layouts,
			const struct hi_subobject_candidate *candidate)
{
	return hi_layouts_get(layouts, candidate->key & HI_KEY_LAYOUT);
}

/* < 0: a is the better one. */
static int compare_candidates(struct hi_layouts *layouts,
			      const struct hi_subobject_candidate *a,
			      const struct hi_subobject_candidate *b)
{
	int order = hi_layout_compare(layout_of_candidate_key(layouts, b),
				      layout_of_candidate_key(layouts, a));
	uint64_t x = hi_subobject_candidate_addr(a), y = hi_subobject_candidate_addr(b);

	if (order)
		return order;
	if (x != y)
		return x < y ? -1 : 1;
	x = hi_subobject_candidate_size(b);
	y = hi_subobject_candidate_size(a);
	if (x != y)
		return x < y ? -1 : 1;
	x = b->key & (HI_KEY_ARRAY | HI_KEY_LAYOUT);
	y = a->key & (HI_KEY_ARRAY | HI_KEY_LAYOUT);
	return x < y ? -1 : x > y;
}

static int by_trust(const void *a, const void *b, void *arg)
{
	return compare_candidates(arg, a, b);
}

static int by_trust_of_position(const void *a, const void *b, void *arg)
{
	const struct cluster *c = arg;

	return compare_candidates(c->layouts, &c->candidates[*(const uint32_t *)a],
				  &c->candidates[*(const uint32_t *)b]);
}

/* b is where a has such a member or element. */
static bool explains_candidate(struct hi_layouts *layouts,
			       const struct hi_subobject_candidate *a,
			       const struct hi_subobject_candidate *b)
{
	const struct hi_layout *layout = layout_of_candidate_key(layouts, a);
	uint64_t offset = hi_subobject_candidate_addr(b) - hi_subobject_candidate_addr(a);

	if (hi_subobject_candidate_addr(b) < hi_subobject_candidate_addr(a) ||
	    hi_subobject_candidate_end(b) > hi_subobject_candidate_end(a))
		return false;
	if (offset < layout->lead)
		return false;
	offset -= layout->lead;
	if ((a->key & HI_KEY_ARRAY) && layout->size)
		offset %= layout->size;
	return hi_layout_has_at(layouts, layout, offset,
				layout_of_candidate_key(layouts, b));
}

static bool candidates_overlap(const struct hi_subobject_candidate *a,
			       const struct hi_subobject_candidate *b)
{
	return hi_subobject_candidate_addr(a) < hi_subobject_candidate_end(b) &&
	       hi_subobject_candidate_addr(b) < hi_subobject_candidate_end(a);
}

/* ---- clusters ---- */

/* Taken candidates that overlap this one, by address; an array may overlap many. */
static unsigned find_in_the_way(const struct cluster *c, size_t position,
				struct hi_subobject_candidate *ret[MAX_IN_THE_WAY])
{
	const struct hi_subobject_candidate *candidate = &c->candidates[position];
	size_t at = levels_to(&c->taken, position);
	unsigned n = 0;

	if (at == NO_POSITION || !candidates_overlap(&c->candidates[at], candidate))
		at = levels_from(&c->taken, position);
	while (at != NO_POSITION && candidates_overlap(&c->candidates[at], candidate) &&
	       n < MAX_IN_THE_WAY) {
		ret[n++] = &c->candidates[at];
		at = levels_from(&c->taken, at + 1);
	}
	return n;
}

static void take_candidate(struct cluster *c, size_t position)
{
	struct hi_subobject_candidate *candidate = &c->candidates[position],
				      *in_the_way[MAX_IN_THE_WAY];
	unsigned n = find_in_the_way(c, position, in_the_way);

	if (n == 0) {
		levels_add(&c->taken, position);
		return;
	}
	for (unsigned i = 0; i < n; i++)
		if (explains_candidate(c->layouts, in_the_way[i], candidate) ||
		    explains_candidate(c->layouts, candidate, in_the_way[i])) {
			c->stats->explained++;
			return;
		}
	c->stats->conflicts++;
	for (unsigned i = 0; i < n; i++)
		in_the_way[i]->key |= HI_SUBOBJECT_CONFLICT;
}

/* Those at one address are in no order yet. */
static void order_equals(struct cluster *c)
{
	size_t end;

	for (size_t i = 0; i < c->n; i = end) {
		uint64_t addr = hi_subobject_candidate_addr(&c->candidates[i]);

		for (end = i + 1; end < c->n && hi_subobject_candidate_addr(
							&c->candidates[end]) == addr;
		     end++)
			;
		if (end - i > 1)
			qsort_r(c->candidates + i, end - i, sizeof(*c->candidates),
				by_trust, c->layouts);
	}
}

/* Returns how many are taken; they are at out, which is not above the cluster. */
static size_t resolve_cluster(struct cluster *c, struct hi_subobject_candidate *out)
{
	size_t n = 0;

	order_equals(c);
	for (size_t i = 0; i < c->n; i++)
		c->order[i] = (uint32_t)i;
	qsort_r(c->order, c->n, sizeof(*c->order), by_trust_of_position, c);
	levels_clear(&c->taken, c->n);
	for (size_t i = 0; i < c->n; i++)
		take_candidate(c, c->order[i]);
	for (size_t i = levels_from(&c->taken, 0); i != NO_POSITION;
	     i = levels_from(&c->taken, i + 1))
		out[n++] = c->candidates[i];
	return n;
}

/* End of the cluster that begins at i. */
static size_t cluster_end(const struct hi_subobject_candidate *candidates, size_t n,
			  size_t i)
{
	uint64_t end = hi_subobject_candidate_end(&candidates[i]);

	for (i++; i < n && hi_subobject_candidate_addr(&candidates[i]) < end; i++)
		if (hi_subobject_candidate_end(&candidates[i]) > end)
			end = hi_subobject_candidate_end(&candidates[i]);
	return i;
}

static size_t largest_cluster(const struct hi_subobject_candidate *candidates, size_t n)
{
	size_t largest = 0, end;

	for (size_t i = 0; i < n; i = end) {
		end = cluster_end(candidates, n, i);
		if (end - i > largest)
			largest = end - i;
	}
	return largest;
}

enum hi_status hi_subobjects_resolve(struct hi_layouts *layouts,
				     struct hi_subobject_candidate *candidates, size_t n,
				     size_t *n_ret, struct hi_subobject_stats *stats,
				     struct hi_error *err)
{
	size_t largest = largest_cluster(candidates, n), kept = 0, end;
	struct cluster c = {.layouts = layouts, .stats = stats};
	HI_GUARD(free) uint32_t *order = hi_alloc((largest + 1) * sizeof(*order));
	HI_GUARD(free) uint64_t *memory = NULL;

	if (largest > UINT32_MAX)
		return hi_fail(err, HI_LIMIT, 0, "subobjects: too many");
	if (!order || !levels_init(&c.taken, largest))
		return hi_fail_memory(err, "subobjects");
	memory = c.taken.memory;
	c.order = order;
	for (size_t i = 0; i < n; i = end) {
		end = cluster_end(candidates, n, i);
		if (end - i == 1) {
			candidates[kept++] = candidates[i];
			continue;
		}
		c.candidates = candidates + i;
		c.n = end - i;
		kept += resolve_cluster(&c, candidates + kept);
	}
	*n_ret = kept;
	return HI_OK;
}
