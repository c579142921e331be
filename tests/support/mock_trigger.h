/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A trigger without a probe: the hit is recorded in a page that the fixture
 * wait_probe shares (fixtures/probe_page.h), or by the test itself.
 */
#ifndef HI_TESTS_SUPPORT_MOCK_TRIGGER_H
#define HI_TESTS_SUPPORT_MOCK_TRIGGER_H

#include "attach/trigger.h"
#include "fixtures/probe_page.h"

struct hi_mock_trigger {
	struct hi_trigger base; /* near_only and poll_fd may be changed */
	/* This process has SIGTERM when its first thread is added; when the second is, it
	 * is stopped at its end, and the trigger is not armed yet. 0: none. */
	pid_t ends;
	struct probe_page *page;
	int memory, pipe[2];
	char page_path[64], pipe_path[64]; /* for another process to open */
};

/* Released at the end of the test. */
struct hi_mock_trigger *hi_mock_trigger_create(void);
/* Forgets the hit. */
void hi_mock_trigger_reset(struct hi_mock_trigger *mock);
/* A hit by tid (0: not known), without any signal. Any process may call it. */
void hi_mock_trigger_hit(struct hi_mock_trigger *mock, pid_t tid);

#endif
