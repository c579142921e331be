/* SPDX-License-Identifier: BSD-2-Clause */
/* The columns of the object table: their memory, and the functions that read them. */
#include "census/graph/objects_internal.h"

#include "base/alloc.h"

/* Entries from here on come as pages, which cost nothing until touched. */
#define ENTRY_PAGES_MIN (64u << 10)

bool hi_entry_block_alloc(struct hi_entry_block *block, uint64_t granules)
{
	size_t n = (size_t)((granules - 1) / 64 + 1) * sizeof(*block->entries);

	if (n >= ENTRY_PAGES_MIN) {
		block->entries = hi_pages_alloc(n);
		block->pages_size = n;
	} else {
		block->entries = hi_calloc(1, n);
	}
	return block->entries;
}

void hi_entry_block_free(struct hi_entry_block *block)
{
	if (block->pages_size)
		hi_pages_free(block->entries, block->pages_size);
	else
		free(block->entries);
	*block = (struct hi_entry_block){};
}

static void destroy_objects_private(struct hi_objects_private *priv)
{
	if (!priv)
		return;
	for (size_t i = 0; i < priv->blocks.count; i++)
		hi_entry_block_free(&priv->blocks.items[i]);
	hi_vector_free(&priv->blocks);
	hi_vector_free(&priv->windows);
	hi_vector_free(&priv->large);
	free(priv->regions);
	free(priv->region_starts);
	free(priv->single);
	free(priv);
}

void hi_objects_destroy(struct hi_objects *objects)
{
	if (!objects)
		return;
	if (!objects->priv || !objects->priv->is_borrowed) {
		hi_pages_free(objects->address_low, (size_t)objects->count * 4);
		hi_pages_free(objects->usable_low, (size_t)objects->count * 4);
		hi_pages_free(objects->type, (size_t)objects->count * 4);
		hi_pages_free(objects->flags, objects->count);
	}
	destroy_objects_private(objects->priv);
	free(objects);
}

uint64_t hi_objects_address(const struct hi_objects *objects, hi_node id)
{
	const struct hi_address_window *w = objects->windows;
	uint32_t n = objects->n_windows;

	while (n > 1) {
		uint32_t half = n / 2;

		if (w[half].first <= id)
			w += half;
		n -= half;
	}
	return w->base + objects->address_low[id];
}

void hi_address_cursor_move(const struct hi_objects *objects, struct hi_address_cursor *c,
			    hi_node id)
{
	uint32_t w = c->window;

	if (!objects->n_windows) {
		*c = (struct hi_address_cursor){.end = HI_NODE_NONE};
		return;
	}
	while (w + 1 < objects->n_windows && objects->windows[w + 1].first <= id)
		w++;
	*c = (struct hi_address_cursor){.base = objects->windows[w].base,
					.end = w + 1 < objects->n_windows
						       ? objects->windows[w + 1].first
						       : HI_NODE_NONE,
					.window = w};
}

static uint64_t large_usable(const struct hi_objects_private *priv, hi_node id)
{
	const struct hi_large_object *large = priv->large.items;
	size_t n = priv->large.count;

	while (n > 1) {
		size_t half = n / 2;

		if (large[half].id <= id)
			large += half;
		n -= half;
	}
	return large->usable;
}

uint64_t hi_objects_usable(const struct hi_objects *objects, hi_node id)
{
	uint32_t low = objects->usable_low[id];

	return low == UINT32_MAX ? large_usable(objects->priv, id) : low;
}

uint64_t hi_objects_cost(const struct hi_objects *objects, hi_node id)
{
	unsigned klass = objects->flags[id] >> HI_OBJECT_OVERHEAD_SHIFT & 3;

	return hi_objects_usable(objects, id) + objects->overhead[klass];
}
