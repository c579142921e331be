/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads that are seized and run on, and those that they make.
 *
 * Note [Born traced]
 *
 * PTRACE_O_TRACECLONE makes a new thread traced before its first instruction, so that
 * none can pass the probe unseen. The kernel applies it to every clone() with an exit
 * signal other than SIGCHLD (kernel/fork.c, kernel_clone), also of a new process: that
 * one is let go and notices nothing. fork(), vfork() and posix_spawn() are other events,
 * which are not requested.
 *
 * One thread can slip through: the kernel checks whether the maker is traced before it
 * makes the thread (kernel/fork.c: ptrace_event_enabled, then copy_process), and the
 * maker may be seized in between, for long where a machine is loaded. Such a thread is in
 * no list yet. It would take a trigger's signal itself, so that a probe leaves it alone
 * (traced_only) and stops the next one that comes.
 */
#include "attach/tracees.h"

#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

#define BIRTH_PAUSE_NS 20000u
#define BIRTH_WAIT_NS 50000000u
#define SEIZE_ROUNDS 1000

static size_t count_running(const struct hi_tracees *all)
{
	size_t n = 0;

	for (size_t i = 0; i < all->count; i++)
		n += all->items[i].state == HI_TRACEE_RUNNING;
	return n;
}

/* The dead that are not reaped yet count on both sides. */
static bool has_all_threads(const struct hi_tracees *all)
{
	struct stat st;

	return fstat(dirfd(all->dir), &st) < 0 ||
	       st.st_nlink <= count_running(all) + all->leader_exited + 2;
}

static enum hi_status seize_seen(struct hi_tracees *all, size_t *n_new,
				 struct hi_error *err)
{
	enum hi_status status = hi_tracees_list(all, err);

	*n_new = 0;
	for (size_t i = 0; status == HI_OK && i < all->count; i++) {
		if (all->items[i].state != HI_TRACEE_SEEN)
			continue;
		++*n_new;
		status = hi_tracee_seize(all, &all->items[i], err);
	}
	return status;
}

enum hi_status hi_tracees_seize(struct hi_tracees *all, unsigned long options,
				struct hi_error *err)
{
	enum hi_status status;
	size_t n_new;

	all->options = options;
	/* A thread that makes threads faster than they are counted is not waited for:
	 * once it is seized itself, they are traced from birth. */
	for (int i = 0; i < SEIZE_ROUNDS; i++) {
		status = seize_seen(all, &n_new, err);
		if (status != HI_OK)
			return status;
		if (!n_new && has_all_threads(all))
			break;
		if (!n_new)
			hi_clock_pause_ns(BIRTH_PAUSE_NS); /* lets exiting threads exit */
	}
	if (!count_running(all))
		return hi_fail(err, HI_GONE, 0, "process %d: it has exited",
			       (int)all->pid);
	return HI_OK;
}

/* No signal is sent; EPERM is an answer too (security modules). */
static bool is_thread_of(pid_t pid, pid_t tid)
{
	return syscall(SYS_tgkill, pid, tid, 0) == 0 || errno != ESRCH;
}

struct hi_tracee *hi_tracees_adopt(struct hi_tracees *all, pid_t tid)
{
	struct hi_tracee *tracee = hi_tracees_find(all, tid);
	struct hi_error ignored;

	if (tracee || !is_thread_of(all->pid, tid))
		return tracee;
	if (hi_tracees_add(all, tid, &ignored) != HI_OK)
		return NULL;
	tracee = hi_tracees_find(all, tid);
	if (tracee && tracee->state == HI_TRACEE_SEEN)
		tracee->state = HI_TRACEE_RUNNING;
	return tracee;
}

/* A process that was born traced is about to stop, or was let go already. */
static void let_go(pid_t pid)
{
	uint64_t until_ns = hi_clock_ns() + BIRTH_WAIT_NS;
	siginfo_t info = {};

	while (waitid(P_PID, (id_t)pid, &info,
		      WSTOPPED | WEXITED | WNOHANG | WNOWAIT | __WALL) == 0) {
		if (info.si_pid == pid) {
			(void)ptrace(PTRACE_DETACH, pid, 0, 0);
			hi_tracee_reap(pid);
			return;
		}
		if (hi_clock_ns() > until_ns)
			return;
		hi_clock_pause_ns(BIRTH_PAUSE_NS);
	}
}

void hi_tracees_forget_old(struct hi_tracees *all)
{
	for (size_t i = 0; i < all->count; i++)
		all->items[i].state = HI_TRACEE_DEAD;
	hi_tracees_compact(all);
	all->leader_exited = false;
	(void)hi_tracees_adopt(all, all->pid);
}

void hi_tracees_adopt_cloned(struct hi_tracees *all, pid_t tid)
{
	unsigned long born;

	if (ptrace(PTRACE_GETEVENTMSG, tid, 0, &born) == 0 && born &&
	    !hi_tracees_adopt(all, (pid_t)born))
		let_go((pid_t)born);
}
