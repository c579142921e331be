/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Dynamic memory. Every allocation of the project goes through here, so that tests can
 * fail the nth one (hi_alloc_fail_at). Memory is freed by free(), pages by
 * hi_pages_free(). Nothing aborts on failure.
 */
#ifndef HI_BASE_ALLOC_H
#define HI_BASE_ALLOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As malloc(), but size 0 gives a block, too. NULL: out of memory. */
void *hi_alloc(size_t size) __attribute__((malloc));
/* As calloc(). */
void *hi_calloc(size_t count, size_t size) __attribute__((malloc));
/* As realloc(); ptr is unchanged on failure. */
void *hi_realloc(void *ptr, size_t size);
/* As hi_realloc() with count * size bytes. NULL: out of memory, or the product
 * overflows. */
void *hi_realloc_array(void *ptr, size_t count, size_t size);
/* A copy of text. NULL: out of memory. */
char *hi_strdup(const char *text);
/* A copy of at most max bytes of text. NULL: out of memory. */
char *hi_strndup(const char *text, size_t max);

/*
 * size bytes of zeroed anonymous pages, for large columns: huge pages where the kernel
 * has them. Untouched pages use no memory. NULL: out of memory. hi_pages_free() takes the
 * same size; hi_pages_free(NULL, 0) is fine.
 */
void *hi_pages_alloc(size_t size);
/* Frees pages of that size. */
void hi_pages_free(void *pages, size_t size);

/* The number of allocations that have failed so far. A caller that goes on without the
 * memory must report that its result may be incomplete. */
uint64_t hi_alloc_failures(void);

/*
 * For tests: the nth allocation from now on (1: the next) and every later one fails; 0
 * switches that off. hi_alloc_count() is the number of allocations since the last call.
 */
void hi_alloc_fail_at(uint64_t nth);
/* The same, but only the nth allocation fails. */
void hi_alloc_fail_once(uint64_t nth);
/* Returns the number of allocations since hi_alloc_fail_at() or hi_alloc_fail_once(). */
uint64_t hi_alloc_count(void);

#endif
