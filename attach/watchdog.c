/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/watchdog.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "attach/child.h"

_Noreturn void hi_watchdog_run(const struct hi_watchdog_duty *duty)
{
	const int keep[3] = {duty->timer, duty->tracer, duty->inspector};
	struct pollfd polls[3] = {
		{.fd = duty->timer, .events = POLLIN},
		{.fd = duty->tracer, .events = POLLIN},
		{.fd = duty->inspector, .events = POLLIN},
	};

	hi_child_settle("hi-watchdog", keep, 3);
	if (duty->priority)
		hi_child_set_priority(duty->priority);
	for (;;) {
		if (poll(polls, 3, -1) < 0 && errno == EINTR)
			continue;
		if (polls[1].revents)
			_exit(0);
		if (polls[0].revents & POLLIN)
			atomic_store(duty->fired, 1);
		(void)pidfd_send_signal(duty->tracer, SIGKILL, NULL, 0);
		_exit(0);
	}
}
