/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists that are not of the dominator tree: types, objects of a type, referrers, paths.
 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "report/reports/browse/browse_rows_internal.h"

/* ---- the nodes that retain most ---- */

static bool retains_less(const struct hi_browse_best *best, hi_node a, hi_node b)
{
	uint64_t x = best->retained[a], y = best->retained[b];

	return x != y ? x < y : a > b;
}

static void sift_down(struct hi_browse_best *best, size_t i, size_t n)
{
	hi_node *heap = best->nodes.items, node = heap[i];

	for (size_t child = 2 * i + 1; child < n; i = child, child = 2 * i + 1) {
		if (child + 1 < n && retains_less(best, heap[child + 1], heap[child]))
			child++;
		if (!retains_less(best, heap[child], node))
			break;
		heap[i] = heap[child];
	}
	heap[i] = node;
}

bool hi_browse_best_add(struct hi_browse_best *best, hi_node node)
{
	size_t n = best->nodes.count;

	if (n == HI_BROWSE_ROWS) {
		if (retains_less(best, best->nodes.items[0], node)) {
			best->nodes.items[0] = node;
			sift_down(best, 0, n);
		}
		return true;
	}
	if (!hi_vector_push(&best->nodes, node))
		return false;
	if (n + 1 == HI_BROWSE_ROWS)
		for (size_t i = n / 2 + 1; i-- > 0;)
			sift_down(best, i, n + 1);
	return true;
}

void hi_browse_best_sort(struct hi_browse_best *best)
{
	size_t n = best->nodes.count;

	for (size_t i = n / 2; i-- > 0;)
		sift_down(best, i, n);
	while (n > 1) {
		hi_node least = best->nodes.items[0];

		best->nodes.items[0] = best->nodes.items[--n];
		best->nodes.items[n] = least;
		sift_down(best, 0, n);
	}
}

/* ---- types ---- */

static enum hi_status push_type(const struct hi_browser *b, struct hi_browse_list *list,
				const struct hi_census_row *type, struct hi_error *err)
{
	char bytes[24];
	struct hi_browse_row row = {
		.kind = HI_BROWSE_TYPE,
		.node = HI_NODE_NONE,
		.type = type->type,
		.name = hi_type_label(hi_graph_type_name(b->heap->graph, type->type),
				      list->page),
		.members = 1,
		.objects = type->count,
		.bytes = type->shallow,
		.opens = true};

	row.what = type->retained ? hi_page_printf(list->page, "≥ %s",
						   hi_bytes(bytes, type->retained))
				  : "";
	return hi_browse_push_row(list, row, err);
}

enum hi_status hi_browse_types(struct hi_browser *b, struct hi_browse_list **ret,
			       struct hi_error *err)
{
	const struct hi_census *census = b->heap->census;
	struct hi_browse_row rest = {.kind = HI_BROWSE_REST,
				     .node = HI_NODE_NONE,
				     .name = "(others)",
				     .what = ""};
	struct hi_browse_list *list;
	enum hi_status status = HI_OK;

	if (!census)
		return hi_fail(err, HI_UNSUPPORTED, 0, "the types were not counted");
	list = hi_browse_list_create(b, HI_BROWSE_TYPES, HI_NODE_NONE);
	if (!list)
		return hi_fail_memory(err, "list");
	list->bytes = census->bytes;
	for (size_t i = 0; status == HI_OK && i < census->n_rows; i++) {
		if (i < HI_BROWSE_ROWS) {
			status = push_type(b, list, &census->rows[i], err);
			continue;
		}
		rest.members++;
		rest.objects += census->rows[i].count;
		rest.bytes += census->rows[i].shallow;
	}
	if (status == HI_OK && rest.members)
		status = hi_browse_push_row(list, rest, err);
	return hi_browse_list_close(b, list, status, ret, err);
}

/* The rest has no bytes: those of one may be part of those of another. */
static enum hi_status push_objects(const struct hi_browser *b,
				   struct hi_browse_list *list, uint32_t type,
				   struct hi_error *err)
{
	const struct hi_objects *o = b->heap->graph->objects;
	struct hi_browse_best best = {.retained = b->heap->dominators->retained};
	struct hi_browse_row rest = {.kind = HI_BROWSE_REST,
				     .node = HI_NODE_NONE,
				     .name = "(others)",
				     .what = "",
				     .bytes = UINT64_MAX};
	enum hi_status status = HI_OK;

	for (hi_node i = 0; status == HI_OK && i < o->count; i++) {
		if (o->type[i] != type || o->flags[i] & HI_OBJECT_INTERNAL ||
		    !hi_bit(b->heap->reach->any, i))
			continue;
		rest.members++;
		if (!hi_browse_best_add(&best, i))
			status = hi_fail_memory(err, "objects");
	}
	hi_browse_best_sort(&best);
	rest.members -= best.nodes.count;
	rest.objects = rest.members;
	for (size_t i = 0; status == HI_OK && i < best.nodes.count; i++)
		status = hi_browse_push_node(b, list, best.nodes.items[i], "", err);
	if (status == HI_OK && rest.members)
		status = hi_browse_push_row(list, rest, err);
	hi_vector_free(&best.nodes);
	return status;
}

enum hi_status hi_browse_objects_of_type(struct hi_browser *b, uint32_t type,
					 struct hi_browse_list **ret,
					 struct hi_error *err)
{
	struct hi_browse_list *list =
		hi_browse_list_create(b, HI_BROWSE_OBJECTS, HI_NODE_NONE);
	enum hi_status status = HI_OK;

	if (!list)
		return hi_fail_memory(err, "list");
	list->bytes = b->heap->reach->live_bytes;
	list->title = hi_type_label(hi_graph_type_name(b->heap->graph, type), list->page);
	status = push_objects(b, list, type, err);
	return hi_browse_list_close(b, list, status, ret, err);
}

/* ---- referrers, paths ---- */

static const char *edge_text(const struct hi_browser *b, hi_node from, hi_node to)
{
	return b->heap->edge_text ? b->heap->edge_text(b->heap->arg, from, to) : "";
}

/* Variables have their name, objects the field. */
static enum hi_status push_referrer(const struct hi_browser *b,
				    struct hi_browse_list *list, hi_node from, hi_node to,
				    struct hi_error *err)
{
	bool is_object = hi_graph_is_object(b->heap->graph, from);
	enum hi_status status;

	if (!hi_bit(b->heap->reach->any, from))
		return HI_OK;
	status = hi_browse_push_node(b, list, from, edge_text(b, from, to), err);
	if (status == HI_OK)
		list->rows.items[list->rows.count - 1].opens = is_object;
	return status;
}

enum hi_status hi_browse_referrers(struct hi_browser *b, hi_node node,
				   struct hi_browse_list **ret, struct hi_error *err)
{
	HI_GUARD(hi_referrers_destroy) struct hi_referrers *found = NULL;
	struct hi_browse_row rest = {.kind = HI_BROWSE_REST,
				     .node = HI_NODE_NONE,
				     .name = "(others)",
				     .what = "",
				     .bytes = UINT64_MAX};
	struct hi_browse_list *list;
	enum hi_status status = hi_referrers_find(b->heap->graph, node, HI_BROWSE_ROWS,
						  b->heap->threads, &found, err);

	if (status != HI_OK)
		return status;
	list = hi_browse_list_create(b, HI_BROWSE_REFERRERS, node);
	if (!list)
		return hi_fail_memory(err, "list");
	list->bytes = b->heap->reach->live_bytes;
	for (size_t i = 0; status == HI_OK && i < found->count; i++)
		status = push_referrer(b, list, found->from[i], node, err);
	rest.members = rest.objects = found->total - found->count;
	if (status == HI_OK && rest.members)
		status = hi_browse_push_row(list, rest, err);
	return hi_browse_list_close(b, list, status, ret, err);
}

/* Of a very long one the middle is one row. */
static enum hi_status push_steps(const struct hi_browser *b, struct hi_browse_list *list,
				 const struct hi_path *path, struct hi_error *err)
{
	struct hi_browse_row middle = {.kind = HI_BROWSE_REST,
				       .node = HI_NODE_NONE,
				       .name = "…",
				       .what = "",
				       .bytes = UINT64_MAX};
	size_t end = path->length > HI_BROWSE_ROWS ? HI_BROWSE_ROWS / 2 : path->length;
	enum hi_status status = HI_OK;

	for (size_t i = 0; status == HI_OK && i < path->length; i++) {
		if (i == end) {
			i = path->length - HI_BROWSE_ROWS / 2;
			middle.members = middle.objects = i - end;
			status = hi_browse_push_row(list, middle, err);
		}
		if (status == HI_OK)
			status = hi_browse_push_node(
				b, list, path->nodes[i],
				i ? edge_text(b, path->nodes[i - 1], path->nodes[i]) : "",
				err);
	}
	return status;
}

/* *ret: its nodes are to be freed. */
static enum hi_status find_path(const struct hi_browser *b, hi_node node,
				struct hi_path *ret, struct hi_error *err)
{
	const struct hi_path_tree *tree = hi_browse_walk_wait(b->walk);
	HI_GUARD(hi_paths_destroy) struct hi_paths *paths = NULL;
	enum hi_status status;

	if (tree)
		return hi_path_tree_find(tree, node, ret, err);
	status = hi_paths_shortest(b->heap->graph, &node, 1, &paths, err);
	if (status == HI_OK) {
		*ret = paths->paths[0];
		paths->paths[0] = (struct hi_path){};
	}
	return status;
}

enum hi_status hi_browse_path(struct hi_browser *b, hi_node node,
			      struct hi_browse_list **ret, struct hi_error *err)
{
	struct hi_browse_list *list = hi_browse_list_create(b, HI_BROWSE_PATH, node);
	struct hi_path path = {};
	enum hi_status status = HI_OK;

	if (!list)
		return hi_fail_memory(err, "list");
	list->bytes = b->heap->reach->live_bytes;
	if (hi_bit(b->heap->reach->any, node))
		status = find_path(b, node, &path, err);
	if (status == HI_OK)
		status = push_steps(b, list, &path, err);
	free(path.nodes);
	return hi_browse_list_close(b, list, status, ret, err);
}
