/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Live bytes and leaks by windows beside a simulation: a drawn program whose allocator
 * gives the address that was freed last out first, so that between two windows most
 * addresses change hands. The program itself knows whose each block is.
 */
#include "census/events/window_live.h"

#include <math.h>
#include <stdlib.h>

#include "base/bits.h"
#include "base/clock.h"
#include "census/events/window_rake.h"
#include "tests/harness.h"

enum {
	SLOTS = 6000, /* of a size */
	SIZES = 14,
	RING = 3000,
	PROGRAMS = 300,
	SECONDS_BEFORE = 6,
	SECONDS = 30,
	STEP_MS = 1,
};
static const uint64_t base_address = 0x10000000, region_size = 0x1000000,
		      window_ns = 20000000;
static const uint64_t usable[SIZES] = {64,  96,	 144, 208, 320, 400, 480,
				       560, 576, 592, 608, 624, 720, 800};

enum fate { DIES, STAYS, IS_LOST };
static const struct drawn_site {
	double per_ms, life_s;
	double lost, kept; /* shares of its blocks; the rest dies */
	unsigned size;	   /* index */
	unsigned ring;	   /* a block dies when so many came after it; 0: none does so */
	unsigned more;	   /* sizes after that one, drawn alike */
	bool is_early;	   /* all are allocated before the recording */
} sites[] = {
	/* short lives and address reuse, with leaks and longer lives in the same size */
	{.size = 0, .per_ms = 0.30, .life_s = 0.3},
	{.size = 0, .per_ms = 0.02, .lost = 1},
	{.size = 0, .per_ms = 0.05, .life_s = 4},
	/* alone in its size: a steady state */
	{.size = 1, .per_ms = 0.10, .life_s = 5},
	/* grows; leaks alone */
	{.size = 2, .per_ms = 0.06, .kept = 1},
	{.size = 3, .per_ms = 0.05, .lost = 1},
	/* one in ten of its blocks is lost */
	{.size = 4, .per_ms = 0.10, .life_s = 0.2, .lost = 0.1},
	/* goes round six times */
	{.size = 5, .per_ms = 0.40, .kept = 1, .ring = 2000},
	/* hardly any is lost, with leaks that windows may not see */
	{.size = 6, .per_ms = 0.20, .life_s = 0.05, .lost = 0.02},
	{.size = 6, .per_ms = 0.002, .lost = 1},
	/* grows, and leaks, by blocks of several sizes */
	{.size = 7, .per_ms = 0.03, .kept = 1, .more = 4},
	{.size = 9, .per_ms = 0.003, .lost = 1, .more = 2},
	/* goes round one and a half times, beside older blocks */
	{.size = 12, .per_ms = 0.15, .kept = 1, .ring = 2990},
	{.size = 12, .per_ms = 0.40, .kept = 1, .is_early = true},
	/* none is lost, but addresses go to leaks that windows may not see */
	{.size = 13, .per_ms = 0.20, .life_s = 0.05},
	{.size = 13, .per_ms = 0.002, .lost = 1},
};
enum { SITES = sizeof(sites) / sizeof(*sites) };

struct slot {
	int site; /* -1: free */
	enum fate fate;
	bool is_recorded; /* born in the recording */
	int next;	  /* that dies in the same millisecond, of any size; -1: none */
};

struct drawn_program {
	struct slot slots[SIZES][SLOTS];
	uint16_t free_slots[SIZES][SLOTS]; /* the last one is taken first */
	size_t n_free[SIZES];
	struct hi_recording *recording;
	struct hi_windows *windows;
	int dying[(SECONDS_BEFORE + SECONDS) * 1000]; /* by millisecond, the first */
	uint64_t now_ms;
	bool is_open, is_recording;
	int rings[SITES][RING]; /* slots of any size; -1: none yet */
	uint64_t ring_at[SITES];
};

static uint64_t state = 0x2545f4914f6cdd1d;

static double draw_uniform(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return ((double)(state >> 11) + 0.5) / 9007199254740992.0;
}

static uint64_t address_of(unsigned size, unsigned slot)
{
	return base_address + size * region_size + slot * 1024ull;
}

static void tell(struct drawn_program *p, uint16_t kind, unsigned size, unsigned slot)
{
	const struct hi_event event = {.kind = kind,
				       .time_ns = p->now_ms * 1000000,
				       .addr = address_of(size, slot),
				       .size = usable[size] - 8,
				       .stack = 100 + (uint64_t)p->slots[size][slot].site,
				       .tid = 1};
	struct hi_error err;

	if (p->is_open)
		HI_ASSERT_OK(hi_recording_apply(p->recording, &event, &err), &err);
}

/* k: of any size. */
static void free_slot(struct drawn_program *p, int k)
{
	unsigned size = (unsigned)k / SLOTS, i = (unsigned)k % SLOTS;

	tell(p, HI_EVENT_FREE, size, i);
	p->slots[size][i].site = -1;
	p->free_slots[size][p->n_free[size]++] = (uint16_t)i;
}

static void free_dead(struct drawn_program *p)
{
	for (int k = p->dying[p->now_ms]; k >= 0;) {
		int next = p->slots[k / SLOTS][k % SLOTS].next;

		free_slot(p, k);
		k = next;
	}
}

static void turn_ring(struct drawn_program *p, int site, int k)
{
	int *at = &p->rings[site][p->ring_at[site]++ % sites[site].ring];

	if (*at >= 0)
		free_slot(p, *at);
	*at = k;
}

static void allocate_block(struct drawn_program *p, int site)
{
	const struct drawn_site *s = &sites[site];
	unsigned size = s->size + (unsigned)(draw_uniform() * (s->more + 1));
	double u = draw_uniform(), life_ms = -log(draw_uniform()) * s->life_s * 1000;
	uint64_t death_ms = p->now_ms + 1 + (uint64_t)life_ms;
	struct slot *slot;
	unsigned i;

	HI_ASSERT(p->n_free[size] > 0);
	i = p->free_slots[size][--p->n_free[size]];
	slot = &p->slots[size][i];
	*slot = (struct slot){.site = site,
			      .fate = u < s->lost	      ? IS_LOST
				      : u < s->lost + s->kept ? STAYS
							      : DIES,
			      .is_recorded = p->is_recording,
			      .next = -1};
	if (slot->fate == DIES && death_ms < (SECONDS_BEFORE + SECONDS) * 1000) {
		slot->next = p->dying[death_ms];
		p->dying[death_ms] = (int)(size * SLOTS + i);
	}
	tell(p, HI_EVENT_ALLOC, size, i);
	if (s->ring)
		turn_ring(p, site, (int)(size * SLOTS + i));
}

static void run_program_until(struct drawn_program *p, uint64_t end_ms)
{
	for (; p->now_ms < end_ms; p->now_ms += STEP_MS) {
		free_dead(p);
		for (int site = 0; site < SITES; site++)
			if (draw_uniform() < sites[site].per_ms * STEP_MS &&
			    !(sites[site].is_early && p->is_recording))
				allocate_block(p, site);
	}
}

static void record_program(struct drawn_program *p)
{
	struct hi_error err;

	p->is_recording = true;
	for (uint64_t second = 0; second < SECONDS; second++) {
		uint64_t start = (SECONDS_BEFORE + second) * 1000, from;

		run_program_until(p, start + (uint64_t)(draw_uniform() * 980));
		from = p->now_ms;
		p->is_open = true;
		run_program_until(p, from + window_ns / 1000000);
		p->is_open = false;
		HI_ASSERT_OK(hi_windows_end(p->windows, from * 1000000,
					    from * 1000000 + window_ns, &err),
			     &err);
		run_program_until(p, start + 1000);
	}
}

static void end_program(struct drawn_program *p)
{
	hi_recording_destroy(p->recording);
	hi_windows_destroy(p->windows);
	free(p);
}

static struct drawn_program *draw_program(void)
{
	struct drawn_program *p = calloc(1, sizeof(*p));
	struct hi_error err;

	HI_ASSERT(p);
	HI_ASSERT_OK(hi_recording_create(&p->recording, &err), &err);
	HI_ASSERT_OK(hi_windows_create(0, &p->windows, &err), &err);
	hi_recording_count_windows(p->recording, p->windows);
	for (unsigned size = 0; size < SIZES; size++)
		for (unsigned i = 0; i < SLOTS; i++) {
			p->slots[size][i].site = -1;
			p->free_slots[size][p->n_free[size]++] =
				(uint16_t)(SLOTS - 1 - i);
		}
	for (int i = 0; i < (SECONDS_BEFORE + SECONDS) * 1000; i++)
		p->dying[i] = -1;
	for (int i = 0; i < SITES * RING; i++)
		p->rings[i / RING][i % RING] = -1;
	run_program_until(p, SECONDS_BEFORE * 1000ull);
	record_program(p);
	return p;
}

/* ---- the walk ---- */

struct walked {
	struct hi_objects *objects;
	uint64_t *live, *lost;
};

static void walk_program(const struct drawn_program *p, struct walked *w)
{
	struct hi_objects_builder *b;
	struct hi_error err;
	unsigned region;

	HI_ASSERT_OK(hi_objects_builder_create(&b, &err), &err);
	for (unsigned size = 0; size < SIZES; size++) {
		uint64_t start = address_of(size, 0);

		HI_ASSERT_OK(hi_objects_builder_region(b, start, start + region_size, 4,
						       &region, &err),
			     &err);
		for (unsigned i = 0; i < SLOTS; i++)
			if (p->slots[size][i].site >= 0)
				HI_ASSERT_OK(hi_objects_builder_add(
						     b, region, address_of(size, i),
						     usable[size], 0, &err),
					     &err);
	}
	HI_ASSERT_OK(hi_objects_seal(b, &w->objects, &err), &err);
	w->live = calloc(1, hi_bits_size(w->objects->count) + 8);
	w->lost = calloc(1, hi_bits_size(w->objects->count) + 8);
	HI_ASSERT(w->live && w->lost);
	for (hi_node i = 0; i < w->objects->count; i++) {
		uint64_t offset = hi_objects_address(w->objects, i) - base_address;
		const struct slot *slot =
			&p->slots[offset / region_size][offset % region_size / 1024];

		hi_bit_set(slot->fate == IS_LOST ? w->lost : w->live, i);
	}
}

static void free_walked(struct walked *w)
{
	hi_objects_destroy(w->objects);
	free(w->live);
	free(w->lost);
}

/* ---- what is estimated of it ---- */

static struct hi_window_site *estimate_sites(const struct drawn_program *p,
					     const struct walked *w,
					     struct hi_birth_groups **groups,
					     struct hi_context_view *contexts)
{
	struct hi_window_site *found = NULL;
	struct hi_births *births = NULL;
	struct hi_live_allocation live;
	uint64_t outstanding[64] = {};
	struct hi_error err;

	HI_ASSERT_OK(
		hi_births_join(p->recording, w->objects, SECONDS_BEFORE * HI_NS_PER_S,
			       (SECONDS_BEFORE + SECONDS) * HI_NS_PER_S, &births, &err),
		&err);
	hi_contexts_view(hi_recording_contexts(p->recording), contexts);
	HI_ASSERT(contexts->n_contexts <= 64);
	for (uint64_t at = 0; hi_recording_next(p->recording, &at, &live);)
		outstanding[live.context]++;
	HI_ASSERT_OK(hi_birth_groups_make(births, contexts, NULL, HI_BORN_BY_CONTEXT,
					  groups, &err),
		     &err);
	HI_ASSERT_OK(hi_window_sites_make(
			     &(struct hi_window_blocks){.windows = p->windows,
							.objects = w->objects,
							.births = births,
							.groups = *groups,
							.speed = {1, 1, 1},
							.live_bits = w->live,
							.lost_bits = w->lost,
							.outstanding = outstanding},
			     &found, &err),
		     &err);
	hi_births_destroy(births);
	return found;
}

/* Over all programs, of a site: figures that were shown, and whose range was right. */
struct tally {
	unsigned live, live_right, lost, lost_right;
	unsigned live_close, lost_close; /* within twice the truth and half of it */
	double lost_ratio;		 /* sum of estimates over truths */
};

static bool is_within(const struct hi_bounded *b, double truth)
{
	return b->low <= truth + 1e-6 && truth <= b->high + 1e-6;
}

static bool is_close(const struct hi_bounded *b, double truth)
{
	return b->low > truth / 2 && b->high < truth * 2;
}

static void tally_site(const struct drawn_program *p, int site,
		       const struct hi_window_site *found, struct tally *t)
{
	double live = 0, lost = 0;

	for (unsigned i = sites[site].size * SLOTS;
	     i < (sites[site].size + sites[site].more + 1) * SLOTS; i++) {
		const struct slot *slot = &p->slots[i / SLOTS][i % SLOTS];
		uint64_t size = usable[i / SLOTS];

		if (slot->site != site || !slot->is_recorded)
			continue;
		live += slot->fate != IS_LOST ? (double)size : 0;
		lost += slot->fate == IS_LOST;
	}
	if (found->live_bytes.high > 0) {
		t->live++;
		t->live_right += is_within(&found->live_bytes, live);
		t->live_close += is_close(&found->live_bytes, live);
	}
	if (found->lost.high > 0) {
		t->lost++;
		t->lost_right += is_within(&found->lost, lost);
		t->lost_close += is_close(&found->lost, lost);
		t->lost_ratio += lost > 0 ? found->lost.value / lost : 0;
	}
}

static void tally_program(struct tally *tallies)
{
	struct drawn_program *p = draw_program();
	struct hi_birth_groups *groups = NULL;
	struct hi_context_view contexts;
	struct hi_window_site *found;
	struct walked w;

	walk_program(p, &w);
	found = estimate_sites(p, &w, &groups, &contexts);
	for (uint32_t i = 1; i < contexts.n_contexts; i++) {
		uint32_t group = groups->of_context[i];

		HI_ASSERT(contexts.contexts[i].stack >= 100);
		tally_site(p, (int)(contexts.contexts[i].stack - 100), &found[group],
			   &tallies[contexts.contexts[i].stack - 100]);
	}
	free(found);
	hi_birth_groups_destroy(groups);
	free_walked(&w);
	end_program(p);
}

/* Three standard deviations below 95 %. */
static bool is_coverage(unsigned right, unsigned n)
{
	return right >= n * 0.95 - 3 * sqrt(n * 0.95 * 0.05);
}

HI_TEST_SCENARIO(window_live, ranges_have_what_the_program_knows)
{
	struct tally t[SITES] = {};

	for (int i = 0; i < PROGRAMS; i++)
		tally_program(t);
	for (int i = 0; i < SITES; i++)
		hi_test_note("site %d: live %u of %u, lost %u of %u, close %u and %u, "
			     "ratio %.2f",
			     i, t[i].live_right, t[i].live, t[i].lost_right, t[i].lost,
			     t[i].live_close, t[i].lost_close,
			     t[i].lost ? t[i].lost_ratio / t[i].lost : 0);
	for (int i = 0; i < SITES; i++) {
		HI_ASSERT_MSG(is_coverage(t[i].live_right, t[i].live),
			      "site %d: live bytes of %u of %u", i, t[i].live_right,
			      t[i].live);
		HI_ASSERT_MSG(is_coverage(t[i].lost_right, t[i].lost),
			      "site %d: leaks of %u of %u", i, t[i].lost_right,
			      t[i].lost);
	}
	/* Ranges of sites that keep all of their blocks are narrow, also where these have
	 * several sizes. */
	HI_ASSERT(t[4].live_close > PROGRAMS * 3 / 4);
	HI_ASSERT(t[5].lost_close > PROGRAMS * 3 / 4);
	HI_ASSERT(t[10].live_close > PROGRAMS / 4);
	/* A site that leaks alone is told to a tenth on average. */
	HI_ASSERT(t[5].lost == PROGRAMS);
	HI_ASSERT(fabs(t[5].lost_ratio / t[5].lost - 1) < 0.1);
}

/* ---- shares of a column ---- */

HI_TEST(window_live, no_share_is_more_than_its_column)
{
	struct hi_window_share one = {.least = 3, .found = {900, 500, 1500}},
			       two[] = {{.is_trusted = true, .found = {60, 30, 90}},
					{.found = {800, 400, 1600}}};

	hi_window_rake(100, &one, 1);
	HI_ASSERT(one.found.value == 100 && one.found.high == 100);
	HI_ASSERT(one.found.low == 3);
	hi_window_rake(100, two, 2);
	HI_ASSERT(two[0].found.value == 60 && two[0].found.low == 30);
	HI_ASSERT(two[1].found.value == 40 && two[1].found.low == 0);
	HI_ASSERT(two[1].found.high == 70);
}
