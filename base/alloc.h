/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Dynamic memory. Every allocation of the project goes through here, so that tests can
 * fail the nth one (hi_alloc_fail_at). What these return is freed by free() or
 * hi_pages_free(); nothing aborts on failure.
 */
#ifndef HI_BASE_ALLOC_H
#define HI_BASE_ALLOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* NULL when out of memory, also for size 0 sums that would wrap. */
void *hi_alloc(size_t size) __attribute__((malloc));
void *hi_calloc(size_t count, size_t size) __attribute__((malloc));
void *hi_realloc(void *ptr, size_t size);
/* count * size, NULL where the product wraps. */
void *hi_realloc_array(void *ptr, size_t count, size_t size);
char *hi_strdup(const char *text);
char *hi_strndup(const char *text, size_t max);

/*
 * Zeroed anonymous pages for the large columns: huge pages where the kernel
 * gives them, never from malloc. Untouched pages cost nothing.
 * hi_pages_free(NULL, 0) is fine.
 */
void *hi_pages_alloc(size_t size);
void hi_pages_free(void *pages, size_t size);

/* The number of allocations that have failed so far. A caller that goes on without the
 * memory must report that its result may be incomplete. */
uint64_t hi_alloc_failures(void);

/*
 * Tests only: the nth allocation from now on (1 = the next) and every later
 * one fails; 0 switches it off. hi_alloc_count() counts since the last call.
 */
void hi_alloc_fail_at(uint64_t nth);
void hi_alloc_fail_once(uint64_t nth); /* the same for that one alone */
uint64_t hi_alloc_count(void);

#endif
