/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/type_values.h"

#include "census/analysis/analysis.h"
#include "session/source.h"

static bool is_array_of_values(const struct hi_graph *g, hi_node object)
{
	enum hi_type_class klass = g->types[g->objects->type[object]].klass;

	return g->objects->flags[object] & HI_OBJECT_ARRAY &&
	       (klass == HI_TYPE_RECORD || klass == HI_TYPE_SCALAR);
}

static uint64_t count_values(const struct hi_inspection *in,
			     const struct hi_type_set *set, hi_node object)
{
	const struct hi_graph *g = in->graph;
	uint32_t type = g->objects->type[object];
	uint64_t values = set->values ? set->values[type] : 1;
	uint64_t size = g->types[type].size, used;

	if (!size || !is_array_of_values(g, object))
		return values;
	used = in->source->contents->used_bytes(in, object);
	if (used == UINT64_MAX)
		used = hi_objects_usable(g->objects, object);
	return values * (used / size);
}

enum hi_status hi_type_values_count(struct hi_inspection *in,
				    const struct hi_type_set *set, const uint64_t *bits,
				    uint64_t *ret, struct hi_error *err)
{
	const struct hi_graph *g = in->graph;
	enum hi_status status = in->source->contents->open_used_bytes(in, err);
	uint64_t sum = 0;

	if (status != HI_OK)
		return status;
	for (hi_node i = 0; i < g->n_objects; i++)
		if (hi_bit(bits, i) && !hi_is_internal(g, i) &&
		    hi_type_set_has(set, g->objects->type[i]) &&
		    g->objects->type[i] < g->n_types)
			sum += count_values(in, set, i);
	*ret = sum;
	return HI_OK;
}
