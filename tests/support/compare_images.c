/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/compare_images.h"

#include "tests/harness.h"

#define PAGE 4096u
#define RED_ZONE 128u
#define FRAMES 16384u

static void compare_mapping(const struct hi_mapping *a, const struct hi_mapping *b)
{
	HI_ASSERT_EQ(a->start, b->start);
	HI_ASSERT_EQ(a->end, b->end);
	HI_ASSERT_STREQ(a->path, b->path);
	HI_ASSERT_EQ(a->kind, b->kind);
	HI_ASSERT_EQ(a->prot, b->prot);
	HI_ASSERT_EQ(a->shared, b->shared);
	HI_ASSERT_EQ(a->inode, b->inode);
	HI_ASSERT_EQ(a->file_offset, b->file_offset);
	HI_ASSERT_MSG(a->resident == b->resident && a->swapped == b->swapped &&
			      a->copied == b->copied && a->held == b->held,
		      "0x%llx %s: resident %llu, %llu; copied %llu, %llu",
		      (unsigned long long)a->start, a->path,
		      (unsigned long long)a->resident, (unsigned long long)b->resident,
		      (unsigned long long)a->copied, (unsigned long long)b->copied);
}

/* Is addr below the stack of a thread, where the call that forked had its frame? */
static bool is_dead_stack(const struct hi_image *image, uint64_t addr)
{
	for (size_t i = 0; i < image->n_threads; i++) {
		uint64_t end = image->threads[i].regs.rsp - RED_ZONE;

		if (addr < end && addr >= end - FRAMES)
			return true;
	}
	return false;
}

static bool is_same_page(const struct hi_image *image, uint64_t page,
			 const unsigned char *x, const unsigned char *y)
{
	for (size_t i = 0; i < PAGE; i++)
		if (x[i] != y[i] && !is_dead_stack(image, page + i))
			return false;
	return true;
}

/* The same bytes, read or refused at the same places. */
static void compare_page(struct hi_image *a, struct hi_image *b, uint64_t page)
{
	static unsigned char x[PAGE], y[PAGE];
	enum hi_status first = hi_memory_read(a->memory, page, x, PAGE, NULL);
	enum hi_status second = hi_memory_read(b->memory, page, y, PAGE, NULL);

	HI_ASSERT_MSG(first == second, "0x%llx: %s, %s", (unsigned long long)page,
		      hi_status_text(first), hi_status_text(second));
	HI_ASSERT_MSG(first != HI_OK || is_same_page(a, page, x, y), "0x%llx differs",
		      (unsigned long long)page);
	HI_ASSERT_EQ(hi_image_resident(a, page, page + PAGE),
		     hi_image_resident(b, page, page + PAGE));
}

static void compare_held(const struct hi_image *a, const struct hi_image *b)
{
	uint64_t at = 0, end[2], start[2];
	bool more = true;

	while (more) {
		more = hi_image_next_held(a, at, UINT64_MAX, &start[0], &end[0]);
		HI_ASSERT_EQ(more,
			     hi_image_next_held(b, at, UINT64_MAX, &start[1], &end[1]));
		if (!more)
			break;
		HI_ASSERT_EQ(start[0], start[1]);
		HI_ASSERT_EQ(end[0], end[1]);
		at = end[0];
	}
}

void hi_test_compare_images(struct hi_image *a, struct hi_image *b)
{
	HI_ASSERT_EQ(a->n_mappings, b->n_mappings);
	for (size_t i = 0; i < a->n_mappings; i++) {
		const struct hi_mapping *m = &a->mappings[i];

		compare_mapping(m, &b->mappings[i]);
		for (uint64_t page = m->start; page < m->end; page += PAGE) {
			/* Terabytes: a page in every 16 MiB behind the first ones. */
			if (page - m->start > 16u << 20)
				page += (16u << 20) - PAGE;
			if (page < m->end)
				compare_page(a, b, page);
		}
	}
	compare_held(a, b);
	HI_ASSERT_EQ(a->stats.bytes_copied, b->stats.bytes_copied);
	HI_ASSERT_EQ(a->stats.pages_never_touched, b->stats.pages_never_touched);
	HI_ASSERT_EQ(a->stats.pages_swapped, b->stats.pages_swapped);
	HI_ASSERT_EQ(a->stats.bytes_unreadable, b->stats.bytes_unreadable);
	HI_ASSERT_EQ(a->complete, b->complete);
	HI_ASSERT_EQ(a->n_auxv, b->n_auxv);
}
