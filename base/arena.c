/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define CHUNK_SIZE (64u << 10)

struct hi_arena_chunk {
	struct hi_arena_chunk *next;
	size_t size, used;
	_Alignas(16) unsigned char bytes[];
};

static struct hi_arena_chunk *chunk_for(struct hi_arena *arena, size_t size)
{
	struct hi_arena_chunk *chunk = arena->chunks;
	size_t room = size > CHUNK_SIZE ? size : CHUNK_SIZE;

	if (chunk && chunk->size - chunk->used >= size)
		return chunk;
	chunk = hi_calloc(1, sizeof(*chunk) + room);
	if (!chunk)
		return NULL;
	chunk->size = room;
	chunk->next = arena->chunks;
	arena->chunks = chunk;
	return chunk;
}

void *hi_arena_alloc(struct hi_arena *arena, size_t size)
{
	size_t rounded = (size + 15) & ~(size_t)15;
	struct hi_arena_chunk *chunk;
	void *ret;

	if (rounded < size)
		return NULL;
	chunk = chunk_for(arena, rounded);
	if (!chunk)
		return NULL;
	ret = chunk->bytes + chunk->used;
	chunk->used += rounded;
	arena->used += rounded;
	return ret;
}

char *hi_arena_strdup(struct hi_arena *arena, const char *text)
{
	size_t n = strlen(text) + 1;
	char *copy = hi_arena_alloc(arena, n);

	return copy ? memcpy(copy, text, n) : NULL;
}

char *hi_arena_printf(struct hi_arena *arena, const char *fmt, ...)
{
	va_list ap, again;
	char *text;
	int n;

	va_start(ap, fmt);
	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	text = n < 0 ? NULL : hi_arena_alloc(arena, (size_t)n + 1);
	if (text)
		vsnprintf(text, (size_t)n + 1, fmt, again);
	va_end(again);
	return text;
}

void hi_arena_free(struct hi_arena *arena)
{
	while (arena->chunks) {
		struct hi_arena_chunk *next = arena->chunks->next;

		free(arena->chunks);
		arena->chunks = next;
	}
	arena->used = 0;
}
