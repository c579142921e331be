/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mimalloc 2: segments of 32 MiB (at addresses that are multiples of that), cut into
 * slices of 64 KiB, in which pages of equal blocks lie. Inside of decode/allocators.
 *
 * mimalloc_layout.c	offsets by version, which are data
 * mimalloc_find.c	segments, and the variable whose cookie they have
 * mimalloc_pages.c	pages and their free lists become slabs
 * mimalloc_starts.c	where blocks with an alignment begin
 * mimalloc_map.c	mimalloc 3, which has no segments
 * mimalloc_probe.c	chooses the version; the operations
 */
#ifndef HI_ALLOCATORS_MIMALLOC_H
#define HI_ALLOCATORS_MIMALLOC_H

#include "decode/allocators/slabs.h"
#include "decode/allocators/window.h"

#define HI_MI_SEGMENT (32ull << 20)
#define HI_MI_SLICE (64ull << 10)
enum { HI_MI_SLICES = 512, HI_MI_OWN = 16 };

/* The place of the first block of a page. */
enum hi_mi_start {
	HI_MI_START_384,    /* 384 bytes after the first slice, for blocks of 8 to 1024 */
	HI_MI_START_SCALED, /* three blocks up to 64 bytes, one up to 512 */
	HI_MI_START_FIELD,  /* a field of the page */
};

/* Offsets in bytes, of fields with the names of the headers. */
struct hi_mimalloc_layout {
	const char *version;
	enum hi_mi_start start;
	bool encoded; /* next pointers of free blocks are, by keys of page and heap */
	bool has_inner_lists; /* free lists may lead to the middle of blocks */
	uint8_t padding;      /* bytes at the end of each block */
	/* mi_page_t */
	uint16_t page_size, capacity, reserved, flags, free, used, used_size, local_free,
		xthread_free, xheap, block_size, block_size_size, page_start, keys;
	/* mi_segment_t */
	uint16_t segment_used, abandoned, cookie, segment_slices, segment_info_slices,
		kind, slice_entries, segment_thread_id, slices;
	uint32_t segment_size;
	/* mi_heap_t */
	uint16_t thread_delayed_free, thread_id, heap_cookie, heap_keys, page_count, next,
		heap_size;
};
extern const struct hi_mimalloc_layout hi_mimalloc_layouts[]; /* version NULL ends */

struct hi_mi_segment {
	uint64_t addr;
	uint64_t size; /* of all its slices */
	uint64_t used;
	uint64_t thread_id; /* 0: abandoned */
	uint32_t info_slices, entries;
	bool is_huge;
	bool is_free; /* without pages: kept for later */
	uint64_t key; /* its cookie ^ its address */
};

struct hi_mi_heap {
	uint64_t addr;
	uint64_t pages; /* that were seen; those that failed too */
};

/* A page that has blocks with an alignment. */
struct hi_mi_unsure {
	uint64_t start, end;
	uint32_t slab;
	uint32_t first; /* index in starts, of its block 0 */
};

/* One copy of mimalloc. */
struct hi_mimalloc {
	struct hi_allocator base;
	struct hi_slabs slabs;
	const struct hi_image *image;
	const struct hi_mimalloc_layout *layout;
	struct hi_window window; /* slices and heaps */
	struct hi_window blocks; /* lists of free blocks */
	uint64_t heap_main;	 /* _mi_heap_main */
	uint64_t module_start, module_end;
	struct hi_range own[HI_MI_OWN];			       /* base.own */
	uint64_t sizes[64];				       /* base.sizes */
	struct hi_mi_heaps HI_VECTOR(struct hi_mi_heap) heaps; /* sorted by address */
	size_t last_heap;				       /* index of the last one */
	struct hi_mi_unsure_pages HI_VECTOR(struct hi_mi_unsure) unsure; /* by address */
	/* The start of the program's block, in bytes from that of mimalloc; UINT32_MAX:
	 * not known. */
	struct hi_mi_starts HI_VECTOR(uint32_t) starts;
	uint32_t segments, pages, lists;
	uint32_t canaries, wrong_canaries; /* of one live block of each page */
	uint32_t orphans;		   /* pages of a thread, without a heap */
	uint32_t failed_segments;
	uint32_t wrong_heaps;  /* that count other pages, though no segment failed */
	uint32_t proved;       /* pages whose lists and counts agree, lists not empty */
	uint32_t failed;       /* pages, segments and heaps that contradict themselves */
	char first_fault[120]; /* of them */
};

/* mi_page_t, and its memory. */
struct hi_mi_page {
	uint64_t addr;	     /* of mi_page_t */
	uint64_t start, end; /* its slices */
	uint64_t first;	     /* block 0 */
	uint64_t block_size, used;
	uint64_t free, local_free, xthread_free, xheap;
	uint64_t keys[2];
	uint32_t capacity, reserved;
	bool has_aligned;
	uint32_t slab;
};
/* Checks the page and its lists, and adds it as a slab or counts it as failed. */
enum hi_status hi_mimalloc_add_page(struct hi_mimalloc *m, struct hi_mi_page *page,
				    struct hi_error *err);
/* A page of this heap was seen; 0: of none. */
enum hi_status hi_mimalloc_count_page(struct hi_mimalloc *m, uint64_t heap,
				      struct hi_error *err);
enum hi_status hi_mimalloc_add_area(struct hi_mimalloc *m, uint64_t start, uint64_t end,
				    enum hi_block_state state, struct hi_error *err);
/* Free slices, retained where nothing of them is in memory. */
enum hi_status hi_mimalloc_add_free(struct hi_mimalloc *m, uint64_t start, uint64_t end,
				    struct hi_error *err);

struct hi_mi_segments HI_VECTOR(struct hi_mi_segment);

/* Segments by this layout that the image may have, by address. */
enum hi_status hi_mimalloc_find_segments(const struct hi_image *image,
					 const struct hi_mimalloc_layout *layout,
					 struct hi_mi_segments *ret,
					 struct hi_error *err);
/* A word in writable data of a module that is the key of segments: the cookie of
 * _mi_heap_main. */
struct hi_mi_root {
	uint64_t key, at;
	struct hi_module *module;
};
struct hi_mi_roots HI_VECTOR(struct hi_mi_root);
enum hi_status hi_mimalloc_find_roots(const struct hi_image *image,
				      struct hi_modules *modules,
				      const struct hi_mi_segments *segments,
				      struct hi_mi_roots *ret, struct hi_error *err);
/* All segments of this key become slabs. Faults are counted in m, not an error. */
enum hi_status hi_mimalloc_read_pages(struct hi_mimalloc *m,
				      const struct hi_mi_segments *segments, uint64_t key,
				      struct hi_error *err);
/* Opens one copy with this layout: `failed` counts contradictions. For tests, too. */
enum hi_status hi_mimalloc_open(const struct hi_image *image,
				const struct hi_mimalloc_layout *layout,
				const struct hi_mi_segments *segments,
				const struct hi_mi_root *root, struct hi_mimalloc **ret,
				struct hi_error *err);
/* Makes it ready to be walked. HI_BAD_DATA: too much contradicts the layout. */
enum hi_status hi_mimalloc_accept(struct hi_mimalloc *m, struct hi_error *err);
/* Fills in `unsure` and `starts`. */
enum hi_status hi_mimalloc_find_starts(struct hi_mimalloc *m, struct hi_error *err);
/* NULL: addr is in no such page. */
const struct hi_mi_unsure *hi_mimalloc_unsure(const struct hi_mimalloc *m, uint64_t addr);
/* Reads the padding after a live block of a page, by the page's keys: false if it is not
 * intact. *ret: the bytes of usable that the program did not ask for. */
bool hi_mimalloc_padding(const struct hi_mimalloc *m, struct hi_window *window,
			 uint64_t page, uint64_t block, uint64_t usable, uint32_t *ret);
/* Counts it, and records damage at addr. */
void hi_mimalloc_fault(struct hi_mimalloc *m, uint64_t addr, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Too many faults for one damaged heap: the layout is another one. */
static inline bool hi_mimalloc_is_hopeless(const struct hi_mimalloc *m)
{
	return m->failed > 16 && m->failed * 4ull > m->pages;
}

/* A field of 2, 4 or 8 bytes. */
static inline uint64_t hi_mi_field(const uint8_t *base, uint16_t offset, uint16_t size)
{
	uint64_t value = 0;

	__builtin_memcpy(&value, base + offset, size);
	return value;
}

/* mimalloc 3: adds each copy that has a page map. */
enum hi_status hi_mimalloc_probe_maps(const struct hi_image *image,
				      struct hi_modules *modules,
				      struct hi_allocator_list *list,
				      struct hi_error *err);
/* The same of this map alone; adds nothing where there is none. */
enum hi_status hi_mimalloc_probe_map(const struct hi_image *image,
				     struct hi_module *module, uint64_t map,
				     struct hi_allocator_list *list,
				     struct hi_error *err);
/* An empty copy of mimalloc. NULL: out of memory. */
struct hi_mimalloc *hi_mimalloc_create(const struct hi_image *image,
				       struct hi_module *module,
				       const struct hi_mimalloc_layout *layout);
/* Adds m to the list, or refuses it; takes m. */
enum hi_status hi_mimalloc_give(struct hi_mimalloc *m, struct hi_allocator_list *list,
				struct hi_error *err);

extern const struct hi_allocator_ops hi_allocator_mimalloc;

#endif
