/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/describe/shown_fields.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "decode/describe/container_value.h"
#include "decode/describe/describe.h"
#include "decode/describe/field_leaves.h"

struct shown_leaf {
	uint32_t number; /* among the fields of an element */
	hi_type_id type;
	uint64_t offset, size;
};
/* Has the fields of one type of the graph. */
struct shown_type {
	bool is_read;
	uint32_t n_fields;
	struct shown_leaves HI_VECTOR(struct shown_leaf) leaves;
};
struct hi_shown_fields {
	struct hi_typing *typing;
	const struct hi_graph *graph;
	struct shown_type *types;
	struct hi_container_values values;
};

enum hi_status hi_shown_fields_open(struct hi_typing *typing,
				    const struct hi_graph *graph,
				    struct hi_shown_fields **ret, struct hi_error *err)
{
	struct hi_shown_fields *s = hi_calloc(1, sizeof(*s));

	*ret = NULL;
	if (s)
		s->types = hi_calloc((size_t)graph->n_types + 1, sizeof(*s->types));
	if (!s || !s->types) {
		free(s);
		return hi_fail_memory(err, "fields");
	}
	s->typing = typing;
	s->graph = graph;
	s->values = (struct hi_container_values){.typing = typing, .graph = graph};
	*ret = s;
	return HI_OK;
}

void hi_shown_fields_close(struct hi_shown_fields *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->graph->n_types; i++)
		hi_vector_free(&s->types[i].leaves);
	hi_container_values_free(&s->values);
	free(s->types);
	free(s);
}

/* False: no memory. */
static bool read_shown_type(struct hi_shown_fields *s, hi_type_id id,
			    struct shown_type *type)
{
	struct hi_field_leaves l = {.typing = s->typing};
	bool ok = hi_field_leaves_read(&l, id);

	for (size_t i = 0; ok && i < l.done.count; i++) {
		const struct hi_field_leaf *leaf = &l.nodes.items[l.done.items[i]];
		struct shown_leaf one = {
			.number = (uint32_t)i,
			.type = leaf->type,
			.offset = leaf->offset,
			.size = hi_type_source_get(&s->typing->source.types, leaf->type)
					->size};

		ok = !leaf->is_shown || hi_vector_push(&type->leaves, one);
	}
	type->n_fields = (uint32_t)l.done.count;
	type->is_read = ok;
	hi_field_leaves_free(&l);
	return ok;
}

static enum hi_status each_shown_leaf(struct hi_shown_fields *s, hi_node object,
				      const struct hi_node_bytes *place,
				      const struct shown_type *type,
				      hi_shown_field_fn *fn, void *arg,
				      struct hi_error *err)
{
	struct hi_node_elements elements = hi_node_elements_of(place);
	enum hi_status status = HI_OK;
	uint64_t before = 0; /* fields of the elements before */

	for (uint64_t e = 0; e < elements.n && before < HI_SHOWN_FIELDS_MAX;
	     e++, before += type->n_fields) {
		uint64_t at = place->address + place->layout->lead +
			      (elements.first + e) * place->layout->size;

		for (size_t i = 0; i < type->leaves.count && status == HI_OK; i++) {
			const struct shown_leaf *leaf = &type->leaves.items[i];
			struct hi_field f = {.to = HI_NODE_NONE, .size = leaf->size};

			hi_container_show(&s->values, object, leaf->type,
					  at + leaf->offset, &f);
			status = s->values.no_memory
					 ? hi_fail_memory(err, "fields")
					 : fn(arg, (uint32_t)before + leaf->number, &f,
					      err);
		}
		if (status != HI_OK)
			return status;
	}
	return HI_OK;
}

enum hi_status hi_shown_fields_each(struct hi_shown_fields *s, hi_node object,
				    hi_shown_field_fn *fn, void *arg,
				    struct hi_error *err)
{
	uint32_t number = s->graph->objects->type[object];
	struct hi_node_bytes place;
	struct shown_type *type;

	if (number >= s->graph->n_types ||
	    !hi_node_bytes_of(s->typing, s->graph, object, &place) ||
	    !hi_node_bytes_are_typed(&place))
		return HI_OK;
	type = &s->types[number];
	if (!type->is_read && !read_shown_type(s, place.type, type))
		return hi_fail_memory(err, "fields");
	return type->leaves.count ? each_shown_leaf(s, object, &place, type, fn, arg, err)
				  : HI_OK;
}
