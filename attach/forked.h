/* SPDX-License-Identifier: BSD-2-Clause */
/* Processes that other ones have forked. */
#ifndef HI_ATTACH_FORKED_H
#define HI_ATTACH_FORKED_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A pid may come again: both together do not. */
struct hi_forked_process {
	pid_t pid, parent;
	uint64_t start_time; /* clock ticks since boot */
};

/*
 * Direct children of any of parents[0, n), at most `size` of them into ret; returns how
 * many. Not those that have ended, that still share the parent's memory (vfork before
 * its exec), or that are images of a heap (fork.h).
 */
size_t hi_forked_find(const pid_t *parents, size_t n, struct hi_forked_process *ret,
		      size_t size);

#endif
