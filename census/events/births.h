/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Births: when and where each object of a graph was allocated, by columns. Blocks and
 * recorded allocations are joined by their address.
 */
#ifndef HI_CENSUS_EVENTS_BIRTHS_H
#define HI_CENSUS_EVENTS_BIRTHS_H

#include "base/cleanup.h"
#include "census/events/recording.h"
#include "census/graph/objects.h"

/* In the column of contexts: the object has no record, it was allocated before the
 * recording (or, of samples, is none). */
#define HI_BIRTH_NONE UINT32_MAX
/* There too: it lies in no block of the allocator that is recorded (an object of a
 * runtime's own heap, a mapping). */
#define HI_BIRTH_OTHER (UINT32_MAX - 1)

/* Columns of 24 bytes an object. */
struct hi_births {
	uint32_t n_objects;
	/* HI_BIRTH_NONE, HI_BIRTH_OTHER: no record, the other columns are 0. */
	const uint32_t *context;
	const uint32_t *thread;	 /* index in threads */
	const uint64_t *time_ns; /* since start_ns */
	const uint64_t *size;	 /* as requested; of pieces of a block: of the block */
	const uint32_t *threads; /* thread ids, ascending */
	uint32_t n_threads;
	uint64_t start_ns, end_ns; /* of the recording, CLOCK_MONOTONIC */
	uint64_t sample_bytes;	   /* mean distance of samples (sampling.h); 0: all have a
				      record */
	uint64_t is_traced; /* 1: the program has traced itself (tracemalloc of Python):
			       there are no times and threads */
	/* How the join went, in allocations. */
	uint64_t joined;
	uint64_t without_object; /* no block begins there */
	uint64_t too_large;	 /* the block is smaller than what was requested: it is
				    another one. It has no record */
	void *owned;		 /* NULL: the columns are borrowed */
};
static inline bool hi_birth_is_known(const struct hi_births *births, hi_node object)
{
	return object < births->n_objects && births->context[object] < HI_BIRTH_OTHER;
}
/* Is its size that of the object alone? Not where it is a piece of what was allocated. */
bool hi_birth_has_own_size(const struct hi_births *births,
			   const struct hi_objects *objects, hi_node object);

/*
 * Looks up the block of each live allocation. If a block is split into pieces (see
 * hi_objects_split()), all of them have its record. start_ns and end_ns: when the
 * recording began and when the image was made. *ret: hi_births_destroy(). HI_NO_MEMORY.
 */
enum hi_status hi_births_join(const struct hi_recording *recording,
			      const struct hi_objects *objects, uint64_t start_ns,
			      uint64_t end_ns, struct hi_births **ret,
			      struct hi_error *err);
/* The same. unknown_starts: hi_bits_size(objects->count); the objects whose bit is set
 * have the record of an allocation anywhere inside them (an aligned block may begin after
 * the start of the allocator's slot). NULL: none. */
enum hi_status hi_births_join_inside(const struct hi_recording *recording,
				     const struct hi_objects *objects, uint64_t start_ns,
				     uint64_t end_ns, const uint64_t *unknown_starts,
				     struct hi_births **ret, struct hi_error *err);
/* Objects without a record whose bit is not set become HI_BIRTH_OTHER. in_blocks:
 * hi_bits_size(n_objects); those that lie in blocks of the allocator. Only for what
 * hi_births_join() made. */
void hi_births_mark_other(struct hi_births *births, const uint64_t *in_blocks);
/* The last of the pieces that the block which begins with this object was split into. */
hi_node hi_births_last_piece(const struct hi_objects *objects, hi_node first);
void hi_births_destroy(struct hi_births *births);
HI_DEFINE_GUARD(struct hi_births *, hi_births_destroy)

#endif
