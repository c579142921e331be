/* SPDX-License-Identifier: BSD-2-Clause */
/* The report of threads of an inspection, with their stacks where there is an image. */
#ifndef HI_SESSION_THREAD_STACKS_H
#define HI_SESSION_THREAD_STACKS_H

#include "report/reports/threads/threads_report.h"
#include "session/inspection.h"

/* Makes the report of the part of the heap that is shown. top: threads that are shown, and
 * have a stack; SIZE_MAX: all. Rows of stacks live in *frames_ret, which is NULL of a file:
 * hi_frames_builder_destroy(), after the report. A stack that cannot be read is left
 * out. HI_NO_MEMORY, or as of hi_kept_owners(). */
enum hi_status hi_inspect_threads(struct hi_inspection *in, size_t top,
				  struct hi_frames_builder **frames_ret,
				  struct hi_threads_report **ret, struct hi_error *err);

#endif
