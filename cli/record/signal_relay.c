/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/record/signal_relay.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

static void *relay_signal(void *arg)
{
	const struct hi_signal_relay *relay = arg;
	struct pollfd fds[2] = {{.fd = relay->from, .events = POLLIN},
				{.fd = relay->quit, .events = POLLIN}};

	while (poll(fds, 2, -1) < 0 && errno == EINTR)
		;
	if (fds[0].revents)
		(void)!eventfd_write(relay->fd, 1);
	return NULL;
}

/* errno stays. */
static void close_relay(struct hi_signal_relay *relay)
{
	int saved = errno;

	if (relay->fd > 0)
		close(relay->fd);
	if (relay->quit > 0)
		close(relay->quit);
	*relay = (struct hi_signal_relay){};
	errno = saved;
}

enum hi_status hi_signal_relay_begin(int from, struct hi_signal_relay *ret,
				     struct hi_error *err)
{
	*ret = (struct hi_signal_relay){.from = from,
					.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
					.owner = getpid(),
					.quit = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
	if (ret->fd > 0 && ret->quit > 0) {
		errno = pthread_create(&ret->thread, NULL, relay_signal, ret);
		if (!errno)
			return HI_OK;
	}
	close_relay(ret);
	return hi_fail_errno(err, "relay of signals");
}

void hi_signal_relay_end(struct hi_signal_relay *relay)
{
	if (relay->quit <= 0 || relay->owner != getpid())
		return;
	(void)!eventfd_write(relay->quit, 1);
	pthread_join(relay->thread, NULL);
	close_relay(relay);
}
