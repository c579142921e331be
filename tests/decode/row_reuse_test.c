/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each census of a series on random heaps is done twice: with the rows and layouts of the
 * one before, and from nothing. Both have the same objects, types, flags, rows, edges of
 * integers, refined layouts and conflicts, whatever changed in between.
 */
#include <stdlib.h>
#include <string.h>

#include "attach/mock.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "decode/inference/kept_typing.h"
#include "decode/inference/row_reuse.h"
#include "harness.h"
#include "support/random_world.h"
#include "support/two_typings.h"
#include "tests/support/random.h"

static struct hi_error err;

/* A world whose censuses follow each other. */
struct lasting {
	struct world *w;
	uint64_t state, seed;
	struct hi_kept_typing kept;
	unsigned char *before; /* bytes of the heap at the census before; NULL: none */
	size_t size;	       /* of them */
	uint64_t reused;       /* rows, so far */
};

static struct lasting *lasting_world(uint64_t seed, unsigned n, char *text, size_t size)
{
	struct lasting *l = hi_calloc(1, sizeof(*l));

	HI_ASSERT(l);
	l->seed = seed;
	l->w = random_world(&l->state, seed, n, text, size);
	return l;
}

/* A world with these hints and types, of which the blocks are drawn by hand. */
static struct lasting *drawn_world(const char *hints, const char *types)
{
	struct lasting *l = hi_calloc(1, sizeof(*l));

	HI_ASSERT(l);
	l->w = world_create();
	l->w->hints = hints;
	world_types(l->w, types);
	return l;
}

static void end_lasting(struct lasting *l)
{
	hi_kept_typing_free(&l->kept);
	free(l->before);
	world_forget(l->w);
	free(l);
}

/* ---- changes of the image ---- */

/* As the image of a child in kept pages. */
static void compare_with_before(struct lasting *l)
{
	const struct hi_block *last = &l->w->blocks.items[l->w->blocks.count - 1];

	if (!l->size)
		l->size = (last->addr + last->usable - WORLD_HEAP) / 4096 * 4096 + 8192;
	if (l->size > WORLD_HEAP_SIZE)
		l->size = WORLD_HEAP_SIZE;
	two_typings_note_changes(l->w->image, hi_memory_mock_at(l->w->memory, WORLD_HEAP),
				 l->size, &l->before);
}

static uint64_t room_behind(const struct world *w, size_t i)
{
	const struct hi_block *block = &w->blocks.items[i];
	uint64_t end =
		i + 1 < w->blocks.count ? block[1].addr : WORLD_HEAP + WORLD_HEAP_SIZE;

	return end - block->addr - block->usable;
}

static void remove_block(struct world *w, size_t i)
{
	memmove(&w->blocks.items[i], &w->blocks.items[i + 1],
		(w->blocks.count - i - 1) * sizeof(w->blocks.items[0]));
	w->blocks.count--;
}

/* Behind block i, if there is room. */
static void insert_block(struct world *w, size_t i)
{
	struct hi_block new_block = w->blocks.items[i];

	if (room_behind(w, i) < 40)
		return;
	new_block.addr = (new_block.addr + new_block.usable + 8 + 15) & ~(uint64_t)15;
	new_block.usable = 24;
	HI_ASSERT(hi_vector_push(&w->blocks, new_block));
	memmove(&w->blocks.items[i + 2], &w->blocks.items[i + 1],
		(w->blocks.count - i - 2) * sizeof(w->blocks.items[0]));
	w->blocks.items[i + 1] = new_block;
}

static void change_one(struct lasting *l)
{
	struct world *w = l->w;
	size_t i = random_below(&l->state, w->blocks.count);
	struct hi_block *block = &w->blocks.items[i];

	switch (random_below(&l->state, 8)) {
	case 0:
		if (w->blocks.count > 10)
			remove_block(w, i);
		break;
	case 1:
		insert_block(w, i);
		break;
	case 2:
		if (block->usable > 24)
			block->usable -= 16;
		break;
	case 3:
		if (room_behind(w, i) >= 24)
			block->usable += 16;
		break;
	case 4:
		world_poke(w, w->locals[random_below(&l->state, w->n_locals)].address,
			   random_world_word(w, &l->state));
		break;
	default:
		world_poke(w,
			   block->addr + 8 * random_below(&l->state, block->usable / 8),
			   random_world_word(w, &l->state));
		break;
	}
}

/* ---- both ways ---- */

/* Returns how many of the rows were reused. */
static uint64_t take_census_both_ways(struct lasting *l, unsigned threads)
{
	struct world *w = l->w;
	struct hi_typing_options options = {.threads = threads, .kept = &l->kept};
	struct hi_typing *typing;
	struct hi_graph *graph;
	struct hi_rulebook *book;
	uint64_t reused;

	compare_with_before(l);
	HI_ASSERT_OK(world_run(w, &options, &err), &err);
	HI_ASSERT(!l->kept.layouts && hi_graph_is_valid(w->graph));
	graph = hi_take(w->graph);
	typing = hi_take(w->typing);
	book = hi_take(w->book);
	HI_ASSERT_OK(world_run(w, &(struct hi_typing_options){.threads = 1}, &err), &err);
	two_graphs_same(graph, w->graph, l->seed);
	two_typings_same(typing, w->typing);
	reused = typing->stats.rows_reused;
	l->reused += reused;
	hi_typing_keep(typing, &graph, UINT64_MAX, &l->kept);
	HI_ASSERT(l->kept.layouts && !graph);
	if (book)
		(void)hi_rulebook_renew(book);
	w->kept_book = book;
	hi_typing_destroy(typing);
	return reused;
}

static void follow_changes(struct lasting *l, unsigned rounds, unsigned changes)
{
	static const unsigned threads[] = {1, 2, 8};

	for (unsigned round = 0; round < rounds; round++) {
		take_census_both_ways(l, threads[(l->seed + round) % 3]);
		for (unsigned i = 0; i < changes; i++)
			change_one(l);
	}
	HI_ASSERT_MSG(l->reused > 0, "seed %d: nothing was reused", (int)l->seed);
	end_lasting(l);
}

HI_TEST(row_reuse, a_census_is_the_same_with_the_rows_of_the_one_before)
{
	for (uint64_t seed = 1; seed <= 40; seed++) {
		char text[4000];
		unsigned n = 200 + (unsigned)(seed * 977 % 1500);

		follow_changes(lasting_world(seed, n, text, sizeof(text)), 4,
			       1 + (unsigned)(seed % 4) * 20);
	}
}

/* More than one chunk of rows. */
HI_TEST(row_reuse, rows_move_from_chunk_to_chunk)
{
	enum { MORE = 70000, STEP = 80 };
	char text[4000];
	struct lasting *l = lasting_world(6, 2000, text, sizeof(text));
	uint64_t at = WORLD_HEAP + WORLD_HEAP_SIZE - (uint64_t)MORE * STEP;

	for (unsigned i = 0; i < MORE; i++, at += STEP) {
		world_block(l->w, at, 24 + 16 * random_below(&l->state, 3u));
		for (uint64_t k = 0; k < 24; k += 8)
			world_poke(l->w, at + k, random_world_word(l->w, &l->state));
	}
	follow_changes(l, 3, 3000);
}

HI_TEST(row_reuse, most_rows_of_a_heap_without_changes_are_reused)
{
	char text[4000];
	struct lasting *l = lasting_world(3, 2000, text, sizeof(text));
	uint64_t alone = 0, reused;

	HI_ASSERT_EQ(0, take_census_both_ways(l, 2));
	for (hi_node i = 0; i < l->kept.rows.graph->n_objects; i++)
		alone += l->kept.rows.graph->objects->flags[i] & HI_ROW_ALONE;
	reused = take_census_both_ways(l, 2);
	HI_ASSERT(reused <= alone);
	HI_ASSERT_MSG(reused >= alone / 4, "%d of %d", (int)reused, (int)alone);
	HI_ASSERT_EQ(reused, take_census_both_ways(l, 1));
	end_lasting(l);
}

/* Without the bytes before, everything is scanned. */
HI_TEST(row_reuse, nothing_is_reused_of_an_image_that_is_not_compared)
{
	char text[4000];
	struct lasting *l = lasting_world(5, 500, text, sizeof(text));

	take_census_both_ways(l, 1);
	free(hi_take(l->before));
	HI_ASSERT_EQ(0, take_census_both_ways(l, 1));
	end_lasting(l);
}

HI_TEST(row_reuse, what_is_too_large_is_not_kept)
{
	char text[4000];
	struct lasting *l = lasting_world(4, 500, text, sizeof(text));
	struct world *w = l->w;
	struct hi_typing_options options = {.threads = 1, .kept = &l->kept};
	uint64_t bytes;

	HI_ASSERT_OK(world_run(w, &options, &err), &err);
	hi_typing_keep(w->typing, &w->graph, 1000, &l->kept);
	HI_ASSERT(!l->kept.layouts && w->graph);
	hi_typing_keep(w->typing, &w->graph, UINT64_MAX, &l->kept);
	HI_ASSERT(l->kept.layouts && !w->graph);
	bytes = hi_kept_rows_bytes(&l->kept.rows);
	/* 17 bytes an object, 5 an edge, and the lookup. */
	HI_ASSERT(bytes >= 17ull * l->kept.rows.graph->n_objects +
				   5 * l->kept.rows.graph->n_edges);
	end_lasting(l);
}

static void take_kept_census(struct lasting *l)
{
	struct world *w = l->w;

	compare_with_before(l);
	HI_ASSERT_OK(
		world_run(w, &(struct hi_typing_options){.threads = 1, .kept = &l->kept},
			  &err),
		&err);
	hi_typing_keep(w->typing, &w->graph, UINT64_MAX, &l->kept);
	HI_ASSERT(l->kept.layouts);
	(void)hi_rulebook_renew(w->book);
	w->kept_book = hi_take(w->book);
}

/* The census goes on, with or without what was kept, or there is no memory. */
HI_TEST(row_reuse, every_single_allocation_may_fail)
{
	char text[4000];
	struct lasting *l = lasting_world(6, 150, text, sizeof(text));
	struct hi_typing_options options = {.threads = 1, .kept = &l->kept};

	for (uint64_t nth = 1, failures;; nth++) {
		enum hi_status status;

		take_kept_census(l);
		compare_with_before(l);
		failures = hi_alloc_failures();
		hi_alloc_fail_once(nth);
		status = world_run(l->w, &options, &err);
		hi_alloc_fail_at(0);
		HI_ASSERT(status == HI_OK || status == HI_NO_MEMORY);
		if (status == HI_OK)
			HI_ASSERT(hi_graph_is_valid(l->w->graph));
		hi_kept_typing_free(&l->kept);
		HI_ASSERT(nth < 20000);
		if (hi_alloc_failures() == failures)
			break;
	}
	end_lasting(l);
}

/* ---- rows that depend on more than their bytes ---- */

HI_TEST(row_reuse, rules_that_read_other_memory_are_asked_again)
{
	struct lasting *l =
		drawn_world("hints x\nrecord gate { p -> item if other->open; }",
			    "struct item { long a; long b; };\n"
			    "struct key { long open; long b; };\n"
			    "struct gate { key *other; void *p; };");
	const uint64_t gate = WORLD_HEAP, key = gate + 0x40, item = gate + 0x80;

	for (uint64_t at = gate; at <= item; at += 0x40)
		world_block(l->w, at, 24);
	world_poke(l->w, gate, key);
	world_poke(l->w, gate + 8, item);
	world_var(l->w, "v", "gate *", gate);
	for (uint64_t open = 0; open < 4; open++) {
		world_poke(l->w, key, open % 2);
		take_census_both_ways(l, 1);
		HI_ASSERT_STREQ(open % 2 ? "40:e 80:e" : "40:e", world_edges(l->w, gate));
	}
	end_lasting(l);
}

HI_TEST(row_reuse, what_rules_lack_is_found_in_each_census)
{
	struct lasting *l = drawn_world("hints x\ncontext on : long;\n"
					"record gate { p -> item if on; }",
					"struct item { long a; long b; };\n"
					"struct gate { long n; void *p; };");
	const uint64_t gate = WORLD_HEAP, item = gate + 0x40;

	world_block(l->w, gate, 24);
	world_block(l->w, item, 24);
	world_poke(l->w, gate + 8, item);
	world_var(l->w, "v", "gate *", gate);
	for (unsigned i = 0; i < 3; i++) {
		const struct hi_layouts *layouts;
		uint32_t index;

		take_census_both_ways(l, 1);
		layouts = l->w->typing->layouts;
		index = hi_typing_layout_of(l->w->typing, world_node(l->w, gate));
		HI_ASSERT(*hi_layouts_get(layouts, index)->rules->items[0].lacks != 0);
		index = l->kept.rows.graph->objects->type[0] & HI_KEY_LAYOUT;
		layouts = l->kept.layouts;
		HI_ASSERT(*hi_layouts_get(layouts, index)->rules->items[0].lacks == 0);
		HI_ASSERT(!(l->kept.rows.graph->objects->flags[0] & HI_ROW_ALONE));
	}
	end_lasting(l);
}

/* An object that loses its type is named by the field that leads to it. */
HI_TEST(row_reuse, objects_without_a_type_are_named_in_each_census)
{
	struct lasting *l = drawn_world(NULL, "struct item { long a; long b; };\n"
					      "struct node { node *next; void *any; };");
	const uint64_t node = WORLD_HEAP, item = node + 0x40;
	uint64_t var;

	world_block(l->w, node, 24);
	world_block(l->w, item, 24);
	world_poke(l->w, node + 8, item);
	world_var(l->w, "n", "node *", node);
	var = world_var(l->w, "i", "item *", item);
	for (unsigned i = 0; i < 4; i++) {
		world_poke(l->w, var, i % 2 ? 0 : item);
		take_census_both_ways(l, 1);
		HI_ASSERT_STREQ(i % 2 ? "via node.any, 24 B" : "item",
				world_named_type(l->w, item));
	}
	HI_ASSERT(l->reused > 0);
	end_lasting(l);
}

/* A word that led nowhere leads to a block that is there now. */
HI_TEST(row_reuse, new_objects_are_found_by_rows_that_have_not_changed)
{
	struct lasting *l = drawn_world(NULL, "struct node { node *next; long n; };");
	const uint64_t node = WORLD_HEAP, later = node + 0x40, last = node + 0x80;

	world_block(l->w, node, 24);
	world_block(l->w, last, 24);
	world_poke(l->w, node, later);
	world_var(l->w, "n", "node *", node);
	take_census_both_ways(l, 1);
	HI_ASSERT_STREQ("", world_edges(l->w, node));
	l->w->blocks.count = 1;
	world_block(l->w, later, 24);
	world_block(l->w, last, 24);
	take_census_both_ways(l, 1);
	HI_ASSERT_STREQ("40:e", world_edges(l->w, node));
	end_lasting(l);
}
