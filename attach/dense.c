/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/dense.h"

#include <sys/mman.h>

#include "base/alloc.h"

#define MAX_ADVICE 4096

static void advise_huge_pages(struct hi_dense *d)
{
	uint64_t start = d->start < d->floor ? d->floor : d->start;
	uint64_t end = d->end > d->ceiling ? d->ceiling : d->end;

	if (start < end && d->advised++ < MAX_ADVICE)
		(void)madvise((void *)(uintptr_t)start, end - start, MADV_HUGEPAGE);
	d->start = d->end = 0;
}

static void close_unit(struct hi_dense *d)
{
	if (d->held * 2 >= HI_HUGE_PAGE) {
		if (d->end != d->unit) {
			advise_huge_pages(d);
			d->start = d->unit;
		}
		d->end = d->unit + HI_HUGE_PAGE;
	}
	d->held = 0;
}

void hi_dense_add(struct hi_dense *d, const unsigned char *from, size_t size)
{
	uint64_t start = (uintptr_t)from, end = start + size;

	while (start < end) {
		uint64_t unit = start / HI_HUGE_PAGE * HI_HUGE_PAGE,
			 stop = unit + HI_HUGE_PAGE;

		if (unit != d->unit) {
			close_unit(d);
			d->unit = unit;
		}
		if (stop > end)
			stop = end;
		d->held += stop - start;
		start = stop;
	}
}

void hi_dense_end(struct hi_dense *d)
{
	close_unit(d);
	advise_huge_pages(d);
}

void *hi_dense_alloc(size_t size, uint64_t offset)
{
	char *all, *pages;
	size_t head;

	if (size < HI_HUGE_PAGE)
		return hi_pages_alloc(size);
	all = hi_pages_alloc(size + HI_HUGE_PAGE);
	if (!all)
		return NULL;
	head = (offset - (uintptr_t)all) % HI_HUGE_PAGE;
	pages = all + head;
	if (head)
		hi_pages_free(all, head);
	hi_pages_free(pages + size, HI_HUGE_PAGE - head);
	return pages;
}
