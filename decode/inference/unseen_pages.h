/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Note [Pages that are not seen]
 *
 * A page of live memory that could not be read may hold the only pointer to a block, so
 * that no leak is certain. Pages of shared mappings are different: most shared memory
 * belongs to several processes, for which addresses of one of them have no meaning
 * (PostgreSQL's buffers, rings of devices), and is unreadable through no fault of this
 * one. A process that keeps pointers to its own heap in shared memory has some in what
 * can be read of it as well. So the missing pages of a shared mapping raise doubts only
 * where a word in the others leads to a block; else they are counted, and reports name
 * them.
 */
#ifndef HI_DECODE_INFERENCE_UNSEEN_PAGES_H
#define HI_DECODE_INFERENCE_UNSEEN_PAGES_H

#include "base/vector.h"
#include "decode/inference/typing.h"

/* Missing bytes of a shared mapping. */
struct hi_unseen_range {
	uint64_t start; /* in the mapping */
	uint64_t bytes;
};
struct hi_unseen_ranges HI_VECTOR(struct hi_unseen_range);

/* Sums up ranges, which are sorted here: *doubtful_ret those of mappings in which some
 * word leads to a block, *apart_ret the others. HI_NO_MEMORY. */
enum hi_status hi_unseen_grade(const struct hi_typing *typing,
			       struct hi_unseen_ranges *ranges, uint64_t *doubtful_ret,
			       uint64_t *apart_ret, struct hi_error *err);

#endif
