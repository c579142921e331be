/* SPDX-License-Identifier: BSD-2-Clause */
/* The search of large mappings for pages, in drawn pagemaps: what is found, what is read
 * for it, and what is said to be missing, against loops over all entries. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "attach/pagemap.h"
#include "attach/pagemap_internal.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "tests/harness.h"
#include "tests/support/random.h"

#define PAGE 4096ull
#define UNIT 512ull   /* pages of a page table */
#define CHUNK 8192ull /* pages between two looks at the count */
#define EXCLUSIVE_PAGE (HI_PM_PRESENT | HI_PM_EXCLUSIVE | 0x77)
#define NO_LIMIT UINT64_MAX

static struct hi_error err;
static uint64_t seed;

/* A mapping, and the entries of its pages. */
struct drawn {
	struct hi_pagemap pagemap;
	uint64_t start, end; /* addresses */
	uint64_t n;	     /* pages */
	uint64_t *entries;
	struct hi_page_runs runs; /* what the last search found */
	uint8_t *found;		  /* by page */
};

static void free_drawn(struct drawn *d)
{
	hi_pagemap_free(&d->pagemap);
	hi_vector_free(&d->runs);
	close(d->pagemap.fd);
	free(d->entries);
	free(d->found);
	free(d);
}

static void put_entry(struct drawn *d, uint64_t number, uint64_t entry)
{
	HI_ASSERT_EQ(8, pwrite(d->pagemap.fd, &entry, 8, (off_t)(number * 8)));
}

static struct drawn *draw_mapping(uint64_t start, uint64_t pages)
{
	struct drawn *d = calloc(1, sizeof(*d));

	HI_ASSERT(d);
	d->start = start;
	d->end = start + pages * PAGE;
	d->n = pages;
	d->entries = calloc(pages, sizeof(*d->entries));
	d->found = calloc(pages, 1);
	d->pagemap.fd = memfd_create("pagemap", 0);
	d->pagemap.search_limit = NO_LIMIT;
	hi_test_defer(free_drawn, d);
	HI_ASSERT(d->entries && d->found && d->pagemap.fd >= 0);
	HI_ASSERT_EQ(0, ftruncate(d->pagemap.fd, (off_t)(d->end / PAGE * 8)));
	/* Other mappings lie beside it. */
	for (uint64_t i = 1; i <= CHUNK; i += 100) {
		put_entry(d, start / PAGE - i, EXCLUSIVE_PAGE);
		put_entry(d, d->end / PAGE + i - 1, EXCLUSIVE_PAGE);
	}
	return d;
}

static void put_page(struct drawn *d, uint64_t page, uint64_t entry)
{
	HI_ASSERT(page < d->n);
	d->entries[page] = entry;
	put_entry(d, d->start / PAGE + page, entry);
}

/* As smaps would have it. */
static void tell_sizes(struct drawn *d)
{
	struct hi_smaps_size size = {.start = d->start, .end = d->end};

	for (uint64_t i = 0; i < d->n; i++) {
		size.resident += d->entries[i] & HI_PM_PRESENT ? 1 : 0;
		size.swapped += d->entries[i] & HI_PM_SWAP ? 1 : 0;
	}
	d->pagemap.sizes.count = 0;
	HI_ASSERT(hi_vector_push(&d->pagemap.sizes,
				 (struct hi_smaps_size){.start = d->start - PAGE,
							.end = d->start,
							.resident = 1}));
	HI_ASSERT(hi_vector_push(&d->pagemap.sizes, size));
}

static void search_mapping(struct drawn *d, const struct hi_mapping *all, size_t n)
{
	d->runs.count = 0;
	d->pagemap.entries_read = d->pagemap.searched = d->pagemap.pages_unknown = 0;
	d->pagemap.unknown.count = 0;
	HI_ASSERT_OK(
		hi_pagemap_search(&d->pagemap, d->start, d->end, all, n, &d->runs, &err),
		&err);
}

/* Runs are in order and have the pages that are there, each once. Returns how many pages
 * are missing. */
static uint64_t check_runs(struct drawn *d)
{
	uint64_t at = d->start, missing = 0;

	memset(d->found, 0, d->n);
	for (size_t i = 0; i < d->runs.count; i++) {
		const struct hi_page_run *run = &d->runs.items[i];

		HI_ASSERT(run->start >= at && run->end > run->start &&
			  run->end <= d->end);
		for (at = run->start; at < run->end; at += PAGE) {
			uint64_t entry = d->entries[(at - d->start) / PAGE];

			HI_ASSERT_EQ(entry & HI_PM_SWAP	     ? HI_RUN_SWAPPED
				     : entry & HI_PM_PRESENT ? HI_RUN_PRESENT
							     : 0,
				     run->flags);
			d->found[(at - d->start) / PAGE] = 1;
		}
	}
	for (uint64_t i = 0; i < d->n; i++)
		missing += d->entries[i] && !d->found[i];
	return missing;
}

static bool is_known(const struct drawn *d, uint64_t addr)
{
	for (size_t i = 0; i < d->pagemap.known.count; i++)
		if (d->pagemap.known.items[i].start <= addr &&
		    addr < d->pagemap.known.items[i].end)
			return true;
	return false;
}

/* Remembered are the page tables in which there are pages, and no more; returns
 * how many pages that are. */
static uint64_t check_known(const struct drawn *d)
{
	uint64_t known = 0;

	for (uint64_t i = 0; i < d->n; i++) {
		uint64_t page = d->start / PAGE + i, table = page / UNIT * UNIT;
		bool has_pages = false;

		for (uint64_t k = table; k < table + UNIT && !has_pages; k++)
			has_pages = k >= d->start / PAGE && k < d->end / PAGE &&
				    d->found[k - d->start / PAGE];
		HI_ASSERT_EQ(has_pages, is_known(d, d->start + i * PAGE));
		known += has_pages;
		/* All pages of a table are as its first. */
		if (i + 1 < d->n && (page + 1) % UNIT && !(page % UNIT)) {
			uint64_t skip = UNIT - 2 < d->n - i - 1 ? UNIT - 2 : d->n - i - 1;

			known += has_pages ? skip : 0;
			i += skip;
		}
	}
	for (size_t i = 1; i < d->pagemap.known.count; i++)
		HI_ASSERT(d->pagemap.known.items[i - 1].end <=
			  d->pagemap.known.items[i].start);
	return known;
}

static void draw_pages(struct drawn *d)
{
	uint64_t clusters = random_below(&seed, 6);

	for (uint64_t i = 0; i < clusters; i++) {
		uint64_t page = random_below(&seed, d->n),
			 n = 1 + random_below(&seed, 40);
		uint64_t entry =
			random_below(&seed, 3) ? EXCLUSIVE_PAGE : HI_PM_SWAP | 0x55;

		for (uint64_t k = page; k < page + n && k < d->n; k++)
			put_page(d, k, entry);
	}
	if (random_below(&seed, 4) == 0)
		put_page(d, 0, EXCLUSIVE_PAGE);
	if (random_below(&seed, 4) == 0)
		put_page(d, d->n - 1, EXCLUSIVE_PAGE);
}

/* Pages that other mappings had, below and above, stay. */
static void know_neighbours(struct drawn *d)
{
	HI_ASSERT(hi_vector_push(&d->pagemap.known,
				 (struct hi_page_run){d->start - 5 * PAGE, d->start, 1}));
	HI_ASSERT(hi_vector_push(&d->pagemap.known,
				 (struct hi_page_run){d->end, d->end + 7 * PAGE, 1}));
}

static void check_neighbours(const struct drawn *d)
{
	const struct hi_page_runs *known = &d->pagemap.known;

	HI_ASSERT(known->count >= 2);
	HI_ASSERT_EQ(d->start - 5 * PAGE, known->items[0].start);
	HI_ASSERT_EQ(d->start, known->items[0].end);
	HI_ASSERT_EQ(d->end, known->items[known->count - 1].start);
	HI_ASSERT_EQ(d->end + 7 * PAGE, known->items[known->count - 1].end);
}

static struct drawn *draw_random(void)
{
	uint64_t start = (1ull << 30) + random_below(&seed, 2000) * PAGE;
	struct drawn *d = draw_mapping(start, 1 + random_below(&seed, 12 * CHUNK));

	draw_pages(d);
	know_neighbours(d);
	return d;
}

HI_TEST(pagemap_search, without_sizes_reads_every_entry_once)
{
	for (seed = 1; seed < 30; seed++) {
		uint64_t kept = seed;
		struct drawn *d = draw_random();

		search_mapping(d, NULL, 0);
		HI_ASSERT_EQ(0, check_runs(d));
		HI_ASSERT_EQ(d->n, d->pagemap.entries_read);
		HI_ASSERT_EQ(d->n, d->pagemap.searched);
		HI_ASSERT_EQ(0, d->pagemap.pages_unknown);
		HI_ASSERT_EQ(0, d->pagemap.unknown.count);
		check_known(d);
		check_neighbours(d);
		/* Known pages are read first, and nothing twice. */
		search_mapping(d, NULL, 0);
		HI_ASSERT_EQ(0, check_runs(d));
		HI_ASSERT_EQ(d->n, d->pagemap.entries_read);
		seed = kept;
	}
}

HI_TEST(pagemap_search, with_sizes_ends_when_all_pages_are_found)
{
	for (seed = 1; seed < 30; seed++) {
		uint64_t kept = seed, known;
		struct drawn *d = draw_random();

		tell_sizes(d);
		search_mapping(d, NULL, 0);
		HI_ASSERT_EQ(0, check_runs(d));
		HI_ASSERT(d->pagemap.entries_read <= d->n);
		HI_ASSERT_EQ(0, d->pagemap.pages_unknown);
		known = check_known(d);
		check_neighbours(d);
		/* Its earlier pages are read again, and nothing else. */
		search_mapping(d, NULL, 0);
		HI_ASSERT_EQ(0, check_runs(d));
		HI_ASSERT(d->pagemap.entries_read <= known);
		HI_ASSERT_EQ(0, d->pagemap.searched);
		/* A table that had pages may have none. */
		for (uint64_t i = 0; i < d->n; i++)
			if (d->entries[i])
				put_page(d, i, 0);
		tell_sizes(d);
		search_mapping(d, NULL, 0);
		HI_ASSERT_EQ(0, d->runs.count + d->pagemap.entries_read);
		HI_ASSERT_EQ(2, d->pagemap.known.count);
		seed = kept;
	}
}

HI_TEST(pagemap_search, reports_the_number_of_pages_not_found)
{
	for (seed = 1; seed < 60; seed++) {
		uint64_t kept = seed, missing;
		struct drawn *d = draw_random();

		d->pagemap.search_limit = random_below(&seed, d->n);
		tell_sizes(d);
		search_mapping(d, NULL, 0);
		missing = check_runs(d);
		HI_ASSERT_EQ(missing, d->pagemap.pages_unknown);
		HI_ASSERT_EQ(missing ? 1 : 0, d->pagemap.unknown.count);
		HI_ASSERT(d->pagemap.searched < d->pagemap.search_limit + CHUNK);
		if (missing) {
			HI_ASSERT_EQ(d->start, d->pagemap.unknown.items[0].start);
			HI_ASSERT_EQ(d->end, d->pagemap.unknown.items[0].end);
			HI_ASSERT(d->pagemap.searched >= d->pagemap.search_limit);
		}
		check_known(d);
		/* With no size at hand nothing can be counted: it is one, or more. */
		d->pagemap.sizes.count = d->pagemap.known.count = 0;
		search_mapping(d, NULL, 0);
		HI_ASSERT_EQ(d->pagemap.searched < d->n, d->pagemap.pages_unknown);
		seed = kept;
	}
}

/* The middle of 200 chunks is far from both ends. */
HI_TEST(pagemap_search, looks_around_what_it_found)
{
	struct drawn *d = draw_mapping(1ull << 30, 200 * CHUNK);

	put_page(d, 100 * CHUNK, EXCLUSIVE_PAGE);
	tell_sizes(d);
	search_mapping(d, NULL, 0);
	HI_ASSERT_EQ(0, check_runs(d));
	HI_ASSERT(d->pagemap.searched > 190 * CHUNK);
	put_page(d, 101 * CHUNK - 1, EXCLUSIVE_PAGE);
	put_page(d, 99 * CHUNK, HI_PM_SWAP | 1);
	tell_sizes(d);
	d->pagemap.search_limit = 3 * CHUNK;
	search_mapping(d, NULL, 0);
	HI_ASSERT_EQ(0, check_runs(d));
	HI_ASSERT_EQ(0, d->pagemap.pages_unknown);
	HI_ASSERT(d->pagemap.entries_read <= 3 * CHUNK);
}

/* AddressSanitizer keeps its knowledge of [a, b) at (a >> 3) + 0x7fff8000. */
HI_TEST(pagemap_search, looks_at_shadows_first)
{
	uint64_t shadow = 0x7fff8000ull, at = 0x10000000000ull;
	struct drawn *d =
		draw_mapping(shadow + (at >> 3) - 100 * CHUNK * PAGE, 200 * CHUNK);
	struct hi_mapping all[3] = {
		{.start = 0x1000, .end = 0x2000}, /* its shadow is elsewhere */
		{.start = at, .end = at + ((CHUNK * PAGE) << 3)},
		{.start = at << 1, .end = (at << 1) + 0x1000}};

	put_page(d, 100 * CHUNK, EXCLUSIVE_PAGE);
	put_page(d, 101 * CHUNK - 1, EXCLUSIVE_PAGE);
	tell_sizes(d);
	d->pagemap.search_limit = 2 * CHUNK;
	search_mapping(d, all, 3);
	HI_ASSERT_EQ(0, check_runs(d));
	HI_ASSERT(d->pagemap.entries_read <= 2 * CHUNK);
	d->pagemap.known.count = 0;
	search_mapping(d, all, 1);
	HI_ASSERT_EQ(2, check_runs(d));
	/* A mapping that is itself a reservation has a shadow that is one. */
	all[1].end = at + (1ull << 33);
	d->pagemap.known.count = 0;
	search_mapping(d, all, 2);
	HI_ASSERT_EQ(2, check_runs(d));
}

/* The mapping was larger when its pages were learned. */
HI_TEST(pagemap_search, finds_nothing_of_its_neighbours)
{
	struct drawn *d = draw_mapping(1ull << 30, 3 * UNIT + 7);
	struct hi_page_run wide = {d->start - UNIT * PAGE, d->end + UNIT * PAGE, 1};

	HI_ASSERT(hi_vector_push(&d->pagemap.known, wide));
	put_page(d, 0, EXCLUSIVE_PAGE);
	put_page(d, d->n - 1, EXCLUSIVE_PAGE);
	tell_sizes(d);
	search_mapping(d, NULL, 0);
	HI_ASSERT_EQ(0, check_runs(d));
	HI_ASSERT_EQ(2, d->runs.count);
	HI_ASSERT_EQ(d->n, d->pagemap.entries_read);
	check_known(d);
}

/* Sizes of a mapping that begins or ends elsewhere say nothing of this one. */
HI_TEST(pagemap_search, counts_by_no_size_of_another_mapping)
{
	struct drawn *d = draw_mapping(1ull << 30, 3 * CHUNK);

	put_page(d, 2 * CHUNK, EXCLUSIVE_PAGE);
	for (int i = 0; i < 3; i++) {
		struct hi_smaps_size *size;

		tell_sizes(d);
		size = &d->pagemap.sizes.items[1];
		size->start += i == 0 ? PAGE : 0;
		size->end += i == 1 ? PAGE : 0;
		size->resident = i == 2 ? UINT64_MAX : 0;
		d->pagemap.known.count = 0;
		search_mapping(d, NULL, 0);
		HI_ASSERT_EQ(0, check_runs(d));
		HI_ASSERT_EQ(d->n, d->pagemap.entries_read);
	}
}

/* Read first: known pages, shadows, neighbours, the ends. */
HI_TEST(pagemap_search, reports_a_pagemap_that_cannot_be_read)
{
	uint64_t shadow = 0x7fff8000ull, at = 0x10000000000ull;
	struct hi_mapping all = {.start = at, .end = at + ((CHUNK * PAGE) << 3)};
	struct drawn *d = draw_mapping(shadow + (at >> 3), 4 * CHUNK);
	struct hi_page_runs *known = &d->pagemap.known;

	close(d->pagemap.fd);
	d->pagemap.fd = open("/dev/null", O_WRONLY);
	HI_ASSERT(d->pagemap.fd >= 0);
	HI_ASSERT_STATUS(HI_OS, hi_pagemap_search(&d->pagemap, d->start, d->end, NULL, 0,
						  &d->runs, &err));
	HI_ASSERT_STATUS(HI_OS, hi_pagemap_search(&d->pagemap, d->start, d->end, &all, 1,
						  &d->runs, &err));
	HI_ASSERT(hi_vector_push(known, (struct hi_page_run){d->start, d->end, 1}));
	HI_ASSERT_STATUS(HI_OS, hi_pagemap_search(&d->pagemap, d->start, d->end, NULL, 0,
						  &d->runs, &err));
}

HI_TEST(pagemap_search, every_failed_allocation_is_reported)
{
	uint64_t failures = 0;

	for (uint64_t nth = 1;; nth++) {
		struct drawn *d = draw_mapping(1ull << 30, 3 * CHUNK);
		enum hi_status status;

		for (uint64_t i = 0; i < 200; i++)
			put_page(d, i * 100, EXCLUSIVE_PAGE);
		put_page(d, 2 * CHUNK, EXCLUSIVE_PAGE);
		d->pagemap.search_limit = 2 * CHUNK + 1;
		know_neighbours(d);
		tell_sizes(d);
		d->pagemap.sizes.items[1].resident++; /* never found */
		hi_alloc_fail_once(nth);
		status = hi_pagemap_search(&d->pagemap, d->start, d->end, NULL, 0,
					   &d->runs, &err);
		failures += hi_alloc_count() >= nth;
		if (hi_alloc_count() < nth) {
			hi_alloc_fail_at(0);
			HI_ASSERT_EQ(HI_OK, status);
			break;
		}
		hi_alloc_fail_at(0);
		HI_ASSERT_EQ(HI_NO_MEMORY, status);
	}
	HI_ASSERT(failures > 8);
}
