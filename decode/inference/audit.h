/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * References that objects count against those that were found. What counts more than
 * leads to it is held by somebody who has no word for it: a reference that was taken
 * and never given back, or memory that was not read. What counts less is held by objects
 * that believe to own it: it will be freed while they use it.
 */
#ifndef HI_DECODE_INFERENCE_AUDIT_H
#define HI_DECODE_INFERENCE_AUDIT_H

#include "census/analysis/audit.h"
#include "decode/inference/typing.h"

/* HI_UNSUPPORTED: the runtime counts no references. Edges of all grades but weak ones
 * count, conservative ones too: a word that only looks like a reference hides one
 * excess, and makes none. */
enum hi_status hi_runtime_audit(struct hi_typing *typing, struct hi_runtime *runtime,
				const struct hi_graph *graph, struct hi_audit *ret,
				struct hi_error *err);

#endif
