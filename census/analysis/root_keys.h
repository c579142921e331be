/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The root variable that alone keeps each node alive, without dominators.
 */
#ifndef HI_CENSUS_ANALYSIS_ROOT_KEYS_H
#define HI_CENSUS_ANALYSIS_ROOT_KEYS_H

#include "census/analysis/analysis.h"

/* Sets the keys (n_nodes) as hi_dominators_root_keys() of the dominators of this graph
 * does: all that the flow graph reaches get that of their root variable, out of of_root
 * (n_roots), or `several`. Others get 0. HI_NO_MEMORY. */
enum hi_status hi_root_keys_find(const struct hi_graph *graph,
				 const struct hi_reach *reach, const uint32_t *of_root,
				 uint32_t several, uint32_t *keys, struct hi_error *err);

#endif
