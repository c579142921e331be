/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/inference/typing_state.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"

enum { REFINED_STEP = 8 }; /* items of a cache line */

bool hi_is_loader_module(const char *name)
{
	static const char *const names[] = {
		"ld-",	     "ld.so",	   "libc.so", "libc-",	     "libm.so", "libm-",
		"libmvec",   "libpthread", "libdl",   "librt.",	     "librt-",	"libanl",
		"libresolv", "libnss_",	   "libutil", "libthread_db"};

	for (size_t i = 0; name && i < sizeof(names) / sizeof(*names); i++)
		if (strncmp(name, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

const struct hi_block_sizes *hi_typing_sizes(const struct hi_typing *typing)
{
	return &typing->layouts->sizes;
}

struct hi_typing_stats hi_typing_stats(const struct hi_typing *typing)
{
	return typing->stats;
}

/* The first item that is not before the object. They lie about evenly in a chunk: the
 * search begins where it would be if they did, and widens from there, as a search through
 * all of them misses the cache in each step. */
static size_t search_refined(const struct hi_chunk_layouts *v, hi_node id)
{
	const struct hi_node_layout *items = v->items;
	size_t low = 0, high = v->count, step = REFINED_STEP;
	size_t guess = (v->count * (id & (HI_CHUNK_NODES - 1))) >> HI_CHUNK_SHIFT;

	if (guess < high && items[guess].id < id) {
		for (low = guess + 1; high - low > step && items[low + step].id < id;
		     step *= 2)
			low += step + 1;
		high = high - low > step ? low + step : high;
	} else {
		for (high = guess; high > step && items[high - step - 1].id >= id;
		     step *= 2)
			high -= step + 1;
		low = high > step ? high - step : 0;
	}
	return hi_search_from(i, low, high, items[i].id < id);
}

uint32_t hi_typing_layout_of(const struct hi_typing *typing, hi_node id)
{
	uint32_t type = typing->objects->type[id];
	const struct hi_chunk_layouts *v;

	if (id >> HI_CHUNK_SHIFT < typing->n_refined_chunks) {
		size_t low;

		v = &typing->refined_layouts[id >> HI_CHUNK_SHIFT];
		low = search_refined(v, id);
		if (low < v->count && v->items[low].id == id)
			return v->items[low].layout;
	}
	return type < typing->n_types ? typing->layout_of_type[type] : HI_LAYOUT_NONE;
}

void hi_typing_destroy(struct hi_typing *typing)
{
	if (!typing)
		return;
	hi_layouts_destroy(typing->layouts);
	hi_memory_windows_deinit(&typing->memory_windows);
	free(typing->layout_of_type);
	for (size_t i = 0; i < typing->n_refined_chunks; i++)
		hi_vector_free(&typing->refined_layouts[i]);
	free(typing->refined_layouts);
	for (size_t i = 0; typing->integer_edges && i < typing->n_refined_chunks; i++)
		hi_vector_free(&typing->integer_edges[i]);
	free(typing->integer_edges);
	hi_vector_free(&typing->integer_refs);
	if (!typing->remade_taken)
		hi_objects_destroy(typing->remade);
	hi_pools_free(&typing->pools);
	hi_subobjects_destroy(typing->subobjects);
	hi_vector_free(&typing->stdio_buffers);
	hi_vector_free(&typing->root_refs);
	free(typing->untyped);
	hi_vector_free(&typing->slots);
	hi_vector_free(&typing->roots);
	hi_vector_free(&typing->root_ranges);
	hi_vector_free(&typing->own_ranges);
	hi_vector_free(&typing->witnesses);
	hi_vector_free(&typing->seeds);
	hi_arena_free(&typing->arena);
	free(typing);
}
