/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the tests of stopping need beside the tracer itself: targets by pid,
 * and proofs that nothing is left behind.
 */
#ifndef HI_TESTS_SUPPORT_STOPPING_H
#define HI_TESTS_SUPPORT_STOPPING_H

#include "attach/tracer.h"
#include "tests/support/fixture.h"

/* A target of which only the pid is known; no check, no close needed. */
struct hi_target hi_test_target(pid_t pid);
/* A fixture's answer to a line, as a number. */
long long hi_test_ask(struct hi_fixture *fx, const char *line);
/* Its answer to "count" grows within 10 s. */
void hi_test_expect_progress(struct hi_fixture *fx);
/* Waits for a line of the target's stdout, then settles; fails otherwise. */
void hi_test_expect_line(struct hi_fixture *fx, const char *line);
/* For stops whose budget is not what is tried: others may have the processors. Longer
 * than the 20 s in which hi_test_expect_free() wants the target back. */
#define HI_TEST_PATIENCE_NS 40000000000ull
/* Every thread of pid: state letter in `states`, no tracer. Fails otherwise.
 * Waits at most 20 s for it. */
void hi_test_expect_free(pid_t pid, const char *states);
/* The leader is traced by somebody. */
void hi_test_expect_traced(pid_t pid);
/* Processes whose parent or session is `pid`'s; own children, zombies too. */
int hi_test_count_children(pid_t pid);
/* Waits (at most 10 s) until we have n children; orphans that came to us are reaped. */
void hi_test_expect_children(int n);
/* A whole stop and resume that must work; returns the number of threads. */
size_t hi_test_stop_once(pid_t pid, const struct hi_stop_options *options);
void hi_test_sleep_us(long us);
/* From now on orphans of ours come to us and not to init, so that their end can be seen;
 * those of later tests do not, and none is left for them. */
void hi_test_adopt_orphans(void);

/* X of each system call that sleeps, as fixtures/stop_calls.c names them. */
#define HI_TEST_EACH_CALL(X)                                                             \
	X(epoll_wait)                                                                    \
	X(epoll_pwait)                                                                   \
	X(sigtimedwait)                                                                  \
	X(semop)                                                                         \
	X(io_getevents)                                                                  \
	X(recv_timeout)                                                                  \
	X(nanosleep)                                                                     \
	X(poll)                                                                          \
	X(ppoll)                                                                         \
	X(select)                                                                        \
	X(futex)                                                                         \
	X(read)                                                                          \
	X(msgrcv)                                                                        \
	X(pause)                                                                         \
	X(sigsuspend)

#endif
