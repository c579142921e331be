/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/retainers/retaining_heap.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "session/census_cache.h"
#include "session/operands.h"

/* What auto takes if no hint names retainers. */
enum { AUTO_SHARE = 20, AUTO_TIMES = 4 };

static void set_retainer_bit(uint64_t *bits, hi_node node)
{
	bits[node >> 6] |= 1ull << (node & 63);
}

static bool is_internal(const struct hi_graph *g, hi_node node)
{
	return g->objects->flags[node] & HI_OBJECT_INTERNAL;
}

static void mark_types(const struct hi_graph *g, const bool *has, uint64_t *bits)
{
	for (hi_node i = 0; i < g->n_objects; i++) {
		uint32_t type = g->objects->type[i];

		if (type < g->n_types && has[type] && !is_internal(g, i))
			set_retainer_bit(bits, i);
	}
}

/* A word that looks like a pointer holds only what nothing better does. */
static bool edge_retains(const struct hi_reach *reach, uint8_t grade, hi_node to)
{
	return hi_grade_is_precise(grade) ||
	       (grade == HI_GRADE_CONSERVATIVE && !hi_bit(reach->exact, to));
}

/* What root variables of these kinds refer to. */
static void mark_children(const struct hi_graph *g, const struct hi_reach *reach,
			  unsigned kinds, uint64_t *bits)
{
	for (hi_node i = g->first_root; i < g->first_kind; i++) {
		struct hi_edges edges = hi_graph_edges(g, i);

		if (!(kinds >> g->roots[i - g->first_root].kind & 1))
			continue;
		for (uint32_t e = 0; e < edges.count; e++)
			if (edge_retains(reach, edges.grade[e], edges.to[e]) &&
			    edges.to[e] < g->n_objects && !is_internal(g, edges.to[e]))
				set_retainer_bit(bits, edges.to[e]);
	}
}

/* ---- TYPE and TYPE.field ---- */

/* TYPE.field: the first dot behind which a type ends. */
static enum hi_status mark_with_field(struct hi_inspection *in, const char *text,
				      uint64_t *bits, bool *found_ret,
				      struct hi_error *err)
{
	*found_ret = false;
	if (!in->source->retainers->knows_fields(in))
		return HI_OK;
	for (const char *dot = strchr(text, '.'); dot; dot = strchr(dot + 1, '.')) {
		char *name =
			hi_arena_printf(&in->arena, "=%.*s", (int)(dot - text), text);
		struct hi_type_set set = {};
		struct hi_error quiet;
		enum hi_status status;

		if (!name)
			return hi_fail_memory(err, "names");
		status = hi_types_select(in->graph, name, &set, NULL, &quiet);
		if (status == HI_NO_MEMORY)
			return hi_fail_memory(err, "names");
		if (status != HI_OK)
			continue;
		*found_ret = true;
		status = in->source->retainers->mark_field_targets(in, text, set.has,
								   dot + 1, bits, err);
		hi_type_set_free(&set);
		return status == HI_USAGE && in->profile.retainers_may_miss ? HI_OK
									    : status;
	}
	return HI_OK;
}

/* In a series, a type of the program that no object has yet. A name that no type has is a
 * mistake. */
static bool may_come(const struct hi_inspection *in, const char *text)
{
	struct hi_error quiet;
	hi_type_id id;

	return hi_census_cache_is_series(in->run->census_cache) && in->decoders.types &&
	       hi_types_find(in->decoders.types, text, &id, &quiet) == HI_OK;
}

static enum hi_status mark_type(struct hi_inspection *in, const char *text,
				uint64_t *bits, struct hi_error *err)
{
	struct hi_type_set set = {};
	struct hi_error before = {};
	bool found = false;
	enum hi_status status = hi_lookup_types(in, text, &set, &before);

	if (status == HI_OK) {
		mark_types(in->graph, set.has, bits);
		hi_type_set_free(&set);
		return HI_OK;
	}
	if (status == HI_NO_MEMORY)
		return hi_fail_memory(err, "names");
	status = mark_with_field(in, text, bits, &found, err);
	if (status != HI_OK || found)
		return status;
	if (before.status == HI_NOT_FOUND &&
	    (in->profile.retainers_may_miss ||
	     hi_census_cache_has_samples(in->run->census_cache)))
		return HI_OK;
	if (before.status == HI_NOT_FOUND && may_come(in, text)) {
		hi_inspect_warn(
			in,
			"--retainer %.80s: no object has this type yet, the series "
			"waits for one",
			text);
		return HI_OK;
	}
	return hi_fail(err, before.status, 0, "--retainer: %s", before.text);
}

/* ---- auto ---- */

static size_t take_hinted(struct hi_inspection *in, bool *has)
{
	size_t n = 0;

	for (uint32_t i = 1; i < in->graph->n_types; i++) {
		has[i] = in->source->retainers->type_retains(in, i);
		n += has[i];
	}
	return n;
}

static enum hi_status take_heavy(struct hi_inspection *in, bool *has,
				 struct hi_error *err)
{
	HI_GUARD(hi_census_destroy) struct hi_census *census = NULL;
	enum hi_status status = hi_census_by_type(in->graph, in->results.reach,
						  in->results.dominators, &census, err);

	for (size_t i = 0; status == HI_OK && i < census->n_rows; i++) {
		const struct hi_census_row *row = &census->rows[i];

		has[row->type] =
			in->graph->types[row->type].klass == HI_TYPE_RECORD &&
			row->retained >= in->results.reach->live_bytes / AUTO_SHARE &&
			row->retained / AUTO_TIMES >= row->shallow;
	}
	return status;
}

static enum hi_status mark_auto(struct hi_inspection *in, struct hi_retaining_heap *heap,
				struct hi_error *err)
{
	enum hi_status status = HI_OK;

	free(heap->auto_types);
	heap->auto_types = hi_calloc(in->graph->n_types + 1u, sizeof(bool));
	if (!heap->auto_types)
		return hi_fail_memory(err, "retainers");
	heap->auto_by_hints = take_hinted(in, heap->auto_types) > 0;
	if (!heap->auto_by_hints)
		status = take_heavy(in, heap->auto_types, err);
	if (status == HI_OK)
		mark_types(in->graph, heap->auto_types, heap->bits);
	return status;
}

/* ---- all of them ---- */

static enum hi_status mark_retainers(struct hi_inspection *in, const char *text,
				     struct hi_retaining_heap *heap, struct hi_error *err)
{
	const unsigned global = 1u << HI_ROOT_GLOBAL | 1u << HI_ROOT_TLS;

	if (strcmp(text, "global") == 0) {
		mark_children(in->graph, in->results.reach, global, heap->bits);
		return HI_OK;
	}
	if (strcmp(text, "frame") == 0) {
		mark_children(in->graph, in->results.reach, 1u << HI_ROOT_STACK,
			      heap->bits);
		return HI_OK;
	}
	if (strcmp(text, "auto") == 0)
		return mark_auto(in, heap, err);
	return mark_type(in, text, heap->bits, err);
}

enum hi_status hi_retaining_heap_find(struct hi_inspection *in,
				      struct hi_retaining_heap *heap,
				      struct hi_error *err)
{
	const struct hi_profile_options *p = &in->options->profile;
	size_t words = ((size_t)in->graph->n_nodes + 63) / 64 + 1;
	enum hi_status status = HI_OK;

	heap->bits = hi_calloc(words, sizeof(*heap->bits));
	if (!heap->bits)
		return hi_fail_memory(err, "retainers");
	for (size_t i = 0; i < p->n_retainers && status == HI_OK; i++)
		status = mark_retainers(in, p->retainers[i], heap, err);
	return status;
}

bool hi_retaining_wants_dominators(const struct hi_options *options)
{
	const struct hi_profile_options *p = &options->profile;

	for (size_t i = 0; i < p->n_retainers; i++)
		if (strcmp(p->retainers[i], "auto") == 0)
			return true;
	return p->identity == HI_IDENTITY_VAR;
}
