/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/inference/trust.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* Not by its own size: is something else known of all of the block? */
static bool is_described(const struct hi_plan *plan, bool tail_known)
{
	return plan->managed || plan->blob || tail_known || plan->open_ended;
}

static bool fills(const struct hi_plan *plan, bool array, uint64_t usable)
{
	/* Of these each word is looked at. */
	if (plan->klass == HI_TYPE_POINTER_ARRAY || plan->opaque)
		return true;
	if (plan->klass == HI_TYPE_SCALAR || !plan->size)
		return false;
	return array || usable <= hi_fit_usable(plan->size);
}

bool hi_record_is_certain(const struct hi_plan *plan, uint32_t key, uint64_t usable,
			  bool tail_known)
{
	enum hi_evidence evidence = (enum hi_evidence)(key >> HI_KEY_EVIDENCE_SHIFT);

	if (evidence == HI_EVIDENCE_SHAPE || evidence == HI_EVIDENCE_NONE)
		return false;
	/* Behind the number of elements that `new T[n]` writes first: a guess. What a
	 * container has there is its own. */
	if (hi_plan_count_is_said(plan))
		return !plan->lead || evidence == HI_EVIDENCE_CONTAINER;
	if (evidence == HI_EVIDENCE_CONTAINER || evidence == HI_EVIDENCE_RUNTIME)
		return plan->klass != HI_TYPE_SCALAR;
	return is_described(plan, tail_known) || fills(plan, key & HI_KEY_ARRAY, usable);
}

bool hi_cover_begin(struct hi_cover *cover, uint64_t usable)
{
	size_t need = (size_t)(usable / 8 + 63) / 64;

	if (need > cover->capacity) {
		uint64_t *bits = hi_alloc(need * sizeof(*bits));

		if (!bits)
			return false;
		free(cover->bits);
		cover->bits = bits;
		cover->capacity = need;
	}
	cover->n = usable / 8;
	if (need)
		memset(cover->bits, 0, need * sizeof(*cover->bits));
	return true;
}

void hi_cover_end(struct hi_cover *cover)
{
	free(cover->bits);
	*cover = (struct hi_cover){};
}

static void cover_site(struct hi_cover *cover, const struct hi_typing *typing,
		       const struct hi_site *site, uint64_t base, uint64_t end)
{
	const struct hi_type_source *types = &typing->source.types;
	uint64_t size = types->type(types->arg, site->rules->type)->size;
	uint64_t at = base + site->offset;

	for (uint64_t n = site->count; n && at < end; n--, at += site->stride)
		for (uint64_t o = (at + 7) & ~(uint64_t)7; o + 8 <= end && o < at + size;
		     o += 8)
			hi_cover_mark(cover, o);
}

void hi_cover_sites(struct hi_cover *cover, const struct hi_typing *typing,
		    const struct hi_plan *plan, bool array, uint64_t usable)
{
	uint64_t start, end;

	hi_plan_extent(plan, array, usable, &start, &end);
	for (uint64_t at = start; plan->size && at + plan->size <= end;
	     at += plan->size) {
		for (uint32_t i = 0; i < plan->n_sites; i++)
			cover_site(cover, typing, &plan->sites[i], at,
				   array ? at + plan->size : usable);
		if (!array)
			break;
	}
}
