/* SPDX-License-Identifier: BSD-2-Clause */
/* States of pages by two readings, against a slow computation page by page. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probes/page_reclaim.h"
#include "probes/page_states.h"
#include "tests/harness.h"
#include "tests/support/random.h"
#include "tests/support/workshop.h"

enum { TABLES = 5, ENTRIES = HI_BPF_TABLE_ENTRIES, PAGES = TABLES * ENTRIES };
#define PAGE 4096ull
#define START (7ull << 30)

/* What the processor and the kernel have for one page. */
struct model {
	uint64_t frame; /* 0: it is not in memory */
	bool accessed;
	bool is_elsewhere; /* swapped out, or such */
};

struct reading {
	struct model pages[PAGES];
	struct hi_bpf_page_table tables[TABLES];
	size_t n;
	struct hi_range whole;
	bool is_whole;
};

static uint64_t seed = 88172645463325252ull;

static void write_table(struct reading *reading, size_t t, bool is_huge)
{
	struct hi_bpf_page_table *table = &reading->tables[reading->n++];
	const struct model *pages = reading->pages + t * ENTRIES;

	table->address = START + t * ENTRIES * PAGE;
	table->is_huge = is_huge;
	for (size_t i = 0; i < (is_huge ? 1 : ENTRIES); i++) {
		uint64_t entry = pages[i].frame * PAGE | (pages[i].accessed ? 0x20 : 0) |
				 0x8000000000000000 | 0x46;

		/* The bit at 12 of a huge page's entry is not of the address. */
		if (is_huge)
			entry |= 0x80 | random_below(&seed, 2) << 12;
		table->entries[i] = pages[i].frame	    ? entry | 1
				    : pages[i].is_elsewhere ? 0x1ff000
							    : 0;
	}
	for (size_t i = is_huge; is_huge && i < ENTRIES; i++)
		table->entries[i] = seed; /* not to be looked at */
}

/* Of each table: absent, huge, or of pages that are partly those of `like`. */
static void make_reading(struct reading *ret, const struct reading *like)
{
	ret->n = 0;
	ret->whole = (struct hi_range){START, START + PAGES * PAGE};
	ret->is_whole = random_below(&seed, 2);
	for (size_t t = 0; t < TABLES; t++) {
		struct model *pages = ret->pages + t * ENTRIES;
		uint64_t kind = random_below(&seed, 5),
			 first = random_below(&seed, 1000) * ENTRIES + ENTRIES;
		bool accessed = random_below(&seed, 2);

		if (like && like->pages[t * ENTRIES].frame && random_below(&seed, 2))
			first = like->pages[t * ENTRIES].frame / ENTRIES * ENTRIES;
		for (size_t i = 0; i < ENTRIES; i++) {
			pages[i] = (struct model){first + i, accessed,
						  kind > 0 && random_below(&seed, 2)};
			if (kind > 1)
				pages[i].accessed = random_below(&seed, 3) == 0;
			if (kind > 2 && like && random_below(&seed, 8))
				pages[i].frame = like->pages[t * ENTRIES + i].frame;
			if (kind == 0 || (kind > 2 && random_below(&seed, 9) == 0))
				pages[i].frame = 0;
		}
		if (kind > 0)
			write_table(ret, t, kind == 1);
	}
}

static bool has_table(const struct reading *reading, size_t table)
{
	for (size_t i = 0; i < reading->n; i++)
		if (reading->tables[i].address == START + table * ENTRIES * PAGE)
			return true;
	return false;
}

static enum hi_page_state expected_state(const struct reading *before,
					 const struct reading *after, size_t page)
{
	const struct model *old = &before->pages[page], *now = &after->pages[page];

	const size_t table = page / ENTRIES;

	if (!old->frame && !now->frame && !old->is_elsewhere && !now->is_elsewhere &&
	    ((has_table(before, table) && has_table(after, table)) ||
	     (before->is_whole && after->is_whole)))
		return HI_PAGE_UNREFERENCED;
	if (!old->frame || !now->frame || old->frame != now->frame)
		return HI_PAGE_UNKNOWN;
	return now->accessed ? HI_PAGE_REFERENCED : HI_PAGE_UNREFERENCED;
}

static enum hi_page_state of_both(enum hi_page_state a, enum hi_page_state b)
{
	if (a == HI_PAGE_REFERENCED || b == HI_PAGE_REFERENCED)
		return HI_PAGE_REFERENCED;
	return a == HI_PAGE_UNREFERENCED && b == a ? a : HI_PAGE_UNKNOWN;
}

static enum hi_page_state of_all(const enum hi_page_state *states, uint64_t start,
				 uint64_t end)
{
	enum hi_page_state state = HI_PAGE_UNREFERENCED;

	for (uint64_t page = start / PAGE; page <= (end - 1) / PAGE; page++) {
		uint64_t i = page - START / PAGE;
		enum hi_page_state one = i < PAGES ? states[i] : HI_PAGE_UNKNOWN;

		if (one == HI_PAGE_REFERENCED)
			return one;
		if (one == HI_PAGE_UNKNOWN)
			state = one;
	}
	return state;
}

static struct hi_page_reading view(const struct reading *reading)
{
	return (struct hi_page_reading){reading->tables, reading->n, &reading->whole,
					reading->is_whole};
}

static void compare_once(struct reading *readings, enum hi_page_state *expected)
{
	struct hi_page_states states = {}, next = {};
	struct hi_error err;

	make_reading(&readings[0], NULL);
	make_reading(&readings[1], &readings[0]);
	make_reading(&readings[2], &readings[1]);
	HI_ASSERT_OK(hi_page_states_compare(&states, view(&readings[0]),
					    view(&readings[1]), &err),
		     &err);
	for (size_t i = 0; i < PAGES; i++) {
		expected[i] = expected_state(&readings[0], &readings[1], i);
		HI_ASSERT_EQ(expected[i], hi_page_states_get(&states, START + i * PAGE));
	}
	HI_ASSERT_OK(hi_page_states_compare(&next, view(&readings[1]), view(&readings[2]),
					    &err),
		     &err);
	hi_page_states_join(&states, &next);
	/* A table that was not there in the first part may be unknown in both. */
	for (size_t i = 0; i < PAGES; i++) {
		enum hi_page_state second = expected_state(&readings[1], &readings[2], i);
		enum hi_page_state both = of_both(expected[i], second);
		enum hi_page_state got = hi_page_states_get(&states, START + i * PAGE);

		bool was_there = has_table(&readings[0], i / ENTRIES) ||
				 has_table(&readings[1], i / ENTRIES);

		HI_ASSERT_MSG(got == both ||
				      (got == HI_PAGE_UNKNOWN &&
				       (!was_there || (both == HI_PAGE_REFERENCED &&
						       expected[i] == HI_PAGE_UNKNOWN))),
			      "page %zu: %d, expected %d", i, got, both);
		expected[i] = got;
	}
	for (int i = 0; i < 200; i++) {
		uint64_t start = START - PAGE + random_below(&seed, (PAGES + 2) * PAGE);
		uint64_t end = start + 1 +
			       random_below(&seed, random_below(&seed, 2) ? 3 * PAGE
									  : PAGES * PAGE);

		HI_ASSERT_EQ(of_all(expected, start, end),
			     hi_page_states_of_range(&states, start, end));
	}
	hi_page_states_free(&states);
	hi_page_states_free(&next);
}

HI_TEST(page_states, states_equal_a_page_by_page_computation)
{
	struct reading *readings = calloc(3, sizeof(*readings));
	enum hi_page_state *expected = calloc(PAGES, sizeof(*expected));

	HI_ASSERT(readings && expected);
	hi_test_defer(free, readings);
	hi_test_defer(free, expected);
	for (int i = 0; i < 300; i++)
		compare_once(readings, expected);
}

HI_TEST(page_states, states_without_evidence_are_unknown)
{
	struct hi_page_states states = {};

	HI_ASSERT_EQ(HI_PAGE_UNKNOWN, hi_page_states_get(&states, START));
	HI_ASSERT_EQ(HI_PAGE_UNKNOWN, hi_page_states_of_range(&states, START, START));
}

/* ---- what clears bits ---- */

HI_TEST(page_reclaim, is_seen_by_each_of_its_counters)
{
	static const char *const moving[] = {
		"pgscan_kswapd", "pgscan_direct",     "pgrefill",  "pgsteal_kswapd",
		"pgdeactivate",	 "allocstall_normal", "pageoutrun"};
	static const char format[] = "nr_free_pages %d\npgrefill %d\npgdeactivate %d\n"
				     "pgscan_kswapd %d\npgscan_direct %d\n"
				     "pgsteal_kswapd %d\nallocstall_normal %d\n"
				     "pageoutrun %d\npgfault %d\n";
	char text[512];

	snprintf(text, sizeof(text), format, 9, 1, 2, 3, 4, 5, 6, 7, 9);
	HI_ASSERT_EQ(28, hi_page_reclaim_parse(text));
	snprintf(text, sizeof(text), format, 8, 1, 2, 3, 4, 5, 6, 7, 8);
	HI_ASSERT_EQ(28, hi_page_reclaim_parse(text));
	for (size_t i = 0; i < sizeof(moving) / sizeof(*moving); i++) {
		snprintf(text, sizeof(text), "pgscan_kswapd 0\n%s 5\n", moving[i]);
		HI_ASSERT_EQ(5, hi_page_reclaim_parse(text));
	}
	HI_ASSERT_EQ(-1, (long long)hi_page_reclaim_parse("pgfault 3\n"));
	HI_ASSERT_EQ(-1, (long long)hi_page_reclaim_parse(""));
}

/* As Documentation/admin-guide/mm/multigen_lru.rst has it. */
HI_TEST(page_reclaim, sees_a_new_generation_and_not_its_age)
{
	static const char before[] = "memcg     1 /\n node     0\n"
				     "          0      12021         0        125\n"
				     "          1       9301         3         77\n"
				     "memcg     2 /a 3 4 5 6\n node     0\n"
				     "          0      12021         0        125\n";
	static const char older[] = "memcg     1 /\n node     0\n"
				    "          0      13021         5        120\n"
				    "          1      10301         3         70\n"
				    "memcg     2 /a 3 4 5 6\n node     0\n"
				    "          0      13021         0        124\n";
	static const char after[] = "memcg     1 /\n node     0\n"
				    "          1      13021         5        120\n"
				    "          2        301         3         70\n"
				    "memcg     2 /a 3 4 5 6\n node     0\n"
				    "          0      13021         0        124\n";

	HI_ASSERT_EQ(hi_page_generations_parse(before), hi_page_generations_parse(older));
	HI_ASSERT(hi_page_generations_parse(before) != hi_page_generations_parse(after));
}

#define DAMON "sys/kernel/mm/damon/admin/kdamonds/0"
#define SCHEME DAMON "/contexts/0/schemes/0"

static enum hi_status look_at_sys(const char *dir, struct hi_page_clearers *ret,
				  const char *word)
{
	char sys[200];
	struct hi_error err = {};
	enum hi_status status;

	snprintf(sys, sizeof(sys), "%s/sys", dir);
	status = hi_page_clearers_look(sys, ret, &err);
	HI_ASSERT_MSG(strstr(err.text, word), "%s", err.text);
	return status;
}

HI_TEST_SCENARIO(page_reclaim, by_damon_is_refused_unless_heaps_are_left_out)
{
	struct hi_page_clearers seen;
	const char *dir;

	dir = workshop_open();
	HI_ASSERT_OK(look_at_sys(dir, &seen, ""), &(struct hi_error){});
	HI_ASSERT(!seen.uses_young && !seen.generations);
	workshop_run("mkdir -p " SCHEME "/ops_filters/0");
	workshop_write(DAMON "/state", "off\n");
	workshop_write(SCHEME "/action", "pageout\n");
	HI_ASSERT_EQ(HI_OK, look_at_sys(dir, &seen, ""));
	HI_ASSERT(!seen.uses_young);
	workshop_write(DAMON "/state", "on\n");
	HI_ASSERT_EQ(HI_UNSUPPORTED, look_at_sys(dir, &seen, "scheme \"pageout\""));
	workshop_write(SCHEME "/ops_filters/0/type", "anon\n");
	workshop_write(SCHEME "/ops_filters/0/matching", "Y\n");
	workshop_write(SCHEME "/ops_filters/0/allow", "N\n");
	HI_ASSERT_EQ(HI_OK, look_at_sys(dir, &seen, ""));
	HI_ASSERT(seen.uses_young);
	workshop_write(SCHEME "/ops_filters/0/allow", "Y\n");
	HI_ASSERT_EQ(HI_UNSUPPORTED, look_at_sys(dir, &seen, "pageout"));
	workshop_write(SCHEME "/action", "stat\n");
	HI_ASSERT_EQ(HI_OK, look_at_sys(dir, &seen, ""));
	HI_ASSERT(seen.uses_young);
	workshop_run("mkdir -p sys/module/damon_reclaim/parameters");
	workshop_write("sys/module/damon_reclaim/parameters/enabled", "Y\n");
	HI_ASSERT_EQ(HI_UNSUPPORTED, look_at_sys(dir, &seen, "damon_reclaim"));
}

HI_TEST_SCENARIO(page_reclaim, by_generations_is_refused_where_they_are_hidden)
{
	struct hi_page_clearers seen;
	const char *dir;

	dir = workshop_open();
	workshop_run("mkdir -p sys/kernel/mm/lru_gen sys/kernel/mm/page_idle");
	workshop_write("sys/kernel/mm/lru_gen/enabled", "0x0000\n");
	workshop_write("sys/kernel/mm/page_idle/bitmap", "");
	HI_ASSERT_EQ(HI_OK, look_at_sys(dir, &seen, ""));
	HI_ASSERT(seen.uses_young && !seen.generations);
	workshop_write("sys/kernel/mm/lru_gen/enabled", "0x0007\n");
	HI_ASSERT_EQ(HI_UNSUPPORTED, look_at_sys(dir, &seen, "mount -t debugfs"));
	workshop_run("mkdir -p sys/kernel/debug");
	workshop_write("sys/kernel/debug/lru_gen", " 4 1 2 3\n");
	HI_ASSERT_EQ(HI_OK, look_at_sys(dir, &seen, ""));
	HI_ASSERT_EQ(5, seen.generations);
}
