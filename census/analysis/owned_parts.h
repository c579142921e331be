/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parts: what a runtime or a container keeps in blocks of their own, the table of a dict,
 * the items of a list, the array of a vector, the text of a string. A reader of the
 * program counts them with the object.
 */
#ifndef HI_CENSUS_ANALYSIS_OWNED_PARTS_H
#define HI_CENSUS_ANALYSIS_OWNED_PARTS_H

#include "census/analysis/analysis.h"

/* Is it the type of such blocks? name: as the runtime's decoder calls it. */
bool hi_is_part_type(const char *name);

/*
 * By object: the object that owns it. A part belongs to the one object that refers to it,
 * and a part of a part to the owner of that; itself: no part, or one that several objects
 * or a root refer to. NULL: out of memory. The caller frees it.
 */
hi_node *hi_part_owners(const struct hi_graph *g, const struct hi_reach *reach);

#endif
