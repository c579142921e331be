/* SPDX-License-Identifier: BSD-2-Clause */
/* The dominator tree of an inspection (report/reports/tree/tree_levels.h), made when it
 * is asked for first and kept for the next page. */
#ifndef HI_SESSION_DOMINATOR_TREE_H
#define HI_SESSION_DOMINATOR_TREE_H

#include "report/reports/tree/tree_levels.h"
#include "session/inspection.h"

/* Makes the tree of an inspection with dominators. *ret belongs to the inspection.
 * HI_NO_MEMORY, or what hi_edge_text_open() returns. */
enum hi_status hi_inspect_tree(struct hi_inspection *in, struct hi_tree **ret,
			       struct hi_error *err);
void hi_kept_tree_destroy(struct hi_kept_tree *kept); /* NULL is fine */

#endif
