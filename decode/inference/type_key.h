/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The type column of the object table during propagation (Note [Type candidates] in
 * propagate.c). From the top: evidence 3 bits, array 1, settled 1 (takes no candidates),
 * layout 25. scan.c turns it into graph types and flags.
 */
#ifndef HI_DECODE_INFERENCE_TYPE_KEY_H
#define HI_DECODE_INFERENCE_TYPE_KEY_H

#include "decode/layouts/layout.h"

enum {
	HI_KEY_LAYOUT = HI_LAYOUT_MAX - 1,
	/* Only of candidates (subobjects.h): a rule takes the place. */
	HI_KEY_SLOT = 1 << 25,
	/* Only while edges are scanned: no type; the rest is a label (labels.h). */
	HI_KEY_LABEL = 1 << 26,
	HI_KEY_LABEL_ID = HI_KEY_LABEL - 1,
	HI_KEY_SETTLED = 1 << 27,
	HI_KEY_ARRAY = 1 << 28,
	HI_KEY_EVIDENCE_SHIFT = 29,
};

#endif
