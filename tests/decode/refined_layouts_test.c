/* SPDX-License-Identifier: BSD-2-Clause */
/* Packed layouts of a chunk (decode/inference/refined_layouts.h) against a plain array. */
#include "tests/harness.h"

#include <stdlib.h>

#include "census/graph/graph.h"
#include "decode/inference/refined_layouts.h"
#include "decode/layouts/layout.h"
#include "tests/support/random.h"

static uint32_t plain[HI_CHUNK_NODES];

/* Draws layouts below `limit` for one object in `apart`, of chunk `index`. */
static struct hi_refined_layouts *draw_refined(uint64_t seed, uint32_t index,
					       uint32_t apart, uint32_t limit)
{
	struct hi_node_layouts list = {};
	struct hi_refined_layouts *refined = NULL;
	uint64_t state = seed;

	for (uint32_t i = 0; i < HI_CHUNK_NODES; i++) {
		plain[i] = HI_LAYOUT_NONE;
		if (next_random(&state) % apart)
			continue;
		plain[i] = 1 + (uint32_t)(next_random(&state) % (limit - 1));
		HI_ASSERT(hi_vector_push(
			&list, ((struct hi_node_layout){(index << HI_CHUNK_SHIFT) + i,
							plain[i]})));
	}
	HI_ASSERT(hi_refined_layouts_pack(&list, &refined));
	hi_vector_free(&list);
	return refined;
}

HI_TEST(refined_layouts, each_object_has_its_own_or_none)
{
	static const uint32_t aparts[] = {1, 2, 7, 1000};
	static const uint32_t limits[] = {2, UINT16_MAX + 1, UINT16_MAX + 2, 1 << 24};

	for (uint32_t k = 0; k < 4; k++)
		for (uint32_t l = 0; l < 4; l++) {
			struct hi_refined_layouts *refined =
				draw_refined(1 + k * 4 + l, k, aparts[k], limits[l]);
			uint32_t wrong = 0;

			for (uint32_t i = 0; i < HI_CHUNK_NODES; i++)
				wrong += plain[i] !=
					 hi_refined_layouts_get(
						 refined, (k << HI_CHUNK_SHIFT) + i);
			free(refined);
			HI_ASSERT_EQ(0, wrong);
		}
}

HI_TEST(refined_layouts, no_layouts_take_no_memory)
{
	struct hi_node_layouts none = {};
	struct hi_refined_layouts *refined = NULL;

	HI_ASSERT(hi_refined_layouts_pack(&none, &refined));
	HI_ASSERT(refined == NULL);
	HI_ASSERT_EQ(HI_LAYOUT_NONE, hi_refined_layouts_get(refined, 5));
}
