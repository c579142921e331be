/* SPDX-License-Identifier: BSD-2-Clause */
/* Classes of unreachable objects, where a runtime has a collector: Note [Classes of
 * unreachable objects] in unreachable_classes.c. */
#ifndef HI_DECODE_INFERENCE_UNREACHABLE_CLASSES_H
#define HI_DECODE_INFERENCE_UNREACHABLE_CLASSES_H

#include "census/analysis/analysis.h"
#include "decode/inference/typing.h"

/*
 * Fills in graph->unreachable_classes and graph->causes. Leaves both NULL where the
 * runtime counts no references (runtime NULL: there is none) and where no object has a
 * class.
 */
enum hi_status hi_runtime_classify_unreachable(struct hi_typing *typing,
					       struct hi_runtime *runtime,
					       struct hi_graph *graph,
					       const struct hi_reach *reach,
					       struct hi_error *err);

#endif
