/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Objects in groups by their births: by site, context, thread or age. Sums over any set
 * of objects, and sets of the objects of a group.
 *
 * The site of an allocation is the innermost function that does not only allocate for its
 * caller (frames.h): module, function, file and line of that row. If all of them do, it
 * is the outermost. An interpreter's own functions allocate for the code that it runs,
 * where the stack has such code.
 */
#ifndef HI_CENSUS_EVENTS_BIRTH_GROUPS_H
#define HI_CENSUS_EVENTS_BIRTH_GROUPS_H

#include "base/cleanup.h"
#include "census/events/births.h"
#include "census/events/frames.h"
#include "census/events/sampling.h"
#include "census/graph/graph.h"

enum hi_born_by {
	HI_BORN_BY_SITE,
	HI_BORN_BY_CONTEXT,
	HI_BORN_BY_THREAD,
	HI_BORN_BY_AGE,
	HI_BORN_BY_MODULE /* of the site */
};

/* Age classes: below the end of each, and the last one above. */
enum { HI_AGE_CLASSES = 7 };
/* "below 1 s", "1 s to 10 s", … */
const char *hi_age_class_name(uint32_t klass);

/* Group 0: before the recording; group 1: not recorded (HI_BIRTH_OTHER); group 2: without
 * a stack (SITE, CONTEXT) or nothing. */
enum { HI_GROUP_BEFORE, HI_GROUP_OTHER, HI_GROUP_NO_STACK, HI_GROUPS_FIXED };

struct hi_birth_group {
	/* SITE, MODULE: row of the frames, UINT32_MAX for the fixed ones; CONTEXT: the
	 * context; THREAD: the thread id; AGE: the class. 0 for the fixed ones otherwise.
	 */
	uint32_t key;
};
struct hi_birth_groups {
	enum hi_born_by by;
	uint32_t n_groups;
	struct hi_birth_group *groups;
	uint32_t n_objects;
	uint32_t *of; /* group of each object */
	uint32_t n_contexts;
	uint32_t *of_context; /* SITE, CONTEXT: group of each context; else NULL */
};
/* frames: may be NULL but for SITE. Frames and contexts belong together. *ret:
 * hi_birth_groups_destroy(). HI_NO_MEMORY. */
enum hi_status hi_birth_groups_make(const struct hi_births *births,
				    const struct hi_context_view *contexts,
				    const struct hi_frames *frames, enum hi_born_by by,
				    struct hi_birth_groups **ret, struct hi_error *err);
void hi_birth_groups_destroy(struct hi_birth_groups *groups);
HI_DEFINE_GUARD(struct hi_birth_groups *, hi_birth_groups_destroy)
/* The row of the frames that is the site of a context; UINT32_MAX: it has no frames. */
uint32_t hi_context_site(const struct hi_context_view *contexts,
			 const struct hi_frames *frames, uint32_t context);

/* The row that has called it, past an interpreter's own functions; UINT32_MAX: the stack
 * does not say. */
uint32_t hi_context_caller(const struct hi_context_view *contexts,
			   const struct hi_frames *frames, uint32_t context);

/* All rows of its stack, innermost first, past an interpreter's own functions where it
 * has code that the interpreter runs. Returns how many there are; of more than `most` the
 * outermost are left out. */
uint32_t hi_context_rows(const struct hi_context_view *contexts,
			 const struct hi_frames *frames, uint32_t context, uint32_t *rows,
			 uint32_t most);

struct hi_birth_sum {
	uint64_t objects, bytes;    /* estimates, of samples. bytes: hi_objects_cost() */
	uint64_t first_ns, last_ns; /* births since the start of the recording; 0 in
				       the group before it */
	/* The objects that have been added, and those that they represent. If not only
	 * samples have a record there is no variance. */
	uint64_t seen_objects, seen_bytes;
	struct hi_estimate objects_estimate, bytes_estimate;
};
/*
 * Adds up the objects whose bit is set in mask (NULL: all) into n_groups sums. Pieces of
 * a block are one sample. In the groups of objects without a record nothing is estimated:
 * of samples, they have what was not sampled, too (hi_birth_sum_rest()).
 */
void hi_birth_groups_sum(const struct hi_birth_groups *groups,
			 const struct hi_births *births, const struct hi_objects *objects,
			 const uint64_t *mask, struct hi_birth_sum *sums);
/* Adds one sum to another, which keeps its times. */
void hi_birth_sum_add(struct hi_birth_sum *sum, const struct hi_birth_sum *more);
/* For a recording of samples: returns the objects without a record, less those that the
 * samples represent. */
struct hi_birth_sum hi_birth_sum_rest(const struct hi_birth_sum *without_record,
				      const struct hi_birth_sum *samples);
/* Returns the interval of the true number of bytes, with 95 %. */
struct hi_interval hi_birth_sum_interval(const struct hi_birth_sum *sum);
/* Sets the bits of the objects that are in one of the groups: chosen[group]. No bit is
 * cleared. mask: hi_bits_size(n_objects). */
void hi_birth_groups_select(const struct hi_birth_groups *groups, const bool *chosen,
			    uint64_t *mask);

#endif
