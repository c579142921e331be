/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Filters, evaluated by us and by the kernel: the same random programs are installed in
 * a process that then makes a call, and its fate is compared.
 */
#include <errno.h>
#include <linux/audit.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/seccomp_filter.h"
#include "tests/harness.h"
#include "tests/support/random.h"

#define N_CODE 24

static uint64_t seed;

static uint32_t draw_value(void)
{
	static const uint32_t values[] = {
		0, 1, 2, 31, 32, SYS_getppid, 0x80000000u, 0xffffffffu, AUDIT_ARCH_X86_64,
		17};

	return random_below(&seed, 2) ? values[random_below(&seed, 10)]
				      : random_below(&seed, UINT32_MAX);
}

static struct sock_filter draw_instruction(unsigned left)
{
	static const uint16_t alu[] = {BPF_ADD, BPF_SUB, BPF_MUL, BPF_DIV, BPF_AND,
				       BPF_OR,	BPF_XOR, BPF_LSH, BPF_RSH, BPF_NEG};
	static const uint16_t jumps[] = {BPF_JEQ, BPF_JGT, BPF_JGE, BPF_JSET};
	uint32_t k = draw_value();
	uint16_t op;

	switch (random_below(&seed, 9)) {
	case 0:
		return (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						    4 * random_below(&seed, 16));
	case 1:
		return (struct sock_filter)BPF_STMT(BPF_LD | BPF_IMM, k);
	case 2:
		return (struct sock_filter)BPF_STMT(BPF_LDX | BPF_IMM, k);
	case 3: /* not before it was stored: the kernel checks that */
		return (struct sock_filter)BPF_STMT(random_below(&seed, 2) ? BPF_ST
									   : BPF_STX,
						    random_below(&seed, 16));
	case 4:
		return (struct sock_filter)BPF_STMT(
			BPF_MISC | (random_below(&seed, 2) ? BPF_TAX : BPF_TXA), 0);
	case 5:
		op = (random_below(&seed, 2) ? BPF_LD : BPF_LDX) | BPF_W | BPF_LEN;
		return (struct sock_filter)BPF_STMT(op, 0);
	case 6:
		op = jumps[random_below(&seed, 4)] |
		     (random_below(&seed, 2) ? BPF_K : BPF_X);
		return (struct sock_filter)BPF_JUMP(BPF_JMP | op, k,
						    (uint8_t)random_below(&seed, left),
						    (uint8_t)random_below(&seed, left));
	default:
		op = alu[random_below(&seed, 10)];
		op |= op != BPF_NEG && random_below(&seed, 2) ? BPF_X : BPF_K;
		if ((op & 0xf0) == BPF_DIV && BPF_SRC(op) == BPF_K && !k)
			k = 3;
		if (((op & 0xf0) == BPF_LSH || (op & 0xf0) == BPF_RSH) &&
		    BPF_SRC(op) == BPF_K)
			k %= 32;
		return (struct sock_filter)BPF_STMT(BPF_ALU | op, k);
	}
}

/* Ends in: the accumulator's low byte becomes the errno of getppid. */
static void draw_program(struct sock_filter *code)
{
	/* Only getppid; all else must go on. */
	code[0] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0);
	code[1] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ, SYS_getppid, 1, 0);
	code[2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	for (unsigned i = 3; i < N_CODE - 3; i++)
		code[i] = draw_instruction(N_CODE - 3 - i);
	code[N_CODE - 3] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0x7f);
	code[N_CODE - 2] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_OR | BPF_K,
							SECCOMP_RET_ERRNO | 0x80);
	code[N_CODE - 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_A, 0);
}

#define ARGS 11, 0x2200000033, 44, ~0ul, 0x123456789abcdef, 66

/* The errno that the kernel gives; -1: the process was killed; -2: refused as invalid. */
static int ask_kernel(struct sock_filter *code)
{
	struct sock_fprog program = {.len = N_CODE, .filter = code};
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program))
			_exit(1);
		errno = 0;
		syscall(SYS_getppid, ARGS);
		_exit(errno & 0xff);
	}
	waitpid(pid, &status, 0);
	if (!WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status) == 1 ? -2 : WEXITSTATUS(status);
}

HI_TEST_SCENARIO(attach_seccomp, random_filters_say_what_the_kernel_says)
{
	const uint64_t args[] = {ARGS};
	int n_killed = 0, n_answered = 0;

	for (int i = 0; i < 600; i++) {
		struct seccomp_data data = {.nr = SYS_getppid, .arch = AUDIT_ARCH_X86_64};
		struct sock_filter code[N_CODE];
		uint32_t answer;
		int kernels;

		seed = (uint64_t)i * 7919 + 1;
		memcpy(data.args, args, sizeof(args));
		draw_program(code);
		/* Not the instruction pointer: it is another one in the child. */
		for (int k = 3; k < N_CODE - 3; k++)
			if (code[k].code == (BPF_LD | BPF_W | BPF_ABS) &&
			    (code[k].k == 8 || code[k].k == 12))
				code[k].k = 16;
		kernels = ask_kernel(code);
		HI_ASSERT(kernels != -2);
		answer = hi_seccomp_run(code, N_CODE, &data);
		if (kernels == -1) {
			n_killed++;
			HI_ASSERT_EQ(SECCOMP_RET_KILL_PROCESS,
				     answer & SECCOMP_RET_ACTION_FULL);
		} else {
			n_answered++;
			HI_ASSERT_EQ(SECCOMP_RET_ERRNO, answer & SECCOMP_RET_ACTION_FULL);
			HI_ASSERT_EQ(kernels, answer & 0xff);
		}
	}
	hi_test_note("%d answered, %d killed", n_answered, n_killed);
	HI_ASSERT(n_answered > 300);
}

static uint32_t run(const struct sock_filter *code, size_t n)
{
	struct seccomp_data data = {.nr = 5, .args = {7}};

	return hi_seccomp_run(code, n, &data);
}

/* None of these is let in by the kernel; a text that lies must not make us read on. */
HI_TEST(attach_seccomp, invalid_filters_kill)
{
	const struct sock_filter bad[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 64),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 2),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0xfffffffc),
		BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 0),
		BPF_STMT(BPF_LD | BPF_W | BPF_IND, 0),
		BPF_STMT(BPF_LD | BPF_MEM, 16),
		BPF_STMT(BPF_LDX | BPF_MEM, 0xffffffff),
		BPF_STMT(BPF_LDX | BPF_B | BPF_MSH, 0),
		BPF_STMT(BPF_ST, 16),
		BPF_STMT(BPF_STX, 1000),
		BPF_STMT(BPF_ALU | BPF_DIV | BPF_K, 0),
		BPF_STMT(BPF_ALU | BPF_MOD | BPF_K, 3),
		BPF_STMT(BPF_JMP | BPF_JA, 0xffffffff),
		BPF_STMT(BPF_JMP | BPF_JA, 7),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 255, 255),
		BPF_STMT(BPF_JMP | 0x50, 0),
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		const struct sock_filter code[] = {
			bad[i], BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};

		HI_ASSERT_MSG(run(code, 2) == SECCOMP_RET_KILL_PROCESS, "number %zu", i);
	}
	HI_ASSERT_EQ(SECCOMP_RET_KILL_PROCESS, run(bad, 0));
}

HI_TEST(attach_seccomp, memory_and_long_jumps_work)
{
	const struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, args[0])),
		BPF_STMT(BPF_ST, 15),
		BPF_STMT(BPF_LD | BPF_IMM, 0),
		BPF_STMT(BPF_LDX | BPF_MEM, 15),
		BPF_STMT(BPF_JMP | BPF_JA, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_MISC | BPF_TXA, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 7, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
	};

	HI_ASSERT_EQ(SECCOMP_RET_ALLOW, run(code, 10));
}
