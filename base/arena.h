/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bump allocation, for many small objects that are freed together. Not thread-safe.
 * Zero-initialised is empty; hi_arena_free() gives everything back at once.
 */
#ifndef HI_BASE_ARENA_H
#define HI_BASE_ARENA_H

#include <stddef.h>

struct hi_arena {
	struct hi_arena_chunk *chunks;
	size_t used; /* bytes handed out */
};

/* Zeroed, 16-byte aligned; NULL when out of memory. */
void *hi_arena_alloc(struct hi_arena *arena, size_t size);
/* A copy of text in the arena. NULL: out of memory. */
char *hi_arena_strdup(struct hi_arena *arena, const char *text);
/* Formatted text in the arena. NULL: out of memory. */
char *hi_arena_printf(struct hi_arena *arena, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Frees everything; the arena is empty again. */
void hi_arena_free(struct hi_arena *arena);

#endif
