/* SPDX-License-Identifier: BSD-2-Clause */
/* Contents of live objects: identical, zero and unused bytes. */
#ifndef HI_DECODE_USAGE_CONTENTS_H
#define HI_DECODE_USAGE_CONTENTS_H

#include "base/cleanup.h"
#include "census/analysis/analysis.h"
#include "census/analysis/waste.h"
#include "decode/inference/typing.h"
#include "decode/layouts/block_sizes.h"

/*
 * The result for each object: enough to count any of them again without their bytes. A
 * snapshot file has it. It has no hashes, so that contents cannot be found by trying.
 */
struct hi_contents_marks {
	/* By object: the first one with the same contents (maybe itself), or HI_MARK_… */
	const uint32_t *equal;
	/* Ascending: objects that use other than what their type does. */
	const struct hi_contents_used {
		hi_node object;
		uint32_t bytes; /* UINT32_MAX: all usable ones */
	} * used;
	size_t n_used;
};
#define HI_MARK_ALONE UINT32_MAX /* no other is equal, or it was not compared */
#define HI_MARK_ZEROS (UINT32_MAX - 1)
#define HI_MARK_UNREAD (UINT32_MAX - 2)

struct hi_contents_options {
	unsigned threads; /* 0: hi_parallel_threads() */
	struct hi_contents_marks
		*marks; /* filled in, also on failure; NULL: not wanted */
	/* The groups to list; rows are of all types. */
	size_t top;	   /* at most */
	uint64_t min_size; /* with so many bytes to save */
	const bool *types; /* NULL: of every type */
	uint32_t n_types;  /* of types */
	/* For hi_contents_recount(): how the allocator rounds; NULL: as glibc. */
	const struct hi_block_sizes *sizes;
	/* For hi_contents_recount(): rows are not by type but by these numbers, below
	 * n_rows, of each object. A copy counts where it belongs, and the first of its
	 * group is none. NULL: by type. */
	const uint32_t *row_of;
	uint32_t n_rows;
};

/*
 * Reads the bytes of every live object once. Contents are equal when 112 bits of
 * a hash over type, size and bytes are. At most 16 bytes an object while it works.
 * Deterministic, whatever the number of threads.
 */
enum hi_status hi_contents_compare(const struct hi_image *image,
				   const struct hi_typing *typing,
				   const struct hi_graph *graph,
				   const struct hi_reach *reach,
				   const struct hi_contents_options *options,
				   struct hi_waste **ret, struct hi_error *err);
/* Free what the functions here returned; NULL is fine. */
void hi_waste_destroy(struct hi_waste *waste);
HI_DEFINE_GUARD(struct hi_waste *, hi_waste_destroy)
void hi_contents_marks_free(struct hi_contents_marks *marks);

/*
 * The same out of marks, of objects that were compared then; groups are without texts.
 * type_used: bytes that the type of each object uses, UINT32_MAX all; NULL: all of all.
 * HI_BAD_DATA: the marks are inconsistent. They may be hostile.
 */
enum hi_status hi_contents_recount(const struct hi_contents_marks *marks,
				   const uint32_t *type_used,
				   const struct hi_graph *graph,
				   const struct hi_reach *reach,
				   const struct hi_contents_options *options,
				   struct hi_waste **ret, struct hi_error *err);

#endif
