/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows of edges that a census of a series takes over from the one before.
 *
 * Note [Rows that are reused]
 *
 * The row of an object is a function of its key, its size, its bytes, and of what lies
 * where its words lead. So a row is copied, with the ids of now, if
 *
 *   - the same address has an object of the same size and key, and its bytes are as they
 *     were (attach/image_kept.h);
 *   - the scan needed nothing else for it: no rule read memory outside of it, all rules
 *     were resolved, all of it was readable, it is no piece of a pool, no object of a
 *     runtime and none of stdio's;
 *   - every word of it that lies among the objects led to one (else there may be one
 *     now), and these objects are where they were, with their sizes;
 *   - none of them is without a type now: it would be named by the field that leads to
 *     it (labels.h).
 *
 * All other rows are scanned. Layouts are kept together with the rows, so that keys of
 * both censuses have the same indexes.
 */
#ifndef HI_DECODE_INFERENCE_ROW_REUSE_H
#define HI_DECODE_INFERENCE_ROW_REUSE_H

#include "decode/inference/typing_state.h"

/* A mark for each row. */
enum {
	HI_ROW_ALONE = 1,   /* it depends on nothing but the object and its targets */
	HI_ROW_CERTAIN = 2, /* the type describes all of the object */
};

/* The rows of the census before, for all threads. */
struct hi_row_reuse {
	const struct hi_typing *typing;
	const struct hi_kept_rows *before;
	hi_node *now; /* by object of then: its id now; HI_NODE_NONE: it is gone */
};

/* One row of then. */
struct hi_old_row {
	struct hi_edges edges;
	uint32_t first; /* index of its first edge in the chunk */
	uint32_t chunk;
	uint8_t mark;
};

/* The object of then at an address, for addresses that ascend. */
struct hi_row_cursor {
	const struct hi_objects *objects;
	struct hi_address_cursor window;
	uint64_t addr; /* of `next`; UINT64_MAX: there is none */
	hi_node next;
	uint32_t chunk;	 /* of then, of the last row; and in it: */
	size_t integers; /* before the row */
	const hi_node *edges_end;
};

/* Begins to record the rows of a typing. False: out of memory. */
bool hi_rows_record(struct hi_typing *typing);
/* Matches the objects of then with those of now. Without rows that may be reused, or out
 * of memory, reuse->now is NULL. reuse: hi_row_reuse_end(). */
void hi_row_reuse_begin(struct hi_row_reuse *reuse, const struct hi_typing *typing);
void hi_row_reuse_end(struct hi_row_reuse *reuse);

/* The cursor for objects of now from `first` on. */
struct hi_row_cursor hi_row_cursor(const struct hi_row_reuse *reuse, hi_node first);
/* Finds the row of an object of now, if the object was there with the same size and key,
 * and nothing else counted. Its bytes are the caller's to compare. */
bool hi_row_find(const struct hi_row_reuse *reuse, struct hi_row_cursor *cursor,
		 uint64_t addr, uint64_t usable, uint32_t key, struct hi_old_row *ret);
/* Writes the targets of a row as they are now. False: one of them is gone or, if
 * names_targets, has no type. */
bool hi_row_translate(const struct hi_row_reuse *reuse, const struct hi_old_row *row,
		      bool names_targets, hi_node *to);
/* Adds the edges of integers in a row, whose first edge has the index `at` now. False:
 * out of memory. */
bool hi_row_integers(const struct hi_row_reuse *reuse, struct hi_row_cursor *cursor,
		     const struct hi_old_row *row, size_t at,
		     struct hi_edge_indexes *integers);

#endif
