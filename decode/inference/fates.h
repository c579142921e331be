/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What becomes of objects that no root leads to, where a runtime has a collector:
 * Note [Fates].
 */
#ifndef HI_DECODE_INFERENCE_FATES_H
#define HI_DECODE_INFERENCE_FATES_H

#include "census/analysis/analysis.h"
#include "decode/inference/typing.h"

/* Fills graph->fates in; leaves it NULL where the runtime counts no references (NULL:
 * there is none) and where nothing is to be said. */
enum hi_status hi_runtime_fates(struct hi_typing *typing, struct hi_runtime *runtime,
				struct hi_graph *graph, const struct hi_reach *reach,
				struct hi_error *err);

#endif
