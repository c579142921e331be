/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Signal frames as the kernel lays them on a stack: what rt_sigreturn takes registers,
 * signal mask and floating-point state from. A chain of them is a small program of system
 * calls that runs by itself: each call returns into the frame that its stack pointer
 * points at. See Note [A call that finishes by itself] in fork.c.
 *
 * Layout: struct rt_sigframe, arch/x86/include/asm/sigframe.h; struct ucontext and struct
 * sigcontext_64, arch/x86/include/uapi/asm/{ucontext,sigcontext}.h. The siginfo after it
 * is not written: rt_sigreturn does not read it.
 */
#ifndef HI_ATTACH_SIGNAL_FRAME_H
#define HI_ATTACH_SIGNAL_FRAME_H

#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "base/error.h"

/* +0 return address, +8 uc_flags, uc_link, uc_stack (24), sigcontext (256), mask. */
#define HI_SIGNAL_FRAME_SIZE 312u
/* From the frame's beginning to the saved rdi. */
#define HI_SIGNAL_FRAME_RDI 112u

/* XSAVE areas must lie on 64 bytes. */
#define HI_XSTATE_ALIGN 64u
#define HI_XSTATE_MAX 16384u

/* Floating-point and vector state in the form that a signal frame points at. */
struct hi_xstate {
	size_t size; /* with the second magic number */
	unsigned char bytes[HI_XSTATE_MAX];
};

/*
 * Writes one frame of HI_SIGNAL_FRAME_SIZE bytes. After the return: these
 * registers (orig_rax is -1 then; the segment bases are left alone), this mask,
 * and the state at the target address fpstate; 0 there resets it. restorer: the
 * code that calls rt_sigreturn.
 */
void hi_signal_frame_write(void *frame, const struct user_regs_struct *regs,
			   uint64_t mask, uint64_t fpstate, uint64_t restorer);

/* The state of a stopped thread. HI_UNSUPPORTED: it has a form that is not known. */
enum hi_status hi_xstate_read(pid_t tid, struct hi_xstate *ret, struct hi_error *err);
/*
 * Turns what PTRACE_GETREGSET(NT_X86_XSTATE) gave, bytes[0, size), into the form of
 * a frame: leaves out what the thread has no room for in the kernel (AMX tiles
 * unless they are in use), adds the software-reserved words and magic numbers.
 */
enum hi_status hi_xstate_finish(struct hi_xstate *xstate, struct hi_error *err);

#endif
