/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/two_typings.h"

#include <string.h>

#include "attach/image_internal.h"
#include "base/alloc.h"
#include "base/bits.h"
#include "decode/inference/typing_state.h"
#include "harness.h"

enum { PAGE = 4096, WORD = HI_IMAGE_WORD };

static const char *name_of(const struct hi_graph *g, hi_node i)
{
	return g->types[g->objects->type[i]].name;
}

static void assert_same_rows(const struct hi_graph *a, const struct hi_graph *b,
			     uint64_t seed)
{
	for (hi_node i = 0; i < a->n_nodes; i++) {
		struct hi_edges x = hi_graph_edges(a, i), y = hi_graph_edges(b, i);

		HI_ASSERT_MSG(x.count == y.count &&
				      (!x.count || (!memcmp(x.to, y.to, 4ull * x.count) &&
						    !memcmp(x.grade, y.grade, x.count))),
			      "seed %d: edges of node %d", (int)seed, (int)i);
	}
}

void two_graphs_same(const struct hi_graph *a, const struct hi_graph *b, uint64_t seed)
{
	HI_ASSERT_MSG(a->n_objects == b->n_objects, "seed %d: %d or %d objects",
		      (int)seed, (int)a->n_objects, (int)b->n_objects);
	for (hi_node i = 0; i < a->n_objects; i++) {
		HI_ASSERT_EQ(hi_objects_address(a->objects, i),
			     hi_objects_address(b->objects, i));
		HI_ASSERT_EQ(hi_objects_usable(a->objects, i),
			     hi_objects_usable(b->objects, i));
		HI_ASSERT_MSG(strcmp(name_of(a, i), name_of(b, i)) == 0 &&
				      a->objects->flags[i] == b->objects->flags[i],
			      "seed %d: 0x%llx is %s (%x) or %s (%x)", (int)seed,
			      (unsigned long long)hi_objects_address(a->objects, i),
			      name_of(a, i), a->objects->flags[i], name_of(b, i),
			      b->objects->flags[i]);
	}
	assert_same_rows(a, b, seed);
}

static void assert_same_refinements(const struct hi_typing *a, const struct hi_typing *b,
				    hi_node node)
{
	uint32_t x = hi_typing_layout_of(a, node), y = hi_typing_layout_of(b, node);
	struct hi_layout_refinement p, q;

	HI_ASSERT_EQ(x < HI_LAYOUT_FIRST, y < HI_LAYOUT_FIRST);
	if (x < HI_LAYOUT_FIRST)
		return;
	HI_ASSERT_STREQ(hi_layouts_get(a->layouts, x)->name,
			hi_layouts_get(b->layouts, y)->name);
	p = hi_layout_refinement_of(hi_layouts_get(a->layouts, x));
	q = hi_layout_refinement_of(hi_layouts_get(b->layouts, y));
	HI_ASSERT_EQ(p.context != 0, q.context != 0);
	p.context = q.context = 0; /* numbers of its own in each */
	HI_ASSERT(memcmp(&p, &q, sizeof(p)) == 0);
}

static void assert_same_conflicts(const struct hi_typing *a, const struct hi_typing *b)
{
	const struct hi_typing_conflict *x, *y;
	size_t n = hi_typing_conflicts(a, &x);

	HI_ASSERT_EQ(n, hi_typing_conflicts(b, &y));
	HI_ASSERT_EQ(a->stats.conflicts, b->stats.conflicts);
	for (size_t i = 0; i < n; i++) {
		HI_ASSERT(strcmp(x[i].type, y[i].type) == 0 &&
			  strcmp(x[i].other, y[i].other) == 0);
		HI_ASSERT(x[i].objects == y[i].objects && x[i].example == y[i].example);
	}
}

void two_typings_same(const struct hi_typing *a, const struct hi_typing *b)
{
	HI_ASSERT_EQ(a->n_refined_chunks, b->n_refined_chunks);
	for (size_t i = 0; i < a->n_refined_chunks; i++) {
		const struct hi_edge_indexes *x = &a->integer_edges[i];
		const struct hi_edge_indexes *y = &b->integer_edges[i];

		HI_ASSERT_EQ(x->count, y->count);
		HI_ASSERT(!x->count || memcmp(x->items, y->items,
					      x->count * sizeof(x->items[0])) == 0);
	}
	for (hi_node i = 0; i < a->objects->count; i++)
		assert_same_refinements(a, b, i);
	assert_same_conflicts(a, b);
	HI_ASSERT_EQ(a->stats.unreadable_bytes, b->stats.unreadable_bytes);
	HI_ASSERT_EQ(a->stats.by_shape, b->stats.by_shape);
	HI_ASSERT_EQ(a->stats.subobjects.count, b->stats.subobjects.count);
}

static void note_changed_words(struct hi_image_changes *changes,
			       const unsigned char *before)
{
	changes->same = hi_calloc(1, hi_bits_size((uint32_t)changes->n_pages) + 8);
	changes->same_words = hi_calloc(changes->n_pages, PAGE / WORD / 8);
	HI_ASSERT(changes->same && changes->same_words);
	for (uint32_t page = 0; page < changes->n_pages; page++) {
		const unsigned char *now = changes->area + (size_t)page * PAGE;
		const unsigned char *old = before + (size_t)page * PAGE;

		if (memcmp(now, old, PAGE) == 0) {
			hi_bit_set(changes->same, page);
			continue;
		}
		for (uint32_t i = 0; i < PAGE / WORD; i++)
			if (memcmp(now + (size_t)WORD * i, old + (size_t)WORD * i,
				   WORD) == 0)
				hi_bit_set(changes->same_words, page * (PAGE / WORD) + i);
	}
}

void two_typings_note_changes(struct hi_image *image, void *area, size_t size,
			      unsigned char **before)
{
	struct hi_image_changes *changes = &image->priv->changes;

	hi_image_changes_free(changes);
	changes->area = area;
	changes->n_pages = size / PAGE;
	if (*before)
		note_changed_words(changes, *before);
	else
		*before = hi_alloc(size);
	HI_ASSERT(*before);
	memcpy(*before, area, size);
}
