/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Labels: the field that leads to an object without a type (field_names.h). Their numbers
 * are in the order of trust and depend on types and roots alone: pointers in typed
 * records and words with rules, then words that may be pointers (raw storage, bytes after
 * a record), then root variables.
 */
#ifndef HI_DECODE_INFERENCE_LABELS_H
#define HI_DECODE_INFERENCE_LABELS_H

#include "decode/inference/typing_state.h"

/* To be called when layouts have their graph types. *ret is NULL where there are too many
 * labels; else hi_labels_destroy(). */
enum hi_status hi_labels_create(struct hi_typing *typing, struct hi_labels **ret,
				struct hi_error *err);
void hi_labels_destroy(struct hi_labels *labels);

/* Labels of the first slot of a layout: as a pointer, and as a word that may be one. The
 * labels of the other slots follow; raw + n_slots is the label of the words after the
 * record. 0: no label. */
void hi_labels_of_layout(const struct hi_labels *labels, const struct hi_layouts *layouts,
			 const struct hi_layout *layout, uint32_t *slots_ret,
			 uint32_t *raw_ret);
/* labels may be NULL. */
uint32_t hi_labels_of_rule(const struct hi_labels *labels, const struct hi_rule *rule);

/* After the scan: labels become types of the graph, "via T.f, 48 B". */
enum hi_status hi_labels_apply(struct hi_labels *labels, struct hi_graph_builder *b,
			       struct hi_error *err);

#endif
