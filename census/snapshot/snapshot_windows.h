/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The estimates of a recording by windows in a snapshot file. docs/SNAPSHOT_FORMAT.md has
 * the section, "windows.sites". Such a file has no births.
 */
#ifndef HI_CENSUS_SNAPSHOT_SNAPSHOT_WINDOWS_H
#define HI_CENSUS_SNAPSHOT_SNAPSHOT_WINDOWS_H

#include "census/events/window_result.h"
#include "census/snapshot/snapshot_file.h"

enum hi_status hi_snapshot_put_windows(struct hi_snapshot_writer *w,
				       const struct hi_window_result *result,
				       struct hi_error *err);
bool hi_snapshot_has_windows(const struct hi_snapshot *s);
/* *rows_ret: free() it; ret->rows and its texts live as long as that and s. HI_NOT_FOUND:
 * the file has none; HI_BAD_DATA, HI_NO_MEMORY. */
enum hi_status hi_snapshot_windows(struct hi_snapshot *s, struct hi_window_row **rows_ret,
				   struct hi_window_result *ret, struct hi_error *err);

#endif
