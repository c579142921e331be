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
	static int keep[3 + HI_TRIGGER_MAX_FDS];
	size_t n = 0;
	struct pollfd polls[3] = {
		{.fd = duty->timer, .events = POLLIN},
		{.fd = duty->tracer, .events = POLLIN},
		{.fd = duty->inspector, .events = POLLIN},
	};

	for (; n < 3; n++)
		keep[n] = polls[n].fd;
	if (duty->trigger)
		n += duty->trigger->ops->fds(duty->trigger, keep + n, HI_TRIGGER_MAX_FDS);
	hi_child_settle("hi-watchdog", keep, n);
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
		while (poll(&polls[1], 1, -1) < 0 && errno == EINTR)
			;
		_exit(0);
	}
}
