/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Signal frames against the kernel: in a signal handler the kernel's own frame is
 * overwritten by one of ours, and what comes after the return is what that said.
 */
#include <cpuid.h>
#include <elf.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "attach/signal_frame.h"
#include "tests/harness.h"

/* ---- the layout: libc's view of what the kernel pushed is the oracle ---- */

HI_TEST(attach_signal_frame, has_the_layout_that_libc_knows)
{
	struct user_regs_struct regs = {.r8 = 8,
					.r9 = 9,
					.r10 = 10,
					.r11 = 11,
					.r12 = 12,
					.r13 = 13,
					.r14 = 14,
					.r15 = 15,
					.rdi = 16,
					.rsi = 17,
					.rbp = 18,
					.rbx = 19,
					.rdx = 20,
					.rax = 21,
					.rcx = 22,
					.rsp = 23,
					.rip = 24,
					.eflags = 25,
					.cs = 0x33,
					.ss = 0x2b};
	struct {
		uint64_t restorer;
		ucontext_t uc;
	} frame = {};
	const greg_t *g = frame.uc.uc_mcontext.gregs;
	uint64_t mask;

	hi_signal_frame_write(&frame, &regs, 0x1234567890abcdef, 0x7000, 0x4711);
	HI_ASSERT_EQ(0x4711, frame.restorer);
	for (int i = 0; i < 8; i++)
		HI_ASSERT_EQ(8 + i, g[REG_R8 + i]);
	HI_ASSERT_EQ(16, g[REG_RDI]);
	HI_ASSERT_EQ(17, g[REG_RSI]);
	HI_ASSERT_EQ(18, g[REG_RBP]);
	HI_ASSERT_EQ(19, g[REG_RBX]);
	HI_ASSERT_EQ(20, g[REG_RDX]);
	HI_ASSERT_EQ(21, g[REG_RAX]);
	HI_ASSERT_EQ(22, g[REG_RCX]);
	HI_ASSERT_EQ(23, g[REG_RSP]);
	HI_ASSERT_EQ(24, g[REG_RIP]);
	HI_ASSERT_EQ(25, g[REG_EFL]);
	HI_ASSERT_EQ(0x002b000000000033, g[REG_CSGSFS]); /* ss is the fourth half-word */
	HI_ASSERT_EQ(0x7000, (uintptr_t)frame.uc.uc_mcontext.fpregs);
	memcpy(&mask, &frame.uc.uc_sigmask, sizeof(mask));
	HI_ASSERT_EQ(0x1234567890abcdef, mask);
	HI_ASSERT_EQ((uintptr_t)&g[REG_RDI] - (uintptr_t)&frame, HI_SIGNAL_FRAME_RDI);
	HI_ASSERT_EQ(0, frame.uc.uc_stack.ss_size);
	HI_ASSERT_EQ(0, frame.uc.uc_stack.ss_flags);
}

/* ---- the state of the vector unit: the kernel's own frame is the oracle ---- */

static unsigned char kernels[HI_XSTATE_MAX];
static size_t kernels_size;

static void keep_state(int sig, siginfo_t *info, void *context)
{
	const ucontext_t *uc = context;
	const unsigned char *state = (const unsigned char *)uc->uc_mcontext.fpregs;
	uint32_t extended;

	(void)sig;
	(void)info;
	memcpy(&extended, state + 468, sizeof(extended)); /* behind the first magic */
	kernels_size = extended;
	if (extended <= sizeof(kernels))
		memcpy(kernels, state, extended);
}

/* A child that stands with known vector registers; its frame comes by a signal. */
static pid_t start_child(int in)
{
	struct sigaction sa = {.sa_sigaction = keep_state, .sa_flags = SA_SIGINFO};
	pid_t pid = fork();
	char byte;

	HI_ASSERT(pid >= 0);
	if (pid)
		return pid;
	sigaction(SIGUSR1, &sa, NULL);
	ptrace(PTRACE_TRACEME, 0, 0, 0);
	__asm__ volatile("vpcmpeqd %%ymm7, %%ymm7, %%ymm7\n"
			 "vpaddq %%ymm7, %%ymm7, %%ymm9\n"
			 "mov %0, %%eax\n mov %1, %%edi\n mov %2, %%esi\n syscall"
			 :
			 : "i"(SYS_kill), "r"(getpid()), "i"(SIGUSR1)
			 : "rax", "rdi", "rsi", "rcx", "r11", "xmm7", "xmm9", "memory");
	if (write(in, kernels, kernels_size) != (ssize_t)kernels_size)
		_exit(1);
	_exit(read(in, &byte, 0) != 0);
}

/* But the words that are nobody's: the software's own beyond those that are defined, and
 * what lies between the components. */
HI_TEST(attach_signal_frame,
	state_read_by_ptrace_is_what_the_kernel_itself_puts_in_a_frame)
{
	unsigned char *expected = malloc(HI_XSTATE_MAX);
	struct hi_xstate *got = malloc(sizeof(*got));
	struct hi_error err = {};
	int ends[2], status;
	ssize_t n;
	pid_t pid;

	if (!__builtin_cpu_supports("avx2"))
		HI_SKIP("no AVX2");
	HI_ASSERT(expected && got && pipe(ends) == 0);
	pid = start_child(ends[1]);
	waitpid(pid, &status, 0);
	HI_ASSERT(WIFSTOPPED(status) && WSTOPSIG(status) == SIGUSR1);
	HI_ASSERT_OK(hi_xstate_read(pid, got, &err), &err);
	ptrace(PTRACE_CONT, pid, 0, SIGUSR1);
	n = read(ends[0], expected, HI_XSTATE_MAX);
	waitpid(pid, &status, 0);
	HI_ASSERT_EQ(n, got->size);
	HI_ASSERT(memcmp(expected + 160, got->bytes + 160, 256) == 0); /* XMM0-15 */
	HI_ASSERT(memcmp(expected + 464, got->bytes + 464, 48) == 0);  /* magic, sizes */
	HI_ASSERT(memcmp(expected + 576, got->bytes + 576, 256) == 0); /* upper YMM0-15 */
	HI_ASSERT(memcmp(expected + n - 4, got->bytes + n - 4, 4) == 0);
	HI_ASSERT_EQ(0xff, got->bytes[160 + 7 * 16]);
	HI_ASSERT_EQ(0xfe, got->bytes[160 + 9 * 16]);
	free(expected);
	free(got);
	close(ends[0]);
	close(ends[1]);
}

/* ---- forms that are refused ---- */

static struct hi_xstate *blank(size_t size, uint64_t features, uint64_t in_use)
{
	struct hi_xstate *xstate = calloc(1, sizeof(*xstate));

	HI_ASSERT(xstate);
	xstate->size = size;
	memcpy(xstate->bytes + 464, &features, 8);
	memcpy(xstate->bytes + 512, &in_use, 8);
	return xstate;
}

HI_TEST(attach_signal_frame, unknown_forms_of_state_are_refused)
{
	static const struct {
		size_t size;
		uint64_t features, in_use;
	} bad[] = {{0, 3, 0},	{512, 3, 0}, {575, 3, 0}, {HI_XSTATE_MAX, 3, 0},
		   {576, 0, 0}, {576, 3, 7}, {831, 7, 3}, {SIZE_MAX, 3, 0}};
	struct hi_xstate *xstate;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		xstate = blank(bad[i].size, bad[i].features, bad[i].in_use);
		HI_ASSERT_STATUS(HI_UNSUPPORTED, hi_xstate_finish(xstate, NULL));
		free(xstate);
	}
	xstate = blank(832, 7, 3);
	HI_ASSERT_STATUS(HI_OK, hi_xstate_finish(xstate, NULL));
	HI_ASSERT_EQ(836, xstate->size);
	free(xstate);
}

/* Tiles that are not in use have no room in the kernel; the frame must be without. */
HI_TEST(attach_signal_frame, tiles_are_left_out_unless_they_are_used)
{
	struct hi_xstate *xstate = blank(11008, 7 | 3ull << 17, 3);
	uint64_t features;

	HI_ASSERT_STATUS(HI_OK, hi_xstate_finish(xstate, NULL));
	memcpy(&features, xstate->bytes + 472, 8); /* magic, size, features */
	HI_ASSERT_EQ(7 | 1ull << 17, features);
	HI_ASSERT(xstate->size < 4096);
	free(xstate);
}
