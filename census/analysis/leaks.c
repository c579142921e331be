/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Leak roots: one for each strongly connected component of the unreachable
 * objects that no other unreachable object leads into. Any edge but a weak one
 * counts, whatever its grade: it is better to report a leaked pair as one leak
 * than as two because a pointer was not understood.
 *
 * Shapes. A component of several objects is a cycle. An object that only
 * points to itself is not: a list head that is its own neighbour is an empty
 * list, and would be a leak just the same without. Such an object is single,
 * or a chain if it holds others.
 */
#include <string.h>

#include "base/cleanup.h"
#include "base/vector.h"
#include "census/analysis/analysis.h"
#include "census/graph/walk_internal.h"

HI_DEFINE_GUARD(struct hi_leaks *, hi_leaks_destroy)
HI_DEFINE_GUARD(struct hi_scc *, hi_scc_destroy)

/* What is known of a component. */
enum { ENTERED = 1, HOLDS = 2, SEEN = 4, SEVERAL = 8 };

struct leak_finder {
	const struct hi_graph *graph;
	uint64_t *unreachable;	/* bits; cleared for objects that an earlier leak root has
				 * counted */
	const uint64_t *likely; /* bits; NULL: none */
	uint32_t *component;
	uint8_t *facts; /* per component */
	struct hi_leaks *leaks;
	size_t roots_capacity;
};

static uint64_t *unreachable_bits(const struct hi_graph *g, const struct hi_reach *reach)
{
	uint64_t *bits = hi_calloc(1, hi_bits_size(g->n_nodes));

	for (hi_node i = 0; bits && i < g->n_objects; i += 64) {
		hi_node rest = g->n_objects - i;
		uint64_t mask = rest < 64 ? (1ull << rest) - 1 : UINT64_MAX;

		bits[i >> 6] = ~reach->any[i >> 6] & mask;
	}
	return bits;
}

/* The next set bit at or after i; n if there is none. No bit from n on is set. */
static hi_node next_bit(const uint64_t *bits, hi_node i, hi_node n)
{
	for (uint64_t at = i; at < n; at = (at | 63) + 1) {
		uint64_t word = bits[at >> 6] >> (at & 63);

		if (word)
			return (hi_node)at + (hi_node)__builtin_ctzll(word);
	}
	return n;
}

static void note_edges(struct leak_finder *f, hi_node from)
{
	struct hi_edges edges = hi_graph_edges(f->graph, from);
	uint32_t own = f->component[from];

	for (uint32_t e = 0; e < edges.count; e++) {
		hi_node to = edges.to[e];

		if (edges.grade[e] == HI_GRADE_WEAK || !hi_bit(f->unreachable, to) ||
		    f->component[to] == own)
			continue;
		f->facts[own] |= HOLDS;
		f->facts[f->component[to]] |= ENTERED;
	}
}

static void note_facts(struct leak_finder *f)
{
	hi_node n = f->graph->n_objects;

	for (hi_node i = next_bit(f->unreachable, 0, n); i < n;
	     i = next_bit(f->unreachable, i + 1, n)) {
		uint8_t *facts = &f->facts[f->component[i]];

		*facts |= *facts & SEEN ? SEVERAL : SEEN;
		note_edges(f, i);
	}
}

static enum hi_leak_shape shape_of(uint8_t facts)
{
	if (facts & SEVERAL)
		return HI_LEAK_CYCLE;
	return facts & HOLDS ? HI_LEAK_CHAIN : HI_LEAK_SINGLE;
}

struct leak_count {
	const struct hi_graph *graph;
	uint64_t *unreachable;
	const uint64_t *likely;
	struct hi_leak_root *root;
};

static void count_leaked_object(struct leak_count *c, hi_node node)
{
	c->unreachable[node >> 6] &= ~(1ull << (node & 63));
	c->root->objects++;
	c->root->bytes += hi_cost_of(c->graph->objects, node);
	if (c->likely && hi_bit(c->likely, node)) {
		c->root->likely_objects++;
		c->root->likely_bytes += hi_cost_of(c->graph->objects, node);
	}
}

HI_INLINE bool take_uncounted(void *arg, hi_node from, hi_node to, uint8_t grade)
{
	struct leak_count *c = arg;

	(void)from;
	if (grade == HI_GRADE_WEAK || !hi_bit(c->unreachable, to))
		return false;
	count_leaked_object(c, to);
	return true;
}

static bool add_leak_root(struct leak_finder *f, struct hi_walk *walk, hi_node node)
{
	struct hi_leaks *leaks = f->leaks;
	struct leak_count leak_count = {f->graph, f->unreachable, f->likely, NULL};

	if (leaks->n_roots == f->roots_capacity &&
	    !hi_vector_grow((void **)&leaks->roots, &f->roots_capacity,
			    leaks->n_roots + 1, sizeof(*leaks->roots)))
		return false;
	leak_count.root = &leaks->roots[leaks->n_roots++];
	*leak_count.root = (struct hi_leak_root){
		.node = node,
		.shape = shape_of(f->facts[f->component[node]]),
		.unreachable_class = f->graph->unreachable_classes
					     ? f->graph->unreachable_classes[node]
					     : HI_UNREACHABLE_NO_CLASS,
		.is_likely = f->likely && hi_bit(f->likely, node)};
	count_leaked_object(&leak_count, node);
	walk->stack[walk->depth++] = node;
	hi_walk_run(walk, take_uncounted, &leak_count);
	leaks->objects += leak_count.root->objects;
	leaks->bytes += leak_count.root->bytes;
	leaks->likely_objects += leak_count.root->likely_objects;
	leaks->likely_bytes += leak_count.root->likely_bytes;
	leaks->n_likely_roots += leak_count.root->is_likely;
	leaks->by_class[leak_count.root->unreachable_class] +=
		leak_count.root->bytes - leak_count.root->likely_bytes;
	return true;
}

/*
 * In address order: objects that a leak root counts are no longer unreachable for the
 * later ones. The first member of a component that is found is its lowest one. It was not
 * counted before, because no edge leads into the component.
 */
static bool add_roots(struct leak_finder *f)
{
	hi_node n = f->graph->n_objects;
	struct hi_walk walk;
	bool ok = hi_walk_init(&walk, f->graph);

	for (hi_node i = next_bit(f->unreachable, 0, n); ok && i < n;
	     i = next_bit(f->unreachable, i + 1, n))
		if (!(f->facts[f->component[i]] & ENTERED))
			ok = add_leak_root(f, &walk, i);
	hi_walk_deinit(&walk);
	return ok;
}

/* ---- rows ---- */

static int compare_leak_roots(const void *a, const void *b)
{
	const struct hi_leak_root *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

static int by_row_bytes(const void *a, const void *b)
{
	const struct hi_leak_row *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	if (x->type != y->type)
		return x->type < y->type ? -1 : 1;
	if (x->shape != y->shape)
		return (int)x->shape - (int)y->shape;
	if (x->unreachable_class != y->unreachable_class)
		return (int)x->unreachable_class - (int)y->unreachable_class;
	return (int)x->is_likely - (int)y->is_likely;
}

/* Roots are sorted: the first of a row is the one that holds most. */
static bool make_leak_rows(const struct hi_graph *g, struct hi_leaks *leaks)
{
	enum {
		SHAPES = HI_LEAK_CYCLE + 1,
		VERDICTS = 2,
		KINDS = SHAPES * HI_UNREACHABLE_CLASSES * VERDICTS
	};
	size_t n = (size_t)g->n_types * KINDS, kept = 0;
	struct hi_leak_row *rows = hi_calloc(n, sizeof(*rows));

	if (!rows)
		return false;
	for (size_t i = 0; i < leaks->n_roots; i++) {
		const struct hi_leak_root *root = &leaks->roots[i];
		uint32_t type = hi_type_of(g, root->node);
		struct hi_leak_row *row =
			&rows[(size_t)type * KINDS +
			      (root->unreachable_class * VERDICTS + root->is_likely) *
				      SHAPES +
			      root->shape];

		if (row->count++ == 0) {
			row->type = type;
			row->shape = root->shape;
			row->unreachable_class = root->unreachable_class;
			row->is_likely = root->is_likely;
			row->example = root->node;
		}
		row->objects += root->objects;
		row->bytes += root->bytes;
	}
	for (size_t i = 0; i < n; i++)
		if (rows[i].count)
			rows[kept++] = rows[i];
	qsort(rows, kept, sizeof(*rows), by_row_bytes);
	leaks->rows = rows;
	leaks->n_rows = kept;
	return true;
}

static bool find_leak_roots(struct leak_finder *f)
{
	note_facts(f);
	if (!add_roots(f))
		return false;
	if (f->leaks->n_roots)
		qsort(f->leaks->roots, f->leaks->n_roots, sizeof(*f->leaks->roots),
		      compare_leak_roots);
	return make_leak_rows(f->graph, f->leaks);
}

enum hi_status hi_leaks_compute(const struct hi_graph *g, const struct hi_reach *reach,
				struct hi_leaks **ret, struct hi_error *err)
{
	HI_GUARD(hi_leaks_destroy) struct hi_leaks *leaks = hi_calloc(1, sizeof(*leaks));
	HI_GUARD(free) uint64_t *bits = NULL;
	HI_GUARD(free) uint8_t *facts = NULL;
	HI_GUARD(hi_scc_destroy) struct hi_scc *scc = NULL;
	struct leak_finder f = {.graph = g, .leaks = leaks};
	enum hi_status status;

	if (!leaks)
		return hi_fail_memory(err, "leaks");
	if (reach->leak_objects == 0) {
		*ret = hi_take(leaks);
		return HI_OK;
	}
	f.unreachable = bits = unreachable_bits(g, reach);
	if (!bits)
		return hi_fail_memory(err, "leaks");
	status = hi_scc_compute(g, bits, &scc, err);
	if (status != HI_OK)
		return status;
	f.component = scc->component;
	f.likely = reach->likely;
	f.facts = facts = hi_calloc(scc->count, 1);
	if (!facts || !find_leak_roots(&f))
		return hi_fail_memory(err, "leaks");
	*ret = hi_take(leaks);
	return HI_OK;
}

void hi_leaks_destroy(struct hi_leaks *leaks)
{
	if (!leaks)
		return;
	free(leaks->roots);
	free(leaks->rows);
	free(leaks);
}
