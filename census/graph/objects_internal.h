/* SPDX-License-Identifier: BSD-2-Clause */
/* The private part of an object table: shared by its builder, its columns and the lookup.
 */
#ifndef HI_CENSUS_GRAPH_OBJECTS_INTERNAL_H
#define HI_CENSUS_GRAPH_OBJECTS_INTERNAL_H

#include "base/vector.h"
#include "census/graph/objects.h"

/* An object whose usable size does not fit into 32 bits. */
struct hi_large_object {
	hi_node id;
	uint64_t usable;
};

/* Memory of lookup entries: pages when bytes != 0, else from hi_calloc. */
struct hi_entry_block {
	struct hi_lookup_entry *entries;
	size_t pages_size;
};

struct hi_objects_private {
	struct HI_VECTOR(struct hi_address_window) windows; /* sentinel included */
	struct HI_VECTOR(struct hi_large_object) large;	    /* sorted by id */
	struct HI_VECTOR(struct hi_entry_block) blocks;
	struct hi_lookup_region *regions;
	uint64_t *region_starts;	/* of regions[], for the search alone */
	struct hi_lookup_entry *single; /* entries of regions of one object; or NULL */
	bool is_borrowed;		/* the columns are not freed with the table */
};

/* Zeroed entries for a region of `granules`; false when out of memory. */
bool hi_entry_block_alloc(struct hi_entry_block *block, uint64_t granules);
void hi_entry_block_free(struct hi_entry_block *block);

#endif
