/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/frozen_memory_internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/search.h"

/*
 * Note [Spans]
 *
 * A span mirrors a piece of the target's address space at the same distances, so that
 * translating an address is one lookup and one addition, and a view runs on across
 * mappings. Pages that are not held stay untouched in the inspector's area, so they cost
 * nothing. Two bitmaps with one bit per page hold what may be read and what was resident;
 * beside each word of 64 pages stand the count of resident pages before it and the next
 * word with an unreadable page, so that counting a range and finding the end of a
 * readable run are O(1). A span without holes has no bitmaps at all.
 *
 * The lookup table has an entry per GRANULE of the 47-bit address space: the first span
 * that ends above its beginning.
 */
#define ZEROS 65536u

static const unsigned char zeros[ZEROS];

/* The first span that ends above addr; spans.count if there is none. */
static size_t span_above(const struct hi_frozen *frozen, uint64_t addr)
{
	uint64_t granule = addr >> GRANULE_BITS;
	size_t low = 0, high = frozen->spans.count;

	if (granule < GRANULES) {
		low = frozen->lookup[granule];
		high = frozen->lookup[granule + 1];
	}
	low = hi_search_from(i, low, high, frozen->spans.items[i].end <= addr);
	return low;
}

/* Readable bytes from addr on, which lies in span; 0 if it is not readable. */
static uint64_t readable_bytes(const struct hi_frozen_span *span, uint64_t addr)
{
	uint64_t page = (addr - span->start) / HI_PAGE, word = page / 64, ones, end;

	if (!span->block)
		return span->end - addr;
	ones = ~(span->readable[word] >> page % 64);
	ones = ones ? (uint64_t)__builtin_ctzll(ones) : 64;
	if (ones == 0)
		return 0;
	end = page + ones;
	if (end % 64 == 0) {
		uint64_t next = span->stop[end / 64], bits;

		end = next * 64;
		if (end * HI_PAGE < span->end - span->start) {
			bits = ~span->readable[next];
			end += (uint64_t)__builtin_ctzll(bits);
		}
	}
	end = span->start + end * HI_PAGE;
	return (end < span->end ? end : span->end) - addr;
}

/* Outside of all spans, untouched private memory is zeros. */
static const void *view_zeros(const struct hi_frozen *frozen, uint64_t addr, uint64_t end,
			      size_t *avail_ret)
{
	size_t low =
		hi_search(i, frozen->zeros.count, frozen->zeros.items[i].end <= addr);
	const struct hi_frozen_range *range;

	if (low == frozen->zeros.count || frozen->zeros.items[low].start > addr)
		return NULL;
	range = &frozen->zeros.items[low];
	if (end > range->end)
		end = range->end;
	*avail_ret = end - addr < ZEROS ? end - addr : ZEROS;
	return zeros;
}

static const void *frozen_view(struct hi_memory *mem, uint64_t addr, size_t *avail_ret)
{
	const struct hi_frozen *frozen = (const struct hi_frozen *)mem;
	size_t i = span_above(frozen, addr);
	const struct hi_frozen_span *span;
	uint64_t avail;

	if (i == frozen->spans.count)
		return view_zeros(frozen, addr, UINT64_MAX, avail_ret);
	span = &frozen->spans.items[i];
	if (addr < span->start)
		return view_zeros(frozen, addr, span->start, avail_ret);
	avail = readable_bytes(span, addr);
	if (!avail)
		return NULL;
	*avail_ret = avail;
	return span->host + (addr - span->start);
}

static enum hi_status frozen_read(struct hi_memory *mem, uint64_t addr, void *buf,
				  size_t size, struct hi_error *err)
{
	unsigned char *out = buf;

	while (size) {
		size_t avail = 0;
		const void *from = frozen_view(mem, addr, &avail);

		if (!from)
			return hi_fail(err, HI_FAULT, addr, "0x%llx is not in the image",
				       (unsigned long long)addr);
		if (avail > size)
			avail = size;
		memcpy(out, from, avail);
		out += avail;
		addr += avail;
		size -= avail;
	}
	return HI_OK;
}

static void frozen_destroy(struct hi_memory *mem)
{
	struct hi_frozen *frozen = (struct hi_frozen *)mem;

	for (size_t i = 0; i < frozen->spans.count; i++)
		free(frozen->spans.items[i].block);
	for (size_t i = 0; i < frozen->owned.count; i++)
		hi_frozen_free_block(&frozen->owned.items[i]);
	hi_vector_free(&frozen->owned);
	hi_vector_free(&frozen->spans);
	hi_vector_free(&frozen->zeros);
	hi_vector_free(&frozen->held);
	free(frozen->lookup);
	free(frozen);
}

void hi_frozen_free_block(struct hi_frozen_block *block)
{
	hi_packed_destroy(hi_take(block->packed));
	hi_pages_free(hi_take(block->pages), block->size);
	hi_close_fd(hi_take_fd(block->fd));
}

void hi_frozen_advise(struct hi_frozen *frozen, int advice)
{
	for (size_t i = 0; i < frozen->owned.count; i++)
		if (frozen->owned.items[i].pages)
			(void)madvise(frozen->owned.items[i].pages,
				      frozen->owned.items[i].size, advice);
}

void hi_frozen_give_away(struct hi_frozen *frozen)
{
	hi_frozen_advise(frozen, MADV_DONTNEED);
	for (size_t i = 0; i < frozen->owned.count; i++)
		if (frozen->owned.items[i].fd >= 0)
			hi_frozen_free_block(&frozen->owned.items[i]);
}

enum hi_status hi_frozen_create(const char *name, struct hi_frozen **ret,
				struct hi_error *err)
{
	struct hi_frozen *frozen = hi_calloc(1, sizeof(*frozen));
	uint32_t *lookup = hi_calloc(GRANULES + 1, sizeof(*lookup));

	if (!frozen || !lookup) {
		free(frozen);
		free(lookup);
		return hi_fail_memory(err, "frozen memory");
	}
	frozen->ops = (struct hi_memory_ops){
		.name = name,
		.read = frozen_read,
		.view = frozen_view,
		.destroy = frozen_destroy,
	};
	frozen->memory.ops = &frozen->ops;
	frozen->lookup = lookup;
	*ret = frozen;
	return HI_OK;
}

struct hi_memory *hi_frozen_memory(struct hi_frozen *frozen)
{
	return &frozen->memory;
}

enum hi_status hi_frozen_add_span(struct hi_frozen *frozen, uint64_t start, uint64_t end,
				  unsigned char *host, struct hi_error *err)
{
	struct hi_frozen_span span = {.start = start, .end = end, .host = host};

	if (!hi_vector_push(&frozen->spans, span))
		return hi_fail_memory(err, "frozen memory");
	return HI_OK;
}

enum hi_status hi_frozen_own(struct hi_frozen *frozen, void *pages, size_t size,
			     struct hi_error *err)
{
	return hi_frozen_own_sealed(frozen, pages, size, -1, err);
}

enum hi_status hi_frozen_own_sealed(struct hi_frozen *frozen, void *pages, size_t size,
				    int fd, struct hi_error *err)
{
	if (!hi_vector_push(&frozen->owned,
			    (struct hi_frozen_block){pages, size, fd, NULL}))
		return hi_fail_memory(err, "frozen memory");
	return HI_OK;
}

enum hi_status hi_frozen_add_zeros(struct hi_frozen *frozen, uint64_t start, uint64_t end,
				   struct hi_error *err)
{
	size_t n = frozen->zeros.count;

	if (n && frozen->zeros.items[n - 1].end == start)
		frozen->zeros.items[n - 1].end = end;
	else if (!hi_vector_push(&frozen->zeros, (struct hi_frozen_range){start, end}))
		return hi_fail_memory(err, "frozen memory");
	return HI_OK;
}

static int compare_spans(const void *a, const void *b)
{
	const struct hi_frozen_span *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

void hi_frozen_fill_lookup(struct hi_frozen *frozen)
{
	size_t i = 0;

	for (uint64_t g = 0; g <= GRANULES; g++) {
		while (i < frozen->spans.count &&
		       frozen->spans.items[i].end <= g << GRANULE_BITS)
			i++;
		frozen->lookup[g] = (uint32_t)i;
	}
}

static void set_bits(uint64_t *words, uint64_t first, uint64_t last, bool value)
{
	while (first < last) {
		uint64_t word = first / 64, bit = first % 64, n = 64 - bit, mask;

		if (n > last - first)
			n = last - first;
		mask = (n == 64 ? UINT64_MAX : (1ull << n) - 1) << bit;
		words[word] = value ? words[word] | mask : words[word] & ~mask;
		first += n;
	}
}

/* Sets the bits of [start, end), clipped to span. */
static void mark_bits(const struct hi_frozen_span *span, uint64_t *words, uint64_t start,
		      uint64_t end, bool value)
{
	if (start < span->start)
		start = span->start;
	if (end > span->end)
		end = span->end;
	if (start < end)
		set_bits(words, (start - span->start) / HI_PAGE,
			 (end - span->start + HI_PAGE - 1) / HI_PAGE, value);
}

static void mark_pages(const struct hi_frozen_span *span, const struct hi_pages *pages)
{
	bool readable = pages->flags & (HI_PAGES_HELD | HI_PAGES_ZERO);

	mark_bits(span, span->readable, pages->start, pages->end, readable);
	if (pages->flags & HI_PAGES_PRESENT)
		mark_bits(span, span->present, pages->start, pages->end, true);
}

/* Fills rank and stop; true if every page is readable and present. */
static bool summarize_bitmaps(const struct hi_frozen_span *span, uint64_t n_pages,
			      uint64_t n_words)
{
	uint64_t tail = n_pages % 64 ? (1ull << n_pages % 64) - 1 : UINT64_MAX;
	uint64_t full = UINT64_MAX;
	uint32_t rank = 0;

	for (uint64_t w = 0; w < n_words; w++) {
		span->rank[w] = rank;
		rank += (uint32_t)__builtin_popcountll(span->present[w]);
		full &= span->readable[w] | (w + 1 == n_words ? ~tail : 0);
	}
	span->rank[n_words] = rank;
	span->stop[n_words] = (uint32_t)n_words;
	for (uint64_t w = n_words; w-- > 0;)
		span->stop[w] =
			span->readable[w] == UINT64_MAX ? span->stop[w + 1] : (uint32_t)w;
	return full == UINT64_MAX && rank == n_pages;
}

bool hi_frozen_alloc_bitmaps(struct hi_frozen_span *span, uint64_t n_words)
{
	char *block = hi_calloc(n_words + 1, 2 * sizeof(uint64_t) + 2 * sizeof(uint32_t));

	if (!block)
		return false;
	span->block = block;
	span->readable = (void *)block;
	span->present = span->readable + n_words + 1;
	span->rank = (void *)(span->present + n_words + 1);
	span->stop = span->rank + n_words + 1;
	return true;
}

static bool index_span(struct hi_frozen *frozen, struct hi_frozen_span *span,
		       const struct hi_pages *pages, size_t n_pages, size_t *zero_at)
{
	uint64_t count = (span->end - span->start + HI_PAGE - 1) / HI_PAGE;
	uint64_t n_words = (count + 63) / 64;

	if (!hi_frozen_alloc_bitmaps(span, n_words))
		return false;
	while (*zero_at < frozen->zeros.count &&
	       frozen->zeros.items[*zero_at].end <= span->start)
		++*zero_at;
	for (size_t i = *zero_at; i < frozen->zeros.count; i++) {
		if (frozen->zeros.items[i].start >= span->end)
			break;
		mark_bits(span, span->readable, frozen->zeros.items[i].start,
			  frozen->zeros.items[i].end, true);
	}
	for (size_t i = 0; i < n_pages && pages[i].start < span->end; i++)
		mark_pages(span, &pages[i]);
	if (summarize_bitmaps(span, count, n_words)) {
		free(span->block);
		span->block = NULL;
	}
	return true;
}

static bool index_spans(struct hi_frozen *frozen, const struct hi_pages *pages,
			size_t n_pages)
{
	size_t at = 0, zero_at = 0;

	for (size_t i = 0; i < frozen->spans.count; i++) {
		struct hi_frozen_span *span = &frozen->spans.items[i];

		while (at < n_pages && pages[at].end <= span->start)
			at++;
		if (!index_span(frozen, span, pages + at, n_pages - at, &zero_at))
			return false;
	}
	return true;
}

static bool add_held(struct hi_frozen *frozen, uint64_t start, uint64_t end)
{
	size_t n = frozen->held.count;

	if (n && frozen->held.items[n - 1].end == start) {
		frozen->held.items[n - 1].end = end;
		return true;
	}
	return hi_vector_push(&frozen->held, (struct hi_frozen_range){start, end});
}

static bool collect_held(struct hi_frozen *frozen, const struct hi_pages *pages,
			 size_t n_pages)
{
	for (size_t i = 0; !pages && i < frozen->spans.count; i++)
		if (!add_held(frozen, frozen->spans.items[i].start,
			      frozen->spans.items[i].end))
			return false;
	for (size_t i = 0; i < n_pages; i++)
		if ((pages[i].flags & HI_PAGES_HELD) &&
		    !add_held(frozen, pages[i].start, pages[i].end))
			return false;
	return true;
}

enum hi_status hi_frozen_seal(struct hi_frozen *frozen, struct hi_pages *pages,
			      size_t n_pages, struct hi_error *err)
{
	bool done;

	if (frozen->spans.count)
		qsort(frozen->spans.items, frozen->spans.count,
		      sizeof(*frozen->spans.items), compare_spans);
	hi_frozen_fill_lookup(frozen);
	frozen->knows_residency = pages;
	done = (!pages || index_spans(frozen, pages, n_pages)) &&
	       collect_held(frozen, pages, n_pages);
	free(pages);
	return done ? HI_OK : hi_fail_memory(err, "index of the frozen memory");
}

/* One without holes gets bitmaps. */
static bool make_hole(struct hi_frozen_span *span, uint64_t start, uint64_t end)
{
	uint64_t n_words = hi_frozen_words(span);

	if (!span->block) {
		if (!hi_frozen_alloc_bitmaps(span, n_words))
			return false;
		mark_bits(span, span->readable, span->start, span->end, true);
		mark_bits(span, span->present, span->start, span->end, true);
	}
	mark_bits(span, span->readable, start, end, false);
	(void)summarize_bitmaps(span, (span->end - span->start + HI_PAGE - 1) / HI_PAGE,
				n_words);
	return true;
}

/* The part of range above end is a range of its own. */
static bool split_held(struct hi_frozen *frozen, size_t at, uint64_t start, uint64_t end)
{
	struct hi_frozen_range *range = &frozen->held.items[at],
			       above = {end, range->end};

	if (!hi_vector_push(&frozen->held, above))
		return false;
	range = &frozen->held.items[at];
	memmove(range + 2, range + 1, (frozen->held.count - at - 2) * sizeof(*range));
	range[1] = above;
	range->end = start;
	return true;
}

static void erase_held(struct hi_frozen *frozen, size_t at)
{
	struct hi_frozen_range *range = &frozen->held.items[at];

	frozen->held.count--;
	memmove(range, range + 1, (frozen->held.count - at) * sizeof(*range));
}

static bool leave_out_held(struct hi_frozen *frozen, uint64_t start, uint64_t end)
{
	size_t at = hi_search(i, frozen->held.count, frozen->held.items[i].end <= start);

	while (at < frozen->held.count && frozen->held.items[at].start < end) {
		struct hi_frozen_range *range = &frozen->held.items[at];

		if (range->start < start && range->end > end)
			return split_held(frozen, at, start, end);
		if (range->start < start) {
			range->end = start;
			at++;
		} else if (range->end > end) {
			range->start = end;
		} else {
			erase_held(frozen, at);
		}
	}
	return true;
}

enum hi_status hi_frozen_leave_out(struct hi_frozen *frozen, uint64_t start, uint64_t end,
				   struct hi_error *err)
{
	for (size_t i = span_above(frozen, start); i < frozen->spans.count; i++) {
		struct hi_frozen_span *span = &frozen->spans.items[i];

		if (span->start >= end)
			break;
		if (!make_hole(span, start, end))
			return hi_fail_memory(err, "index of the frozen memory");
	}
	return leave_out_held(frozen, start, end)
		       ? HI_OK
		       : hi_fail_memory(err, "index of the frozen memory");
}

/* Resident bytes of span below addr, which is in [start, end]. */
static uint64_t resident_below(const struct hi_frozen_span *span, uint64_t addr)
{
	uint64_t offset = addr - span->start, page = offset / HI_PAGE, below, bits;

	if (!span->block)
		return offset;
	bits = span->present[page / 64];
	below = span->rank[page / 64] +
		(uint64_t)__builtin_popcountll(bits & ((1ull << page % 64) - 1));
	return below * HI_PAGE + (bits >> page % 64 & 1 ? offset % HI_PAGE : 0);
}

uint64_t hi_frozen_resident(const struct hi_frozen *frozen, uint64_t start, uint64_t end)
{
	uint64_t sum = 0;

	if (!frozen->knows_residency)
		return UINT64_MAX;
	for (size_t i = span_above(frozen, start); i < frozen->spans.count; i++) {
		const struct hi_frozen_span *span = &frozen->spans.items[i];

		if (span->start >= end)
			break;
		sum += resident_below(span, end < span->end ? end : span->end) -
		       resident_below(span, start > span->start ? start : span->start);
	}
	return sum;
}

bool hi_frozen_next_held(const struct hi_frozen *frozen, uint64_t addr, uint64_t limit,
			 uint64_t *start_ret, uint64_t *end_ret)
{
	size_t low = hi_search(i, frozen->held.count, frozen->held.items[i].end <= addr);
	const struct hi_frozen_range *range;

	if (low == frozen->held.count || addr >= limit)
		return false;
	range = &frozen->held.items[low];
	if (range->start >= limit)
		return false;
	*start_ret = range->start > addr ? range->start : addr;
	*end_ret = range->end < limit ? range->end : limit;
	return true;
}
