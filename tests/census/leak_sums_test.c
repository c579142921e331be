/* SPDX-License-Identifier: BSD-2-Clause */
/* Sums of leaks against a loop over objects with random fates, verdicts and roots. */
#include "census/analysis/leak_sums.h"

#include "base/alloc.h"
#include "tests/census/graphs.h"
#include "tests/harness.h"

enum { OBJECTS = 100, ROUNDS = 200 };

struct truth {
	uint64_t cost;
	bool live, likely;
	enum hi_fate fate;
};

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static uint64_t bytes_of(const struct truth *t, bool leaked, bool likely, enum hi_fate no)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < OBJECTS; i++)
		sum += t[i].live != leaked && t[i].likely == likely && t[i].fate != no
			       ? t[i].cost
			       : 0;
	return sum;
}

static uint64_t bytes_of_fate(const struct truth *t, enum hi_fate fate)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < OBJECTS; i++)
		sum += t[i].fate == fate ? t[i].cost : 0;
	return sum;
}

/* Only what the collector put aside is live and has a fate. */
static struct truth plant(uint64_t *random)
{
	struct truth t = {.live = next_random(random) % 3 == 0};

	if (t.live) {
		t.fate = next_random(random) % 4 ? HI_FATE_NONE : HI_FATE_UNCOLLECTABLE;
		return t;
	}
	t.fate = (enum hi_fate)(next_random(random) % HI_FATES);
	t.likely = t.fate != HI_FATE_GARBAGE && next_random(random) % 2;
	return t;
}

static void check_round(uint64_t *random, bool fates)
{
	struct object_spec specs[OBJECTS];
	struct truth truth[OBJECTS];
	struct hi_graph_builder *b;
	struct hi_leak_sums sums;
	uint64_t *likely = hi_calloc(OBJECTS, sizeof(*likely));
	uint32_t root;

	for (unsigned i = 0; i < OBJECTS; i++)
		specs[i] = (struct object_spec){16 + 8 * (next_random(random) % 9), 1, 0};
	b = builder_of(specs, OBJECTS, 2);
	root = add_root(b, HI_ROOT_GLOBAL);
	for (unsigned i = 0; i < OBJECTS; i++) {
		truth[i] = plant(random);
		if (!fates)
			truth[i].fate = HI_FATE_NONE;
		if (truth[i].live)
			root_edge(b, root, i, HI_GRADE_EXACT);
		likely[i / 64] |= (uint64_t)truth[i].likely << i % 64;
	}
	{
		OWN(graph) *g = sealed(b);
		OWN(reach) *r = reach_of(g);

		g->fates = fates ? hi_calloc(OBJECTS, 1) : NULL;
		for (unsigned i = 0; i < OBJECTS; i++) {
			truth[i].cost = hi_graph_cost(g, i);
			if (fates)
				g->fates[i] = (uint8_t)truth[i].fate;
		}
		hi_reach_set_likely(g, r, likely);
		hi_leak_sums_count(g, r, r, &sums);
	}
	HI_ASSERT_EQ(bytes_of(truth, true, false, HI_FATE_GARBAGE), sums.certain.bytes);
	HI_ASSERT_EQ(bytes_of(truth, true, true, HI_FATE_GARBAGE), sums.likely.bytes);
	HI_ASSERT_EQ(bytes_of_fate(truth, HI_FATE_GARBAGE), sums.garbage.bytes);
	HI_ASSERT_EQ(bytes_of_fate(truth, HI_FATE_UNCOLLECTABLE),
		     sums.uncollectable.bytes);
	HI_ASSERT_EQ(bytes_of_fate(truth, HI_FATE_LOST_REFERENCE), sums.lost.bytes);
}

HI_TEST(census_leak_sums, each_object_is_in_the_sum_of_its_fate_and_verdict)
{
	uint64_t random = 88172645463325252u;

	for (unsigned i = 0; i < ROUNDS; i++)
		check_round(&random, i % 2);
}
