/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Type inference: every block gets a type with its evidence, its edges with their grade.
 * A run of it (decode/run/typing_run.h) leaves this state beside the graph: layouts for
 * decode/describe, conflicts, counts.
 */
#ifndef HI_DECODE_INFERENCE_TYPING_H
#define HI_DECODE_INFERENCE_TYPING_H

#include "census/graph/graph.h"
#include "decode/allocator.h"
#include "decode/frames/frames.h"
#include "decode/inference/subobjects.h"
#include "decode/runtime.h"
#include "decode/rules/rules.h"

struct hi_typing_stats {
	uint64_t roots_ns, propagate_ns, scan_ns;
	uint64_t followed;  /* type candidates that were followed */
	uint64_t conflicts; /* objects with two types, none of which begins with the other
			     */
	uint64_t by_shape;  /* typed by size and layout (Note [Containers of members]) */
	uint64_t bounded;   /* loops of rules that were cut at their bound */
	struct hi_subobject_stats subobjects;
	uint64_t outside_bytes;	 /* of objects in memory that no allocator walks */
	uint64_t outside_loader; /* of these objects: the dynamic linker's own */
	uint64_t words_scanned, bytes_scanned; /* without rows that were reused */
	uint64_t rows_reused; /* from the census before (Note [Rows that are reused]) */
	uint64_t unreadable_bytes; /* of live blocks */
	uint64_t frames, truncated_stacks;
};

struct hi_typing;

struct hi_block_sizes;
/* How the allocators round requests up; lives as long as typing. */
const struct hi_block_sizes *hi_typing_sizes(const struct hi_typing *typing);
/* A conflict: objects with one type to which another pointer has another type; none
 * begins with the other. */
struct hi_typing_conflict {
	const char *type, *other; /* of the objects; of the other pointer; hostile */
	uint64_t objects;
	uint64_t example; /* address of one */
};
/* All conflicts, the most objects first; borrowed. Returns their number. */
size_t hi_typing_conflicts(const struct hi_typing *typing,
			   const struct hi_typing_conflict **ret);
/* Returns times and counts of the inspection, for the report. */
struct hi_typing_stats hi_typing_stats(const struct hi_typing *typing);
/* Frees it; NULL is fine. */
void hi_typing_destroy(struct hi_typing *typing);

#endif
