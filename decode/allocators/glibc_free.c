/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Chunks that are free although their successor has PREV_INUSE set: those in the
 * threads' caches and in fastbins. Also the caches themselves, which are the
 * allocator's own blocks. A sorted array of chunk address | state; the walk
 * keeps a cursor into it.
 *
 * Links: tcache entries point to user bytes, fastbin links to chunks. Since 2.32 a link
 * at address a holds next ^ (a >> 12) (PROTECT_PTR); the first pointers of the lists are
 * raw. A tcache's list is bounded by its counter, a fastbin's by a search for cycles, and
 * all of them together by the chunks that the heap has room for: lists that lead into
 * each other would be followed once for each thread.
 */
#include <string.h>

#include "base/alloc.h"
#include "decode/allocators/glibc.h"

enum { TLS_SEARCHED = 1 << 13 };

/* Entries that all lists may have: a chunk is on one list, and a tcache is a chunk. */
static uint64_t count_possible_chunks(const struct hi_glibc *g)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < g->parts.count; i++)
		if (g->parts.items[i].kind == HI_GLIBC_CHAIN)
			bytes += g->parts.items[i].stop - g->parts.items[i].first;
	return bytes / HI_CHUNK_MIN + g->image->n_threads;
}

/* Reported once. */
static bool is_list_full(struct hi_glibc *g, uint64_t at)
{
	if (g->listed.count < g->max_listed)
		return false;
	if (!g->is_listed_cut)
		hi_glibc_damage(g, at,
				"the free lists have more entries than the heap has "
				"chunks: further free chunks count as in use");
	g->is_listed_cut = true;
	return true;
}

static bool add_listed(struct hi_glibc *g, uint64_t chunk, enum hi_block_state state)
{
	return hi_vector_push(&g->listed, chunk | state);
}

/* Whether a chunk may lie there, and its size. */
static bool chunk_size(struct hi_glibc *g, struct hi_window *w, uint64_t chunk,
		       uint64_t *size_ret)
{
	/* By the user's address: the chunk's header may lie in the region before. */
	const struct hi_glibc_part *part = hi_glibc_part_at(g, chunk + HI_CHUNK_HEADER);
	uint64_t header;

	if (!part || part->kind != HI_GLIBC_CHAIN || chunk % HI_CHUNK_ALIGN ||
	    chunk < part->first || chunk >= part->stop ||
	    !hi_window_u64(w, chunk + 8, &header))
		return false;
	*size_ret = header & ~(uint64_t)HI_CHUNK_FLAGS;
	return true;
}

static bool next_link(struct hi_glibc *g, struct hi_window *w, uint64_t at,
		      uint64_t *next_ret)
{
	if (!hi_window_u64(w, at, next_ret))
		return false;
	if (g->layout->mangled)
		*next_ret ^= at >> 12;
	return true;
}

/* ---- fastbins ---- */

/* One list. Brent's second pointer finds cycles. */
static enum hi_status list_fastbin(struct hi_glibc *g, struct hi_window *w,
				   unsigned arena, unsigned bin, uint64_t chunk,
				   struct hi_error *err)
{
	uint64_t want = HI_CHUNK_MIN + (uint64_t)bin * HI_CHUNK_ALIGN, mark = 0, size;

	for (uint64_t n = 1; chunk && !is_list_full(g, chunk); n++) {
		if (!chunk_size(g, w, chunk, &size) || size != want) {
			hi_glibc_damage(g, chunk,
					"arena %u: fastbin %u points to something that "
					"is not a chunk of its size",
					arena, bin);
			return HI_OK;
		}
		if (chunk == mark) {
			hi_glibc_damage(g, chunk, "arena %u: fastbin %u has a cycle",
					arena, bin);
			return HI_OK;
		}
		if (!add_listed(g, chunk, HI_BLOCK_FREE_FASTBIN))
			return hi_fail_memory(err, "free chunks");
		if ((n & (n - 1)) == 0)
			mark = chunk;
		if (!next_link(g, w, chunk + HI_CHUNK_HEADER, &chunk)) {
			hi_glibc_damage(g, chunk, "arena %u: fastbin %u is not readable",
					arena, bin);
			return HI_OK;
		}
	}
	return HI_OK;
}

static enum hi_status list_fastbins(struct hi_glibc *g, struct hi_window *w,
				    struct hi_error *err)
{
	enum hi_status status = HI_OK;

	for (unsigned i = 0; i < g->arenas.count; i++) {
		uint64_t heads[HI_GLIBC_FASTBINS];
		const unsigned n = g->layout->n_fastbins;

		status = hi_memory_read(g->memory,
					g->arenas.items[i].addr + g->layout->fastbins,
					heads, n * sizeof(*heads), err);
		for (unsigned bin = 0; bin < n && status == HI_OK; bin++)
			status = list_fastbin(g, w, i, bin, heads[bin], err);
		if (status != HI_OK)
			break;
	}
	return status;
}

/* ---- tcaches ---- */

static uint64_t entry_at(const uint8_t *tcache, unsigned offset, unsigned width)
{
	uint64_t value = 0;

	memcpy(&value, tcache + offset, width);
	return value;
}

/* The chunk of a tcache holds its struct and is at most 16 bytes larger, or the
 * rest of a page: a low mmap threshold makes it a mapping of its own. */
static bool is_tcache(struct hi_glibc *g, struct hi_window *w, uint64_t tcache)
{
	uint64_t want = ((uint64_t)g->layout->tcache_size + 8 + 15) & ~(uint64_t)15, size;
	const struct hi_glibc_part *part = hi_glibc_part_at(g, tcache);

	if (part && part->kind == HI_GLIBC_MMAPPED)
		return part->user == tcache && part->usable >= g->layout->tcache_size &&
		       part->usable - g->layout->tcache_size < HI_GLIBC_PAGE;
	return tcache > HI_CHUNK_HEADER &&
	       chunk_size(g, w, tcache - HI_CHUNK_HEADER, &size) &&
	       (size == want || size == want + HI_CHUNK_ALIGN);
}

/* How many chunks list i has. */
static uint64_t list_length(const struct hi_glibc *g, const uint8_t *tcache, unsigned i)
{
	uint64_t n = entry_at(tcache, i * g->layout->count_width, g->layout->count_width);

	if (!g->layout->counts_free_slots)
		return n;
	return n <= g->tcache_count ? g->tcache_count - n : 0;
}

/* Lists 0..63 hold one size each; 2.42's large ones a range from 1 KiB on. */
static bool size_fits(unsigned list, uint64_t size)
{
	return list < 64 ? size == HI_CHUNK_MIN + (uint64_t)list * HI_CHUNK_ALIGN
			 : size > HI_CHUNK_MIN + 63 * HI_CHUNK_ALIGN;
}

static enum hi_status list_tcache_list(struct hi_glibc *g, struct hi_window *w,
				       unsigned thread, unsigned list, uint64_t entry,
				       uint64_t length, struct hi_error *err)
{
	uint64_t n = 0, size;

	for (; entry && n < length; n++) {
		if (is_list_full(g, entry))
			return HI_OK;
		if (!chunk_size(g, w, entry - HI_CHUNK_HEADER, &size) ||
		    !size_fits(list, size)) {
			hi_glibc_damage(g, entry,
					"tcache of thread %u: list %u points to "
					"something that is not a chunk of its size",
					thread, list);
			return HI_OK;
		}
		if (!add_listed(g, entry - HI_CHUNK_HEADER, HI_BLOCK_FREE_TCACHE))
			return hi_fail_memory(err, "free chunks");
		if (!next_link(g, w, entry, &entry)) {
			hi_glibc_damage(g, entry,
					"tcache of thread %u: list %u is not readable",
					thread, list);
			return HI_OK;
		}
	}
	if (entry || n < length)
		hi_glibc_damage(
			g, entry,
			"tcache of thread %u: list %u is %s than its counter, %llu",
			thread, list, entry ? "longer" : "shorter",
			(unsigned long long)length);
	return HI_OK;
}

static enum hi_status list_tcache(struct hi_glibc *g, struct hi_window *w,
				  unsigned thread, uint64_t tcache, struct hi_error *err)
{
	const struct hi_glibc_layout *l = g->layout;
	uint8_t bytes[1024];
	enum hi_status status =
		hi_memory_read(g->memory, tcache, bytes, l->tcache_size, NULL);

	if (status != HI_OK) {
		hi_glibc_damage(g, tcache,
				"tcache of thread %u is not readable: its free chunks "
				"count as in use",
				thread);
		return HI_OK;
	}
	if (!add_listed(g, tcache - HI_CHUNK_HEADER, HI_BLOCK_INTERNAL))
		return hi_fail_memory(err, "free chunks");
	for (unsigned i = 0; i < l->tcache_lists && status == HI_OK; i++) {
		uint64_t list_head = entry_at(bytes, l->tcache_entries + i * 8u, 8);

		/* Lists beyond the tunable limit are never initialised. */
		if (list_head)
			status = list_tcache_list(g, w, thread, i, list_head,
						  list_length(g, bytes, i), err);
	}
	return status;
}

/* How many threads it leads to a tcache. */
static int score_offset(struct hi_glibc *g, struct hi_window *w, int64_t offset)
{
	int score = 0;

	for (size_t i = 0; i < g->image->n_threads; i++) {
		uint64_t base = g->image->threads[i].regs.fs_base, tcache;

		if (hi_window_u64(w, base + (uint64_t)offset, &tcache) &&
		    is_tcache(g, w, tcache))
			score++;
	}
	return score;
}

/* No code has said where the pointer is: among the thread-local variables of a static
 * program, below the thread pointer. -1: in no thread. */
static int search_offset(struct hi_glibc *g, struct hi_window *w, int64_t *offset_ret)
{
	int best = 0;

	for (int64_t offset = -8; offset >= -TLS_SEARCHED; offset -= 8) {
		int score = score_offset(g, w, offset);

		if (score > best) {
			best = score;
			*offset_ret = offset;
		}
	}
	return best ? best : -1;
}

/* Which of the candidate offsets leads more threads to a tcache. */
static int best_offset(struct hi_glibc *g, struct hi_window *w, int64_t *offset_ret)
{
	int best = -1;

	if (!g->where.n_tcache_offsets)
		return search_offset(g, w, offset_ret);
	for (unsigned k = 0; k < g->where.n_tcache_offsets; k++) {
		int score = score_offset(g, w, g->where.tcache_offset[k]);

		if (score > best) {
			best = score;
			*offset_ret = g->where.tcache_offset[k];
		}
	}
	return best;
}

/* Since 2.43 a thread that has freed nothing points to a cache in libc's data, which is
 * empty. */
static bool is_inactive_tcache(const struct hi_glibc *g, uint64_t tcache)
{
	const struct hi_mapping *m = hi_image_mapping_at(g->image, tcache);

	return g->layout->mmapped_uncounted && m && m->kind == HI_MAPPING_FILE;
}

static enum hi_status list_tcaches(struct hi_glibc *g, struct hi_window *w,
				   struct hi_error *err)
{
	enum hi_status status = HI_OK;
	int64_t offset = 0;

	if (best_offset(g, w, &offset) < 0) {
		if (g->tcache_count)
			hi_glibc_damage(g, 0,
					"thread caches were not found: their chunks "
					"count as in use");
		return HI_OK;
	}
	for (unsigned i = 0; i < g->image->n_threads && status == HI_OK; i++) {
		uint64_t at = g->image->threads[i].regs.fs_base + (uint64_t)offset,
			 tcache;

		if (!g->image->threads[i].regs.fs_base)
			continue; /* not a thread of libc's */
		if (!hi_window_u64(w, at, &tcache))
			hi_glibc_damage(g, at,
					"thread %u: its tcache pointer is not readable: "
					"its free chunks count as in use",
					i);
		else if (is_tcache(g, w, tcache))
			status = list_tcache(g, w, i, tcache, err);
		else if (tcache && !is_inactive_tcache(g, tcache))
			hi_glibc_damage(g, tcache,
					"thread %u: its tcache is not in a chunk", i);
	}
	return status;
}

/* ---- sorting ---- */

/* Least significant digit first, over the digits that differ. */
static bool sort_listed(struct hi_glibc_listed *v)
{
	uint64_t *from = v->items, *to = hi_alloc(v->count * sizeof(*to)), all = 0;
	enum { DIGIT = 11, BUCKETS = 1 << DIGIT };

	if (!to)
		return false;
	for (size_t i = 0; i < v->count; i++)
		all |= from[i] ^ from[0];
	for (unsigned shift = 0; shift < 64; shift += DIGIT) {
		size_t at[BUCKETS] = {}, sum = 0;

		if ((all >> shift & (BUCKETS - 1)) == 0)
			continue;
		for (size_t i = 0; i < v->count; i++)
			at[from[i] >> shift & (BUCKETS - 1)]++;
		for (size_t b = 0; b < BUCKETS; b++) {
			size_t n = at[b];

			at[b] = sum;
			sum += n;
		}
		for (size_t i = 0; i < v->count; i++)
			to[at[from[i] >> shift & (BUCKETS - 1)]++] = from[i];
		{
			uint64_t *swap = from;

			from = to;
			to = swap;
		}
	}
	free(to);
	v->items = from;
	v->capacity = v->count;
	return true;
}

/* A chunk on two lists is damage; the first entry stays. */
static void drop_chunks_listed_twice(struct hi_glibc *g)
{
	struct hi_glibc_listed *v = &g->listed;
	size_t kept = 0;

	for (size_t i = 0; i < v->count; i++) {
		if (kept && (v->items[i] | 15) == (v->items[kept - 1] | 15)) {
			hi_glibc_damage(g, v->items[i] & ~(uint64_t)15,
					"a chunk is on two free lists");
			continue;
		}
		v->items[kept++] = v->items[i];
	}
	v->count = kept;
}

enum hi_status hi_glibc_list_free(struct hi_glibc *g, struct hi_error *err)
{
	struct hi_window w = {.memory = g->memory};
	enum hi_status status;

	g->max_listed = count_possible_chunks(g);
	g->is_listed_cut = false;
	status = list_fastbins(g, &w, err);
	if (status == HI_OK)
		status = list_tcaches(g, &w, err);
	if (status == HI_OK && w.out_of_memory)
		status = hi_fail_memory(err, "window");
	hi_window_free(&w);
	if (status != HI_OK || !g->listed.count)
		return status;
	if (!sort_listed(&g->listed))
		return hi_fail_memory(err, "free chunks");
	drop_chunks_listed_twice(g);
	return HI_OK;
}
