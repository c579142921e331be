/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The object table: columns by id, where the id of an object is its rank in address
 * order, and the lookup from an address to an id. It is sealed before edges are added.
 *
 * An object takes 4 bytes for its address (an offset in a window of 4 GiB), 4 for its
 * usable size (larger sizes are in a side table), 4 for its type and 1 for flags. The
 * lookup costs 12 to 16 bytes per KiB of heap. Note [Lookup by rank] in lookup.c.
 */
#ifndef HI_CENSUS_GRAPH_OBJECTS_H
#define HI_CENSUS_GRAPH_OBJECTS_H

#include "base/cleanup.h"
#include "base/error.h"

typedef uint32_t hi_node; /* object id, or a root pseudo-node (graph.h) */
#define HI_NODE_NONE UINT32_MAX

/* Why an object has its type; the order is the order of trust. */
enum hi_evidence {
	HI_EVIDENCE_NONE,  /* untyped */
	HI_EVIDENCE_SHAPE, /* shape only */
	HI_EVIDENCE_BASE,  /* a typed pointer, but of what may be only its beginning */
	HI_EVIDENCE_CONTAINER, /* container knowledge, hint */
	HI_EVIDENCE_POINTER,   /* a typed pointer leads to it */
	HI_EVIDENCE_VTABLE,
	HI_EVIDENCE_RUNTIME,
};

/* flags column: bits 0-2 evidence, 3-4 overhead class, 5 the allocator's own block, 6
 * typed as an array of elements, 7 type candidates that contradict each other */
enum {
	HI_OBJECT_EVIDENCE_MASK = 7,
	HI_OBJECT_OVERHEAD_SHIFT = 3, /* index into hi_objects.overhead[4] */
	HI_OBJECT_INTERNAL = 1 << 5,  /* the allocator's or libc's own block */
	HI_OBJECT_ARRAY = 1 << 6,
	HI_OBJECT_CONFLICT = 1 << 7,
};

struct hi_objects_builder;

/* Creates an empty builder. Blocks are added by region, in increasing address order
 * inside one region; regions may come in any order and must not overlap. */
enum hi_status hi_objects_builder_create(struct hi_objects_builder **ret,
					 struct hi_error *err);
/*
 * Opens a region [start, end) whose objects are aligned to 1 << align_shift bytes (4 for
 * glibc, 3 elsewhere, 12 at most) and returns its index. May be called while other
 * threads fill their regions. HI_BAD_DATA: the region is empty or overlaps another one.
 */
enum hi_status hi_objects_builder_region(struct hi_objects_builder *b, uint64_t start,
					 uint64_t end, unsigned align_shift,
					 unsigned *region_ret, struct hi_error *err);
/* Adds an object. addr is the pointer that the program got, usable the bytes from
 * there, flags as above. Several threads may fill different regions, one thread per
 * region. HI_BAD_DATA: out of order, not aligned, outside of the region or
 * overlapping. */
enum hi_status hi_objects_builder_add(struct hi_objects_builder *b, unsigned region,
				      uint64_t addr, uint64_t usable, uint8_t flags,
				      struct hi_error *err);
/* Sets the bytes that objects of overhead class `klass` cost in addition to their
 * usable bytes (glibc: 8 in heaps, 16 mapped). */
void hi_objects_builder_overhead(struct hi_objects_builder *b, unsigned klass,
				 uint32_t bytes);
void hi_objects_builder_destroy(struct hi_objects_builder *b);
HI_DEFINE_GUARD(struct hi_objects_builder *, hi_objects_builder_destroy)

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

/* Makes the table. Takes b, also on failure. HI_NO_MEMORY. */
enum hi_status hi_objects_seal(struct hi_objects_builder *b, struct hi_objects **ret,
			       struct hi_error *err);
void hi_objects_destroy(struct hi_objects *objects);
HI_DEFINE_GUARD(struct hi_objects *, hi_objects_destroy)

/* A subobject: inside a block of a sealed table, or where no block is. */
struct hi_subobject {
	uint64_t addr; /* 8-aligned */
	uint64_t size; /* >= 1 */
	uint32_t type; /* for the type column */
	uint8_t flags; /* its overhead class does not count */
	bool is_slot;  /* the manager of the block lists an object there */
};

/* A block with subobjects: nodes [first, last] are its pieces. */
struct hi_pool {
	hi_node first, last;
	hi_node remainder; /* first piece of the remainder; HI_NODE_NONE: no bytes are
			      left */
};
struct hi_pools {
	struct hi_pool *items; /* by first */
	size_t count;
	uint64_t *is_remainder; /* bit per node, or NULL when there are no pools */
	uint64_t *is_slot;	/* likewise, of subobjects */
};
void hi_pools_free(struct hi_pools *pools);

/* Fewer bytes than this between two pieces belong to the piece before them. */
enum { HI_SUBOBJECT_GAP = 16 };

/*
 * Makes a new table in which blocks are split into subobjects. `old` stays as it is. The
 * subobjects are sorted and disjoint, each inside one block or outside of all regions;
 * else HI_BAD_DATA. Linear.
 *
 * The pieces of a block have all of its bytes: the subobjects and, where HI_SUBOBJECT_GAP
 * bytes or more are left, the remainder. The piece at the start of the block has the
 * block's overhead class and, if it is a remainder, its type and flags. The other pieces
 * have class 3, which must cost nothing, so that the costs add up to that of the block.
 * Other pieces of the remainder have type 0.
 */
enum hi_status hi_objects_split(const struct hi_objects *old,
				const struct hi_subobject *subobjects, size_t n,
				struct hi_objects **ret, struct hi_pools *pools_ret,
				struct hi_error *err);

/* Returns the address of an object's first byte; id is below objects->count. */
uint64_t hi_objects_address(const struct hi_objects *objects, hi_node id);

/* The same for passes over ids that ascend: the window of the last one. */
struct hi_address_cursor {
	uint64_t base;
	hi_node end; /* first id beyond the window */
	uint32_t window;
};
/* Moves the cursor to the window of id, which is at its end or beyond. */
void hi_address_cursor_move(const struct hi_objects *objects, struct hi_address_cursor *c,
			    hi_node id);
static inline struct hi_address_cursor hi_address_cursor(const struct hi_objects *objects,
							 hi_node first)
{
	struct hi_address_cursor c = {};

	hi_address_cursor_move(objects, &c, first);
	return c;
}
static inline uint64_t hi_address_at(const struct hi_objects *objects,
				     struct hi_address_cursor *c, hi_node id)
{
	if (id >= c->end)
		hi_address_cursor_move(objects, c, id);
	return c->base + objects->address_low[id];
}
/* Returns the bytes that the program may use: [address, address + usable). */
uint64_t hi_objects_usable(const struct hi_objects *objects, hi_node id);
/* Returns usable + overhead: what the allocator consumed. */
uint64_t hi_objects_cost(const struct hi_objects *objects, hi_node id);

/* Returns the object that contains addr, else HI_NODE_NONE. *offset_ret (may be NULL)
 * gets addr minus its start. */
hi_node hi_objects_find(const struct hi_objects *objects, uint64_t addr,
			uint64_t *offset_ret);
/*
 * Looks up n words in one pass, with prefetches. For each word that is inside an object
 * it appends a hit: index of the word, id, whether it leads into the object, not to its
 * start. Returns the number of hits. hits has room for n.
 */
struct hi_hit {
	uint32_t index; /* of the word */
	hi_node id;
	bool interior;
};
size_t hi_objects_find_many(const struct hi_objects *objects, const uint64_t *words,
			    size_t n, struct hi_hit *hits);

#endif
