/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Blocks of which only the beginning has a type: a typed pointer leads to a base class, a
 * first member or a common header. Note [Bases] in bases.c.
 */
#ifndef HI_DECODE_INFERENCE_BASES_H
#define HI_DECODE_INFERENCE_BASES_H

#include "decode/inference/propagation.h"

/* Knowledge of such types, for one propagation. NULL: out of memory. */
struct hi_bases *hi_bases_create(struct hi_propagation *s);
void hi_bases_destroy(struct hi_bases *bases); /* NULL is allowed */

/* Between runs: gives such blocks the types of records that begin with theirs. True: some
 * block got another type, and there may be new work for worker 0. */
bool hi_bases_infer(struct hi_bases *bases);
/* After the last run: gives the evidence HI_EVIDENCE_BASE to what a typed pointer leads
 * to and what may as well be a larger record, and HI_EVIDENCE_SHAPE to arrays for which
 * only the size of the block speaks. */
void hi_bases_mark(struct hi_bases *bases);
/* The same for the pieces of pools in a table of objects that was made after that: what
 * has room for a larger record before the next piece. */
void hi_bases_mark_pieces(struct hi_bases *bases, struct hi_objects *pieces);

#endif
