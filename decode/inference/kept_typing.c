/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/inference/kept_typing.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "decode/inference/row_reuse.h"

/* More layouts than this, beside twice those of the first census, are made anew: vectors
 * that grow have a layout for each length. */
enum { MORE_LAYOUTS = 1 << 16 };

static uint64_t bytes_of_graph(const struct hi_graph *g)
{
	uint64_t lookup = 0;

	for (uint32_t i = 0; i < g->objects->n_regions; i++) {
		const struct hi_lookup_region *r = &g->objects->regions[i];

		lookup += ((r->end - r->start) >> r->shift >> 6) *
			  sizeof(struct hi_lookup_entry);
	}
	return lookup + g->n_edges * (sizeof(hi_node) + 1) +
	       g->n_objects * (4 * sizeof(uint32_t) + 1);
}

uint64_t hi_kept_rows_bytes(const struct hi_kept_rows *rows)
{
	return rows->graph ? bytes_of_graph(rows->graph) : 0;
}

/* The graph's types and flags are of no use any more: keys and marks take their place. */
static void store_keys_and_marks(struct hi_kept_rows *rows)
{
	struct hi_objects *objects = rows->graph->objects;

	memcpy(objects->type, rows->keys, objects->count * sizeof(*objects->type));
	memcpy(objects->flags, rows->marks, objects->count);
	free(hi_take(rows->keys));
	free(hi_take(rows->marks));
}

static bool are_too_many(const struct hi_layouts *layouts, uint32_t n_at_first)
{
	return hi_layouts_failed(layouts) ||
	       hi_layouts_count(layouts) / 2 > n_at_first + MORE_LAYOUTS;
}

void hi_typing_keep(struct hi_typing *typing, struct hi_graph **graph, uint64_t max_bytes,
		    struct hi_kept_typing *kept)
{
	struct hi_kept_rows *rows = &typing->rows;
	uint32_t n = typing->n_layouts_at_first;

	if (!rows->keys || !*graph || (*graph)->objects != typing->objects)
		return;
	if (!n)
		n = hi_layouts_count(typing->layouts);
	rows->graph = *graph;
	if (are_too_many(typing->layouts, n) || hi_kept_rows_bytes(rows) > max_bytes) {
		rows->graph = NULL;
		return;
	}
	*graph = NULL;
	store_keys_and_marks(rows);
	rows->integer_edges = hi_take(typing->integer_edges);
	rows->n_chunks = typing->n_refined_chunks;
	kept->rows = *rows;
	*rows = (struct hi_kept_rows){};
	kept->layouts = hi_take(typing->layouts);
	kept->n_at_first = n;
}

void hi_kept_typing_take(struct hi_kept_typing *kept, struct hi_typing *typing)
{
	typing->layouts = hi_take(kept->layouts);
	typing->n_layouts_at_first = kept->n_at_first;
	typing->rows_before = kept->rows;
	*kept = (struct hi_kept_typing){};
	if (typing->layouts)
		hi_layouts_renew(typing->layouts);
}

void hi_kept_typing_free(struct hi_kept_typing *kept)
{
	hi_layouts_destroy(kept->layouts);
	hi_kept_rows_free(&kept->rows);
	*kept = (struct hi_kept_typing){};
}
