/* SPDX-License-Identifier: BSD-2-Clause */
/* Classes of unreachable objects, on random graphs and a drawn runtime: against the rules
 * of Note [Classes of unreachable objects], each followed by loops over all pairs. */
#include <stdlib.h>

#include "base/alloc.h"
#include "decode/inference/typing_state.h"
#include "decode/inference/unreachable_classes.h"
#include "decode/runtime.h"
#include "tests/census/graphs.h"
#include "tests/support/random.h"

enum { NODES = 12, ROUNDS = 3000 };
/* Types of the graph; from MANAGED on they are the runtime's. */
enum { UNTYPED, OF_C, MANAGED, FORBIDDEN, UNSEEN, BUFFER, TYPES };

static struct hi_error err;
static uint64_t seed;

/* A heap, and what its runtime counts. */
struct heap {
	uint32_t n;
	struct object_spec specs[NODES];
	uint32_t edges[NODES][NODES], weak[NODES][NODES];
	bool rooted[NODES], aside[NODES];
	bool counts[NODES];
	uint64_t counted[NODES];
	/* Expected: */
	bool listed[NODES], caused[NODES];
	uint8_t classes[NODES];
};

struct hi_runtime_cursor {
	struct heap *heap;
	const struct hi_objects *objects;
	unsigned freed;
};
static struct hi_runtime_cursor cursor;

/* ---- the runtime ---- */

static struct hi_runtime_cursor *open_cursor(struct hi_runtime *runtime)
{
	void *memory = hi_alloc(1);

	(void)runtime;
	free(memory);
	return memory ? &cursor : NULL;
}

static void free_cursor(struct hi_runtime_cursor *c)
{
	c->freed++;
}

static bool count_references(struct hi_runtime_cursor *c, uint64_t addr, uint64_t size,
			     uint32_t type, uint64_t *ret)
{
	hi_node node = hi_objects_find(c->objects, addr, NULL);

	HI_ASSERT(node < c->heap->n);
	HI_ASSERT_EQ(hi_objects_usable(c->objects, node), size);
	HI_ASSERT_EQ(c->heap->specs[node].type - MANAGED + 1, type);
	*ret = c->heap->counted[node];
	return c->heap->counts[node];
}

static void list_put_aside(struct hi_runtime_cursor *c, hi_runtime_object_fn *fn,
			   void *arg)
{
	fn(arg, 0x8); /* no object is there */
	for (uint32_t i = 0; i < c->heap->n; i++)
		if (c->heap->aside[i])
			fn(arg, hi_objects_address(c->objects, i) + 8);
}

static const struct hi_runtime_type runtime_types[TYPES - MANAGED + 1] = {
	{.name = "", .module = ""},
	[MANAGED - MANAGED + 1] = {.name = "object", .module = ""},
	[FORBIDDEN - MANAGED +
		1] = {.name = "final", .module = "", .uncollectable = true},
	[UNSEEN - MANAGED + 1] = {.name = "unseen", .module = "", .unseen = true},
	[BUFFER - MANAGED + 1] = {.name = "words", .module = "", .words = true},
};
static const struct hi_runtime_ops ops = {.name = "drawn",
					  .cursor = open_cursor,
					  .cursor_free = free_cursor,
					  .counted = count_references,
					  .put_aside = list_put_aside};

/* ---- the rules ---- */

static bool is_of_runtime(const struct heap *h, uint32_t i)
{
	return h->specs[i].type >= MANAGED && h->specs[i].type != BUFFER;
}

/* Gives the class to what `from` leads to over nodes of class `in`, and to these. */
static void spread_class(struct heap *h, uint32_t from, uint8_t in, uint8_t class)
{
	if (!h->listed[from] || h->classes[from] != in)
		return;
	h->classes[from] = class;
	for (bool grows = true; grows;) {
		grows = false;
		for (uint32_t i = 0; i < h->n; i++)
			for (uint32_t k = 0; k < h->n; k++)
				if (h->listed[i] && h->classes[i] == class &&
				    h->edges[i][k] && h->listed[k] &&
				    h->classes[k] == in) {
					h->classes[k] = class;
					grows = true;
				}
	}
}

/* Can `to` be reached from `from` by at least one edge, over nodes without a class? */
static bool has_way(const struct heap *h, uint32_t from, uint32_t to)
{
	bool seen[NODES] = {};

	for (uint32_t k = 0; k < h->n; k++)
		seen[k] = h->edges[from][k] && h->listed[k] && !h->classes[k];
	for (uint32_t round = 0; round < h->n; round++)
		for (uint32_t i = 0; i < h->n; i++)
			for (uint32_t k = 0; k < h->n; k++)
				seen[k] |= seen[i] && h->edges[i][k] && h->listed[k] &&
					   !h->classes[k];
	return seen[to];
}

static void list_unreachable(struct heap *h)
{
	bool live[NODES] = {};

	for (uint32_t i = 0; i < h->n; i++)
		live[i] = h->rooted[i] || h->specs[i].flags & HI_OBJECT_INTERNAL;
	for (uint32_t round = 0; round < h->n; round++)
		for (uint32_t i = 0; i < h->n; i++)
			for (uint32_t k = 0; k < h->n; k++)
				live[k] |= live[i] && h->edges[i][k];
	for (uint32_t i = 0; i < h->n; i++)
		h->listed[i] = !live[i];
}

/* A lost reference of its own: it counts more than the others have. */
static bool counts_more(const struct heap *h, uint32_t i)
{
	uint64_t found = 0;

	for (uint32_t k = 0; k < h->n; k++)
		found += h->listed[k] ? h->edges[k][i] : 0;
	return is_of_runtime(h, i) && h->counts[i] && h->counted[i] > found;
}

static void apply_rules(struct heap *h)
{
	enum { C_BLOCK = 100, OTHER = 101 };
	bool causes[NODES] = {};

	list_unreachable(h);
	/* 2. */
	for (uint32_t i = 0; i < h->n; i++)
		if (is_of_runtime(h, i))
			spread_class(h, i, 0, OTHER);
	for (uint32_t i = 0; i < h->n; i++)
		if (h->listed[i])
			h->classes[i] = h->classes[i] == OTHER ? 0 : C_BLOCK;
	for (uint32_t i = 0; i < h->n; i++)
		for (uint32_t k = 0; k < h->n; k++)
			if (h->classes[i] == C_BLOCK && h->edges[i][k])
				spread_class(h, k, 0, HI_UNREACHABLE_LOST_REFERENCE);
	/* 1. */
	for (uint32_t i = 0; i < h->n; i++)
		if (h->listed[i] && counts_more(h, i))
			spread_class(h, i, 0, HI_UNREACHABLE_LOST_REFERENCE);
	/* 3. */
	for (uint32_t i = 0; i < h->n; i++)
		causes[i] = h->listed[i] && !h->classes[i] &&
			    (h->specs[i].type == FORBIDDEN ||
			     (h->specs[i].type == UNSEEN && has_way(h, i, i)));
	for (uint32_t i = 0; i < h->n; i++) {
		h->caused[i] = causes[i];
		if (causes[i])
			spread_class(h, i, 0, HI_UNREACHABLE_UNCOLLECTABLE);
	}
	/* 4. */
	for (uint32_t i = 0; i < h->n; i++)
		if (h->listed[i] && !h->classes[i])
			h->classes[i] = HI_UNREACHABLE_GARBAGE;
		else if (h->classes[i] == C_BLOCK)
			h->classes[i] = HI_UNREACHABLE_NO_CLASS;
	for (uint32_t i = 0; i < h->n; i++)
		if (h->aside[i])
			h->classes[i] = HI_UNREACHABLE_UNCOLLECTABLE;
}

/* ---- random heaps ---- */

static void draw_heap(struct heap *h)
{
	uint32_t n_edges;

	*h = (struct heap){.n = 1 + random_below(&seed, NODES)};
	n_edges = random_below(&seed, 2 * h->n + 1);
	for (uint32_t i = 0; i < h->n; i++) {
		static const uint32_t types[] = {UNTYPED, OF_C,	     MANAGED, MANAGED,
						 MANAGED, FORBIDDEN, UNSEEN,  BUFFER};

		h->specs[i].cost = 32;
		h->specs[i].type = types[random_below(&seed, 8)];
		h->specs[i].flags = random_below(&seed, 12) ? 0 : HI_OBJECT_INTERNAL;
		h->rooted[i] = random_below(&seed, 6) == 0;
		h->aside[i] = random_below(&seed, 20) == 0;
	}
	for (uint32_t i = 0; i < n_edges; i++) {
		uint32_t from = random_below(&seed, h->n), to = random_below(&seed, h->n);

		if (random_below(&seed, 6))
			h->edges[from][to]++;
		else
			h->weak[from][to]++;
	}
	/* Most count what there is. */
	for (uint32_t i = 0; i < h->n; i++) {
		for (uint32_t k = 0; k < h->n; k++)
			h->counted[i] += h->edges[k][i];
		h->counted[i] += random_below(&seed, 8) == 0;
		h->counts[i] = random_below(&seed, 10) != 0;
	}
}

static struct hi_graph *make_graph(const struct heap *h)
{
	struct hi_graph_builder *b = builder_of(h->specs, h->n, TYPES);
	uint32_t root = add_root(b, HI_ROOT_GLOBAL);

	for (uint32_t i = 0; i < h->n; i++) {
		if (h->rooted[i])
			root_edge(b, root, i, HI_GRADE_EXACT);
		for (uint32_t k = 0; k < h->n; k++) {
			for (uint32_t e = 0; e < h->edges[i][k]; e++)
				edge(b, i, k, e % 2 ? HI_GRADE_INTERIOR : HI_GRADE_EXACT);
			for (uint32_t e = 0; e < h->weak[i][k]; e++)
				edge(b, i, k, HI_GRADE_WEAK);
		}
	}
	return sealed(b);
}

static struct hi_layouts *make_layouts(uint32_t of_type[TYPES])
{
	struct hi_type_source none = {};
	struct hi_layouts *layouts;

	HI_ASSERT_OK(hi_layouts_create(none, &layouts, &err), &err);
	of_type[UNTYPED] = HI_LAYOUT_NONE;
	of_type[OF_C] = hi_layouts_buffer(layouts, "record", true);
	for (uint32_t type = MANAGED; type < TYPES; type++) {
		const struct hi_runtime_type *t = &runtime_types[type - MANAGED + 1];
		struct hi_managed_name name = {.name = t->name,
					       .module = "",
					       .words = t->words,
					       .number = type - MANAGED + 2};

		of_type[type] = hi_layouts_managed(layouts, &name);
	}
	return layouts;
}

static void check_classes(const struct heap *h, const struct hi_graph *g)
{
	uint32_t n_causes = 0;
	bool anything = false;

	for (uint32_t i = 0; i < h->n; i++)
		anything |= h->classes[i] != HI_UNREACHABLE_NO_CLASS;
	HI_ASSERT_EQ(anything, g->unreachable_classes != NULL);
	for (uint32_t i = 0; i < h->n && anything; i++)
		HI_ASSERT_MSG(g->unreachable_classes[i] == h->classes[i],
			      "seed %llu: node %u is %u, not %u",
			      (unsigned long long)seed, i, g->unreachable_classes[i],
			      h->classes[i]);
	for (uint32_t i = 0; i < h->n; i++)
		if (h->caused[i]) {
			HI_ASSERT(n_causes < g->n_causes);
			HI_ASSERT_EQ(i, g->causes[n_causes++]);
		}
	HI_ASSERT_EQ(n_causes, g->n_causes);
}

/* ---- tests ---- */

HI_TEST(unreachable_classes, equal_the_rules_on_random_heaps)
{
	uint32_t layout_of_type[TYPES], met[HI_UNREACHABLE_CLASSES] = {};
	struct hi_layouts *layouts = make_layouts(layout_of_type);
	struct hi_runtime runtime = {
		.ops = &ops, .types = runtime_types, .n_types = TYPES - MANAGED + 1};
	struct hi_typing typing = {.runtime = &runtime,
				   .layouts = layouts,
				   .layout_of_type = layout_of_type,
				   .n_types = TYPES};

	hi_test_defer(hi_layouts_destroy, layouts);
	for (uint64_t round = 1; round <= ROUNDS; round++) {
		static struct heap heap;
		OWN(graph) *g = NULL;
		OWN(reach) *r = NULL;

		seed = round;
		draw_heap(&heap);
		g = make_graph(&heap);
		r = reach_of(g);
		typing.objects = g->objects;
		cursor = (struct hi_runtime_cursor){&heap, g->objects, 0};
		HI_ASSERT_OK(
			hi_runtime_classify_unreachable(&typing, &runtime, g, r, &err),
			&err);
		HI_ASSERT_EQ(1, cursor.freed);
		apply_rules(&heap);
		check_classes(&heap, g);
		for (uint32_t i = 0; i < heap.n; i++)
			met[heap.classes[i]]++;
	}
	for (unsigned i = 0; i < HI_UNREACHABLE_CLASSES; i++)
		HI_ASSERT(met[i] > ROUNDS / 10);
}

HI_TEST(unreachable_classes, every_failed_allocation_is_reported)
{
	uint32_t layout_of_type[TYPES];
	struct hi_layouts *layouts = make_layouts(layout_of_type);
	struct hi_runtime runtime = {
		.ops = &ops, .types = runtime_types, .n_types = TYPES - MANAGED + 1};
	struct hi_typing typing = {.runtime = &runtime,
				   .layouts = layouts,
				   .layout_of_type = layout_of_type,
				   .n_types = TYPES};
	static struct heap heap;
	uint64_t nth = 1;

	hi_test_defer(hi_layouts_destroy, layouts);
	for (;; nth++) {
		OWN(graph) *g = NULL;
		OWN(reach) *r = NULL;
		enum hi_status status;

		/* A cycle through an object that is not seen. */
		heap = (struct heap){.n = 2};
		heap.specs[0] = (struct object_spec){32, UNSEEN, 0};
		heap.specs[1] = (struct object_spec){32, MANAGED, 0};
		heap.edges[0][1] = heap.edges[1][0] = 1;
		g = make_graph(&heap);
		r = reach_of(g);
		typing.objects = g->objects;
		cursor = (struct hi_runtime_cursor){&heap, g->objects, 0};
		hi_alloc_fail_once(nth);
		status = hi_runtime_classify_unreachable(&typing, &runtime, g, r, &err);
		if (hi_alloc_count() < nth) {
			hi_alloc_fail_at(0);
			HI_ASSERT_EQ(HI_OK, status);
			HI_ASSERT_EQ(HI_UNREACHABLE_UNCOLLECTABLE,
				     g->unreachable_classes[0]);
			break;
		}
		hi_alloc_fail_at(0);
		HI_ASSERT_EQ(HI_NO_MEMORY, status);
		HI_ASSERT(!g->unreachable_classes && !g->causes);
	}
	HI_ASSERT(nth > 8);
}

/* A runtime that counts nothing has no classes. */
HI_TEST(unreachable_classes, are_of_runtimes_that_count)
{
	struct hi_runtime_ops counts_not = {.name = "drawn"};
	struct hi_runtime runtime = {.ops = &counts_not}, other = {.ops = &ops};
	struct hi_typing typing = {.runtime = &runtime};
	struct hi_graph g = {};

	HI_ASSERT_OK(hi_runtime_classify_unreachable(&typing, NULL, &g, NULL, &err),
		     &err);
	HI_ASSERT_OK(hi_runtime_classify_unreachable(&typing, &runtime, &g, NULL, &err),
		     &err);
	HI_ASSERT_OK(hi_runtime_classify_unreachable(&typing, &other, &g, NULL, &err),
		     &err);
	HI_ASSERT(!g.unreachable_classes);
}
