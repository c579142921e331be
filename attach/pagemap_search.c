/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "attach/pagemap.h"
#include "attach/pagemap_internal.h"
#include "base/search.h"
#include "base/alloc.h"
#include "base/cleanup.h"

/*
 * Note [Reservations without PAGEMAP_SCAN]
 *
 * Before 6.7 the pagemap can only be read, 8 bytes a page, and the kernel takes 4 ns for
 * each page that was never touched: 0.27 s for a reservation of 256 GiB, 17 s for the 16
 * TiB of a sanitizer's shadow. So a mapping that is large for its process is searched:
 *
 * - smaps has how many pages a mapping has, by a walk that leaves out what page tables
 *   do not hold. A mapping without any is done.
 * - Others are read where pages are likely, until there are as many as in smaps: where
 *   they were the last time, where a sanitizer has the shadow of other mappings, around
 *   what was found, and last from both ends towards the middle.
 *
 * In the stop smaps and entries agree, so that what is left out is proved to be empty. It
 * may hold the page of zeros, which smaps does not count, and as which memory that was
 * never touched reads as well. An entry counts only if it cannot be that page: it is
 * mapped once (bit 56), of a file (bit 61), or another page than the one of zeros (page
 * frame numbers, for CAP_SYS_ADMIN). Pages that a fork shares are neither for others:
 * then the whole mapping is read.
 *
 * Reads of the search are bounded (search_limit): in the stop there are few, since all
 * was found before it except new pages. Pages that are still missing then are reported as
 * unknown, not as zero.
 */
enum {
	PAGE = HI_PAGEMAP_PAGE,
	UNIT = 512 * PAGE,	/* of a page table: what was found there is known later */
	CHUNK = 8192 * PAGE,	/* what is read between two looks at the count */
	NEIGHBOURS_MAX = 1024,	/* runs around which is looked */
	SHADOWED_MAX = 1 << 20, /* pages of mappings that have a shadow */
};

/* AddressSanitizer on x86-64 Linux: llvm, compiler-rt/lib/asan/asan_mapping.h. */
#define ASAN_SHIFT 3
#define ASAN_OFFSET 0x7fff8000ull

struct page_search {
	struct hi_pagemap *pagemap;
	uint64_t start, end;
	bool counts; /* wanted is known */
	struct hi_pagemap_count wanted, got;
	struct hi_page_runs looked; /* sorted, disjoint, not adjacent; flags 1 */
	struct hi_page_runs found;  /* in the order in which they were looked at */
	struct hi_error *err;
};

static void hi_guard_free_runs(struct hi_page_runs *runs)
{
	hi_vector_free(runs);
}

static void hi_guard_free_search(struct page_search *search)
{
	hi_vector_free(&search->looked);
	hi_vector_free(&search->found);
}

static bool has_all_pages(const struct page_search *search)
{
	return search->counts && search->got.resident == search->wanted.resident &&
	       search->got.swapped == search->wanted.swapped;
}

static bool may_go_on(const struct page_search *search)
{
	return !has_all_pages(search) &&
	       search->pagemap->searched < search->pagemap->search_limit;
}

/* The first run that ends at addr or above. */
static size_t find_run(const struct hi_page_runs *runs, uint64_t addr)
{
	return hi_search(i, runs->count, runs->items[i].end < addr);
}

/* [start, end) joins what was looked at. */
static bool mark_looked(struct hi_page_runs *looked, uint64_t start, uint64_t end)
{
	size_t first = find_run(looked, start), last = first;
	struct hi_page_run *items;

	for (; last < looked->count && looked->items[last].start <= end; last++) {
		if (looked->items[last].start < start)
			start = looked->items[last].start;
		if (looked->items[last].end > end)
			end = looked->items[last].end;
	}
	if (first == last && !hi_vector_reserve(looked, looked->count + 1))
		return false;
	items = looked->items;
	memmove(items + first + 1, items + last, (looked->count - last) * sizeof(*items));
	items[first] = (struct hi_page_run){start, end, 1};
	looked->count = looked->count + 1 - (last - first);
	return true;
}

static enum hi_status read_pagemap_part(struct page_search *search, uint64_t start,
					uint64_t end)
{
	enum hi_status status = hi_pagemap_read_plainly(
		search->pagemap, start, end, &search->found, &search->got, search->err);

	search->pagemap->searched += (end - start) / PAGE;
	return status;
}

/* Looks at the part of [start, end) that was not looked at yet. */
static enum hi_status look_at_span(struct page_search *search, uint64_t start,
				   uint64_t end)
{
	enum hi_status status = HI_OK;
	uint64_t at;

	if (start < search->start)
		start = search->start;
	if (end > search->end)
		end = search->end;
	at = start;
	while (at < end && status == HI_OK) {
		size_t i = find_run(&search->looked, at + 1);
		const struct hi_page_run *next =
			i < search->looked.count ? &search->looked.items[i] : NULL;
		uint64_t stop = next && next->start < end ? next->start : end;

		if (stop > at)
			status = read_pagemap_part(search, at, stop);
		at = next && stop == next->start ? next->end : stop;
	}
	if (status == HI_OK && start < end && !mark_looked(&search->looked, start, end))
		status = hi_fail_memory(search->err, "runs of pages");
	return status;
}

static enum hi_status look_in_chunks(struct page_search *search, uint64_t start,
				     uint64_t end)
{
	enum hi_status status = HI_OK;

	if (start < search->start)
		start = search->start;
	if (end > search->end)
		end = search->end;
	for (; status == HI_OK && start < end && may_go_on(search); start += CHUNK)
		status = look_at_span(search, start,
				      end - start < CHUNK ? end : start + CHUNK);
	return status;
}

static enum hi_status look_where_it_was(struct page_search *search)
{
	const struct hi_page_runs *known = &search->pagemap->known;
	uint64_t searched = search->pagemap->searched;
	enum hi_status status = HI_OK;

	for (size_t i = find_run(known, search->start + 1);
	     status == HI_OK && i < known->count && !has_all_pages(search) &&
	     known->items[i].start < search->end;
	     i++)
		status = look_at_span(search, known->items[i].start, known->items[i].end);
	search->pagemap->searched = searched; /* there are pages: no search */
	return status;
}

static enum hi_status look_at_shadows(struct page_search *search,
				      const struct hi_mapping *all, size_t n)
{
	enum hi_status status = HI_OK;

	for (size_t i = 0; i < n && status == HI_OK && may_go_on(search); i++) {
		uint64_t start = (all[i].start >> ASAN_SHIFT) + ASAN_OFFSET;
		uint64_t end = (all[i].end >> ASAN_SHIFT) + ASAN_OFFSET;

		if ((all[i].end - all[i].start) / PAGE <= SHADOWED_MAX &&
		    start < search->end && end > search->start)
			status = look_in_chunks(search, start / UNIT * UNIT,
						(end + UNIT - 1) / UNIT * UNIT);
	}
	return status;
}

/* Memory grows where it is. */
static enum hi_status look_around(struct page_search *search)
{
	size_t n = search->found.count;
	enum hi_status status = HI_OK;

	if (n > NEIGHBOURS_MAX)
		n = NEIGHBOURS_MAX;
	for (size_t i = 0; i < n && status == HI_OK; i++) {
		struct hi_page_run run = search->found.items[i];

		status = look_in_chunks(search, run.start > CHUNK ? run.start - CHUNK : 0,
					run.end + CHUNK);
	}
	return status;
}

static enum hi_status look_from_both_ends(struct page_search *search)
{
	uint64_t low = search->start, high = search->end;
	enum hi_status status = HI_OK;

	while (status == HI_OK && low < high && may_go_on(search)) {
		uint64_t next = high - low < CHUNK ? high : low + CHUNK;

		status = look_at_span(search, low, next);
		low = next;
		if (status != HI_OK || low >= high || !may_go_on(search))
			continue;
		next = high - low < CHUNK ? low : high - CHUNK;
		status = look_at_span(search, next, high);
		high = next;
	}
	return status;
}

/* ---- afterwards ---- */

static int compare_found_runs(const void *a, const void *b)
{
	const struct hi_page_run *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* The whole units of the pages that were found take the place of what was known. */
static bool remember_found_units(struct page_search *search)
{
	struct hi_page_runs *known = &search->pagemap->known;
	size_t first = find_run(known, search->start + 1), last = first, n = 0;
	struct hi_page_runs units HI_GUARD(free_runs) = {};

	for (size_t i = 0; i < search->found.count; i++) {
		uint64_t start = search->found.items[i].start / UNIT * UNIT;
		uint64_t end = (search->found.items[i].end + UNIT - 1) / UNIT * UNIT;

		start = start > search->start ? start : search->start;
		end = end < search->end ? end : search->end;
		if (units.count && units.items[units.count - 1].end >= start)
			start = units.items[units.count - 1].end;
		if (!hi_page_runs_add(&units, start, end, 1))
			return false;
	}
	while (last < known->count && known->items[last].start < search->end)
		last++;
	n = known->count - last;
	if (!hi_vector_reserve(known, first + units.count + n))
		return false;
	if (n)
		memmove(known->items + first + units.count, known->items + last,
			n * sizeof(*known->items));
	if (units.count)
		memcpy(known->items + first, units.items,
		       units.count * sizeof(*units.items));
	known->count = first + units.count + n;
	return true;
}

static bool hand_over(struct page_search *search, struct hi_page_runs *runs)
{
	if (search->found.count > 1)
		qsort(search->found.items, search->found.count,
		      sizeof(*search->found.items), compare_found_runs);
	for (size_t i = 0; i < search->found.count; i++) {
		const struct hi_page_run *run = &search->found.items[i];

		if (!hi_page_runs_add(runs, run->start, run->end, run->flags))
			return false;
	}
	return remember_found_units(search);
}

static bool is_all_looked(const struct page_search *search)
{
	return search->looked.count == 1 &&
	       search->looked.items[0].start <= search->start &&
	       search->looked.items[0].end >= search->end;
}

static uint64_t count_missing_pages(uint64_t wanted, uint64_t got)
{
	return wanted > got ? wanted - got : 0;
}

static bool note_unknown(struct page_search *search)
{
	struct hi_pagemap *pagemap = search->pagemap;
	uint64_t n;

	if (has_all_pages(search) || is_all_looked(search))
		return true;
	n = count_missing_pages(search->wanted.resident, search->got.resident) +
	    count_missing_pages(search->wanted.swapped, search->got.swapped);
	pagemap->pages_unknown += n ? n : 1;
	return hi_vector_push(&pagemap->unknown,
			      (struct hi_page_run){search->start, search->end, 1});
}

/* ---- the search ---- */

static void find_wanted(struct page_search *search)
{
	const struct hi_smaps_sizes *sizes = &search->pagemap->sizes;
	size_t low = hi_search(i, sizes->count, sizes->items[i].end <= search->start);

	if (low == sizes->count || sizes->items[low].start != search->start ||
	    sizes->items[low].end != search->end ||
	    sizes->items[low].resident == UINT64_MAX)
		return;
	search->counts = true;
	search->wanted.resident = sizes->items[low].resident;
	search->wanted.swapped = sizes->items[low].swapped;
}

enum hi_status hi_pagemap_search(struct hi_pagemap *pagemap, uint64_t start, uint64_t end,
				 const struct hi_mapping *all, size_t n,
				 struct hi_page_runs *runs, struct hi_error *err)
{
	struct page_search search HI_GUARD(free_search) = {
		.pagemap = pagemap, .start = start, .end = end, .err = err};
	enum hi_status status;

	find_wanted(&search);
	status = look_where_it_was(&search);
	if (status == HI_OK)
		status = look_at_shadows(&search, all, n);
	if (status == HI_OK)
		status = look_around(&search);
	if (status == HI_OK)
		status = look_from_both_ends(&search);
	if (status != HI_OK)
		return status;
	if (!hand_over(&search, runs) || !note_unknown(&search))
		return hi_fail_memory(err, "runs of pages");
	return HI_OK;
}
