/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/inference/refined_layouts.h"

#include "base/alloc.h"
#include "census/graph/graph.h"
#include "decode/layouts/layout.h"

enum { WORDS = HI_CHUNK_NODES / 64 };

struct hi_refined_layouts {
	uint64_t bits[WORDS];	/* by place in the chunk */
	uint16_t before[WORDS]; /* how many are set in the words before */
	bool is_wide;		/* layouts: uint32_t, else uint16_t */
	union {
		uint16_t narrow[0];
		uint32_t wide[0];
	} layouts;
};

static bool needs_wide(const struct hi_node_layouts *layouts)
{
	uint32_t all = 0;

	for (size_t i = 0; i < layouts->count; i++)
		all |= layouts->items[i].layout;
	return all > UINT16_MAX;
}

static void count_layouts_before(struct hi_refined_layouts *refined)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < WORDS; i++) {
		refined->before[i] = (uint16_t)sum;
		sum += (unsigned)__builtin_popcountll(refined->bits[i]);
	}
}

bool hi_refined_layouts_pack(const struct hi_node_layouts *layouts,
			     struct hi_refined_layouts **ret)
{
	bool is_wide = needs_wide(layouts);
	struct hi_refined_layouts *refined = NULL;

	*ret = NULL;
	if (!layouts->count)
		return true;
	refined = hi_calloc(1, sizeof(*refined) + layouts->count * (is_wide ? 4 : 2));
	if (!refined)
		return false;
	refined->is_wide = is_wide;
	for (size_t i = 0; i < layouts->count; i++) {
		uint32_t at = layouts->items[i].id % HI_CHUNK_NODES;

		refined->bits[at / 64] |= UINT64_C(1) << at % 64;
		if (is_wide)
			refined->layouts.wide[i] = layouts->items[i].layout;
		else
			refined->layouts.narrow[i] = (uint16_t)layouts->items[i].layout;
	}
	count_layouts_before(refined);
	*ret = refined;
	return true;
}

uint32_t hi_refined_layouts_get(const struct hi_refined_layouts *refined, hi_node id)
{
	uint32_t at = id % HI_CHUNK_NODES;
	uint64_t bit = UINT64_C(1) << at % 64;
	unsigned rank;

	if (!refined || !(refined->bits[at / 64] & bit))
		return HI_LAYOUT_NONE;
	rank = refined->before[at / 64] +
	       (unsigned)__builtin_popcountll(refined->bits[at / 64] & (bit - 1));
	return refined->is_wide ? refined->layouts.wide[rank]
				: refined->layouts.narrow[rank];
}
