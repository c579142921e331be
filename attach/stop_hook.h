/* SPDX-License-Identifier: BSD-2-Clause */
/* Work of a caller while all threads of the target stand (stop_options.h). */
#ifndef HI_ATTACH_STOP_HOOK_H
#define HI_ATTACH_STOP_HOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Descriptors that all hooks of a stop may have. */
#define HI_STOP_HOOK_FDS 1024

struct hi_stop_moment {
	uint64_t deadline_ns; /* CLOCK_MONOTONIC: the hook has to return by then */
	/* Has a thread that was left asleep (sleepers.h) run since the stop? */
	bool (*is_torn)(const struct hi_stop_moment *moment);
	const void *state; /* of is_torn */
};

/*
 * Called inside the tracer process (a fork: it can change only memory that is shared)
 * when all threads stand, before anything is copied and before the target is made to
 * fork. A stop that is repeated calls it again. Its time is part of the pause, and the
 * watchdog ends the tracer if it takes too long; so it must not block, nor wait for
 * another process. It reports by shared memory: whatever it does, the stop goes on. It
 * runs once in a tracer process, and may close the descriptors that it was given.
 */
struct hi_stop_hook {
	void (*run)(void *arg, const struct hi_stop_moment *moment);
	/* Called in the inspector instead if the target is stopped at its end
	 * (exit_watch.h). NULL: nothing is to be done. */
	void (*at_exit)(void *arg);
	void *arg;
	/* Descriptors that it needs; all others are closed in the tracer. Borrowed. */
	const int *fds;
	size_t n_fds;
	const struct hi_stop_hook *next; /* of hi_stop_hook_add() */
};

/* Puts a hook before those of *hooks; nothing where it is one of them, since the same
 * options serve several stops. Borrowed until the last stop. */
static inline void hi_stop_hook_add(const struct hi_stop_hook **hooks,
				    struct hi_stop_hook *hook)
{
	for (const struct hi_stop_hook *h = *hooks; h; h = h->next)
		if (h == hook)
			return;
	hook->next = *hooks;
	*hooks = hook;
}

#endif
