/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Watches a process for its end without tracing it. Its memory outlives it (Note [Memory
 * outlives its process]), and its threads' registers are in a log (exit_log.h), so that
 * an image can be made when the process is gone. Internal to attach/: exit_watch.h.
 */
#ifndef HI_ATTACH_EXIT_KEEP_H
#define HI_ATTACH_EXIT_KEEP_H

#include "attach/copy.h"
#include "attach/exit_log.h"
#include "attach/memory_keeper.h"

struct hi_exit_keep {
	struct hi_target *target;
	struct hi_copy *copy; /* of target, as it was at the begin */
	struct hi_memory_keeper *keeper;
	struct hi_exit_log *log;
	struct hi_stop_options options;
	uint32_t execs; /* of the log, when the keeper was started */
	uint64_t look_ns;
	/* After the end. */
	struct hi_thread *threads;
	size_t n_threads;
};

/* From now on an end is seen. Takes the log, also on failure. HI_UNSUPPORTED: it has to
 * be traced; err->text is the reason. HI_GONE, HI_OS, HI_NO_MEMORY. */
enum hi_status hi_exit_keep_begin(pid_t pid, const struct hi_stop_options *options,
				  struct hi_exit_log *log, struct hi_exit_keep **ret,
				  struct hi_error *err);
/* Has the process exited, and an image can be made? *is_lost_ret: it has exited, and none
 * can. Follows an exec. Does not block. */
bool hi_exit_keep_look(struct hi_exit_keep *keep, bool *is_lost_ret);
/* Its memory is freed; the rest stays. */
void hi_exit_keep_free_memory(struct hi_exit_keep *keep);
void hi_exit_keep_end(struct hi_exit_keep *keep); /* NULL is fine */

#endif
