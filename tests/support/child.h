/* SPDX-License-Identifier: BSD-2-Clause */
/* Children of tests and of their targets. */
#ifndef HI_TESTS_SUPPORT_CHILD_H
#define HI_TESTS_SUPPORT_CHILD_H

#include <sys/types.h>

/* Between fork and exec, whoever started the test and however.
 * Every signal has its default action and none is blocked: a shell in the background
 * and nohup leave some ignored, which exec does not change, and so do tests. */
void hi_child_signals(void);
/* Kills a child of the test, and reaps it, when the test ends. */
void hi_child_kill_after(pid_t pid);
/* Returns the first child of a process, when it has one; fails the test after 30 s. */
pid_t hi_child_first(pid_t parent);

#endif
