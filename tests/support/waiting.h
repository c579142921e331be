/* SPDX-License-Identifier: BSD-2-Clause */
/* An inspector of its own that waits for a trigger, beside the test. */
#ifndef HI_TESTS_SUPPORT_WAITING_H
#define HI_TESTS_SUPPORT_WAITING_H

#include "attach/tracer.h"
#include "tests/support/mock_trigger.h"

struct hi_waiting {
	pid_t inspector;
	int result; /* a pipe */
};

struct hi_waiting_result {
	enum hi_status status;
	enum hi_hit_position position;
	size_t n_threads;
	char text[240]; /* of the error */
};

/* Forks it, and returns when it has armed the trigger (or has failed already).
 * It resumes at once after the hit. Ended with the test. */
struct hi_waiting hi_waiting_start(struct hi_mock_trigger *mock, pid_t target,
				   uint64_t timeout_ns);
/* The same with the usual pause budget: for tests of what comes when that is over. */
struct hi_waiting hi_waiting_start_hurried(struct hi_mock_trigger *mock, pid_t target,
					   uint64_t timeout_ns);
/* Waits for it. Of one that was killed: HI_OS. */
struct hi_waiting_result hi_waiting_end(struct hi_waiting *waiting);
/* Our own or another process's child of this name ("hi-tracer"); 0: none. */
pid_t hi_waiting_find_child(pid_t parent, const char *name);
/* The same, until there is one: it has its name when it has been scheduled. */
pid_t hi_waiting_await_child(pid_t parent, const char *name);

#endif
