/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/reports/tree/tree_levels.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/search.h"
#include "report/address.h"

HI_DEFINE_GUARD(struct hi_tree_level *, hi_tree_level_close)

/* ---- names of nodes ---- */

static const char *name_of_root(const struct hi_graph *g, hi_node node)
{
	const char *name = g->roots[node - g->first_root].name;

	return name ? name : "";
}

static int by_root_name(const void *a, const void *b, void *arg)
{
	hi_node x = *(const hi_node *)a, y = *(const hi_node *)b;
	int order = strcmp(name_of_root(arg, x), name_of_root(arg, y));

	return order ? order : (x > y) - (x < y);
}

static bool index_roots(struct hi_tree *tree)
{
	const struct hi_graph *g = tree->heap.graph;
	bool ok = true;

	tree->by_name = hi_calloc((size_t)g->n_roots + 1, sizeof(*tree->by_name));
	if (!tree->by_name)
		return false;
	for (hi_node i = 0; ok && i < g->n_roots; i++) {
		uint64_t address = g->roots[i].address, before;
		hi_node node = g->first_root + i;

		tree->by_name[i] = node;
		if (address)
			ok = hi_table_put(
				&tree->by_address, address,
				hi_table_get(&tree->by_address, address, &before)
					? UINT64_MAX
					: node);
	}
	qsort_r(tree->by_name, g->n_roots, sizeof(*tree->by_name), by_root_name,
		(void *)(uintptr_t)g);
	return ok;
}

hi_node hi_tree_node_at(const struct hi_tree *tree, uint64_t address)
{
	hi_node node = hi_objects_find(tree->heap.graph->objects, address, NULL);
	uint64_t root;

	if (node != HI_NODE_NONE)
		return node;
	return hi_table_get(&tree->by_address, address, &root) && root != UINT64_MAX
		       ? (hi_node)root
		       : HI_NODE_NONE;
}

/* The first one in by_name whose name is not less. */
static size_t find_root_name(const struct hi_tree *tree, const char *name)
{
	const struct hi_graph *g = tree->heap.graph;

	return hi_search(i, g->n_roots,
			 strcmp(name_of_root(g, tree->by_name[i]), name) < 0);
}

hi_node hi_tree_node_named(const struct hi_tree *tree, const char *name)
{
	const struct hi_graph *g = tree->heap.graph;
	const uint64_t *retained = tree->heap.dominators->retained;
	hi_node best = HI_NODE_NONE;

	for (size_t i = find_root_name(tree, name);
	     i < g->n_roots && strcmp(name_of_root(g, tree->by_name[i]), name) == 0; i++)
		if (best == HI_NODE_NONE || retained[tree->by_name[i]] > retained[best])
			best = tree->by_name[i];
	return best;
}

const char *hi_tree_argument(const struct hi_tree *tree, hi_node node,
			     struct hi_page *page)
{
	const struct hi_graph *g = tree->heap.graph;
	const char *name;
	uint64_t address;

	if (node >= g->first_kind)
		return "";
	if (hi_graph_is_object(g, node))
		return hi_page_printf(page, "0x%" PRIx64, hi_graph_address(g, node));
	name = name_of_root(g, node);
	if (*name && strncmp(name, "0x", 2) != 0 &&
	    hi_tree_node_named(tree, name) == node)
		return name;
	address = g->roots[node - g->first_root].address;
	return address && hi_tree_node_at(tree, address) == node
		       ? hi_page_printf(page, "0x%" PRIx64, address)
		       : "";
}

const char *hi_tree_address(const struct hi_tree *tree, hi_node node, size_t group,
			    struct hi_page *page)
{
	const char *argument =
		node == HI_NODE_NONE ? NULL : hi_tree_argument(tree, node, page);
	const char *address;

	if (argument && !*argument)
		return "";
	address = hi_address(page, "tree", argument);
	if (!group || !*address)
		return address;
	return hi_address_with(page, address, "group",
			       hi_page_printf(page, "%zu", group));
}

/* ---- the tree ---- */

enum hi_status hi_tree_create(const struct hi_browse_heap *heap, struct hi_tree **ret,
			      struct hi_error *err)
{
	HI_GUARD(hi_tree_destroy) struct hi_tree *tree = hi_calloc(1, sizeof(*tree));
	enum hi_status status;

	if (!tree)
		return hi_fail_memory(err, "tree");
	tree->heap = *heap;
	/* No one asks for paths: no thread looks for them. */
	tree->heap.threads = 1;
	status = hi_browser_init(&tree->browser, &tree->heap, err);
	if (status != HI_OK)
		return status;
	if (!index_roots(tree))
		return hi_fail_memory(err, "tree");
	*ret = hi_take(tree);
	return HI_OK;
}

void hi_tree_destroy(struct hi_tree *tree)
{
	if (!tree)
		return;
	hi_browse_list_destroy(tree->top);
	if (tree->browser.heap)
		hi_browser_deinit(&tree->browser);
	free(tree->by_name);
	hi_table_free(&tree->by_address);
	free(tree);
}

/* ---- levels ---- */

static enum hi_status open_node(struct hi_tree *tree, hi_node node,
				struct hi_browse_list **ret, struct hi_error *err)
{
	struct hi_browse_row row = {.kind = HI_BROWSE_NODE, .node = node};
	struct hi_browse_list above = {.kind = HI_BROWSE_TREE,
				       .rows = {.items = &row, .count = 1}};

	if (node >= tree->heap.graph->first_kind ||
	    tree->heap.dominators->idom[node] == HI_NODE_NONE)
		return hi_fail(err, HI_NOT_FOUND, 0,
			       "no root leads there: it is not in the dominator tree");
	return hi_browse_open(&tree->browser, &above, 0, ret, err);
}

static enum hi_status open_level(struct hi_tree *tree, hi_node node,
				 struct hi_browse_list **ret, bool *keeps,
				 struct hi_error *err)
{
	enum hi_status status = HI_OK;

	*keeps = node == HI_NODE_NONE;
	if (!*keeps)
		return open_node(tree, node, ret, err);
	if (!tree->top)
		status = hi_browse_top(&tree->browser, &tree->top, err);
	*ret = tree->top;
	return status;
}

static bool is_group(const struct hi_browse_row *row)
{
	return row->opens &&
	       (row->kind == HI_BROWSE_GROUP || row->kind == HI_BROWSE_ITSELF);
}

enum hi_status hi_tree_open(struct hi_tree *tree, hi_node node, size_t group,
			    struct hi_tree_level *ret, struct hi_error *err)
{
	struct hi_tree_level level = {.node = node, .group = group};
	HI_GUARD(hi_tree_level_close) struct hi_tree_level *guard = &level;
	enum hi_status status =
		open_level(tree, node, &level.list, &level.keeps_list, err);

	(void)guard;
	if (status == HI_OK && group) {
		level.above = level.list;
		level.keeps_above = level.keeps_list;
		level.list = NULL;
		level.keeps_list = false;
		if (group > level.above->rows.count ||
		    !is_group(&level.above->rows.items[group - 1]))
			return hi_fail(err, HI_USAGE, 0,
				       "row %zu of this level is no group of objects",
				       group);
		status = hi_browse_open(&tree->browser, level.above, group - 1,
					&level.list, err);
	}
	if (status != HI_OK)
		return status;
	*ret = level;
	level = (struct hi_tree_level){};
	return HI_OK;
}

void hi_tree_level_close(struct hi_tree_level *level)
{
	if (!level->keeps_list)
		hi_browse_list_destroy(level->list);
	if (!level->keeps_above)
		hi_browse_list_destroy(level->above);
	*level = (struct hi_tree_level){};
}
