/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Copies memory into an image, in steps, so that only what must happen during the stop
 * does. Internal to attach/: stop.c drives it. Either the bulk copy of a stopped target
 *
 *	hi_copy_estimate     target runs:    estimate
 *	hi_copy_reserve      target runs:    reserve and touch memory
 *	hi_copy_run          target stopped: maps, pagemap, bulk read
 *	hi_copy_finish       target runs:    the image
 *
 * or the image of a copy-on-write child, of which nothing is reserved before and nothing
 * read during the stop
 *
 *	hi_copy_estimate     target runs:    estimate
 *	hi_copy_set_time     target stopped: timestamp and RSS of the image
 *	hi_copy_run_child    target runs:    maps, pagemap, bulk read of the child
 *	hi_copy_finish
 *
 * None of them stops anything: the caller must have stopped all threads before
 * hi_copy_run. Only pages that are present are ever read: the target's RSS and page
 * tables stay as they are.
 */
#ifndef HI_ATTACH_COPY_H
#define HI_ATTACH_COPY_H

#include "attach/stop_options.h"
#include "attach/target.h"

struct hi_copy;

/* A child that was forked off the target and never runs. */
struct hi_copy_child {
	pid_t pid; /* in this process's pid namespace */
	/* Ends the child. Called once, by any thread, when nothing more is read from it,
	 * at the latest when the image is destroyed. NULL: the caller ends it after that.
	 */
	void (*end)(void *arg);
	void *arg;
	int socket; /* see struct hi_image_child_request; 0: none */
};

/* Uses options' with_swap, threads and max_image. HI_GONE. `target` must outlive
 * the copy; its rss is set at the finish. */
enum hi_status hi_copy_estimate(struct hi_target *target,
				const struct hi_stop_options *options,
				struct hi_copy **ret, struct hi_error *err);
/* By the last scan: bytes that are read for the image, and those of them that are
 * private memory, which a fork makes copy-on-write. */
uint64_t hi_copy_bytes(const struct hi_copy *copy);
/* The part of hi_copy_bytes() that is private memory, which a fork makes
 * copy-on-write. */
uint64_t hi_copy_private_bytes(const struct hi_copy *copy);
/* HI_NO_MEMORY when the image would not fit into free memory (MemAvailable and the
 * cgroup's limit). */
enum hi_status hi_copy_reserve(struct hi_copy *copy, struct hi_error *err);
/* hi_copy_estimate and hi_copy_reserve. */
enum hi_status hi_copy_prepare(struct hi_target *target,
			       const struct hi_stop_options *options,
			       struct hi_copy **ret, struct hi_error *err);
/* Stops reading as soon as fd (borrowed) polls readable. fd is the pidfd of the
 * tracer: when that ends, the target runs again. */
void hi_copy_guard(struct hi_copy *copy, int fd);
/* Sets the timestamp of the image to now, and its RSS to the current one. hi_copy_run
 * does this itself. */
void hi_copy_set_time(struct hi_copy *copy);
/* Its process is gone, and its memory is kept (memory_keeper.h): before the reserve. */
void hi_copy_set_dead(struct hi_copy *copy);
/* Once. HI_GONE if the target exited or exec'ed since prepare. Works without
 * hi_copy_reserve, but is slower then. */
enum hi_status hi_copy_run(struct hi_copy *copy, struct hi_error *err);
/*
 * Once, after the target was let go. See Note [What a child has] in copy_child.c. The
 * child is ended as soon as all of it was read; an image that would not fit is read
 * in place, and then the image ends it. On failure child->end has not been called:
 * HI_GONE if it ended early (the target exits, memory runs out), HI_NO_MEMORY.
 */
enum hi_status hi_copy_run_child(struct hi_copy *copy, const struct hi_copy_child *child,
				 struct hi_error *err);
/*
 * Consumes copy, also on failure. Copies threads ([0] the leader). The caller
 * fills stats.pause_ns and stats.threads_in_allocator.
 */
enum hi_status hi_copy_finish(struct hi_copy *copy, const struct hi_thread *threads,
			      size_t n_threads, struct hi_image **ret,
			      struct hi_error *err);
/* NULL is fine. Ends a child that was run. */
void hi_copy_destroy(struct hi_copy *copy);

#endif
