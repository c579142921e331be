/* SPDX-License-Identifier: BSD-2-Clause */
/* Groups of siblings, the retained tree and suspects; drawn by hand, with named edges. */
#include "census/analysis/groups.h"

#include "census/analysis/field_pattern.h"
#include "census/analysis/retained_tree.h"
#include "tests/census/naive.h"

#define E HI_GRADE_EXACT

/* ---- patterns ---- */

static const char *pattern_of(const char *text)
{
	static char out[200];

	hi_field_pattern(text, out, sizeof(out));
	return out;
}

HI_TEST(groups, patterns_leave_out_indices_and_the_members_of_libraries)
{
	HI_ASSERT_STREQ("->buckets[]", pattern_of("->buckets[17]"));
	HI_ASSERT_STREQ("[].key", pattern_of("[\"a]b\\\"[\"].key"));
	HI_ASSERT_STREQ("->index", pattern_of("->index._M_h._M_before_begin._M_nxt"));
	HI_ASSERT_STREQ("->second", pattern_of("->_M_storage._M_storage.second._M_ptr"));
	HI_ASSERT_STREQ("->table[]", pattern_of("->table.__table_.__bucket_list_[3]"));
	HI_ASSERT_STREQ(".__dict__", pattern_of(".__dict__"));
	HI_ASSERT_STREQ(" +0x8", pattern_of(" +0x8"));
	HI_ASSERT_STREQ("[]", pattern_of("[never closed"));
	HI_ASSERT_STREQ("->names{}", pattern_of("->names{\"a}b\"}"));
	HI_ASSERT_STREQ("[].first", pattern_of("[{1, 2}].first"));
	HI_ASSERT_STREQ("{}", pattern_of("{[3]}"));
	HI_ASSERT_STREQ("", pattern_of(""));
}

HI_TEST(groups, only_a_number_after_a_plus_is_an_offset)
{
	HI_ASSERT(hi_field_is_offset(" +0x8"));
	HI_ASSERT(hi_field_is_offset(" +0x1a0"));
	HI_ASSERT(!hi_field_is_offset(" +0x8[3]"));
	HI_ASSERT(!hi_field_is_offset("->x"));
	HI_ASSERT(!hi_field_is_offset(""));
}

HI_TEST(groups, patterns_are_cut_where_they_do_not_fit)
{
	char out[4];

	HI_ASSERT_EQ(3, hi_field_pattern("->next->next", out, sizeof(out)));
	HI_ASSERT_STREQ("->n", out);
}

HI_TEST(groups, containers_are_names_without_their_last_indices)
{
	HI_ASSERT_EQ(3, hi_field_container("app[\"s[\"][3]"));
	HI_ASSERT_EQ(11, hi_field_container("app[3].name"));
	HI_ASSERT_EQ(9, hi_field_without_index("app[\"s[\"][3]"));
	HI_ASSERT_EQ(9, hi_field_without_index("app[\"s[\"].<element>"));
	HI_ASSERT_EQ(11, hi_field_without_index("app[3].name"));
	HI_ASSERT_EQ(3, hi_field_container("app.<element>"));
	HI_ASSERT_EQ(4, hi_field_stem("->db[][]"));
	HI_ASSERT_EQ(2, hi_field_stem("[]"));
	HI_ASSERT(hi_field_is_link("->next"));
	HI_ASSERT(!hi_field_is_link("->next[1]"));
	HI_ASSERT(!hi_field_is_link(""));
	HI_ASSERT(!hi_field_is_link("{\"a\"}"));
	HI_ASSERT_EQ(7, hi_field_stem("->names{}"));
	HI_ASSERT(hi_field_is_part(".<keys>"));
}

HI_TEST(groups, names_are_joined_where_their_indices_differ)
{
	char out[40] = "";

	HI_ASSERT(hi_field_join("[0].name", "[17].name", out, sizeof(out)));
	HI_ASSERT_STREQ("[*].name", out);
	HI_ASSERT(hi_field_join("->a[2].b[\"x]\"]", "->a[2].b[4]", out, sizeof(out)));
	HI_ASSERT_STREQ("->a[2].b[*]", out);
	HI_ASSERT(hi_field_join("[*].name", "[3].name", out, sizeof(out)));
	HI_ASSERT_STREQ("[*].name", out);
	HI_ASSERT(!hi_field_join("[0].name", "[0].names", out, sizeof(out)));
	HI_ASSERT(!hi_field_join("[0].name", "[0]", out, sizeof(out)));
	HI_ASSERT(!hi_field_join("[0].name", "[1].name", out, 5));
}

/* ---- drawn graphs ---- */

enum { MOST_EDGES = 4000 };
struct drawing {
	struct {
		hi_node from, to;
		const char *name;
	} edges[MOST_EDGES];
	size_t n;
	const struct hi_graph *graph;
	struct hi_graph_builder *b;
};

static enum hi_status read_drawing(void *arg, hi_node node, const char **texts,
				   struct hi_error *err)
{
	const struct drawing *d = arg;
	struct hi_edges edges = hi_graph_edges(d->graph, node);

	(void)err;
	for (uint32_t i = 0; i < edges.count; i++) {
		texts[i] = "";
		for (size_t k = 0; k < d->n; k++)
			if (d->edges[k].from == node && d->edges[k].to == edges.to[i])
				texts[i] = d->edges[k].name;
	}
	return HI_OK;
}

static void draw(struct drawing *d, hi_node from, hi_node to, const char *name)
{
	HI_ASSERT(d->n < MOST_EDGES);
	d->edges[d->n].from = from;
	d->edges[d->n].to = to;
	d->edges[d->n++].name = name;
	edge(d->b, from, to, E);
}

static struct hi_suspects *suspects_drawn(struct drawing *d, const struct hi_graph *g,
					  double share)
{
	OWN(reach) *r = reach_of(g);
	OWN(dominators) *dom = dominators_of(g, r);
	struct hi_field_reader fields = {.read = read_drawing, .arg = d};
	struct hi_suspects *s = NULL;
	struct hi_error err;

	d->graph = g;
	HI_ASSERT_OK(hi_suspects_find(g, r, dom, share, &fields, &s, &err), &err);
	return s;
}

/* A table of N_BUCKETS chains of PER_CHAIN entries, each with a value. */
enum { TABLE, FIRST_ENTRY, N_BUCKETS = 8, PER_CHAIN = 2, N_ENTRIES = 16 };

static struct hi_graph *hash_table(struct drawing *d)
{
	struct object_spec specs[1 + 2 * N_ENTRIES] = {{100, 1, 0}};

	*d = (struct drawing){};
	for (hi_node i = 0; i < N_ENTRIES; i++) {
		specs[FIRST_ENTRY + i] = (struct object_spec){48, 2, 0};
		specs[FIRST_ENTRY + N_ENTRIES + i] = (struct object_spec){32, 3, 0};
	}
	d->b = builder_of(specs, 1 + 2 * N_ENTRIES, 4);
	root_edge(d->b, add_root(d->b, HI_ROOT_GLOBAL), TABLE, E);
	for (hi_node i = 0; i < N_ENTRIES; i++) {
		hi_node entry = FIRST_ENTRY + i;

		if (i < N_BUCKETS)
			draw(d, TABLE, entry, "->buckets[5]");
		else
			draw(d, entry - N_BUCKETS, entry, "->next");
		draw(d, entry, entry + N_ENTRIES, "->value");
	}
	return sealed(d->b);
}

HI_TEST(groups, elements_that_hang_in_chains_are_all_counted)
{
	static struct drawing d;
	OWN(graph) *g = hash_table(&d);
	OWN(suspects) *s = suspects_drawn(&d, g, 0.2);

	HI_ASSERT_EQ(1, s->count);
	HI_ASSERT_EQ(TABLE, s->items[0].accumulation);
	HI_ASSERT_EQ(N_ENTRIES, s->items[0].children);
	HI_ASSERT_EQ(N_ENTRIES * 80, s->items[0].children_bytes);
	HI_ASSERT_EQ(2, s->items[0].child_type);
	HI_ASSERT(!s->items[0].is_list);
	HI_ASSERT_EQ(TABLE, s->items[0].holder);
	HI_ASSERT_EQ(FIRST_ENTRY, s->items[0].held);
}

static struct hi_retained_tree *tree_of(struct drawing *d, const struct hi_graph *g,
					const struct hi_retained_limits *limits)
{
	OWN(reach) *r = reach_of(g);
	OWN(dominators) *dom = dominators_of(g, r);
	struct hi_field_reader fields = {.read = read_drawing, .arg = d};
	struct hi_retained_tree *tree = NULL;
	struct hi_error err;

	d->graph = g;
	HI_ASSERT_OK(hi_retained_tree_make(g, r, dom, &fields, limits, &tree, &err),
		     &err);
	return tree;
}

/* Each node is its own bytes and its children's. */
static void check_sums(const struct hi_retained_tree *tree, uint32_t max_depth)
{
	for (uint32_t i = 0; i < tree->count; i++) {
		const struct hi_retained_node *n = &tree->nodes[i];
		uint64_t sum = n->own;

		HI_ASSERT(n->depth <= max_depth);
		for (uint32_t k = 0; k < n->n_children; k++) {
			HI_ASSERT_EQ(i, tree->nodes[n->first_child + k].parent);
			HI_ASSERT(n->first_child + k > i);
			sum += tree->nodes[n->first_child + k].bytes;
		}
		if (n->n_children)
			HI_ASSERT_EQ(n->bytes, sum);
	}
}

HI_TEST(groups, the_tree_has_a_hash_table_in_three_rows)
{
	static struct drawing d;
	static const struct hi_retained_limits limits = {
		.depth = 6, .tops = 10, .children = 5, .share = 0.01};
	OWN(graph) *g = hash_table(&d);
	OWN(retained_tree) *t = tree_of(&d, g, &limits);

	HI_ASSERT_EQ(5, t->count);
	check_sums(t, 6);
	HI_ASSERT_EQ(HI_RETAINED_ROOT, t->nodes[1].sort);
	HI_ASSERT_STREQ("root", t->nodes[1].label);
	HI_ASSERT_EQ(TABLE, t->nodes[2].example);
	HI_ASSERT_STREQ("->buckets", t->nodes[3].label);
	HI_ASSERT_EQ(N_ENTRIES, t->nodes[3].count);
	HI_ASSERT_EQ(N_ENTRIES * 48, t->nodes[3].own);
	HI_ASSERT_STREQ("->value", t->nodes[4].label);
	HI_ASSERT_EQ(N_ENTRIES, t->nodes[4].count);
	HI_ASSERT_EQ(N_ENTRIES * 32, t->nodes[4].bytes);
}

/* A chain of n nodes of one type, by the names in turn; the last one holds a large
 * object of another type. */
static struct hi_graph *chain_of(struct drawing *d, hi_node n, const char *const *names,
				 size_t n_names)
{
	struct object_spec specs[200];

	*d = (struct drawing){};
	for (hi_node i = 0; i < n; i++)
		specs[i] = (struct object_spec){100, 1, 0};
	d->b = builder_of(specs, n, 2);
	root_edge(d->b, add_root(d->b, HI_ROOT_GLOBAL), 0, E);
	for (hi_node i = 0; i + 1 < n; i++)
		draw(d, i, i + 1, names[i % n_names]);
	return sealed(d->b);
}

HI_TEST(groups, a_list_needs_one_field_three_times)
{
	static const char *const next[] = {"->next"}, *const mixed[] = {"->left", "->up"};
	static const char *const key[] = {"[\"a\"]"};
	static const struct {
		hi_node n;
		const char *const *names;
		size_t n_names;
		bool is_list;
	} cases[] = {{4, next, 1, true},
		     {100, next, 1, true},
		     {3, next, 1, false},
		     {100, mixed, 2, false},
		     {100, key, 1, false}};

	for (size_t i = 0; i < 5; i++) {
		static struct drawing d;
		OWN(graph) *g =
			chain_of(&d, cases[i].n, cases[i].names, cases[i].n_names);
		OWN(suspects) *s = suspects_drawn(&d, g, 0.2);

		HI_ASSERT_EQ(1, s->count);
		HI_ASSERT_EQ(cases[i].is_list, s->items[0].is_list);
		if (cases[i].is_list) {
			HI_ASSERT_EQ(g->first_root, s->items[0].accumulation);
			HI_ASSERT_EQ(cases[i].n, s->items[0].children);
			HI_ASSERT_EQ(cases[i].n * 100, s->items[0].children_bytes);
		}
	}
}

/*	system -> its own;  program -> cache ->> entries	*/
HI_TEST(groups, memory_of_the_library_is_no_suspect)
{
	enum { OWN_BUFFER, CACHE, FIRST, ENTRIES = 5, N = FIRST + ENTRIES };
	struct object_spec specs[N] = {{4000, 1, 0}, {64, 1, 0}};
	static struct drawing d;
	OWN(graph) *g = NULL;
	OWN(suspects) *s = NULL;

	for (hi_node i = FIRST; i < N; i++)
		specs[i] = (struct object_spec){500, 1, 0};
	d = (struct drawing){.b = builder_of(specs, N, 2)};
	root_edge(d.b, ranked_root(d.b, HI_ROOT_GLOBAL, HI_RANK_SYSTEM), OWN_BUFFER, E);
	root_edge(d.b, add_root(d.b, HI_ROOT_GLOBAL), CACHE, E);
	for (hi_node i = FIRST; i < N; i++)
		draw(&d, CACHE, i, "->entries[7]");
	g = sealed(d.b);
	s = suspects_drawn(&d, g, 0.2);
	HI_ASSERT_EQ(1, s->count);
	HI_ASSERT_EQ(CACHE, s->items[0].accumulation);
	HI_ASSERT_EQ(ENTRIES, s->items[0].children);
}

/* Words without names: of many that lead to blocks of one size each is an element, and
 * few are fields. */
HI_TEST(groups, many_words_of_untyped_memory_that_lead_to_one_size_are_a_table)
{
	enum { HOLDER, FIRST, WORDS = 20, OTHER = FIRST + WORDS, N };
	struct object_spec specs[N] = {{400, 0, 0}};
	static char names[N][16];
	static struct drawing d;
	OWN(graph) *g = NULL;
	OWN(suspects) *s = NULL;

	for (hi_node i = FIRST; i < N; i++)
		specs[i] = (struct object_spec){i == OTHER ? 300 : 64, 0, 0};
	d = (struct drawing){.b = builder_of(specs, N, 1)};
	root_edge(d.b, add_root(d.b, HI_ROOT_GLOBAL), HOLDER, E);
	for (hi_node i = FIRST; i < N; i++) {
		snprintf(names[i], sizeof(names[i]), " +0x%x", i * 8);
		draw(&d, HOLDER, i, names[i]);
	}
	g = sealed(d.b);
	s = suspects_drawn(&d, g, 0.2);
	HI_ASSERT_EQ(1, s->count);
	HI_ASSERT_EQ(HOLDER, s->items[0].accumulation);
	HI_ASSERT_EQ(WORDS, s->items[0].children);
	HI_ASSERT_EQ(WORDS * 64, s->items[0].children_bytes);
}

/*
 *	module ==> dict ["S"]=> sessions ["s1"]=> s1 …    all of one type: no run
 */
HI_TEST(groups, dicts_in_dicts_are_no_list)
{
	enum { MODULE, SESSIONS, FIRST, N_SESSIONS = 20, N = FIRST + N_SESSIONS };
	struct object_spec specs[N];
	static struct drawing d;
	OWN(graph) *g = NULL;
	OWN(suspects) *s = NULL;

	for (hi_node i = 0; i < N; i++)
		specs[i] = (struct object_spec){64, 1, 0};
	d = (struct drawing){.b = builder_of(specs, N, 2)};
	root_edge(d.b, add_root(d.b, HI_ROOT_RUNTIME), MODULE, E);
	draw(&d, MODULE, SESSIONS, "[\"SESSIONS\"]");
	for (hi_node i = FIRST; i < N; i++)
		draw(&d, SESSIONS, i, "[\"s\"]");
	g = sealed(d.b);
	s = suspects_drawn(&d, g, 0.2);
	HI_ASSERT_EQ(1, s->count);
	HI_ASSERT_EQ(SESSIONS, s->items[0].accumulation);
	HI_ASSERT_EQ(N_SESSIONS, s->items[0].children);
}

/*
 *	header --> a <--> b <--> c <--> d --> header      a ring: all below the header
 */
HI_TEST(groups, the_inner_nodes_of_a_ring_count_with_its_ends)
{
	enum { HEADER, FIRST, N_NODES = 9, N = FIRST + N_NODES };
	struct object_spec specs[N] = {{200, 1, 0}};
	static struct drawing d;
	static const struct hi_retained_limits limits = {
		.depth = 6, .tops = 10, .children = 5, .share = 0.01};
	OWN(graph) *g = NULL;
	OWN(retained_tree) *t = NULL;

	for (hi_node i = FIRST; i < N; i++)
		specs[i] = (struct object_spec){50, 2, 0};
	d = (struct drawing){.b = builder_of(specs, N, 3)};
	root_edge(d.b, add_root(d.b, HI_ROOT_GLOBAL), HEADER, E);
	draw(&d, HEADER, FIRST, "->lru._M_node._M_next");
	draw(&d, HEADER, N - 1, "->lru._M_node._M_prev");
	for (hi_node i = FIRST; i + 1 < N; i++) {
		draw(&d, i, i + 1, "->_M_next");
		draw(&d, i + 1, i, "->_M_prev");
	}
	g = sealed(d.b);
	t = tree_of(&d, g, &limits);
	HI_ASSERT_EQ(4, t->count);
	HI_ASSERT_STREQ("->lru", t->nodes[3].label);
	HI_ASSERT_EQ(N_NODES, t->nodes[3].count);
	check_sums(t, 6);
}

/* Two variables hold the same sessions: no variable and no object holds them all. */
HI_TEST(groups, objects_held_element_by_element_are_one_suspect)
{
	enum { BY_NAME, BY_ID, FIRST, N_SESSIONS = 30, N = FIRST + N_SESSIONS };
	struct object_spec specs[N];
	static struct drawing d;
	OWN(graph) *g = NULL;
	OWN(suspects) *s = NULL;

	for (hi_node i = 0; i < N; i++)
		specs[i] =
			(struct object_spec){i < FIRST ? 64 : 100, i < FIRST ? 1 : 2, 0};
	d = (struct drawing){.b = builder_of(specs, N, 3)};
	root_edge(d.b, add_root(d.b, HI_ROOT_GLOBAL), BY_NAME, E);
	root_edge(d.b, add_root(d.b, HI_ROOT_GLOBAL), BY_ID, E);
	for (hi_node i = FIRST; i < N; i++) {
		draw(&d, BY_NAME, i, "[\"s\"]");
		draw(&d, BY_ID, i, "[7]");
	}
	g = sealed(d.b);
	s = suspects_drawn(&d, g, 0.2);
	HI_ASSERT_EQ(1, s->count);
	HI_ASSERT_EQ(g->super_root, s->items[0].accumulation);
	HI_ASSERT_EQ(N_SESSIONS, s->items[0].children);
	HI_ASSERT_EQ(N_SESSIONS * 100, s->items[0].children_bytes);
}

/*
 *	module ==> dict ["SESSIONS"]=> sessions [n]=> 20 elements
 *	                ["NAMES"]===> names        of the same type as sessions
 */
static struct hi_graph *two_dicts(struct drawing *d)
{
	enum { DICT, SESSIONS, NAMES, FIRST, N = FIRST + 20 };
	struct object_spec specs[N];

	for (hi_node i = 0; i < N; i++)
		specs[i] = (struct object_spec){100, i < FIRST ? 1 : 2, 0};
	*d = (struct drawing){.b = builder_of(specs, N, 3)};
	root_edge(d->b, add_root(d->b, HI_ROOT_GLOBAL), DICT, E);
	draw(d, DICT, SESSIONS, "[\"SESSIONS\"]");
	draw(d, DICT, NAMES, "[\"NAMES\"]");
	for (hi_node i = FIRST; i < N; i++)
		draw(d, SESSIONS, i, "[7]");
	return sealed(d->b);
}

HI_TEST(groups, a_member_that_is_most_of_its_group_keeps_its_name)
{
	enum { DICT, SESSIONS, NAMES };
	static struct drawing d;
	static const struct hi_retained_limits limits = {
		.depth = 6, .tops = 10, .children = 5, .share = 0.01};
	OWN(graph) *g = two_dicts(&d);
	OWN(suspects) *s = suspects_drawn(&d, g, 0.2);
	OWN(retained_tree) *t = tree_of(&d, g, &limits);

	HI_ASSERT_EQ(1, s->count);
	HI_ASSERT_EQ(SESSIONS, s->items[0].accumulation);
	HI_ASSERT_EQ(20, s->items[0].children);
	HI_ASSERT_EQ(SESSIONS, t->nodes[3].example);
	HI_ASSERT_STREQ("[\"SESSIONS\"]", t->nodes[3].label);
	HI_ASSERT_EQ(NAMES, t->nodes[4].example);
	HI_ASSERT_STREQ("[\"NAMES\"]", t->nodes[4].label);
	HI_ASSERT_EQ(2100, t->nodes[3].bytes);
	HI_ASSERT_EQ(100, t->nodes[4].bytes);
	check_sums(t, 6);
}

/*
 *	module app ==> dict ["A"]=> 100 ["B"]=> 100 ["C"]=> 100    of one type
 *	sys.modules ====^
 */
HI_TEST(groups, variables_of_a_module_keep_their_names)
{
	enum { DICT, N = 4 };
	static const char *const names[] = {"", "[\"A\"]", "[\"B\"]", "[\"C\"]"};
	static const struct hi_retained_limits limits = {
		.depth = 6, .tops = 10, .children = 5, .share = 0.01};
	struct object_spec specs[N];
	struct hi_root root = {
		.kind = HI_ROOT_RUNTIME, .name = "module app", .variable = UINT32_MAX};
	static struct drawing d;
	OWN(graph) *g = NULL;
	OWN(retained_tree) *t = NULL;
	struct hi_error err;
	uint32_t index;

	for (hi_node i = 0; i < N; i++)
		specs[i] = (struct object_spec){100, 1, 0};
	d = (struct drawing){.b = builder_of(specs, N, 2)};
	HI_ASSERT_OK(hi_graph_builder_root(d.b, &root, &index, &err), &err);
	root_edge(d.b, index, DICT, E);
	root_edge(d.b, add_root(d.b, HI_ROOT_GLOBAL), DICT, E);
	for (hi_node i = 1; i < N; i++)
		draw(&d, DICT, i, names[i]);
	g = sealed(d.b);
	t = tree_of(&d, g, &limits);
	HI_ASSERT_EQ(5, t->count); /* the roots hold nothing alone */
	for (hi_node i = 1; i < N; i++) {
		HI_ASSERT_EQ(i, t->nodes[1 + i].example);
		HI_ASSERT_STREQ(names[i], t->nodes[1 + i].label);
	}
}

/* Classes of ten modules, which several variables hold, and one table that has less than
 * they have together: no module holds the classes. */
HI_TEST(groups, type_scattered_over_many_roots_is_no_suspect)
{
	enum { MODULES = 10, EACH = 5, LAST = MODULES * (EACH + 1), N = LAST + 12 };
	struct object_spec specs[N];
	static struct drawing d;
	OWN(graph) *g = NULL;
	OWN(suspects) *s = NULL;

	for (hi_node i = 0; i < N; i++)
		specs[i] = (struct object_spec){i < MODULES ? 16 : 100,
						i < MODULES ? 1u
						: i < LAST  ? 2u
							    : 3u,
						0};
	d = (struct drawing){.b = builder_of(specs, N, 4)};
	for (hi_node m = 0; m < MODULES; m++) {
		root_edge(d.b, add_root(d.b, HI_ROOT_GLOBAL), m, E);
		for (hi_node i = 0; i < EACH; i++) {
			draw(&d, m, MODULES + m * EACH + i, "[\"class\"]");
			draw(&d, (m + 1) % MODULES, MODULES + m * EACH + i, "[\"c\"]");
		}
	}
	root_edge(d.b, add_root(d.b, HI_ROOT_GLOBAL), LAST, E);
	for (hi_node i = LAST + 1; i < N; i++)
		draw(&d, LAST, i, "[7]");
	g = sealed(d.b);
	s = suspects_drawn(&d, g, 0.2);
	HI_ASSERT_EQ(1, s->count);
	HI_ASSERT_EQ(LAST, s->items[0].accumulation);
}

static struct hi_graph *thread_lists(struct drawing *d, unsigned n_threads)
{
	enum { PER_THREAD = 10, MOST = 8 * PER_THREAD };
	struct object_spec specs[MOST];
	struct hi_error err;

	for (hi_node i = 0; i < MOST; i++)
		specs[i] = (struct object_spec){100, 1, 0};
	*d = (struct drawing){.b = builder_of(specs, n_threads * PER_THREAD, 2)};
	for (unsigned t = 0; t < n_threads; t++) {
		char name[40];
		struct hi_root root = {
			.kind = HI_ROOT_TLS, .name = name, .variable = UINT32_MAX};
		uint32_t index;

		snprintf(name, sizeof(name), "thread %u scratch", 100 + t);
		HI_ASSERT_OK(hi_graph_builder_root(d->b, &root, &index, &err), &err);
		root_edge(d->b, index, t * PER_THREAD, E);
		for (hi_node i = 0; i + 1 < PER_THREAD; i++)
			draw(d, t * PER_THREAD + i, t * PER_THREAD + i + 1, "->next");
	}
	return sealed(d->b);
}

HI_TEST(groups, a_variable_of_all_threads_is_one_suspect)
{
	static struct drawing d;
	OWN(graph) *g = thread_lists(&d, 8);
	OWN(suspects) *s = suspects_drawn(&d, g, 0.2);

	HI_ASSERT_EQ(1, s->count);
	HI_ASSERT_EQ(8, s->items[0].threads);
	HI_ASSERT_EQ(80, s->items[0].children);
	HI_ASSERT_EQ(8000, s->items[0].children_bytes);
	HI_ASSERT(s->items[0].is_list);
	HI_ASSERT(!s->is_below);
	HI_ASSERT_STREQ("scratch", hi_grouping_thread_variable(g, s->items[0].top));
	HI_ASSERT(!hi_grouping_thread_variable(g, 0));
}

HI_TEST(groups, largest_is_named_where_none_reaches_the_share)
{
	enum { N = 30 };
	struct object_spec specs[N];
	static struct drawing d;
	OWN(graph) *g = NULL;
	OWN(suspects) *s = NULL;

	for (hi_node i = 0; i < N; i++)
		specs[i] = (struct object_spec){i == 7 ? 150 : 100, 1 + i, 0};
	d = (struct drawing){.b = builder_of(specs, N, N + 1)};
	for (hi_node i = 0; i < N; i++)
		root_edge(d.b, add_root(d.b, HI_ROOT_GLOBAL), i, E);
	g = sealed(d.b);
	s = suspects_drawn(&d, g, 0.2);
	HI_ASSERT_EQ(1, s->count);
	HI_ASSERT(s->is_below);
	HI_ASSERT_EQ(g->first_root + 7, s->items[0].top);
	HI_ASSERT_EQ(0, s->n_lesser);
}

/* Of 1,000 bytes: 600 below one variable, of which one member holds 100 in a list of ten
 * and another 70; 150 of a second variable; 40 of a third one, a twenty-fifth.
 *
 *	store -> [0] ->big (430), ->list -> 10 x 10, ->other (70)
 *	second -> 150, third -> 40, fourth -> 210
 */
HI_TEST(groups, holders_of_a_quarter_of_the_share_are_lesser_suspects)
{
	enum { BIG = 1, OTHER, SECOND, THIRD, FOURTH, FIRST_OF_LIST, N = 16 };
	struct object_spec specs[N] = {{0, 1, 0},   {430, 2, 0}, {70, 3, 0},
				       {150, 4, 0}, {40, 5, 0},	 {210, 6, 0}};
	static struct drawing d;
	OWN(graph) *g = NULL;
	OWN(suspects) *s = NULL;

	for (hi_node i = FIRST_OF_LIST; i < N; i++)
		specs[i] = (struct object_spec){10, 7, 0};
	d = (struct drawing){.b = builder_of(specs, N, 8)};
	root_edge(d.b, add_root(d.b, HI_ROOT_GLOBAL), 0, E);
	for (hi_node i = SECOND; i <= FOURTH; i++)
		root_edge(d.b, add_root(d.b, HI_ROOT_GLOBAL), i, E);
	draw(&d, 0, BIG, "->big");
	draw(&d, 0, OTHER, "->other");
	for (hi_node i = FIRST_OF_LIST; i < N; i++)
		draw(&d, 0, i, "->list[]");
	g = sealed(d.b);
	s = suspects_drawn(&d, g, 0.2);
	HI_ASSERT_EQ(2, s->count);
	HI_ASSERT_EQ(3, s->n_lesser);
	HI_ASSERT_EQ(g->first_root, s->lesser[0].top);
	HI_ASSERT_EQ(10, s->lesser[0].children);
	HI_ASSERT_EQ(100, s->lesser[0].children_bytes);
	HI_ASSERT_EQ(g->first_root + 1, s->lesser[1].top);
	HI_ASSERT_EQ(150, s->lesser[1].accumulation_retained);
	HI_ASSERT_EQ(OTHER, s->lesser[2].accumulation);
	HI_ASSERT_EQ(70, s->lesser[2].accumulation_retained);
}

/* Objects below a limit are the rest of their parent, and nothing is lost. */
HI_TEST(groups, the_rest_is_one_node)
{
	static struct drawing d;
	static const struct hi_retained_limits limits = {
		.depth = 4, .tops = 10, .children = 1, .share = 0.5};
	struct object_spec specs[4] = {{10, 1, 0}, {500, 2, 0}, {60, 3, 0}, {70, 4, 0}};
	OWN(graph) *g = NULL;
	OWN(retained_tree) *t = NULL;

	d = (struct drawing){.b = builder_of(specs, 4, 5)};
	root_edge(d.b, add_root(d.b, HI_ROOT_GLOBAL), 0, E);
	draw(&d, 0, 1, "->big");
	draw(&d, 0, 2, "->a");
	draw(&d, 0, 3, "->b");
	g = sealed(d.b);
	t = tree_of(&d, g, &limits);
	check_sums(t, 4);
	HI_ASSERT_EQ(5, t->count);
	HI_ASSERT_EQ(1, t->nodes[3].example);
	HI_ASSERT_EQ(HI_RETAINED_REST, t->nodes[4].sort);
	HI_ASSERT_EQ(2, t->nodes[4].groups);
	HI_ASSERT_EQ(2, t->nodes[4].count);
	HI_ASSERT_EQ(130, t->nodes[4].bytes);
}

HI_TEST(groups, sums_hold_on_random_graphs)
{
	static struct naive n;
	static struct drawing d;
	struct hi_retained_limits limits;

	random_state = 4711;
	for (int i = 0; i < 400; i++) {
		OWN(graph) *g = random_graph(&n, 20);
		OWN(retained_tree) *t = NULL;
		uint64_t objects = 0;

		limits = (struct hi_retained_limits){
			.depth = 1 + random_below(&random_state, 5),
			.tops = 1 + random_below(&random_state, 5),
			.children = 1 + random_below(&random_state, 4),
			.share = random_below(&random_state, 3) * 0.1};
		d = (struct drawing){};
		for (uint32_t k = 0; k < n.n_edges; k++)
			d.edges[d.n++] = (typeof(d.edges[0])){
				n.edges[k].from, n.edges[k].to,
				(const char *[]){"->a", "->b", "[1]",
						 ""}[random_below(&random_state, 4)]};
		t = tree_of(&d, g, &limits);
		check_sums(t, limits.depth + 1);
		for (uint32_t k = 1; k < t->count; k++)
			if (t->nodes[k].sort == HI_RETAINED_OBJECTS)
				objects += t->nodes[k].count;
		HI_ASSERT(objects <= n.n_objects);
	}
}

/* A list of many: no recursion, and each node is looked at a few times only. */
HI_TEST(groups, a_long_list_is_walked_once)
{
	enum { LONG = 100000 };
	static const struct hi_retained_limits limits = {
		.depth = 6, .tops = 10, .children = 5, .share = 0.01};
	struct object_spec *specs = calloc(LONG, sizeof(*specs));
	struct hi_graph_builder *b;
	OWN(graph) *g = NULL;
	OWN(reach) *r = NULL;
	OWN(dominators) *dom = NULL;
	OWN(retained_tree) *t = NULL;
	OWN(suspects) *s = NULL;
	struct hi_error err;

	HI_ASSERT(specs);
	hi_test_defer(free, specs);
	for (hi_node i = 0; i < LONG; i++)
		specs[i] = (struct object_spec){16, 1 + i % 2, 0};
	b = builder_of(specs, LONG, 3);
	root_edge(b, add_root(b, HI_ROOT_GLOBAL), 0, E);
	for (hi_node i = 0; i + 1 < LONG; i++)
		edge(b, i, i + 1, E);
	g = sealed(b);
	r = reach_of(g);
	dom = dominators_of(g, r);
	HI_ASSERT_OK(hi_retained_tree_make(g, r, dom, NULL, &limits, &t, &err), &err);
	HI_ASSERT_EQ(8, t->count);
	HI_ASSERT_OK(hi_suspects_find(g, r, dom, 0.2, NULL, &s, &err), &err);
	HI_ASSERT_EQ(1, s->count);
}

/* ---- limits ---- */

static enum hi_status read_next(void *arg, hi_node node, const char **texts,
				struct hi_error *err)
{
	struct hi_edges edges = hi_graph_edges(arg, node);

	(void)err;
	for (uint32_t i = 0; i < edges.count; i++)
		texts[i] = "->next";
	return HI_OK;
}

HI_TEST(groups, a_list_ends_at_the_most_links_and_goes_on_as_a_child)
{
	enum { LENGTH = 20, MOST = 7 };
	struct object_spec objects[LENGTH];
	struct hi_group group = {.tops = 1, .count = 1, .held = HI_NODE_NONE};
	struct hi_group_list list = {};
	struct hi_grouping grouping;
	struct hi_field_reader fields = {.read = read_next};
	struct hi_graph_builder *b;
	struct hi_error err;

	for (hi_node i = 0; i < LENGTH; i++)
		objects[i] = (struct object_spec){.cost = 16, .type = 1};
	b = builder_of(objects, LENGTH, 2);
	root_edge(b, add_root(b, HI_ROOT_GLOBAL), 0, E);
	for (hi_node i = 1; i < LENGTH; i++)
		edge(b, i - 1, i, E);
	OWN(graph) *g = sealed(b);
	OWN(reach) *r = reach_of(g);
	OWN(dominators) *d = dominators_of(g, r);

	fields.arg = g;
	HI_ASSERT_OK(hi_grouping_init(&grouping, g, r, d, &fields, &err), &err);
	grouping.most_links = MOST;
	for (hi_node i = 0; i < d->n_order; i++)
		if (d->order[i] == 0)
			HI_ASSERT(hi_vector_push(&group.at, i));
	HI_ASSERT_OK(hi_grouping_expand(&grouping, &group, &list, &err), &err);
	HI_ASSERT_EQ(MOST, group.count);
	HI_ASSERT_EQ(1, list.count);
	HI_ASSERT_EQ((LENGTH - MOST) * 16, list.items[0].bytes);
	HI_ASSERT_STREQ("->next", hi_grouping_pattern(&grouping, list.items[0].field));
	hi_vector_free(&group.at);
	hi_group_list_free(&list);
	hi_grouping_deinit(&grouping);
}
