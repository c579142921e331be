/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/mappings_send.h"

#include <string.h>

#include "base/alloc.h"
#include "base/vector.h"

/* Paths go into one block; a mapping has the offset of its own there. Neighbours often
 * have the same path. */
static void put_path(struct hi_flat *pool, struct hi_mapping *m, const char *before,
		     uintptr_t *offset)
{
	const char *path = m->path ? m->path : "";

	if (!before || strcmp(before, path) != 0) {
		*offset = pool->count;
		pool->is_short |= !hi_vector_append(pool, path, strlen(path) + 1);
	}
	m->path = (const char *)*offset;
}

void hi_mappings_put(struct hi_flat *flat, const struct hi_mapping *mappings, size_t n)
{
	const char *before = NULL;
	struct hi_flat pool = {};
	uintptr_t offset = 0;
	uint64_t count = n;

	hi_flat_put(flat, &count, sizeof(count));
	for (size_t i = 0; i < n; i++) {
		struct hi_mapping m = mappings[i];

		put_path(&pool, &m, before, &offset);
		hi_flat_put(flat, &m, sizeof(m));
		before = mappings[i].path ? mappings[i].path : "";
	}
	hi_flat_put_array(flat, pool.items, pool.count, 1);
	flat->is_short |= pool.is_short;
	hi_vector_free(&pool);
}

/* The array, as it was put, and the block of paths. */
static bool get_mapping_parts(struct hi_flat_reader *reader,
			      const unsigned char **mappings, size_t *n,
			      const char **pool, size_t *pool_size)
{
	uint64_t count;

	hi_flat_get(reader, &count, sizeof(count));
	if (count > reader->left / sizeof(struct hi_mapping))
		return false;
	*n = count;
	*mappings = hi_flat_get_bytes(reader, count * sizeof(struct hi_mapping));
	*pool = hi_flat_get_array(reader, pool_size, 1);
	return *mappings && *pool && (!*pool_size || !(*pool)[*pool_size - 1]);
}

enum hi_status hi_mappings_get(struct hi_flat_reader *reader, struct hi_mapping **ret,
			       size_t *n_ret, struct hi_error *err)
{
	const unsigned char *items;
	struct hi_mapping *mappings;
	const char *pool;
	size_t n, pool_size;
	char *paths;

	if (!get_mapping_parts(reader, &items, &n, &pool, &pool_size))
		return hi_fail(err, HI_BAD_DATA, 0, "mappings that were sent");
	mappings = hi_alloc(n * sizeof(*mappings) + pool_size + 1);
	if (!mappings)
		return hi_fail_memory(err, "mappings");
	paths = (char *)(mappings + n);
	memcpy(mappings, items, n * sizeof(*mappings));
	memcpy(paths, pool, pool_size);
	paths[pool_size] = 0;
	for (size_t i = 0; i < n; i++) {
		uintptr_t offset = (uintptr_t)mappings[i].path;

		mappings[i].path = paths + (offset < pool_size ? offset : pool_size);
	}
	*ret = mappings;
	*n_ret = n;
	return HI_OK;
}

void hi_command_line_put(struct hi_flat *flat, const struct hi_command_line *line)
{
	hi_flat_put(flat, &line->is_cut, sizeof(line->is_cut));
	hi_flat_put_array(flat, line->bytes, line->size, 1);
}

enum hi_status hi_command_line_get(struct hi_flat_reader *reader,
				   struct hi_command_line *ret, struct hi_error *err)
{
	hi_flat_get(reader, &ret->is_cut, sizeof(ret->is_cut));
	ret->bytes = hi_flat_copy_array(reader, &ret->size, 1);
	return ret->bytes ? HI_OK : hi_fail_memory(err, "command line");
}
