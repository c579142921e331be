/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Buffers of glibc's stdio. Their bytes are the contents of a file: a word in it that
 * looks like an address is what the block had before, or text of another process, and
 * holds nothing. All streams are in a list that begins at a symbol, which stripped
 * libraries have too.
 */
#include <stdlib.h>
#include <string.h>

#include "decode/inference/typing_state.h"

/* struct _IO_FILE, struct _IO_wide_data (libio/bits/types/struct_FILE.h, libio/libio.h):
 * the same from 2.1 to 2.42. */
enum {
	FILE_SIZE = 216,
	FILE_BUF_BASE = 56,
	FILE_BUF_END = 64,
	FILE_SAVE_BASE = 72,
	FILE_SAVE_END = 88,
	FILE_CHAIN = 104,
	FILE_WIDE = 160,
	WIDE_BUF_BASE = 48,
	WIDE_BUF_END = 56,
	MOST_STREAMS = 1 << 16,
	SLACK = 64, /* of a block that is a buffer and nothing else */
};
#define FILE_MAGIC 0xfbad0000u
#define FILE_MAGIC_MASK 0xffff0000u

static uint64_t file_word(const uint8_t *bytes, size_t offset)
{
	uint64_t word;

	memcpy(&word, bytes + offset, sizeof(word));
	return word;
}

/* False: out of memory. */
static bool keep_buffer(struct hi_typing *typing, uint64_t start, uint64_t end)
{
	uint64_t offset, usable;
	hi_node id = hi_objects_find(typing->objects, start, &offset);

	if (id == HI_NODE_NONE || offset || end <= start)
		return true;
	usable = hi_object_usable(typing->objects, id);
	if (end - start > usable || usable - (end - start) > SLACK)
		return true;
	return hi_vector_push(&typing->stdio_buffers, id);
}

static bool keep_stream(struct hi_typing *typing, const uint8_t *file)
{
	uint8_t wide[WIDE_BUF_END + 8];
	uint64_t at = file_word(file, FILE_WIDE);

	if (!keep_buffer(typing, file_word(file, FILE_BUF_BASE),
			 file_word(file, FILE_BUF_END)) ||
	    !keep_buffer(typing, file_word(file, FILE_SAVE_BASE),
			 file_word(file, FILE_SAVE_END)))
		return false;
	if (!at ||
	    hi_memory_read(typing->image->memory, at, wide, sizeof(wide), NULL) != HI_OK)
		return true;
	return keep_buffer(typing, file_word(wide, WIDE_BUF_BASE),
			   file_word(wide, WIDE_BUF_END));
}

static int compare_buffers(const void *a, const void *b)
{
	const hi_node *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static uint64_t first_stream(const struct hi_typing *typing)
{
	struct hi_module *libc =
		typing->modules ? hi_modules_named(typing->modules, "libc.so.6") : NULL;
	uint64_t at, size, first;

	if (typing->modules && !libc)
		libc = hi_modules_executable(typing->modules); /* static */
	if (!libc ||
	    hi_modules_symbol(typing->modules, libc, "_IO_list_all", &at, &size, NULL) !=
		    HI_OK ||
	    hi_memory_read_u64(typing->image->memory, at, &first, NULL) != HI_OK)
		return 0;
	return first;
}

enum hi_status hi_stdio_buffers_find(struct hi_typing *typing, struct hi_error *err)
{
	uint64_t at = first_stream(typing);
	uint8_t file[FILE_SIZE];
	uint32_t flags;

	for (unsigned i = 0; at && i < MOST_STREAMS; i++) {
		if (hi_memory_read(typing->image->memory, at, file, sizeof(file), NULL) !=
		    HI_OK)
			break;
		memcpy(&flags, file, sizeof(flags));
		if ((flags & FILE_MAGIC_MASK) != FILE_MAGIC)
			break;
		if (!keep_stream(typing, file))
			return hi_fail_memory(err, "buffers of streams");
		at = file_word(file, FILE_CHAIN);
	}
	if (typing->stdio_buffers.count > 1)
		qsort(typing->stdio_buffers.items, typing->stdio_buffers.count,
		      sizeof(hi_node), compare_buffers);
	return HI_OK;
}

bool hi_stdio_buffers_have(const struct hi_typing *typing, hi_node id)
{
	const hi_node *items = typing->stdio_buffers.items;
	size_t n = typing->stdio_buffers.count;

	/* It is asked of each object, and few are near them. */
	return n && id >= items[0] && id <= items[n - 1] &&
	       bsearch(&id, items, n, sizeof(*items), compare_buffers);
}
