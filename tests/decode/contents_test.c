/* SPDX-License-Identifier: BSD-2-Clause */
/* Identical, zero and unused bytes of drawn heaps. */
#include <stdlib.h>

#include "attach/mock.h"
#include "base/alloc.h"
#include "decode/usage/contents.h"
#include "decode/inference/extent.h"
#include "harness.h"
#include "support/rules_world.h"

#define H(offset) (WORLD_HEAP + (offset))

static struct hi_error err;

static enum hi_status compare(const struct world *w, struct hi_contents_options options,
			      struct hi_waste **ret)
{
	static uint64_t all[1 << 10]; /* everything is reachable */
	struct hi_reach reach = {.any = all};

	memset(all, 0xff, sizeof(all));
	HI_ASSERT(w->graph->n_objects < 64u << 10);
	return hi_contents_compare(w->image, w->typing, w->graph, &reach, &options, ret,
				   &err);
}

static struct hi_waste *look(const struct world *w, struct hi_contents_options options)
{
	struct hi_waste *waste = NULL;

	HI_ASSERT_OK(compare(w, options, &waste), &err);
	hi_test_defer(hi_waste_destroy, waste);
	return waste;
}

static struct hi_waste *look_at_all(const struct world *w)
{
	return look(w, (struct hi_contents_options){.top = SIZE_MAX});
}

static const struct hi_waste_row *row_of(const struct world *w,
					 const struct hi_waste *waste, const char *type)
{
	for (size_t i = 0; i < waste->n_rows; i++)
		if (strcmp(w->graph->types[waste->rows[i].type].name, type) == 0)
			return &waste->rows[i];
	hi_test_fail(__FILE__, __LINE__, "no row of %s", type);
}

static void put(const struct world *w, uint64_t addr, const void *bytes, size_t size)
{
	memcpy(hi_memory_mock_at(w->memory, addr), bytes, size);
}

/* ---- against brute force ---- */

enum { BLOCKS = 400, STEP = 0x50 };

struct truth {
	uint64_t groups, copies, copied, zeros;
};

static const uint8_t *bytes_of(const struct world *w, hi_node id)
{
	return hi_memory_mock_at(w->memory, hi_objects_address(w->graph->objects, id));
}

/* Every block with every other one. */
static struct truth compare_by_force(const struct world *w)
{
	const struct hi_objects *o = w->graph->objects;
	static const uint8_t zero[STEP];
	struct truth t = {};

	for (hi_node i = 0; i < o->count; i++) {
		uint64_t n = hi_objects_usable(o, i);
		unsigned before = 0, after = 0;

		if (memcmp(bytes_of(w, i), zero, n) == 0) {
			t.zeros++;
			continue;
		}
		for (hi_node k = 0; k < o->count; k++) {
			bool equal = k != i && hi_objects_usable(o, k) == n &&
				     memcmp(bytes_of(w, i), bytes_of(w, k), n) == 0;

			before += equal && k < i;
			after += equal && k > i;
		}
		t.groups += before == 0 && after > 0;
		t.copies += before > 0;
		t.copied += before > 0 ? hi_objects_cost(o, i) : 0;
	}
	return t;
}

static struct world *random_world(unsigned seed)
{
	struct world *w = world_create();

	for (uint64_t i = 0; i < BLOCKS; i++) {
		uint64_t addr = H(0x10 + i * STEP);
		uint64_t usable = 24 + 16 * ((uint64_t)rand_r(&seed) % 4);

		world_block(w, addr, usable);
		/* Few values in few places: many equal ones, many that nearly are. */
		for (uint64_t at = 0; at < usable; at += 8)
			if (rand_r(&seed) % 3 == 0)
				world_poke(w, addr + at, 1ull << 8 * (rand_r(&seed) % 8));
	}
	HI_ASSERT_OK(world_run(w, NULL, &err), &err);
	return w;
}

HI_TEST(contents, counts_are_those_of_comparing_each_with_each)
{
	for (unsigned seed = 1; seed <= 20; seed++) {
		struct world *w = random_world(seed);
		struct truth t = compare_by_force(w);
		struct hi_waste *waste = look_at_all(w);

		HI_ASSERT(t.groups > 10 && t.zeros > 0);
		HI_ASSERT_EQ(t.groups, waste->all.groups);
		HI_ASSERT_EQ(t.groups, waste->n_groups);
		HI_ASSERT_EQ(t.copies, waste->all.copies);
		HI_ASSERT_EQ(t.copied, waste->all.copied);
		HI_ASSERT_EQ(t.zeros, waste->all.zeros);
		HI_ASSERT_EQ(BLOCKS, waste->all.objects);
	}
}

HI_TEST(contents, groups_are_sorted_by_bytes_and_the_rest_is_counted)
{
	struct world *w = random_world(7);
	struct hi_waste *all = look_at_all(w);
	struct hi_waste *few = look(w, (struct hi_contents_options){.top = 5});
	uint64_t limit = all->groups[all->n_groups / 3].copied;
	struct hi_waste *large =
		look(w, (struct hi_contents_options){.top = SIZE_MAX, .min_size = limit});
	bool none[1] = {};
	struct hi_waste *other =
		look(w, (struct hi_contents_options){
				.top = SIZE_MAX, .types = none, .n_types = 1});
	size_t n = 0;

	HI_ASSERT_EQ(5, few->n_groups);
	HI_ASSERT_EQ(all->n_groups - 5, few->beyond.groups);
	for (size_t i = 0; i < all->n_groups; i++) {
		const struct hi_waste_group *g = &all->groups[i];

		HI_ASSERT(i == 0 || g[-1].copied > g->copied ||
			  (g[-1].copied == g->copied && g[-1].first < g->first));
		if (i < 5)
			HI_ASSERT_EQ(g->first, few->groups[i].first);
		n += g->copied >= limit;
	}
	HI_ASSERT(n > 0 && n < all->n_groups);
	HI_ASSERT_EQ(n, large->n_groups);
	HI_ASSERT_EQ(all->n_groups - n, large->below.groups);
	HI_ASSERT_EQ(0, other->n_groups);
	HI_ASSERT_EQ(all->all.copied, other->other.copied);
	HI_ASSERT_EQ(all->all.copied, few->all.copied);
}

HI_TEST(contents, the_number_of_threads_changes_nothing)
{
	struct world *w = world_create();
	struct hi_waste *one, *four;

	for (uint64_t i = 0; i < 60000; i++) {
		world_block(w, H(0x10 + i * 0x20), 24);
		world_poke(w, H(0x10 + i * 0x20), i * i % 7919);
	}
	HI_ASSERT_OK(world_run(w, NULL, &err), &err);
	one = look(w, (struct hi_contents_options){.threads = 1, .top = 100});
	four = look(w, (struct hi_contents_options){.threads = 4, .top = 100});
	HI_ASSERT_EQ(0, memcmp(&one->all, &four->all, sizeof(one->all)));
	HI_ASSERT_EQ(100, four->n_groups);
	HI_ASSERT_EQ(0, memcmp(one->groups, four->groups, 100 * sizeof(*one->groups)));
}

/* ---- what a type uses ---- */

/* struct pair { long a, b, c; }, found by local variables, in blocks of 72 bytes. */
static struct world *pairs(uint64_t n)
{
	struct world *w = world_create();

	world_types(w, "struct struct pair { long a; long b; long c; };");
	for (uint64_t i = 0; i < n; i++) {
		world_block(w, H(0x10 + i * 0x50), 64);
		world_var(w, "pair", "struct pair *", H(0x10 + i * 0x50));
		world_poke(w, H(0x10 + i * 0x50 + 32), i + 1); /* behind the type */
	}
	return w;
}

HI_TEST(contents, bytes_behind_the_type_are_unused_and_not_compared)
{
	struct world *w = pairs(4);
	const struct hi_waste_row *row;

	world_poke(w, H(0x10), 5);
	world_poke(w, H(0x60), 5);
	world_poke(w, H(0xb0 + 16), 5);
	HI_ASSERT_OK(world_run(w, NULL, &err), &err);
	HI_ASSERT_STREQ("struct pair", world_type(w, H(0x10)));
	HI_ASSERT_EQ(24, hi_typing_live_bytes(w->typing, w->graph, 0));
	row = row_of(w, look_at_all(w), "struct pair");
	HI_ASSERT_EQ(4, row->objects);
	HI_ASSERT_EQ(1, row->groups);
	HI_ASSERT_EQ(1, row->copies);
	HI_ASSERT_EQ(72, row->copied);
	HI_ASSERT_EQ(1, row->zeros); /* the last one */
	HI_ASSERT_EQ(4 * 40, row->unused);
	HI_ASSERT_EQ(4 * 40, row->savable); /* 24 bytes fit into a chunk of 32 */
}

HI_TEST(contents, an_array_of_open_length_uses_all_of_the_block)
{
	/* The block is no whole number of them. */
	struct world *w = HI_DRAWN("struct tail 24 { int n; @24 int more[]; };\n"
				   "tail *tail = &10\n"
				   "10 (88): => tail\n");

	HI_ASSERT_EQ(88, hi_typing_live_bytes(w->typing, w->graph, 0));
	HI_ASSERT_EQ(0, look_at_all(w)->all.unused);
}

HI_TEST(contents, text_ends_at_its_nul_and_what_is_behind_is_unused)
{
	struct world *w = world_create();
	static const char *const texts[] = {"twice", "twice", "\x01 no text",
					    "gr\xc3\xbc\xc3\x9f"
					    "e"};
	const struct hi_waste_row *row;
	struct hi_waste *waste;

	for (uint64_t i = 0; i < 4; i++) {
		world_block(w, H(0x10 + i * 0x50), 72);
		world_var(w, "text", "char *", H(0x10 + i * 0x50));
		world_poke(w, H(0x10 + i * 0x50 + 64), i + 1);
		put(w, H(0x10 + i * 0x50), texts[i], strlen(texts[i]));
	}
	HI_ASSERT_OK(world_run(w, NULL, &err), &err);
	waste = look_at_all(w);
	row = row_of(w, waste, "char []");
	HI_ASSERT_EQ(4, row->objects);
	HI_ASSERT_EQ(66 + 66 + 64, row->unused);
	HI_ASSERT_EQ(3, row->loose);
	HI_ASSERT_EQ(3 * 48, row->savable); /* 6 and 8 bytes fit into a chunk of 32 */
	HI_ASSERT_EQ(1, waste->n_groups);
	HI_ASSERT(waste->groups[0].is_text && !waste->groups[0].cut);
	HI_ASSERT_STREQ("twice", waste->groups[0].text);
	HI_ASSERT_EQ(6, waste->groups[0].size);
}

/* A pointer of 6 bytes may look like text; longer ones are none. */
HI_TEST(contents, untyped_bytes_are_text_only_if_no_pointer_looks_like_that)
{
	struct world *w = world_create();
	static const char *const texts[] = {"UVWXYZ", "UVWXYZ", "a longer one",
					    "a longer one"};
	struct hi_waste *waste;

	for (uint64_t i = 0; i < 4; i++) {
		world_block(w, H(0x10 + i * 0x50), 72);
		put(w, H(0x10 + i * 0x50), texts[i], strlen(texts[i]));
	}
	HI_ASSERT_OK(world_run(w, NULL, &err), &err);
	waste = look_at_all(w);
	HI_ASSERT_EQ(2, waste->n_groups);
	HI_ASSERT(!waste->groups[0].is_text);
	HI_ASSERT_EQ(72, waste->groups[0].size);
	HI_ASSERT_STREQ("a longer one", waste->groups[1].text);
	HI_ASSERT_EQ(2 * (72 - 13), waste->all.unused);
}

HI_TEST(contents, a_long_text_is_cut_between_two_characters)
{
	struct world *w = world_create();

	for (uint64_t i = 0; i < 2; i++) {
		world_block(w, H(0x10 + i * 0x100), 200);
		put(w, H(0x10 + i * 0x100), "x", 1);
		for (uint64_t k = 0; k < 60; k++)
			put(w, H(0x11 + i * 0x100 + 2 * k), "\xc3\xbc", 2);
	}
	HI_ASSERT_OK(world_run(w, NULL, &err), &err);
	/* 1 + 2 * 31 = 63 bytes fit. */
	HI_ASSERT_EQ(63, strlen(look_at_all(w)->groups[0].text));
	for (uint64_t i = 0; i < 2; i++)
		put(w, H(0x10 + i * 0x100), "xy\xc3\xbc", 4);
	for (uint64_t i = 0; i < 2; i++)
		for (uint64_t k = 1; k < 60; k++)
			put(w, H(0x12 + i * 0x100 + 2 * k), "\xc3\xbc", 2);
	HI_ASSERT_OK(world_run(w, NULL, &err), &err);
	HI_ASSERT_EQ(62, strlen(look_at_all(w)->groups[0].text));
	HI_ASSERT(look_at_all(w)->groups[0].cut);
}

/* As rules say it: `count` chars behind a header of 8 bytes are live. */
static const struct hi_waste_row *count_chars(struct world *w, uint64_t first,
					      uint64_t count, struct hi_waste **ret)
{
	struct hi_layout_refinement refinement = {
		.lead = 8, .first = first, .count = count};
	uint32_t *layout;

	for (uint64_t i = 0; i < 2; i++) {
		world_block(w, H(0x10 + i * 0x50), 72);
		world_var(w, "text", "char *", H(0x10 + i * 0x50));
		world_poke(w, H(0x10 + i * 0x50), count);
		put(w, H(0x18 + i * 0x50), "counted", 7);
		put(w, H(0x20 + i * 0x50), "dead", 4 + i); /* behind the NUL */
	}
	HI_ASSERT_OK(world_run(w, NULL, &err), &err);
	layout = &w->typing->layout_of_type[w->graph->objects->type[0]];
	*layout = hi_layouts_refine(w->typing->layouts, *layout, &refinement);
	HI_ASSERT(*layout != HI_LAYOUT_NOTHING);
	*ret = look_at_all(w);
	return row_of(w, *ret, "char []");
}

HI_TEST(contents, counted_elements_are_in_use_and_no_others)
{
	struct world *w = world_create();
	struct hi_waste *waste;
	const struct hi_waste_row *row = count_chars(w, 0, 7, &waste);

	/* The NUL behind them belongs to the text. */
	HI_ASSERT_EQ(1, row->copies);
	HI_ASSERT_EQ(2 * (72 - 16), row->unused);
	HI_ASSERT_STREQ("counted", waste->groups[0].text);
	HI_ASSERT_EQ(16, waste->groups[0].size);
	w = world_create();
	row = count_chars(w, 0, 4, &waste);
	HI_ASSERT_EQ(1, row->copies);
	HI_ASSERT_EQ(2 * (72 - 12), row->unused);
	HI_ASSERT(!waste->groups[0].is_text);
	w = world_create();
	/* Elements 2 to 5: the header and the first two are dead. */
	row = count_chars(w, 2, 4, &waste);
	HI_ASSERT_EQ(1, row->copies);
	HI_ASSERT_EQ(2 * (72 - 4), row->unused);
	HI_ASSERT_EQ(4, hi_typing_live_bytes(w->typing, w->graph, 0));
}

/* More than there is room for, as a damaged header says it. */
HI_TEST(contents, no_count_goes_beyond_the_block)
{
	struct world *w = world_create();
	struct hi_waste *waste;

	HI_ASSERT_EQ(0, count_chars(w, 0, 1ull << 40, &waste)->unused);
	HI_ASSERT_EQ(72, hi_typing_live_bytes(w->typing, w->graph, 0));
	w = world_create();
	HI_ASSERT_EQ(2 * 72, count_chars(w, 1ull << 40, 1ull << 40, &waste)->unused);
	HI_ASSERT_EQ(0, hi_typing_live_bytes(w->typing, w->graph, 0));
}

/* Longer than a piece of the hash: equal, unequal in the last byte, in order. */
HI_TEST(contents, large_blocks_are_compared_to_their_last_byte)
{
	struct world *w = world_create();
	enum { SIZE = 200008, GAP = 0x40000 };

	for (uint64_t i = 0; i < 5; i++) {
		world_block(w, H(0x10 + i * GAP), SIZE);
		world_poke(w, H(0x10 + i * GAP), 1);
		world_poke(w, H(0x10 + i * GAP + 150000), 2);
	}
	put(w, H(0x10 + 1 * GAP + SIZE - 1), "\x01", 1);
	world_poke(w, H(0x10 + 2 * GAP + 70000), 3);
	/* The same pieces in another order. */
	world_poke(w, H(0x10 + 3 * GAP + 150000), 0);
	world_poke(w, H(0x10 + 3 * GAP + 150000 - 65536), 2);
	HI_ASSERT_OK(world_run(w, NULL, &err), &err);
	HI_ASSERT_EQ(1, look_at_all(w)->all.groups);
	HI_ASSERT_EQ(1, look_at_all(w)->all.copies);
}

HI_TEST(contents, unreadable_blocks_are_counted_and_never_equal)
{
	struct world *w = world_create();
	struct hi_waste *waste;

	for (uint64_t i = 0; i < 4; i++)
		world_block(w, H(0x10 + i * 0x1000), 24);
	world_block(w, H(0x8010), 0x20000);
	HI_ASSERT_OK(world_run(w, NULL, &err), &err);
	hi_memory_mock_poison(w->memory, H(0x1000));
	hi_memory_mock_poison(w->memory, H(0x20000));
	waste = look_at_all(w);
	HI_ASSERT_EQ(2, waste->unread);
	HI_ASSERT_EQ(32 + 0x20008, waste->unread_bytes);
	HI_ASSERT_EQ(3, waste->all.zeros);
	HI_ASSERT_EQ(5, waste->all.objects);
}

/* ---- marks: the same without the bytes ---- */

enum { WORDS = 1 << 10 };

/* As random_world, with texts, longer blocks and a page that cannot be read. */
static struct world *world_of_all_sorts(unsigned seed)
{
	struct world *w = random_world(seed);
	static const char texts[][16] = {"a longer one", "another of them",
					 "and one more"};

	for (hi_node i = 0; i < w->graph->n_objects; i += 3)
		put(w, hi_objects_address(w->graph->objects, i), texts[rand_r(&seed) % 3],
		    16);
	hi_memory_mock_poison(w->memory, H(0x3000));
	return w;
}

static struct hi_contents_marks *mark(const struct world *w)
{
	static struct hi_contents_marks marks;
	struct hi_waste *waste = NULL;

	hi_contents_marks_free(&marks); /* of the world before */
	HI_ASSERT_OK(compare(w,
			     (struct hi_contents_options){.marks = &marks, .threads = 2},
			     &waste),
		     &err);
	hi_test_defer(hi_waste_destroy, waste);
	hi_test_defer(hi_contents_marks_free, &marks);
	return &marks;
}

static uint32_t *live_bytes(const struct world *w)
{
	static uint32_t used[64 << 10];

	for (hi_node i = 0; i < w->graph->n_objects; i++)
		used[i] = (uint32_t)hi_typing_live_bytes(w->typing, w->graph, i);
	return used;
}

static void check_equal(const struct hi_waste *a, const struct hi_waste *b)
{
	HI_ASSERT_EQ(0, memcmp(&a->all, &b->all, sizeof(a->all)));
	HI_ASSERT_EQ(a->n_rows, b->n_rows);
	HI_ASSERT_EQ(0, memcmp(a->rows, b->rows, a->n_rows * sizeof(*a->rows)));
	HI_ASSERT_EQ(0, memcmp(&a->beyond, &b->beyond, 3 * sizeof(a->beyond)));
	HI_ASSERT_EQ(a->unread, b->unread);
	HI_ASSERT_EQ(a->unread_bytes, b->unread_bytes);
	HI_ASSERT_EQ(a->n_groups, b->n_groups);
	for (size_t i = 0; i < a->n_groups; i++) {
		HI_ASSERT_EQ(a->groups[i].type, b->groups[i].type);
		HI_ASSERT_EQ(a->groups[i].first, b->groups[i].first);
		HI_ASSERT_EQ(a->groups[i].objects, b->groups[i].objects);
		HI_ASSERT_EQ(a->groups[i].copied, b->groups[i].copied);
		HI_ASSERT_EQ(a->groups[i].size, b->groups[i].size);
	}
}

/* Of any of the objects, however they are chosen. */
HI_TEST(contents, marks_count_as_the_bytes_do)
{
	static uint64_t some[WORDS];
	struct hi_reach reach = {.any = some};
	uint64_t groups = 0, unread = 0;

	for (unsigned seed = 1; seed <= 24; seed++) {
		struct world *w = world_of_all_sorts(seed);
		struct hi_contents_options options = {.threads = 2,
						      .top = seed % 3 ? SIZE_MAX : 4,
						      .min_size = seed % 4 ? 0 : 100};
		const struct hi_contents_marks *marks = mark(w);
		struct hi_waste *bytes = NULL, *again = NULL;
		unsigned state = seed;

		for (size_t i = 0; i < WORDS; i++)
			some[i] = seed == 1 ? UINT64_MAX
					    : (uint64_t)rand_r(&state) << 33 ^
						      (uint64_t)rand_r(&state) << 7;
		HI_ASSERT_OK(hi_contents_compare(w->image, w->typing, w->graph, &reach,
						 &options, &bytes, &err),
			     &err);
		hi_test_defer(hi_waste_destroy, bytes);
		HI_ASSERT_OK(hi_contents_recount(marks, live_bytes(w), w->graph, &reach,
						 &options, &again, &err),
			     &err);
		hi_test_defer(hi_waste_destroy, again);
		check_equal(bytes, again);
		groups += again->all.groups;
		unread += again->unread;
	}
	HI_ASSERT(groups > 100 && unread > 24);
}

HI_TEST(contents, marks_only_tell_which_contents_are_equal)
{
	struct world *w = world_of_all_sorts(5);
	const struct hi_contents_marks *marks = mark(w);

	for (hi_node i = 0; i < w->graph->n_objects; i++)
		if (marks->equal[i] < HI_MARK_UNREAD) {
			HI_ASSERT(marks->equal[i] <= i);
			HI_ASSERT_EQ(0, memcmp(bytes_of(w, i),
					       bytes_of(w, marks->equal[i]), 13));
		}
}

static enum hi_status recount(const struct world *w,
			      const struct hi_contents_marks *marks,
			      struct hi_waste **ret)
{
	static uint64_t all[WORDS];
	struct hi_reach reach = {.any = all};
	struct hi_contents_options options = {.top = SIZE_MAX};

	memset(all, 0xff, sizeof(all));
	return hi_contents_recount(marks, live_bytes(w), w->graph, &reach, &options, ret,
				   &err);
}

/* Marks come out of a file, and a file from anybody. */
HI_TEST(contents, marks_that_do_not_hold_are_refused)
{
	struct world *w = pairs(4);
	uint32_t equal[4] = {0, 0, HI_MARK_ALONE, HI_MARK_ZEROS};
	struct hi_contents_used used[2] = {{1, 5}, {3, 1000000}};
	struct hi_contents_marks marks = {equal, used, 2};
	static const uint32_t wild[] = {1, 2, 3, 4, 1 << 20, HI_MARK_UNREAD - 1};
	struct hi_waste *waste = NULL;

	HI_ASSERT_OK(world_run(w, NULL, &err), &err);
	HI_ASSERT_OK(recount(w, &marks, &waste), &err);
	HI_ASSERT_EQ(1, waste->n_groups);
	/* 24 of 64 bytes are used, 5, 24, and no more than all there are. */
	HI_ASSERT_EQ(40 + 59 + 40 + 0, waste->all.unused);
	hi_waste_destroy(waste);
	for (size_t i = 0; i < sizeof(wild) / sizeof(wild[0]); i++) {
		equal[1] = wild[i];
		if (wild[i] == 1)
			continue; /* alone in its group: nobody is hurt */
		waste = NULL;
		HI_ASSERT_EQ(HI_BAD_DATA, recount(w, &marks, &waste));
		HI_ASSERT(!waste);
	}
	equal[1] = 1;
	equal[0] = 1; /* the first one comes later */
	HI_ASSERT_EQ(HI_BAD_DATA, recount(w, &marks, &waste));
	equal[0] = HI_MARK_ALONE;
	equal[2] = 0; /* equal to what is equal to none */
	HI_ASSERT_EQ(HI_BAD_DATA, recount(w, &marks, &waste));
	equal[2] = HI_MARK_ALONE;
	used[1].object = 1;
	HI_ASSERT_EQ(HI_BAD_DATA, recount(w, &marks, &waste));
	used[1].object = 4;
	HI_ASSERT_EQ(HI_BAD_DATA, recount(w, &marks, &waste));
}

HI_TEST(contents, out_of_memory_with_marks_is_reported_and_leaks_nothing)
{
	struct world *w = world_of_all_sorts(3);
	enum hi_status status = HI_NO_MEMORY;
	uint64_t nth = 0;

	while (status == HI_NO_MEMORY) {
		struct hi_contents_marks marks = {};
		struct hi_contents_options options = {
			.threads = 2, .top = SIZE_MAX, .marks = &marks};
		struct hi_waste *waste = NULL, *again = NULL;

		HI_ASSERT(nth < 5000);
		hi_alloc_fail_at(++nth);
		status = compare(w, options, &waste);
		if (status == HI_OK)
			status = recount(w, &marks, &again);
		hi_alloc_fail_at(0);
		HI_ASSERT(status == HI_OK || !again);
		hi_waste_destroy(waste);
		hi_waste_destroy(again);
		hi_contents_marks_free(&marks);
	}
	HI_ASSERT_OK(status, &err);
	HI_ASSERT(nth > 10);
}

HI_TEST(contents, out_of_memory_anywhere_is_reported_and_leaks_nothing)
{
	struct world *w = random_world(3);
	enum hi_status status = HI_NO_MEMORY;
	uint64_t nth = 0;

	while (status == HI_NO_MEMORY) {
		struct hi_waste *waste = NULL;

		HI_ASSERT(nth < 5000);
		hi_alloc_fail_at(++nth);
		status = compare(
			w, (struct hi_contents_options){.threads = 2, .top = SIZE_MAX},
			&waste);
		hi_alloc_fail_at(0);
		HI_ASSERT(status == HI_OK || !waste);
		hi_waste_destroy(waste);
	}
	HI_ASSERT_OK(status, &err);
	HI_ASSERT(nth > 10);
}
