/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Note [A call that finishes by itself]
 *
 * If the tracer died when only the registers of a thread were changed, the thread would
 * crash. So before anything is changed the way back is written on its stack: a chain of
 * signal frames, each made as the kernel makes one for a handler. A call returns into the
 * first one, `ret` leads to the sequence that calls rt_sigreturn, that makes the next
 * call, and the last frame restores the thread. All signals are blocked in between, and
 * the last frame restores the mask:
 *
 *	thread:  clone ─> frame "wait": wait4(child) ─> frame "origin": as it was
 *	child:            frame "child": clone(snapshot) ─> frame "exit": exit_group
 *	snapshot:                                         frame "exit": exit_group
 *
 * Once the registers are set, all of this completes without the tracer, at whatever
 * instant it dies: the thread goes on as before, no child lives on, and none is left as a
 * zombie. The pid for wait4 is written into its frame by clone itself
 * (CLONE_PARENT_SETTID): "any child" might take one of the target's own.
 *
 * While the tracer lives none of the frames is used. Each call is made with
 * PTRACE_SYSCALL and stops at its end, where the next registers are set; in the end those
 * that the thread really had. So even a call that only the kernel can continue
 * (restart_syscall) goes on: rt_sigreturn would forget it.
 *
 * The order makes this safe. Before: frames, then registers, then the mask. After: mask,
 * registers, then the bytes on the stack. At each step a death would leave a thread that
 * runs its chain to the end, or an unchanged one.
 *
 * Note [Why two children]
 *
 * The snapshot child must not be a child of the target: it would become a zombie that is
 * never reaped. So the first child makes the snapshot child, with its memory shared
 * (nothing is copied twice), and ends; the thread reaps it; the snapshot child is adopted
 * by the nearest reaper. If that were the target itself, it would see a child that it
 * never made: so the thread first calls prctl(PR_GET_CHILD_SUBREAPER), since no file
 * shows it.
 *
 * Note [Options]
 *
 * Children inherit the options of their parent. The thread gets TRACESYSGOOD and
 * TRACECLONE, so that both children are traced and stopped from birth. TRACESYSGOOD is
 * needed for more than to distinguish stops: when a tracer dies, the number of a
 * syscall-stop that was not consumed is sent as a signal; SIGTRAP would kill, SIGTRAP |
 * 0x80 is none. EXITKILL is given to the first child only when that is stopped, and the
 * snapshot child inherits it.
 */
#include "attach/fork.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "attach/fork_drive.h"
#include "attach/fork_internal.h"
#include "attach/maps.h"
#include "attach/target.h"
#include "attach/target_internal.h"
#include "base/alloc.h"
#include "base/cleanup.h"

#define ALL_SIGNALS (~0ull)
#define END_MS 2000
#define REAP_PAUSE_MS 10
#define THREAD_OPTIONS (PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE)
#define CHILD_OPTIONS (THREAD_OPTIONS | PTRACE_O_EXITKILL)

HI_DEFINE_GUARD(struct hi_fork_plan *, hi_fork_plan_free)

/* Tests end the process here, at each step; the program does not define it. */
__attribute__((weak)) void hi_fork_test_step(const char *step);

static void report_test_step(const char *name)
{
	if (hi_fork_test_step)
		hi_fork_test_step(name);
}

/* ---- before the stop ---- */

static enum hi_status find_gadgets(pid_t pid, struct hi_fork_plan *plan,
				   struct hi_error *err)
{
	char path[64], exe[4096];
	HI_GUARD(close) int root = -1;
	ssize_t n;
	struct hi_target_private priv = {.proc_pid = plan->proc_pid,
					 .mem_fd = -1,
					 .pagemap_fd = -1,
					 .maps_fd = -1};
	struct hi_target target = {.pid = pid,
				   .pidfd = -1,
				   .mappings = plan->mappings,
				   .n_mappings = plan->n_mappings,
				   .priv = &priv};

	snprintf(path, sizeof(path), "/proc/%d/root", (int)plan->proc_pid);
	root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)plan->proc_pid);
	n = readlink(path, exe, sizeof(exe) - 1);
	exe[n > 0 ? n : 0] = 0;
	priv.root_fd = root;
	target.exe = exe;
	target.other_mount_ns = hi_target_in_other_ns(pid, "mnt");
	return hi_gadgets_find(&target, &plan->gadgets, err);
}

enum hi_status hi_fork_prepare(pid_t pid, uint64_t writable, struct hi_fork_plan **ret,
			       struct hi_error *err)
{
	HI_GUARD(hi_fork_plan_free)
	struct hi_fork_plan *plan = hi_calloc(1, sizeof(*plan));
	enum hi_status status;

	if (!plan)
		return hi_fail_memory(err, "plan of the fork");
	plan->proc_pid = hi_target_live_thread(pid);
	if (!plan->proc_pid)
		return hi_fail(err, HI_GONE, 0, "process %d: it has exited", (int)pid);
	status = hi_fork_check_process(pid, writable, err);
	if (status == HI_OK)
		status = hi_fork_read_mappings(plan->proc_pid, &plan->mappings,
					       &plan->n_mappings, err);
	if (status == HI_OK)
		status = find_gadgets(pid, plan, err);
	if (status == HI_OK)
		*ret = hi_take(plan);
	return status;
}

void hi_fork_plan_free(struct hi_fork_plan *plan)
{
	if (!plan)
		return;
	hi_mappings_free(plan->mappings, plan->n_mappings);
	free(plan);
}

/* ---- the thread ---- */

struct fork_job {
	struct hi_tracees *all;
	const struct hi_fork_options *options;
	struct hi_tracee *tracee;
	struct hi_fork_origin origin;
	struct hi_fork_program program;
	bool changed; /* its registers are not its own */
	pid_t first;  /* child, in this process's pid namespace; 0: none */
	int first_pidfd;
	struct hi_fork_child snapshot;
};

static enum hi_status thread_gone(const struct fork_job *job, struct hi_error *err)
{
	if (errno != ESRCH)
		return hi_fail_errno(err, "thread %d: ptrace", (int)job->tracee->tid);
	return hi_fail(err, HI_GONE, 0, "process %d: it has been killed",
		       (int)job->all->pid);
}

static enum hi_status check_thread(const struct fork_job *job, struct hi_error *err)
{
	struct hi_filtered_call calls[HI_FORK_CALLS];
	bool filtered = false;
	enum hi_status status;

	status = hi_fork_check_thread(job->all->pid, job->tracee->tid, &filtered, err);
	if (status != HI_OK || !filtered)
		return status;
	hi_fork_program_calls(&job->program, calls);
	return hi_seccomp_check(job->tracee->tid, calls, HI_FORK_CALLS, err);
}

/* Saves what is there first. */
static enum hi_status write_program(struct fork_job *job, struct hi_error *err)
{
	struct hi_fork_program *program = &job->program;
	off_t at = (off_t)program->start;
	ssize_t size = (ssize_t)program->size, n;
	int memory = job->options->memory;

	if (pread(memory, program->saved, program->size, at) != size)
		return hi_fail(err, HI_UNSUPPORTED, 0,
			       "the stack of thread %d cannot be read",
			       (int)job->tracee->tid);
	n = pwrite(memory, program->bytes, program->size, at);
	if (n == size)
		return HI_OK;
	if (n > 0)
		(void)!pwrite(memory, program->saved, (size_t)n, at);
	return hi_fail(err, HI_UNSUPPORTED, 0,
		       "the stack of thread %d cannot be written to",
		       (int)job->tracee->tid);
}

static enum hi_status set_registers(struct fork_job *job, pid_t tid,
				    struct user_regs_struct *regs, struct hi_error *err)
{
	if (ptrace(PTRACE_SETREGS, tid, 0, regs) < 0)
		return thread_gone(job, err);
	return HI_OK;
}

static enum hi_status make_call(struct fork_job *job, struct user_regs_struct *regs,
				struct hi_call_outcome *ret, struct hi_error *err)
{
	pid_t tid = job->tracee->tid;
	uint64_t mask = ALL_SIGNALS;
	enum hi_status status = set_registers(job, tid, regs, err);

	if (status != HI_OK)
		return status;
	report_test_step("registers");
	if (!job->changed && ptrace(PTRACE_SETSIGMASK, tid, sizeof(mask), &mask) < 0)
		return thread_gone(job, err);
	job->changed = true;
	report_test_step("mask");
	return hi_call_drive(tid, job->options->deadline_ns, ret, err);
}

static enum hi_status ask_for_reaper(struct fork_job *job, struct hi_error *err)
{
	struct hi_call_outcome outcome;
	struct user_regs_struct regs;
	enum hi_status status;
	int answer = 0;

	hi_fork_call_prctl(&job->program, &job->origin.regs, &regs);
	status = make_call(job, &regs, &outcome, err);
	if (status != HI_OK)
		return status;
	report_test_step("prctl");
	if (outcome.result < 0 || pread(job->options->memory, &answer, sizeof(answer),
					(off_t)job->program.answer) != sizeof(answer))
		return hi_fail(err, HI_UNSUPPORTED, 0,
			       "cannot determine whether it is a child subreaper");
	if (answer)
		return hi_fail(
			err, HI_UNSUPPORTED, 0,
			"it is a child subreaper: the copy would become its child");
	return HI_OK;
}

static enum hi_status clone_first(struct fork_job *job, long *pid_ret,
				  struct hi_error *err)
{
	struct hi_call_outcome outcome;
	struct user_regs_struct regs;
	enum hi_status status;

	hi_fork_call_clone(&job->program, &job->origin.regs, &regs);
	status = make_call(job, &regs, &outcome, err);
	job->first = outcome.child;
	if (status != HI_OK)
		return status;
	report_test_step("clone");
	if (outcome.result < 0)
		return hi_fork_refused(-outcome.result, err);
	if (!job->first)
		return hi_fail(err, HI_OS, 0, "no ptrace event for the cloned child");
	job->first_pidfd = pidfd_open(job->first, 0); /* it is stopped at its birth */
	*pid_ret = outcome.result;
	return HI_OK;
}

/* ---- the children ---- */

/* Its first stop, before its first instruction. */
static enum hi_status await_birth(const struct fork_job *job, pid_t pid,
				  struct hi_error *err)
{
	int stop;

	return hi_call_await(pid, job->options->deadline_ns, &stop, err);
}

/* When memory runs out, the kernel kills this one first. */
static void offer_to_oom_killer(pid_t pid)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/oom_score_adj", (int)pid);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	(void)!write(fd, "1000", 4);
	close(fd);
}

static enum hi_status clone_snapshot_child(struct fork_job *job, struct hi_error *err)
{
	struct hi_call_outcome outcome = {};
	struct user_regs_struct regs;
	enum hi_status status = await_birth(job, job->first, err);

	if (status != HI_OK)
		return status;
	report_test_step("child");
	if (ptrace(PTRACE_SETOPTIONS, job->first, 0, CHILD_OPTIONS) < 0)
		return thread_gone(job, err);
	hi_fork_call_snapshot_child(&job->program, &job->origin.regs, &regs);
	status = set_registers(job, job->first, &regs, err);
	report_test_step("child's registers");
	if (status == HI_OK)
		status = hi_call_drive(job->first, job->options->deadline_ns, &outcome,
				       err);
	job->snapshot.pid = outcome.child;
	if (status != HI_OK)
		return status;
	report_test_step("snapshot child");
	return outcome.result < 0 ? hi_fork_refused(-outcome.result, err) : HI_OK;
}

static enum hi_status settle_snapshot_child(struct fork_job *job, struct hi_error *err)
{
	enum hi_status status;

	if (!job->snapshot.pid)
		return hi_fail(err, HI_OS, 0, "no ptrace event for the cloned child");
	status = await_birth(job, job->snapshot.pid, err);
	if (status != HI_OK)
		return status;
	job->snapshot.pidfd = pidfd_open(job->snapshot.pid, 0);
	if (job->snapshot.pidfd < 0)
		return hi_fail_errno(err, "pidfd_open of the copy");
	offer_to_oom_killer(job->snapshot.pid);
	report_test_step("snapshot child stands");
	return HI_OK;
}

/* The handler of SIGCHLD may have been faster (ECHILD). */
static void reap_child(pid_t pid, int pidfd)
{
	struct pollfd end = {.fd = pidfd, .events = POLLIN};
	uint64_t end_ns = hi_clock_ns() + END_MS * 1000000ull;
	siginfo_t info = {};

	while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | __WALL) == 0 &&
	       info.si_pid != pid && hi_clock_ns() < end_ns)
		(void)poll(&end, 1, REAP_PAUSE_MS);
}

/*
 * Without a pidfd, ptrace succeeds only if the pid is still that of the stopped child; if
 * it does not, EXITKILL ends it.
 */
static void kill_and_reap(pid_t pid, int pidfd)
{
	if (pidfd >= 0)
		(void)pidfd_send_signal(pidfd, SIGKILL, NULL, 0);
	else
		(void)ptrace(PTRACE_CONT, pid, 0, SIGKILL);
	reap_child(pid, pidfd);
}

static void end_first(struct fork_job *job)
{
	if (job->first)
		kill_and_reap(job->first, job->first_pidfd);
	if (job->first_pidfd >= 0)
		close(job->first_pidfd);
	job->first = 0;
	job->first_pidfd = -1;
}

/* The first child is reaped twice: here by its tracer, then by the target, its parent. */
static enum hi_status reap_first(struct fork_job *job, long pid, struct hi_error *err)
{
	struct hi_call_outcome outcome;
	struct user_regs_struct regs;
	enum hi_status status;

	end_first(job);
	report_test_step("child's end");
	hi_fork_call_wait(&job->program, &job->origin.regs, (pid_t)pid, &regs);
	status = make_call(job, &regs, &outcome, err);
	report_test_step("wait");
	return status;
}

static enum hi_status make_children(struct fork_job *job, struct hi_error *err)
{
	struct hi_error second;
	enum hi_status status, reaped;
	long pid = 0;

	status = clone_first(job, &pid, err);
	if (status != HI_OK)
		return status;
	status = clone_snapshot_child(job, err);
	if (status == HI_OK)
		status = settle_snapshot_child(job, err);
	if (status == HI_GONE) /* a child; the thread is checked below */
		status = hi_fail(err, HI_UNSUPPORTED, 0, "the copy was killed");
	reaped = reap_first(job, pid, &second);
	if (reaped == HI_OK)
		return status;
	if (err)
		*err = second;
	return reaped;
}

/* ---- back ---- */

/* It must stand in an event-stop again: see Note [Signals on their way]. */
static enum hi_status bring_to_event_stop(struct fork_job *job, struct hi_error *err)
{
	pid_t tid = job->tracee->tid;

	hi_tracee_interrupt(job->tracee);
	if (ptrace(PTRACE_CONT, tid, 0, 0) < 0)
		return thread_gone(job, err);
	return hi_tracee_await(job->all, job->tracee, err);
}

static enum hi_status restore_thread(struct fork_job *job, struct hi_error *err)
{
	struct hi_fork_program *program = &job->program;
	pid_t tid = job->tracee->tid;

	if (job->changed) {
		if (ptrace(PTRACE_SETSIGMASK, tid, sizeof(job->origin.mask),
			   &job->origin.mask) < 0 ||
		    ptrace(PTRACE_SETREGS, tid, 0, &job->origin.regs) < 0)
			return thread_gone(job, err);
	}
	report_test_step("restored registers");
	if (pwrite(job->options->memory, program->saved, program->size,
		   (off_t)program->start) != (ssize_t)program->size ||
	    ptrace(PTRACE_SETOPTIONS, tid, 0, 0) < 0)
		return thread_gone(job, err);
	report_test_step("restored stack");
	return job->changed ? bring_to_event_stop(job, err) : HI_OK;
}

static enum hi_status prepare_thread(struct fork_job *job,
				     const struct hi_fork_plan *plan,
				     struct hi_error *err)
{
	const struct hi_gadget *call, *restorer;
	enum hi_status status;

	status = hi_gadgets_pick(&plan->gadgets, job->options->memory, job->all->pagemap,
				 &call, &restorer, err);
	if (status == HI_OK)
		status = hi_fork_choose_thread(job->all, plan, job->options->memory,
					       &job->tracee, &job->origin, err);
	if (status != HI_OK)
		return status;
	hi_fork_program_build(&job->program, &job->origin, call, restorer);
	status = check_thread(job, err);
	return status == HI_OK ? write_program(job, err) : status;
}

/* Changes that cannot be undone here undo themselves when the tracer ends. */
static enum hi_status run_fork_calls(struct fork_job *job, struct hi_error *err)
{
	enum hi_status status = HI_OK, restored;
	struct hi_error second;

	report_test_step("frames");
	if (ptrace(PTRACE_SETOPTIONS, job->tracee->tid, 0, THREAD_OPTIONS) < 0)
		status = thread_gone(job, err);
	if (status == HI_OK)
		status = ask_for_reaper(job, err);
	if (status == HI_OK)
		status = make_children(job, err);
	if (status == HI_GONE || status == HI_TIMEOUT) {
		job->tracee->state = HI_TRACEE_RUNNING;
		return status;
	}
	restored = restore_thread(job, &second);
	if (restored == HI_OK)
		return status;
	if (err)
		*err = second;
	return restored;
}

enum hi_status hi_fork_make(struct hi_tracees *all, const struct hi_fork_plan *plan,
			    const struct hi_fork_options *options,
			    struct hi_fork_child *ret, struct hi_error *err)
{
	HI_GUARD(free) struct fork_job *job = hi_calloc(1, sizeof(*job));
	enum hi_status status;

	if (!job)
		return hi_fail(err, HI_UNSUPPORTED, 0, "no memory for the signal frames");
	job->all = all;
	job->options = options;
	job->snapshot.pidfd = job->first_pidfd = -1;
	status = prepare_thread(job, plan, err);
	if (status == HI_OK)
		status = run_fork_calls(job, err);
	if (status == HI_OK) {
		*ret = job->snapshot;
		ret->tid = job->tracee->tid;
		return HI_OK;
	}
	end_first(job);
	hi_fork_end(&job->snapshot);
	return status;
}

/*
 * When it is continued it exits by itself with status 0. Its new parent may take a death
 * by signal for a crash.
 */
static void let_exit(const struct hi_fork_child *child)
{
	struct pollfd end = {.fd = child->pidfd, .events = POLLIN};

	if (ptrace(PTRACE_CONT, child->pid, 0, 0) < 0)
		return;
	while (poll(&end, 1, END_MS) < 0 && errno == EINTR)
		;
}

/* Its pid may have been reused if it was killed and reaped: hence the pidfd. */
void hi_fork_end(struct hi_fork_child *child)
{
	if (child->pidfd >= 0) {
		let_exit(child);
		kill_and_reap(child->pid, child->pidfd);
		close(child->pidfd);
	} else if (child->pid) {
		kill_and_reap(child->pid, -1);
	}
	*child = (struct hi_fork_child){.pidfd = -1};
}
