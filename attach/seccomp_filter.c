/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/seccomp_filter.h"

#include <errno.h>
#include <string.h>
#include <sys/ptrace.h>

#include "base/alloc.h"
#include "base/cleanup.h"

#define MAX_FILTERS 4096
#define INVALID SECCOMP_RET_KILL_PROCESS

struct machine {
	const struct seccomp_data *data;
	uint32_t a, x, memory[BPF_MEMWORDS];
	bool failed;
};

static uint32_t load_data(struct machine *m, uint32_t offset)
{
	uint32_t word = 0;

	/* As seccomp_check_filter: whole words inside of the data only. */
	if (offset % 4 || offset >= sizeof(*m->data))
		m->failed = true;
	else
		memcpy(&word, (const char *)m->data + offset, sizeof(word));
	return word;
}

static uint32_t load_memory(struct machine *m, uint32_t index)
{
	if (index >= BPF_MEMWORDS) {
		m->failed = true;
		return 0;
	}
	return m->memory[index];
}

static void store_word(struct machine *m, uint32_t index, uint32_t value)
{
	if (index >= BPF_MEMWORDS)
		m->failed = true;
	else
		m->memory[index] = value;
}

static uint32_t calculate_alu(struct machine *m, const struct sock_filter *in)
{
	uint32_t operand = BPF_SRC(in->code) == BPF_X ? m->x : in->k;

	switch (BPF_OP(in->code)) {
	case BPF_ADD:
		return m->a + operand;
	case BPF_SUB:
		return m->a - operand;
	case BPF_MUL:
		return m->a * operand;
	case BPF_DIV:
		/* The kernel ends the program with 0 (kill) on X = 0. */
		m->failed |= !operand;
		return operand ? m->a / operand : 0;
	case BPF_AND:
		return m->a & operand;
	case BPF_OR:
		return m->a | operand;
	case BPF_XOR:
		return m->a ^ operand;
	case BPF_LSH:
		return m->a << (operand & 31);
	case BPF_RSH:
		return m->a >> (operand & 31);
	case BPF_NEG:
		return -m->a;
	default:
		m->failed = true;
		return 0;
	}
}

/* How many instructions to pass over. */
static uint32_t evaluate_jump(struct machine *m, const struct sock_filter *in)
{
	uint32_t operand = BPF_SRC(in->code) == BPF_X ? m->x : in->k;
	bool taken;

	switch (BPF_OP(in->code)) {
	case BPF_JA:
		return in->k;
	case BPF_JEQ:
		taken = m->a == operand;
		break;
	case BPF_JGT:
		taken = m->a > operand;
		break;
	case BPF_JGE:
		taken = m->a >= operand;
		break;
	case BPF_JSET:
		taken = m->a & operand;
		break;
	default:
		m->failed = true;
		return 0;
	}
	return taken ? in->jt : in->jf;
}

static void load_a(struct machine *m, const struct sock_filter *in)
{
	switch (in->code) {
	case BPF_LD | BPF_W | BPF_ABS:
		m->a = load_data(m, in->k);
		break;
	case BPF_LD | BPF_W | BPF_LEN:
		m->a = sizeof(*m->data);
		break;
	case BPF_LD | BPF_IMM:
		m->a = in->k;
		break;
	case BPF_LD | BPF_MEM:
		m->a = load_memory(m, in->k);
		break;
	default:
		m->failed = true;
	}
}

static void load_x(struct machine *m, const struct sock_filter *in)
{
	switch (in->code) {
	case BPF_LDX | BPF_W | BPF_LEN:
		m->x = sizeof(*m->data);
		break;
	case BPF_LDX | BPF_IMM:
		m->x = in->k;
		break;
	case BPF_LDX | BPF_MEM:
		m->x = load_memory(m, in->k);
		break;
	default:
		m->failed = true;
	}
}

uint32_t hi_seccomp_run(const struct sock_filter *code, size_t n,
			const struct seccomp_data *data)
{
	struct machine m = {.data = data};

	for (size_t pc = 0; pc < n && !m.failed; pc++) {
		const struct sock_filter *in = &code[pc];

		switch (BPF_CLASS(in->code)) {
		case BPF_LD:
			load_a(&m, in);
			break;
		case BPF_LDX:
			load_x(&m, in);
			break;
		case BPF_ST:
			store_word(&m, in->k, m.a);
			break;
		case BPF_STX:
			store_word(&m, in->k, m.x);
			break;
		case BPF_ALU:
			m.a = calculate_alu(&m, in);
			break;
		case BPF_JMP:
			pc += evaluate_jump(&m, in);
			break;
		case BPF_MISC:
			if (BPF_MISCOP(in->code) == BPF_TXA)
				m.a = m.x;
			else
				m.x = m.a;
			break;
		default: /* BPF_RET */
			return BPF_RVAL(in->code) == BPF_A ? m.a : in->k;
		}
	}
	return INVALID;
}

static bool allows_call(uint32_t answer)
{
	uint32_t action = answer & SECCOMP_RET_ACTION_FULL;

	return action == SECCOMP_RET_ALLOW || action == SECCOMP_RET_LOG;
}

static enum hi_status fail_unreadable_filter(struct hi_error *err)
{
	if (errno == ESRCH)
		return hi_fail(err, HI_GONE, 0, "it has been killed");
	return hi_fail(
		err, HI_UNSUPPORTED, 0,
		"it has a seccomp filter, and reading that (PTRACE_SECCOMP_GET_FILTER) "
		"needs CAP_SYS_ADMIN and no filter on heapinspect");
}

static enum hi_status check_filter(pid_t tid, unsigned long index, size_t length,
				   const struct hi_filtered_call *calls, size_t n_calls,
				   struct hi_error *err)
{
	HI_GUARD(free) struct sock_filter *code = hi_calloc(length, sizeof(*code));

	if (!code)
		return hi_fail(err, HI_UNSUPPORTED, 0,
			       "no memory to read its seccomp filter");
	if (ptrace(PTRACE_SECCOMP_GET_FILTER, tid, index, code) != (long)length)
		return fail_unreadable_filter(err);
	for (size_t i = 0; i < n_calls; i++)
		if (!allows_call(hi_seccomp_run(code, length, &calls[i].data)))
			return hi_fail(err, HI_UNSUPPORTED, 0,
				       "a seccomp filter refuses %s", calls[i].name);
	return HI_OK;
}

enum hi_status hi_seccomp_check(pid_t tid, const struct hi_filtered_call *calls,
				size_t n_calls, struct hi_error *err)
{
	for (unsigned long i = 0; i < MAX_FILTERS; i++) {
		long length = ptrace(PTRACE_SECCOMP_GET_FILTER, tid, i, NULL);
		enum hi_status status;

		if (length < 0 && errno == ENOENT)
			return HI_OK; /* that was the last */
		if (length <= 0)
			return fail_unreadable_filter(err);
		status = check_filter(tid, i, (size_t)length, calls, n_calls, err);
		if (status != HI_OK)
			return status;
	}
	return hi_fail(err, HI_UNSUPPORTED, 0, "it has more than %d seccomp filters",
		       MAX_FILTERS);
}
