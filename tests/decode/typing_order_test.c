/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Types do not depend on the order in which candidates come: not on the order of the
 * roots, nor on the number of threads.
 */
#include <string.h>

#include "base/cleanup.h"
#include "harness.h"
#include "support/random_world.h"
#include "tests/support/random.h"

static struct hi_error err;

static const unsigned thread_counts[] = {1, 2, 3, 8};

/* The outcome of the first run. */
struct expected {
	struct hi_typing *typing;
	struct hi_graph *graph;
	struct hi_rulebook *book;
};

static void run_with_threads(struct world *w, unsigned threads)
{
	HI_ASSERT_OK(world_run(w, &(struct hi_typing_options){.threads = threads}, &err),
		     &err);
}

static struct expected take_outcome(struct world *w)
{
	return (struct expected){.typing = hi_take(w->typing),
				 .graph = hi_take(w->graph),
				 .book = hi_take(w->book)};
}

static void forget_outcome(struct expected *e)
{
	hi_typing_destroy(e->typing);
	hi_graph_destroy(e->graph);
	hi_rulebook_destroy(e->book);
}

static const char *name_of(const struct hi_graph *g, hi_node i)
{
	return g->types[g->objects->type[i]].name;
}

/* Names an object that only roots name by the first one. */
static bool has_same_type(const struct hi_graph *a, const struct hi_graph *b, hi_node i)
{
	static const char via[] = "via draw()";
	size_t n = sizeof(via) - 1;

	return strcmp(name_of(a, i), name_of(b, i)) == 0 ||
	       (strncmp(name_of(a, i), via, n) == 0 &&
		strncmp(name_of(b, i), via, n) == 0);
}

static void compare_outcome(const struct world *w, const struct expected *e, int seed)
{
	const struct hi_graph *a = e->graph, *b = w->graph;

	HI_ASSERT_EQ(a->n_objects, b->n_objects);
	for (hi_node i = 0; i < a->n_objects; i++)
		HI_ASSERT_MSG(has_same_type(a, b, i) &&
				      a->objects->flags[i] == b->objects->flags[i],
			      "seed %d: 0x%llx is %s (%x) or %s (%x)", seed,
			      (unsigned long long)hi_objects_address(a->objects, i),
			      name_of(a, i), a->objects->flags[i], name_of(b, i),
			      b->objects->flags[i]);
}

static void swap_locals(struct world *w, size_t a, size_t b)
{
	struct hi_local local = w->locals[a];

	w->locals[a] = w->locals[b];
	w->locals[b] = local;
}

/* ---- random heaps ---- */

static void shuffle_locals(struct world *w, uint64_t *state)
{
	for (size_t i = w->n_locals; i > 1; i--)
		swap_locals(w, i - 1, random_below(state, i));
}

HI_TEST(typing_order, random_heaps_have_the_same_types_in_any_order_of_roots)
{
	for (int seed = 1; seed <= 150; seed++) {
		char text[4000];
		uint64_t state;
		struct world *w =
			random_world(&state, (uint64_t)seed, 30, text, sizeof(text));
		struct expected e;

		run_with_threads(w, 1);
		e = take_outcome(w);
		for (int i = 0; i < 3; i++) {
			shuffle_locals(w, &state);
			run_with_threads(w, thread_counts[(seed + i) % 4]);
			compare_outcome(w, &e, seed);
		}
		forget_outcome(&e);
		world_forget(w);
	}
}

/* ---- drawn heaps, in all orders of their roots ---- */

/* The next order of the locals, by their addresses; false after the last one. */
static bool next_order(struct world *w)
{
	size_t n = w->n_locals, i = n - 1, k = n - 1;

	while (i && w->locals[i - 1].address > w->locals[i].address)
		i--;
	if (!i)
		return false;
	while (w->locals[k].address < w->locals[i - 1].address)
		k--;
	swap_locals(w, i - 1, k);
	for (k = n - 1; i < k; i++, k--)
		swap_locals(w, i, k);
	return true;
}

static void try_all_orders(struct world *w, uint64_t addr, const char *type)
{
	struct expected e;
	int order = 0;

	run_with_threads(w, 1);
	HI_ASSERT_STREQ(type, world_type(w, addr));
	e = take_outcome(w);
	do {
		for (int i = 0; i < 4; i++) {
			run_with_threads(w, thread_counts[i]);
			compare_outcome(w, &e, order);
		}
		order++;
	} while (next_order(w));
	HI_ASSERT(order >= 2);
	forget_outcome(&e);
}

/* A rule calls the next one of a node a node, for which the block at 200 is too small. As
 * the base of one it is followed too. */
HI_TEST(typing_order, a_base_whose_words_rules_name_is_followed_too)
{
	struct world *w = world_create();

	w->hints = "hints x\nrecord knot { b.next -> knot; }";
	world_types(w, "struct base { base *next; };\n"
		       "struct knot { base b; long n[8]; };");
	world_block(w, WORLD_HEAP + 0x100, 72);
	world_block(w, WORLD_HEAP + 0x200, 24);
	world_poke(w, WORLD_HEAP + 0x100, WORLD_HEAP + 0x200);
	world_var(w, "a", "base *", WORLD_HEAP + 0x100);
	world_var(w, "b", "knot *", WORLD_HEAP + 0x100);
	try_all_orders(w, WORLD_HEAP + 0x200, "base");
}

/* An empty vector, and an iterator at its beginning. */
HI_TEST(typing_order, an_element_that_is_not_live_may_be_pointed_to)
{
	struct world *w = world_create();

	w->hints = "hints x\nrecord vec { d -> item[n]; }";
	world_types(w, "struct thing { long a; long b; };\n"
		       "struct item { long id; thing *t; };\n"
		       "struct vec { item *d; long n; };\n"
		       "struct iterator { item *at; long n; };");
	world_block(w, WORLD_HEAP + 0x100, 24);
	world_block(w, WORLD_HEAP + 0x180, 24);
	world_block(w, WORLD_HEAP + 0x200, 40);
	world_block(w, WORLD_HEAP + 0x300, 24);
	world_poke(w, WORLD_HEAP + 0x100, WORLD_HEAP + 0x200);
	world_poke(w, WORLD_HEAP + 0x180, WORLD_HEAP + 0x200);
	world_poke(w, WORLD_HEAP + 0x208, WORLD_HEAP + 0x300);
	world_var(w, "a", "iterator *", WORLD_HEAP + 0x180);
	world_var(w, "b", "vec *", WORLD_HEAP + 0x100);
	try_all_orders(w, WORLD_HEAP + 0x300, "thing");
}

/* 17 records of 64 bytes, of which an empty vector has none; their beginnings alone do
 * not fill the block. */
HI_TEST(typing_order, the_beginning_of_an_array_that_nobody_follows_is_followed)
{
	struct world *w = world_create();

	w->hints = "hints x\nrecord vec { d -> wide[n]; }";
	world_types(w, "struct thing { long a; long b; };\n"
		       "struct part { long id; thing *t; long x[4]; };\n"
		       "struct wide { part p; long y[2]; };\n"
		       "struct vec { wide *d; long n; };");
	world_block(w, WORLD_HEAP + 0x100, 24);
	world_block(w, WORLD_HEAP + 0x200, 1096);
	world_block(w, WORLD_HEAP + 0x700, 24);
	world_poke(w, WORLD_HEAP + 0x100, WORLD_HEAP + 0x200);
	world_poke(w, WORLD_HEAP + 0x208, WORLD_HEAP + 0x700);
	world_var(w, "a", "part *", WORLD_HEAP + 0x200);
	world_var(w, "b", "wide *", WORLD_HEAP + 0x200);
	world_var(w, "c", "vec *", WORLD_HEAP + 0x100);
	try_all_orders(w, WORLD_HEAP + 0x700, "thing");
}

/* 17 records of 24 bytes; another pointer leads into the first one, to what no member of
 * it is. */
HI_TEST(typing_order, a_pointer_into_the_first_element_is_no_other_array)
{
	struct world *w = world_create();

	world_types(w, "struct item { long a; long b; long c; };\n"
		       "struct other { long x; other *next; };");
	world_block(w, WORLD_HEAP + 0x100, 408);
	world_var(w, "a", "item *", WORLD_HEAP + 0x100);
	world_var(w, "b", "other *", WORLD_HEAP + 0x108);
	try_all_orders(w, WORLD_HEAP + 0x100, "item[]");
}
