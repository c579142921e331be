/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The copy-on-write child that an image is read from: alive until all that is
 * wanted of it has been read. Internal to attach/.
 */
#ifndef HI_ATTACH_IMAGE_CHILD_H
#define HI_ATTACH_IMAGE_CHILD_H

#include <sys/types.h>

#include "attach/pager.h"

struct hi_image_child;

struct hi_image_child_request {
	pid_t pid;	  /* in this process's pid namespace */
	int target_pidfd; /* borrowed for the call */
	/* Ends the child. Called once, by any thread; may be NULL. */
	void (*end)(void *arg);
	void *arg;
	/* hi_tracer_socket() of the tracer that ends it; borrowed until it has ended. 0:
	 * none. */
	int socket;
};

/* A child's parts, for another process that reads it. Descriptors: -1: none. */
struct hi_image_child_parts {
	int mem_fd, pidfd, rollup_fd, target_pidfd, socket;
	bool ended;
	uint64_t copied; /* when it was ended */
	/* The part that is still to be read; NULL: none. */
	const struct hi_pager_request *rest;
	bool in_place; /* ... when it is touched */
};

/* On failure the child is still the caller's to end. HI_GONE: it has ended. */
enum hi_status hi_image_child_open(const struct hi_image_child_request *request,
				   struct hi_image_child **ret, struct hi_error *err);
/* The descriptor of /proc/PID/mem; stays the child's. */
int hi_image_child_memory(const struct hi_image_child *child);
/* Returns the pidfd of the child; stays the child's. */
int hi_image_child_pidfd(const struct hi_image_child *child);
/* Fills the area from the child when it is touched; request's read, all_loaded and
 * arg are filled in here. Takes request->ranges (from hi_alloc), also on failure. Once.
 */
enum hi_status hi_image_child_read_in_place(struct hi_image_child *child,
					    const struct hi_pager_request *request,
					    struct hi_error *err);
/* Reads up to size bytes; returns how many, from the first on. *gone_ret: set if the
 * child has ended. */
size_t hi_image_child_read(const struct hi_image_child *child, uint64_t addr, void *to,
			   size_t size, bool *gone_ret);
/* It has ended, whoever ended it. */
bool hi_image_child_has_ended(const struct hi_image_child *child);
/* HI_GONE: the child of process pid ended before it was read. */
enum hi_status hi_image_child_fail_lost(pid_t pid, struct hi_error *err);
/* For a forked process that reads the area instead: begins to fill it anew. */
enum hi_status hi_image_child_adopt(struct hi_image_child *child, struct hi_error *err);
/* For another process to read at once: this one does not. Takes request->ranges. Once,
 * and not with hi_image_child_read_in_place(). */
void hi_image_child_leave(struct hi_image_child *child,
			  const struct hi_pager_request *request);
/* All of it stays the child's. */
struct hi_image_child_parts hi_image_child_take_apart(struct hi_image_child *child);
/*
 * In another process: a child of such parts, without pager. Takes the descriptors, also
 * on failure. ask_to_end asks the tracer for its end. HI_NO_MEMORY.
 */
enum hi_status hi_image_child_join(const struct hi_image_child_parts *parts,
				   void (*ask_to_end)(int socket),
				   struct hi_image_child **ret, struct hi_error *err);
/* All zeros where nothing is read in place. */
struct hi_pager_stats hi_image_child_stats(struct hi_image_child *child);
/* See hi_image_copied_on_write. */
uint64_t hi_image_child_copied(struct hi_image_child *child);
/* Remembers what was copied on write, then ends the child. More than once is fine. */
void hi_image_child_end(struct hi_image_child *child);
/* From now on it is the caller's to end. */
void hi_image_child_disown(struct hi_image_child *child);
/* Ends the child and frees it; no thread may be reading the area. NULL is fine. */
void hi_image_child_destroy(struct hi_image_child *child);

#endif
