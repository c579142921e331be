/* SPDX-License-Identifier: BSD-2-Clause */
/* The merged tree of stacks; drawn by hand, so that every sum is known. */
#include "census/analysis/merged.h"

#include <stdlib.h>

#include "tests/census/graphs.h"

/* root -> 0 -> 1 -> … -> n-1, object i of i + 1 bytes and of type 1 + i % types. */
static struct hi_graph *chain(uint32_t n, uint32_t types)
{
	struct object_spec specs[300] = {};
	struct hi_graph_builder *b;

	for (uint32_t i = 0; i < n; i++)
		specs[i] = (struct object_spec){.cost = i + 1, .type = 1 + i % types};
	b = builder_of(specs, n, types + 1);
	root_edge(b, add_root(b, HI_ROOT_GLOBAL), 0, HI_GRADE_EXACT);
	for (uint32_t i = 0; i + 1 < n; i++)
		edge(b, i, i + 1, HI_GRADE_EXACT);
	return sealed(b);
}

static struct hi_merged *merged_of(const struct hi_graph *g)
{
	OWN(reach) *reach = reach_of(g);
	OWN(dominators) *dominators = dominators_of(g, reach);
	struct hi_merged *m;
	struct hi_error err;

	HI_ASSERT_OK(hi_merged_make(g, reach, dominators, NULL, &m, &err), &err);
	return m;
}

enum { OTHER_KINDS = HI_ROOT_KINDS - 1 };

/* The first node with objects; the chain follows. */
static size_t first_of(const struct hi_merged *m)
{
	size_t i = 0;

	while (i < m->count && !m->nodes[i].objects)
		i++;
	HI_ASSERT(i < m->count);
	return i;
}

HI_TEST(merged, a_run_of_one_type_is_one_node)
{
	OWN(graph) *g = chain(300, 1);
	OWN(merged) *m = merged_of(g);

	size_t run = first_of(m);

	/* All, globals, root, the run; the other kinds of roots. */
	HI_ASSERT_EQ(4 + OTHER_KINDS, m->count);
	HI_ASSERT_EQ(3, m->nodes[run].depth);
	HI_ASSERT_EQ(300, m->nodes[run].objects);
	HI_ASSERT_EQ(300 * 301 / 2, m->nodes[run].bytes);
	HI_ASSERT_EQ(0, m->cut_objects);
}

HI_TEST(merged, nodes_below_the_depth_limit_count_at_the_limit)
{
	OWN(graph) *g = chain(300, 2);
	OWN(merged) *m = merged_of(g);
	/* Two levels are globals and root; below the last one is all the rest, every
	 * second object of which has the type of that one. */
	enum { SHOWN = HI_MERGED_DEPTH - 2 };
	uint64_t cut = 0, *below = hi_merged_below(m);
	size_t first = first_of(m);

	hi_test_defer(free, below);
	for (uint32_t i = SHOWN; i < 300; i += 2)
		cut += i + 1;
	HI_ASSERT(below);
	HI_ASSERT_EQ(3 + OTHER_KINDS + SHOWN, m->count);
	HI_ASSERT_EQ((300 - SHOWN) / 2, m->cut_objects);
	HI_ASSERT_EQ(cut, m->cut_bytes);
	HI_ASSERT_EQ(300 - SHOWN + 1, m->nodes[first + SHOWN - 1].objects);
	for (uint32_t i = 0; i < SHOWN; i++)
		HI_ASSERT_EQ(300 * 301 / 2 - i * (i + 1) / 2, below[first + i]);
	HI_ASSERT_EQ(300 * 301 / 2, below[0]);
}

/* ---- labels ---- */

struct drawn_labels {
	const struct hi_graph *g;
	const char *const *by_child; /* the text of every edge to an object */
};

static enum hi_status read_drawn(void *arg, hi_node node, const char **texts,
				 struct hi_error *err)
{
	const struct drawn_labels *drawn = arg;
	struct hi_edges edges = hi_graph_edges(drawn->g, node);

	(void)err;
	for (uint32_t i = 0; i < edges.count; i++)
		texts[i] = drawn->by_child[edges.to[i]];
	return HI_OK;
}

static struct hi_merged *labelled_of(const struct hi_graph *g, const char *const *labels)
{
	OWN(reach) *reach = reach_of(g);
	OWN(dominators) *dominators = dominators_of(g, reach);
	struct drawn_labels drawn = {g, labels};
	const struct hi_merged_labels source = {read_drawn, NULL, &drawn};
	struct hi_merged *m;
	struct hi_error err;

	HI_ASSERT_OK(hi_merged_make(g, reach, dominators, &source, &m, &err), &err);
	return m;
}

/* How many merged nodes have the label, and objects in them. */
static size_t with_label(const struct hi_merged *m, const char *label, uint64_t *objects)
{
	size_t n = 0;

	*objects = 0;
	for (size_t i = 0; i < m->count; i++)
		if (m->nodes[i].objects &&
		    strcmp(m->frames[m->nodes[i].frame].label, label) == 0) {
			n++;
			*objects += m->nodes[i].objects;
		}
	return n;
}

static void expect_label(const struct hi_merged *m, const char *label, size_t nodes,
			 uint64_t objects)
{
	uint64_t found;
	size_t n = with_label(m, label, &found);

	HI_ASSERT_MSG(n == nodes && found == objects, "%s: %zu nodes, %lu objects", label,
		      n, found);
}

/* A root refers to `n` objects of one type, of 10 bytes each but for the first one. */
static struct hi_graph *fan(uint32_t n, uint64_t first)
{
	struct object_spec specs[300] = {};
	struct hi_graph_builder *b;
	uint32_t root;

	for (uint32_t i = 0; i < n; i++)
		specs[i] = (struct object_spec){.cost = i ? 10 : first, .type = 1};
	b = builder_of(specs, n, 2);
	root = add_root(b, HI_ROOT_GLOBAL);
	for (uint32_t i = 0; i < n; i++)
		root_edge(b, root, i, HI_GRADE_EXACT);
	return sealed(b);
}

HI_TEST(merged, siblings_of_one_field_are_one_node_and_of_two_are_two)
{
	static const char *const labels[] = {".a", ".b",    ".a",     ".b",
					     ".b", "[1].x", "[22].x", "[3]"};
	OWN(graph) *g = fan(8, 10);
	OWN(merged) *m = labelled_of(g, labels);

	expect_label(m, ".a", 1, 2);
	expect_label(m, ".b", 1, 3);
	expect_label(m, "[…].x", 1, 2);
	expect_label(m, "[…]", 1, 1);
}

HI_TEST(merged, a_key_stays_where_it_retains_much_or_comes_often)
{
	static char texts[300][32];
	const char *labels[300];
	OWN(graph) *g = fan(300, 1000);
	struct hi_merged *m;

	for (int i = 0; i < 300; i++) {
		snprintf(texts[i], sizeof(texts[i]), "[\"k]%d\"]",
			 i >= 200 ? 1000 + i % 50 : i);
		labels[i] = texts[i];
	}
	m = labelled_of(g, labels);
	/* The large one; of the keys that come twice the first 32; the others. */
	expect_label(m, "[\"k]0\"]", 1, 1);
	expect_label(m, "[\"k]1001\"]", 1, 2);
	expect_label(m, "[\"k]1031\"]", 1, 2);
	expect_label(m, "[\"k]1032\"]", 0, 0);
	expect_label(m, "[\"…\"]", 1, 199 + 2 * 18);
	hi_merged_destroy(m);
}

/* The keys of a map have buffers of their own, as the members of a set have. */
HI_TEST(merged, keys_themselves_are_one_node)
{
	static char texts[300][32];
	const char *labels[300];
	OWN(graph) *g = fan(300, 10);
	OWN(merged) *m = NULL;

	for (int i = 0; i < 300; i++) {
		snprintf(texts[i], sizeof(texts[i]),
			 i < 100   ? "{\"token-%d}\"}"
			 : i < 200 ? "{%d}.x"
				   : "->set{\"token-%d}\"}._M_p",
			 i);
		labels[i] = texts[i];
	}
	m = labelled_of(g, labels);
	expect_label(m, "{\"…\"}", 1, 100);
	expect_label(m, "{…}.x", 1, 100);
	expect_label(m, "->set{\"…\"}", 1, 100);
}

/* A dictionary in a dictionary is no list; a tree of two fields is a few nodes. */
HI_TEST(merged, a_run_is_of_one_field)
{
	enum { N = 255 };
	static const char *const nested[] = {"", "[\"a\"]", ".x", ".y", ".z", ".u", ".v"};
	const char *labels[N];
	struct object_spec specs[N];
	struct hi_graph_builder *b;
	struct hi_merged *m, *few;
	struct hi_graph *tree, *line = chain(7, 1);

	few = labelled_of(line, nested);
	expect_label(few, "[\"a\"]", 1, 1);
	/* The fifth of one type in a row is counted in the first. */
	expect_label(few, "", 1, 2);
	expect_label(few, ".y", 1, 1);
	expect_label(few, ".z", 0, 0);
	hi_merged_destroy(few);
	hi_graph_destroy(line);

	for (int i = 0; i < N; i++) {
		specs[i] = (struct object_spec){.cost = 8, .type = 1};
		labels[i] = i == 0 ? "" : i % 2 ? "->left" : "->right";
	}
	b = builder_of(specs, N, 2);
	root_edge(b, add_root(b, HI_ROOT_GLOBAL), 0, HI_GRADE_EXACT);
	for (uint32_t i = 0; 2 * i + 2 < N; i++) {
		edge(b, i, 2 * i + 1, HI_GRADE_EXACT);
		edge(b, i, 2 * i + 2, HI_GRADE_EXACT);
	}
	tree = sealed(b);
	m = labelled_of(tree, labels);
	/* The root of it; left, left.right, right, right.left. */
	HI_ASSERT_EQ(3 + OTHER_KINDS + 5, m->count);
	hi_merged_destroy(m);
	hi_graph_destroy(tree);
}

HI_TEST(merged, labels_that_are_odd_are_cut_or_dropped)
{
	static char endless[5000], open[400];
	const char *labels[] = {" +0x10", endless, open, "[\"a\\\"]b\"].c",
				"[",	  "",	   "[]"};
	OWN(graph) *g = fan(7, 10);
	struct hi_merged *m;
	uint64_t objects;

	memset(endless, 'x', sizeof(endless) - 1);
	memset(open, 'y', sizeof(open) - 1);
	memcpy(open, "[\"", 2);
	m = labelled_of(g, labels);
	HI_ASSERT_EQ(1, with_label(m, "", &objects));
	HI_ASSERT_EQ(2, objects);
	for (size_t i = 0; i < m->n_frames; i++)
		HI_ASSERT(strlen(m->frames[i].label) < 200);
	expect_label(m, "[\"a\\\"]b\"].c", 1, 1);
	expect_label(m, "[\"…\"]", 1, 1);
	hi_merged_destroy(m);
}

/* 0 holds a table 1 and the nodes 2 -> 3 -> 4 of it; the buckets lead to 2 and 3. */
HI_TEST(merged, nodes_of_a_table_have_the_field_of_the_table)
{
	static const char *const labels[] = {"", "->index._M_h._M_buckets", "[7]",
					     "->_M_nxt", "->_M_nxt"};
	static const struct object_spec specs[] = {{.cost = 8, .type = 1},
						   {.cost = 8, .type = 2},
						   {.cost = 8, .type = 3},
						   {.cost = 8, .type = 3},
						   {.cost = 8, .type = 3}};
	struct hi_graph_builder *b = builder_of(specs, 5, 4);
	struct hi_merged *m;
	struct hi_graph *g;

	root_edge(b, add_root(b, HI_ROOT_GLOBAL), 0, HI_GRADE_EXACT);
	edge(b, 0, 1, HI_GRADE_EXACT);
	edge(b, 0, 2, HI_GRADE_EXACT);
	edge(b, 1, 2, HI_GRADE_EXACT);
	edge(b, 1, 3, HI_GRADE_EXACT);
	edge(b, 2, 3, HI_GRADE_EXACT);
	edge(b, 3, 4, HI_GRADE_EXACT);
	g = sealed(b);
	m = labelled_of(g, labels);
	/* The table; and 3, which has its field. 4 is the next node of 3. */
	expect_label(m, "->index", 2, 3);
	expect_label(m, "[…]", 1, 1);
	expect_label(m, "->_M_nxt", 0, 0);
	hi_merged_destroy(m);
	hi_graph_destroy(g);
}

HI_TEST(merged, fields_of_libraries_are_told_from_the_program_s)
{
	HI_ASSERT(hi_merged_is_library_field("->_M_nxt"));
	HI_ASSERT(hi_merged_is_library_field("._M_h._M_buckets"));
	HI_ASSERT(hi_merged_is_library_field("->__left_"));
	HI_ASSERT(!hi_merged_is_library_field(".__dict__"));
	HI_ASSERT(!hi_merged_is_library_field("->next"));
	HI_ASSERT(!hi_merged_is_library_field("->_private"));
	HI_ASSERT(!hi_merged_is_library_field("[3]._M_p"));
	HI_ASSERT(!hi_merged_is_library_field("_M_nxt"));
	HI_ASSERT(!hi_merged_is_library_field(""));
}
