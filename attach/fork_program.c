/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From high addresses to low: the state of the floating point unit, the answer of
 * prctl, the children's frames, the frame back, the frame of wait4. The stack
 * pointer of a call is below all that is still needed, so that a handler that runs
 * in between (when the tracer has died before it could block signals) overwrites
 * nothing.
 */
#include "attach/fork_program.h"

#include <linux/audit.h>
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "attach/restart_syscalls.h"

#define ALL_SIGNALS (~0ull)
#define TRAP_FLAG 0x100u
#define FRAME_STEP 320u /* a frame, and the next one is on 16 bytes again */
#define N_FRAMES 4
#define NO_PROCESS 0x7fffffff /* above every possible pid */

/*
 * CLONE_FILES: else a socket that the target closes would stay open to its peer
 * while the child lives. Not CLONE_FS: it would take away set-user-id from a program
 * that the target starts meanwhile. The exit signal is 0. The kernel writes the pid
 * into the frame of wait4.
 */
#define CLONE_FLAGS (CLONE_FILES | CLONE_PARENT_SETTID)
/* The snapshot child takes the child's memory over: nothing is copied twice. */
#define SNAPSHOT_CHILD_FLAGS (CLONE_VM | CLONE_FILES)

size_t hi_fork_program_room(const struct hi_fork_origin *origin)
{
	return origin->xstate.size + HI_XSTATE_ALIGN + 16 + N_FRAMES * FRAME_STEP + 16;
}

static void set_call(const struct hi_fork_program *program,
		     const struct user_regs_struct *base, uint64_t stack, uint64_t number,
		     struct user_regs_struct *ret)
{
	*ret = *base;
	ret->rip = program->call->addr;
	ret->rsp = stack;
	ret->rax = number;
	ret->orig_rax = (unsigned long long)-1;
	ret->rdi = ret->rsi = ret->rdx = ret->r10 = ret->r8 = ret->r9 = 0;
	ret->eflags &= ~(unsigned long long)TRAP_FLAG;
}

void hi_fork_call_prctl(const struct hi_fork_program *program,
			const struct user_regs_struct *base, struct user_regs_struct *ret)
{
	set_call(program, base, program->origin, SYS_prctl, ret);
	ret->rdi = PR_GET_CHILD_SUBREAPER;
	ret->rsi = program->answer;
}

void hi_fork_call_clone(const struct hi_fork_program *program,
			const struct user_regs_struct *base, struct user_regs_struct *ret)
{
	set_call(program, base, program->wait, SYS_clone, ret);
	ret->rdi = CLONE_FLAGS;
	ret->rsi = program->child;
	ret->rdx = program->wait + HI_SIGNAL_FRAME_RDI;
}

static void set_wait_call(const struct hi_fork_program *program,
			  const struct user_regs_struct *base, pid_t pid,
			  unsigned options, struct user_regs_struct *ret)
{
	set_call(program, base, program->origin, SYS_wait4, ret);
	ret->rdi = (unsigned long long)pid;
	ret->rdx = options;
}

void hi_fork_call_wait(const struct hi_fork_program *program,
		       const struct user_regs_struct *base, pid_t pid,
		       struct user_regs_struct *ret)
{
	set_wait_call(program, base, pid, __WCLONE | WNOHANG, ret);
}

void hi_fork_call_snapshot_child(const struct hi_fork_program *program,
				 const struct user_regs_struct *base,
				 struct user_regs_struct *ret)
{
	set_call(program, base, program->exit, SYS_clone, ret);
	ret->rdi = SNAPSHOT_CHILD_FLAGS;
	ret->rsi = program->exit;
}

static void set_exit_call(const struct hi_fork_program *program,
			  const struct user_regs_struct *base,
			  struct user_regs_struct *ret)
{
	set_call(program, base, program->exit, SYS_exit_group, ret);
}

static void put_signal_frame(struct hi_fork_program *program, uint64_t at,
			     const struct user_regs_struct *regs, uint64_t mask,
			     uint64_t fpstate)
{
	hi_signal_frame_write(program->bytes + (at - program->start), regs, mask, fpstate,
			      program->restorer->addr);
}

static void put_signal_frames(struct hi_fork_program *program,
			      const struct hi_fork_origin *origin, uint64_t fpstate)
{
	struct user_regs_struct regs = origin->regs;

	hi_restart_renew(&regs);
	put_signal_frame(program, program->origin, &regs, origin->mask, fpstate);
	set_wait_call(program, &origin->regs, NO_PROCESS, __WCLONE, &regs);
	put_signal_frame(program, program->wait, &regs, ALL_SIGNALS, 0);
	hi_fork_call_snapshot_child(program, &origin->regs, &regs);
	put_signal_frame(program, program->child, &regs, ALL_SIGNALS, 0);
	set_exit_call(program, &origin->regs, &regs);
	put_signal_frame(program, program->exit, &regs, ALL_SIGNALS, 0);
}

void hi_fork_program_build(struct hi_fork_program *program,
			   const struct hi_fork_origin *origin,
			   const struct hi_gadget *call, const struct hi_gadget *restorer)
{
	uint64_t top = origin->regs.rsp - HI_RED_ZONE;
	uint64_t fpstate = (top - origin->xstate.size) & ~(uint64_t)(HI_XSTATE_ALIGN - 1);

	program->call = call;
	program->restorer = restorer;
	program->answer = fpstate - 16;
	program->exit = program->answer - FRAME_STEP;
	program->child = program->exit - FRAME_STEP;
	program->origin = program->child - FRAME_STEP;
	program->wait = program->start = program->origin - FRAME_STEP;
	program->size = (size_t)(fpstate + origin->xstate.size - program->start);
	memset(program->bytes, 0, program->size);
	memcpy(program->bytes + (fpstate - program->start), origin->xstate.bytes,
	       origin->xstate.size);
	put_signal_frames(program, origin, fpstate);
}

static void describe_filtered_call(struct hi_filtered_call *ret, const char *name,
				   const struct user_regs_struct *regs)
{
	*ret = (struct hi_filtered_call){
		.name = name,
		.data = {.nr = (int)regs->rax,
			 .arch = AUDIT_ARCH_X86_64,
			 .instruction_pointer = regs->rip + 2,
			 .args = {regs->rdi, regs->rsi, regs->rdx, regs->r10, regs->r8,
				  regs->r9}}};
}

void hi_fork_program_calls(const struct hi_fork_program *program,
			   struct hi_filtered_call ret[HI_FORK_CALLS])
{
	const struct user_regs_struct zero = {};
	struct user_regs_struct regs;

	hi_fork_call_prctl(program, &zero, &regs);
	describe_filtered_call(&ret[0], "prctl", &regs);
	hi_fork_call_clone(program, &zero, &regs);
	describe_filtered_call(&ret[1], "clone", &regs);
	hi_fork_call_snapshot_child(program, &zero, &regs);
	describe_filtered_call(&ret[2], "clone", &regs);
	hi_fork_call_wait(program, &zero, NO_PROCESS, &regs);
	describe_filtered_call(&ret[3], "wait4", &regs);
	set_wait_call(program, &zero, NO_PROCESS, __WCLONE, &regs);
	describe_filtered_call(&ret[6], "wait4", &regs);
	set_exit_call(program, &zero, &regs);
	describe_filtered_call(&ret[4], "exit_group", &regs);
	regs.rax = SYS_rt_sigreturn;
	regs.rip = program->restorer->addr + program->restorer->size - 2;
	describe_filtered_call(&ret[5], "rt_sigreturn", &regs);
}
