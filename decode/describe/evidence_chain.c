/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Note [Chains of evidence]
 *
 * A breadth-first walk over precise edges from all root variables remembers for each
 * object the node that found it first. The chain goes back from the object to its finder,
 * and so on. Where the finder's field infers another type than the object has (or none:
 * `void *`), the nearest other referrer that agrees takes its place, if there is one and
 * its own path to a root does not meet the chain. That is done only for the last
 * HI_EVIDENCE_CHAIN_TAIL steps, since each costs a pass over all edges.
 */
#include "decode/describe/evidence_chain.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/vector.h"
#include "decode/describe/describe.h"
#include "decode/describe/object_text.h"

enum { MAX_REFERRERS = 4096 };

/* ---- the type that one field infers ---- */

static uint32_t inferred_layout(struct hi_typing *typing, const struct hi_reference *ref)
{
	if (ref->rule)
		return ref->layout;
	if (ref->slot && ref->slot->kind == HI_POINTER_SLOT_TYPED)
		return hi_layouts_pointee(typing->layouts, ref->slot);
	return HI_LAYOUT_NOTHING;
}

/* Refined layouts are of one type. */
static uint32_t base_layout_of(struct hi_typing *typing, uint32_t layout)
{
	return layout < HI_LAYOUT_FIRST ? layout
					: hi_layouts_get(typing->layouts, layout)->base;
}

static void name_inferred_type(struct hi_typing *typing, const struct hi_reference *ref,
			       uint32_t layout, struct hi_inferred_type *ret)
{
	struct hi_out out = {ret->type, sizeof(ret->type), 0};
	const struct hi_type_source *types = &typing->source.types;

	if (layout >= HI_LAYOUT_FIRST)
		hi_out_escaped(&out, hi_layouts_get(typing->layouts, layout)->name);
	else if (ref->slot && ref->slot->kind == HI_POINTER_SLOT_TYPED &&
		 ref->slot->pointee)
		hi_out_escaped(&out, hi_type_source_get(types, ref->slot->pointee)->name);
	else
		hi_out_add(&out, "void");
	hi_out_add(&out, " *");
}

bool hi_inferred_type_of(struct hi_typing *typing, const struct hi_graph *graph,
			 hi_node from, hi_node to, struct hi_inferred_type *ret)
{
	struct hi_node_bytes source, target;
	struct hi_reference ref;
	uint32_t layout;

	*ret = (struct hi_inferred_type){.origin = ""};
	if (!hi_node_bytes_of(typing, graph, from, &source) || !source.layout ||
	    !source.type || !hi_node_bytes_of(typing, graph, to, &target) ||
	    (!hi_node_bytes_find(&source, target.address, 1, &ref) &&
	     !hi_node_bytes_find(&source, target.address, target.size, &ref)) ||
	    (!ref.slot && !ref.rule))
		return false;
	layout = inferred_layout(typing, &ref);
	name_inferred_type(typing, &ref, layout, ret);
	if (ref.rule && ref.rule->origin)
		ret->origin = ref.rule->origin;
	ret->is_accepted = target.layout && layout >= HI_LAYOUT_FIRST &&
			   base_layout_of(typing, layout) == target.layout->base;
	return true;
}

/* ---- the path ---- */

struct walk {
	struct hi_typing *typing;
	const struct hi_graph *graph;
	hi_node object;
	hi_node *finder; /* + 1; 0: not found yet. A root's is itself */
	hi_node *queue;	 /* objects, as they are found */
	size_t n_queue;
	struct HI_VECTOR(hi_node) chain; /* from the object back */
};

static void walk_from(struct walk *w, hi_node node)
{
	struct hi_edges edges = hi_graph_edges(w->graph, node);

	for (uint32_t e = 0; e < edges.count; e++) {
		hi_node to = edges.to[e];

		if (!hi_grade_is_precise(edges.grade[e]) || to >= w->graph->n_objects ||
		    w->finder[to])
			continue;
		w->finder[to] = node + 1;
		w->queue[w->n_queue++] = to;
	}
}

static void walk_roots(struct walk *w)
{
	const struct hi_graph *g = w->graph;

	for (hi_node i = g->first_root; i < g->first_root + g->n_roots; i++) {
		w->finder[i] = i + 1;
		walk_from(w, i);
	}
	for (size_t i = 0; i < w->n_queue; i++)
		walk_from(w, w->queue[i]);
}

static bool leads_to(const struct hi_graph *g, hi_node from, hi_node to)
{
	struct hi_edges edges = hi_graph_edges(g, from);

	for (uint32_t e = 0; e < edges.count; e++)
		if (edges.to[e] == to && hi_grade_is_precise(edges.grade[e]))
			return true;
	return false;
}

/* Its own path to a root meets no node of the chain. */
static bool is_apart(const struct walk *w, hi_node node)
{
	for (;; node = w->finder[node] - 1) {
		for (size_t i = 0; i < w->chain.count; i++)
			if (w->chain.items[i] == node)
				return false;
		if (node >= w->graph->n_objects)
			return true;
	}
}

static bool infers_object_type(const struct walk *w, hi_node from, hi_node to)
{
	struct hi_inferred_type p;

	return hi_inferred_type_of(w->typing, w->graph, from, to, &p) && p.is_accepted;
}

/* A referrer whose field agrees: the finder, else the nearest one. */
static hi_node best_referrer(const struct walk *w, hi_node node)
{
	const struct hi_graph *g = w->graph;
	hi_node finder = w->finder[node] - 1;
	struct hi_node_bytes place;
	unsigned tried = 0;

	if (infers_object_type(w, finder, node) ||
	    !hi_node_bytes_of(w->typing, g, node, &place) || !place.layout)
		return finder;
	for (size_t i = 0; i < g->n_roots + w->n_queue && tried < MAX_REFERRERS; i++) {
		hi_node from = i < g->n_roots ? g->first_root + (hi_node)i
					      : w->queue[i - g->n_roots];

		if (!leads_to(g, from, node))
			continue;
		tried++;
		if (is_apart(w, from) && infers_object_type(w, from, node))
			return from;
	}
	return finder;
}

static bool needs_no_chain(const struct hi_graph *g, hi_node node)
{
	return node >= g->n_objects ||
	       (g->objects->flags[node] & HI_OBJECT_EVIDENCE_MASK) >= HI_EVIDENCE_VTABLE;
}

/* From the object back to a root, or to what needs none. */
static bool follow_back(struct walk *w)
{
	hi_node node = w->object;

	if (!hi_vector_push(&w->chain, node))
		return false;
	while (!needs_no_chain(w->graph, node) && w->chain.count <= w->graph->n_nodes) {
		node = w->chain.count <= HI_EVIDENCE_CHAIN_TAIL ? best_referrer(w, node)
								: w->finder[node] - 1;
		if (!hi_vector_push(&w->chain, node))
			return false;
	}
	return true;
}

/* ---- the steps ---- */

static bool describe_steps(const struct walk *w, struct hi_evidence_chain *found)
{
	size_t n = w->chain.count - 1, kept = n;

	if (n > HI_EVIDENCE_CHAIN_HEAD + HI_EVIDENCE_CHAIN_TAIL) {
		kept = HI_EVIDENCE_CHAIN_HEAD + HI_EVIDENCE_CHAIN_TAIL;
		found->gap = HI_EVIDENCE_CHAIN_HEAD;
		found->left_out = n - kept;
	}
	found->steps = hi_calloc(kept + 1, sizeof(*found->steps));
	if (!found->steps)
		return false;
	for (size_t i = 0; i < kept; i++) {
		/* chain[k] is k steps before the object. */
		size_t k = n - i - (i >= found->gap ? found->left_out : 0);
		struct hi_evidence_step *step = &found->steps[i];

		step->from = w->chain.items[k];
		step->to = w->chain.items[k - 1];
		hi_typing_describe_edge(w->typing, w->graph, step->from, step->to,
					step->field, sizeof(step->field));
		(void)hi_inferred_type_of(w->typing, w->graph, step->from, step->to,
					  &step->inferred);
	}
	found->n_steps = kept;
	return true;
}

static bool find_evidence_steps(struct walk *w, struct hi_evidence_chain *found)
{
	if (needs_no_chain(w->graph, w->object))
		return true;
	walk_roots(w);
	if (!w->finder[w->object])
		return true;
	return follow_back(w) && describe_steps(w, found);
}

enum hi_status hi_evidence_chain_find(struct hi_typing *typing,
				      const struct hi_graph *graph, hi_node object,
				      struct hi_evidence_chain **ret,
				      struct hi_error *err)
{
	size_t nodes = (size_t)graph->n_nodes * sizeof(hi_node);
	size_t objects = (size_t)graph->n_objects * sizeof(hi_node);
	HI_GUARD(hi_evidence_chain_destroy)
	struct hi_evidence_chain *found = hi_calloc(1, sizeof(*found));
	struct walk w = {.typing = typing, .graph = graph, .object = object};
	bool ok = false;

	if (object >= graph->n_objects)
		return hi_fail(err, HI_USAGE, 0,
			       "chain of evidence: the node is no object");
	w.finder = hi_pages_alloc(nodes);
	w.queue = hi_pages_alloc(objects);
	if (found && w.finder && w.queue)
		ok = find_evidence_steps(&w, found);
	hi_vector_free(&w.chain);
	if (w.finder)
		hi_pages_free(w.finder, nodes);
	if (w.queue)
		hi_pages_free(w.queue, objects);
	if (!ok)
		return hi_fail_memory(err, "chain of evidence");
	*ret = hi_take(found);
	return HI_OK;
}

void hi_evidence_chain_destroy(struct hi_evidence_chain *found)
{
	if (!found)
		return;
	free(found->steps);
	free(found);
}
