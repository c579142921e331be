/* SPDX-License-Identifier: BSD-2-Clause */
/* Small graphs for the tests of census/: objects by cost, edges one by one. */
#ifndef HI_TESTS_CENSUS_GRAPHS_H
#define HI_TESTS_CENSUS_GRAPHS_H

#include "base/cleanup.h"
#include "census/analysis/analysis.h"
#include "tests/harness.h"

#define OWN(name) HI_GUARD(hi_##name##_destroy) struct hi_##name

struct object_spec {
	uint64_t cost;
	uint32_t type;
	uint8_t flags;
};

/* Objects in a row, far enough apart; ids are indices. */
static inline enum hi_status try_objects(const struct object_spec *specs, uint32_t n,
					 struct hi_objects **ret, struct hi_error *err)
{
	struct hi_objects_builder *b;
	enum hi_status status = hi_objects_builder_create(&b, err);
	uint64_t addr = 0x10000;
	unsigned region;

	if (status != HI_OK)
		return status;
	status = hi_objects_builder_region(b, addr, addr + (1ull << 22), 4, &region, err);
	for (uint32_t i = 0; i < n && status == HI_OK; i++) {
		status = hi_objects_builder_add(b, region, addr, specs[i].cost,
						specs[i].flags, err);
		addr += (specs[i].cost + 31) & ~15ull;
	}
	if (status != HI_OK) {
		hi_objects_builder_destroy(b);
		return status;
	}
	status = hi_objects_seal(b, ret, err);
	for (uint32_t i = 0; i < n && status == HI_OK; i++)
		(*ret)->type[i] = specs[i].type;
	return status;
}

static inline enum hi_status try_builder(const struct object_spec *specs, uint32_t n,
					 uint32_t n_types, struct hi_graph_builder **ret,
					 struct hi_error *err)
{
	HI_GUARD(hi_graph_builder_destroy) struct hi_graph_builder *b = NULL;
	struct hi_objects *objects;
	enum hi_status status = try_objects(specs, n, &objects, err);

	if (status == HI_OK)
		status = hi_graph_builder_create(objects, &b, err);
	for (uint32_t i = 1; i < n_types && status == HI_OK; i++) {
		struct hi_type_name type = {
			.name = "T", .size = 8, .klass = HI_TYPE_RECORD};
		uint32_t id;

		status = hi_graph_builder_type(b, &type, &id, err);
	}
	if (status == HI_OK)
		*ret = hi_take(b);
	return status;
}

static inline struct hi_graph_builder *builder_of(const struct object_spec *specs,
						  uint32_t n, uint32_t n_types)
{
	struct hi_graph_builder *b;
	struct hi_error err;

	HI_ASSERT_OK(try_builder(specs, n, n_types, &b, &err), &err);
	return b;
}

static inline uint32_t ranked_root(struct hi_graph_builder *b, enum hi_root_kind kind,
				   enum hi_root_rank rank)
{
	struct hi_root root = {.kind = kind,
			       .name = "root",
			       .variable = UINT32_MAX,
			       .rank = (uint8_t)rank};
	struct hi_error err;
	uint32_t index;

	HI_ASSERT_OK(hi_graph_builder_root(b, &root, &index, &err), &err);
	return index;
}

static inline uint32_t add_root(struct hi_graph_builder *b, enum hi_root_kind kind)
{
	return ranked_root(b, kind, HI_RANK_BY_KIND);
}

static inline void root_edge(struct hi_graph_builder *b, uint32_t root, hi_node to,
			     enum hi_grade grade)
{
	struct hi_error err;

	HI_ASSERT_OK(hi_graph_builder_root_edge(b, root, to, grade, &err), &err);
}

static inline void edge(struct hi_graph_builder *b, hi_node from, hi_node to,
			enum hi_grade grade)
{
	struct hi_error err;

	HI_ASSERT_OK(hi_graph_builder_edge(b, from, to, grade, &err), &err);
}

static inline struct hi_graph *sealed(struct hi_graph_builder *b)
{
	struct hi_graph *g;
	struct hi_error err;

	HI_ASSERT_OK(hi_graph_seal(b, &g, &err), &err);
	HI_ASSERT(hi_graph_is_valid(g));
	return g;
}

static inline struct hi_reach *reach_of(const struct hi_graph *g)
{
	struct hi_reach *r;
	struct hi_error err;

	HI_ASSERT_OK(hi_reach_compute(g, 2, &r, &err), &err);
	return r;
}

static inline struct hi_dominators *dominators_of(const struct hi_graph *g,
						  const struct hi_reach *r)
{
	struct hi_dominators *d;
	struct hi_error err;

	HI_ASSERT_OK(hi_dominators_compute(g, r, &d, &err), &err);
	return d;
}

static inline struct hi_leaks *leaks_of(const struct hi_graph *g,
					const struct hi_reach *r)
{
	struct hi_leaks *leaks;
	struct hi_error err;

	HI_ASSERT_OK(hi_leaks_compute(g, r, NULL, &leaks, &err), &err);
	return leaks;
}

static inline struct hi_paths *paths_of(const struct hi_graph *g,
					const struct hi_reach *r, const hi_node *targets,
					size_t n, size_t k)
{
	struct hi_paths *paths;
	struct hi_error err;

	HI_ASSERT_OK(hi_paths_find(g, r, targets, n, k, &paths, &err), &err);
	return paths;
}

static inline struct hi_suspects *suspects_of(const struct hi_graph *g,
					      const struct hi_reach *r,
					      const struct hi_dominators *d, double share)
{
	struct hi_suspects *s;
	struct hi_error err;

	HI_ASSERT_OK(hi_suspects_find(g, r, d, share, NULL, &s, &err), &err);
	return s;
}

#endif
