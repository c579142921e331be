/* SPDX-License-Identifier: BSD-2-Clause */
/* Levels of the dominator tree and their treemaps against brute force on random graphs;
 * and the report of one that is drawn by hand. */
#include "report/reports/tree/tree_report.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "report/address.h"
#include "report/render/html_page.h"
#include "report/render/text.h"
#include "tests/census/naive.h"
#include "tests/support/golden.h"

HI_DEFINE_GUARD(struct hi_tree_report *, hi_tree_report_free)

static const struct hi_report_header no_header = {
	.exe = "drawn", .script = "", .mode = "copy", .pause_ns = UINT64_MAX};

/* ---- random graphs ---- */

struct forest {
	struct naive n;
	struct hi_graph *g;
	struct hi_tree *tree;
};

static uint64_t bytes_of(const struct forest *f, hi_node node)
{
	return set_cost(&f->n, f->n.dominated[node], false);
}

static uint64_t own_bytes(const struct forest *f, hi_node node)
{
	return is_internal(&f->n, node) ? 0 : cost_of(&f->n, node);
}

/* What the argument leads to, as cli/commands/tree.c reads it; HI_NODE_NONE: nothing. */
static hi_node node_of_argument(const struct forest *f, const char *text)
{
	return strncmp(text, "0x", 2) == 0
		       ? hi_tree_node_at(f->tree, strtoull(text, NULL, 16))
		       : hi_tree_node_named(f->tree, text);
}

/* Kinds are no steps: all dominators of the node that are objects or roots. */
static void check_way_down(const struct forest *f, const struct hi_tree_report *r,
			   hi_node node)
{
	size_t n = 0;

	for (hi_node v = 0; v < f->n.n_objects + f->n.n_roots; v++)
		n += HAS(f->n.dominated[v], node);
	HI_ASSERT_EQ(n, r->n_path + r->n_above);
	HI_ASSERT_EQ(node, r->path[r->n_path - 1]);
	for (size_t i = 0; i < r->n_path; i++) {
		HI_ASSERT(HAS(f->n.dominated[r->path[i]], node));
		HI_ASSERT(!i || HAS(f->n.dominated[r->path[i - 1]], r->path[i]));
	}
}

static const struct hi_page_picture *picture_of(const struct hi_page *page)
{
	for (size_t i = 0; i < page->items.count; i++)
		if (page->items.items[i].kind == HI_ITEM_PICTURE)
			return page->items.items[i].picture;
	return NULL;
}

/* A box that leads to a node has its bytes; what is in one is no more than that, and with
 * the node's own bytes exactly that. */
static size_t check_boxes(const struct forest *f, const struct hi_page_picture *p)
{
	struct hi_arena arena = {};
	size_t checked = 0;

	for (size_t i = 0; i < p->n_boxes; i++) {
		struct hi_address address = {};
		struct hi_error err;
		uint64_t inside = 0;
		bool has_inside = false;
		hi_node node;

		for (size_t k = i + 1; k < p->n_boxes; k++)
			if (p->boxes[k].parent == (int32_t)i) {
				inside += p->boxes[k].bytes;
				has_inside = true;
			}
		HI_ASSERT(inside <= p->boxes[i].bytes);
		if (!*p->boxes[i].link)
			continue;
		HI_ASSERT_OK(hi_address_parse(p->boxes[i].link, &arena, &address, &err),
			     &err);
		if (address.n_options || !address.argument)
			continue;
		node = node_of_argument(f, address.argument);
		HI_ASSERT(node != HI_NODE_NONE);
		HI_ASSERT_EQ(bytes_of(f, node), p->boxes[i].bytes);
		if (has_inside && p->boxes[i].parent > 0)
			HI_ASSERT_EQ(p->boxes[i].bytes, inside + own_bytes(f, node));
		checked++;
	}
	hi_arena_free(&arena);
	return checked;
}

static size_t check_level(const struct forest *f, hi_node node, size_t group,
			  uint64_t bytes)
{
	struct hi_tree_report r = {};
	HI_GUARD(hi_tree_report_free) struct hi_tree_report *guard = NULL;
	HI_GUARD(hi_page_destroy) struct hi_page *page = hi_page_create();
	struct hi_error err;
	uint64_t sum = 0;
	size_t checked = 1;

	HI_ASSERT_OK(
		hi_tree_report_make(f->tree, &no_header, node, group, 1000, &r, &err),
		&err);
	guard = &r;
	HI_ASSERT_EQ(bytes, r.level.list->bytes);
	for (size_t i = 0; i < r.level.list->rows.count; i++) {
		const struct hi_browse_row *row = &r.level.list->rows.items[i];

		sum += row->bytes;
		if (row->kind == HI_BROWSE_NODE && !r.level.list->is_chain)
			HI_ASSERT_EQ(bytes_of(f, row->node), row->bytes);
		if (!group && row->kind == HI_BROWSE_GROUP)
			checked += check_level(f, node, i + 1, row->bytes);
	}
	HI_ASSERT_EQ(bytes, sum);
	if (node != HI_NODE_NONE)
		check_way_down(f, &r, node);
	hi_tree_picture(&r, page);
	if (picture_of(page)) {
		HI_ASSERT_EQ(bytes, picture_of(page)->boxes[0].bytes);
		checked += check_boxes(f, picture_of(page));
	}
	return checked;
}

static size_t check_forest(uint64_t seed)
{
	struct forest f = {};
	struct hi_browse_heap heap = {};
	HI_GUARD(hi_page_destroy) struct hi_page *page = hi_page_create();
	HI_GUARD(hi_tree_destroy) struct hi_tree *tree = NULL;
	struct hi_error err;
	size_t checked = 0;

	random_state = seed * 0x9e3779b97f4a7c15 + 5;
	f.g = random_graph(&f.n, MAX_OBJECTS);
	OWN(graph) *g = f.g;
	OWN(reach) *reach = reach_of(g);
	OWN(dominators) *d = dominators_of(g, reach);
	heap = (struct hi_browse_heap){.graph = g, .reach = reach, .dominators = d};
	naive_reach(&f.n);
	naive_dominators(&f.n);
	HI_ASSERT_OK(hi_tree_create(&heap, &tree, &err), &err);
	f.tree = tree;
	checked += check_level(&f, HI_NODE_NONE, 0, set_cost(&f.n, f.n.any, false));
	for (hi_node i = 0; i < f.n.n_objects + f.n.n_roots; i++) {
		const char *argument = hi_tree_argument(tree, i, page);
		struct hi_tree_report r;

		if (*argument)
			HI_ASSERT_EQ(i, node_of_argument(&f, argument));
		if (HAS(f.n.any, i))
			checked += check_level(&f, i, 0, bytes_of(&f, i));
		else
			HI_ASSERT_EQ(HI_NOT_FOUND,
				     hi_tree_report_make(tree, &no_header, i, 0, 10, &r,
							 &err));
	}
	return checked;
}

HI_TEST(tree, levels_add_up_and_equal_brute_force)
{
	size_t checked = 0;

	for (uint64_t seed = 1; seed <= 600; seed++)
		checked += check_forest(seed);
	HI_ASSERT_MSG(checked > 10000, "%zu", checked);
}

/* ---- a heap that is drawn ---- */

/* Two variables "cache", one of them hostile by its name; a chain below the first one. */
enum { CHAIN = 20, NAMED = CHAIN, LEAF, LEAKED, OBJECTS };
#define EVIL "</svg><script>x\"' \xe2\x80\xae\x1b[2J"

struct drawn {
	struct hi_graph *graph;
	struct hi_reach *reach;
	struct hi_dominators *dominators;
	struct hi_tree *tree;
};

static void free_drawn(struct drawn *w)
{
	hi_tree_destroy(w->tree);
	hi_dominators_destroy(w->dominators);
	hi_reach_destroy(w->reach);
	hi_graph_destroy(w->graph);
	free(w);
}

static const char *drawn_edge_text(void *arg, hi_node from, hi_node to)
{
	(void)arg;
	(void)from;
	(void)to;
	return "->" EVIL;
}

static struct drawn *draw_heap(void)
{
	static const struct hi_root roots[] = {
		{.name = "cache",
		 .type = "int *",
		 .address = 0x2000,
		 .variable = UINT32_MAX},
		{.name = "cache",
		 .type = EVIL,
		 .address = 0x1000,
		 .variable = UINT32_MAX},
		{.name = EVIL, .type = "", .variable = UINT32_MAX},
		{.name = "cache", .variable = UINT32_MAX},
		{.name = "whole", .address = 0x3000, .variable = UINT32_MAX},
		{.name = "part", .address = 0x3000, .variable = UINT32_MAX}};
	struct object_spec objects[OBJECTS] = {};
	struct drawn *w = hi_calloc(1, sizeof(*w));
	struct hi_browse_heap heap = {.edge_text = drawn_edge_text};
	struct hi_graph_builder *b;
	struct hi_error err;
	uint32_t id;

	hi_test_defer(free_drawn, w);
	for (size_t i = 0; i < OBJECTS; i++)
		objects[i].cost = 16;
	b = builder_of(objects, OBJECTS, 1);
	for (size_t i = 0; i < sizeof(roots) / sizeof(*roots); i++)
		HI_ASSERT_OK(hi_graph_builder_root(b, &roots[i], &id, &err), &err);
	root_edge(b, 0, NAMED, HI_GRADE_EXACT);
	root_edge(b, 1, 0, HI_GRADE_EXACT);
	root_edge(b, 2, LEAF, HI_GRADE_EXACT);
	for (hi_node i = 0; i + 1 < CHAIN; i++)
		edge(b, i, i + 1, HI_GRADE_EXACT);
	w->graph = sealed(b);
	w->reach = reach_of(w->graph);
	w->dominators = dominators_of(w->graph, w->reach);
	heap.graph = w->graph;
	heap.reach = w->reach;
	heap.dominators = w->dominators;
	HI_ASSERT_OK(hi_tree_create(&heap, &w->tree, &err), &err);
	return w;
}

HI_TEST(tree, variables_with_one_name_are_told_apart_by_address)
{
	struct drawn *w = draw_heap();
	HI_GUARD(hi_page_destroy) struct hi_page *page = hi_page_create();
	hi_node first = w->graph->first_root;

	/* The one that retains most has the name. */
	HI_ASSERT_EQ(first + 1, hi_tree_node_named(w->tree, "cache"));
	HI_ASSERT_STREQ("cache", hi_tree_argument(w->tree, first + 1, page));
	HI_ASSERT_STREQ("0x2000", hi_tree_argument(w->tree, first, page));
	HI_ASSERT_EQ(first, hi_tree_node_at(w->tree, 0x2000));
	/* Two at one address. */
	HI_ASSERT_EQ(HI_NODE_NONE, hi_tree_node_at(w->tree, 0x3000));
	HI_ASSERT_STREQ(EVIL, hi_tree_argument(w->tree, first + 2, page));
	HI_ASSERT_EQ(first + 2, hi_tree_node_named(w->tree, EVIL));
	/* In no memory: nothing leads there. */
	HI_ASSERT_STREQ("", hi_tree_argument(w->tree, first + 3, page));
	HI_ASSERT_STREQ("", hi_tree_address(w->tree, first + 3, 0, page));
	HI_ASSERT_STREQ("tree/cache?group=3",
			hi_tree_address(w->tree, first + 1, 3, page));
	HI_ASSERT_STREQ("tree", hi_tree_address(w->tree, HI_NODE_NONE, 0, page));
	HI_ASSERT_EQ(HI_NODE_NONE, hi_tree_node_named(w->tree, "cach"));
	HI_ASSERT_EQ(HI_NODE_NONE, hi_tree_node_at(w->tree, 0x1001));
}

HI_TEST(tree, a_long_way_down_shows_the_nearest_steps)
{
	struct drawn *w = draw_heap();
	struct hi_tree_report r;
	struct hi_error err;

	HI_ASSERT_OK(hi_tree_report_make(w->tree, &no_header, CHAIN - 1, 0, 10, &r, &err),
		     &err);
	HI_ASSERT_EQ(HI_TREE_STEPS, r.n_path);
	HI_ASSERT_EQ(CHAIN + 1 - HI_TREE_STEPS, r.n_above);
	HI_ASSERT_EQ(CHAIN - HI_TREE_STEPS, r.path[0]);
	HI_ASSERT_EQ(CHAIN - 1, r.path[HI_TREE_STEPS - 1]);
	hi_tree_report_free(&r);
}

HI_TEST(tree, a_group_that_is_none_and_what_no_root_leads_to_are_errors)
{
	struct drawn *w = draw_heap();
	struct hi_tree_report r;
	struct hi_error err;

	HI_ASSERT_EQ(HI_USAGE, hi_tree_report_make(w->tree, &no_header, HI_NODE_NONE, 1,
						   10, &r, &err));
	HI_ASSERT_EQ(HI_USAGE, hi_tree_report_make(w->tree, &no_header, HI_NODE_NONE,
						   UINT32_MAX, 10, &r, &err));
	HI_ASSERT_EQ(HI_NOT_FOUND,
		     hi_tree_report_make(w->tree, &no_header, LEAKED, 0, 10, &r, &err));
}

static char *write_drawn(struct drawn *w, hi_node node, bool html)
{
	HI_GUARD(hi_page_destroy) struct hi_page *page = hi_page_create();
	struct hi_text_options looks = {.width = 100, .utf8 = true};
	struct hi_tree_report r;
	struct hi_error err;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	HI_ASSERT_OK(hi_tree_report_make(w->tree, &no_header, node, 0, 10, &r, &err),
		     &err);
	hi_tree_display(&r, page);
	if (html)
		HI_ASSERT_OK(hi_html_page(page, out, &err), &err);
	else
		HI_ASSERT_OK(hi_text_render(page, &looks, out, &err), &err);
	hi_tree_report_free(&r);
	fclose(out);
	return text;
}

/* Objects have 16 B. One variable "cache" keeps a chain of 20, 320 B; the other two keep
 * one each; the last object is leaked. */
HI_TEST(tree, each_level_is_a_page)
{
	struct drawn *w = draw_heap();
	struct hi_golden_pages *pages = hi_golden_pages();
	static const char *const captions[] = {"the top", "the variable of the chain",
					       "in the middle of the chain",
					       "a single object"};
	hi_node nodes[] = {HI_NODE_NONE, w->graph->first_root + 1, 5, LEAF};

	for (size_t i = 0; i < 4; i++) {
		char *text = write_drawn(w, nodes[i], false);

		hi_golden_add(pages, captions[i], text);
		free(text);
	}
	HI_EXPECT_GOLDEN_PAGES("tree-100", pages);
}

HI_TEST(tree, hostile_names_are_inert)
{
	struct drawn *w = draw_heap();
	hi_node nodes[] = {HI_NODE_NONE,
			   0,
			   5,
			   LEAF,
			   w->graph->first_root,
			   w->graph->first_root + 1,
			   w->graph->first_root + 2};

	for (size_t i = 0; i < sizeof(nodes) / sizeof(*nodes); i++) {
		char *html = write_drawn(w, nodes[i], true);
		char *text = write_drawn(w, nodes[i], false);

		HI_ASSERT(!strstr(html, "<script") && !strchr(html, '\x1b') &&
			  !strstr(html, "\xe2\x80\xae"));
		HI_ASSERT(!strchr(text, '\x1b') && !strstr(text, "\xe2\x80\xae"));
		free(html);
		free(text);
	}
}

/* ---- a node with many children ---- */

enum { STARS = 200 };

/* Of the largest children each has a box, the others together one. */
HI_TEST(tree, boxes_of_many_children_add_up)
{
	static struct object_spec objects[STARS + 1];
	static const struct hi_root root = {.name = "hub", .variable = UINT32_MAX};
	HI_GUARD(hi_page_destroy) struct hi_page *page = hi_page_create();
	HI_GUARD(hi_tree_destroy) struct hi_tree *tree = NULL;
	struct hi_browse_heap heap = {};
	const struct hi_page_picture *p;
	struct hi_tree_report r;
	struct hi_graph_builder *b;
	struct hi_error err;
	uint64_t inside = 0;
	size_t n = 0;
	uint32_t id;

	objects[0].cost = 64;
	for (hi_node i = 1; i <= STARS; i++)
		objects[i].cost = i;
	b = builder_of(objects, STARS + 1, 1);
	HI_ASSERT_OK(hi_graph_builder_root(b, &root, &id, &err), &err);
	root_edge(b, 0, 0, HI_GRADE_EXACT);
	for (hi_node i = 1; i <= STARS; i++)
		edge(b, 0, i, HI_GRADE_EXACT);
	OWN(graph) *g = sealed(b);
	OWN(reach) *reach = reach_of(g);
	OWN(dominators) *d = dominators_of(g, reach);
	heap = (struct hi_browse_heap){.graph = g, .reach = reach, .dominators = d};
	HI_ASSERT_OK(hi_tree_create(&heap, &tree, &err), &err);
	HI_ASSERT_OK(hi_tree_report_make(tree, &no_header, HI_NODE_NONE, 0, 10, &r, &err),
		     &err);
	hi_tree_picture(&r, page);
	p = picture_of(page);
	/* The heap, the variable, the hub. */
	HI_ASSERT_EQ(64 + STARS * (STARS + 1) / 2, p->boxes[2].bytes);
	for (size_t i = 3; i < p->n_boxes; i++) {
		HI_ASSERT_EQ(2, p->boxes[i].parent);
		inside += p->boxes[i].bytes;
		n++;
	}
	HI_ASSERT_EQ(STARS * (STARS + 1) / 2, inside);
	HI_ASSERT(n > 20 && n < STARS);
	HI_ASSERT_EQ(STARS, p->boxes[3].bytes);
	HI_ASSERT_STREQ("152 smaller", p->boxes[p->n_boxes - 1].label);
	hi_tree_report_free(&r);
}
