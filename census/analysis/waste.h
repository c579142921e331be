/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory that the heap holds without need, as plain data in bytes:
 * decode/usage/contents_compare.c and decode/usage/heap_use.c fill it in, report/ prints
 * it.
 */
#ifndef HI_CENSUS_ANALYSIS_WASTE_H
#define HI_CENSUS_ANALYSIS_WASTE_H

#include "census/analysis/block_states.h"
#include "census/graph/objects.h"

/* Waste of all live objects of one type. The three do not exclude each other: an extra
 * copy may have unused bytes too. */
struct hi_waste_row {
	uint32_t type;
	uint64_t objects, bytes; /* live, cost */
	/* Identical contents: equal type, equal bytes as far as the type uses them. */
	uint64_t groups; /* contents that are there more than once */
	uint64_t copies; /* objects beyond the first of each group */
	uint64_t copied; /* cost of a group less that of its largest member */
	/* Zero-filled, as far as the type uses them; never copies. */
	uint64_t zeros, zero_bytes; /* objects, cost */
	/* Bytes that the type does not use; after the NUL of text. */
	uint64_t loose;	  /* objects that have such bytes */
	uint64_t unused;  /* the bytes */
	uint64_t savable; /* of them: what a request for the used bytes alone saves */
};

/* One group of identical contents. */
struct hi_waste_group {
	uint32_t type;
	hi_node first; /* the lowest address */
	uint64_t objects;
	uint64_t size; /* bytes in use of each */
	uint64_t copied;
	bool is_text;
	/* Its beginning, cut at a character; hostile; no NUL inside. */
	char text[64];
	bool cut;
};

struct hi_waste {
	struct hi_waste_row *rows; /* by type, only types with live objects */
	size_t n_rows;
	struct hi_waste_row all;       /* the total; type has no meaning */
	struct hi_waste_group *groups; /* by copied, then address; at most as asked */
	size_t n_groups;
	/* Groups that are not listed by the options: beyond the number, under the size,
	 * of other types. */
	struct hi_waste_left {
		uint64_t groups, copied;
	} beyond, below, other;
	/* Not looked at: some of their bytes are not in the image. */
	uint64_t unread, unread_bytes;
	bool texts_missing; /* of groups: out of a file that has none */
};

/* ---- the allocator's blocks ---- */

enum { HI_SIZE_CLASSES = 48 };
struct hi_size_class {
	uint64_t largest; /* chunk size, header included; the smallest is beyond the
			   * class before */
	uint64_t count, bytes, header;
};

/* By kind: enum hi_block_state - HI_BLOCK_FREE_FIRST. */
struct hi_free_blocks {
	uint64_t count, bytes, largest;
};

/* Resident pages of the areas that the allocator divides, by how much of a page
 * allocated blocks take. Blocks that are mappings of their own are left out. */
enum hi_page_fill {
	HI_PAGE_EMPTY, /* no allocated byte */
	HI_PAGE_UNDER_QUARTER,
	HI_PAGE_UNDER_HALF,
	HI_PAGE_OVER_HALF,
	HI_PAGE_FILLS,
};
struct hi_page_class {
	uint64_t pages, bytes; /* resident */
	uint64_t allocated;    /* bytes of allocated blocks on them: these pin the rest */
};

/* Slabs of one allocator with blocks of one size. */
struct hi_slab_class {
	const char *allocator;	       /* its name; static storage, or of a snapshot */
	uint64_t size;		       /* of a slot */
	uint64_t slabs, bytes;	       /* all of the slabs' memory */
	uint64_t slots, live, cached;  /* cached: in caches of threads, or between */
	uint64_t empty;		       /* slabs that have no live block */
	uint64_t sparse, sparse_bytes; /* slabs with some, in under a quarter of slots */
	uint64_t slack; /* bytes of live slots beyond the usable ones, where known */
};
enum { HI_SLAB_CLASSES = 512 };

struct hi_heap_use {
	struct hi_size_class classes[HI_SIZE_CLASSES]; /* allocated blocks */
	size_t n_classes;			       /* the last ones are not empty */
	struct hi_free_blocks free[HI_FREE_KINDS];
	struct hi_page_class pages[HI_PAGE_FILLS];
	uint64_t allocated, allocated_bytes, header; /* of all classes */
	/* Classes of allocators that have slabs; by allocator, then by size. */
	struct hi_slab_class *slab_classes;
	size_t n_slab_classes;
	uint32_t states;      /* that the allocators have, as bits; 0: those of glibc */
	bool residency_known; /* false (cores): pages that the image holds */
};

/* Slots that are not live and in no cache. */
static inline uint64_t hi_slab_class_free(const struct hi_slab_class *c)
{
	uint64_t used = c->live + c->cached;

	return c->slots > used ? c->slots - used : 0;
}
/* Bytes of the slabs that no live block uses: free slots, rests, what was rounded up. */
static inline uint64_t hi_slab_class_wasted(const struct hi_slab_class *c)
{
	uint64_t live = c->live * c->size;

	live -= c->slack < live ? c->slack : live;
	return c->bytes > live ? c->bytes - live : 0;
}
/* Adds the counters of c; size and allocator stay. */
void hi_slab_class_add(struct hi_slab_class *sum, const struct hi_slab_class *c);
/* Frees what use holds. */
void hi_heap_use_free(struct hi_heap_use *use);

#endif
