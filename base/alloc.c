/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/alloc.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HUGE_PAGE (2u << 20)

static _Atomic uint64_t fail_at, fail_end;
static _Atomic uint64_t count;
static _Atomic uint64_t failures;

static bool is_set_to_fail(void)
{
	uint64_t limit = atomic_load_explicit(&fail_at, memory_order_relaxed);
	uint64_t now = atomic_fetch_add_explicit(&count, 1, memory_order_relaxed) + 1;

	return limit && now >= limit &&
	       now < atomic_load_explicit(&fail_end, memory_order_relaxed);
}

static void *count_failure(void *ptr)
{
	if (!ptr)
		atomic_fetch_add_explicit(&failures, 1, memory_order_relaxed);
	return ptr;
}

static void fail_between(uint64_t first, uint64_t end)
{
	atomic_store(&count, 0);
	atomic_store(&fail_end, end);
	atomic_store(&fail_at, first);
}

void hi_alloc_fail_at(uint64_t nth)
{
	fail_between(nth, UINT64_MAX);
}

void hi_alloc_fail_once(uint64_t nth)
{
	fail_between(nth, nth + 1);
}

uint64_t hi_alloc_failures(void)
{
	return atomic_load(&failures);
}

uint64_t hi_alloc_count(void)
{
	return atomic_load(&count);
}

void *hi_alloc(size_t size)
{
	return count_failure(is_set_to_fail() ? NULL : malloc(size ? size : 1));
}

void *hi_calloc(size_t n, size_t size)
{
	return count_failure(is_set_to_fail() ? NULL
					      : calloc(n ? n : 1, size ? size : 1));
}

void *hi_realloc(void *ptr, size_t size)
{
	return count_failure(is_set_to_fail() ? NULL : realloc(ptr, size ? size : 1));
}

void *hi_realloc_array(void *ptr, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes))
		return count_failure(NULL);
	return hi_realloc(ptr, bytes);
}

char *hi_strdup(const char *text)
{
	return hi_strndup(text, strlen(text));
}

char *hi_strndup(const char *text, size_t max)
{
	size_t n = strnlen(text, max);
	char *copy = hi_alloc(n + 1);

	if (!copy)
		return NULL;
	memcpy(copy, text, n);
	copy[n] = 0;
	return copy;
}

void *hi_pages_alloc(size_t size)
{
	void *pages;

	if (is_set_to_fail())
		return count_failure(NULL);
	pages = mmap(NULL, size ? size : 1, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (pages == MAP_FAILED)
		return count_failure(NULL);
	if (size >= HUGE_PAGE)
		(void)madvise(pages, size, MADV_HUGEPAGE); /* a hint, may be refused */
	return pages;
}

void hi_pages_free(void *pages, size_t size)
{
	if (pages)
		(void)munmap(pages, size ? size : 1);
}
