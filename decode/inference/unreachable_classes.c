/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Note [Classes of unreachable objects]
 *
 * A collector frees objects that only each other refer to. It finds them by reference
 * counts: an object that counts more references than its fellows have is held from
 * outside. The classes follow from the same counts. Of the objects that no root reaches:
 *
 *   1. An object that counts more references than were found is held by a lost
 *      reference: C code took it and never gave it back. So is what it leads to.
 *   2. Blocks of C that no such object leads to are an ordinary leak. What they refer to
 *      counts a reference that the collector never sees: a lost reference as well.
 *   3. Of what is left, an object whose type forbids it (a finaliser) is uncollectable,
 *      with all that it leads to. So is a cycle through an object that the collector
 *      cannot traverse (a type of C without tp_traverse): its reference seems to come
 *      from outside. An object of such a type outside of a cycle is freed with its owner.
 *   4. All others are garbage. A block of C that an object owns is freed with it.
 *
 * An edge into unreachable objects starts at one of them, so that only their own edges
 * are counted. References are counted as in audit.c.
 */
#include "decode/inference/unreachable_classes.h"

#include <stdlib.h>

#include "base/search.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/vector.h"
#include "decode/inference/cycles.h"
#include "decode/inference/typing_state.h"

/* While objects are classified: an object of the runtime leads there. */
enum { REACHED = 128 };

struct classification {
	struct hi_typing *typing;
	struct hi_graph *graph;
	const struct hi_reach *reach;
	struct hi_runtime_cursor *cursor;
	uint8_t *classes;
	struct HI_VECTOR(hi_node) nodes; /* unreachable ones */
	struct HI_VECTOR(hi_node) stack;
	struct HI_VECTOR(hi_node) causes; /* ascending */
	uint32_t *found;		  /* by the index in nodes */
	bool anything, no_memory;
};

static bool list_nodes(struct classification *f)
{
	const struct hi_graph *g = f->graph;

	for (hi_node i = 0; f->reach->leak_objects && i < g->n_objects; i++)
		if (!hi_bit(f->reach->any, i) &&
		    !(g->objects->flags[i] & HI_OBJECT_INTERNAL) &&
		    !hi_vector_push(&f->nodes, i))
			return false;
	return true;
}

static bool is_listed(const struct classification *f, hi_node node)
{
	return node < f->graph->n_objects && !hi_bit(f->reach->any, node) &&
	       !(f->graph->objects->flags[node] & HI_OBJECT_INTERNAL);
}

static size_t index_of(const struct classification *f, hi_node node)
{
	return hi_search(i, f->nodes.count, f->nodes.items[i] < node);
}

static void count_found(struct classification *f)
{
	for (size_t i = 0; i < f->nodes.count; i++) {
		struct hi_edges e = hi_graph_edges(f->graph, f->nodes.items[i]);

		for (uint32_t k = 0; k < e.count; k++)
			if (e.grade[k] != HI_GRADE_WEAK && is_listed(f, e.to[k]))
				f->found[index_of(f, e.to[k])]++;
	}
}

static const struct hi_layout *managed_layout(const struct classification *f,
					      hi_node node)
{
	uint32_t index = hi_typing_layout_of(f->typing, node);
	const struct hi_layout *layout =
		index >= HI_LAYOUT_FIRST ? hi_layouts_get(f->typing->layouts, index)
					 : NULL;

	return layout && layout->managed && !layout->opaque ? layout : NULL;
}

/* The node, if it has no class yet, and all that it leads to and that has
 * none. */
static void classify_from(struct classification *f, hi_node from, uint8_t class)
{
	if (f->classes[from])
		return;
	f->classes[from] = class;
	f->stack.count = 0;
	f->no_memory |= !hi_vector_push(&f->stack, from);
	while (f->stack.count && !f->no_memory) {
		struct hi_edges e =
			hi_graph_edges(f->graph, f->stack.items[--f->stack.count]);

		for (uint32_t k = 0; k < e.count; k++) {
			if (e.grade[k] == HI_GRADE_WEAK || !is_listed(f, e.to[k]) ||
			    f->classes[e.to[k]])
				continue;
			f->classes[e.to[k]] = class;
			f->no_memory |= !hi_vector_push(&f->stack, e.to[k]);
		}
	}
}

static bool has_lost(const struct classification *f, size_t i)
{
	hi_node node = f->nodes.items[i];
	const struct hi_layout *layout = managed_layout(f, node);
	uint64_t counted;

	return layout &&
	       f->typing->runtime->ops->counted(
		       f->cursor, hi_objects_address(f->graph->objects, node),
		       hi_objects_usable(f->graph->objects, node), layout->managed - 1,
		       &counted) &&
	       counted > f->found[i];
}

static const struct hi_runtime_type *runtime_type(const struct classification *f,
						  hi_node node)
{
	const struct hi_layout *layout = managed_layout(f, node);

	return layout ? &f->typing->runtime->types[layout->managed - 1] : NULL;
}

/* ---- what the collector cannot take ---- */

static bool is_unclassified(void *arg, hi_node node)
{
	const struct classification *f = arg;

	return is_listed(f, node) && f->classes[node] == HI_UNREACHABLE_NO_CLASS;
}

static bool is_unseen(void *arg, hi_node node)
{
	const struct hi_runtime_type *type = runtime_type(arg, node);

	return type && type->unseen;
}

static bool is_cause(const struct classification *f, const uint8_t *closed, size_t i)
{
	const struct hi_runtime_type *type = runtime_type(f, f->nodes.items[i]);

	return type && (type->uncollectable || closed[i]) &&
	       f->classes[f->nodes.items[i]] == HI_UNREACHABLE_NO_CLASS;
}

/* Step 3. */
static void find_uncollectable(struct classification *f)
{
	HI_GUARD(free) uint8_t *closed = hi_calloc(f->nodes.count + 1, 1);

	if (!closed || !hi_cycles_through(&(struct hi_cycles){.graph = f->graph,
							      .nodes = f->nodes.items,
							      .n = f->nodes.count,
							      .is_open = is_unclassified,
							      .is_wanted = is_unseen,
							      .arg = f},
					  closed)) {
		f->no_memory = true;
		return;
	}
	for (size_t i = 0; i < f->nodes.count; i++)
		if (is_cause(f, closed, i))
			f->no_memory |= !hi_vector_push(&f->causes, f->nodes.items[i]);
	for (size_t i = 0; i < f->causes.count; i++)
		classify_from(f, f->causes.items[i], HI_UNREACHABLE_UNCOLLECTABLE);
}

/* Step 2: blocks that no object of the runtime leads to belong to C; what they refer to
 * has a lost reference. */
static void lose_what_c_holds(struct classification *f)
{
	for (size_t i = 0; i < f->nodes.count; i++)
		if (managed_layout(f, f->nodes.items[i]))
			classify_from(f, f->nodes.items[i], REACHED);
	for (size_t i = 0; i < f->nodes.count; i++)
		if (!f->classes[f->nodes.items[i]])
			f->classes[f->nodes.items[i]] = HI_UNREACHABLE_CLASSES; /* C's */
	for (size_t i = 0; i < f->nodes.count; i++)
		if (f->classes[f->nodes.items[i]] == REACHED)
			f->classes[f->nodes.items[i]] = HI_UNREACHABLE_NO_CLASS;
	for (size_t i = 0; i < f->nodes.count; i++) {
		struct hi_edges e = {};

		if (f->classes[f->nodes.items[i]] == HI_UNREACHABLE_CLASSES)
			e = hi_graph_edges(f->graph, f->nodes.items[i]);
		for (uint32_t k = 0; k < e.count; k++)
			if (e.grade[k] != HI_GRADE_WEAK && is_listed(f, e.to[k]))
				classify_from(f, e.to[k], HI_UNREACHABLE_LOST_REFERENCE);
	}
}

static void classify_nodes(struct classification *f)
{
	count_found(f);
	lose_what_c_holds(f);
	for (size_t i = 0; i < f->nodes.count; i++)
		if (has_lost(f, i))
			classify_from(f, f->nodes.items[i],
				      HI_UNREACHABLE_LOST_REFERENCE);
	find_uncollectable(f);
	for (size_t i = 0; i < f->nodes.count; i++) {
		uint8_t *class = &f->classes[f->nodes.items[i]];

		if (*class == HI_UNREACHABLE_NO_CLASS)
			*class = HI_UNREACHABLE_GARBAGE;
		else if (*class == HI_UNREACHABLE_CLASSES)
			*class = HI_UNREACHABLE_NO_CLASS;
		f->anything |= *class != HI_UNREACHABLE_NO_CLASS;
	}
}

static void mark_put_aside(void *arg, uint64_t addr)
{
	struct classification *f = arg;
	hi_node node = hi_objects_find(f->graph->objects, addr, NULL);

	if (node == HI_NODE_NONE)
		return;
	f->classes[node] = HI_UNREACHABLE_UNCOLLECTABLE;
	f->anything = true;
}

static enum hi_status classify_unreachable(struct classification *f, struct hi_error *err)
{
	struct hi_runtime *runtime = f->typing->runtime;

	f->classes = hi_calloc((size_t)f->graph->n_objects + 1, 1);
	f->cursor = hi_runtime_cursor(runtime);
	if (!f->classes || !f->cursor || !list_nodes(f))
		return hi_fail_memory(err, "classes of unreachable objects");
	f->found = hi_calloc(f->nodes.count + 1, sizeof(*f->found));
	if (!f->found)
		return hi_fail_memory(err, "classes of unreachable objects");
	classify_nodes(f);
	if (runtime->ops->put_aside)
		runtime->ops->put_aside(f->cursor, mark_put_aside, f);
	return f->no_memory ? hi_fail_memory(err, "classes of unreachable objects")
			    : HI_OK;
}

enum hi_status hi_runtime_classify_unreachable(struct hi_typing *typing,
					       struct hi_runtime *runtime,
					       struct hi_graph *graph,
					       const struct hi_reach *reach,
					       struct hi_error *err)
{
	struct classification f = {.typing = typing, .graph = graph, .reach = reach};
	enum hi_status status;

	if (!runtime || !runtime->ops->counted || typing->runtime != runtime)
		return HI_OK;
	status = classify_unreachable(&f, err);
	if (status == HI_OK && f.anything) {
		graph->unreachable_classes = hi_take(f.classes);
		graph->n_causes = (uint32_t)f.causes.count;
		graph->causes = hi_take(f.causes.items);
	}
	hi_runtime_cursor_free(runtime, f.cursor);
	hi_vector_free(&f.nodes);
	hi_vector_free(&f.stack);
	hi_vector_free(&f.causes);
	free(f.found);
	free(f.classes);
	return status;
}
