/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Objects of a runtime: their types into the type column, settled, before types are
 * propagated. First the runtime's own numbers (from 1 on), by several threads; then each
 * becomes the key of its layout.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "decode/inference/typing_state.h"

enum { FIRM = 1 << 31 }; /* while numbers are in the column */

static void put_type(void *arg, hi_node block, uint32_t type, bool firm)
{
	struct hi_typing *typing = arg;
	uint32_t *at = &typing->objects->type[block], none = 0;

	if (type == 0 || block >= typing->objects->count)
		return;
	if (firm)
		__atomic_store_n(at, (type + 1) | FIRM, __ATOMIC_RELAXED);
	else
		__atomic_compare_exchange_n(at, &none, type + 1, false, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED);
}

static uint32_t make_managed_layout(struct hi_typing *typing, uint32_t type)
{
	const struct hi_runtime_type *t = &typing->runtime->types[type];
	uint32_t layout = hi_layouts_managed(
		typing->layouts, &(struct hi_managed_name){.name = t->name,
							   .module = t->module,
							   .size = t->size,
							   .klass = t->klass,
							   .words = t->words,
							   .number = type + 1});

	if (layout >= HI_LAYOUT_FIRST)
		atomic_store(&hi_layouts_get(typing->layouts, layout)->used, true);
	return layout;
}

static void settle_managed_types(struct hi_typing *typing, uint32_t *layouts)
{
	struct hi_objects *objects = typing->objects;

	for (hi_node id = 0; id < objects->count; id++) {
		uint32_t type = objects->type[id] & ~(uint32_t)FIRM;

		if (!type || type > typing->runtime->n_types) {
			objects->type[id] = 0;
			continue;
		}
		if (!layouts[type - 1])
			layouts[type - 1] = make_managed_layout(typing, type - 1);
		objects->type[id] = layouts[type - 1] < HI_LAYOUT_FIRST
					    ? 0
					    : (uint32_t)HI_EVIDENCE_RUNTIME
							      << HI_KEY_EVIDENCE_SHIFT |
						      HI_KEY_SETTLED | layouts[type - 1];
	}
}

enum hi_status hi_managed_find(struct hi_typing *typing, struct hi_error *err)
{
	HI_GUARD(free) uint32_t *layouts = NULL;
	enum hi_status status;

	if (!typing->runtime)
		return HI_OK;
	status = hi_runtime_type_of(typing->runtime, typing->objects, typing->threads,
				    put_type, typing, err);
	if (status != HI_OK)
		return status;
	layouts = hi_calloc((size_t)typing->runtime->n_types + 1, sizeof(*layouts));
	if (!layouts)
		return hi_fail_memory(err, "types of the runtime");
	settle_managed_types(typing, layouts);
	return HI_OK;
}
