/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All that can be seen of a process from outside, as lines of text, to be compared
 * with a later one: status of the process and of each thread, scheduling, mappings
 * with their resident pages, descriptors, timers, children, limits, and sums of what
 * its writable memory holds.
 */
#ifndef HI_TESTS_SUPPORT_PORTRAIT_H
#define HI_TESTS_SUPPORT_PORTRAIT_H

#include <sys/types.h>

enum hi_portrait_detail {
	HI_PORTRAIT_STILL,  /* nothing runs in it: all of it */
	HI_PORTRAIT_PROBED, /* the same, and there was a probe in it */
	HI_PORTRAIT_MOVING, /* it runs: without states, stack pointers, contents, and
			     * page tables */
};

/* Fails the test if it has gone. Freed when the test ends. */
char *hi_portrait_take(pid_t pid, enum hi_portrait_detail detail);
/* Fails the test at the first line that differs, with both. */
void hi_portrait_expect_same(const char *before, const char *after);

/* Every executable private mapping of a file holds the file's bytes: no breakpoint
 * of a probe is left. Fails the test otherwise; returns how many bytes were compared. */
size_t hi_text_expect_whole(pid_t pid);
/* How many of these bytes differ: one for each breakpoint. */
size_t hi_text_changed(pid_t pid);

#endif
