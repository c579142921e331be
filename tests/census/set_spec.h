/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Small graphs that can be drawn, made at random, renumbered and built, for the
 * tests of sets over graphs. Nodes: objects from 0, then root variables.
 */
#ifndef HI_TESTS_CENSUS_SET_SPEC_H
#define HI_TESTS_CENSUS_SET_SPEC_H

#include "census/retainers/set_table.h"
#include "tests/census/graphs.h"
#include "tests/support/random.h"

enum { SPEC_OBJECTS = 24, SPEC_ROOTS = 8, SPEC_NODES = 32, SPEC_EDGES = 128 };
#define BIT(i) (1ull << (i))
#define HAS(set, i) ((set) >> (i)&1)

struct spec_edge {
	hi_node from, to;
	uint8_t grade;
};
struct spec {
	uint32_t n_objects, n_roots, n_edges;
	struct object_spec objects[SPEC_OBJECTS];
	uint32_t identity[SPEC_NODES];
	struct spec_edge edges[SPEC_EDGES];
};

static inline uint64_t *spec_random(void)
{
	static uint64_t state;

	return &state;
}
static inline void spec_edge(struct spec *s, hi_node from, hi_node to, uint8_t grade)
{
	HI_ASSERT(s->n_edges < SPEC_EDGES);
	s->edges[s->n_edges++] = (struct spec_edge){from, to, grade};
}

/* Identities are below `identities`; most nodes have none. */
static inline void spec_draw_random(struct spec *s, uint32_t identities)
{
	uint32_t mode = random_below(spec_random(), 3),
		 density = 1 + random_below(spec_random(), 5),
		 internal = random_below(spec_random(), 3),
		 retainers = 1 + random_below(spec_random(), 5);

	*s = (struct spec){.n_objects = 2 + random_below(spec_random(), SPEC_OBJECTS - 2),
			   .n_roots = random_below(spec_random(), SPEC_ROOTS)};
	for (uint32_t i = 0; i < s->n_objects; i++) {
		s->objects[i].cost = 16 * random_below(spec_random(), 6);
		if (internal == 0 && random_below(spec_random(), 4) == 0)
			s->objects[i].flags = HI_OBJECT_INTERNAL;
	}
	for (uint32_t i = 0; i < s->n_objects + s->n_roots; i++)
		if (random_below(spec_random(), i < s->n_objects ? retainers + 1 : 4) !=
		    0)
			s->identity[i] =
				i < s->n_objects
					? 0
					: 1 + random_below(spec_random(), identities - 1);
		else
			s->identity[i] =
				i < s->n_objects
					? 1 + random_below(spec_random(), identities - 1)
					: 0;
	for (uint32_t k = s->n_roots * 2 +
			  random_below(spec_random(), s->n_objects * density / 2 + 2);
	     k; k--)
		spec_edge(s,
			  k <= s->n_roots * 2 ? s->n_objects + (k - 1) / 2
					      : random_below(spec_random(), s->n_objects),
			  random_below(spec_random(), s->n_objects),
			  (uint8_t)(mode == 0 ? HI_GRADE_EXACT
					      : random_below(spec_random(), mode + 2)));
}

static inline struct hi_graph *spec_build(const struct spec *s)
{
	struct hi_graph_builder *b = builder_of(s->objects, s->n_objects, 1);

	for (uint32_t i = 0; i < s->n_roots; i++)
		HI_ASSERT_EQ(i, add_root(b, (enum hi_root_kind)(i % HI_ROOT_KINDS)));
	for (uint32_t e = 0; e < s->n_edges; e++) {
		const struct spec_edge *d = &s->edges[e];

		if (d->from < s->n_objects)
			edge(b, d->from, d->to, (enum hi_grade)d->grade);
		else
			root_edge(b, d->from - s->n_objects, d->to,
				  (enum hi_grade)d->grade);
	}
	return sealed(b);
}

/* The same graph with other numbers and another order of everything;
 * map: old node -> new one. */
static inline void spec_shuffle(const struct spec *s, struct spec *ret, hi_node *map)
{
	uint32_t n = s->n_objects + s->n_roots;

	*ret = *s;
	for (uint32_t i = 0; i < n; i++)
		map[i] = i;
	for (uint32_t i = n; i-- > 1;) {
		uint32_t low = i < s->n_objects ? 0 : s->n_objects;
		uint32_t k = low + random_below(spec_random(), i + 1 - low),
			 swap = map[i];

		map[i] = map[k];
		map[k] = swap;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (i < s->n_objects)
			ret->objects[map[i]] = s->objects[i];
		ret->identity[map[i]] = s->identity[i];
	}
	for (uint32_t e = 0; e < s->n_edges; e++) {
		uint32_t k = random_below(spec_random(), e + 1);

		ret->edges[e] = ret->edges[k];
		ret->edges[k] = (struct spec_edge){
			map[s->edges[e].from], map[s->edges[e].to], s->edges[e].grade};
	}
}

static inline uint64_t spec_internal(const struct spec *s)
{
	uint64_t set = 0;

	for (uint32_t i = 0; i < s->n_objects; i++)
		if (s->objects[i].flags & HI_OBJECT_INTERNAL)
			set |= BIT(i);
	return set;
}

/* What `start` reaches over edges of at most that grade. */
static inline uint64_t spec_closure(const struct spec *s, uint64_t start, int worst)
{
	uint64_t set = start, before;

	do {
		before = set;
		for (uint32_t e = 0; e < s->n_edges; e++)
			if (HAS(set, s->edges[e].from) && s->edges[e].grade <= worst)
				set |= BIT(s->edges[e].to);
	} while (set != before);
	return set;
}

/* Internal objects that no root variable reaches. */
static inline uint64_t spec_extra(const struct spec *s)
{
	uint64_t roots = (BIT(s->n_roots) - 1) << s->n_objects;

	return spec_internal(s) & ~spec_closure(s, roots, HI_GRADE_CONSERVATIVE);
}
static inline uint64_t spec_reach(const struct spec *s, int worst)
{
	uint64_t roots = (BIT(s->n_roots) - 1) << s->n_objects;

	return spec_closure(s, roots | spec_extra(s), worst);
}

/* Members of a set as bits; identities are below 64. All ones: HI_SET_MANY. */
static inline uint64_t set_bits(const struct hi_set_pool *pool, uint32_t set)
{
	uint32_t members[64], n = hi_set_size(pool, set);
	uint64_t bits = 0;

	if (set == HI_SET_MANY)
		return UINT64_MAX;
	HI_ASSERT(n <= 64 && (n == 0) == (set == HI_SET_NONE));
	hi_set_members(pool, set, members);
	for (uint32_t i = 0; i < n; i++) {
		HI_ASSERT(!i || members[i - 1] < members[i]);
		HI_ASSERT(hi_set_has(pool, set, members[i]));
		bits |= BIT(members[i]);
	}
	HI_ASSERT(!n || hi_set_find(pool, members, n) == set);
	return bits;
}

static inline struct hi_set_pool *new_pool(void)
{
	struct hi_set_pool *pool;
	struct hi_error err;

	HI_ASSERT_OK(hi_set_pool_create(&pool, &err), &err);
	return pool;
}

static inline const struct hi_set_row *row_of(const struct hi_set_table *t, uint32_t set)
{
	for (size_t i = 0; i < t->n_rows; i++)
		if (t->rows[i].set == set)
			return &t->rows[i];
	return NULL;
}

/*
 * The table against the members that each object has by brute force, as bits:
 * members, rows, sums and order.
 */
static inline void check_table(const struct spec *s, const struct hi_set_table *t,
			       const struct hi_set_pool *pool, const uint64_t *truth)
{
	uint64_t internal = spec_internal(s), cost = 0, objects = 0;
	uint64_t any = spec_reach(s, HI_GRADE_CONSERVATIVE),
		 exact = spec_reach(s, HI_GRADE_INTERIOR);

	HI_ASSERT_EQ(s->n_objects, t->n_objects);
	for (uint32_t i = 0; i < s->n_objects; i++) {
		uint64_t bits = HAS(internal, i) ? 0 : truth[i];

		HI_ASSERT_EQ(bits, set_bits(pool, t->set[i]));
		HI_ASSERT((t->set[i] != HI_SET_NONE) == (row_of(t, t->set[i]) != NULL));
	}
	for (size_t r = 0; r < t->n_rows; r++) {
		const struct hi_set_row *row = &t->rows[r];
		struct hi_set_row sum = {.set = row->set,
					 .size = hi_set_size(pool, row->set)};

		for (uint32_t i = 0; i < s->n_objects; i++) {
			if (t->set[i] != row->set)
				continue;
			sum.objects++;
			sum.cost += s->objects[i].cost;
			sum.cost_pure += s->objects[i].cost;
			sum.exact_cost += HAS(exact, i) ? s->objects[i].cost : 0;
			sum.leak_cost += HAS(any, i) ? 0 : s->objects[i].cost;
		}
		HI_ASSERT(sum.objects > 0);
		HI_ASSERT(memcmp(&sum, row, sizeof(sum)) == 0);
		HI_ASSERT(!r || row[-1].cost >= row->cost);
		cost += row->cost;
		objects += row->objects;
	}
	HI_ASSERT_EQ(cost, t->cost);
	HI_ASSERT_EQ(cost, t->cost_pure);
	HI_ASSERT_EQ(objects, t->objects);
}

#endif
