/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/flat.h"

#include <string.h>

#include "base/alloc.h"
#include "base/vector.h"

#define ALIGNMENT 8u

void hi_flat_put(struct hi_flat *flat, const void *bytes, size_t size)
{
	static const unsigned char padding[ALIGNMENT];
	size_t rest = (ALIGNMENT - size % ALIGNMENT) % ALIGNMENT;

	if (!hi_vector_append(flat, bytes, size) ||
	    !hi_vector_append(flat, padding, rest))
		flat->is_short = true;
}

void hi_flat_put_array(struct hi_flat *flat, const void *items, size_t n, size_t size)
{
	uint64_t count = n;

	hi_flat_put(flat, &count, sizeof(count));
	hi_flat_put(flat, items, n * size);
}

void hi_flat_put_text(struct hi_flat *flat, const char *text)
{
	hi_flat_put_array(flat, text ? text : "", text ? strlen(text) + 1 : 1, 1);
}

const void *hi_flat_get_bytes(struct hi_flat_reader *reader, size_t size)
{
	const void *bytes = reader->at;
	size_t whole = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;

	if (reader->is_short || whole < size || whole > reader->left) {
		reader->is_short = true;
		return NULL;
	}
	reader->at += whole;
	reader->left -= whole;
	return bytes;
}

void hi_flat_get(struct hi_flat_reader *reader, void *ret, size_t size)
{
	const void *bytes = hi_flat_get_bytes(reader, size);

	if (bytes)
		memcpy(ret, bytes, size);
	else
		memset(ret, 0, size);
}

const void *hi_flat_get_array(struct hi_flat_reader *reader, size_t *n_ret, size_t size)
{
	const void *bytes;
	uint64_t n;
	size_t all;

	hi_flat_get(reader, &n, sizeof(n));
	if (__builtin_mul_overflow(n, size, &all))
		reader->is_short = true;
	bytes = hi_flat_get_bytes(reader, all);
	*n_ret = bytes ? n : 0;
	return bytes;
}

void *hi_flat_copy_array(struct hi_flat_reader *reader, size_t *n_ret, size_t size)
{
	const void *items = hi_flat_get_array(reader, n_ret, size);
	void *copy = hi_alloc(*n_ret * size);

	if (copy && *n_ret)
		memcpy(copy, items, *n_ret * size);
	return copy;
}

const char *hi_flat_get_text(struct hi_flat_reader *reader)
{
	size_t n;
	const char *text = hi_flat_get_array(reader, &n, 1);

	return n && text[n - 1] == 0 ? text : "";
}
