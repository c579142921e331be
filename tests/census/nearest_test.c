/* SPDX-License-Identifier: BSD-2-Clause */
/* The nearest variable and the origin of types; drawn by hand, and by brute force. */
#include "census/analysis/nearest_holder.h"

#include "census/analysis/owners.h"
#include "census/graph/type_origin.h"
#include "tests/census/naive.h"

#define E HI_GRADE_EXACT

static uint32_t named_root(struct hi_graph_builder *b, enum hi_root_kind kind,
			   const char *name)
{
	struct hi_root root = {.kind = kind, .name = name, .variable = UINT32_MAX};
	struct hi_error err;
	uint32_t index;

	HI_ASSERT_OK(hi_graph_builder_root(b, &root, &index, &err), &err);
	return index;
}

static struct hi_nearest *nearest_of(const struct hi_graph *g, const struct hi_reach *r)
{
	struct hi_nearest *nearest = NULL;
	struct hi_error err;

	HI_ASSERT_OK(hi_nearest_compute(g, r, &nearest, &err), &err);
	return nearest;
}

/*
 *	global --> far --> class --> method
 *	module app ---------^
 *	module os --> x --> y --------^         y is further than class
 *	thread main() --> class
 */
HI_TEST(nearest, a_module_is_nearer_than_what_leads_through_others)
{
	enum { FAR, CLASS, METHOD, X, Y, N };
	const struct object_spec specs[N] = {
		{16, 1, 0}, {100, 1, 0}, {50, 1, 0}, {16, 1, 0}, {16, 1, 0}};
	struct hi_graph_builder *b = builder_of(specs, N, 2);
	uint32_t global = named_root(b, HI_ROOT_GLOBAL, "global");
	uint32_t stack = named_root(b, HI_ROOT_STACK, "thread 1 main() c");
	uint32_t os = named_root(b, HI_ROOT_RUNTIME, "module os");
	uint32_t app = named_root(b, HI_ROOT_RUNTIME, "module app");
	uint64_t bytes[HI_NEAREST_CLASSES] = {};
	OWN(graph) *g = NULL;
	OWN(reach) *r = NULL;
	OWN(dominators) *d = NULL;
	OWN(nearest) *nearest = NULL;

	root_edge(b, global, FAR, E);
	root_edge(b, stack, CLASS, E);
	root_edge(b, app, CLASS, E);
	root_edge(b, os, X, E);
	edge(b, FAR, CLASS, E);
	edge(b, CLASS, METHOD, E);
	edge(b, X, Y, E);
	edge(b, Y, METHOD, E);
	g = sealed(b);
	r = reach_of(g);
	d = dominators_of(g, r);
	nearest = nearest_of(g, r);
	HI_ASSERT_EQ(app, nearest->root_of[CLASS]);
	HI_ASSERT_EQ(app, nearest->root_of[METHOD]);
	HI_ASSERT_EQ(os, nearest->root_of[Y]);
	HI_ASSERT_EQ(global, nearest->root_of[FAR]);
	hi_nearest_sum_kinds(nearest, g, d, bytes);
	HI_ASSERT_EQ(150, bytes[HI_NEAREST_MODULES]);
	HI_ASSERT_EQ(0, bytes[HI_NEAREST_GLOBALS] + bytes[HI_NEAREST_STACK]);
}

/* By repetition: distances from every root, and the first of the nearest. */
HI_TEST(nearest, equals_brute_force_on_random_graphs)
{
	static struct naive n;

	random_state = 99;
	for (int round = 0; round < 300; round++) {
		OWN(graph) *g = random_graph(&n, 20);
		OWN(reach) *r = reach_of(g);
		OWN(nearest) *nearest = nearest_of(g, r);
		uint32_t distance[MAX_NODES];

		memset(distance, 0xff, sizeof(distance));
		for (uint32_t i = 0; i < n.n_roots; i++)
			distance[g->first_root + i] = 0;
		for (uint32_t pass = 0; pass < n.n_nodes; pass++)
			for (uint32_t e = 0; e < n.n_edges; e++) {
				const struct edge_spec *x = &n.edges[e];
				bool exact = HAS(r->exact[0], x->to);

				if (x->from >= g->first_kind || x->to >= g->n_objects ||
				    distance[x->from] == UINT32_MAX ||
				    x->grade == HI_GRADE_WEAK ||
				    (exact && (!HAS(r->exact[0], x->from) ||
					       !hi_grade_is_precise(x->grade))))
					continue;
				if (distance[x->from] + 1 < distance[x->to])
					distance[x->to] = distance[x->from] + 1;
			}
		for (hi_node i = 0; i < g->n_objects; i++)
			HI_ASSERT_EQ(distance[i] == UINT32_MAX,
				     nearest->root_of[i] == HI_NEAREST_NONE);
	}
}

/*	program -> far -> shared;  system -> shared;  nobody -> shared, alone	*/
HI_TEST(nearest, a_root_of_a_better_rank_is_nearer)
{
	enum { FAR_OFF, SHARED, ALONE, N };
	static const struct object_spec specs[N] = {{64, 1, 0}, {32, 1, 0}, {16, 1, 0}};
	struct hi_graph_builder *b = builder_of(specs, N, 2);
	uint32_t nobody = ranked_root(b, HI_ROOT_GLOBAL, HI_RANK_NOBODY);
	uint32_t system = ranked_root(b, HI_ROOT_GLOBAL, HI_RANK_SYSTEM);
	uint32_t program = ranked_root(b, HI_ROOT_UNTYPED, HI_RANK_PROGRAM);

	root_edge(b, nobody, SHARED, E);
	root_edge(b, nobody, ALONE, E);
	root_edge(b, system, SHARED, E);
	root_edge(b, program, FAR_OFF, E);
	edge(b, FAR_OFF, SHARED, E);
	OWN(graph) *g = sealed(b);
	OWN(reach) *r = reach_of(g);
	OWN(nearest) *nearest = nearest_of(g, r);

	HI_ASSERT_EQ(program, nearest->root_of[SHARED]);
	HI_ASSERT_EQ(nobody, nearest->root_of[ALONE]);
}

/* What over HI_OWNERS_MAX variables hold is listed, object by object. */
HI_TEST(nearest, objects_with_too_many_owners_are_listed)
{
	enum { SHARED, ALONE, N, MANY = HI_OWNERS_MAX + 1 };
	const struct object_spec specs[N] = {{64, 1, 0}, {32, 1, 0}};
	struct hi_graph_builder *b = builder_of(specs, N, 2);
	OWN(graph) *g = NULL;
	OWN(reach) *r = NULL;
	OWN(dominators) *d = NULL;
	OWN(owners) *owners = NULL;
	struct hi_error err;

	for (unsigned i = 0; i < MANY; i++) {
		char name[20];
		uint32_t root;

		snprintf(name, sizeof(name), "v%u", i);
		root = named_root(b, HI_ROOT_GLOBAL, name);
		root_edge(b, root, SHARED, E);
		if (i == 0)
			root_edge(b, root, ALONE, E);
	}
	g = sealed(b);
	r = reach_of(g);
	d = dominators_of(g, r);
	HI_ASSERT_OK(hi_owners_compute(g, r, d, &owners, &err), &err);
	HI_ASSERT_EQ(1, owners->n_shared_by_many);
	HI_ASSERT_EQ(SHARED, owners->shared_by_many[0]);
}

HI_TEST(nearest, types_are_the_programs_or_the_languages)
{
	static const struct {
		const char *name, *module;
		enum hi_type_class klass;
		bool own;
	} cases[] = {
		{"app.Session", "app", HI_TYPE_RECORD, true},
		{"__main__.Row", "__main__", HI_TYPE_RECORD, true},
		{"re._constants._NamedIntConstant", "re._constants", HI_TYPE_RECORD,
		 false},
		{"abc.ABCMeta", "abc", HI_TYPE_RECORD, false},
		{"dict", "builtins", HI_TYPE_RECORD, false},
		{"dict keys", "", HI_TYPE_RECORD, false},
		{"struct entry", "redis-server", HI_TYPE_RECORD, true},
		{"struct code", "code", HI_TYPE_RECORD, true},
		{"struct _IO_FILE", "libc.so.6", HI_TYPE_RECORD, false},
		{"struct arena_map_mid", "libpython3.11.so.1.0", HI_TYPE_RECORD, false},
		{"struct pool_record", "pool.cpython-311-x86_64-linux-gnu.so",
		 HI_TYPE_RECORD, true},
		{"struct J", "_json.cpython-311-x86_64-linux-gnu.so", HI_TYPE_RECORD,
		 false},
		{"std::_List_node<Item>", "shop", HI_TYPE_RECORD, false},
		{"shop::Item", "shop", HI_TYPE_RECORD, true},
		{"char []", "shop", HI_TYPE_STRING, false},
		{"", "", HI_TYPE_UNKNOWN, false}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct hi_type_name type = {.name = cases[i].name,
					    .module = cases[i].module,
					    .klass = cases[i].klass};

		HI_ASSERT_MSG(hi_type_is_own(&type) == cases[i].own, "%s", cases[i].name);
	}
	HI_ASSERT(!hi_type_is_own(&(struct hi_type_name){}));
}

HI_TEST(nearest, a_node_around_a_type_of_the_program_is_the_programs)
{
	static const struct {
		const char *name, *module;
		bool own;
	} cases[] = {
		{"shop::Item", "shop", true},
		{"std::_List_node<Item>", "shop", true},
		{"std::_Rb_tree_node<std::pair<int const, shop::Item> >", "shop", true},
		{"std::_List_node<integer>", "shop", true},
		{"std::_List_node<int::Item>", "shop", true},
		{"std::_List_node<unsigned int>", "shop", false},
		{"alloc::sync::ArcInner<(u64, i32)>", "shop", false},
		{"alloc::sync::ArcInner<(u64, shop::Item)>", "shop", true},
		{"std::_List_node<std::string>", "shop", false},
		{"std::_List_node<shop::Item *>", "shop", false},
		{"std::_List_node<Item>", "libstdc++.so.6", false},
		{"", "", false}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct hi_type_name type = {.name = cases[i].name,
					    .module = cases[i].module,
					    .klass = HI_TYPE_RECORD};

		HI_ASSERT_MSG(hi_type_has_own_payload(&type) == cases[i].own, "%s",
			      cases[i].name);
	}
}
