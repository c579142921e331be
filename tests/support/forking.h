/* SPDX-License-Identifier: BSD-2-Clause */
/* Copy-on-write children of fixtures, and proofs that nothing is left of them. */
#ifndef HI_TESTS_SUPPORT_FORKING_H
#define HI_TESTS_SUPPORT_FORKING_H

#include "tests/support/stopping.h"

struct hi_forked {
	struct hi_tracer *tracer;
	struct hi_tracer_child child;
	uint64_t pause_ns;
};

/* A fixture that has said "ready". */
struct hi_fixture *hi_test_start_ready(const char *name, const char *a, const char *b);
/* fixtures/fork_state.c: how often its threads looked at their registers; fails if one
 * of them was not as it had been. */
long hi_test_fork_rounds(struct hi_fixture *fx);
/* The same: its threads go on, and it has no children that ended. */
void hi_test_expect_well(struct hi_fixture *fx);
/* Waits until we have no child but this fixture, and that has none. */
void hi_test_wait_alone(const struct hi_fixture *fx);

/* A whole fork in a process that must not fail the test: start, stop, fork, resume; its
 * tracer, to be destroyed, in *tracer_ret. */
enum hi_status hi_test_fork_attempt(pid_t pid, struct hi_tracer **tracer_ret,
				    struct hi_tracer_child *child, struct hi_error *err);
/* Stopped and asked for a child; to be resumed and destroyed. */
enum hi_status hi_test_fork_stopped(pid_t pid, struct hi_tracer **tracer_ret,
				    struct hi_tracer_stop *stop,
				    struct hi_tracer_child *child, struct hi_error *err);
/* The target runs on, and the child is there; ended when the test ends. */
struct hi_forked *hi_test_fork(pid_t pid);
void hi_test_fork_end(struct hi_forked *forked);
/* Forked, resumed, ended. */
void hi_test_fork_once(pid_t pid);
/* A fork that must be refused, with this word in the reason; the target runs on. */
void hi_test_expect_unforked(pid_t pid, const char *word);
/* A fork whose tracer dies by SIGKILL at this step (1 is the first). */
void hi_test_fork_and_die(pid_t pid, int at);
/* The next n forks do not end before the watchdog ends their tracer. */
void hi_test_make_forks_late(int n);
#define HI_TEST_FORK_STEPS 20 /* a few more than there are */

#endif
