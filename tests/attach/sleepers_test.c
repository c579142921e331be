/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stops at shorter intervals than a target's time-outs: they run out all the same, and
 * no call returns an error. The fixture tells of each time-out itself.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>

#include "attach/image.h"
#include "attach/restarted_sleeps.h"
#include "attach/stop.h"
#include "tests/harness.h"
#include "tests/support/interrupted.h"
#include "tests/support/stopping.h"

enum { PERIOD_MS = 100, FIRES = 3, MAX_STOPS = 300 };

static bool has_line(const struct hi_fixture *fx, int ms)
{
	struct pollfd fd = {.fd = fx->out, .events = POLLIN};

	return poll(&fd, 1, ms) > 0;
}

static struct hi_target *open_target(pid_t pid)
{
	struct hi_target *target;
	struct hi_error err;

	HI_ASSERT_OK(hi_target_open(pid, &target, &err), &err);
	return target;
}

static struct hi_fixture *start_timer(const char *call, const char *where)
{
	struct hi_fixture *fx = hi_fixture_start("timer_calls", call, where, NULL);

	hi_test_expect_line(fx, "ready");
	return fx;
}

/* An image of now; the sleeper's registers are those of a thread in a call. */
static void take_image(pid_t pid, struct hi_sleepers *sleepers,
		       enum hi_snapshot_request wish, size_t n_threads)
{
	struct hi_stop_options options = {.snapshot = wish,
					  .max_pause_ns = HI_TEST_PATIENCE_NS,
					  .best_effort_priority = true,
					  .sleepers = sleepers};
	struct hi_target *target = open_target(pid);
	struct hi_image *image;
	struct hi_error err;

	HI_ASSERT_OK(hi_stop_and_copy(target, &options, &image, &err), &err);
	HI_ASSERT_EQ(n_threads, image->n_threads);
	for (size_t i = 0; i < n_threads; i++) {
		HI_ASSERT(image->threads[i].regs.rip);
		HI_ASSERT(image->threads[i].regs.rsp);
	}
	hi_image_destroy(image);
	hi_target_close(target);
}

/* Returns how many stops it took until the time-out had run out so often. */
static int stop_until_fired(struct hi_fixture *fx, enum hi_snapshot_request wish,
			    size_t n_threads)
{
	struct hi_sleepers *sleepers;
	struct hi_error err;
	int fired = 0, stops = 0;
	char line[64];

	HI_ASSERT_OK(hi_sleepers_create(&sleepers, &err), &err);
	for (; fired < FIRES && stops < MAX_STOPS; stops++) {
		take_image(fx->pid, sleepers, wish, n_threads);
		while (fired < FIRES && has_line(fx, PERIOD_MS)) {
			HI_ASSERT(hi_fixture_line(fx, line, sizeof(line)));
			HI_ASSERT_STREQ("fired", line);
			fired++;
		}
	}
	hi_sleepers_destroy(sleepers);
	return stops;
}

static void expect_fires(const char *call, const char *where,
			 enum hi_snapshot_request wish)
{
	struct hi_fixture *fx = start_timer(call, where);
	int stops = stop_until_fired(fx, wish, where ? 2 : 1);

	HI_ASSERT_MSG(stops < MAX_STOPS, "%s: it never fired in %d stops", call, stops);
	hi_test_expect_free(fx->pid, "RS");
}

HI_TEST_SCENARIO(attach_sleepers, epoll_wait_of_the_only_thread_under_copies)
{
	expect_fires("epoll_wait", NULL, HI_REQUEST_COPY);
}

HI_TEST_SCENARIO(attach_sleepers, epoll_wait_of_the_only_thread_under_forks)
{
	expect_fires("epoll_wait", NULL, HI_REQUEST_FORK);
}

#define FIRES_UNDER_STOPS(call)                                                          \
	HI_TEST_SCENARIO(attach_sleepers, call##_beside_another_under_copies)            \
	{                                                                                \
		expect_fires(#call, "beside", HI_REQUEST_COPY);                          \
	}                                                                                \
	HI_TEST_SCENARIO(attach_sleepers, call##_beside_another_under_forks)             \
	{                                                                                \
		expect_fires(#call, "beside", HI_REQUEST_FORK);                          \
	}
FIRES_UNDER_STOPS(epoll_wait)
FIRES_UNDER_STOPS(sigtimedwait)
FIRES_UNDER_STOPS(semtimedop)
FIRES_UNDER_STOPS(io_getevents)
FIRES_UNDER_STOPS(recv)
