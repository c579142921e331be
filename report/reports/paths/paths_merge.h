/* SPDX-License-Identifier: BSD-2-Clause */
/* Paths that differ in indices and keys only are one row: "index[*]->items[0]". */
#ifndef HI_REPORT_REPORTS_PATHS_PATHS_MERGE_H
#define HI_REPORT_REPORTS_PATHS_PATHS_MERGE_H

#include "base/arena.h"
#include "base/error.h"
#include "report/reports/paths/paths_report.h"

/* Of ways with text, worst, nodes, their first step and named_by_key: leaves the first of
 * those that are alike, in their order, and fills in pattern and n_alike. Texts that are
 * the same count once for each object that they lead to. Strings live in the arena, or
 * are those of the ways. */
enum hi_status hi_paths_merge(struct hi_paths_way *ways, size_t *n,
			      struct hi_arena *arena, struct hi_error *err);

#endif
