/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A stop at a probe, all parts together: the thread stands within an instruction of
 * it. The registers say so, and the counters of the target's own memory that it
 * writes before, in and after the function.
 *
 * HI_TORN=N for N stops (60).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "probes/probe.h"
#include "tests/harness.h"
#include "tests/support/fixture.h"
#include "tests/support/interrupted.h"
#include "tests/support/stopping.h"

struct landing {
	struct hi_fixture *fx;
	struct hi_target *target;
	struct hi_probe *probe;
	unsigned long marker, first_size, before, inside, after; /* its addresses */
};

static void close_deferred(struct landing *l)
{
	hi_probe_close(l->probe);
	hi_target_close(l->target);
	free(l);
}

static struct landing *start(void)
{
	struct landing *l = calloc(1, sizeof(*l));
	struct hi_probe_sites places = {};
	struct hi_safepoint safepoint;
	struct hi_error err = {};
	char line[128];

	HI_ASSERT(l);
	l->fx = hi_fixture_start("landing", NULL);
	hi_test_defer(close_deferred, l);
	while (hi_fixture_line(l->fx, line, sizeof(line)) && strcmp(line, "ready") != 0) {
		(void)sscanf(line, "marker %lx %lu", &l->marker, &l->first_size);
		(void)sscanf(line, "before %lx", &l->before);
		(void)sscanf(line, "inside %lx", &l->inside);
		(void)sscanf(line, "after %lx", &l->after);
	}
	HI_ASSERT(l->marker && l->before && l->inside && l->after);
	hi_test_adopt_orphans();
	hi_traces_watch(l->fx->pid);
	HI_ASSERT_OK(hi_target_open(l->fx->pid, &l->target, &err), &err);
	HI_ASSERT_OK(hi_safepoint_parse("landing_marker", &safepoint, &err), &err);
	HI_ASSERT_OK(hi_safepoint_find(l->target, &safepoint, &places, &err), &err);
	HI_ASSERT_EQ(1, places.count);
	HI_ASSERT_EQ(l->marker, places.items[0].address);
	HI_ASSERT_OK(hi_probe_open(l->target, &safepoint, &places, &l->probe, &err),
		     &err);
	hi_probe_sites_free(&places);
	return l;
}

static unsigned long word_at(const struct hi_image *image, uint64_t addr)
{
	unsigned long word = 0;
	struct hi_error err = {};

	HI_ASSERT_OK(hi_memory_read(image->memory, addr, &word, sizeof(word), &err),
		     &err);
	return word;
}

static void check_landing(const struct landing *l, const struct hi_image *image)
{
	unsigned long pc = image->threads[0].regs.rip;
	unsigned long before = word_at(image, l->before);

	HI_ASSERT_EQ(1, image->n_threads);
	HI_ASSERT_EQ(HI_HIT_AT, image->stats.trigger.position);
	HI_ASSERT_MSG(pc == l->marker || pc == l->marker + l->first_size,
		      "it stands at %#lx, the probe is at %#lx", pc, l->marker);
	/* n has been counted before, and neither in the function nor after it. */
	HI_ASSERT_EQ(before - 1, word_at(image, l->after));
	HI_ASSERT_EQ(before - 1, word_at(image, l->inside));
	HI_ASSERT_EQ(before, image->threads[0].regs.rdi);
}

static void land(enum hi_snapshot_request snapshot, enum hi_snapshot_mode mode)
{
	struct landing *l = start();
	unsigned rounds = hi_test_rounds("HI_TORN", 60);
	struct hi_stop_options options = {.snapshot = snapshot,
					  .trigger = hi_probe_trigger(l->probe),
					  .timeout_ns = 60000000000u,
					  .max_pause_ns = HI_TEST_PATIENCE_NS,
					  .best_effort_priority = true};

	for (unsigned i = 0; i < rounds; i++) {
		struct hi_image *image = NULL;
		struct hi_error err = {};

		HI_ASSERT_OK(hi_stop_and_copy(l->target, &options, &image, &err), &err);
		HI_ASSERT_EQ(mode, image->mode);
		check_landing(l, image);
		hi_image_destroy(image);
	}
	hi_probe_close(hi_take(l->probe)); /* its holder ends with it */
	hi_traces_expect_none(l->fx->pid, "RS");
	HI_ASSERT_EQ(0, hi_fixture_end(l->fx));
}

HI_TEST_ROOT(hit_position, copies_are_made_at_the_very_instruction)
{
	land(HI_REQUEST_COPY, HI_SNAPSHOT_COPY);
}

HI_TEST_ROOT(hit_position, forks_are_made_at_the_very_instruction)
{
	land(HI_REQUEST_FORK, HI_SNAPSHOT_FORK);
}
