/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Conditions: which hit of many satisfies them first. The fixture's call N makes the
 * i-th call (from 1) of take_order with known values; the n-th of the hits is told by
 * a counter of its own, first_order.id, which the probe's stop does not change.
 */
#include <stdio.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/probed.h"

/* How many of the calls 1 … n satisfy it, by --at every: the largest n-th that is
 * still hit. */
static bool is_hit(struct probed *p, const char *at, uint64_t every, int calls)
{
	struct hi_probe *probe = probed_open(p, at, every);
	struct hi_trigger *trigger = hi_probe_trigger(probe);
	struct hi_trigger_hit hit;

	trigger->ops->arm(trigger);
	probed_tell(p, "call %d", calls);
	trigger->ops->disarm(trigger);
	return trigger->ops->was_hit(trigger, &hit);
}

/* The truth, from the fixture's loop written down once more. */
struct values {
	long i;
	long order, next; /* 0: NULL */
	int count;
	unsigned char kind;
	unsigned id;
	long amount;
	short depth;
};

static struct values values_of(long i)
{
	return (struct values){
		.i = i,
		.order = i % 5 ? 1 : 0,
		.count = (int)(i - 3),
		.kind = (unsigned char)(200 + i),
		.id = (unsigned)i,
		.amount = 10 - i,
		.depth = (short)-i,
	};
}

/* X(condition, the same in C). */
#define CONDITIONS(X)                                                                    \
	X("count == 7", v.count == 7)                                                    \
	X("count < 0", v.count < 0)                                                      \
	X("count >= -1 && count <= 3", v.count >= -1 && v.count <= 3)                    \
	X("0x10 < count", 0x10 < v.count)                                                \
	X("order == NULL", !v.order)                                                     \
	X("order != 0 && kind > 230", v.order &&v.kind > 230)                            \
	X("kind < 10", v.kind < 10)                                                      \
	X("kind == -1", false)                                                           \
	X("order->id == 12", v.order &&v.id == 12)                                       \
	X("order->amount < -20", v.order &&v.amount < -20)                               \
	X("order->inner->depth == -33", v.order &&v.depth == -33)                        \
	X("order->next != NULL", v.order &&v.next)                                       \
	X("order->next->id == 5", false)                                                 \
	X("arg2 > 30", v.count > 30)                                                     \
	X("$2 > 30", v.count > 30)                                                       \
	X("$arg1 == 0 && $3 != 205", !v.order && v.kind != 205)                          \
	X("first_order.id == 21", v.id == 21)                                            \
	X("current_order->id > 38", v.id > 38)                                           \
	X("phase == 3 && count == 30", v.count == 30)                                    \
	X("phase == 4", false)                                                           \
	X("static_limit < 0 && static_limit == -7 && count==1", v.count == 1)

enum { CALLS = 40 };

HI_TEST_ROOT(probe_conditions, hold_as_often_as_in_the_program)
{
#define TEXT(text, holds) "take_order if " text,
#define HOLDS(text, holds) holds,
	static const char *const texts[] = {CONDITIONS(TEXT)};
	enum { N = sizeof(texts) / sizeof(texts[0]) };
	uint64_t times[N] = {};
	struct probed *p = probed_start();

	for (long i = 1; i <= CALLS; i++) {
		struct values v = values_of(i);
		const bool holds[N] = {CONDITIONS(HOLDS)};

		for (size_t c = 0; c < N; c++)
			times[c] += holds[c];
	}
	for (size_t c = 0; c < N; c++) {
		if (times[c] > 0)
			HI_ASSERT_MSG(is_hit(p, texts[c], times[c], CALLS),
				      "%s does not hold %lu times", texts[c],
				      (unsigned long)times[c]);
		HI_ASSERT_MSG(!is_hit(p, texts[c], times[c] + 1, CALLS),
			      "%s holds more than %lu times", texts[c],
			      (unsigned long)times[c]);
		probed_signals(p, NULL, 0);
	}
}

HI_TEST_ROOT(probe_conditions, on_globals_go_with_usdt_probes)
{
	struct probed *p = probed_start();

	HI_ASSERT(is_hit(p, "usdt:probes_fixture:plain if first_order.id == 7", 1, 7));
	HI_ASSERT(!is_hit(p, "usdt:probes_fixture:plain if first_order.id == 7", 1, 6));
}

HI_TEST_SCENARIO(probe_conditions, move_the_place_to_where_the_argument_still_is)
{
	struct probed *p = probed_start();
	uint64_t entry = probed_function(p, "asm_clobber");

	/* xor %edi, %edi stands before the push. */
	HI_ASSERT_EQ(entry + 5, probed_find(p, "asm_clobber")->items[0].address);
	HI_ASSERT_EQ(entry, probed_find(p, "asm_clobber if $1 == 3")->items[0].address);
	HI_ASSERT_EQ(entry + 5,
		     probed_find(p, "asm_clobber if $2 == 3")->items[0].address);
}

HI_TEST_SCENARIO(probe_conditions, that_are_wrong_say_where)
{
	static const struct {
		const char *at, *word;
	} cases[] = {
		{"take_order if cuont == 1", "column 1"},
		{"take_order if cuont == 1", "order, count, kind ($1 first)"},
		{"take_order if arg4 == 1", "has 3 arguments"},
		{"take_order if arg7 == 1", "no argument and no variable arg7"},
		{"take_order if count = 1", "column 7"},
		{"take_order if count == x", "column 10"},
		{"take_order if count == 1 || kind == 2", "column 12"},
		{"take_order if count == 1 &&", "a name is expected"},
		{"take_order if order->ident == 1", "struct order has no member ident"},
		{"take_order if count->id == 1", "not a pointer"},
		{"take_order if $7 == 1", "$1 to $6"},
		{"take_order if $4 == 1", "has 3 arguments"},
		{"take_order if *order == 1", "cannot be compared"},
		{"take_order if count == 99999999999999999999", "too large"},
		{"take_order if count == 1.5", "not a whole number"},
		{"usdt:probes_fixture:plain if $1 == 1", "only functions have arguments"},
		{"usdt:probes_fixture:plain if arg1 == 1", "no variable arg1"},
	};
	struct probed *p = probed_start();

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hi_safepoint safepoint = probed_parse(cases[i].at);
		struct hi_probe_sites places = {};
		struct hi_error err;

		HI_ASSERT_MSG(hi_safepoint_find(p->target, &safepoint, &places, &err) ==
				      HI_USAGE,
			      "%s is taken", cases[i].at);
		HI_ASSERT_MSG(strstr(err.text, cases[i].word), "%s: no \"%s\" in: %s",
			      cases[i].at, cases[i].word, err.text);
	}
}
