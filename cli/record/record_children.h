/* SPDX-License-Identifier: BSD-2-Clause */
/* `record --children`: what is known of the recordings of children, of which a process of
 * its own takes care (child_recorders.h). */
#ifndef HI_CLI_RECORD_RECORD_CHILDREN_H
#define HI_CLI_RECORD_RECORD_CHILDREN_H

#include "base/cleanup.h"
#include "cli/record/child_recorders.h"
#include "report/parts/births_report.h"
#include "session/options.h"

struct hi_record_progress;

struct hi_record_children;
/* Before anything else of the command. options: borrowed; run: hi_run(). *ret:
 * hi_record_children_close(). HI_OS, HI_NO_MEMORY. */
enum hi_status hi_record_children_start(const struct hi_options *options,
					hi_child_recorder_fn *run,
					struct hi_record_children **ret,
					struct hi_error *err);
/* Takes what has happened, and says on `progress` which children are recorded. Does not
 * block. NULL is fine. */
void hi_record_children_look(struct hi_record_children *children,
			     struct hi_record_progress *progress);
/* All recordings end now. Does not wait. NULL is fine. */
void hi_record_children_end(struct hi_record_children *children);
/* The same, and waits until their files are written. NULL is fine. */
void hi_record_children_finish(struct hi_record_children *children);
/* What became of them, in the order in which they were found; lives as long. NULL gives
 * none. */
const struct hi_recorded_child *
hi_record_children_list(const struct hi_record_children *children, size_t *n_ret);
/* Prints what became of them: where there is no report. */
void hi_record_children_print(const struct hi_record_children *children);
/* Finishes. NULL is fine. */
void hi_record_children_close(struct hi_record_children *children);
HI_DEFINE_GUARD(struct hi_record_children *, hi_record_children_close)

#endif
