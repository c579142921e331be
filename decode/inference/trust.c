/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/inference/trust.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* Without its size: does something else describe all of the block? */
static bool is_described(const struct hi_layout *layout, bool tail_known)
{
	return layout->managed || layout->blob || tail_known || layout->open_ended;
}

static bool record_fills_block(const struct hi_block_sizes *sizes,
			       const struct hi_layout *layout, bool array,
			       uint64_t usable)
{
	/* Of these each word is looked at. */
	if (layout->klass == HI_TYPE_POINTER_ARRAY || layout->opaque)
		return true;
	if (layout->klass == HI_TYPE_SCALAR || !layout->size)
		return false;
	return array || usable <= hi_fit_usable(sizes, layout->size);
}

bool hi_record_is_certain(const struct hi_block_sizes *sizes,
			  const struct hi_layout *layout, uint32_t key, uint64_t usable,
			  bool tail_known)
{
	enum hi_evidence evidence = (enum hi_evidence)(key >> HI_KEY_EVIDENCE_SHIFT);

	if (evidence == HI_EVIDENCE_SHAPE || evidence == HI_EVIDENCE_NONE)
		return false;
	/* As a typed pointer: where it fills the block, what lies in it is known. */
	if (evidence == HI_EVIDENCE_BASE)
		evidence = HI_EVIDENCE_POINTER;
	/* Behind the count that `new T[n]` writes first, the type is only inferred. A
	 * container's header is its own. */
	if (hi_layout_has_count(layout))
		return !layout->lead || evidence == HI_EVIDENCE_CONTAINER;
	if (evidence == HI_EVIDENCE_CONTAINER || evidence == HI_EVIDENCE_RUNTIME)
		return layout->klass != HI_TYPE_SCALAR;
	return is_described(layout, tail_known) ||
	       record_fills_block(sizes, layout, key & HI_KEY_ARRAY, usable);
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

static void cover_rule_site(struct hi_cover *cover, const struct hi_typing *typing,
			    const struct hi_rule_site *site, uint64_t base, uint64_t end)
{
	const struct hi_type_source *types = &typing->source.types;
	uint64_t size = hi_type_source_get(types, site->rules->type)->size;
	uint64_t at = base + site->offset;

	for (uint64_t n = site->count; n && at < end; n--, at += site->stride)
		for (uint64_t o = (at + 7) & ~(uint64_t)7; o + 8 <= end && o < at + size;
		     o += 8)
			hi_cover_mark(cover, o);
}

void hi_cover_rule_sites(struct hi_cover *cover, const struct hi_typing *typing,
			 const struct hi_layout *layout, bool array, uint64_t usable)
{
	uint64_t start, end;

	hi_layout_extent(layout, array, usable, &start, &end);
	for (uint64_t at = start; layout->size && at + layout->size <= end;
	     at += layout->size) {
		for (uint32_t i = 0; i < layout->n_rule_sites; i++)
			cover_rule_site(cover, typing, &layout->rule_sites[i], at,
					array ? at + layout->size : usable);
		if (!array)
			break;
	}
}
