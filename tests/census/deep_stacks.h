/* SPDX-License-Identifier: BSD-2-Clause */
/* Stacks for deep profiles, and the graph of them. */
#ifndef HI_TESTS_CENSUS_DEEP_STACKS_H
#define HI_TESTS_CENSUS_DEEP_STACKS_H

#include "census/deep/deep.h"
#include "tests/harness.h"
#include "tests/support/random.h"

enum {
	DEEP_FRAMES = 10,
	DEEP_STACKS = 14,
	DEEP_FUNCTIONS = 5,
	DEEP_SITES = 2 /* of each function; numbers from DEEP_SITES on */
};

struct deep_stack {
	uint64_t bytes, count;
	uint32_t n;
	struct hi_deep_frame frames[DEEP_FRAMES]; /* outermost first */
};

static inline struct hi_deep_costs costs_of_stack(const struct deep_stack *s)
{
	struct hi_deep_costs costs = {};

	costs.of[HI_DEEP_BYTES] = s->bytes;
	costs.of[HI_DEEP_ALLOCS] = s->count;
	return costs;
}

static inline void add_deep_stack(struct hi_deep *deep, const struct deep_stack *s)
{
	struct hi_deep_costs costs = costs_of_stack(s);
	struct hi_error err;

	HI_ASSERT_OK(hi_deep_add(deep, s->frames, s->n, &costs, &err), &err);
}

/* hi_deep_graph_free(). */
static inline struct hi_deep_graph graph_of_stacks(const struct deep_stack *stacks,
						   size_t n)
{
	struct hi_deep_graph graph;
	struct hi_deep *deep;
	struct hi_error err;

	HI_ASSERT_OK(hi_deep_create(&deep, &err), &err);
	for (size_t i = 0; i < n; i++)
		add_deep_stack(deep, &stacks[i]);
	HI_ASSERT_OK(hi_deep_graph(deep, &graph, &err), &err);
	hi_deep_destroy(deep);
	return graph;
}

/* ---- random stacks ---- */

struct deep_stack_set {
	struct deep_stack of[DEEP_STACKS];
	size_t n;
};

static inline struct deep_stack_set draw_deep_stacks(uint64_t seed)
{
	uint64_t random = seed * 0x9e3779b97f4a7c15u + 1;
	struct deep_stack_set set = {.n = random_below(&random, DEEP_STACKS + 1)};
	uint32_t functions = 1 + random_below(&random, DEEP_FUNCTIONS),
		 depth = 1 + random_below(&random, DEEP_FRAMES);

	for (size_t i = 0; i < set.n; i++) {
		struct deep_stack *s = &set.of[i];

		*s = (struct deep_stack){random_below(&random, 1000),
					 1 + random_below(&random, 9),
					 1 + random_below(&random, depth),
					 {}};
		for (uint32_t k = 0; k < s->n; k++) {
			uint32_t f = 1 + random_below(&random, functions);

			s->frames[k] = (struct hi_deep_frame){
				f, f * DEEP_SITES + random_below(&random, DEEP_SITES)};
		}
	}
	return set;
}

#endif
