/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/image_kept.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "attach/frozen_memory_internal.h"
#include "attach/image_internal.h"
#include "base/alloc.h"
#include "base/bits.h"
#include "base/cleanup.h"

#define LEAST_MOVE (64u << 10) /* smaller ones are read anew */
#define MAX_MOVES 4096u	       /* each may be a mapping of its own */

/* ---- runs ---- */

static bool is_next_range(const struct hi_pager_range *last,
			  const struct hi_pager_range *range)
{
	return last->addr + last->size == range->addr &&
	       last->host + last->size == range->host;
}

void hi_pager_join_ranges(const struct hi_pager_request *request,
			  struct hi_pager_runs *ret)
{
	ret->count = 0;
	for (size_t i = 0; i < request->n_ranges; i++) {
		const struct hi_pager_range *range = &request->ranges[i];
		struct hi_pager_range *last = ret->items + ret->count;

		if (ret->count && is_next_range(&last[-1], range)) {
			last[-1].size += range->size;
			continue;
		}
		/* By address and by host. */
		if ((ret->count && (last[-1].addr + last[-1].size > range->addr ||
				    last[-1].host + last[-1].size > range->host)) ||
		    !hi_vector_push(ret, *range)) {
			ret->count = 0;
			return;
		}
	}
}

/* ---- move ---- */

struct moving {
	struct hi_image_kept *kept;
	struct hi_image_changes *changes;
	unsigned char *freed; /* up to here the old pages are gone */
	size_t n_moves;
};

static void free_up_to(struct moving *m, unsigned char *end)
{
	if (end > m->freed)
		hi_pages_free(m->freed, (size_t)(end - m->freed));
	m->freed = end;
}

static void mark_moved(const struct moving *m, const unsigned char *host, uint64_t size)
{
	size_t first = (size_t)(host - m->changes->area) / HI_PAGE;

	for (size_t i = 0; i < size / HI_PAGE; i++)
		hi_bit_set(m->changes->same, (uint32_t)(first + i));
}

/* The bytes of one run that were in another one before. */
static void move_overlap(struct moving *m, const struct hi_pager_range *old,
			 const struct hi_pager_range *run)
{
	uint64_t start = old->addr > run->addr ? old->addr : run->addr;
	uint64_t old_end = old->addr + old->size, run_end = run->addr + run->size;
	uint64_t end = old_end < run_end ? old_end : run_end;
	unsigned char *from = old->host + (start - old->addr);
	unsigned char *to = run->host + (start - run->addr);

	if (start >= end || end - start < LEAST_MOVE || m->n_moves >= MAX_MOVES)
		return;
	if (mremap(from, end - start, end - start, MREMAP_MAYMOVE | MREMAP_FIXED, to) ==
	    MAP_FAILED)
		return;
	free_up_to(m, from);
	m->freed = from + (end - start);
	m->n_moves++;
	mark_moved(m, to, end - start);
}

static void move_runs(struct moving *m, const struct hi_pager_runs *runs)
{
	const struct hi_pager_runs *old = &m->kept->runs;
	size_t at = 0;

	for (size_t i = 0; i < runs->count; i++) {
		const struct hi_pager_range *run = &runs->items[i];

		while (at < old->count &&
		       old->items[at].addr + old->items[at].size <= run->addr)
			at++;
		for (size_t j = at;
		     j < old->count && old->items[j].addr < run->addr + run->size; j++)
			move_overlap(m, &old->items[j], run);
	}
}

void hi_image_kept_move(struct hi_image_kept *kept,
			const struct hi_pager_request *request,
			struct hi_image_changes *changes)
{
	struct moving m = {.kept = kept, .changes = changes, .freed = kept->pages};
	struct hi_pager_runs runs = {};

	changes->area = request->area;
	changes->n_pages = request->size / HI_PAGE;
	if (changes->n_pages <= UINT32_MAX)
		changes->same =
			hi_calloc(1, hi_bits_size((uint32_t)changes->n_pages) + 8);
	hi_pager_join_ranges(request, &runs);
	if (changes->same)
		changes->same_words =
			hi_calloc(changes->n_pages, HI_PAGE / HI_IMAGE_WORD / 8);
	if (changes->same && kept->pages)
		move_runs(&m, &runs);
	if (kept->pages)
		free_up_to(&m, kept->pages + kept->size);
	hi_vector_free(&runs);
	kept->pages = NULL;
	hi_image_kept_free(kept);
}

/* ---- keep ---- */

static struct hi_frozen_block *find_kept_block(const struct hi_image *image,
					       const unsigned char *area)
{
	struct hi_frozen *frozen = (struct hi_frozen *)image->memory;

	for (size_t i = 0; i < frozen->owned.count; i++)
		if (frozen->owned.items[i].pages == area && frozen->owned.items[i].fd < 0)
			return &frozen->owned.items[i];
	return NULL;
}

void hi_image_keep(struct hi_image *image, struct hi_image_kept *kept)
{
	struct hi_image_private *priv = image->priv;
	struct hi_frozen_block *block;

	if (!priv->frozen || !priv->runs.count)
		return;
	block = find_kept_block(image, priv->changes.area);
	if (!block)
		return;
	kept->size = block->size;
	kept->pages = hi_take(block->pages);
	kept->runs = priv->runs;
	priv->runs = (struct hi_pager_runs){};
}

uint64_t hi_image_room_to_keep(const struct hi_image *image)
{
	return image->priv->room_to_keep;
}

void hi_image_kept_free(struct hi_image_kept *kept)
{
	hi_pages_free(kept->pages, kept->size);
	hi_vector_free(&kept->runs);
	*kept = (struct hi_image_kept){};
}

/* ---- look up ---- */

/* Bytes [start, end) of the area, in one page that has changed. */
static bool are_words_same(const struct hi_image_changes *changes, size_t start,
			   size_t end)
{
	size_t last = (end - 1) / HI_IMAGE_WORD;

	if (!changes->same_words)
		return false;
	for (size_t i = start / HI_IMAGE_WORD; i <= last;) {
		size_t n = 64 - i % 64 <= last - i ? 64 - i % 64 : last - i + 1;
		uint64_t wanted = n == 64 ? UINT64_MAX : ((1ull << n) - 1) << i % 64;

		if (~changes->same_words[i / 64] & wanted)
			return false;
		i += n;
	}
	return true;
}

static bool are_bytes_same(const struct hi_image_changes *changes,
			   const unsigned char *host, size_t size)
{
	size_t at = (size_t)(host - changes->area), end = at + size, next;

	if (host < changes->area || size == 0 || end > changes->n_pages * HI_PAGE)
		return false;
	for (; at < end; at = next) {
		next = (at / HI_PAGE + 1) * HI_PAGE;
		if (next > end)
			next = end;
		if (!hi_bit(changes->same, (uint32_t)(at / HI_PAGE)) &&
		    !are_words_same(changes, at, next))
			return false;
	}
	return true;
}

bool hi_image_is_unchanged(const struct hi_image *image, uint64_t start, uint64_t end)
{
	const struct hi_image_changes *changes = &image->priv->changes;

	if (!changes->same)
		return false;
	while (start < end) {
		size_t avail = 0;
		const unsigned char *host = hi_memory_view(image->memory, start, &avail);

		if (!host)
			return false;
		if (avail > end - start)
			avail = end - start;
		if (!are_bytes_same(changes, host, avail))
			return false;
		start += avail;
	}
	return true;
}

bool hi_image_bytes_are_unchanged(const struct hi_image *image, const void *host,
				  size_t size)
{
	const struct hi_image_changes *changes = &image->priv->changes;

	return changes->same && are_bytes_same(changes, host, size);
}

struct hi_image_change_counts hi_image_count_changes(const struct hi_image *image)
{
	const struct hi_image_private *priv = image->priv;
	struct hi_image_change_counts ret = {};

	for (size_t i = 0; i < priv->runs.count; i++)
		ret.read += priv->runs.items[i].size;
	for (size_t i = 0; priv->changes.same && i < priv->changes.n_pages; i++)
		ret.same += hi_bit(priv->changes.same, (uint32_t)i) ? HI_PAGE : 0;
	return ret;
}
