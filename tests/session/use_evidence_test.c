/* SPDX-License-Identifier: BSD-2-Clause */
/* In which period a call is that passes an object (fixtures/lives.c). */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "session/live/use_evidence.h"
#include "tests/harness.h"
#include "tests/support/fixture.h"
#include "tests/support/watching.h"

enum { SIZE = 200 };

static struct hi_use_evidence *uses;
static struct hi_fixture *lives;

static void close_uses(void *arg)
{
	(void)arg;
	hi_use_evidence_close(uses);
	uses = NULL;
}

/* Returns the address that is answered; 0: none. */
static unsigned long tell_lives(const char *command)
{
	unsigned long address = 0;
	char answer[64];

	hi_fixture_tell(lives, command);
	HI_ASSERT(hi_fixture_line(lives, answer, sizeof(answer)));
	(void)sscanf(answer, "%*s %lx", &address);
	return address;
}

static void choose_type(const char *name)
{
	const struct hi_use_type types[] = {{"struct other", 1 << 20}, {name, SIZE}};

	hi_use_evidence_choose(uses, types, 2);
}

static unsigned long start_uses(void)
{
	struct hi_error err;
	unsigned long address;

	hi_need_watchpoints();
	lives = hi_fixture_start("lives", NULL);
	hi_fixture_read_until(lives, "ready", NULL, NULL);
	address = tell_lives("new a 200");
	HI_ASSERT_OK(hi_use_evidence_open(lives->pid, false, &uses, &err), &err);
	hi_test_defer(close_uses, NULL);
	hi_use_evidence_end_period(uses, hi_clock_ns());
	choose_type("struct node");
	return address;
}

static bool is_called(unsigned long address)
{
	return hi_use_evidence_is_called(uses, address, address + SIZE);
}

HI_TEST_ROOT(use_evidence, a_call_is_in_the_period_that_the_next_stop_ends)
{
	unsigned long a = start_uses(), b = tell_lives("new b 200");
	uint64_t stop;

	HI_ASSERT(!is_called(a));
	tell_lives("take a");
	stop = hi_clock_ns();
	tell_lives("take b");
	hi_use_evidence_end_period(uses, stop);
	HI_ASSERT(is_called(a) && !is_called(b));
	hi_use_evidence_end_period(uses, hi_clock_ns());
	HI_ASSERT(!is_called(a) && is_called(b));
	hi_use_evidence_end_period(uses, hi_clock_ns());
	HI_ASSERT(!is_called(a) && !is_called(b));
}

/* The same object before and after a stop. */
HI_TEST_ROOT(use_evidence, calls_on_both_sides_of_a_stop_are_in_both_periods)
{
	unsigned long a = start_uses();
	uint64_t stop;

	tell_lives("take a");
	stop = hi_clock_ns();
	tell_lives("take a");
	hi_use_evidence_end_period(uses, stop);
	HI_ASSERT(is_called(a));
	hi_use_evidence_end_period(uses, hi_clock_ns());
	HI_ASSERT(is_called(a));
	hi_use_evidence_end_period(uses, hi_clock_ns());
	HI_ASSERT(!is_called(a));
}

HI_TEST_ROOT(use_evidence, an_address_is_of_the_object_that_has_it)
{
	unsigned long a = start_uses();

	tell_lives("take a");
	hi_use_evidence_end_period(uses, hi_clock_ns());
	HI_ASSERT(hi_use_evidence_is_called(uses, a, a + 1));
	HI_ASSERT(hi_use_evidence_is_called(uses, a - 1, a + 1));
	HI_ASSERT(!hi_use_evidence_is_called(uses, a + 1, a + SIZE));
	HI_ASSERT(!hi_use_evidence_is_called(uses, a - SIZE, a));
}

HI_TEST_ROOT(use_evidence, what_is_still_wanted_keeps_its_probes)
{
	struct hi_use_counts counts;

	(void)start_uses();
	tell_lives("take a");
	for (unsigned i = 0; i < 3; i++)
		choose_type("struct node");
	tell_lives("take a");
	counts = hi_use_evidence_counts(uses);
	HI_ASSERT_EQ(2, counts.probed);
	choose_type("struct node");
	counts = hi_use_evidence_counts(uses);
	HI_ASSERT_EQ(2, counts.hits);
	HI_ASSERT_EQ(0, counts.dropped);
	HI_ASSERT_EQ(1, counts.changes);
	/* Others come when they are wanted. */
	choose_type("struct buf");
	counts = hi_use_evidence_counts(uses);
	HI_ASSERT_EQ(1, counts.probed);
	HI_ASSERT_EQ(1, counts.wanted);
	HI_ASSERT_EQ(2, counts.changes);
}
