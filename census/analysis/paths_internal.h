/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the two searches for paths. */
#ifndef HI_CENSUS_ANALYSIS_PATHS_INTERNAL_H
#define HI_CENSUS_ANALYSIS_PATHS_INTERNAL_H

#include "census/analysis/analysis.h"

/* path->worst, of nodes that are there. */
void hi_path_grade(const struct hi_graph *g, struct hi_path *path);

#endif
