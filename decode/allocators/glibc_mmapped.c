/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Chunks that are mappings of their own, on no list: found by their headers at page
 * starts of writable private memory, checked against mp_.n_mmaps and mp_.mmapped_mem.
 *
 * A header has IS_MMAPPED alone, a size of whole pages, and prev_size 0. For a larger
 * alignment the chunk starts further inside: its prev_size is the distance from the
 * mapping's start and its size goes to the end, while the first header stays where it
 * was, stale. Source: sysmalloc_mmap(), _int_memalign(), mremap_chunk(). The kernel
 * merges neighbours, so one mapping may hold several chunks and other things. Since 2.43
 * the size does not count the header, and an aligned chunk leaves no header at the start.
 */
#include <stdlib.h>
#include <string.h>

#include "decode/allocators/glibc.h"

struct candidate {
	uint64_t start, end, user, usable;
	bool strong;  /* at a mapping's start or right behind another one */
	bool aligned; /* made by memalign: its header is not at a page's start */
	bool dropped;
};
struct candidates HI_VECTOR(struct candidate);

struct scan {
	struct hi_glibc *g;
	struct hi_window window;
	struct candidates found;
	bool has_bare_starts; /* look for aligned chunks that leave no header there */
};

static bool may_hold_chunks(const struct hi_mapping *m)
{
	return !m->shared && m->held && (m->prot & HI_PROT_WRITE) &&
	       (m->kind == HI_MAPPING_ANONYMOUS ||
		strncmp(m->path, "/anon_hugepage", 14) == 0);
}

/* A program may have protected pages in the middle of a chunk. */
static bool may_continue_chunk(const struct hi_mapping *m)
{
	return may_hold_chunks(m) || (!m->shared && m->kind == HI_MAPPING_ANONYMOUS);
}

static bool may_start_chunk(const struct scan *s, uint64_t p)
{
	const struct hi_mapping *m = hi_image_mapping_at(s->g->image, p);

	return m && may_hold_chunks(m);
}

static bool read_chunk_header(struct scan *s, uint64_t p, uint64_t *prev_size_ret,
			      uint64_t *size_ret)
{
	uint64_t header;

	if (!hi_window_u64(&s->window, p, prev_size_ret) ||
	    !hi_window_u64(&s->window, p + 8, &header) ||
	    (header & 15) != HI_CHUNK_MMAPPED)
		return false;
	*size_ret = header & ~(uint64_t)15;
	return true;
}

static bool is_zero_word(struct scan *s, uint64_t at)
{
	uint64_t word;

	return hi_window_u64(&s->window, at, &word) && word == 0;
}

/* The aligned chunk inside the mapping that starts at p, as memalign made it: one address
 * for each alignment. limit: of the mapping. */
static bool find_aligned(struct scan *s, uint64_t p, uint64_t limit,
			 struct candidate *ret)
{
	const struct hi_glibc_layout *l = s->g->layout;

	for (unsigned shift = 5; shift < 40 && (1ull << shift) <= limit - p; shift++) {
		uint64_t align = 1ull << shift;
		uint64_t user = (p + HI_CHUNK_HEADER + align - 1) & ~(align - 1);

		for (int i = 0; i < 2; i++, user += align) {
			uint64_t q = user - HI_CHUNK_HEADER, lead, size;

			if (q <= p || q >= limit || limit - q < HI_CHUNK_MIN ||
			    !read_chunk_header(s, q, &lead, &size) || lead != q - p)
				continue;
			if (size < HI_CHUNK_MIN || size > limit - q)
				continue;
			size += l->mmapped_uncounted;
			if ((lead + size) % HI_GLIBC_PAGE || size > limit - q)
				continue;
			*ret = (struct candidate){.start = p,
						  .end = q + size,
						  .user = user,
						  .usable = size - HI_CHUNK_HEADER -
							    l->mmapped_tail,
						  .aligned = true};
			return true;
		}
	}
	return false;
}

/* An aligned chunk wins: the first header of its page stays as it was when mremap changed
 * the size, so that it may overlap the neighbours. */
static bool find_mapped_chunk(struct scan *s, uint64_t p, uint64_t limit,
			      struct candidate *ret)
{
	const struct hi_glibc_layout *l = s->g->layout;
	uint64_t lead, total;

	if (!read_chunk_header(s, p, &lead, &total) || lead)
		return s->has_bare_starts && is_zero_word(s, p + 8) &&
		       find_aligned(s, p, limit, ret);
	total += l->mmapped_uncounted;
	if (total < HI_GLIBC_PAGE || total % HI_GLIBC_PAGE)
		return false;
	if (find_aligned(s, p, limit, ret))
		return true;
	if (total > limit - p)
		return false;
	*ret = (struct candidate){.start = p,
				  .end = p + total,
				  .user = p + HI_CHUNK_HEADER,
				  .usable = total - HI_CHUNK_HEADER - l->mmapped_tail};
	return true;
}

/* Page by page through [start, end), which no heap covers, as far as the image
 * holds it: reservations may be terabytes. */
static enum hi_status scan_mapped_range(struct scan *s, uint64_t start, uint64_t end,
					struct hi_error *err)
{
	uint64_t from, held = start;
	bool strong = true;

	for (uint64_t p = start; p < end;) {
		struct candidate c;

		if (p >= held) {
			if (!hi_image_next_held(s->g->image, p, end, &from, &held))
				break;
			strong &= from == p;
			p = from & ~(uint64_t)(HI_GLIBC_PAGE - 1);
		}
		if (!find_mapped_chunk(s, p, end, &c) || !may_start_chunk(s, p)) {
			strong = false;
			p += HI_GLIBC_PAGE;
			continue;
		}
		c.strong = strong;
		if (!hi_vector_push(&s->found, c))
			return hi_fail_memory(err, "mmapped chunks");
		strong = true;
		p = c.end;
	}
	return HI_OK;
}

/* The mappings, less the regions of the heaps (both are sorted). */
static enum hi_status scan_all_mappings(struct scan *s, struct hi_error *err)
{
	const struct hi_image *image = s->g->image;
	const struct hi_glibc_part *part = s->g->parts.items;
	const struct hi_glibc_part *parts_end = part ? part + s->g->parts.count : NULL;
	enum hi_status status = HI_OK;

	for (size_t i = 0; i < image->n_mappings && status == HI_OK; i++) {
		const struct hi_mapping *m = &image->mappings[i];
		uint64_t p = m->start, end = m->end;

		if (!may_hold_chunks(m))
			continue;
		/* A run of mappings counts as one: flags and protection may differ. */
		while (i + 1 < image->n_mappings && m[1].start == end &&
		       may_continue_chunk(m + 1)) {
			m++;
			i++;
			end = m->end;
		}
		while (part < parts_end && part->end <= p)
			part++;
		while (status == HI_OK && part < parts_end && part->start < end) {
			if (part->start > p)
				status = scan_mapped_range(s, p, part->start, err);
			p = (part->end + HI_GLIBC_PAGE - 1) &
			    ~(uint64_t)(HI_GLIBC_PAGE - 1);
			part++;
		}
		if (status == HI_OK && p < end)
			status = scan_mapped_range(s, p, end, err);
	}
	return status;
}

/*
 * Note [Which candidates are chunks]
 *
 * Program data at a page's start may look like a header. The counters have the number of
 * chunks there are and their bytes. When more were found, the least trusted are dropped,
 * up to DROPS_MAX of them and DROP_TRIES combinations: weak ones before strong ones,
 * aligned ones (their headers are searched at many addresses) before plain ones. The
 * first combination that leaves exactly the counted bytes is taken. If there is none, all
 * stay, and the damage is reported.
 */
enum { DROPS_MAX = 6, DROP_TRIES = 1 << 20 };

/* The order in which candidates are dropped: least trusted first. */
static int compare_mapped_candidates(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->strong != y->strong)
		return x->strong - y->strong;
	if (x->aligned != y->aligned)
		return y->aligned - x->aligned;
	return x->start < y->start ? -1 : x->start > y->start;
}

/* Marks the first `k` of the candidates whose bytes add up to `excess`. */
static bool drop_exactly(struct candidate *c, size_t n, unsigned k, uint64_t excess)
{
	size_t pick[DROPS_MAX];

	if (k == 0 || k > DROPS_MAX || k > n)
		return false;
	for (unsigned i = 0; i < k; i++)
		pick[i] = i;
	for (unsigned tries = 0; tries < DROP_TRIES; tries++) {
		uint64_t sum = 0;
		unsigned i = k;

		for (unsigned d = 0; d < k; d++)
			sum += c[pick[d]].end - c[pick[d]].start;
		if (sum == excess) {
			for (unsigned d = 0; d < k; d++)
				c[pick[d]].dropped = true;
			return true;
		}
		/* The next combination in order. */
		while (i > 0 && pick[i - 1] == n - k + i - 1)
			i--;
		if (i == 0)
			return false;
		for (pick[i - 1]++; i < k; i++)
			pick[i] = pick[i - 1] + 1;
	}
	return false;
}

/* See Note [Which candidates are chunks]. */
static void check_mapped_totals(struct scan *s)
{
	struct candidate *c = s->found.items;
	const struct hi_glibc *g = s->g;
	uint64_t wanted_bytes = g->mmapped_mem + g->where.other_mmapped_mem;
	size_t n = s->found.count;
	size_t wanted = (size_t)g->n_mmaps + (size_t)g->where.other_n_mmaps;
	uint64_t bytes = 0;

	for (size_t i = 0; i < n; i++)
		bytes += c[i].end - c[i].start;
	if (g->layout->mmapped_uncounted)
		wanted_bytes = n == wanted
				       ? bytes
				       : wanted_bytes & ~(uint64_t)(HI_GLIBC_PAGE - 1);
	if (n == wanted && bytes == wanted_bytes)
		return;
	if (n > wanted && n - wanted <= DROPS_MAX && bytes >= wanted_bytes) {
		qsort(c, n, sizeof(*c), compare_mapped_candidates);
		if (drop_exactly(c, n, (unsigned)(n - wanted), bytes - wanted_bytes))
			return;
	}
	hi_glibc_damage(s->g, s->g->where.mp,
			"mmapped chunks: %zu with 0x%llx bytes were found, n_mmaps "
			"says %zu, mmapped_mem 0x%llx",
			n, (unsigned long long)bytes, wanted,
			(unsigned long long)wanted_bytes);
}

static enum hi_status keep_chosen_candidates(struct scan *s, struct hi_error *err)
{
	check_mapped_totals(s);
	for (size_t i = 0; i < s->found.count; i++) {
		const struct candidate *c = &s->found.items[i];

		if (c->dropped)
			continue;
		if (!hi_vector_push(&s->g->parts,
				    (struct hi_glibc_part){.start = c->start,
							   .end = c->end,
							   .first = c->start,
							   .stop = c->end,
							   .kind = HI_GLIBC_MMAPPED,
							   .user = c->user,
							   .usable = c->usable}))
			return hi_fail_memory(err, "regions");
	}
	return HI_OK;
}

enum hi_status hi_glibc_add_mmapped(struct hi_glibc *g, struct hi_error *err)
{
	struct scan s = {.g = g, .window.memory = g->memory};
	const size_t wanted = (size_t)g->n_mmaps + (size_t)g->where.other_n_mmaps;
	enum hi_status status = scan_all_mappings(&s, err);

	/* Many addresses for each page: only if some are missing. */
	if (status == HI_OK && g->layout->mmapped_uncounted && s.found.count < wanted) {
		s.found.count = 0;
		s.has_bare_starts = true;
		status = scan_all_mappings(&s, err);
	}
	if (status == HI_OK && s.window.out_of_memory)
		status = hi_fail_memory(err, "window");
	if (status == HI_OK)
		status = keep_chosen_candidates(&s, err);
	hi_vector_free(&s.found);
	hi_window_free(&s.window);
	return status;
}
