/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcmalloc of gperftools: memory is divided into spans of whole pages, and a map of
 * pages leads to them. A span is one large block, or blocks of one size class, or free.
 * A free block lies in the list of its span, in the transfer cache of its class, or in
 * the cache of a thread.
 *
 *	tcmalloc_layout.c	offsets by version
 *	tcmalloc_scan.c		reads a module's data word by word
 *	tcmalloc_find.c		finds size map, central lists, page map, thread caches
 *	tcmalloc_spans.c	the spans and their free lists
 *	tcmalloc_caches.c	transfer caches, thread caches, counters
 *	tcmalloc.c		the operations
 *
 * hi_allocator.n_arenas is the number of thread caches.
 */
#ifndef HI_ALLOCATORS_TCMALLOC_H
#define HI_ALLOCATORS_TCMALLOC_H

#include "decode/allocators/slabs.h"
#include "decode/allocators/window.h"

enum {
	HI_TCMALLOC_CLASSES = 128, /* kClassSizesMax */
	HI_TCMALLOC_ADDRESS_BITS = 48,
	HI_TCMALLOC_SHIFT_MIN = 12,
	HI_TCMALLOC_SHIFT_MAX = 18,
	HI_TCMALLOC_NO_SPAN = 0,	       /* of ids: nothing starts here */
	HI_TCMALLOC_DAMAGED_SPAN = 0xffffffff, /* of ids: its blocks are not counted */
};

/* Offsets; see tcmalloc_layout.c. */
struct hi_tcmalloc_layout {
	const char *version;
	/* SizeMap: from class_to_size_; the first lies before it. */
	uint16_t before_moves, pages, n_classes;
	/* CentralFreeList; its lock is at 0 */
	uint16_t central_stride, size_class, empty, nonempty, num_spans, counter, slots,
		used_slots, n_slots;
	/* ThreadCache */
	uint16_t lists, list_stride, list_length, list_size, cache_size, cache_next,
		cache_prev, cache_bytes;
	/* Span */
	uint16_t span_start, span_length, span_next, span_prev, span_objects, span_bits,
		span_bytes;
	bool links_are_masked; /* next ^ (address >> page shift) */
};
extern const struct hi_tcmalloc_layout hi_tcmalloc_layouts[];
extern const size_t hi_tcmalloc_n_layouts;

struct hi_tcmalloc_span {
	uint64_t addr;		/* of the Span */
	uint64_t start, length; /* pages */
	uint64_t next, prev, objects;
	uint32_t refcount, size_class, location;
	bool sampled;
};

struct hi_tcmalloc_class {
	uint64_t size, pages, moves;
	uint64_t n_spans, n_free; /* as seen */
	uint64_t bytes;		  /* of spans whose blocks are counted */
	bool damaged;		  /* how many of its blocks are live is not known */
};

/* Spans by page, for one leaf of the page map. */
struct hi_tcmalloc_leaf {
	uint64_t first_page;
	uint32_t *ids; /* index of the slab + 1 */
};

struct hi_tcmalloc_addresses HI_VECTOR(uint64_t);

/* A module's data, where the variables are searched. */
struct hi_tcmalloc_data {
	const char *module;  /* its name */
	uint64_t start, end; /* of the module */
	struct hi_section_range ranges[16];
	size_t n_ranges;
};

/* The parts that it has. */
struct hi_tcmalloc_where {
	const struct hi_tcmalloc_layout *layout;
	uint64_t sizes, central, root;
	unsigned page_shift;
	struct hi_tcmalloc_addresses caches;
};

struct hi_tcmalloc {
	struct hi_allocator base;
	struct hi_slabs slabs;
	const struct hi_image *image;
	const struct hi_tcmalloc_layout *layout;
	struct hi_tcmalloc_where where;
	struct hi_window map, spans, blocks;
	uint32_t n_classes;
	struct hi_tcmalloc_class classes[HI_TCMALLOC_CLASSES];
	struct hi_tcmalloc_leaves HI_VECTOR(struct hi_tcmalloc_leaf) leaves;
	struct hi_tcmalloc_addresses metadata; /* pages of 4 KiB, in any order */
	struct hi_range own;		       /* the central lists */
	uint64_t sizes[HI_TCMALLOC_CLASSES];   /* of classes but the first */
	uint64_t n_slots, max_slots;
	size_t n_small, n_bad; /* small spans; those that contradict themselves */
};

/* ---- tcmalloc_scan.c ---- */

/* Calls fn for each word (8 bytes, aligned) of a module's data that was copied; false
 * stops. */
typedef bool hi_tcmalloc_word_fn(uint64_t addr, uint64_t word, void *arg);
void hi_tcmalloc_scan_words(const struct hi_image *image,
			    const struct hi_tcmalloc_data *data, hi_tcmalloc_word_fn *fn,
			    void *arg);
/* The same for pairs 0, 8 of 32 bits: where a size map may begin. */
typedef bool hi_tcmalloc_pair_fn(uint64_t addr, void *arg);
void hi_tcmalloc_scan_pairs(const struct hi_image *image,
			    const struct hi_tcmalloc_data *data, hi_tcmalloc_pair_fn *fn,
			    void *arg);

/* ---- tcmalloc_find.c ---- */

/* Returns the address of the tables of a size map, whatever its version; 0: there are
 * none. */
uint64_t hi_tcmalloc_find_sizes(const struct hi_image *image,
				const struct hi_tcmalloc_data *data);
/* Finds all else by t->layout and t->where.sizes. HI_BAD_DATA: a check fails. */
enum hi_status hi_tcmalloc_find(struct hi_tcmalloc *t,
				const struct hi_tcmalloc_data *data,
				struct hi_error *err);
bool hi_tcmalloc_read_span(struct hi_tcmalloc *t, uint64_t addr,
			   struct hi_tcmalloc_span *ret);
unsigned hi_tcmalloc_leaf_bits(unsigned page_shift);
/* Is all of [start, end) mapped, writable, and of no file? */
bool hi_tcmalloc_is_memory(const struct hi_image *image, uint64_t start, uint64_t end);

/* ---- tcmalloc_spans.c ---- */

enum hi_status hi_tcmalloc_add_spans(struct hi_tcmalloc *t, struct hi_error *err);
/* The slab of the small span that holds addr, and the slot that begins there; false:
 * there is none. *id_ret may be HI_TCMALLOC_DAMAGED_SPAN - 1. */
bool hi_tcmalloc_slot_at(struct hi_tcmalloc *t, uint64_t addr, uint32_t size_class,
			 uint32_t *id_ret, uint32_t *slot_ret);
/* The block after addr in a list; false: addr is not readable. */
bool hi_tcmalloc_next_block(struct hi_tcmalloc *t, uint64_t addr, uint64_t *ret);
bool hi_tcmalloc_note_metadata(struct hi_tcmalloc *t, uint64_t addr, uint64_t size);

/* ---- tcmalloc_caches.c ---- */

enum hi_status hi_tcmalloc_mark_cached(struct hi_tcmalloc *t, struct hi_error *err);

extern const struct hi_allocator_ops hi_allocator_tcmalloc;

/* ---- for tests ---- */

/* Probes one module with one layout. */
enum hi_status hi_tcmalloc_open(const struct hi_image *image,
				const struct hi_tcmalloc_data *data,
				const struct hi_tcmalloc_layout *layout,
				struct hi_allocator **ret, struct hi_error *err);

#endif
