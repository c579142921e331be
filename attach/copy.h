/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bulk copy of a stopped target, in three steps so that the stop holds
 * only what must be in it. Internal to attach/: stop.c drives it.
 *
 *	hi_copy_prepare   target runs:    estimate, reserve and touch memory
 *	hi_copy_run       target stands:  maps, pagemap, bulk read
 *	hi_copy_finish    target runs:    the image
 *
 * None of the three stops anything; run copies what is there at that moment,
 * so the caller must have stopped all threads. Only pages that are present are
 * ever read: the target's RSS and page tables stay as they are.
 */
#ifndef HI_ATTACH_COPY_H
#define HI_ATTACH_COPY_H

#include "attach/stop.h"

struct hi_copy;

/* Uses options' with_swap and threads. HI_NO_MEMORY when the image would not
 * fit into free memory (MemAvailable and the cgroup's limit); HI_GONE. `target`
 * must outlive the copy. */
enum hi_status hi_copy_prepare(struct hi_target *target,
			       const struct hi_stop_options *options,
			       struct hi_copy **ret, struct hi_error *err);
/* While fd (borrowed) polls readable the run reads nothing more: the pidfd of the
 * tracer, whose death lets the target run. */
void hi_copy_guard(struct hi_copy *copy, int fd);
/* Once. HI_GONE if the target exited or exec'ed since prepare. */
enum hi_status hi_copy_run(struct hi_copy *copy, struct hi_error *err);
/*
 * Consumes copy, also on failure. Copies threads ([0] the leader). The caller
 * fills stats.pause_ns and stats.threads_in_allocator.
 */
enum hi_status hi_copy_finish(struct hi_copy *copy, const struct hi_thread *threads,
			      size_t n_threads, struct hi_image **ret,
			      struct hi_error *err);
/* NULL is fine. */
void hi_copy_destroy(struct hi_copy *copy);

#endif
