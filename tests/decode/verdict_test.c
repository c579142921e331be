/* SPDX-License-Identifier: BSD-2-Clause */
/* Verdicts of drawn leaks, against a search at every byte of everything that is live. */
#include <stdlib.h>
#include <string.h>

#include "attach/mock.h"
#include "census/analysis/analysis.h"
#include "decode/inference/integers.h"
#include "decode/inference/verdict.h"
#include "harness.h"
#include "support/typing_world.h"
#include "tests/support/random.h"

#define H(offset) (WORLD_HEAP + (offset))
#define BLOCK(i) H(0x1000 + 0x100 * (i))
#define TAG (0xfff8ull << 48)
/* Mappings side by side, each in a piece of its own; words lie across their borders. */
enum { MAPPINGS = 4, MAPPING = 0x1000, BLOCKS = 48, USABLE = 56, LIVE_SIZE = 0x800 };

static struct hi_error err;
static uint64_t seed;

/* Bytes of one area: the live block, a leak, the mappings. */
struct area {
	uint64_t start, size;
};

static struct area area_of_mappings(void)
{
	return (struct area){WORLD_FAR, MAPPINGS * MAPPING};
}

static void put_byte(struct world *w, uint64_t addr, uint8_t byte)
{
	*(uint8_t *)hi_memory_mock_at(w->memory, addr) = byte;
}

static void put_word(struct world *w, uint64_t addr, uint64_t word)
{
	for (unsigned i = 0; i < 8; i++)
		put_byte(w, addr + i, (uint8_t)(word >> 8 * i));
}

static uint64_t draw_target(void)
{
	uint64_t to = BLOCK(random_below(&seed, BLOCKS)) +
		      (random_below(&seed, 3) ? 0 : random_below(&seed, USABLE));

	return random_below(&seed, 4) ? to : to | TAG;
}

static void draw_words(struct world *w, struct area area, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		put_word(w, area.start + random_below(&seed, area.size - 8),
			 draw_target());
}

static struct world *draw_heap(void)
{
	struct world *w = world_create();

	world_block(w, H(0), LIVE_SIZE);
	for (uint64_t i = 0; i < BLOCKS; i++)
		world_block(w, BLOCK(i), USABLE);
	for (uint64_t i = 0; i < MAPPINGS; i++)
		world_mapping(w, WORLD_FAR + i * MAPPING, MAPPING);
	world_var(w, "live", "void *", H(0));
	draw_words(w, (struct area){H(0), LIVE_SIZE}, random_below(&seed, 8));
	draw_words(w, area_of_mappings(), random_below(&seed, 8));
	for (uint64_t i = 1; i < MAPPINGS; i++)
		put_word(w, WORLD_FAR + i * MAPPING - random_below(&seed, 8),
			 draw_target());
	for (uint64_t i = 0; i < BLOCKS; i++)
		draw_words(w, (struct area){BLOCK(i), USABLE}, random_below(&seed, 2));
	return w;
}

/* The block that the word at addr leads to as Note [Words at any byte] has it, or BLOCKS.
 */
static uint64_t find_block(uint64_t addr, uint64_t word)
{
	uint64_t low = addr % 8 ? word : word & ((1ull << 47) - 1);
	uint64_t i = (low - BLOCK(0)) / 0x100, offset = (low - BLOCK(0)) % 0x100;

	if (low < BLOCK(0) || i >= BLOCKS || offset >= USABLE)
		return BLOCKS;
	return offset && (addr % 8 || low != word) ? BLOCKS : i;
}

static void mark_from(const struct world *w, struct area area, bool *led_to)
{
	static uint8_t bytes[MAPPINGS * MAPPING];
	uint64_t word, i;

	for (uint64_t at = 0; at < area.size; at += MAPPING)
		HI_ASSERT_OK(hi_memory_read(w->memory, area.start + at, bytes + at,
					    area.size - at < MAPPING ? area.size - at
								     : MAPPING,
					    &err),
			     &err);
	for (uint64_t at = 0; at + 8 <= area.size; at++) {
		memcpy(&word, bytes + at, sizeof(word));
		i = find_block(area.start + at, word);
		if (i < BLOCKS)
			led_to[i] = true;
	}
}

static bool is_live(const struct hi_reach *reach, hi_node node)
{
	return hi_bit(reach->any, node);
}

static void mark_from_live(const struct world *w, const struct hi_reach *reach,
			   bool *led_to)
{
	mark_from(w, (struct area){H(0), LIVE_SIZE}, led_to);
	mark_from(w, area_of_mappings(), led_to);
	for (uint64_t i = 0; i < BLOCKS; i++)
		if (is_live(reach, world_node(w, BLOCK(i))))
			mark_from(w, (struct area){BLOCK(i), USABLE}, led_to);
}

/* From what is marked until nothing is new. */
static void mark_all(const struct world *w, bool *led_to)
{
	bool done[BLOCKS] = {}, any = true;

	while (any) {
		any = false;
		for (uint64_t i = 0; i < BLOCKS; i++) {
			if (!led_to[i] || done[i])
				continue;
			done[i] = any = true;
			mark_from(w, (struct area){BLOCK(i), USABLE}, led_to);
		}
	}
}

static struct hi_reach *run_verdicts(struct world *w)
{
	struct hi_reach *reach = NULL;

	HI_ASSERT_OK(world_run(w, NULL, &err), &err);
	HI_ASSERT_OK(hi_reach_compute(w->graph, 1, &reach, &err), &err);
	HI_ASSERT_OK(hi_leak_verdicts(w->typing, w->graph, reach, &err), &err);
	return reach;
}

static bool is_likely(const struct hi_reach *reach, hi_node node)
{
	return reach->likely && hi_bit(reach->likely, node);
}

HI_TEST(verdict, verdict_equals_a_search_at_every_byte)
{
	uint64_t n_likely = 0, n_certain = 0;

	for (uint64_t round = 1; round <= 200; round++) {
		struct world *w;
		struct hi_reach *reach;
		bool led_to[BLOCKS] = {};

		seed = round;
		w = draw_heap();
		reach = run_verdicts(w);
		mark_from_live(w, reach, led_to);
		mark_all(w, led_to);
		for (uint64_t i = 0; i < BLOCKS; i++) {
			hi_node node = world_node(w, BLOCK(i));

			if (is_live(reach, node))
				continue;
			HI_ASSERT_MSG(led_to[i] == is_likely(reach, node),
				      "round %d: block %s", (int)round,
				      world_address(BLOCK(i)));
			n_likely += led_to[i];
			n_certain += !led_to[i];
		}
		hi_reach_destroy(reach);
		world_forget(w);
	}
	HI_ASSERT(n_likely > 100 && n_certain > 100);
}

/* ---- memory that could not be read ---- */

/* Two pages, of which the second one is missing. */
static void map_half(struct world *w, bool shared)
{
	struct hi_mapping m = {.start = WORLD_FAR,
			       .end = WORLD_FAR + 2 * MAPPING,
			       .prot = HI_PROT_READ | HI_PROT_WRITE,
			       .path = "",
			       .kind = shared ? HI_MAPPING_SHMEM : HI_MAPPING_ANONYMOUS,
			       .shared = shared,
			       .held = true,
			       .inode = shared};

	HI_ASSERT_OK(hi_memory_mock_add(w->memory, m.start, NULL, MAPPING, &err), &err);
	HI_ASSERT_OK(hi_image_add_mapping(w->image, &m, &err), &err);
}

/* Three blocks, of which the first is live. */
static struct world *draw_three(void)
{
	struct world *w = world_create();

	for (uint64_t i = 0; i < 3; i++)
		world_block(w, BLOCK(i), USABLE);
	world_var(w, "live", "void *", BLOCK(0));
	return w;
}

static void check_verdicts(struct world *w, uint64_t likely, uint64_t unread,
			   uint64_t apart)
{
	struct hi_reach *reach = run_verdicts(w);

	HI_ASSERT_EQ(likely, reach->likely_objects);
	HI_ASSERT_EQ(unread, reach->unread_bytes);
	HI_ASSERT_EQ(apart, reach->apart_bytes);
	HI_ASSERT_EQ(unread > 0, reach->is_doubtful);
	hi_reach_destroy(reach);
}

HI_TEST(verdict, all_leaks_are_likely_where_private_memory_is_missing)
{
	struct world *w = draw_three();

	map_half(w, false);
	check_verdicts(w, 2, MAPPING, 0);
}

HI_TEST(verdict, leaks_stay_certain_where_shared_memory_of_others_is_missing)
{
	struct world *w = draw_three();

	map_half(w, true);
	world_poke(w, WORLD_FAR + 8, 12345);
	check_verdicts(w, 0, 0, MAPPING);
}

HI_TEST(verdict, is_likely_of_all_where_the_rest_of_shared_memory_leads_to_a_block)
{
	struct world *w = draw_three();

	map_half(w, true);
	world_poke(w, WORLD_FAR + 8, BLOCK(0));
	check_verdicts(w, 2, MAPPING, 0);
}

/* ---- integers ---- */

/* Blocks 0 to 9 by integers of an array of records, 10 by one too and by a pointer, 11 by
 * a uintptr_t, 12 by the block before it, 13 by a pointer, 14 by an integer of a record
 * that is certain. */
static struct world *draw_integers(void)
{
	struct world *w = world_create();

	world_types(w, "struct node { long number; node *next; char rest[40]; };"
		       "struct record { long id; long more; };"
		       "struct large { long id; node *next; long rest[5]; };");
	world_block(w, H(0), 11 * 16 + 8);
	for (uint64_t i = 0; i < 15; i++)
		world_block(w, BLOCK(i), USABLE);
	world_block(w, BLOCK(20), USABLE);
	for (uint64_t i = 0; i < 11; i++)
		world_poke(w, H(16 * i), BLOCK(i));
	world_var(w, "records", "record *", H(0));
	world_var(w, "node", "node *", BLOCK(10));
	world_var(w, "number", "uintptr_t", BLOCK(11));
	world_poke(w, BLOCK(11), BLOCK(12));
	world_poke(w, BLOCK(10) + 8, BLOCK(13));
	world_var(w, "large", "large *", BLOCK(20));
	world_poke(w, BLOCK(20), BLOCK(14));
	return w;
}

HI_TEST(integers, objects_held_by_integers_alone_are_reported)
{
	struct world *w = draw_integers();
	struct hi_reach *reach = run_verdicts(w);

	HI_ASSERT_OK(hi_integers_count(w->typing, w->graph, reach, &err), &err);
	HI_ASSERT_EQ(10 + 2, reach->integer_objects);
	HI_ASSERT_EQ(12 * (USABLE + 8), reach->integer_bytes);
	for (uint64_t i = 0; i < 14; i++)
		HI_ASSERT(is_live(reach, world_node(w, BLOCK(i))));
	HI_ASSERT_EQ(1, reach->leak_objects);
	HI_ASSERT(is_likely(reach, world_node(w, BLOCK(14))));
	hi_reach_destroy(reach);
}
