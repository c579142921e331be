/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The object table: columns by id, where id = rank in address order, and the
 * lookup from an address to an id. Sealed before any edge is added.
 *
 * Per object: address 4 bytes (offset in a window of 4 GiB), usable size 4
 * (larger ones in a side table), type 4, flags 1. The lookup costs 12-16 bytes
 * per KiB of heap. Note [Lookup by rank] in lookup.c.
 */
#ifndef HI_CENSUS_GRAPH_OBJECTS_H
#define HI_CENSUS_GRAPH_OBJECTS_H

#include "base/error.h"

typedef uint32_t hi_node; /* object id, or a root pseudo-node (graph.h) */
#define HI_NODE_NONE UINT32_MAX

/* Why an object has its type; the order is the order of trust. */
enum hi_evidence {
	HI_EVIDENCE_NONE,      /* untyped */
	HI_EVIDENCE_SHAPE,     /* shape only */
	HI_EVIDENCE_SITE,      /* allocation site */
	HI_EVIDENCE_CONTAINER, /* container knowledge, hint */
	HI_EVIDENCE_POINTER,   /* a typed pointer leads to it */
	HI_EVIDENCE_VTABLE,
	HI_EVIDENCE_RUNTIME,
};

/* flags column: bits 0-2 evidence, 3-4 overhead class, 5 allocator's own,
 * 6 typed as an array of elements, 7 conflicting type candidates */
enum {
	HI_OBJECT_EVIDENCE_MASK = 7,
	HI_OBJECT_OVERHEAD_SHIFT = 3, /* index into hi_objects.overhead[4] */
	HI_OBJECT_INTERNAL = 1 << 5,  /* the allocator's or libc's own block */
	HI_OBJECT_ARRAY = 1 << 6,
	HI_OBJECT_CONFLICT = 1 << 7,
};

struct hi_objects_builder;

/* One batch of live blocks of an allocator, in increasing address order inside
 * one region; regions may come in any order and may not overlap. */
enum hi_status hi_objects_builder_create(struct hi_objects_builder **ret,
					 struct hi_error *err);
/*
 * Opens a region [start, end) whose objects are aligned to 1 << align_shift
 * (4 for glibc, 3 elsewhere, 12 at most) and returns its index. HI_BAD_DATA when
 * it is empty or overlaps another one. Also while other threads fill theirs.
 */
enum hi_status hi_objects_builder_region(struct hi_objects_builder *b, uint64_t start,
					 uint64_t end, unsigned align_shift,
					 unsigned *region_ret, struct hi_error *err);
/* Address is the user pointer; usable bytes from there; flags as above.
 * HI_BAD_DATA when out of order, unaligned, outside or overlapping. Regions may
 * be filled by different threads at once, one thread a region. */
enum hi_status hi_objects_builder_add(struct hi_objects_builder *b, unsigned region,
				      uint64_t addr, uint64_t usable, uint8_t flags,
				      struct hi_error *err);
/* Bytes that class i costs beside the usable ones (glibc: 8 in heaps, 16 mmapped). */
void hi_objects_builder_overhead(struct hi_objects_builder *b, unsigned klass,
				 uint32_t bytes);
void hi_objects_builder_destroy(struct hi_objects_builder *b);

/* A lookup entry covers 64 granules: which of them start an object, and how
 * many objects start before it in the whole table. */
struct hi_lookup_entry {
	uint64_t starts;
	uint32_t rank;
	uint32_t spare;
};
struct hi_lookup_region {
	uint64_t start, end;
	const struct hi_lookup_entry *entries; /* one per 64 << shift bytes from start */
	unsigned shift;
};
struct hi_address_window {
	uint64_t base;
	hi_node first; /* id of its first object */
};

struct hi_objects {
	hi_node count;
	uint32_t *address_low; /* offset in its window; hi_objects_address() */
	uint32_t *usable_low;  /* UINT32_MAX: see `large`; hi_objects_usable() */
	uint32_t *type;	       /* id in the graph's type table; 0 unknown */
	uint8_t *flags;
	uint32_t overhead[4];
	const struct hi_address_window *windows; /* sorted; n_windows + sentinel */
	uint32_t n_windows;
	const struct hi_lookup_region *regions; /* sorted by start, disjoint */
	uint32_t n_regions;
	uint64_t low, high; /* no object lies outside [low, high) */
	struct hi_objects_private *priv;
};

/* Takes b. */
enum hi_status hi_objects_seal(struct hi_objects_builder *b, struct hi_objects **ret,
			       struct hi_error *err);
void hi_objects_destroy(struct hi_objects *objects);

/* An object inside a block of a sealed table, or where no block is. */
struct hi_subobject {
	uint64_t addr; /* 8-aligned */
	uint64_t size; /* >= 1 */
	uint32_t type; /* for the type column */
	uint8_t flags; /* its overhead class does not count */
};

/* A block with subobjects: nodes [first, last] are its pieces. */
struct hi_pool {
	hi_node first, last;
	hi_node remainder; /* first piece of the remainder; HI_NODE_NONE: nothing is left
			    */
};
struct hi_pools {
	struct hi_pool *items; /* by first */
	size_t count;
	uint64_t *is_remainder; /* bit per node, or NULL when there are no pools */
};
void hi_pools_free(struct hi_pools *pools);

/* Bytes between pieces below which they belong to the piece before them. */
enum { HI_SUBOBJECT_GAP = 16 };

/*
 * A new table: all of `old` (which stays as it is), its blocks cut where
 * subobjects were split off. subobjects: sorted, disjoint, each inside one
 * block or outside of all regions; else HI_BAD_DATA. Linear.
 *
 * A block's pieces have its bytes, all of them: the subobjects and, where
 * HI_SUBOBJECT_GAP bytes or more are left, the remainder. The piece that starts where the
 * block did has the block's overhead class, and, when it belongs to the remainder, its
 * type and flags; the others are of class 3, which must cost nothing: so costs add up to
 * the block's. Other pieces of the remainder have type 0.
 */
enum hi_status hi_objects_split(const struct hi_objects *old,
				const struct hi_subobject *subobjects, size_t n,
				struct hi_objects **ret, struct hi_pools *pools_ret,
				struct hi_error *err);

uint64_t hi_objects_address(const struct hi_objects *objects, hi_node id);
uint64_t hi_objects_usable(const struct hi_objects *objects, hi_node id);
/* usable + overhead: what the allocator consumed. */
uint64_t hi_objects_cost(const struct hi_objects *objects, hi_node id);

/* The object that contains addr (its start or inside), else HI_NODE_NONE;
 * *offset_ret (may be NULL) is addr - start. */
hi_node hi_objects_find(const struct hi_objects *objects, uint64_t addr,
			uint64_t *offset_ret);
/*
 * The same for n words at once, software-pipelined with prefetch: for each
 * word that hits, appends (index of the word, id, starts there?) and returns
 * the number of hits. hits must have room for n.
 */
struct hi_hit {
	uint32_t index; /* of the word */
	hi_node id;
	bool interior;
};
size_t hi_objects_find_many(const struct hi_objects *objects, const uint64_t *words,
			    size_t n, struct hi_hit *hits);

#endif
