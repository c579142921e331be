/* SPDX-License-Identifier: BSD-2-Clause */
/* Types, edges and roots of drawn heaps: whole runs over a mock. */
#include <stdio.h>
#include <stdlib.h>

#include "attach/mock.h"
#include "base/alloc.h"
#include "harness.h"
#include "support/rules_world.h"
#include "tests/support/random.h"

#define H(offset) (WORLD_HEAP + (offset))

static struct hi_error err;

HI_TEST(typing, a_list_is_typed_from_its_head_and_integers_are_no_edges)
{
	struct world *w = HI_DRAWN("struct node { node *next; long number; };\n"
				   "node *head = &10\n"
				   "10 (24): &30 &70 => node (pointer) -> 30\n"
				   "30 (24): &50     => node\n"
				   "50 (24):         => node -> nothing\n"
				   "70 (24):         => untyped, leaked\n");

	HI_ASSERT_EQ(1, w->graph->n_roots);
	HI_ASSERT_STREQ("thread 7 draw(): head", w->graph->roots[0].name);
	HI_ASSERT_EQ(HI_ROOT_STACK, w->graph->roots[0].kind);
}

HI_TEST(typing, conservative_runs_follow_every_word_and_name_no_type)
{
	struct world *w = HI_DRAWN("conservative\n"
				   "long number = &10\n"
				   "10 (24): 0 &38 => -> 30:c\n"
				   "30 (24):\n");

	HI_ASSERT_EQ(1, w->graph->n_types);
	HI_ASSERT_EQ(1, w->graph->n_roots);
	HI_ASSERT_EQ(HI_ROOT_UNTYPED, w->graph->roots[0].kind);
}

HI_TEST(typing, raw_storage_and_address_integers_are_conservative_void_is_exact)
{
	HI_DRAWN("struct box { box *inside; char raw[8]; uintptr_t address; long number; "
		 "void *any; };\n"
		 "box *box = &0\n"
		 "0 (40): &108 &200 &300 &400 &500 => -> 100:i 200:c 300:c 500\n"
		 "100 (40):      => untyped\n"
		 "200..300 (40):\n"
		 "400 (40):      => leaked\n"
		 "500 (40):      => untyped\n");
}

/* Blocks of four pairs and 8 bytes; at 2000 half a pair more, at 3000 text behind a
 * header. The bytes after a text are stale. */
HI_TEST(typing, arrays_only_where_the_count_fits_and_pointers_look_like_pointers)
{
	HI_DRAWN("struct pair 32 { pair *a; pair *b; };\n"
		 "pair *p[3] = &1000 &2000 &3000\n"
		 "char *text[2] = &5000 &6000\n"
		 "1000 (136): @104 &4000 &4000                => pair[] -> 4000\n"
		 "2000 (152): @112 &4000                      => pair -> 4000:c\n"
		 "3000 (136): @64 0x6c6c61776f6c6c65 &4000    => pair -> 4000:c\n"
		 "4000 (40):\n"
		 "5000 (24): 'some text' @16 &4000            => char [][] -> nothing\n"
		 "6000 (24): 0 &4000                          => -> 4000:c\n");
}

/* base *b leads to a derived object: its vtable knows better. */
HI_TEST(typing, a_vtable_outweighs_the_pointers_and_rtti_alone_gives_a_name)
{
	HI_DRAWN("struct Base 16 { @8 Base *next; };\n"
		 "struct Derived 24 { @8 Base *next; Base *other; };\n"
		 "struct Bare { };\n"
		 "vtable Derived M100\n"
		 "vtable Bare M200\n"
		 "Base *b = &0\n"
		 "0 (24): &M100 &100 &200 => Derived (vtable) -> 100 200\n"
		 "100..200 (24):          => Base\n"
		 "300 (24): &M200 &200    => Bare -> 200:c, leaked\n");
}

HI_TEST(typing, larger_fitting_type_wins_in_any_order)
{
	static const char *const orders[] = {"small *a = &0\nlarge *b = &0",
					     "large *b = &0\nsmall *a = &0"};

	for (int i = 0; i < 2; i++)
		HI_DRAWN("struct small { small *next; };\n"
			 "struct large { small *head; @16 small *x; };\n"
			 "%s\n"
			 "0 (24): @16 &100 => large -> 100\n"
			 "100 (24):\n",
			 orders[i]);
}

HI_TEST(typing, a_type_that_is_larger_than_the_block_is_no_candidate)
{
	HI_DRAWN("struct large 32 { large *next; };\n"
		 "large *a = &0\n"
		 "0 (24): 0 &100 => untyped -> 100:c\n"
		 "100 (40):      => untyped\n");
}

/* A cast to something larger does not shake what the vtable says. */
HI_TEST(typing, objects_with_a_vtable_take_no_other_candidate)
{
	HI_DRAWN("struct raw { @32 raw *next; };\n"
		 "struct Object 32 { @8 raw *next; };\n"
		 "vtable Object M100\n"
		 "raw *a = &0\n"
		 "0 (40): &M100 => Object\n");
}

HI_TEST(typing, a_root_refers_to_an_object_once_with_the_best_grade)
{
	struct world *w = HI_DRAWN("struct both { both *p; both *q; both *r; };\n"
				   "both b = &8 &0 &0\n"
				   "0 (24):\n");
	struct hi_edges e = hi_graph_edges(w->graph, w->graph->first_root);

	HI_ASSERT_EQ(1, w->graph->n_roots);
	HI_ASSERT_EQ(1, e.count);
	HI_ASSERT_EQ(HI_GRADE_EXACT, e.grade[0]);
}

/* ---- many blocks, at random ---- */

static uint64_t state;

/* Blocks of random sizes whose words often lead to (the inside of) others. */
static void draw_heap(struct world *w, unsigned n)
{
	uint64_t at = WORLD_HEAP;

	for (unsigned i = 0; i < n; i++) {
		uint64_t usable = 24 + 16 * random_below(&state, 6);

		world_block(w, at, usable);
		at += usable + 8 + 16 * random_below(&state, 2) * 2;
	}
	for (unsigned i = 0; i < n; i++)
		for (uint64_t o = 0; o < w->blocks.items[i].usable; o += 8) {
			struct hi_block *to = &w->blocks.items[random_below(&state, n)];

			if (random_below(&state, 4))
				world_poke(w, w->blocks.items[i].addr + o,
					   to->addr +
						   (random_below(&state, 8)
							    ? 0
							    : random_below(&state,
									   to->usable)));
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
	char text[100];

	for (unsigned i = 0; i < n; i++) {
		snprintf(text, sizeof(text), "struct t%u %u { t%u *a; t%u *b; };", i,
			 16 + 8 * i, (i + 1) % n, (i * 5 + 2) % n);
		world_types(w, text);
	}
	for (unsigned i = 0; i < n; i++) {
		snprintf(text, sizeof(text), "t%u *", i);
		world_var(w, "t", text, w->blocks.items[random_below(&state, 100)].addr);
	}
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
