/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What propagate.c (following, threads), infer_block.c (candidates for one
 * block) and stages.c (what interior pointers say) share.
 */
#ifndef HI_DECODE_INFERENCE_SPREAD_H
#define HI_DECODE_INFERENCE_SPREAD_H

#include <pthread.h>

#include "decode/inference/subobjects.h"
#include "decode/inference/type_candidates.h"
#include "decode/layouts/walker.h"

enum {
	HI_SPREAD_BATCH = 512, /* words */
	HI_SPREAD_RECENT = 1024,
	HI_SPREAD_FEW = 16, /* elements that may as well be one larger record */
};

/* A candidate to be followed. */
struct hi_spread_entry {
	uint64_t addr;
	hi_node id; /* HI_NODE_NONE: a subobject */
	uint32_t key;
};
struct hi_spread_entries HI_VECTOR(struct hi_spread_entry);

/* A typed pointer to the inside of a block, where its type does not reach. */
struct hi_interior {
	uint64_t addr;
	hi_node id;
	uint32_t key; /* layout, evidence */
};

/* Why a word may be a pointer to something. */
struct hi_type_candidate {
	struct hi_pointer_slot *slot; /* NULL: layout is known */
	uint32_t layout;
	hi_context context;
	enum hi_evidence evidence;
};

struct hi_spread;

struct hi_spreader { /* a thread */
	struct hi_typing *typing;
	struct hi_spread *spread;
	size_t n;
	uint64_t words[HI_SPREAD_BATCH];
	struct hi_type_candidate candidates[HI_SPREAD_BATCH];
	struct hi_hit hits[HI_SPREAD_BATCH];
	struct hi_view view, target_view;
	struct hi_walker walker;
	struct hi_spread_entries todo; /* a stack */
	struct HI_VECTOR(struct hi_interior) interior;
	struct hi_spread_entries pools;	   /* objects whose slots are split off later */
	struct hi_spread_entries arrays;   /* to be followed later: Note [Arrays] */
	uint64_t recent[HI_SPREAD_RECENT]; /* interior ones, by hash */
	const uint8_t *host;		   /* of the object at hand, or NULL */
	uint64_t addr;
	hi_context context;
	uint64_t low, span; /* where words may lead */
	uint64_t followed, interior_dropped;
	bool has_slots; /* the object at hand is a pool's owner */
	bool no_memory;
};

struct hi_spread {
	struct hi_typing *typing;
	struct hi_spreader *workers[64];
	struct hi_type_candidates followed_candidates;
	struct hi_subobjects *subobjects; /* NULL: not in this stage */
	/* The type column when subobjects began: what blocks take is not asked of types
	 * that come while objects are split off, in whatever order. */
	uint32_t *before;
	uint64_t header;       /* of blocks of an allocation wrapper; 0: none was found */
	uint8_t sized_headers; /* bit i: headers of 8 * (i + 1) bytes hold the size */
	bool header_asked;
	bool outside; /* words may lead to where no block is */
	uint64_t max_candidates;
	bool last_try; /* beyond max_candidates: follow no more of them */
	bool late;     /* arrays are followed at once */
	/* Work between threads. */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct hi_spread_entries shared;
	unsigned n_workers;	    /* that there are */
	unsigned n_started, n_idle; /* under the lock; those that have ended are idle */
	_Atomic unsigned hungry;    /* n_idle, or 0 while there is shared work */
	_Atomic bool stop;	    /* out of memory, or too many candidates */
};

/* infer_block.c */
bool hi_spread_read(struct hi_spreader *w, uint64_t addr, uint64_t *ret);
void hi_spread_push(struct hi_spreader *w, uint64_t addr, hi_node id, uint32_t key);
/* This layout for the block that starts at addr. */
void hi_spread_add_candidate(struct hi_spreader *w, uint64_t addr, hi_node id,
			     uint32_t layout, enum hi_evidence evidence);
/* A pointer that leads where no known type explains it, for later. id: the block
 * around it, or HI_NODE_NONE. */
void hi_spread_note(struct hi_spreader *w, uint64_t addr, hi_node id, uint32_t key);
/* This layout for what lies at addr, inside block id. */
void hi_spread_inside(struct hi_spreader *w, uint64_t addr, hi_node id, uint32_t layout,
		      enum hi_evidence evidence);
/* size_header.c: the same where addr is behind the header that an allocation wrapper
 * puts into its blocks. False: it is not known to be. */
bool hi_spread_behind_header(struct hi_spreader *w, uint64_t addr, hi_node id,
			     uint32_t layout, enum hi_evidence evidence);
/* Is a word in front of addr the size that the block would then have? */
bool hi_spread_may_be_sized(struct hi_spreader *w, uint64_t addr, hi_node id,
			    uint32_t layout);
/* Between runs, of the interior pointers that are left: are there such headers with
 * the size in them, or without? True: there is new work for worker 0. */
bool hi_spread_find_sized_headers(struct hi_spread *s);
bool hi_spread_find_header(struct hi_spread *s);
/* This layout for what lies at addr, with room up to end: a subobject.
 * id: the block around it, or HI_NODE_NONE. */
void hi_spread_add_subobject(struct hi_spreader *w, uint64_t addr, uint64_t end,
			     uint32_t layout, enum hi_evidence evidence);
/* Would the allocator give such a block for an array of these? */
bool hi_spread_fits_as_array(struct hi_spreader *w, const struct hi_layout *layout,
			     uint64_t addr, uint64_t usable);
/* Do all pointers of a record at addr look like pointers? */
bool hi_spread_is_plausible(struct hi_spreader *w, const struct hi_layout *layout,
			    bool array, uint64_t addr, uint64_t usable);
/* A pointer 8 bytes into a block: an array of layout `index` with its length in front? */
bool hi_spread_cookie(struct hi_spreader *w, uint64_t start, hi_node id, uint32_t index,
		      enum hi_evidence evidence);
/* Does a block of this key have something of layout `index` at the offset, or an own
 * member there that may be anything? */
bool hi_spread_explains(const struct hi_typing *typing, uint32_t key, uint64_t offset,
			uint32_t index);
/* Bytes of a block that its own type takes. */
uint64_t hi_spread_extent(const struct hi_typing *typing, hi_node id);

/* conflicts.c: do they contradict each other? */
bool hi_layouts_conflict(struct hi_layouts *layouts, const struct hi_layout *a,
			 const struct hi_layout *b);
/* Into typing->conflict_rows. */
enum hi_status hi_conflicts_collect(struct hi_typing *typing,
				    const struct hi_type_candidates *candidates,
				    struct hi_error *err);

/* propagate.c: until nothing is left to follow, with what worker 0 has to do. */
void hi_spread_run(struct hi_spread *s);
/* What this worker has to do, alone. */
void hi_spread_drain(struct hi_spreader *w);
/* arrays.c: between runs. True: there is new work for worker 0. */
bool hi_spread_release(struct hi_spread *s);
/* stages.c: between runs. True: there is new work for worker 0. */
bool hi_spread_contain(struct hi_spread *s);
enum hi_status hi_spread_find_subobjects(struct hi_spread *s, struct hi_error *err);

#endif
