/* SPDX-License-Identifier: BSD-2-Clause */
/* Roots of a runtime, and the part of its memory that has no others. */
#include "decode/roots/roots.h"

void hi_roots_take_runtime(struct hi_roots *r)
{
	const struct hi_runtime *runtime = r->typing->runtime;

	for (size_t i = 0; runtime && i < runtime->n_areas; i++)
		hi_roots_take(r, runtime->areas[i].start, runtime->areas[i].end);
	for (size_t i = 0; runtime && i < runtime->n_own; i++) {
		const struct hi_range *own = &runtime->own[i];

		hi_roots_take(r, own->start, own->end);
		if (!hi_vector_push(&r->own, ((struct hi_section_range){
						     own->start, own->end, false})))
			hi_roots_no_memory(r);
	}
	hi_ranges_sort(&r->own);
}

static bool add_root(void *arg, const struct hi_runtime_root *root)
{
	struct hi_roots *r = arg;

	for (size_t i = 0; i < root->n_edges; i++)
		hi_roots_refer(r, root->edges[i].to, root->edges[i].grade);
	hi_roots_end(r,
		     &(struct hi_root){.kind = root->kind,
				       .name = root->name,
				       .detail = root->detail,
				       .type = root->type},
		     NULL);
	return r->status == HI_OK;
}

void hi_roots_of_runtime(struct hi_roots *r)
{
	struct hi_runtime *runtime = r->typing->runtime;
	enum hi_status status;

	if (!runtime)
		return;
	status = hi_runtime_roots(runtime, add_root, r, r->err);
	if (status != HI_OK)
		r->status = status;
}
