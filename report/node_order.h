/* SPDX-License-Identifier: BSD-2-Clause */
/* Orders that several reports share. Deterministic. */
#ifndef HI_REPORT_NODE_ORDER_H
#define HI_REPORT_NODE_ORDER_H

#include "census/analysis/analysis.h"

/* Sorts nodes by retained bytes, the largest first, then by id. */
void hi_rank_nodes(const struct hi_dominators *d, hi_node *nodes, size_t n);
/* Returns the evidence of most of the bytes of the row. */
enum hi_evidence hi_main_evidence(const struct hi_census_row *row);

#endif
