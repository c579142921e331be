/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compares the references that objects count with those that were found.
 *
 * An object that counts more has a reference that is in no memory that was read: it was
 * taken and never given back, or that memory is unreadable. An object that counts fewer
 * is referred to by objects that do not own it: it will be freed while they use it.
 */
#ifndef HI_DECODE_INFERENCE_AUDIT_H
#define HI_DECODE_INFERENCE_AUDIT_H

#include "census/analysis/audit.h"
#include "decode/inference/typing.h"

/*
 * HI_UNSUPPORTED: the runtime counts no references. Edges of all grades but weak ones are
 * found references, conservative ones too: a word that only looks like a reference can
 * hide one excess, and cannot make one.
 */
enum hi_status hi_runtime_audit(struct hi_typing *typing, struct hi_runtime *runtime,
				const struct hi_graph *graph, struct hi_audit *ret,
				struct hi_error *err);

#endif
