/* SPDX-License-Identifier: BSD-2-Clause */
/* Images that are read into the pages of the one before: they have the bytes of the
 * child, and pages that are said to be as before are. */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attach/image_child.h"
#include "attach/image_internal.h"
#include "attach/image_send.h"
#include "attach/stop.h"
#include "base/cleanup.h"
#include "tests/harness.h"
#include "tests/support/live_image.h"
#include "tests/support/stopping.h"

#define PAGE 4096u
#define ROUNDS 10
#define BUDGET_NS 20000000000u /* how fast is not tried here */

/* Bytes of ranges of addresses. */
struct held {
	uint64_t start, end;
	unsigned char *bytes;
};

struct held_list HI_VECTOR(struct held);

static void free_held(struct held_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->items[i].bytes);
	hi_vector_free(list);
}

static const unsigned char *find_held(const struct held_list *list, uint64_t addr)
{
	for (size_t i = 0; i < list->count; i++)
		if (addr >= list->items[i].start && addr < list->items[i].end)
			return list->items[i].bytes + (addr - list->items[i].start);
	return NULL;
}

/* Lists the memory of the child that can be read. */
static void read_child(const struct hi_image *image, struct held_list *ret)
{
	struct hi_image_child_parts parts = hi_image_child_take_apart(image->priv->child);

	HI_ASSERT(parts.rest && parts.rest->n_ranges);
	for (size_t i = 0; i < parts.rest->n_ranges; i++) {
		const struct hi_pager_range *range = &parts.rest->ranges[i];
		struct held held = {range->addr, range->addr + range->size,
				    malloc(range->size)};

		HI_ASSERT(held.bytes && hi_vector_push(ret, held));
		HI_ASSERT_EQ(range->size, pread(parts.mem_fd, held.bytes, range->size,
						(off_t)range->addr));
	}
}

static void check_bytes(const struct hi_image *image, const struct held_list *truth)
{
	struct hi_error err = {};

	for (size_t i = 0; i < truth->count; i++) {
		const struct held *held = &truth->items[i];
		size_t size = held->end - held->start;
		unsigned char *bytes = malloc(size);

		HI_ASSERT(bytes);
		HI_ASSERT_OK(
			hi_memory_read(image->memory, held->start, bytes, size, &err),
			&err);
		HI_ASSERT_EQ(0, memcmp(held->bytes, bytes, size));
		free(bytes);
	}
}

/* As a process without rights gets it, but in this one. truth: of its child. */
static struct hi_image *take_sent(struct hi_target *target, struct hi_image_kept *kept,
				  struct held_list *truth)
{
	const struct hi_stop_options options = {.snapshot = HI_REQUEST_FORK,
						.max_pause_ns = BUDGET_NS,
						.best_effort_priority = true,
						.sendable = true};
	struct hi_image *sent = NULL, *image = NULL;
	struct hi_error err = {};
	int ends[2];

	HI_ASSERT_OK(hi_stop_and_copy(target, &options, &sent, &err), &err);
	HI_ASSERT_EQ(HI_SNAPSHOT_FORK, sent->mode);
	HI_ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends));
	HI_ASSERT_OK(hi_image_send(sent, ends[0], &err), &err);
	read_child(sent, truth);
	hi_image_give_away(sent);
	HI_ASSERT_OK(hi_image_receive(ends[1], kept, &image, &err), &err);
	hi_image_destroy(sent);
	close(ends[0]);
	close(ends[1]);
	check_bytes(image, truth);
	return image;
}

struct page_counts {
	size_t same, found; /* pages as before, and those that are known to be */
	size_t words;	    /* of other pages, that are known to be so */
};

/* Counts the words of a changed page that are known to be as before. */
static size_t check_words(const struct hi_image *image, uint64_t at,
			  const unsigned char *old, const unsigned char *now)
{
	size_t n_same = 0, n_found = 0;

	for (uint64_t i = 0; i < PAGE; i += 8) {
		bool is_same = memcmp(old + i, now + i, 8) == 0;
		bool is_found = hi_image_is_unchanged(image, at + i, at + i + 8);

		HI_ASSERT_MSG(is_same || !is_found, "word 0x%llx has changed",
			      (unsigned long long)(at + i));
		n_same += is_same;
		n_found += is_found;
	}
	/* All words of a page are known, or none is. */
	HI_ASSERT(n_found == 0 || n_found == n_same);
	return n_found;
}

/* By the bytes of both children. */
static struct page_counts check_pages(const struct held_list *before,
				      const struct held_list *now,
				      const struct hi_image *image)
{
	struct page_counts counts = {};

	for (size_t i = 0; i < now->count; i++)
		for (uint64_t at = now->items[i].start; at < now->items[i].end;
		     at += PAGE) {
			const unsigned char *old = find_held(before, at);
			bool is_same = old && memcmp(old, find_held(now, at), PAGE) == 0;
			bool is_found = hi_image_is_unchanged(image, at, at + PAGE);

			HI_ASSERT_MSG(is_same || !is_found, "page 0x%llx has changed",
				      (unsigned long long)at);
			counts.same += is_same;
			counts.found += is_found;
			if (old && !is_same && at / PAGE % 3 == 0)
				counts.words +=
					check_words(image, at, old, find_held(now, at));
		}
	return counts;
}

static void change_links(struct hi_fixture *fx, unsigned n)
{
	char text[32];

	snprintf(text, sizeof(text), "change %u", n);
	hi_fixture_tell(fx, text);
	hi_test_expect_line(fx, "changed");
	hi_fixture_await_call(fx->pid, SYS_read);
}

static struct hi_fixture *start_links(const char *seed)
{
	struct hi_fixture *fx = hi_fixture_start("series_links", seed, "4000", NULL);

	hi_test_expect_line(fx, "ready");
	hi_fixture_await_call(fx->pid, SYS_read);
	return fx;
}

static void follow_links(const char *seed)
{
	static const unsigned n_changes[] = {0, 1, 20, 300, 2000};
	struct hi_fixture *fx = start_links(seed);
	struct hi_target *target = hi_live_target(fx->pid);
	struct hi_image_kept kept = {};
	struct held_list before = {};
	struct hi_image *image = take_sent(target, &kept, &before);
	size_t words = 0;

	for (unsigned i = 0; i < ROUNDS; i++) {
		struct held_list now = {};
		struct page_counts counts;

		hi_image_keep(image, &kept);
		HI_ASSERT(kept.pages);
		hi_image_destroy(image);
		change_links(fx, n_changes[i % 5]);
		image = take_sent(target, &kept, &now);
		HI_ASSERT(!kept.pages && !kept.runs.count);
		counts = check_pages(&before, &now, image);
		/* Short runs are read anew. */
		HI_ASSERT_MSG(counts.found >= counts.same / 2, "%zu of %zu pages",
			      counts.found, counts.same);
		HI_ASSERT_EQ(counts.found * PAGE, hi_image_count_changes(image).same);
		words += counts.words;
		free_held(&before);
		before = now;
	}
	HI_ASSERT(words > 0);
	free_held(&before);
	hi_image_destroy(image);
}

HI_TEST_SCENARIO(image_kept, images_in_kept_pages_have_the_bytes_of_the_child)
{
	static const char *const seeds[] = {"1", "2", "3"};

	for (unsigned i = 0; i < 3; i++)
		follow_links(seeds[i]);
}

HI_TEST_SCENARIO(image_kept, nothing_is_known_without_an_image_before)
{
	struct hi_fixture *fx = start_links("4");
	struct hi_image_kept kept = {};
	struct held_list held = {};
	struct hi_image *image = take_sent(hi_live_target(fx->pid), &kept, &held);
	uint64_t start = held.items[0].start;

	HI_ASSERT(!hi_image_is_unchanged(image, start, start + PAGE));
	HI_ASSERT_EQ(0, hi_image_count_changes(image).same);
	HI_ASSERT(hi_image_count_changes(image).read > 0);
	HI_ASSERT(hi_image_room_to_keep(image) > 0);
	hi_image_destroy(image);
	free_held(&held);
}

/* Pages that were kept of another process have nothing in common but the files. */
HI_TEST_SCENARIO(image_kept, pages_of_another_process_are_no_harm)
{
	struct hi_fixture *a = start_links("5"), *b = start_links("6");
	struct held_list before = {}, now = {};
	struct hi_image_kept kept = {};
	struct hi_image *image = take_sent(hi_live_target(a->pid), &kept, &before);

	hi_image_keep(image, &kept);
	HI_ASSERT(kept.pages);
	hi_image_destroy(image);
	image = take_sent(hi_live_target(b->pid), &kept, &now);
	check_pages(&before, &now, image);
	hi_image_destroy(image);
	free_held(&before);
	free_held(&now);
}

HI_TEST_SCENARIO(image_kept, pages_are_kept_once)
{
	struct hi_fixture *fx = start_links("7");
	struct hi_image_kept kept = {}, again = {};
	struct held_list held = {};
	struct hi_image *image = take_sent(hi_live_target(fx->pid), &kept, &held);

	hi_image_keep(image, &kept);
	HI_ASSERT(kept.pages);
	hi_image_keep(image, &again);
	HI_ASSERT(!again.pages);
	hi_image_destroy(image);
	hi_image_kept_free(&kept);
	HI_ASSERT(!kept.pages && !kept.size);
	free_held(&held);
}
