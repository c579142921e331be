/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The part of a typing that the next census of a series begins with: its layouts, so that
 * keys of both censuses can be compared, and the rows of its graph (row_reuse.h).
 */
#ifndef HI_DECODE_INFERENCE_KEPT_TYPING_H
#define HI_DECODE_INFERENCE_KEPT_TYPING_H

#include "decode/inference/typing_state.h"

/* Zero-initialised is empty. Its types and rules, and the image before, are borrowed by
 * what is kept: where one of them is made anew, hi_kept_typing_free() is called first. */
struct hi_kept_typing {
	struct hi_layouts *layouts; /* NULL: nothing is kept */
	uint32_t n_at_first;	    /* layouts at the end of the first census with them */
	struct hi_kept_rows rows;
};

/* Fills the empty *kept from a typing whose census is over and from its graph, both of
 * which are destroyed after that. Nothing is kept where the typing did not record it, or
 * where it would be more than max_bytes. Takes the graph if *graph is NULL afterwards. */
void hi_typing_keep(struct hi_typing *typing, struct hi_graph **graph, uint64_t max_bytes,
		    struct hi_kept_typing *kept);
/* Frees what is kept, and empties it. */
void hi_kept_typing_free(struct hi_kept_typing *kept);
/* Bytes of memory that the rows take, without the layouts. */
uint64_t hi_kept_rows_bytes(const struct hi_kept_rows *rows);

/* Internal to decode/: layouts and rows for a typing that begins; typing->layouts stays
 * NULL where nothing is kept. kept is empty then. */
void hi_kept_typing_take(struct hi_kept_typing *kept, struct hi_typing *typing);

#endif
