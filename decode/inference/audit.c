/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One pass over all edges counts the references to each object; one pass over the objects
 * compares. To find an excess, every word that may be a reference counts. To find a
 * deficit, only references that are certainly counted do: the runtime lists those that
 * its objects own.
 */
#include "decode/inference/audit.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/bits.h"
#include "base/cleanup.h"
#include "decode/inference/typing_state.h"

/* Roots have one edge to an object, however often they refer to it: the runtime lists its
 * roots again. */
struct counting {
	const struct hi_graph *graph;
	uint32_t *found;
};

static bool count_root(void *arg, const struct hi_runtime_root *root)
{
	struct counting *c = arg;

	for (size_t i = 0; root->kind == HI_ROOT_RUNTIME && i < root->n_edges; i++) {
		hi_node to = hi_objects_find(c->graph->objects, root->edges[i].to, NULL);

		if (to != HI_NODE_NONE && root->edges[i].grade != HI_GRADE_WEAK)
			c->found[to]++;
	}
	return true;
}

static void count_words(struct hi_typing *typing, const struct hi_graph *g,
			uint64_t start, uint64_t end, uint32_t *found)
{
	uint64_t word;

	for (uint64_t at = (start + 7) & ~(uint64_t)7; at < end && at + 8 <= end;
	     at += 8) {
		hi_node to = HI_NODE_NONE;

		if (hi_memory_read_u64(typing->image->memory, at, &word, NULL) == HI_OK)
			to = hi_objects_find(g->objects, word, NULL);
		if (to != HI_NODE_NONE)
			found[to]++;
	}
}

/* A table in a module's data may refer to an object more than once, and so may the
 * stack of a thread that runs in code without debug information. */
static bool count_module_words(struct hi_typing *typing, const struct hi_graph *g,
			       hi_node from, uint32_t *found)
{
	const struct hi_root *root = &g->roots[from - g->first_root];
	const struct hi_root_info *info;

	if (root->variable >= typing->roots.count || !typing->modules)
		return false;
	info = &typing->roots.items[root->variable];
	if (root->kind == HI_ROOT_GLOBAL && info->address) {
		count_words(typing, g, info->address, info->address + info->size, found);
		return true;
	}
	if (root->kind != HI_ROOT_UNTYPED || !info->n_ranges)
		return false;
	for (size_t i = 0; i < info->n_ranges; i++)
		count_words(typing, g, info->ranges[i].start, info->ranges[i].end, found);
	return true;
}

static bool is_counted_apart(const struct hi_graph *g, hi_node from)
{
	return from >= g->first_root &&
	       g->roots[from - g->first_root].kind == HI_ROOT_RUNTIME;
}

static void count_edges(struct hi_typing *typing, const struct hi_graph *g,
			uint32_t *found)
{
	for (hi_node from = 0; from < g->first_kind; from++) {
		struct hi_edges e = hi_graph_edges(g, from);

		if (is_counted_apart(g, from) ||
		    (from >= g->first_root && count_module_words(typing, g, from, found)))
			continue;
		for (uint32_t i = 0; i < e.count; i++)
			if (e.to[i] < g->n_objects && e.grade[i] != HI_GRADE_WEAK)
				found[e.to[i]]++;
	}
}

static uint64_t subtract_counts(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static void add_to_row(struct hi_audit_row *row, const struct hi_graph *g, hi_node id,
		       uint64_t counted, uint64_t found)
{
	uint64_t excess = subtract_counts(counted, found);

	if (!row->objects ||
	    excess > subtract_counts(row->example_counted, row->example_found)) {
		row->example = id;
		row->example_counted = counted;
		row->example_found = found;
	}
	row->type = g->objects->type[id];
	row->objects++;
	row->excess += excess;
	row->bytes += hi_objects_cost(g->objects, id);
}

static void add_known(struct hi_audit *audit, const struct hi_graph *g, hi_node id,
		      enum hi_known_loss loss, uint64_t counted, uint64_t found)
{
	struct hi_audit_row *row = &audit->known_rows[(size_t)loss * (g->n_types + 1) +
						      g->objects->type[id]];

	add_to_row(row, g, id, counted, found);
	row->loss = loss;
	audit->known_objects++;
	audit->known += counted - found;
}

static void compare_counts(struct hi_audit *audit, const struct hi_graph *g, hi_node id,
			   enum hi_known_loss loss, uint64_t counted, uint64_t found,
			   uint64_t owned)
{
	uint32_t type = g->objects->type[id];

	audit->objects++;
	if (counted > found && loss != HI_LOSS_UNKNOWN) {
		add_known(audit, g, id, loss, counted, found);
	} else if (counted > found) {
		add_to_row(&audit->rows[type], g, id, counted, found);
		audit->excess_objects++;
		audit->excess += counted - found;
	}
	if (counted < owned) {
		add_to_row(&audit->short_rows[type], g, id, counted, owned);
		audit->short_objects++;
		audit->missing += owned - counted;
	}
}

static int by_excess(const void *a, const void *b)
{
	const struct hi_audit_row *x = a, *y = b;

	if (x->excess != y->excess)
		return x->excess > y->excess ? -1 : 1;
	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	if (x->type != y->type)
		return x->type < y->type ? -1 : 1;
	return (x->loss > y->loss) - (x->loss < y->loss);
}

/* The runtime's number of the object's type, plus one; 0: it is not the runtime's. */
static uint32_t managed_type(struct hi_typing *typing, hi_node id)
{
	uint32_t index = hi_typing_layout_of(typing, id);
	const struct hi_layout *layout =
		index >= HI_LAYOUT_FIRST ? hi_layouts_get(typing->layouts, index) : NULL;

	return layout && !layout->opaque ? layout->managed : 0;
}

static bool count_owned_edge(void *arg, const struct hi_runtime_edge *edge)
{
	struct counting *c = arg;
	hi_node to = edge->owned ? hi_objects_find(c->graph->objects, edge->to, NULL)
				 : HI_NODE_NONE;

	if (to != HI_NODE_NONE)
		c->found[to]++;
	return true;
}

/* Of a freed object nothing is owned, and a table that objects share has no count. */
static void count_owned(struct hi_typing *typing, struct hi_runtime_cursor *cursor,
			const struct hi_graph *g, uint32_t *owned)
{
	struct counting c = {g, owned};
	uint64_t counted;

	for (hi_node id = 0; id < g->n_objects; id++) {
		uint64_t addr = hi_objects_address(g->objects, id);
		uint64_t size = hi_objects_usable(g->objects, id);
		uint32_t type = managed_type(typing, id);

		if (type &&
		    typing->runtime->ops->counted(cursor, addr, size, type - 1, &counted))
			typing->runtime->ops->edges(cursor, addr, size, type - 1,
						    count_owned_edge, &c);
	}
}

/* ---- known losses ---- */

/* A variable, or words of a module that no variable covers; not a stack. */
static bool is_data_of_module(struct hi_typing *typing, const struct hi_root *root)
{
	const struct hi_root_info *info;

	if (root->kind == HI_ROOT_GLOBAL)
		return true;
	if (root->kind != HI_ROOT_UNTYPED || root->variable >= typing->roots.count ||
	    !typing->modules)
		return false;
	info = &typing->roots.items[root->variable];
	return info->n_ranges && hi_modules_at(typing->modules, info->ranges[0].start);
}

static void mark_in_data(struct hi_typing *typing, const struct hi_graph *g,
			 uint64_t *in_data)
{
	for (hi_node from = g->first_root; from < g->first_kind; from++) {
		struct hi_edges e = hi_graph_edges(g, from);

		for (uint32_t i = 0;
		     is_data_of_module(typing, &g->roots[from - g->first_root]) &&
		     i < e.count;
		     i++)
			if (e.to[i] < g->n_objects)
				hi_bit_set(in_data, e.to[i]);
	}
}

static void compare_all_counts(struct hi_typing *typing, struct hi_runtime_cursor *cursor,
			       const struct hi_runtime_losses *losses,
			       const uint32_t *found, const uint32_t *owned,
			       struct hi_audit *audit)
{
	const struct hi_runtime_ops *ops = typing->runtime->ops;
	const struct hi_graph *g = losses->graph;

	for (hi_node id = 0; id < g->n_objects; id++) {
		uint32_t type = managed_type(typing, id);
		enum hi_known_loss loss = HI_LOSS_UNKNOWN;
		uint64_t counted;

		if (!type ||
		    !ops->counted(cursor, hi_objects_address(g->objects, id),
				  hi_objects_usable(g->objects, id), type - 1, &counted))
			continue;
		if (counted > found[id] && ops->known_loss)
			loss = ops->known_loss(cursor, losses, id, type - 1,
					       counted - found[id]);
		compare_counts(audit, g, id, loss, counted, found[id], owned[id]);
	}
}

static size_t sort_rows(struct hi_audit_row *rows, size_t n_rows)
{
	size_t n = 0;

	qsort(rows, n_rows, sizeof(*rows), by_excess);
	while (n < n_rows && rows[n].objects)
		n++;
	return n;
}

static bool alloc_rows(struct hi_audit *audit, size_t n_types)
{
	audit->rows = hi_calloc(n_types, sizeof(*audit->rows));
	audit->short_rows = hi_calloc(n_types, sizeof(*audit->short_rows));
	audit->known_rows =
		hi_calloc(n_types * HI_KNOWN_LOSSES, sizeof(*audit->known_rows));
	return audit->rows && audit->short_rows && audit->known_rows;
}

enum hi_status hi_runtime_audit(struct hi_typing *typing, struct hi_runtime *runtime,
				const struct hi_graph *graph, struct hi_audit *ret,
				struct hi_error *err)
{
	HI_GUARD(free)
	uint32_t *found = hi_calloc((size_t)graph->n_objects + 1, sizeof(*found));
	HI_GUARD(free)
	uint32_t *owned = hi_calloc((size_t)graph->n_objects + 1, sizeof(*owned));
	HI_GUARD(free)
	uint64_t *in_data = hi_calloc(hi_bits_size(graph->n_nodes), 1);
	HI_GUARD(free)
	uint64_t *marks = hi_calloc(hi_bits_size(graph->n_nodes), 1);
	struct hi_runtime_losses losses = {graph, in_data, marks};
	size_t n_types = (size_t)graph->n_types + 1;
	struct hi_audit audit = {};
	struct hi_runtime_cursor *cursor;
	enum hi_status status;

	if (!runtime || !runtime->ops->counted || typing->runtime != runtime)
		return hi_fail(err, HI_UNSUPPORTED, 0,
			       "no runtime with reference counts in this process");
	cursor = hi_runtime_cursor(runtime);
	if (!found || !owned || !in_data || !marks || !alloc_rows(&audit, n_types) ||
	    !cursor) {
		hi_audit_deinit(&audit);
		hi_runtime_cursor_free(runtime, cursor);
		return hi_fail_memory(err, "audit");
	}
	count_edges(typing, graph, found);
	status = hi_runtime_roots(runtime, count_root, &(struct counting){graph, found},
				  err);
	count_owned(typing, cursor, graph, owned);
	mark_in_data(typing, graph, in_data);
	if (runtime->ops->mark_losses)
		runtime->ops->mark_losses(cursor, &losses);
	compare_all_counts(typing, cursor, &losses, found, owned, &audit);
	audit.n_rows = sort_rows(audit.rows, n_types);
	audit.n_short_rows = sort_rows(audit.short_rows, n_types);
	audit.n_known_rows = sort_rows(audit.known_rows, n_types * HI_KNOWN_LOSSES);
	hi_runtime_cursor_free(runtime, cursor);
	if (status == HI_OK)
		*ret = audit;
	else
		hi_audit_deinit(&audit);
	return status;
}
