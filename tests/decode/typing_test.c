/* SPDX-License-Identifier: BSD-2-Clause */
/* Types, edges and roots of drawn heaps: whole runs over a mock. */
#include <stdio.h>
#include <stdlib.h>

#include "attach/mock.h"
#include "base/alloc.h"
#include "harness.h"
#include "support/typing_world.h"

#define H(offset) (WORLD_HEAP + (offset))

static struct hi_error err;

/*
 *	head (local) -> A.next -> B.next -> C		struct node { node *next;
 *			A.number = &D (an integer)		long number; };
 */
HI_TEST(typing, a_list_is_typed_from_its_head_and_integers_are_no_edges)
{
	struct world *w = world_create();
	hi_type_id integer = world_scalar(w, HI_KIND_INTEGER, "long", 8);
	hi_type_id pointer = world_pointer(w, integer + 2);

	world_record(w, HI_KIND_STRUCT, "struct node", 16, "next", 0, pointer, "number",
		     8, integer, NULL);
	for (uint64_t i = 0; i < 4; i++)
		world_block(w, H(0x20 * i + 0x10), 24);
	world_local(w, "head", pointer, H(0x10));
	world_poke(w, H(0x10), H(0x30));
	world_poke(w, H(0x18), H(0x70));
	world_poke(w, H(0x30), H(0x50));
	HI_ASSERT_OK(world_run(w, NULL, &err), &err);
	HI_ASSERT(hi_graph_is_valid(w->graph));
	HI_ASSERT_STREQ("struct node", world_type(w, H(0x10)));
	HI_ASSERT_STREQ("struct node", world_type(w, H(0x30)));
	HI_ASSERT_STREQ("struct node", world_type(w, H(0x50)));
	HI_ASSERT_STREQ("", world_type(w, H(0x70)));
	HI_ASSERT_STREQ("30:e", world_edges(w, H(0x10)));
	HI_ASSERT_STREQ("", world_edges(w, H(0x50)));
	HI_ASSERT_EQ(1, w->graph->n_roots);
	HI_ASSERT_STREQ("thread 7 draw(): head", w->graph->roots[0].name);
	HI_ASSERT_EQ(HI_ROOT_STACK, w->graph->roots[0].kind);
	HI_ASSERT_EQ(HI_EVIDENCE_POINTER,
		     w->graph->objects->flags[0] & HI_OBJECT_EVIDENCE_MASK);
}

HI_TEST(typing, conservative_runs_follow_every_word_and_name_no_type)
{
	struct world *w = world_create();
	hi_type_id integer = world_scalar(w, HI_KIND_INTEGER, "long", 8);

	world_block(w, H(0x10), 24);
	world_block(w, H(0x30), 24);
	world_local(w, "number", integer, H(0x10));
	world_poke(w, H(0x18), H(0x38));
	HI_ASSERT_OK(
		world_run(w, &(struct hi_typing_options){.conservative = true}, &err),
		&err);
	HI_ASSERT_STREQ("30:c", world_edges(w, H(0x10)));
	HI_ASSERT_EQ(1, w->graph->n_types);
	HI_ASSERT_EQ(1, w->graph->n_roots);
	HI_ASSERT_EQ(HI_ROOT_UNTYPED, w->graph->roots[0].kind);
}

/* struct box { box *inside; char raw[8]; uintptr_t address; long number; void *any; } */
HI_TEST(typing, raw_storage_and_address_integers_are_conservative_void_is_exact)
{
	struct world *w = world_create();
	hi_type_id integer = world_scalar(w, HI_KIND_INTEGER, "long", 8);
	hi_type_id bytes = world_array(w, world_scalar(w, HI_KIND_CHAR, "char", 1), 8);
	hi_type_id address = world_scalar(w, HI_KIND_ADDRESS, "uintptr_t", 8);
	hi_type_id nothing = world_pointer(w, world_scalar(w, HI_KIND_VOID, "void", 0));
	hi_type_id pointer = world_pointer(w, nothing + 2);

	world_record(w, HI_KIND_STRUCT, "struct box", 40, "inside", 0, pointer, "raw", 8,
		     bytes, "address", 16, address, "number", 24, integer, "any", 32,
		     nothing, NULL);
	for (uint64_t i = 0; i < 6; i++)
		world_block(w, H(0x100 * i), 40);
	world_local(w, "box", pointer, H(0));
	for (uint64_t i = 0; i < 5; i++)
		world_poke(w, H(8 * i), H(0x100 * (i + 1)));
	world_poke(w, H(0), H(0x108)); /* interior */
	HI_ASSERT_OK(world_run(w, NULL, &err), &err);
	HI_ASSERT_STREQ("100:i 200:c 300:c 500:e", world_edges(w, H(0)));
	HI_ASSERT_STREQ("", world_type(w, H(0x100)));
	HI_ASSERT_STREQ("", world_type(w, H(0x500)));
}

HI_TEST(typing, arrays_only_where_the_count_fits_and_pointers_look_like_pointers)
{
	struct world *w = world_create();
	hi_type_id pointer = world_pointer(w, 2), name;
	hi_type_id node;

	node = world_record(w, HI_KIND_STRUCT, "struct pair", 32, "a", 0, pointer, "b", 8,
			    pointer, NULL);
	HI_ASSERT_EQ(2, node);
	name = world_pointer(w, world_scalar(w, HI_KIND_CHAR, "char", 1));
	world_block(w, H(0x1000), 4 * 32 + 8);	/* 4 elements, fits */
	world_block(w, H(0x2000), 4 * 32 + 24); /* one more half: does not fit */
	world_block(w, H(0x3000), 4 * 32 + 8);	/* fits, but is a header and text */
	world_block(w, H(0x4000), 24);
	world_block(w, H(0x5000), 24); /* text */
	world_block(w, H(0x6000), 24); /* no text */
	world_local(w, "one", pointer, H(0x1000));
	world_local(w, "two", pointer, H(0x2000));
	world_local(w, "three", pointer, H(0x3000));
	world_local(w, "text", name, H(0x5000));
	world_local(w, "data", name, H(0x6000));
	world_poke(w, H(0x1000 + 3 * 32 + 8), H(0x4000));
	world_poke(w, H(0x1000 + 3 * 32 + 16), H(0x4000)); /* no pointer member */
	world_poke(w, H(0x2000 + 3 * 32 + 16), H(0x4000)); /* in the tail: raw */
	world_poke(w, H(0x3000 + 2 * 32), 0x6c6c61776f6c6c65);
	world_poke(w, H(0x3000 + 2 * 32 + 8), H(0x4000));
	memcpy(hi_memory_mock_at(w->memory, H(0x5000)), "some text", 10);
	world_poke(w, H(0x5010), H(0x4000)); /* stale, behind the text */
	world_poke(w, H(0x6008), H(0x4000));
	HI_ASSERT_OK(world_run(w, NULL, &err), &err);
	HI_ASSERT_STREQ("struct pair[]", world_type(w, H(0x1000)));
	HI_ASSERT_STREQ("4000:e", world_edges(w, H(0x1000)));
	HI_ASSERT_STREQ("struct pair", world_type(w, H(0x2000)));
	HI_ASSERT_STREQ("4000:c", world_edges(w, H(0x2000)));
	HI_ASSERT_STREQ("struct pair", world_type(w, H(0x3000)));
	HI_ASSERT_STREQ("4000:c", world_edges(w, H(0x3000)));
	HI_ASSERT_STREQ("char [][]", world_type(w, H(0x5000)));
	HI_ASSERT_STREQ("", world_edges(w, H(0x5000)));
	HI_ASSERT_STREQ("4000:c", world_edges(w, H(0x6000)));
}

/* base *b leads to a derived object: its vtable knows better. */
HI_TEST(typing, a_vtable_outweighs_the_pointers_and_rtti_alone_gives_a_name)
{
	struct world *w = world_create();
	hi_type_id pointer = world_pointer(w, 2);
	hi_type_id derived, bare;

	world_record(w, HI_KIND_STRUCT, "Base", 16, "next", 8, pointer, NULL);
	derived = world_record(w, HI_KIND_STRUCT, "Derived", 24, "next", 8, pointer,
			       "other", 16, pointer, NULL);
	bare = world_record(w, HI_KIND_STRUCT, "Bare", 0, NULL);
	w->vtable_of[derived] = WORLD_MODULE + 0x100;
	w->vtable_of[bare] = WORLD_MODULE + 0x200;
	for (uint64_t i = 0; i < 4; i++)
		world_block(w, H(0x100 * i), 24);
	world_poke(w, H(0), WORLD_MODULE + 0x100);
	world_poke(w, H(8), H(0x100));
	world_poke(w, H(0x10), H(0x200));
	world_poke(w, H(0x300), WORLD_MODULE + 0x200);
	world_poke(w, H(0x308), H(0x200));
	world_local(w, "b", pointer, H(0));
	HI_ASSERT_OK(world_run(w, NULL, &err), &err);
	HI_ASSERT_STREQ("Derived", world_type(w, H(0)));
	HI_ASSERT_STREQ("100:e 200:e", world_edges(w, H(0)));
	HI_ASSERT_STREQ("Base", world_type(w, H(0x200)));
	HI_ASSERT_STREQ("Bare", world_type(w, H(0x300)));
	HI_ASSERT_STREQ("200:c", world_edges(w, H(0x300)));
	HI_ASSERT_EQ(HI_EVIDENCE_VTABLE, w->graph->objects->flags[world_node(w, H(0))] &
						 HI_OBJECT_EVIDENCE_MASK);
}

HI_TEST(typing, the_larger_type_that_fits_wins_whoever_comes_first)
{
	for (int order = 0; order < 2; order++) {
		struct world *w = world_create();
		hi_type_id small = world_pointer(w, 3), large = world_pointer(w, 4);

		world_record(w, HI_KIND_STRUCT, "struct small", 8, "next", 0, small,
			     NULL);
		world_record(w, HI_KIND_STRUCT, "struct large", 24, "head", 0, small, "x",
			     16, small, NULL);
		world_block(w, H(0), 24);
		world_block(w, H(0x100), 24);
		world_poke(w, H(0x10), H(0x100));
		world_local(w, "a", order ? small : large, H(0));
		world_local(w, "b", order ? large : small, H(0));
		HI_ASSERT_OK(world_run(w, NULL, &err), &err);
		HI_ASSERT_STREQ("struct large", world_type(w, H(0)));
		HI_ASSERT_STREQ("100:e", world_edges(w, H(0)));
	}
}

HI_TEST(typing, a_type_that_is_larger_than_the_block_is_no_candidate)
{
	struct world *w = world_create();
	hi_type_id pointer = world_pointer(w, 2);

	world_record(w, HI_KIND_STRUCT, "struct large", 32, "next", 0, pointer, NULL);
	world_block(w, H(0), 24);
	world_block(w, H(0x100), 40);
	world_local(w, "a", pointer, H(0));
	world_poke(w, H(8), H(0x100));
	HI_ASSERT_OK(world_run(w, NULL, &err), &err);
	HI_ASSERT_STREQ("", world_type(w, H(0)));
	HI_ASSERT_STREQ("100:c", world_edges(w, H(0)));
	HI_ASSERT_STREQ("", world_type(w, H(0x100)));
}

/* A cast to something larger does not shake what the vtable says. */
HI_TEST(typing, objects_with_a_vtable_take_no_other_candidate)
{
	struct world *w = world_create();
	hi_type_id pointer = world_pointer(w, 2), object;

	world_record(w, HI_KIND_STRUCT, "struct raw", 40, "next", 32, pointer, NULL);
	object = world_record(w, HI_KIND_STRUCT, "Object", 32, "next", 8, pointer, NULL);
	w->vtable_of[object] = WORLD_MODULE + 0x100;
	world_block(w, H(0), 40);
	world_poke(w, H(0), WORLD_MODULE + 0x100);
	world_local(w, "a", pointer, H(0));
	HI_ASSERT_OK(world_run(w, NULL, &err), &err);
	HI_ASSERT_STREQ("Object", world_type(w, H(0)));
}

/* struct both { both *p, *q; } b = {&A, &A}; and a stack word that says it too */
HI_TEST(typing, a_root_refers_to_an_object_once_with_the_best_grade)
{
	struct world *w = world_create();
	hi_type_id pointer = world_pointer(w, 2), both;
	struct hi_edges e;

	both = world_record(w, HI_KIND_STRUCT, "struct both", 24, "p", 0, pointer, "q", 8,
			    pointer, "r", 16, pointer, NULL);
	world_block(w, H(0), 24);
	world_poke(w, world_local(w, "b", both, H(8)) + 8, H(0));
	world_poke(w, WORLD_STACK + 16, H(0));
	HI_ASSERT_OK(world_run(w, NULL, &err), &err);
	HI_ASSERT_EQ(1, w->graph->n_roots);
	e = hi_graph_edges(w->graph, w->graph->first_root);
	HI_ASSERT_EQ(1, e.count);
	HI_ASSERT_EQ(HI_GRADE_EXACT, e.grade[0]);
}

/* ---- many blocks, at random ---- */

static uint64_t state;

static uint64_t draw(uint64_t n)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (state >> 33) % n;
}

/* Blocks of random sizes whose words often lead to (the inside of) others. */
static void draw_heap(struct world *w, unsigned n)
{
	uint64_t at = WORLD_HEAP;

	for (unsigned i = 0; i < n; i++) {
		uint64_t usable = 24 + 16 * draw(6);

		world_block(w, at, usable);
		at += usable + 8 + 16 * draw(2) * 2;
	}
	for (unsigned i = 0; i < n; i++)
		for (uint64_t o = 0; o < w->blocks.items[i].usable; o += 8) {
			struct hi_block *to = &w->blocks.items[draw(n)];

			if (draw(4))
				world_poke(w, w->blocks.items[i].addr + o,
					   to->addr + (draw(8) ? 0 : draw(to->usable)));
		}
}

/* The object that contains addr, by trying all of them. */
static uint64_t naive_find(const struct world *w, uint64_t addr)
{
	for (size_t i = 0; i < w->blocks.count; i++)
		if (addr - w->blocks.items[i].addr < w->blocks.items[i].usable)
			return i;
	return HI_NODE_NONE;
}

HI_TEST(typing, conservative_edges_equal_those_of_a_naive_scan)
{
	struct world *w = world_create();
	struct hi_typing_options options = {.conservative = true, .threads = 2};

	state = 42;
	draw_heap(w, 1500);
	HI_ASSERT_OK(world_run(w, &options, &err), &err);
	HI_ASSERT(hi_graph_is_valid(w->graph));
	for (hi_node i = 0; i < w->graph->n_objects; i++) {
		struct hi_edges e = hi_graph_edges(w->graph, i);
		uint32_t k = 0;

		for (uint64_t o = 0; o < w->blocks.items[i].usable; o += 8) {
			uint64_t word, to;

			memcpy(&word,
			       hi_memory_mock_at(w->memory, w->blocks.items[i].addr + o),
			       8);
			to = naive_find(w, word);
			if (to == HI_NODE_NONE)
				continue;
			HI_ASSERT(k < e.count);
			HI_ASSERT_EQ(to, e.to[k]);
			HI_ASSERT_EQ(HI_GRADE_CONSERVATIVE, e.grade[k]);
			k++;
		}
		HI_ASSERT_EQ(k, e.count);
	}
}

/* n types in a ring of pointers: many candidates for the same blocks. */
static void draw_types(struct world *w, unsigned n)
{
	hi_type_id first = w->n_types, pointers[12];
	static const char *const names[] = {"t0", "t1", "t2", "t3", "t4",  "t5",
					    "t6", "t7", "t8", "t9", "t10", "t11"};

	for (unsigned i = 0; i < n; i++)
		pointers[i] = world_pointer(w, first + n + i);
	for (unsigned i = 0; i < n; i++)
		world_record(w, HI_KIND_STRUCT, names[i], 16 + 8 * i, "a", 0,
			     pointers[(i + 1) % n], "b", 8, pointers[(i * 5 + 2) % n],
			     NULL);
	for (unsigned i = 0; i < n; i++)
		world_local(w, names[i], pointers[i], w->blocks.items[draw(100)].addr);
}

static void assert_same_graphs(const struct hi_graph *a, const struct hi_graph *b)
{
	HI_ASSERT_EQ(a->n_edges, b->n_edges);
	HI_ASSERT_EQ(a->n_types, b->n_types);
	HI_ASSERT_EQ(a->n_roots, b->n_roots);
	HI_ASSERT(!memcmp(a->objects->type, b->objects->type, 4ull * a->n_objects));
	HI_ASSERT(!memcmp(a->objects->flags, b->objects->flags, a->n_objects));
	for (hi_node i = 0; i < a->n_nodes; i++) {
		struct hi_edges x = hi_graph_edges(a, i), y = hi_graph_edges(b, i);

		HI_ASSERT_EQ(x.count, y.count);
		HI_ASSERT(!x.count || !memcmp(x.to, y.to, 4ull * x.count));
		HI_ASSERT(!x.count || !memcmp(x.grade, y.grade, x.count));
	}
}

/* Runs with one, two and four threads; returns what was followed by one. */
static uint64_t compare_threads(struct world *w)
{
	struct hi_typing *typing;
	struct hi_graph *graph;
	uint64_t followed;

	HI_ASSERT_OK(world_run(w, &(struct hi_typing_options){.threads = 1}, &err), &err);
	graph = w->graph;
	typing = w->typing;
	w->graph = NULL;
	w->typing = NULL;
	followed = typing->stats.followed;
	for (unsigned threads = 2; threads <= 4; threads += 2) {
		struct hi_typing_options options = {.threads = threads};

		HI_ASSERT_OK(world_run(w, &options, &err), &err);
		assert_same_graphs(graph, w->graph);
	}
	hi_typing_destroy(typing);
	hi_graph_destroy(graph);
	return followed;
}

HI_TEST(typing, results_do_not_depend_on_the_number_of_threads)
{
	for (uint64_t seed = 1; seed <= 4; seed++) {
		struct world *w = world_create();

		state = seed;
		draw_heap(w, 70000);
		draw_types(w, 6);
		HI_ASSERT(compare_threads(w) > 100000);
	}
}

HI_TEST(typing, too_many_candidates_are_cut_alike_by_any_number_of_threads)
{
	struct world *w = world_create();
	uint64_t followed;

	state = 5;
	draw_heap(w, 30000);
	draw_types(w, 12);
	for (uint32_t i = 1; i < w->n_types; i++) /* all fit everywhere */
		if (w->types[i].kind == HI_KIND_STRUCT)
			w->types[i].size = 24;
	followed = compare_threads(w);
	/* One an object and four more on the average, and once more where it is an
	 * array in the end; the last batch may exceed. */
	HI_ASSERT(followed > 4 * 30000 && followed < 6 * 30000 + 1000);
}

/* ---- what may fail ---- */

HI_TEST(typing, every_allocation_may_fail)
{
	struct world *w = world_create();
	enum hi_status status = HI_NO_MEMORY;

	state = 7;
	draw_heap(w, 200);
	draw_types(w, 6);
	for (uint64_t nth = 1; status != HI_OK; nth++) {
		hi_alloc_fail_at(nth);
		status = world_run(w, &(struct hi_typing_options){.threads = 2}, &err);
		hi_alloc_fail_at(0);
		HI_ASSERT(nth < 5000);
		if (status != HI_OK)
			HI_ASSERT_EQ(HI_NO_MEMORY, status);
	}
}

HI_TEST(typing, unreadable_bytes_are_those_of_blocks_in_unreadable_pages)
{
	struct world *w = world_create();
	struct hi_typing_options options = {.conservative = true};

	world_block(w, H(0x0ff0), 8216); /* 16 bytes of page 0, all of 1, 2, 8 of 3 */
	world_block(w, H(0x3100), 24);
	world_poke(w, H(0x0ff8), H(0x3100));
	world_poke(w, H(0x1ff8), H(0x3100));
	world_poke(w, H(0x3000), H(0x3108));
	hi_memory_mock_poison(w->memory, H(0x1000));
	HI_ASSERT_OK(world_run(w, &options, &err), &err);
	HI_ASSERT_EQ(4096, w->typing->stats.unreadable_bytes);
	HI_ASSERT_STREQ("3100:c 3100:c", world_edges(w, H(0xff0)));
	hi_memory_mock_poison(w->memory, H(0x3000));
	HI_ASSERT_OK(world_run(w, &options, &err), &err);
	HI_ASSERT_EQ(4096 + 8 + 24, w->typing->stats.unreadable_bytes);
}

HI_TEST(typing, unreadable_pages_are_counted_and_never_fatal)
{
	struct world *w = world_create();

	state = 9;
	draw_heap(w, 400);
	draw_types(w, 6);
	HI_ASSERT_OK(world_run(w, NULL, &err), &err);
	HI_ASSERT_EQ(0, w->typing->stats.unreadable_bytes);
	for (uint64_t page = 0; page < 8; page++) {
		hi_memory_mock_poison(w->memory, WORLD_HEAP + page * 4096);
		HI_ASSERT_OK(world_run(w, NULL, &err), &err);
		HI_ASSERT(hi_graph_is_valid(w->graph));
		HI_ASSERT(w->typing->stats.unreadable_bytes > 0);
	}
	for (uint64_t nth = 1; nth < 400; nth++) {
		hi_memory_mock_fail_at(w->memory, nth);
		HI_ASSERT_OK(world_run(w, NULL, &err), &err);
		hi_memory_mock_fail_at(w->memory, 0);
	}
}
