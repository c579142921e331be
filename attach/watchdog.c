/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/watchdog.h"

#include <poll.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "attach/child.h"
#include "attach/thread_stat.h"

#define GRACE_MS 500
#define CONTINUE_MS 50
#define END_MS 20000

static bool is_armed(int timer)
{
	struct itimerspec left = {};

	return timerfd_gettime(timer, &left) == 0 &&
	       (left.it_value.tv_sec || left.it_value.tv_nsec);
}

/*
 * A tracer that was stopped (SIGSTOP) while it stopped threads is continued for a short
 * time: it finds that it is late, handles every thread that it has woken, so that no call
 * returns EINTR, lets all go and ends. See Note [Giving up] in tracees.c.
 */
static void continue_tracer(const struct hi_watchdog_request *request,
			    struct pollfd polls[2])
{
	if (hi_thread_state(request->tracer_pid, request->tracer_pid) != 'T')
		return;
	(void)pidfd_send_signal(request->tracer, SIGCONT, NULL, 0);
	(void)poll(&polls[1], 1, CONTINUE_MS);
	if (is_armed(request->timer)) /* armed anew: no thread is stopped any more */
		(void)poll(polls, 2, -1);
}

_Noreturn void hi_watchdog_run(const struct hi_watchdog_request *request)
{
	static int keep[3 + HI_TRIGGER_MAX_FDS];
	size_t n = 0;
	struct pollfd polls[3] = {
		{.fd = request->timer, .events = POLLIN},
		{.fd = request->tracer, .events = POLLIN},
		{.fd = request->inspector, .events = POLLIN},
	};

	for (; n < 3; n++)
		keep[n] = polls[n].fd;
	if (request->trigger)
		n += request->trigger->ops->fds(request->trigger, keep + n,
						HI_TRIGGER_MAX_FDS);
	hi_child_settle("hi-watchdog", keep, n);
	if (request->priority)
		hi_child_set_priority(request->priority);
	while (poll(polls, 3, -1) <= 0)
		;
	/* Without an inspector the tracer ends by itself: amid a stop when the budget is
	 * over at the latest. */
	if (!polls[0].revents && !polls[1].revents)
		(void)poll(polls, 2, is_armed(request->timer) ? -1 : GRACE_MS);
	if (polls[1].revents)
		_exit(0);
	if (polls[0].revents & POLLIN)
		atomic_store(request->fired, 1);
	continue_tracer(request, polls);
	(void)pidfd_send_signal(request->tracer, SIGKILL, NULL, 0);
	(void)poll(&polls[1], 1, END_MS);
	_exit(0);
}
