/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "attach/copy.h"
#include "attach/copy_internal.h"
#include "attach/dense.h"
#include "attach/maps.h"
#include "attach/maps_query.h"
#include "attach/sealed.h"
#include "base/alloc.h"

#define MAX_GAP (64ull << 20)
#define MIN_GAP (1ull << 20)
#define BLOCK (2u << 20)
#define BLOCK_PIECES 256u
#define MAX_RESCAN_PAGES 1024u

/*
 * Note [Which pages are held]
 *
 * Everything that is in memory and exists nowhere else: anonymous and shared
 * memory whatever its protection is now (RELRO, memory that was made PROT_NONE),
 * and pages of private file mappings that the target wrote to, which pagemap
 * distinguishes from clean ones by the FILE bit. Shared file mappings that it may write
 * to are held, since the file goes on changing. Clean pages of files are not
 * held, unless the file is out of reach and holds code: then the ELF in memory
 * is all there is. Pages that are not there are never read: that would grow the
 * target's page tables, and a userfaultfd page may hang the reader.
 */
static uint32_t flags_of(const struct hi_mapping *m, uint32_t run, bool unreachable,
			 bool with_swap)
{
	if (m->kind == HI_MAPPING_OTHER || (run & HI_RUN_GUARD))
		return 0;
	if (run & HI_RUN_ZERO)
		return HI_PAGES_ZERO;
	if (run & HI_RUN_SWAPPED)
		return HI_PAGES_SWAPPED | (with_swap ? HI_PAGES_HELD : 0);
	if (m->kind != HI_MAPPING_FILE || unreachable)
		return HI_PAGES_PRESENT | HI_PAGES_HELD;
	if (m->shared ? m->prot & HI_PROT_WRITE : !(run & HI_RUN_FILE))
		return HI_PAGES_PRESENT | HI_PAGES_HELD;
	return HI_PAGES_PRESENT;
}

/* Returns flags of memory that a fork does not freeze: see Note [What a child has] in
 * copy_child.c. */
static uint32_t live_flags_of(const struct hi_mapping *m, uint32_t run)
{
	if (run & HI_RUN_MISSING)
		return HI_PAGES_LIVE | HI_PAGES_MISSING;
	return m->shared ? HI_PAGES_LIVE : 0;
}

static bool is_unreachable(const struct hi_copy *copy, const struct hi_mapping *m)
{
	const struct hi_image_file *file;

	if (m->kind != HI_MAPPING_FILE)
		return false;
	file = hi_image_files_find(&copy->files, m);
	return file && file->fd < 0;
}

static bool add_pages(struct hi_page_list *pages, struct hi_pages add,
		      const struct hi_mapping *m)
{
	struct hi_pages *last = pages->items + pages->count;

	if (!add.flags)
		return true;
	if (pages->count && last[-1].end == add.start && last[-1].flags == add.flags &&
	    last[-1].start >= m->start) {
		last[-1].end = add.end;
		return true;
	}
	return hi_vector_push(pages, add);
}

/* Cuts the runs at the mappings' borders and decides what to do with each. */
static bool classify_pages(struct hi_copy *copy)
{
	size_t at = 0;

	copy->pages.count = 0;
	for (size_t i = 0; i < copy->n_mappings; i++) {
		const struct hi_mapping *m = &copy->mappings[i];
		bool unreachable = is_unreachable(copy, m);

		while (at < copy->runs.count && copy->runs.items[at].end <= m->start)
			at++;
		for (; at < copy->runs.count; at++) {
			const struct hi_page_run *run = &copy->runs.items[at];
			struct hi_pages add = {run->start, run->end, 0};

			if (run->start >= m->end)
				break;
			if (add.start < m->start)
				add.start = m->start;
			if (add.end > m->end)
				add.end = m->end;
			add.flags = flags_of(m, run->flags, unreachable, copy->with_swap);
			if (copy->forked && (add.flags & HI_PAGES_HELD))
				add.flags |= live_flags_of(m, run->flags);
			if (!add_pages(&copy->pages, add, m))
				return false;
			if (run->end > m->end)
				break;
		}
	}
	return true;
}

/*
 * A page that is just being migrated by the kernel looks swapped for some
 * microseconds. Few swapped pages are looked at again; true swap is not few.
 */
static enum hi_status look_again(struct hi_copy *copy, struct hi_copy_source *source,
				 struct hi_error *err)
{
	enum hi_status status = HI_OK;
	uint64_t n = 0;

	for (size_t i = 0; i < copy->runs.count; i++)
		if (copy->runs.items[i].flags & HI_RUN_SWAPPED)
			n += (copy->runs.items[i].end - copy->runs.items[i].start) /
			     HI_PAGE;
	if (n == 0 || n > MAX_RESCAN_PAGES)
		return HI_OK;
	for (size_t i = 0; status == HI_OK && i < copy->runs.count; i++) {
		struct hi_page_run *run = &copy->runs.items[i];

		if (!(run->flags & HI_RUN_SWAPPED))
			continue;
		copy->rescan.count = 0;
		status = hi_pagemap_collect(&source->pagemap, run->start, run->end,
					    &copy->rescan, err);
		if (copy->rescan.count == 1 && copy->rescan.items[0].end == run->end &&
		    copy->rescan.items[0].start == run->start)
			run->flags = copy->rescan.items[0].flags;
	}
	return status;
}

enum hi_status hi_copy_read_maps(struct hi_copy *copy,
				 const struct hi_copy_source *source,
				 struct hi_mapping **ret, size_t *n_ret,
				 struct hi_error *err)
{
	enum hi_status status;
	size_t n = 0;

	status = (copy->is_of_dead ? hi_maps_query : hi_proc_read)(
		source->maps_fd, &copy->maps_text, &copy->maps_capacity, &n, err);
	if (status == HI_OK && n == 0)
		status = hi_fail(err, HI_GONE, 0,
				 "process %d has exited or started another program",
				 (int)copy->target->pid);
	return status == HI_OK ? hi_maps_parse(copy->maps_text, n, ret, n_ret, err)
			       : status;
}

enum hi_status hi_copy_read_pagemap(struct hi_copy *copy, struct hi_copy_source *source,
				    struct hi_error *err)
{
	enum hi_status status;

	copy->runs.count = 0;
	status = hi_pagemap_collect_all(&source->pagemap, copy->mappings,
					copy->n_mappings, &copy->runs, err);
	return status == HI_OK ? look_again(copy, source, err) : status;
}

enum hi_status hi_copy_classify(struct hi_copy *copy, struct hi_error *err)
{
	return classify_pages(copy) ? HI_OK : hi_fail_memory(err, "list of pages");
}

enum hi_status hi_copy_scan(struct hi_copy *copy, struct hi_error *err)
{
	struct hi_mapping *mappings = NULL;
	size_t n_mappings = 0;
	enum hi_status status;

	status = hi_copy_read_maps(copy, &copy->own, &mappings, &n_mappings, err);
	if (status != HI_OK)
		return status;
	hi_mappings_free(copy->mappings, copy->n_mappings);
	copy->mappings = mappings;
	copy->n_mappings = n_mappings;
	status = hi_copy_read_pagemap(copy, &copy->own, err);
	return status == HI_OK ? hi_copy_classify(copy, err) : status;
}

uint64_t hi_copy_sum(const struct hi_copy *copy, uint32_t mask, uint32_t flags)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < copy->pages.count; i++)
		if ((copy->pages.items[i].flags & mask) == flags)
			sum += copy->pages.items[i].end - copy->pages.items[i].start;
	return sum;
}

/*
 * Note [Areas]
 *
 * An area holds the copy of a range of the target's addresses. Stretches that lie near to
 * each other are joined, so that there are few: over a gap of at most 64 MiB, and not
 * much more than what is joined, so that a sparse reservation of terabytes needs no large
 * bitmaps. Large areas made before the stop have room at both ends, since heaps grow
 * meanwhile, and lie congruent to their addresses modulo 2 MiB, so that a dense stretch
 * gets huge pages and only such ones do (a huge page for each single page would take 512
 * times its memory). Small ones are packed: hundreds of thousands of single pages must
 * not need a page table each. Memory that is read while the target runs lies in areas of
 * its own: it is read once, also where the rest is read in place, again and again.
 */
static bool joins_area(const struct hi_area *area, uint64_t joined, uint64_t start)
{
	uint64_t gap = start - area->end, limit = joined * 8;

	if (limit < MIN_GAP)
		limit = MIN_GAP;
	return gap <= (limit < MAX_GAP ? limit : MAX_GAP);
}

/* The part of [start, end) from *at on that no area covers. */
static bool next_uncovered(const struct hi_areas *areas, size_t *at, uint64_t *start,
			   uint64_t end, uint64_t *gap_end)
{
	while (*start < end) {
		while (*at < areas->count && areas->items[*at].end <= *start)
			++*at;
		if (*at == areas->count || areas->items[*at].start >= end) {
			*gap_end = end;
			return true;
		}
		if (areas->items[*at].start > *start) {
			*gap_end = areas->items[*at].start;
			return true;
		}
		*start = areas->items[*at].end;
	}
	return false;
}

static bool add_fresh(struct hi_copy *copy, uint64_t start, uint64_t end, bool live,
		      size_t old_at, uint64_t *joined)
{
	struct hi_area *last = copy->fresh.items + copy->fresh.count;
	bool barred = copy->fresh.count && old_at > 0 &&
		      copy->areas.items[old_at - 1].start >= last[-1].end;

	if (copy->fresh.count && !barred && last[-1].live == live &&
	    joins_area(&last[-1], *joined, start)) {
		last[-1].end = end;
		*joined += end - start;
		return true;
	}
	*joined = end - start;
	return hi_vector_push(&copy->fresh, (struct hi_area){start, end, NULL, live});
}

/* Adds runs of pages that have no host address to fresh. */
static bool find_fresh(struct hi_copy *copy)
{
	uint64_t joined = 0;
	size_t at = 0;

	copy->fresh.count = 0;
	for (size_t i = 0; i < copy->pages.count; i++) {
		uint64_t start = copy->pages.items[i].start, gap_end;
		bool live = copy->pages.items[i].flags & HI_PAGES_LIVE;

		while (next_uncovered(&copy->areas, &at, &start, copy->pages.items[i].end,
				      &gap_end)) {
			if (!add_fresh(copy, start, gap_end, live, at, &joined))
				return false;
			start = gap_end;
		}
	}
	return true;
}

static bool is_large(const struct hi_area *area)
{
	return area->end - area->start >= HI_HUGE_PAGE / 2;
}

/* A quarter at each side, but not into the neighbours. */
static void add_room(struct hi_areas *fresh)
{
	for (size_t i = 0; i < fresh->count; i++) {
		struct hi_area *area = &fresh->items[i];
		uint64_t room = (area->end - area->start) / 4, below, above;

		if (!is_large(area))
			continue;
		room = room < MAX_GAP ? room / HI_PAGE * HI_PAGE : MAX_GAP;
		below = area->start - (i ? area[-1].end : 0);
		above = (i + 1 < fresh->count ? area[1].start : 1ull << 56) - area->end;
		area->start -= room < below ? room : below;
		area->end += room < above ? room : above / 2 / HI_PAGE * HI_PAGE;
	}
}

/* Returns the size of fresh areas of that kind, with the cost of alignment; 0: none. */
static size_t size_of_fresh(const struct hi_copy *copy, bool live)
{
	size_t size = 0;

	for (size_t i = 0; i < copy->fresh.count; i++) {
		const struct hi_area *area = &copy->fresh.items[i];

		if (area->live == live)
			size += area->end - area->start +
				(is_large(area) ? HI_HUGE_PAGE : 0);
	}
	return size ? size + HI_HUGE_PAGE : 0;
}

/* Pages that are read by the receiver of the image are none of this process's. */
static void *alloc_area(const struct hi_copy *copy, bool live, size_t size, int *fd_ret)
{
	if (copy->sendable && (live || !copy->reads_live_only))
		return hi_sealed_alloc(size, fd_ret);
	return hi_pages_alloc(size);
}

/* One reservation for all of that kind, to need few mappings. */
static bool reserve_fresh(struct hi_copy *copy, bool live)
{
	struct hi_reservation reservation = {.size = size_of_fresh(copy, live), .fd = -1};
	unsigned char *at;

	if (!reservation.size)
		return true;
	if (!hi_vector_reserve(&copy->reservations, copy->reservations.count + 1))
		return false;
	reservation.pages = alloc_area(copy, live, reservation.size, &reservation.fd);
	if (!reservation.pages)
		return false;
	copy->reservations.items[copy->reservations.count++] = reservation;
	/* A fork of this process must not make the touched pages copy-on-write. */
	(void)madvise(reservation.pages, reservation.size, MADV_DONTFORK);
	(void)madvise(reservation.pages, reservation.size, MADV_DONTDUMP);
	(void)madvise(reservation.pages, reservation.size, MADV_NOHUGEPAGE);
	at = reservation.pages;
	for (size_t i = 0; i < copy->fresh.count; i++) {
		struct hi_area *area = &copy->fresh.items[i];

		if (area->live != live)
			continue;
		if (is_large(area))
			at += (area->start - (uintptr_t)at) % HI_HUGE_PAGE;
		area->host = at;
		at += area->end - area->start;
	}
	return true;
}

static int compare_areas(const void *a, const void *b)
{
	const struct hi_area *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static bool merge_fresh(struct hi_copy *copy)
{
	if (!hi_vector_reserve(&copy->areas, copy->areas.count + copy->fresh.count))
		return false;
	for (size_t i = 0; i < copy->fresh.count; i++)
		copy->areas.items[copy->areas.count++] = copy->fresh.items[i];
	qsort(copy->areas.items, copy->areas.count, sizeof(*copy->areas.items),
	      compare_areas);
	return true;
}

/* Runs of 2 MiB units that are at least half held, in area, get huge pages. */
static void advise_dense(struct hi_copy *copy, const struct hi_area *areas, size_t n)
{
	struct hi_dense d = {};
	size_t at = 0;

	for (size_t i = 0; i < n; i++) {
		const struct hi_area *area = &areas[i];

		d.floor = (uintptr_t)area->host;
		d.ceiling = d.floor + (area->end - area->start);
		while (at < copy->pages.count && copy->pages.items[at].end <= area->start)
			at++;
		for (; at < copy->pages.count; at++) {
			const struct hi_pages *p = &copy->pages.items[at];
			uint64_t start = p->start > area->start ? p->start : area->start;
			uint64_t end = p->end < area->end ? p->end : area->end;

			if (p->start >= area->end)
				break;
			if (p->flags & HI_PAGES_HELD)
				hi_dense_add(&d, area->host + (start - area->start),
					     end - start);
			if (p->end > area->end)
				break;
		}
		hi_dense_end(&d);
	}
}

static enum hi_status fail_reserve(struct hi_error *err)
{
	if (errno == EFBIG)
		return hi_fail(
			err, HI_NO_MEMORY, 0,
			"memory for the image: the limit of file sizes (ulimit -f) "
			"does not permit it; raise the limit, or use --no-sandbox");
	return hi_fail_memory(err, "address space for the image");
}

enum hi_status hi_copy_add_areas(struct hi_copy *copy, bool with_room,
				 struct hi_error *err)
{
	if (!find_fresh(copy))
		return hi_fail_memory(err, "plan of the image");
	if (!copy->fresh.count)
		return HI_OK;
	if (with_room && !copy->areas.count)
		add_room(&copy->fresh);
	if (!reserve_fresh(copy, false) || !reserve_fresh(copy, true) ||
	    !merge_fresh(copy))
		return fail_reserve(err);
	if (copy->reads_live_only)
		return HI_OK;
	advise_dense(copy, copy->fresh.items, copy->fresh.count);
	return HI_OK;
}

/* Appends pieces of at most a block, up to end, of the kind of `piece`. */
static bool cut_range(struct hi_copy *copy, struct hi_piece piece, uint64_t end)
{
	while (piece.addr < end) {
		uint64_t size = end - piece.addr < BLOCK ? end - piece.addr : BLOCK;

		piece.size = (uint32_t)size;
		if (!hi_vector_push(&copy->pieces, piece))
			return false;
		piece.addr += size;
		piece.host += size;
	}
	return true;
}

static bool cut_pages(struct hi_copy *copy, const struct hi_pages *p, size_t *at,
		      bool force)
{
	struct hi_piece piece = {.force = force,
				 .live = p->flags & HI_PAGES_LIVE,
				 .missing = p->flags & HI_PAGES_MISSING};
	uint64_t start = p->start;

	while (start < p->end) {
		const struct hi_area *area;
		uint64_t end = p->end;

		while (*at < copy->areas.count && copy->areas.items[*at].end <= start)
			++*at;
		if (*at == copy->areas.count || copy->areas.items[*at].start > start)
			return false; /* hi_copy_add_areas gave every page a host address
				       */
		area = &copy->areas.items[*at];
		if (end > area->end)
			end = area->end;
		piece.addr = start;
		piece.host = area->host + (start - area->start);
		if (!cut_range(copy, piece, end))
			return false;
		start = end;
	}
	return true;
}

static bool cut_blocks(struct hi_copy *copy)
{
	struct hi_copy_block block = {};
	uint64_t bytes = 0;

	for (size_t i = 0; i < copy->pieces.count; i++) {
		const struct hi_piece *piece = &copy->pieces.items[i];

		if (block.count &&
		    (bytes + piece->size > BLOCK || block.count == BLOCK_PIECES ||
		     !(piece->force == piece[-1].force && piece->live == piece[-1].live &&
		       piece->missing == piece[-1].missing))) {
			if (!hi_vector_push(&copy->blocks, block))
				return false;
			block = (struct hi_copy_block){.first = i};
			bytes = 0;
		}
		block.count++;
		bytes += piece->size;
	}
	return !block.count || hi_vector_push(&copy->blocks, block);
}

enum hi_status hi_copy_make_pieces(struct hi_copy *copy, struct hi_error *err)
{
	const struct hi_mapping *m = copy->mappings;
	size_t at = 0;

	copy->pieces.count = copy->blocks.count = 0;
	copy->held_bytes = 0;
	for (size_t i = 0; i < copy->pages.count; i++) {
		const struct hi_pages *p = &copy->pages.items[i];

		if (!(p->flags & HI_PAGES_HELD))
			continue;
		while (m->end <= p->start)
			m++;
		if (!cut_pages(copy, p, &at, !(m->prot & HI_PROT_READ)))
			return hi_fail_memory(err, "plan of the image");
		copy->held_bytes += p->end - p->start;
	}
	if (!cut_blocks(copy))
		return hi_fail_memory(err, "plan of the image");
	return HI_OK;
}
