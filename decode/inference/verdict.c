/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/inference/verdict.h"

#include <emmintrin.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bits.h"
#include "base/cleanup.h"
#include "base/parallel.h"
#include "decode/inference/shared_pages.h"
#include "decode/inference/typing_state.h"
#include "decode/inference/unseen_pages.h"

enum {
	WORDS = 1024,
	PAGE = 4096,
	FILTER_PAGE = 12,
	FILTER_SHIFT = 18, /* bits of the filter, as a power of two */
	FILTER_WORDS = 1 << (FILTER_SHIFT - 6),
	SLICE = 4 << 20,	/* bytes of a root's range that are one task */
	MAX_SHARED = 256 << 20, /* bytes read from files of shared mappings */
};
/* Bits of an address in user space, with four levels of page tables. */
#define ADDRESS_BITS ((1ull << 47) - 1)

/* Which leaks are looked for. */
struct wanted {
	uint64_t *nodes;    /* bits */
	uint64_t low, span; /* all of them lie there */
	uint64_t address_bits;
	int top; /* bits 40 to 63 that all addresses there have; -1: not the same */
	uint64_t filter[FILTER_WORDS]; /* by page: maybe one of them */
};

struct witness_list HI_VECTOR(struct hi_witness);

/* Of one thread. */
struct word_search {
	const struct hi_typing *typing;
	const struct wanted *wanted;
	size_t n;
	uint64_t words[WORDS], places[WORDS];
	bool start_only[WORDS]; /* it counts only where it leads to a start */
	struct hi_hit hits[WORDS];
	uint64_t *seen; /* bits of nodes that are in found */
	struct witness_list found;
	struct hi_memory_window window;
	uint8_t *scratch;
	uint64_t unreadable; /* bytes, without those of shared mappings: */
	struct hi_unseen_ranges unseen;
	bool no_memory;
};

struct verdict_pass {
	struct hi_typing *typing;
	const struct hi_graph *graph;
	struct hi_reach *reach;
	struct wanted *wanted;
	struct word_search **searches;
	uint64_t *likely; /* bits */
	struct HI_VECTOR(hi_node) todo;
	struct HI_VECTOR(struct hi_section_range) slices;
	/* Of shared mappings, what the image does not hold. */
	struct HI_VECTOR(struct hi_section_range) holes;
	bool no_memory;
};

static bool set_bit_atomically(uint64_t *bits, hi_node i)
{
	uint64_t mask = 1ull << (i & 63);
	bool was_set = bits[i >> 6] & mask;

	bits[i >> 6] |= mask;
	return !was_set;
}

/* ---- which leaks ---- */

static uint32_t filter_of(uint64_t address)
{
	return (uint32_t)((address >> FILTER_PAGE) * 0x9e3779b97f4a7c15ull >>
			  (64 - FILTER_SHIFT));
}

static void want_node(struct verdict_pass *p, hi_node node, uint64_t *high)
{
	struct wanted *w = p->wanted;
	uint64_t start = hi_objects_address(p->graph->objects, node);
	uint64_t end = start + hi_object_usable(p->graph->objects, node);
	uint64_t pages = (end >> FILTER_PAGE) - (start >> FILTER_PAGE);

	set_bit_atomically(w->nodes, node);
	if (start < w->low)
		w->low = start;
	if (end > *high)
		*high = end;
	if (pages >= 1 << FILTER_SHIFT) {
		memset(w->filter, 0xff, sizeof(w->filter));
		return;
	}
	for (uint64_t i = 0; i <= pages; i++) {
		uint32_t bit = filter_of(start + (i << FILTER_PAGE));

		w->filter[bit >> 6] |= 1ull << (bit & 63);
	}
}

static bool is_wanted_leak(const struct verdict_pass *p, hi_node node)
{
	const struct hi_graph *g = p->graph;

	return !hi_bit(p->reach->any, node) &&
	       !(g->objects->flags[node] & HI_OBJECT_INTERNAL) &&
	       (!g->unreachable_classes ||
		g->unreachable_classes[node] == HI_UNREACHABLE_NO_CLASS);
}

static int top_of_range(uint64_t low, uint64_t span)
{
	return span && low >> 40 == (low + span - 1) >> 40 && low >> 48 == 0
		       ? (int)(low >> 40)
		       : -1;
}

static bool want_leaks(struct verdict_pass *p)
{
	uint64_t high = 0;

	p->wanted = hi_calloc(1, sizeof(*p->wanted));
	if (!p->wanted)
		return false;
	p->wanted->nodes = hi_calloc(1, hi_bits_size(p->graph->n_objects) + 8);
	if (!p->wanted->nodes)
		return false;
	p->wanted->low = UINT64_MAX;
	for (hi_node i = 0; i < p->graph->n_objects; i++)
		if (is_wanted_leak(p, i))
			want_node(p, i, &high);
	p->wanted->span = high > p->wanted->low ? high - p->wanted->low : 0;
	p->wanted->address_bits = high > ADDRESS_BITS ? UINT64_MAX : ADDRESS_BITS;
	p->wanted->top = top_of_range(p->wanted->low, p->wanted->span);
	return true;
}

/* ---- words ---- */

static void flush_words(struct word_search *s)
{
	size_t n = hi_objects_find_many(s->typing->objects, s->words, s->n, s->hits);

	s->n = 0;
	for (size_t i = 0; i < n; i++) {
		hi_node node = s->hits[i].id;

		if (s->hits[i].interior && s->start_only[s->hits[i].index])
			continue;
		if (hi_bit(s->wanted->nodes, node) && set_bit_atomically(s->seen, node) &&
		    !hi_vector_push(
			    &s->found,
			    ((struct hi_witness){node, s->places[s->hits[i].index]})))
			s->no_memory = true;
	}
}

static inline __attribute__((always_inline)) void
look_at_word(struct word_search *s, uint64_t word, uint64_t place, bool start_only)
{
	uint32_t bit;

	if (word - s->wanted->low >= s->wanted->span)
		return;
	bit = filter_of(word);
	if (!(s->wanted->filter[bit >> 6] >> (bit & 63) & 1))
		return;
	s->words[s->n] = word;
	s->start_only[s->n] = start_only;
	s->places[s->n++] = place;
	if (s->n == WORDS)
		flush_words(s);
}

/*
 * Note [Words at any byte]
 *
 * Pointers in packed records lie at any byte, and in memory without a type nothing tells
 * at which. Others have a number in their upper 17 bits, which user space does not need:
 * a tag, a counter, the exponent of a NaN. Words that are not aligned are parts of two
 * numbers for the most part, and where the heap is below 4 GiB some of them have the
 * value of an address by chance; so have numbers without their upper bits. Both count
 * only where they lead to the start of a block, not to the inside.
 */
static inline __attribute__((always_inline)) void
look_at_aligned(struct word_search *s, uint64_t word, uint64_t place)
{
	uint64_t bits = s->wanted->address_bits;

	look_at_word(s, word & bits, place, word & ~bits);
}

static inline __attribute__((always_inline)) void
look_at_unaligned(struct word_search *s, const uint8_t *host, uint64_t place)
{
	uint64_t word;

	memcpy(&word, host, sizeof(word));
	look_at_word(s, word, place, word <= UINT32_MAX);
}

/*
 * Finds the words at the 16 bytes from host on that end with the top of the wanted
 * addresses: a bit for each. Reads the 23 bytes that they have.
 */
static inline unsigned words_with_top(const uint8_t *host, int top)
{
	__m128i zero = _mm_setzero_si128();
	__m128i is_top = _mm_cmpeq_epi8(_mm_loadu_si128((const void *)(host + 5)),
					_mm_set1_epi8((char)top));
	__m128i is_zero =
		_mm_cmpeq_epi8(_mm_or_si128(_mm_loadu_si128((const void *)(host + 6)),
					    _mm_loadu_si128((const void *)(host + 7))),
			       zero);

	return (unsigned)_mm_movemask_epi8(_mm_and_si128(is_top, is_zero));
}

/* As look_at_bytes, for as many times 16 bytes as nothing but their aligned words may be
 * addresses of leaks; the number of bytes. */
static uint64_t look_at_aligned_only(struct word_search *s, const uint8_t *host,
				     uint64_t addr, uint64_t size)
{
	const unsigned aligned = 1 | 1 << 8;
	uint64_t i = 0, word;

	for (; s->wanted->top >= 0 && i + 23 <= size; i += 16) {
		if (words_with_top(host + i, s->wanted->top) & ~aligned)
			break;
		memcpy(&word, host + i, sizeof(word));
		look_at_aligned(s, word, addr + i);
		memcpy(&word, host + i + 8, sizeof(word));
		look_at_aligned(s, word, addr + i + 8);
	}
	return i;
}

/* addr: a multiple of 8. */
static void look_at_bytes(struct word_search *s, const uint8_t *host, uint64_t addr,
			  uint64_t size)
{
	uint64_t i = 0, word;

	while (i + 15 <= size) {
		uint64_t skipped = look_at_aligned_only(s, host + i, addr + i, size - i);

		i += skipped;
		if (skipped)
			continue;
		memcpy(&word, host + i, sizeof(word));
		look_at_aligned(s, word, addr + i);
		for (unsigned k = 1; k < 8; k++)
			look_at_unaligned(s, host + i + k, addr + i + k);
		i += 8;
	}
	for (; i + 8 <= size; i++) {
		memcpy(&word, host + i, sizeof(word));
		if (i % 8 == 0)
			look_at_aligned(s, word, addr + i);
		else
			look_at_unaligned(s, host + i, addr + i);
	}
}

/* Words that begin in one span and end in the next. */
static void look_at_seam(struct word_search *s, struct hi_seam *seam, const uint8_t *host,
			 uint64_t addr, uint64_t size)
{
	uint8_t bytes[2 * HI_SEAM_SIDE];
	uint64_t start;
	size_t n = hi_seam_next(seam, host, addr, size, bytes, &start);

	for (size_t i = 0; i < HI_SEAM_SIDE && i + 8 <= n; i++)
		look_at_unaligned(s, bytes + i, start + i);
}

/* A page that the image does not hold, though all that was written is in it. */
static bool is_as_in_file(const struct hi_image *image, uint64_t addr)
{
	const struct hi_mapping *m = hi_image_mapping_at(image, addr);

	return m && m->kind == HI_MAPPING_FILE && !m->shared && !m->swapped &&
	       hi_image_has_written_pages(image);
}

static void note_unseen(struct word_search *s, uint64_t start, uint64_t bytes)
{
	if (bytes &&
	    !hi_vector_push(&s->unseen, ((struct hi_unseen_range){start, bytes})))
		s->no_memory = true;
}

/* The parts of a page that segments have are read out of the file; around segments there
 * are no variables, and what the target has not written of other files is none of its
 * words. */
static void look_at_file_page(struct word_search *s, uint64_t start, uint64_t size)
{
	uint64_t word;

	if (!s->typing->modules || !hi_modules_at(s->typing->modules, start))
		return;
	for (uint64_t i = 0; i + 8 <= size; i += 8)
		if (hi_modules_read(s->typing->modules, start + i, &word, 8, NULL) ==
		    HI_OK)
			look_at_aligned(s, word, start + i);
}

/* Pages that the image does not hold: those of files that no one has written, and those
 * that could not be read. */
static void look_at_missing_pages(struct word_search *s, uint64_t start, uint64_t end)
{
	const struct hi_image *image = s->typing->image;
	const struct hi_mapping *m;
	uint64_t n, word;

	for (uint64_t at = start; at < end; at += n) {
		n = PAGE - at % PAGE < end - at ? PAGE - at % PAGE : end - at;
		if (hi_memory_read(image->memory, at, &word, n < 8 ? n : 8, NULL) ==
		    HI_OK)
			continue;
		m = hi_image_mapping_at(image, at);
		if (is_as_in_file(image, at))
			look_at_file_page(s, at, n);
		else if (m && hi_mapping_is_shared_data(m))
			note_unseen(s, at, n);
		else
			s->unreadable += n;
	}
}

static void look_at_range(struct word_search *s, uint64_t start, uint64_t end)
{
	struct hi_spans spans = {.image = s->typing->image,
				 .addr = (start + 7) & ~(uint64_t)7,
				 .end = end,
				 .scratch = s->scratch};
	struct hi_seam seam = {};
	const uint8_t *host;
	uint64_t addr, size;

	while (hi_spans_next(&spans, &host, &addr, &size)) {
		look_at_seam(s, &seam, host, addr, size);
		look_at_bytes(s, host, addr, size);
	}
	start = (start + 7) & ~(uint64_t)7;
	if (spans.unreadable && end - start <= SLICE)
		look_at_missing_pages(s, start, end);
	else
		s->unreadable += spans.unreadable;
}

static void look_up_object_words(struct word_search *s, hi_node node)
{
	const struct hi_objects *o = s->typing->objects;
	uint64_t addr = hi_objects_address(o, node), size = hi_object_usable(o, node);
	const uint8_t *host =
		hi_memory_windows_at(&s->typing->memory_windows, &s->window, addr, size);

	if (host)
		look_at_bytes(s, host, addr, size);
	else
		look_at_range(s, addr, addr + size);
}

/* ---- live memory ---- */

/* The allocator's own blocks (arenas, thread caches) refer to free chunks, whose
 * headers lie in the tail of the live block before them. */

static void search_chunk(void *arg, size_t task, unsigned worker)
{
	struct verdict_pass *p = arg;
	struct word_search *s = p->searches[worker];
	hi_node first = (hi_node)task << HI_CHUNK_SHIFT;
	hi_node left = p->graph->n_objects - first;

	for (hi_node i = 0; i < left && i < HI_CHUNK_NODES; i++)
		if (hi_bit(p->reach->any, first + i) &&
		    !hi_object_is_internal(p->typing->objects, first + i))
			look_up_object_words(s, first + i);
	flush_words(s);
}

/* Words that begin in one slice and end in the next. */
static void look_at_edge(struct word_search *s, uint64_t end, uint64_t next)
{
	uint8_t bytes[2 * HI_SEAM_SIDE];

	if (end != next || hi_memory_read(s->typing->image->memory, end - HI_SEAM_SIDE,
					  bytes, sizeof(bytes), NULL) != HI_OK)
		return;
	for (size_t i = 0; i < HI_SEAM_SIDE; i++)
		look_at_unaligned(s, bytes + i, end - HI_SEAM_SIDE + i);
}

static void search_slice(void *arg, size_t task, unsigned worker)
{
	struct verdict_pass *p = arg;
	struct word_search *s = p->searches[worker];

	look_at_range(s, p->slices.items[task].start, p->slices.items[task].end);
	if (task + 1 < p->slices.count)
		look_at_edge(s, p->slices.items[task].end,
			     p->slices.items[task + 1].start);
	flush_words(s);
}

/* The end of a slice that begins there. Bytes that the image does not hold cost nothing,
 * however many of them a file's mapping has; those of shared mappings are no part of it.
 */
static uint64_t end_of_slice(const struct verdict_pass *p, uint64_t at, uint64_t end)
{
	const struct hi_image *image = p->typing->image;
	const struct hi_mapping *m = hi_image_mapping_at(image, at);
	uint64_t start, held_end;

	if (m && m->end < end)
		end = m->end;
	if (!hi_image_next_held(image, at, end, &start, &held_end))
		return end;
	if (m && hi_image_is_live(image) && hi_mapping_is_shared_data(m))
		end = held_end;
	return end - start > SLICE ? start + SLICE : end;
}

/* The part of a shared mapping from `at` on that the image does not hold; at: none. */
static uint64_t end_of_hole(const struct verdict_pass *p, uint64_t at, uint64_t end)
{
	const struct hi_image *image = p->typing->image;
	const struct hi_mapping *m = hi_image_mapping_at(image, at);
	uint64_t start, held_end;

	if (!m || !hi_image_is_live(image) || !hi_mapping_is_shared_data(m))
		return at;
	if (end > m->end)
		end = m->end;
	return hi_image_next_held(image, at, end, &start, &held_end) ? start : end;
}

/* The ranges that roots were read from, without overlaps and without the allocator's own
 * data. */
static bool cut_slices(struct verdict_pass *p)
{
	const struct hi_typing *t = p->typing;
	size_t own = 0;

	for (size_t i = 0; i < t->root_ranges.count; i++) {
		uint64_t at = t->root_ranges.items[i].start;
		uint64_t end = t->root_ranges.items[i].end;

		while (at < end) {
			uint64_t hole_end = end_of_hole(p, at, end), to;

			if (hole_end > at) {
				if (!hi_vector_push(&p->holes,
						    ((struct hi_section_range){
							    at, hole_end, false})))
					return false;
				at = hole_end;
				continue;
			}
			to = end_of_slice(p, at, end);
			while (own < t->own_ranges.count &&
			       t->own_ranges.items[own].end <= at)
				own++;
			if (own < t->own_ranges.count &&
			    t->own_ranges.items[own].start < to) {
				to = t->own_ranges.items[own].start;
				if (to <= at) {
					at = t->own_ranges.items[own].end;
					continue;
				}
			}
			if (!hi_vector_push(&p->slices,
					    ((struct hi_section_range){at, to, false})))
				return false;
			at = to;
		}
	}
	return true;
}

struct shared_words {
	struct word_search *search;
	struct hi_seam seam;
};

/* hi_bytes_fn */
static void look_at_shared(void *arg, const uint8_t *bytes, uint64_t addr, uint64_t size)
{
	struct shared_words *words = arg;

	if (!size)
		return;
	look_at_seam(words->search, &words->seam, bytes, addr, size);
	look_at_bytes(words->search, bytes, addr, size);
}

static void search_holes(struct verdict_pass *p)
{
	struct word_search *s = p->searches[0];
	struct shared_words words = {.search = s};
	uint64_t budget = MAX_SHARED;

	for (size_t i = 0; i < p->holes.count; i++) {
		uint64_t start = p->holes.items[i].start;

		note_unseen(s, start,
			    hi_shared_pages_read(p->typing->image, start,
						 p->holes.items[i].end, &budget,
						 look_at_shared, &words));
	}
	flush_words(s);
}

static void search_registers(struct verdict_pass *p)
{
	const struct hi_image *image = p->typing->image;
	uint64_t words[sizeof(struct user_regs_struct) / 8];

	for (size_t t = 0; t < image->n_threads; t++) {
		memcpy(words, &image->threads[t].regs, sizeof(words));
		for (size_t i = 0; i < sizeof(words) / 8; i++)
			look_at_aligned(p->searches[0], words[i], HI_WITNESS_REGISTER);
	}
	flush_words(p->searches[0]);
}

/* ---- what was found ---- */

static int compare_witnesses(const void *a, const void *b)
{
	const struct hi_witness *x = a, *y = b;

	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

/* Of all threads' finds the first word of each object; tasks are claimed in increasing
 * order, so that each thread's find is its lowest. */
static void take_found(struct verdict_pass *p)
{
	struct witness_list all = {};

	for (unsigned i = 0; i < p->typing->threads; i++) {
		struct word_search *s = p->searches[i];

		for (size_t k = 0; k < s->found.count; k++)
			p->no_memory |= !hi_vector_push(&all, s->found.items[k]);
		s->found.count = 0;
		memset(s->seen, 0, hi_bits_size(p->graph->n_objects));
		p->no_memory |= s->no_memory;
	}
	if (all.count > 1)
		qsort(all.items, all.count, sizeof(*all.items), compare_witnesses);
	for (size_t i = 0; i < all.count; i++) {
		hi_node node = all.items[i].node;

		if (!set_bit_atomically(p->likely, node))
			continue;
		p->no_memory |= !hi_vector_push(&p->todo, node) ||
				!hi_vector_push(&p->typing->witnesses, all.items[i]);
	}
	hi_vector_free(&all);
}

static void follow_node(struct verdict_pass *p, hi_node node)
{
	struct hi_edges edges = hi_graph_edges(p->graph, node);
	struct word_search *s = p->searches[0];

	/* Masked pointers are found by their rules alone. */
	for (uint32_t i = 0; i < edges.count; i++)
		if (edges.grade[i] != HI_GRADE_WEAK &&
		    edges.to[i] < p->graph->n_objects &&
		    hi_bit(p->wanted->nodes, edges.to[i]) &&
		    set_bit_atomically(s->seen, edges.to[i]))
			p->no_memory |= !hi_vector_push(
				&s->found,
				((struct hi_witness){
					edges.to[i],
					hi_objects_address(p->graph->objects, node)}));
	look_up_object_words(s, node);
	flush_words(s);
	for (size_t i = 0; i < s->found.count; i++) {
		if (!set_bit_atomically(p->likely, s->found.items[i].node))
			continue;
		p->no_memory |= !hi_vector_push(&p->todo, s->found.items[i].node) ||
				!hi_vector_push(&p->typing->witnesses, s->found.items[i]);
	}
	s->found.count = 0;
}

/* Note [Pages that are not seen] */
static void sum_unseen(struct verdict_pass *p)
{
	struct hi_unseen_ranges all = {};
	uint64_t doubtful = 0;

	p->reach->unread_bytes =
		p->typing->stats.unreadable_bytes + p->typing->image->kernel_unread;
	for (unsigned i = 0; i < p->typing->threads; i++) {
		const struct word_search *s = p->searches[i];

		p->reach->unread_bytes += s->unreadable;
		for (size_t k = 0; k < s->unseen.count; k++)
			p->no_memory |= !hi_vector_push(&all, s->unseen.items[k]);
	}
	p->no_memory |= hi_unseen_grade(p->typing, &all, &doubtful,
					&p->reach->apart_bytes, NULL) != HI_OK;
	p->reach->unread_bytes += doubtful;
	hi_vector_free(&all);
}

/* A damaged list, or chunks that the allocator counts and the walk did not find: the
 * missing blocks may lead anywhere. */
static bool misses_blocks(const struct verdict_pass *p)
{
	const struct hi_allocator *allocator = p->typing->allocator;

	return allocator && allocator->n_damage_total;
}

/* ---- the pass ---- */

static void search_free(struct word_search *s)
{
	if (!s)
		return;
	hi_vector_free(&s->found);
	hi_vector_free(&s->unseen);
	free(s->seen);
	free(s->scratch);
	free(s);
}

static bool create_searches(struct verdict_pass *p)
{
	p->searches = hi_calloc(p->typing->threads, sizeof(struct word_search *));
	p->likely = hi_calloc(1, hi_bits_size(p->graph->n_nodes) + 8);
	if (!p->searches || !p->likely)
		return false;
	for (unsigned i = 0; i < p->typing->threads; i++) {
		struct word_search *s = hi_calloc(1, sizeof(*s));

		if (!s)
			return false;
		p->searches[i] = s;
		s->typing = p->typing;
		s->wanted = p->wanted;
		s->seen = hi_calloc(1, hi_bits_size(p->graph->n_objects) + 8);
		s->scratch = hi_alloc(HI_SPAN_SCRATCH);
		if (!s->seen || !s->scratch)
			return false;
	}
	return true;
}

static bool run_pass(struct verdict_pass *p)
{
	size_t n_chunks =
		((size_t)p->graph->n_objects + HI_CHUNK_NODES - 1) >> HI_CHUNK_SHIFT;

	if (!want_leaks(p) || !create_searches(p) || !cut_slices(p))
		return false;
	if (!p->wanted->span)
		return true;
	search_registers(p);
	search_holes(p);
	hi_parallel(p->typing->threads, p->slices.count, search_slice, p);
	take_found(p);
	hi_parallel(p->typing->threads, n_chunks, search_chunk, p);
	take_found(p);
	sum_unseen(p);
	if (p->reach->unread_bytes || misses_blocks(p)) {
		/* Live memory could not be read: anything may be in it. */
		memcpy(p->likely, p->wanted->nodes, hi_bits_size(p->graph->n_objects));
		p->reach->is_doubtful = true;
	} else {
		while (p->todo.count && !p->no_memory && !p->searches[0]->no_memory)
			follow_node(p, p->todo.items[--p->todo.count]);
	}
	if (p->typing->witnesses.count > 1)
		qsort(p->typing->witnesses.items, p->typing->witnesses.count,
		      sizeof(*p->typing->witnesses.items), compare_witnesses);
	return !p->no_memory && !p->searches[0]->no_memory;
}

static void free_pass(struct verdict_pass *p)
{
	for (unsigned i = 0; p->searches && i < p->typing->threads; i++)
		search_free(p->searches[i]);
	free(p->searches);
	free(p->likely);
	if (p->wanted)
		free(p->wanted->nodes);
	free(p->wanted);
	hi_vector_free(&p->holes);
	hi_vector_free(&p->todo);
	hi_vector_free(&p->slices);
}

enum hi_status hi_leak_verdicts(struct hi_typing *typing, const struct hi_graph *graph,
				struct hi_reach *reach, struct hi_error *err)
{
	struct verdict_pass p = {.typing = typing, .graph = graph, .reach = reach};
	bool ok = true;

	if (!reach->leak_objects)
		return HI_OK;
	typing->witnesses.count = 0;
	ok = run_pass(&p);
	if (ok)
		hi_reach_set_likely(graph, reach, hi_take(p.likely));
	free_pass(&p);
	return ok ? HI_OK : hi_fail_memory(err, "verdicts of leaks");
}
