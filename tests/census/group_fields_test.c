/* SPDX-License-Identifier: BSD-2-Clause */
/* Fields of children by the keys of names, on several threads, against the same names as
 * texts on one. */
#include <inttypes.h>
#include <stdio.h>

#include "census/analysis/field_pattern.h"
#include "census/analysis/groups.h"
#include "census/analysis/retained_tree.h"
#include "tests/census/graphs.h"
#include "tests/support/random.h"

enum { TAILS = 3000, TAIL = 500, WORKERS = 8, KINDS = 5 };

/* A heap of a table, its members and what hangs on each of them. The name of an edge is
 * drawn from the two nodes. */
struct wide_heap {
	const struct hi_graph *graph;
	uint64_t seed;
	uint32_t n_tails;
	char (*tails)[TAIL];
	char (*texts)[HI_EDGE_TEXT + TAIL]; /* of the text reader's last node */
	size_t n_texts;
	bool with_keys;
};

static void write_tail(char tail[TAIL], uint32_t i, uint64_t *random)
{
	static const char *const before[] = {"->m",   ".a",   "[7].m", "->_M_x.b",
					     "[\"k]", " +0x", "<k",    "->m"};
	static const char *const after[] = {"",	   "._M_impl", "",  "",
					    "\"]", "\x01",     ">", "\x01"};
	uint32_t form = random_below(random, 8u);
	size_t n;

	if (i == 0)
		return;
	snprintf(tail, TAIL, "%s%u%s", before[form], i % 40,
		 random_below(random, 4u) ? after[form] : "");
	n = strlen(tail);
	/* Its end depends on the number before it. */
	if (random_below(random, 50u) == 0)
		memset(tail + n, 'x', TAIL - 1 - n);
}

static struct hi_edge_name drawn_name(const struct wide_heap *h, hi_node from, hi_node to)
{
	uint64_t random = h->seed ^ (uint64_t)from << 32 ^ to;
	uint32_t i = random_below(&random, h->n_tails);
	struct hi_edge_name name = {.kind = random_below(&random, 3u)};

	name.number = name.kind == HI_NAME_TEXT	  ? 0
		      : random_below(&random, 2u) ? 8 * random_below(&random, 30u)
						  : next_random(&random);
	if (name.kind == HI_NAME_OFFSET)
		return name;
	name.text = h->tails[i];
	/* Roots have no keys; some other names have none, either. */
	if (h->with_keys && hi_graph_is_object(h->graph, from) && i % 7)
		name.key = i;
	return name;
}

static enum hi_status read_drawn_names(void *arg, unsigned worker, hi_node node,
				       struct hi_edge_name *names, struct hi_error *err)
{
	const struct wide_heap *h = arg;
	struct hi_edges edges = hi_graph_edges(h->graph, node);

	(void)worker, (void)err;
	for (uint32_t i = 0; i < edges.count; i++)
		names[i] = drawn_name(h, node, edges.to[i]);
	return HI_OK;
}

/* As census/graph/edge_name.h describes names; without the mark of a link. */
static void write_drawn_text(const struct hi_edge_name *name, char *out, size_t size)
{
	const char *tail = name->text ? name->text : "";
	size_t n;

	if (name->kind == HI_NAME_INDEX)
		snprintf(out, HI_EDGE_TEXT, "[%" PRIu64 "]%s", name->number, tail);
	else if (name->kind == HI_NAME_OFFSET)
		snprintf(out, HI_EDGE_TEXT, " +0x%" PRIx64, name->number);
	else
		snprintf(out, size, "%s", tail);
	n = strlen(out);
	if (n && out[n - 1] == HI_EDGE_LINK)
		out[n - 1] = 0;
}

static enum hi_status read_drawn_texts(void *arg, hi_node node, const char **texts,
				       struct hi_error *err)
{
	struct wide_heap *h = arg;
	struct hi_edges edges = hi_graph_edges(h->graph, node);

	(void)err;
	if (edges.count > h->n_texts) {
		free(h->texts);
		h->n_texts = edges.count;
		h->texts = calloc(h->n_texts, sizeof(*h->texts));
		HI_ASSERT(h->texts);
	}
	for (uint32_t i = 0; i < edges.count; i++) {
		struct hi_edge_name name = drawn_name(h, node, edges.to[i]);

		write_drawn_text(&name, h->texts[i], sizeof(h->texts[i]));
		texts[i] = h->texts[i];
	}
	return HI_OK;
}

static void begin_heap(struct wide_heap *h, uint64_t seed, uint32_t n_tails)
{
	uint64_t random = seed;

	*h = (struct wide_heap){.seed = seed, .n_tails = n_tails, .with_keys = true};
	h->tails = calloc(n_tails, sizeof(*h->tails));
	HI_ASSERT(h->tails);
	for (uint32_t i = 0; i < n_tails; i++)
		write_tail(h->tails[i], i, &random);
}

static void end_heap(struct wide_heap *h)
{
	free(h->tails);
	free(h->texts);
}

/* Object 0 refers to members 1…n; each has up to three objects below it, which may be of
 * its own type and have one more, or none. Some are held by no edge of their parent. */
static struct hi_graph *wide_graph(uint64_t seed, uint32_t members)
{
	uint32_t n = 1 + 4 * members;
	struct object_spec *specs = calloc(n, sizeof(*specs));
	struct hi_graph_builder *b;
	uint64_t random = seed;
	uint32_t root;

	HI_ASSERT(specs);
	for (uint32_t i = 0; i < n; i++)
		specs[i] = (struct object_spec){
			.cost = 8 + 8 * random_below(&random, 3u),
			.type = i && i <= members ? 1
						  : random_below(&random, KINDS + 0u)};
	b = builder_of(specs, n, KINDS);
	free(specs);
	root = add_root(b, HI_ROOT_GLOBAL);
	root_edge(b, root, 0, HI_GRADE_EXACT);
	for (uint32_t i = 1; i <= members; i++) {
		uint32_t below = random_below(&random, 4u), first = members + 3 * i - 2;

		edge(b, 0, i, HI_GRADE_EXACT);
		for (uint32_t k = 0; k < below; k++)
			edge(b, k && random_below(&random, 4u) == 0 ? first : i,
			     first + k,
			     random_below(&random, 8u) ? HI_GRADE_EXACT : HI_GRADE_WEAK);
		if (random_below(&random, 5u) == 0 && below == 3) {
			edge(b, first, first + 2, HI_GRADE_EXACT);
			edge(b, first + 2, first + 1, HI_GRADE_EXACT);
		}
	}
	return sealed(b);
}

/* ---- trees ---- */

static const struct hi_retained_limits all_of_it = {
	.depth = 6, .tops = 100, .children = 50, .nodes = 3000};

static struct hi_retained_tree *make_wide_tree(const struct hi_graph *g,
					       const struct hi_field_reader *fields)
{
	OWN(reach) *r = reach_of(g);
	OWN(dominators) *d = dominators_of(g, r);
	struct hi_retained_tree *tree = NULL;
	struct hi_error err;

	HI_ASSERT_OK(hi_retained_tree_make(g, r, d, fields, &all_of_it, &tree, &err),
		     &err);
	return tree;
}

static void check_same_trees(const struct hi_retained_tree *a,
			     const struct hi_retained_tree *b)
{
	HI_ASSERT_EQ(a->count, b->count);
	for (uint32_t i = 0; i < a->count; i++) {
		const struct hi_retained_node *x = &a->nodes[i], *y = &b->nodes[i];

		HI_ASSERT_STREQ(x->label, y->label);
		HI_ASSERT_EQ(x->sort, y->sort);
		HI_ASSERT_EQ(x->parent, y->parent);
		HI_ASSERT_EQ(x->n_children, y->n_children);
		HI_ASSERT_EQ(x->type, y->type);
		HI_ASSERT_EQ(x->example, y->example);
		HI_ASSERT_EQ(x->held, y->held);
		HI_ASSERT_EQ(x->holder, y->holder);
		HI_ASSERT_EQ(x->groups, y->groups);
		HI_ASSERT_EQ(x->count, y->count);
		HI_ASSERT_EQ(x->bytes, y->bytes);
		HI_ASSERT_EQ(x->own, y->own);
		HI_ASSERT_EQ(x->is_list, y->is_list);
	}
}

static void check_wide_heap(uint64_t seed, uint32_t members, uint32_t n_tails)
{
	OWN(graph) *g = wide_graph(seed, members);
	struct hi_field_reader texts = {.read = read_drawn_texts};
	struct wide_heap h;
	static const unsigned workers[] = {0, 1, 2, WORKERS};

	begin_heap(&h, seed, n_tails);
	h.graph = g;
	texts.arg = &h;
	OWN(retained_tree) *expected = make_wide_tree(g, &texts);
	HI_ASSERT(expected->count > 3);
	for (size_t i = 0; i < sizeof(workers) / sizeof(*workers); i++) {
		struct hi_field_reader names = texts;

		names.names = read_drawn_names;
		names.workers = workers[i];
		OWN(retained_tree) *tree = make_wide_tree(g, &names);
		check_same_trees(expected, tree);
	}
	end_heap(&h);
}

HI_TEST(group_fields, small_heaps_are_as_by_the_texts_of_names)
{
	for (uint64_t seed = 1; seed <= 60; seed++)
		check_wide_heap(seed, 1 + (uint32_t)seed * 3, 1 + (uint32_t)seed);
}

HI_TEST(group_fields, members_that_threads_share_are_as_by_one_with_texts)
{
	check_wide_heap(101, 5000, 4);
	check_wide_heap(102, 9000, 40);
	check_wide_heap(103, 20000, TAILS);
}

/* ---- one node ---- */

/* Which number the test gives to the pattern of a text; the array of patterns grows. */
static uint32_t number_pattern(char (*patterns)[600], uint32_t *n, const char *text)
{
	char pattern[512];

	hi_field_pattern(text, pattern, sizeof(pattern));
	for (uint32_t i = 0; i < *n; i++)
		if (strcmp(patterns[i], pattern) == 0)
			return i;
	strcpy(patterns[*n], pattern);
	return (*n)++;
}

struct by_pattern {
	char patterns[4 * TAILS][600];
	uint64_t bytes[4 * TAILS];
	uint32_t n;
};

/* Adds the children of node 0 by the texts of their names. */
static void add_children_by_text(struct by_pattern *sums, const struct wide_heap *h,
				 hi_node children)
{
	for (hi_node i = 1; i <= children; i++) {
		struct hi_edge_name name = drawn_name(h, 0, i);
		char text[HI_EDGE_TEXT + TAIL];
		uint32_t k;

		/* Offsets that lead to many of one kind are a table's: "[]". */
		write_drawn_text(&name, text, sizeof(text));
		k = number_pattern(sums->patterns, &sums->n,
				   hi_field_is_offset(text) ? "[]" : text);
		sums->bytes[k] += hi_graph_cost(h->graph, i);
	}
}

/* Takes the groups off the sums. A member that is most of its pattern is a group of its
 * own. Returns the number of members. */
static uint64_t take_off_groups(struct by_pattern *sums, const struct hi_grouping *gr,
				const struct hi_group_list *list)
{
	uint64_t found = 0;

	for (size_t i = 0; i < list->count; i++) {
		const char *pattern = hi_grouping_pattern(gr, list->items[i].field);
		uint32_t k = 0;

		while (k < sums->n && strcmp(sums->patterns[k], pattern) != 0)
			k++;
		HI_ASSERT(k < sums->n);
		HI_ASSERT(sums->bytes[k] >= list->items[i].bytes);
		sums->bytes[k] -= list->items[i].bytes;
		found += list->items[i].tops;
	}
	return found;
}

static struct hi_graph *star_of(hi_node children)
{
	struct object_spec *specs = calloc(children + 1u, sizeof(*specs));
	struct hi_graph_builder *b;

	HI_ASSERT(specs);
	for (hi_node i = 0; i <= children; i++)
		specs[i] = (struct object_spec){.cost = 16 + i % 3 * 16, .type = i != 0};
	b = builder_of(specs, 1 + children, 2);
	free(specs);
	root_edge(b, add_root(b, HI_ROOT_GLOBAL), 0, HI_GRADE_EXACT);
	for (hi_node i = 1; i <= children; i++)
		edge(b, 0, i, HI_GRADE_EXACT);
	return sealed(b);
}

/* More keys than are remembered at once, and each of them in two kinds. */
HI_TEST(group_fields, names_of_many_keys_and_kinds_are_in_the_group_of_their_pattern)
{
	enum { CHILDREN = 12000 };
	static struct by_pattern sums;
	struct hi_group group = {.tops = 1, .count = 1, .held = HI_NODE_NONE};
	struct hi_group_list list = {};
	struct hi_grouping grouping;
	struct hi_field_reader fields = {.read = read_drawn_texts,
					 .names = read_drawn_names};
	struct wide_heap h;
	struct hi_error err;
	OWN(graph) *g = star_of(CHILDREN);
	OWN(reach) *r = reach_of(g);
	OWN(dominators) *d = dominators_of(g, r);

	begin_heap(&h, 7, TAILS);
	h.graph = g;
	fields.arg = &h;
	memset(&sums, 0, sizeof(sums));
	add_children_by_text(&sums, &h, CHILDREN);
	HI_ASSERT(sums.n > 100);
	HI_ASSERT_OK(hi_grouping_init(&grouping, g, r, d, &fields, &err), &err);
	for (hi_node i = 0; i < d->n_order; i++)
		if (d->order[i] == 0)
			HI_ASSERT(hi_vector_push(&group.at, i));
	HI_ASSERT_OK(hi_grouping_expand(&grouping, &group, &list, &err), &err);
	HI_ASSERT_EQ(CHILDREN, take_off_groups(&sums, &grouping, &list));
	for (uint32_t k = 0; k < sums.n; k++)
		HI_ASSERT_EQ(0, sums.bytes[k]);
	hi_vector_free(&group.at);
	hi_group_list_free(&list);
	hi_grouping_deinit(&grouping);
	end_heap(&h);
}
