/* SPDX-License-Identifier: BSD-2-Clause */
/* The contract of observers of stops (session/stop_observer.h), and each of them by it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "session/census_cache.h"
#include "session/inspect/inspect.h"
#include "session/live/call_counts.h"
#include "session/live/keeper_client.h"
#include "session/live/page_evidence.h"
#include "session/live/recorder.h"
#include "session/live/use_evidence.h"
#include "session/live/watch_evidence.h"
#include "tests/harness.h"
#include "tests/support/fixture.h"
#include "tests/support/watching.h"

/* ---- a mock, which writes down what is called ---- */

static char calls[512];

struct mock {
	struct hi_stop_observer observer;
	char name;
	enum hi_status census, replaces;
};

static void note_call(const struct hi_stop_observer *observer, const char *what)
{
	size_t used = strlen(calls);

	snprintf(calls + used, sizeof(calls) - used, "%s%s %c", used ? ", " : "", what,
		 ((const struct mock *)observer)->name);
}

static void mock_before(struct hi_stop_observer *self, struct hi_inspection *in,
			struct hi_stop_options *stop)
{
	(void)in;
	note_call(self, stop ? "before" : "before without a stop");
}

static void mock_at_stop(struct hi_stop_observer *self,
			 const struct hi_stop_moment *moment)
{
	note_call(self, moment ? "at" : "at exit");
}

static void mock_after(struct hi_stop_observer *self)
{
	note_call(self, "after");
}

static enum hi_status mock_census(struct hi_stop_observer *self, struct hi_inspection *in,
				  struct hi_error *err)
{
	enum hi_status status = ((struct mock *)self)->census;

	(void)in;
	note_call(self, "census");
	return status == HI_OK ? HI_OK : hi_fail(err, status, 0, "mock");
}

static void mock_end_census(struct hi_stop_observer *self)
{
	note_call(self, "end");
}

static enum hi_status mock_replace(struct hi_stop_observer *self,
				   struct hi_inspection *in, struct hi_error *err)
{
	(void)in, (void)err;
	note_call(self, "replace");
	return ((struct mock *)self)->replaces;
}

static bool mock_serve(struct hi_stop_observer *self, uint32_t detail, int socket,
		       struct hi_keeper_answer *answer)
{
	(void)socket, (void)answer;
	note_call(self, "serve");
	return detail == 7;
}

static void mock_close(struct hi_stop_observer *self)
{
	note_call(self, "close");
}

static const struct hi_stop_observer_ops mock_ops = {.name = "mock",
						     .before_stop = mock_before,
						     .at_stop = mock_at_stop,
						     .after_stop = mock_after,
						     .census = mock_census,
						     .end_census = mock_end_census,
						     .replace_stop = mock_replace,
						     .serve = mock_serve,
						     .close = mock_close};

/* An observer that has nothing to do. */
static const struct hi_stop_observer_ops idle_ops = {.name = "idle", .close = mock_close};

static struct mock mocks[3];

static struct hi_stop_observers make_mocks(void)
{
	struct hi_stop_observers list = {};

	calls[0] = 0;
	for (unsigned i = 0; i < 3; i++) {
		mocks[i] = (struct mock){.observer.ops = i == 1 ? &idle_ops : &mock_ops,
					 .name = (char)('a' + i),
					 .replaces = HI_NOT_FOUND};
		hi_stop_observers_add(&list, &mocks[i].observer);
	}
	hi_stop_observers_add(&list, NULL);
	HI_ASSERT_EQ(3, list.count);
	return list;
}

/* As the tracer does. */
static void run_hooks(const struct hi_stop_options *stop, bool is_at_exit)
{
	const struct hi_stop_moment moment = {};

	for (const struct hi_stop_hook *h = stop->hook; h; h = h->next)
		if (is_at_exit)
			h->at_exit(h->arg);
		else
			h->run(h->arg, &moment);
}

HI_TEST(stop_observers, are_called_in_order_before_and_backwards_after)
{
	struct hi_stop_observers list = make_mocks();
	struct hi_stop_options stop = {};
	struct hi_error err = {};

	hi_stop_observers_before(&list, NULL, &stop);
	run_hooks(&stop, false);
	hi_stop_observers_after(&list);
	HI_ASSERT_OK(hi_stop_observers_census(&list, NULL, &err), &err);
	hi_stop_observers_end_census(&list);
	hi_stop_observers_close(&list);
	HI_ASSERT_STREQ("before a, before c, at c, at a, after c, after a, census a, "
			"census c, end c, end a, close c, close b, close a",
			calls);
	HI_ASSERT_EQ(0, list.count);
}

HI_TEST(stop_observers, of_a_target_at_its_exit_are_called_in_the_inspector)
{
	struct hi_stop_observers list = make_mocks();
	struct hi_stop_options stop = {};

	hi_stop_observers_before(&list, NULL, &stop);
	run_hooks(&stop, true);
	HI_ASSERT_STREQ("before a, before c, at exit c, at exit a", calls);
}

/* Options of a stop may serve several: a hook is in the list once. */
HI_TEST(stop_observers, hooks_are_added_once_to_the_same_options)
{
	struct hi_stop_observers list = make_mocks();
	struct hi_stop_options stop = {};
	unsigned n = 0;

	hi_stop_observers_before(&list, NULL, &stop);
	hi_stop_observers_before(&list, NULL, &stop);
	for (const struct hi_stop_hook *h = stop.hook; h; h = h->next)
		n++;
	HI_ASSERT_EQ(2, n);
}

HI_TEST(stop_observers, a_failed_census_ends_it_for_those_after_it)
{
	struct hi_stop_observers list = make_mocks();
	struct hi_error err = {};

	mocks[0].census = HI_TIMEOUT;
	HI_ASSERT_STATUS(HI_TIMEOUT, hi_stop_observers_census(&list, NULL, &err));
	hi_stop_observers_end_census(&list);
	HI_ASSERT_STREQ("census a, end c, end a", calls);
}

HI_TEST(stop_observers, the_first_that_can_replaces_the_stop)
{
	struct hi_stop_observers list = make_mocks();
	struct hi_error err = {};

	HI_ASSERT_STATUS(HI_NOT_FOUND, hi_stop_observers_replace(&list, NULL, &err));
	mocks[0].replaces = HI_OK;
	HI_ASSERT_OK(hi_stop_observers_replace(&list, NULL, &err), &err);
	HI_ASSERT_STREQ("replace a, replace c, replace a", calls);
}

HI_TEST(stop_observers, requests_of_another_process_reach_one_that_serves)
{
	struct hi_stop_observers list = make_mocks();

	HI_ASSERT(hi_stop_observers_serve(&list, 2, 7, -1, NULL));
	HI_ASSERT(!hi_stop_observers_serve(&list, 2, 8, -1, NULL));
	HI_ASSERT(!hi_stop_observers_serve(&list, 1, 7, -1, NULL)); /* serves nothing */
	HI_ASSERT(!hi_stop_observers_serve(&list, 3, 7, -1, NULL));
	HI_ASSERT(!hi_stop_observers_serve(&list, UINT32_MAX, 7, -1, NULL));
	HI_ASSERT_STREQ("serve c, serve c", calls);
}

HI_TEST(stop_observers, without_a_stop_of_this_process_no_hook_is_added)
{
	struct hi_stop_observers list = make_mocks();

	hi_stop_observers_before(&list, NULL, NULL);
	HI_ASSERT_STREQ("before without a stop a, before without a stop c", calls);
}

/* ---- each observer ---- */

static struct hi_options options;

static struct hi_stop_observer *open_pages(struct hi_error *err)
{
	struct hi_page_evidence *ret = NULL;

	(void)!hi_page_evidence_open(options.target.pid, &ret, err);
	return hi_page_evidence_observer(ret);
}

static struct hi_stop_observer *open_watch(struct hi_error *err)
{
	struct hi_watch_evidence *ret = NULL;

	hi_need_watchpoints();
	(void)!hi_watch_evidence_open(options.target.pid, 2, &ret, err);
	return hi_watch_evidence_observer(ret);
}

static struct hi_stop_observer *open_uses(struct hi_error *err)
{
	struct hi_use_evidence *ret = NULL;

	hi_need_watchpoints();
	(void)!hi_use_evidence_open(options.target.pid, false, &ret, err);
	return hi_use_evidence_observer(ret);
}

static bool is_named(const char *function, const char *pattern)
{
	return strcmp(function, pattern) == 0;
}

static struct hi_stop_observer *open_calls(struct hi_error *err)
{
	static const char *const names[] = {"period_end"};
	struct hi_call_counts *ret = NULL;

	(void)!hi_call_counts_open(
		&options, &(struct hi_call_patterns){names, 1, is_named}, &ret, err);
	return hi_call_counts_observer(ret);
}

static struct hi_stop_observer *open_recorder(struct hi_error *err)
{
	struct hi_recorder *ret = NULL;
	enum hi_status status = hi_recorder_open(&options, &ret, err);

	if (status == HI_OK)
		status = hi_recorder_set_probes(ret, err);
	if (status == HI_OK)
		(void)!hi_recorder_start(ret, 0, err);
	return hi_recorder_observer(ret);
}

static const struct {
	const char *name;
	struct hi_stop_observer *(*open)(struct hi_error *err);
} observers[] = {{"pages", open_pages},
		 {"watchpoints", open_watch},
		 {"uses", open_uses},
		 {"calls", open_calls},
		 {"recorder", open_recorder}};

static void await_exit(pid_t pid)
{
	int status = 0;

	HI_ASSERT(waitpid(pid, &status, 0) == pid);
	HI_ASSERT_MSG(status == 0, "the other process: status %d", status);
}

/* All that is sent is received, and nothing is left of it. */
static void send_to_fork(struct hi_stop_observers *list)
{
	const struct hi_keeper_client client = {.socket = -1};
	struct hi_error err;
	char rest;
	int ends[2];
	pid_t pid;

	HI_ASSERT(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
	pid = fork();
	if (pid == 0) {
		hi_stop_observers_be_served(list, &client);
		close(ends[0]);
		if (hi_stop_observers_receive(list, ends[1], &err) != HI_OK)
			_exit(1);
		_exit(recv(ends[1], &rest, 1, 0) == 0 ? 0 : 2);
	}
	close(ends[1]);
	HI_ASSERT(pid > 0 && hi_stop_observers_send(list, ends[0]));
	close(ends[0]);
	await_exit(pid);
}

/* Two stops of a series with the observer, an attempt without one, and what a process
 * that is served gets. */
static void observe(struct hi_fixture *fx, struct hi_stop_observer *observer)
{
	struct hi_census_cache cache = {};
	struct hi_run run = {.census_cache = &cache, .is_quiet = true};
	struct hi_stop_options untried = {};
	struct hi_error err;

	hi_stop_observers_add(&run.observers, observer);
	for (unsigned i = 0; i < 2; i++) {
		struct hi_inspection *in = NULL;

		HI_ASSERT_OK(hi_inspect_begin(&options, &run, &in, &err), &err);
		HI_ASSERT(in->stop.is_observed && in->image->pid == fx->pid);
		send_to_fork(&run.observers);
		hi_inspect_close(in);
	}
	if (observer->ops->before_stop) {
		struct hi_inspection in = {.options = &options, .run = &run};

		observer->ops->before_stop(observer, &in, &untried);
		hi_stop_observers_after(&run.observers);
		hi_stop_observers_end_census(&run.observers);
		free(in.stop.allocator_text);
	}
	hi_stop_observers_end_census(&run.observers); /* twice is as once */
	HI_ASSERT(!hi_stop_observers_serve(&run.observers, 0, UINT32_MAX, -1, NULL));
	HI_ASSERT_EQ(0, hi_process_status(fx->pid, "TracerPid"));
	hi_stop_observers_close(&run.observers);
	hi_census_cache_free(&cache);
}

HI_TEST_ROOT(stop_observers, each_keeps_the_contract)
{
	for (size_t i = 0; i < sizeof(observers) / sizeof(*observers); i++) {
		struct hi_fixture *fx = hi_fixture_start("lives", NULL);
		struct hi_stop_observer *observer;
		struct hi_error err = {};
		char answer[64];

		hi_fixture_read_until(fx, "ready", NULL, NULL);
		options = (struct hi_options){.target.pid = fx->pid};
		observer = observers[i].open(&err);
		HI_ASSERT_MSG(observer, "%s: %s", observers[i].name, err.text);
		HI_ASSERT_STREQ(observers[i].name, observer->ops->name);
		HI_ASSERT(observer->ops->close);
		observe(fx, observer);
		/* The target goes on, and ends as ever. */
		hi_fixture_tell(fx, "new a 200");
		HI_ASSERT(hi_fixture_line(fx, answer, sizeof(answer)));
		HI_ASSERT_EQ(0, hi_fixture_end(fx));
	}
}
