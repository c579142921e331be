/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Note [Time-outs that start anew]
 *
 * A call that would return EINTR is made to start anew (restart.c), and its time-out with
 * it. Stopped again and again at shorter intervals, an event loop that waits for its next
 * timer in epoll_wait() would wait for ever. So a series remembers the threads with a
 * restarted call; one that has been restarted twice, and has not run since, is not
 * interrupted a third time: it is left asleep.
 *
 * Nothing is lost by that. A thread that sleeps in the kernel changes no memory of the
 * process, and its registers are those of the last stop, for it has executed no
 * instruction since. Both have to be certain:
 *   - the thread is let go by PTRACE_SYSCALL and stops once more at the entry of the
 *     call that starts anew; let go from there it would stop at the end of it. When it
 *     sleeps and is not stopped there, it sleeps in this very call (tracees_settle.c);
 *   - the number of its context switches is then stored. It runs only between two of
 *     them: the same number, and asleep, means that it has not run since. The same is
 *     checked again when memory has been copied, or the child has been made: if it woke
 *     up meanwhile, the image is thrown away and taken anew.
 */
#include "attach/restarted_sleeps.h"

#include <sys/mman.h>

#include "attach/thread_stat.h"

#define SLOTS 16384 /* a power of two; what is not touched takes no memory */

struct hi_sleepers {
	struct hi_sleeper slots[SLOTS];
};

enum hi_status hi_sleepers_create(struct hi_sleepers **ret, struct hi_error *err)
{
	void *pages = mmap(NULL, sizeof(**ret), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (pages == MAP_FAILED)
		return hi_fail_memory(err, "the table of sleeping threads");
	*ret = pages;
	return HI_OK;
}

void hi_sleepers_destroy(struct hi_sleepers *sleepers)
{
	if (sleepers)
		(void)munmap(sleepers, sizeof(*sleepers));
}

struct hi_sleeper *hi_sleepers_slot(struct hi_sleepers *sleepers, pid_t tid)
{
	return &sleepers->slots[(uint32_t)tid % SLOTS];
}

bool hi_sleeper_is_asleep(const struct hi_sleeper *sleeper, pid_t pid)
{
	uint64_t switches;

	return hi_thread_is_asleep(pid, sleeper->tid, &switches) &&
	       switches == sleeper->switches;
}

unsigned hi_sleepers_restarts(struct hi_sleepers *sleepers, pid_t pid, pid_t tid)
{
	struct hi_sleeper *slot = sleepers ? hi_sleepers_slot(sleepers, tid) : NULL;

	if (!slot || slot->tid != tid)
		return 0;
	if (hi_sleeper_is_asleep(slot, pid))
		return slot->restarts;
	*slot = (struct hi_sleeper){};
	return 0;
}
