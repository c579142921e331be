/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/fork_drive.h"

#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "attach/tracees.h"

#define EVENT_OF(stop) ((stop) >> 8)
#define SYSCALL_STOP (SIGTRAP | 0x80)
/* If a process sends SIGSTOP and SIGCONT in turn, clone() never ends. */
#define MAX_RESTARTS 20
#define MAX_STOPS (MAX_RESTARTS * 10)

static enum hi_status fail_killed_thread(pid_t tid, struct hi_error *err)
{
	return hi_fail(err, HI_GONE, 0, "thread %d: it has been killed", (int)tid);
}

enum hi_status hi_call_await(pid_t tid, uint64_t deadline_ns, int *stop_ret,
			     struct hi_error *err)
{
	const int what = WSTOPPED | WEXITED | WNOWAIT | __WALL;

	for (;;) {
		bool late = hi_clock_ns() > deadline_ns;
		siginfo_t info = {};

		if (waitid(P_PID, (id_t)tid, &info, what | (late ? WNOHANG : 0)) == 0) {
			if (info.si_pid == tid && (info.si_code == CLD_TRAPPED ||
						   info.si_code == CLD_STOPPED)) {
				*stop_ret = info.si_status;
				return HI_OK;
			}
			if (info.si_pid)
				return fail_killed_thread(tid, err);
		} else if (errno == ECHILD || hi_thread_state(tid, tid) == 'Z') {
			return fail_killed_thread(tid, err);
		}
		if (late)
			return hi_fail(
				err, HI_TIMEOUT, 0,
				"thread %d: clone did not return within the pause budget",
				(int)tid);
	}
}

/* Raised by the instruction itself, so that the call has not been made. */
static bool is_fault(int sig)
{
	return sig == SIGSEGV || sig == SIGBUS || sig == SIGILL || sig == SIGFPE ||
	       sig == SIGTRAP || sig == SIGSYS;
}

static bool wants_restart(long result)
{
	return result <= -512 && result >= -516;
}

/* Has the call returned? */
static bool is_done(pid_t tid, int stop, int *restarts, struct hi_call_outcome *ret)
{
	struct __ptrace_syscall_info info = {};
	unsigned long message;

	if (EVENT_OF(stop) == PTRACE_EVENT_CLONE) {
		if (ptrace(PTRACE_GETEVENTMSG, tid, 0, &message) == 0)
			ret->child = (pid_t)message;
		return false;
	}
	if (stop != SYSCALL_STOP ||
	    ptrace(PTRACE_GET_SYSCALL_INFO, tid, sizeof(info), &info) <= 0 ||
	    info.op != PTRACE_SYSCALL_INFO_EXIT)
		return false;
	ret->result = (long)info.exit.rval;
	return !wants_restart(ret->result) || ++*restarts > MAX_RESTARTS;
}

enum hi_status hi_call_drive(pid_t tid, uint64_t deadline_ns, struct hi_call_outcome *ret,
			     struct hi_error *err)
{
	int restarts = 0;
	long sig = 0;

	*ret = (struct hi_call_outcome){};
	for (int i = 0; i < MAX_STOPS; i++) {
		enum hi_status status;
		int stop;

		if (ptrace(PTRACE_SYSCALL, tid, 0, sig) < 0 && errno != ESRCH)
			return hi_fail_errno(err, "thread %d: PTRACE_SYSCALL", (int)tid);
		status = hi_call_await(tid, deadline_ns, &stop, err);
		if (status != HI_OK)
			return status;
		if (is_done(tid, stop, &restarts, ret))
			return HI_OK;
		sig = EVENT_OF(stop) || stop == SYSCALL_STOP ? 0 : stop;
		if (is_fault((int)sig))
			return hi_fail(err, HI_OS, 0,
				       "thread %d: clone raised signal %ld", (int)tid,
				       sig);
	}
	return hi_fail(err, HI_TIMEOUT, 0,
		       "thread %d: another process stops and continues it repeatedly",
		       (int)tid);
}
