/* SPDX-License-Identifier: BSD-2-Clause */
/* Sums of leaks against a loop over objects with random classes, verdicts and
 * roots. */
#include "census/analysis/leak_totals.h"

#include "base/alloc.h"
#include "tests/census/graphs.h"
#include "tests/harness.h"
#include "tests/support/random.h"

enum { OBJECTS = 100, ROUNDS = 200 };

struct truth {
	uint64_t cost;
	bool live, likely;
	enum hi_unreachable_class unreachable_class;
};

static uint64_t bytes_of(const struct truth *t, bool leaked, bool likely,
			 enum hi_unreachable_class no)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < OBJECTS; i++)
		sum += t[i].live != leaked && t[i].likely == likely &&
				       t[i].unreachable_class != no
			       ? t[i].cost
			       : 0;
	return sum;
}

static uint64_t bytes_of_class(const struct truth *t,
			       enum hi_unreachable_class unreachable_class)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < OBJECTS; i++)
		sum += t[i].unreachable_class == unreachable_class ? t[i].cost : 0;
	return sum;
}

/* Only what the collector put aside is live and has a class of unreachable objects. */
static struct truth plant(uint64_t *random)
{
	struct truth t = {.live = next_random(random) % 3 == 0};

	if (t.live) {
		t.unreachable_class = next_random(random) % 4
					      ? HI_UNREACHABLE_NO_CLASS
					      : HI_UNREACHABLE_UNCOLLECTABLE;
		return t;
	}
	t.unreachable_class =
		(enum hi_unreachable_class)(next_random(random) % HI_UNREACHABLE_CLASSES);
	t.likely =
		t.unreachable_class != HI_UNREACHABLE_GARBAGE && next_random(random) % 2;
	return t;
}

static void check_round(uint64_t *random, bool unreachable_classes)
{
	struct object_spec specs[OBJECTS];
	struct truth truth[OBJECTS];
	struct hi_graph_builder *b;
	struct hi_leak_totals sums;
	uint64_t *likely = hi_calloc(OBJECTS, sizeof(*likely));
	uint32_t root;

	for (unsigned i = 0; i < OBJECTS; i++)
		specs[i] = (struct object_spec){16 + 8 * (next_random(random) % 9), 1, 0};
	b = builder_of(specs, OBJECTS, 2);
	root = add_root(b, HI_ROOT_GLOBAL);
	for (unsigned i = 0; i < OBJECTS; i++) {
		truth[i] = plant(random);
		if (!unreachable_classes)
			truth[i].unreachable_class = HI_UNREACHABLE_NO_CLASS;
		if (truth[i].live)
			root_edge(b, root, i, HI_GRADE_EXACT);
		likely[i / 64] |= (uint64_t)truth[i].likely << i % 64;
	}
	{
		OWN(graph) *g = sealed(b);
		OWN(reach) *r = reach_of(g);

		g->unreachable_classes =
			unreachable_classes ? hi_calloc(OBJECTS, 1) : NULL;
		for (unsigned i = 0; i < OBJECTS; i++) {
			truth[i].cost = hi_graph_cost(g, i);
			if (unreachable_classes)
				g->unreachable_classes[i] =
					(uint8_t)truth[i].unreachable_class;
		}
		hi_reach_set_likely(g, r, likely);
		hi_leak_totals_count(g, r, r, &sums);
	}
	HI_ASSERT_EQ(bytes_of(truth, true, false, HI_UNREACHABLE_GARBAGE),
		     sums.certain.bytes);
	HI_ASSERT_EQ(bytes_of(truth, true, true, HI_UNREACHABLE_GARBAGE),
		     sums.likely.bytes);
	HI_ASSERT_EQ(bytes_of_class(truth, HI_UNREACHABLE_GARBAGE), sums.garbage.bytes);
	HI_ASSERT_EQ(bytes_of_class(truth, HI_UNREACHABLE_UNCOLLECTABLE),
		     sums.uncollectable.bytes);
	HI_ASSERT_EQ(bytes_of_class(truth, HI_UNREACHABLE_LOST_REFERENCE),
		     sums.lost.bytes);
}

HI_TEST(census_leak_sums, each_object_is_in_the_sum_of_its_class_and_verdict)
{
	uint64_t random = 88172645463325252u;

	for (unsigned i = 0; i < ROUNDS; i++)
		check_round(&random, i % 2);
}
