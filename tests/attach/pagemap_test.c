/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The pagemap of kernels without PAGEMAP_SCAN (no categories), on processes that have
 * reserved much more than they have. What they wrote to, they say; PAGEMAP_SCAN, where
 * there is one, tells every page.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attach/copy.h"
#include "attach/copy_internal.h"
#include "attach/maps.h"
#include "base/cleanup.h"
#include "tests/harness.h"
#include "tests/support/fixture.h"

#define PAGE 4096u
#define GIB (1ull << 30)
/* What a process of a few MiB may cost in any case, its own pages and their
 * neighbours: 16 GiB. */
#define FEW (4ull << 20)

enum { PAGES_MAX = 64 };

struct reserved {
	struct hi_fixture *fx;
	uint64_t at;		   /* the last reservation */
	uint64_t pages[PAGES_MAX]; /* written to */
	size_t n_pages;
	struct hi_pagemap pagemap;
	struct hi_page_runs runs;
};

static void take_line(const char *line, void *arg)
{
	struct reserved *r = arg;
	unsigned long long at;

	if (sscanf(line, "at %llx", &at) == 1)
		r->at = at;
	if (sscanf(line, "page %llx", &at) != 1)
		return;
	HI_ASSERT(r->n_pages < PAGES_MAX);
	r->pages[r->n_pages++] = at;
}

static void tell(struct reserved *r, const char *line)
{
	hi_fixture_tell(r->fx, line);
	hi_fixture_read_until(r->fx, "done", take_line, r);
	hi_fixture_await_call(r->fx->pid, SYS_read);
}

static void end(void *arg)
{
	struct reserved *r = arg;

	close(r->pagemap.fd);
	hi_pagemap_free(&r->pagemap);
	hi_vector_free(&r->runs);
	free(r);
}

static int open_pagemap(pid_t pid)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	HI_ASSERT(fd >= 0);
	return fd;
}

static struct reserved *start(const char *program)
{
	struct reserved *r = calloc(1, sizeof(*r));

	HI_ASSERT(r);
	hi_test_defer(end, r);
	r->pagemap.fd = -1;
	r->fx = hi_fixture_start(program, NULL);
	hi_fixture_read_until(r->fx, "ready", NULL, NULL);
	hi_pagemap_init(&r->pagemap, open_pagemap(r->fx->pid), r->fx->pid);
	r->pagemap.categories = 0;
	return r;
}

static struct hi_mapping *read_maps(pid_t pid, size_t *n)
{
	struct hi_mapping *mappings = NULL;
	int fd = hi_proc_open(pid, "maps");
	size_t capacity = 0, size = 0;
	char *text = NULL;
	struct hi_error err;

	HI_ASSERT_OK(hi_proc_read(fd, &text, &capacity, &size, &err), &err);
	HI_ASSERT_OK(hi_maps_parse(text, size, &mappings, n, &err), &err);
	free(text);
	close(fd);
	return mappings;
}

static void collect_by(struct hi_pagemap *pagemap, struct reserved *r,
		       struct hi_page_runs *runs)
{
	size_t n = 0;
	struct hi_mapping *mappings = read_maps(r->fx->pid, &n);
	struct hi_error err;

	runs->count = 0;
	HI_ASSERT_OK(hi_pagemap_collect_all(pagemap, mappings, n, runs, &err), &err);
	hi_mappings_free(mappings, n);
	for (size_t i = 1; i < runs->count; i++)
		HI_ASSERT(runs->items[i - 1].end <= runs->items[i].start);
}

/* How many entries were read. */
static uint64_t collect(struct reserved *r)
{
	uint64_t before = r->pagemap.entries_read;

	collect_by(&r->pagemap, r, &r->runs);
	return r->pagemap.entries_read - before;
}

/* In the stop, after it was looked at before. */
static uint64_t collect_again(struct reserved *r)
{
	r->pagemap.search_limit = HI_PAGEMAP_STOP_ENTRIES;
	return collect(r);
}

static bool has_page(const struct hi_page_runs *runs, uint64_t at)
{
	for (size_t i = 0; i < runs->count; i++)
		if (runs->items[i].start <= at && runs->items[i].end > at)
			return runs->items[i].flags & HI_RUN_PRESENT;
	return false;
}

static void expect_all_pages(const struct reserved *r)
{
	HI_ASSERT_EQ(0, r->pagemap.pages_unknown);
	HI_ASSERT_EQ(0, r->pagemap.unknown.count);
	for (size_t i = 0; i < r->n_pages; i++)
		HI_ASSERT_MSG(has_page(&r->runs, r->pages[i]), "page %zu of %zu at %#llx",
			      i, r->n_pages, (unsigned long long)r->pages[i]);
}

/* The kernel's own, which 7.2 has there as pages of a file that is none. */
static bool is_in_vvar(const struct reserved *r, uint64_t at)
{
	size_t n = 0;
	struct hi_mapping *mappings = read_maps(r->fx->pid, &n);
	bool found = false;

	for (size_t i = 0; i < n; i++)
		found |= mappings[i].start <= at && at < mappings[i].end &&
			 strncmp(mappings[i].path, "[vvar", 5) == 0;
	hi_mappings_free(mappings, n);
	return found;
}

/* PAGEMAP_SCAN as the oracle: every page that is not the page of zeros. */
static void expect_what_a_scan_finds(struct reserved *r)
{
	struct hi_pagemap scan;
	struct hi_page_runs scanned = {};
	size_t at = 0;

	hi_pagemap_init(&scan, r->pagemap.fd, r->fx->pid);
	if (!scan.categories) {
		hi_test_note("this kernel has no PAGEMAP_SCAN to compare with");
		return;
	}
	collect_by(&scan, r, &scanned);
	for (size_t i = 0; i < scanned.count; i++) {
		const struct hi_page_run *run = &scanned.items[i];

		if (run->flags & HI_RUN_ZERO || run->start >> 56 ||
		    is_in_vvar(r, run->start))
			continue;
		for (uint64_t page = run->start; page < run->end; page += PAGE) {
			while (at < r->runs.count && r->runs.items[at].end <= page)
				at++;
			HI_ASSERT_MSG(at < r->runs.count &&
					      r->runs.items[at].start <= page,
				      "no page at %#llx", (unsigned long long)page);
		}
	}
	hi_vector_free(&scanned);
	hi_pagemap_free(&scan);
}

static void expect_all_found(struct reserved *r, uint64_t first_limit)
{
	uint64_t first = collect(r), again;

	expect_all_pages(r);
	expect_what_a_scan_finds(r);
	again = collect_again(r);
	expect_all_pages(r);
	expect_what_a_scan_finds(r);
	hi_test_note("%llu entries, %llu in the stop", (unsigned long long)first,
		     (unsigned long long)again);
	HI_ASSERT_MSG(first <= first_limit, "%llu entries, at most %llu",
		      (unsigned long long)first, (unsigned long long)first_limit);
	HI_ASSERT_MSG(again <= FEW, "%llu entries in the stop",
		      (unsigned long long)again);
}

HI_TEST_SCENARIO(reservations, without_pages_are_not_read)
{
	struct reserved *r = start("reservations");

	tell(r, "reserve none 16384");
	tell(r, "reserve lazy 256");
	tell(r, "reserve shared 256");
	HI_ASSERT(collect(r) <= FEW);
	HI_ASSERT_EQ(0, r->pagemap.pages_unknown);
	expect_what_a_scan_finds(r);
}

HI_TEST_SCENARIO(reservations, all_pages_of_256_gib_are_found)
{
	struct reserved *r = start("reservations");

	tell(r, "reserve lazy 256");
	tell(r, "write 0");
	tell(r, "write 3");
	tell(r, "write 131072");
	tell(r, "write 200001");
	tell(r, "write 262143");
	expect_all_found(r, 256 * GIB / PAGE + FEW);
}

HI_TEST_SCENARIO(reservations, pages_of_16_tib_are_found_near_both_ends)
{
	struct reserved *r = start("reservations");

	tell(r, "reserve lazy 16384");
	tell(r, "write 0");
	tell(r, "write 1");
	tell(r, "write 4096");
	tell(r, "write 16777000");
	tell(r, "write 16777215");
	expect_all_found(r, FEW + 16 * GIB / PAGE);
}

HI_TEST_SCENARIO(reservations, that_were_made_inaccessible_keep_their_pages)
{
	struct reserved *r = start("reservations");

	tell(r, "reserve lazy 256");
	tell(r, "write 7");
	tell(r, "write 1000");
	tell(r, "protect");
	expect_all_found(r, 2 * FEW);
}

HI_TEST_SCENARIO(reservations, that_are_shared_give_all_their_pages)
{
	struct reserved *r = start("reservations");

	tell(r, "reserve shared 256");
	tell(r, "write 0");
	tell(r, "write 2000");
	tell(r, "write 260000");
	expect_all_found(r, 2 * FEW);
}

/* With and without the right to tell pages apart. */
static void expect_zeros_to_deceive_no_one(bool privileged)
{
	struct reserved *r = start("reservations");

	if (!privileged)
		r->pagemap.zero_entry = 0;
	else if (!r->pagemap.zero_entry)
		HI_SKIP("page frame numbers need root");
	tell(r, "reserve lazy 64");
	tell(r, "write 0");
	collect(r);
	expect_all_pages(r);
	tell(r, "read 1 2"); /* where it is looked first, as many as are to come */
	tell(r, "write 20000");
	tell(r, "write 40000");
	collect(r);
	expect_all_pages(r);
	expect_what_a_scan_finds(r);
}

HI_TEST_SCENARIO(reservations, with_pages_of_zeros_are_read_on)
{
	expect_zeros_to_deceive_no_one(false);
}

HI_TEST_ROOT(reservations, with_known_pages_of_zeros_are_read_on)
{
	expect_zeros_to_deceive_no_one(true);
}

HI_TEST_SCENARIO(reservations, that_grew_before_the_stop_are_followed)
{
	struct reserved *r = start("reservations");

	tell(r, "reserve lazy 16384");
	tell(r, "write 0");
	collect(r);
	tell(r, "write 1");
	tell(r, "write 17");
	tell(r, "write 16777215");
	HI_ASSERT(collect_again(r) <= FEW);
	expect_all_pages(r);
}

/* What lies too far away in the stop is not known, and that is said. */
HI_TEST_SCENARIO(reservations, say_which_pages_were_not_found)
{
	struct reserved *r = start("reservations");

	tell(r, "reserve lazy 256");
	tell(r, "write 0");
	collect(r);
	expect_all_pages(r);
	tell(r, "write 131072");
	tell(r, "write 131084");
	HI_ASSERT(collect_again(r) <= HI_PAGEMAP_STOP_ENTRIES + FEW);
	HI_ASSERT_EQ(2, r->pagemap.pages_unknown);
	HI_ASSERT_EQ(1, r->pagemap.unknown.count);
	HI_ASSERT(r->pagemap.unknown.items[0].start <= r->at &&
		  r->pagemap.unknown.items[0].end > r->at);
	r->pagemap.search_limit = HI_PAGEMAP_LOOK_ENTRIES;
	collect(r);
	expect_all_pages(r);
}

HI_TEST_SCENARIO(reservations, pages_of_a_sanitizers_reservation_are_found)
{
	struct reserved *r = start("reservations_asan");

	expect_all_found(r, 4 * FEW);
}

/* ---- a whole image ---- */

/* late: a line for the fixture between the look and the copy. */
static struct hi_image *copy_image(struct reserved *r, const char *late)
{
	struct hi_stop_options options = {.threads = 1};
	struct hi_thread thread = {.tid = r->fx->pid, .name = "main"};
	struct hi_target *target = NULL;
	struct hi_image *image = NULL;
	struct hi_copy *copy = NULL;
	struct hi_error err;

	HI_ASSERT_OK(hi_target_open(r->fx->pid, &target, &err), &err);
	hi_test_defer(hi_target_close, target);
	HI_ASSERT_OK(hi_copy_estimate(target, &options, &copy, &err), &err);
	copy->own.pagemap.categories = 0;
	HI_ASSERT_OK(hi_copy_reserve(copy, &err), &err);
	if (late)
		tell(r, late);
	HI_ASSERT_OK(hi_copy_run(copy, &err), &err);
	HI_ASSERT_OK(hi_copy_finish(copy, &thread, 1, &image, &err), &err);
	hi_test_defer(hi_image_destroy, image);
	return image;
}

static uint64_t read_word(struct hi_image *image, uint64_t at)
{
	struct hi_error err;
	uint64_t word = 0;

	HI_ASSERT_OK(hi_memory_read_u64(image->memory, at, &word, &err), &err);
	return word;
}

HI_TEST_SCENARIO(reservations, are_whole_in_an_image)
{
	struct reserved *r = start("reservations");
	struct hi_image *image;

	tell(r, "reserve lazy 256");
	tell(r, "write 0");
	tell(r, "write 100000");
	image = copy_image(r, "write 100001");
	for (size_t i = 0; i < r->n_pages; i++)
		HI_ASSERT_EQ(r->pages[i], read_word(image, r->pages[i]));
	HI_ASSERT_EQ(0, read_word(image, r->at + 17 * GIB));
	HI_ASSERT(image->complete);
}

HI_TEST_SCENARIO(reservations, are_not_zero_in_an_image_where_pages_are_unknown)
{
	struct reserved *r = start("reservations");
	struct hi_image *image;
	uint64_t word;

	tell(r, "reserve lazy 256");
	tell(r, "write 0");
	image = copy_image(r, "write 131072");
	HI_ASSERT_EQ(r->pages[0], read_word(image, r->pages[0]));
	HI_ASSERT_STATUS(HI_FAULT,
			 hi_memory_read_u64(image->memory, r->pages[1], &word, NULL));
	HI_ASSERT(!image->complete);
	HI_ASSERT_EQ(PAGE, image->stats.bytes_unreadable);
}
