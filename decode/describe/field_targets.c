/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/describe/field_targets.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "decode/inference/extent.h"
#include "decode/roots/named_roots_internal.h"
#include "decode/inference/typing_state.h"

hi_type_id hi_typing_type_id(const struct hi_typing *typing, uint32_t graph_type)
{
	uint32_t layout = graph_type < typing->n_types && typing->layout_of_type
				  ? typing->layout_of_type[graph_type]
				  : HI_LAYOUT_NONE;
	const struct hi_layout *p = layout >= HI_LAYOUT_FIRST
					    ? hi_layouts_get(typing->layouts, layout)
					    : NULL;

	return p && p->type ? p->type->id : 0;
}

/* Fields of objects, one type after the other. */
struct targets {
	struct hi_named_roots_private priv;
	struct hi_root_finding find;
	struct hi_root_code *codes; /* by graph type; code NULL: none */
	uint64_t *bits;
};

static enum hi_status as_usage(struct hi_error *err)
{
	const struct hi_error before = *err;

	return hi_fail(err, HI_USAGE, 0, "%s", before.text);
}

static enum hi_status compile_fields(struct targets *t, const bool *has,
				     const char *field, size_t *column_ret,
				     struct hi_error *err)
{
	const struct hi_graph *g = t->find.graph;
	size_t compiled = 0;

	for (uint32_t i = 1; i < g->n_types; i++) {
		struct hi_scope scope = {.source = &t->priv.source};
		enum hi_status status;

		if (!has[i])
			continue;
		scope.self = hi_typing_type_id(t->find.typing, i);
		status = hi_root_compile(field, &scope, t->priv.types, &t->priv.arena,
					 &t->codes[i], column_ret, err);
		if (status == HI_NO_MEMORY)
			return status;
		if (status != HI_OK)
			return as_usage(err);
		compiled++;
	}
	return compiled ? HI_OK : hi_fail(err, HI_USAGE, 0, "no object has the type");
}

static void mark_found_starts(struct targets *t)
{
	for (size_t i = 0; i < t->find.starts.count; i++) {
		hi_node node = t->find.starts.items[i];

		t->bits[node >> 6] |= 1ull << (node & 63);
	}
	t->find.starts.count = 0;
}

static void find_targets_of_object(struct targets *t, hi_node node)
{
	const struct hi_graph *g = t->find.graph;
	uint32_t type = g->objects->type[node];
	struct hi_extent extent = hi_typing_extent(t->find.typing, g, node);
	uint64_t address = hi_objects_address(g->objects, node);
	uint64_t size = g->types[type].size;
	bool array = g->objects->flags[node] & HI_OBJECT_ARRAY;
	uint64_t at = extent.start + extent.lead;

	do {
		t->find.self = address + at;
		hi_root_find(&t->find, &t->codes[type]);
		mark_found_starts(t);
		at += size;
	} while (array && size && at + size <= extent.end);
}

enum hi_status hi_field_targets(struct hi_typing *typing, const struct hi_graph *graph,
				struct hi_modules *modules, struct hi_types *types,
				const bool *has, const char *field, uint64_t *bits,
				size_t *column_ret, struct hi_error *err)
{
	struct targets t = {.bits = bits};
	enum hi_status status = HI_OK;

	*column_ret = 0;
	t.priv.modules = modules;
	t.priv.types = types;
	t.priv.names = (struct hi_expression_names){types, modules};
	t.priv.source = hi_expression_source_of(&t.priv.names);
	t.find = (struct hi_root_finding){
		.p = &t.priv, .typing = typing, .graph = graph, .inside = true};
	t.codes = hi_calloc(graph->n_types, sizeof(*t.codes));
	if (!t.codes)
		return hi_fail_memory(err, "fields");
	status = compile_fields(&t, has, field, column_ret, err);
	for (hi_node i = 0; status == HI_OK && i < graph->n_objects; i++)
		if (graph->objects->type[i] < graph->n_types &&
		    t.codes[graph->objects->type[i]].code)
			find_targets_of_object(&t, i);
	if (status == HI_OK && t.find.no_memory)
		status = hi_fail_memory(err, "fields");
	free(t.codes);
	hi_vector_free(&t.find.starts);
	hi_arena_free(&t.priv.arena);
	return status;
}
