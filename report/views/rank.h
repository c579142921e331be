/* SPDX-License-Identifier: BSD-2-Clause */
/* Orders and pickings that several reports share. Deterministic. */
#ifndef HI_REPORT_VIEWS_RANK_H
#define HI_REPORT_VIEWS_RANK_H

#include "census/analysis/analysis.h"

/* By retained bytes, most first; ties by id. */
void hi_rank_nodes(const struct hi_dominators *d, hi_node *nodes, size_t n);
/* The evidence that most bytes of the row have. */
enum hi_evidence hi_main_evidence(const struct hi_census_row *row);

#endif
