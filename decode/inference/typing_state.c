/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/inference/typing_state.h"

#include <stdlib.h>
#include <string.h>

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

uint32_t hi_typing_layout_of(const struct hi_typing *typing, hi_node id)
{
	uint32_t type = typing->objects->type[id];
	uint32_t refined = HI_LAYOUT_NONE;

	if (id >> HI_CHUNK_SHIFT < typing->n_refined_chunks)
		refined = hi_refined_layouts_get(
			typing->refined_layouts[id >> HI_CHUNK_SHIFT], id);
	if (refined != HI_LAYOUT_NONE)
		return refined;
	return type < typing->n_types ? typing->layout_of_type[type] : HI_LAYOUT_NONE;
}

void hi_kept_rows_free(struct hi_kept_rows *rows)
{
	for (size_t i = 0; rows->integer_edges && i < rows->n_chunks; i++)
		hi_vector_free(&rows->integer_edges[i]);
	free(rows->integer_edges);
	free(rows->keys);
	free(rows->marks);
	hi_graph_destroy(rows->graph);
	*rows = (struct hi_kept_rows){};
}

void hi_typing_destroy(struct hi_typing *typing)
{
	if (!typing)
		return;
	hi_layouts_destroy(typing->layouts);
	hi_kept_rows_free(&typing->rows);
	hi_kept_rows_free(&typing->rows_before);
	hi_memory_windows_deinit(&typing->memory_windows);
	free(typing->layout_of_type);
	for (size_t i = 0; i < typing->n_refined_chunks; i++)
		free(typing->refined_layouts[i]);
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
