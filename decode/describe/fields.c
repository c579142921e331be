/* SPDX-License-Identifier: BSD-2-Clause */
/* An object field by field, with printable values. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "decode/describe/describe.h"
#include "decode/describe/container_value.h"
#include "decode/describe/field_layout.h"
#include "decode/describe/field_leaves.h"

/* ---- values ---- */

static bool is_unsigned(const char *name)
{
	return strncmp(name, "unsigned", 8) == 0 || strstr(name, "uint") ||
	       strstr(name, "size_t") || strcmp(name, "bool") == 0 ||
	       strcmp(name, "_Bool") == 0;
}

static enum hi_field_how how_of(struct hi_typing *typing,
				const struct hi_field_leaf *leaf)
{
	const struct hi_type *type =
		hi_type_source_get(&typing->source.types, leaf->type);

	if (leaf->is_bits)
		return HI_FIELD_BITS;
	switch (type->kind) {
	case HI_KIND_ARRAY:
		return HI_FIELD_TEXT;
	case HI_KIND_POINTER:
		return HI_FIELD_POINTER;
	case HI_KIND_ADDRESS:
		return HI_FIELD_ADDRESS;
	case HI_KIND_FLOAT:
		return HI_FIELD_FLOAT;
	case HI_KIND_INTEGER:
	case HI_KIND_CHAR:
		return is_unsigned(type->name) ? HI_FIELD_UNSIGNED : HI_FIELD_INTEGER;
	default:
		return HI_FIELD_UNKNOWN;
	}
}

static void show_value(const struct hi_node_bytes *place, struct hi_field *f,
		       enum hi_field_how how)
{
	uint8_t bytes[HI_FIELD_SHOWN] = {};
	uint64_t n = f->size < sizeof(bytes) ? f->size : sizeof(bytes);

	if (how == HI_FIELD_TEXT && place->typing->redact)
		snprintf(f->value, sizeof(f->value), "\"…\"");
	else if (n && !hi_node_bytes_read(place, f->offset, bytes, n))
		hi_field_unreadable(f);
	else
		hi_field_show(place->typing->objects, how, bytes, f);
}

/* ---- fields ---- */

struct typed_fields {
	const struct hi_node_bytes *place;
	hi_node node;
	struct hi_field_leaves leaves;
	struct hi_container_values values;
};

/* Its value is that of several members. */
static void show_whole(struct typed_fields *t, const struct hi_field_leaf *leaf,
		       struct hi_field *f)
{
	if (t->place->value) /* in a register: it has no address */
		snprintf(f->value, sizeof(f->value), "?");
	else
		hi_container_show(&t->values, t->node, leaf->type,
				  t->place->address + f->offset, f);
}

static void fill_typed(struct typed_fields *t, size_t i, uint64_t element,
		       struct hi_field *f)
{
	const struct hi_node_bytes *place = t->place;
	const struct hi_field_leaf *leaf =
		&t->leaves.nodes.items[t->leaves.done.items[i]];
	const struct hi_type *type =
		hi_type_source_get(&place->typing->source.types, leaf->type);
	struct hi_out path = {f->path, sizeof(f->path), 0};

	*f = (struct hi_field){.to = HI_NODE_NONE,
			       .offset = place->layout->lead +
					 element * place->layout->size + leaf->offset};
	f->size = type->size;
	if (hi_field_is_text_array(place->typing, type) && type->size == 0 &&
	    place->size > f->offset)
		f->size = place->size - f->offset; /* flexible */
	if (place->array)
		hi_out_add(&path, "[%llu]", (unsigned long long)element);
	hi_field_leaves_path(&t->leaves, i, &path);
	f->type = type->name;
	if (leaf->is_shown)
		show_whole(t, leaf, f);
	else
		show_value(place, f, how_of(place->typing, leaf));
}

static enum hi_status typed_fields(const struct hi_node_bytes *place,
				   const struct hi_graph *graph, hi_node node,
				   struct hi_field *fields, size_t max, size_t *n_ret,
				   size_t *total_ret, struct hi_error *err)
{
	struct typed_fields t = {.place = place,
				 .node = node,
				 .leaves = {.typing = place->typing},
				 .values = {.typing = place->typing, .graph = graph}};
	struct hi_node_elements elements = hi_node_elements_of(place);
	size_t n = 0;
	bool ok = hi_field_leaves_read(&t.leaves, place->type);

	for (uint64_t e = 0; ok && e < elements.n && n < max; e++)
		for (size_t i = 0; i < t.leaves.done.count && n < max; i++)
			fill_typed(&t, i, elements.first + e, &fields[n++]);
	*n_ret = n;
	*total_ret = t.leaves.done.count * elements.n;
	ok = ok && !t.values.no_memory;
	hi_field_leaves_free(&t.leaves);
	hi_container_values_free(&t.values);
	return ok ? HI_OK : hi_fail_memory(err, "fields");
}

/* ---- fields that a runtime describes ---- */

struct managed_fields {
	struct hi_typing *typing;
	const struct hi_graph *graph;
	struct hi_runtime_cursor *cursor;
	struct hi_field *fields;
	size_t max, n, total;
};

static bool add_managed(void *arg, const struct hi_runtime_edge *edge)
{
	struct managed_fields *m = arg;
	struct hi_field *f = &m->fields[m->n];
	const struct hi_type_name *type;

	m->total++;
	if (m->n == m->max)
		return true;
	*f = (struct hi_field){.to = hi_objects_find(m->graph->objects, edge->to, NULL),
			       .grade = edge->grade,
			       .offset = UINT64_MAX, /* a reference, not a member */
			       .size = 8};
	m->typing->runtime->ops->label(m->cursor, edge, f->path, sizeof(f->path));
	if (f->path[0] == '.')
		memmove(f->path, f->path + 1, strlen(f->path));
	snprintf(f->value, sizeof(f->value), "0x%llx", (unsigned long long)edge->to);
	if (f->to != HI_NODE_NONE) {
		type = &m->graph->types[m->graph->objects->type[f->to]];
		f->type = type->name;
	}
	m->n++;
	return true;
}

static enum hi_status managed_fields(struct hi_typing *typing,
				     const struct hi_graph *graph,
				     const struct hi_node_bytes *place,
				     struct managed_fields *m, struct hi_error *err)
{
	m->typing = typing;
	m->graph = graph;
	m->cursor = hi_runtime_cursor(typing->runtime);
	if (!m->cursor)
		return hi_fail_memory(err, "fields");
	typing->runtime->ops->edges(m->cursor, place->address, place->size,
				    place->layout->managed - 1, add_managed, m);
	hi_runtime_cursor_free(typing->runtime, m->cursor);
	return HI_OK;
}

enum hi_status hi_typing_fields(struct hi_typing *typing, const struct hi_graph *graph,
				hi_node node, struct hi_field *fields, size_t max,
				size_t *n_ret, size_t *total_ret, struct hi_error *err)
{
	struct hi_node_bytes place;
	size_t n = 0;

	if (!hi_node_bytes_of(typing, graph, node, &place))
		return hi_fail(err, HI_USAGE, 0, "node %u has no fields", node);
	if (place.layout && place.layout->managed && !place.layout->opaque) {
		struct managed_fields m = {.fields = fields, .max = max};
		enum hi_status status = managed_fields(typing, graph, &place, &m, err);

		*n_ret = m.n;
		*total_ret = m.total;
		return status;
	}
	if (place.layout && place.layout->klass == HI_TYPE_STRING) {
		if (max) {
			struct hi_field *whole = &fields[n++];

			*whole =
				(struct hi_field){.to = HI_NODE_NONE, .size = place.size};
			whole->type = place.layout->name;
			show_value(&place, whole, HI_FIELD_TEXT);
		}
		*n_ret = n;
		*total_ret = 1;
		return HI_OK;
	}
	if (place.layout && place.type && !place.layout->opaque)
		return typed_fields(&place, graph, node, fields, max, n_ret, total_ret,
				    err);
	for (uint64_t o = 0; o + 8 <= place.size && n < max; o += 8, n++) {
		hi_field_word(&fields[n], o);
		show_value(&place, &fields[n], HI_FIELD_ADDRESS);
	}
	*n_ret = n;
	*total_ret = place.size / 8;
	return HI_OK;
}

/* ---- for bytes without types ---- */

static enum hi_status list_leaves(struct hi_typing *typing,
				  const struct hi_field_leaves *l, hi_field_layout_fn *fn,
				  void *arg, struct hi_error *err)
{
	enum hi_status status = HI_OK;

	for (size_t i = 0; i < l->done.count && status == HI_OK; i++) {
		const struct hi_field_leaf *leaf = &l->nodes.items[l->done.items[i]];
		const struct hi_type *type =
			hi_type_source_get(&typing->source.types, leaf->type);
		struct hi_field f = {.offset = leaf->offset, .size = type->size};
		struct hi_out path = {f.path, sizeof(f.path), 0};

		hi_field_leaves_path(l, i, &path);
		f.type = type->name;
		status =
			fn(arg, &f,
			   leaf->is_shown ? HI_FIELD_UNKNOWN : how_of(typing, leaf), err);
	}
	return status;
}

static enum hi_status list_text_field(const struct hi_layout *layout,
				      hi_field_layout_fn *fn, void *arg,
				      struct hi_error *err)
{
	struct hi_field f = {};

	f.type = layout->name;
	return fn(arg, &f, HI_FIELD_TEXT, err);
}

enum hi_status hi_typing_field_layout(struct hi_typing *typing, uint32_t type,
				      hi_field_layout_fn *fn, void *arg,
				      struct hi_field_layout *ret, struct hi_error *err)
{
	uint32_t index =
		type < typing->n_types ? typing->layout_of_type[type] : HI_LAYOUT_NONE;
	const struct hi_layout *layout =
		index >= HI_LAYOUT_FIRST ? hi_layouts_get(typing->layouts, index) : NULL;
	struct hi_field_leaves l = {.typing = typing};
	enum hi_status status = HI_OK;

	*ret = (struct hi_field_layout){.kind = HI_FIELD_LAYOUT_WORDS};
	if (layout && layout->managed && !layout->opaque) {
		ret->kind = HI_FIELD_LAYOUT_EDGES;
	} else if (layout && layout->klass == HI_TYPE_STRING) {
		ret->kind = HI_FIELD_LAYOUT_TEXT;
		status = list_text_field(layout, fn, arg, err);
	} else if (layout && layout->type && layout->type->id && !layout->opaque) {
		*ret = (struct hi_field_layout){HI_FIELD_LAYOUT_RECORD, layout->size};
		status = hi_field_leaves_read(&l, layout->type->id)
				 ? list_leaves(typing, &l, fn, arg, err)
				 : hi_fail_memory(err, "fields");
	}
	hi_field_leaves_free(&l);
	return status;
}

bool hi_typing_elements(struct hi_typing *typing, const struct hi_graph *graph,
			hi_node object, uint64_t *lead_ret, uint64_t *start_ret,
			uint64_t *end_ret, struct hi_field_layout *layout_ret)
{
	struct hi_node_bytes place;

	if (!hi_node_bytes_of(typing, graph, object, &place) ||
	    !hi_node_bytes_are_typed(&place))
		return false;
	*lead_ret = place.layout->lead;
	*layout_ret =
		(struct hi_field_layout){HI_FIELD_LAYOUT_RECORD, place.layout->size};
	hi_layout_extent(place.layout, place.array, place.size, start_ret, end_ret);
	return true;
}
