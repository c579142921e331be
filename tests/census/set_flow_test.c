/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sets that flow, against repetition until nothing changes. Few sets are in so small
 * graphs, so the walk is forbidden to make unions in most of them.
 */
#include "census/retainers/set_flow_state_internal.h"
#include "tests/census/set_spec.h"

struct truth {
	uint64_t set[SPEC_NODES], cut;
};

static void repeat_until_still(const struct spec *s, struct truth *t)
{
	bool changed = true;

	while (changed) {
		changed = false;
		for (uint32_t e = 0; e < s->n_edges; e++) {
			const struct spec_edge *d = &s->edges[e];
			uint64_t old = t->set[d->to];

			if (d->from >= s->n_objects || d->grade == HI_GRADE_WEAK ||
			    HAS(t->cut, d->from))
				continue;
			t->set[d->to] |= t->set[d->from];
			changed |= t->set[d->to] != old;
		}
	}
}

static void put_random(const struct spec *s, struct hi_set_flow *flow, struct truth *t)
{
	memset(t, 0, sizeof(*t));
	for (uint32_t i = 0; i < s->n_objects; i++)
		if (random_below(spec_random(), 8) == 0) {
			t->cut |= BIT(i);
			hi_set_flow_cut(flow, i);
		}
	for (uint32_t k = random_below(spec_random(), 2 * s->n_objects); k; k--) {
		hi_node object = random_below(spec_random(), s->n_objects);
		uint32_t identity = random_below(spec_random(), 40), ref;

		ref = hi_set_singleton(flow->pool, identity);
		HI_ASSERT(ref && hi_set_flow_put(flow, object, ref));
		t->set[object] |= BIT(identity);
	}
}

static uint64_t bits_of(const struct hi_set_pool *pool, uint32_t ref)
{
	uint32_t members[64], n = ref ? hi_set_list(pool, ref, members) : 0;
	uint64_t bits = 0;

	for (uint32_t i = 0; i < n; i++)
		bits |= BIT(members[i]);
	return bits;
}

/* Returns how many of the graphs one walk could not settle. */
static uint32_t check_flows(uint64_t first, uint64_t end)
{
	HI_GUARD(hi_set_pool_destroy) struct hi_set_pool *pool = new_pool();
	static struct spec s;
	static struct truth t;
	uint32_t late = 0;

	for (uint64_t seed = first; seed < end; seed++) {
		OWN(graph) *g = NULL;
		struct hi_set_flow flow;
		struct hi_error err;

		*spec_random() = (seed + 1) * 0x9e3779b97f4a7c15;
		spec_draw_random(&s, 4);
		g = spec_build(&s);
		HI_ASSERT_OK(hi_set_flow_init(&flow, g, pool, &err), &err);
		flow.few = random_below(spec_random(), 3)
				   ? 0
				   : random_below(spec_random(), 64);
		flow.credit = (int32_t)random_below(spec_random(), 3) - 1;
		put_random(&s, &flow, &t);
		HI_ASSERT(hi_set_flow_run(&flow));
		late += flow.again > 0;
		repeat_until_still(&s, &t);
		for (hi_node i = 0; i < s.n_objects; i++)
			HI_ASSERT_EQ(t.set[i], bits_of(pool, flow.column[i]));
		hi_set_flow_deinit(&flow);
	}
	return late;
}

HI_TEST(census_set_flow, sets_are_those_of_repetition)
{
	HI_ASSERT(check_flows(0, 3000) > 500);
}

HI_TEST_SLOW(census_set_flow, sets_are_those_of_repetition_on_40000_graphs)
{
	HI_ASSERT(check_flows(3000, 43000) > 8000);
}
