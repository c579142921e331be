/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * State of propagation, shared by propagate.c (what follows candidates, threads),
 * infer_block.c (candidates for one block), bases.c (records of which only the
 * beginning has a type), size_header.c (blocks of allocation
 * wrappers), arrays.c, conflicts.c and inference_rounds.c (interior pointers).
 */
#ifndef HI_DECODE_INFERENCE_PROPAGATION_H
#define HI_DECODE_INFERENCE_PROPAGATION_H

#include <pthread.h>

#include "decode/inference/subobjects.h"
#include "decode/inference/type_candidates.h"
#include "decode/inference/vtables.h"
#include "decode/inference/walker.h"

enum {
	HI_PROPAGATION_BATCH = 512, /* words */
	HI_PROPAGATION_RECENT = 1024,
	HI_PROPAGATION_HEADER = 128, /* bytes before an object, unless hints set more */
	HI_PROPAGATION_FEW = 16,     /* elements that may as well be one larger record */
};

/* A candidate whose pointers are to be followed. */
struct hi_propagation_entry {
	uint64_t addr;
	hi_node id; /* HI_NODE_NONE: a subobject */
	uint32_t key;
};
struct hi_propagation_entries HI_VECTOR(struct hi_propagation_entry);

/* A typed pointer to the inside of a block, past the bytes that the block's type
 * covers. */
struct hi_interior {
	uint64_t addr;
	hi_node id;
	uint32_t key; /* layout, evidence */
};

/* Records of a type lie so many bytes into blocks of their own size. */
struct hi_type_header {
	uint32_t layout; /* the type's base layout */
	uint32_t offset;
	bool apart; /* what lies before them has a type of its own */
};
enum { HI_TYPE_HEADERS = 64 };

/* The type that a word infers for what it leads to. */
struct hi_type_candidate {
	struct hi_pointer_slot *slot; /* its pointee; NULL: layout is known */
	uint32_t layout;
	hi_context context;
	enum hi_evidence evidence;
};

struct hi_propagation;

/* One thread. */
struct hi_propagation_worker {
	struct hi_typing *typing;
	struct hi_propagation *propagation;
	size_t n;
	uint64_t words[HI_PROPAGATION_BATCH];
	struct hi_type_candidate candidates[HI_PROPAGATION_BATCH];
	struct hi_hit hits[HI_PROPAGATION_BATCH];
	struct hi_memory_window window, target_window;
	struct hi_walker walker;
	struct hi_vtables *vtables;	    /* NULL: not needed yet */
	struct hi_propagation_entries todo; /* a stack */
	struct HI_VECTOR(struct hi_interior) interior;
	struct hi_propagation_entries pools; /* objects whose slots are split off later */
	struct hi_propagation_entries arrays; /* followed later: Note [Arrays] */
	/* Blocks that are smaller than the union to which a pointer leads there. */
	struct hi_propagation_entries narrow;
	struct HI_VECTOR(hi_node) typed; /* that got another type, if notes_typed */
	bool notes_typed;
	uint64_t recent[HI_PROPAGATION_RECENT]; /* interior pointers, by hash */
	const uint8_t *host;			/* of the object at hand, or NULL */
	uint64_t addr;
	hi_context context;
	enum hi_evidence evidence; /* of what the object at hand leads to */
	uint64_t low, span;	   /* where words may lead */
	uint64_t followed, interior_dropped;
	bool has_slots; /* the object at hand leads to slots of a pool */
	bool no_memory;
};

struct hi_propagation {
	struct hi_typing *typing;
	struct hi_propagation_worker *workers[64];
	struct hi_type_candidates followed_candidates;
	struct hi_subobjects *subobjects; /* NULL: not in this round */
	struct hi_bases *bases;		  /* bases.h */
	/* The type column before subobjects were added: the bytes that a block's type
	 * takes then do not depend on the order in which subobjects are found. */
	uint32_t *before;
	uint64_t header; /* of blocks of an allocation wrapper; 0: none was found */
	uint16_t sized_headers; /* bit i: headers of 8 * (i + 1) bytes hold the size */
	bool header_asked;
	struct HI_VECTOR(hi_node) crossed;		     /* arrays.c; sorted */
	struct hi_type_header type_headers[HI_TYPE_HEADERS]; /* size_header.c */
	unsigned n_type_headers;
	bool outside; /* words may lead to where no block is */
	uint64_t max_candidates;
	bool last_try; /* candidates beyond max_candidates are not followed */
	bool late;     /* arrays do not wait */
	/* Work between threads. */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct hi_propagation_entries shared;
	unsigned n_workers;
	unsigned n_started, n_idle; /* under the lock; workers that have ended are idle */
	_Atomic unsigned hungry;    /* n_idle, or 0 while there is shared work */
	_Atomic bool stop;	    /* out of memory, or too many candidates */
};

/* ---- infer_block.c ---- */

/* Reads a word of the target. False: it is not readable. */
bool hi_propagation_read(struct hi_propagation_worker *w, uint64_t addr, uint64_t *ret);
/* The layout of the class that the vtable of an object at addr names, where it is one of
 * layout `index` or derived from it; else HI_LAYOUT_NONE. */
uint32_t hi_propagation_class_at(struct hi_propagation_worker *w, uint64_t addr,
				 uint32_t index);
/* Puts a candidate on the stack, unless it has nothing to follow. */
void hi_propagation_push(struct hi_propagation_worker *w, uint64_t addr, hi_node id,
			 uint32_t key);
/* Adds a candidate for block `id`, which starts at addr. */
void hi_propagation_add_candidate(struct hi_propagation_worker *w, uint64_t addr,
				  hi_node id, uint32_t layout, enum hi_evidence evidence);
/* The same for a pointer to the inside of block `id`. */
void hi_propagation_add_interior(struct hi_propagation_worker *w, uint64_t addr,
				 hi_node id, uint32_t layout, enum hi_evidence evidence);
/* Keeps a pointer that no known type explains for the next round. id: the block that
 * addr is in, or HI_NODE_NONE. */
void hi_propagation_note_interior(struct hi_propagation_worker *w, uint64_t addr,
				  hi_node id, uint32_t key);
/* Adds a candidate for a subobject at addr, which ends at `end` at the latest. */
void hi_propagation_add_subobject(struct hi_propagation_worker *w, uint64_t addr,
				  uint64_t end, uint32_t layout,
				  enum hi_evidence evidence);
/* The same for a place of a pool that a rule calls taken. */
void hi_propagation_add_slot(struct hi_propagation_worker *w, uint64_t addr, uint64_t end,
			     uint32_t layout);
/* For a pointer 8 bytes into block `id`: adds an array of layout `index` if its length is
 * before it (`new T[n]`). False: it is not. */
bool hi_propagation_add_counted_array(struct hi_propagation_worker *w, uint64_t start,
				      hi_node id, uint32_t index,
				      enum hi_evidence evidence);
/* Would the allocator give a block of `usable` bytes for an array of these? */
bool hi_propagation_fits_as_array(struct hi_propagation_worker *w,
				  const struct hi_layout *layout, uint64_t addr,
				  uint64_t usable);
/* Do all pointers of a record at addr look like pointers? */
bool hi_propagation_is_plausible(struct hi_propagation_worker *w,
				 const struct hi_layout *layout, bool array,
				 uint64_t addr, uint64_t usable);
/* Does a block of this key have a member of layout `index` at the offset, or an own
 * member there that may be anything? */
bool hi_propagation_explains(const struct hi_typing *typing, uint32_t key,
			     uint64_t offset, uint32_t index);
/* Bytes of a block that its own type takes. */
uint64_t hi_propagation_extent(const struct hi_typing *typing, hi_node id);

/* ---- size_header.c ---- */

/* As hi_propagation_add_candidate, for a pointer past the header that an allocation
 * wrapper puts into its blocks. False: addr is not known to be past one. */
bool hi_propagation_add_behind_header(struct hi_propagation_worker *w, uint64_t addr,
				      hi_node id, uint32_t layout,
				      enum hi_evidence evidence);
/* Is a word before addr the size that the block would then have? */
bool hi_propagation_may_be_sized(struct hi_propagation_worker *w, uint64_t addr,
				 hi_node id, uint32_t layout);
/* Between runs, of the interior pointers that are left: do blocks have such headers, with
 * the size in them or without? True: there is new work for worker 0. */
bool hi_propagation_find_sized_headers(struct hi_propagation *s);
/* The same for headers without a size, of one length for all blocks or for those of a
 * type. */
bool hi_propagation_find_header(struct hi_propagation *s);
/* May a block of `usable` bytes, which begins with this record, have another one after it
 * for which the record is the header? */
bool hi_propagation_may_be_header(const struct hi_propagation *s,
				  const struct hi_layout *layout, uint64_t usable);
/* Is it an object of its own, after a header that has a type? */
bool hi_propagation_is_apart(const struct hi_propagation *s, uint64_t addr, hi_node id,
			     uint32_t layout);

/* ---- conflicts.c ---- */

/* Do the types contradict each other: none begins with the other one? */
bool hi_layouts_conflict(struct hi_layouts *layouts, const struct hi_layout *a,
			 const struct hi_layout *b);
/* Counts conflicts into typing->conflict_rows. */
enum hi_status hi_conflicts_collect(struct hi_typing *typing,
				    const struct hi_type_candidates *candidates,
				    struct hi_error *err);

/* ---- propagate.c ---- */

/* Runs all workers until nothing is left to follow; begins with the work of worker 0. */
void hi_propagation_run(struct hi_propagation *s);
/* The work of this worker, on this thread. */
void hi_propagation_drain(struct hi_propagation_worker *w);

/* ---- arrays.c, inference_rounds.c: between runs ---- */

/* True: there is new work for worker 0. */
bool hi_propagation_release_arrays(struct hi_propagation *s);
/* Does this pointer lead to a record in a block of this key, an array that has none
 * there? */
bool hi_propagation_crosses_array(const struct hi_typing *typing, uint32_t key,
				  const struct hi_interior *in);
/* Was such a pointer found, so that the block is no array? */
bool hi_propagation_is_crossed(const struct hi_propagation *s, hi_node id);
/* Infers records around members that interior pointers lead to. True: there is new work
 * for worker 0. */
bool hi_propagation_infer_containers(struct hi_propagation *s);
/* Finds all subobjects, and makes typing->remade if there are any. */
enum hi_status hi_propagation_find_subobjects(struct hi_propagation *s,
					      struct hi_error *err);

#endif
