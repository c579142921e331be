/* SPDX-License-Identifier: BSD-2-Clause */
#include "probes/prologue.h"

#include <capstone/capstone.h>
#include <stdio.h>

/*
 * Note [Which instructions are cheap]
 *
 * branch_setup_xol_ops() and push_setup_xol_ops() of arch/x86/kernel/uprobes.c name
 * what is emulated: push of a register (50+r, with REX.B alone before it), jmp and
 * call relative, conditional jumps, and nop. The operand-size prefix is refused
 * there, any other prefix makes no difference; we take plain forms only, and f3 90
 * (pause) not. Long nops and endbr64 are single-stepped by most kernels.
 *
 * Note [The first instruction that every entry reaches]
 *
 * From the entry down a straight line every instruction is executed once a call,
 * until the first branch, call or return (which is itself still reached). The first
 * emulated one of them serves as well as the entry and is far cheaper. Not so
 * if the function jumps back to somewhere between the entry and there: the probe
 * would count the rounds of a loop. So all direct jumps of the function are looked
 * at; where its bytes cannot all be decoded, the entry is taken. A jump through a
 * table back into the prologue would not be seen; compilers put no case there.
 */
enum {
	STEPS_MAX = 32,		/* instructions of the straight line */
	FUNCTION_MAX = 1 << 20, /* bytes; of a larger one the entry is taken */
};

bool hi_instruction_is_emulated(const uint8_t *bytes, size_t n)
{
	if (n == 0)
		return false;
	if (bytes[0] == 0x90)
		return n == 1;
	if ((bytes[0] & 0xf8) == 0x50)
		return n == 1;
	if (bytes[0] == 0x41 && n == 2)
		return (bytes[1] & 0xf8) == 0x50;
	if (bytes[0] == 0xeb || (bytes[0] & 0xf0) == 0x70)
		return n == 2;
	if (bytes[0] == 0xe8 || bytes[0] == 0xe9)
		return n == 5;
	return n == 6 && bytes[0] == 0x0f && (bytes[1] & 0xf0) == 0x80;
}

/* The bit of `kept` for this register, whatever part of it; -1: another register. */
static int argument_of(unsigned reg)
{
	switch (reg) {
	case X86_REG_RDI:
	case X86_REG_EDI:
	case X86_REG_DI:
	case X86_REG_DIL:
		return 0;
	case X86_REG_RSI:
	case X86_REG_ESI:
	case X86_REG_SI:
	case X86_REG_SIL:
		return 1;
	case X86_REG_RDX:
	case X86_REG_EDX:
	case X86_REG_DX:
	case X86_REG_DL:
	case X86_REG_DH:
		return 2;
	case X86_REG_RCX:
	case X86_REG_ECX:
	case X86_REG_CX:
	case X86_REG_CL:
	case X86_REG_CH:
		return 3;
	case X86_REG_R8:
	case X86_REG_R8D:
	case X86_REG_R8W:
	case X86_REG_R8B:
		return 4;
	case X86_REG_R9:
	case X86_REG_R9D:
	case X86_REG_R9W:
	case X86_REG_R9B:
		return 5;
	case X86_REG_RSP:
	case X86_REG_ESP:
	case X86_REG_SP:
	case X86_REG_SPL:
		return 6; /* HI_PROLOGUE_STACK */
	default:
		return -1;
	}
}

static bool writes_kept(csh cs, const cs_insn *insn, unsigned kept)
{
	uint8_t n_read, n_written;
	cs_regs read, written;

	if (kept == 0)
		return false;
	if (cs_regs_access(cs, insn, read, &n_read, written, &n_written) != CS_ERR_OK)
		return true;
	for (unsigned i = 0; i < n_written; i++) {
		int argument = argument_of(written[i]);

		if (argument >= 0 && (kept >> argument & 1))
			return true;
	}
	return false;
}

/* The next instruction may not be reached, or not at once. */
static bool ends_straight_line(csh cs, const cs_insn *insn)
{
	static const unsigned groups[] = {CS_GRP_JUMP, CS_GRP_CALL,
					  CS_GRP_RET,  CS_GRP_INT,
					  CS_GRP_IRET, CS_GRP_BRANCH_RELATIVE};

	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
		if (cs_insn_group(cs, insn, groups[i]))
			return true;
	switch (insn->id) {
	case X86_INS_SYSCALL:
	case X86_INS_SYSENTER:
	case X86_INS_HLT:
	case X86_INS_UD2:
	case X86_INS_XBEGIN:
	case X86_INS_XABORT:
		return true;
	default:
		return false;
	}
}

struct decoder {
	csh cs;
	cs_insn *insn;
	const uint8_t *at;
	size_t left;
	uint64_t addr;
};

static bool open_code_decoder(struct decoder *d, const uint8_t *code, size_t size,
			      uint64_t addr)
{
	*d = (struct decoder){.at = code, .left = size, .addr = addr};
	if (cs_open(CS_ARCH_X86, CS_MODE_64, &d->cs) != CS_ERR_OK)
		return false;
	cs_option(d->cs, CS_OPT_DETAIL, CS_OPT_ON);
	cs_option(d->cs, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
	d->insn = cs_malloc(d->cs);
	if (!d->insn)
		cs_close(&d->cs);
	return d->insn != NULL;
}

static void close_code_decoder(struct decoder *d)
{
	cs_free(d->insn, 1);
	cs_close(&d->cs);
}

static bool decode_next_instruction(struct decoder *d)
{
	return cs_disasm_iter(d->cs, &d->at, &d->left, &d->addr, d->insn);
}

static void describe_instruction(const cs_insn *insn, uint64_t entry,
				 struct hi_prologue_site *ret)
{
	ret->offset = insn->address - entry;
	ret->single_stepped = !hi_instruction_is_emulated(insn->bytes, insn->size);
	snprintf(ret->instruction, sizeof(ret->instruction), "%.16s%s%.40s",
		 insn->mnemonic, insn->op_str[0] ? " " : "", insn->op_str);
}

void hi_prologue_look(const uint8_t *code, size_t size, uint64_t addr,
		      struct hi_prologue_site *ret)
{
	struct decoder d;

	*ret = (struct hi_prologue_site){.single_stepped = true};
	if (!open_code_decoder(&d, code, size, addr))
		return;
	if (decode_next_instruction(&d))
		describe_instruction(d.insn, addr, ret);
	close_code_decoder(&d);
}

/* Finds the first emulated instruction of the straight line after the entry. */
static bool find_cheap(struct decoder *d, unsigned kept, uint64_t entry,
		       struct hi_prologue_site *ret)
{
	for (unsigned i = 0; i < STEPS_MAX && decode_next_instruction(d); i++) {
		if (hi_instruction_is_emulated(d->insn->bytes, d->insn->size)) {
			describe_instruction(d->insn, entry, ret);
			return true;
		}
		if (ends_straight_line(d->cs, d->insn) ||
		    writes_kept(d->cs, d->insn, kept))
			return false;
	}
	return false;
}

static bool is_jump_into(const struct decoder *d, uint64_t low, uint64_t high)
{
	const cs_x86 *x86 = &d->insn->detail->x86;

	if (!cs_insn_group(d->cs, d->insn, CS_GRP_JUMP) &&
	    !cs_insn_group(d->cs, d->insn, CS_GRP_CALL) &&
	    !cs_insn_group(d->cs, d->insn, CS_GRP_BRANCH_RELATIVE))
		return false;
	for (unsigned i = 0; i < x86->op_count; i++) {
		uint64_t target = (uint64_t)x86->operands[i].imm;

		if (x86->operands[i].type == X86_OP_IMM && target > low && target <= high)
			return true;
	}
	return false;
}

/* Does the function jump to somewhere in (entry, site]? True if that is unknown. */
static bool is_jumped_over(const uint8_t *code, size_t size, uint64_t entry,
			   uint64_t site)
{
	struct decoder d;
	bool found = false;

	if (!open_code_decoder(&d, code, size, entry))
		return true;
	while (!found && decode_next_instruction(&d))
		found = is_jump_into(&d, entry, site);
	found |= d.left > 0;
	close_code_decoder(&d);
	return found;
}

void hi_prologue_choose(const uint8_t *code, size_t size, uint64_t addr, unsigned kept,
			struct hi_prologue_site *ret)
{
	struct hi_prologue_site cheap = {};
	struct decoder d;
	bool found;

	hi_prologue_look(code, size, addr, ret);
	if (!ret->single_stepped || size > FUNCTION_MAX ||
	    !open_code_decoder(&d, code, size, addr))
		return;
	found = find_cheap(&d, kept, addr, &cheap);
	close_code_decoder(&d);
	if (found && !is_jumped_over(code, size, addr, addr + cheap.offset))
		*ret = cheap;
}

/* ---- exits ---- */

static bool is_direct_jump(const struct decoder *d, uint64_t *target_ret)
{
	const cs_x86 *x86 = &d->insn->detail->x86;

	if (!cs_insn_group(d->cs, d->insn, CS_GRP_JUMP) || x86->op_count != 1 ||
	    x86->operands[0].type != X86_OP_IMM)
		return false;
	*target_ret = (uint64_t)x86->operands[0].imm;
	return true;
}

size_t hi_function_exits(const uint8_t *code, size_t size, uint64_t addr,
			 bool (*is_part)(void *arg, uint64_t target), void *arg,
			 uint64_t *offsets, size_t max)
{
	struct decoder d;
	size_t n = 0;
	bool whole;

	if (!open_code_decoder(&d, code, size, addr))
		return SIZE_MAX;
	while (decode_next_instruction(&d)) {
		uint64_t target;
		bool is_exit = cs_insn_group(d.cs, d.insn, CS_GRP_RET);

		if (!is_exit && is_direct_jump(&d, &target))
			is_exit = target - addr >= size && !is_part(arg, target);
		if (!is_exit)
			continue;
		if (n < max)
			offsets[n] = d.insn->address - addr;
		n++;
	}
	whole = d.left == 0;
	close_code_decoder(&d);
	return whole ? n : SIZE_MAX;
}

/* ---- what an instruction leads to ---- */

/* Returns the target of the instruction that was decoded last; false: none. */
typedef bool decoded_target_fn(const struct decoder *d, uint64_t *target_ret);

static size_t collect_targets(const uint8_t *code, size_t size, uint64_t addr,
			      decoded_target_fn *target_of, uint64_t *targets, size_t max)
{
	struct decoder d;
	size_t n = 0;

	if (!open_code_decoder(&d, code, size, addr))
		return 0;
	while (n < max && decode_next_instruction(&d))
		n += target_of(&d, &targets[n]);
	close_code_decoder(&d);
	return n;
}

size_t hi_function_jumps_out(const uint8_t *code, size_t size, uint64_t addr,
			     uint64_t *targets, size_t max)
{
	size_t n = collect_targets(code, size, addr, is_direct_jump, targets, max);
	size_t out = 0;

	for (size_t i = 0; i < n; i++)
		if (targets[i] - addr >= size)
			targets[out++] = targets[i];
	return out;
}

static bool is_direct_call(const struct decoder *d, uint64_t *target_ret)
{
	const cs_x86 *x86 = &d->insn->detail->x86;

	if (!cs_insn_group(d->cs, d->insn, CS_GRP_CALL) || x86->op_count != 1 ||
	    x86->operands[0].type != X86_OP_IMM)
		return false;
	*target_ret = (uint64_t)x86->operands[0].imm;
	return true;
}

size_t hi_function_calls(const uint8_t *code, size_t size, uint64_t addr,
			 uint64_t *targets, size_t max)
{
	return collect_targets(code, size, addr, is_direct_call, targets, max);
}

static bool has_fixed_operand(const struct decoder *d, uint64_t *target_ret)
{
	const cs_x86 *x86 = &d->insn->detail->x86;

	for (unsigned i = 0; i < x86->op_count; i++) {
		const x86_op_mem *mem = &x86->operands[i].mem;

		if (x86->operands[i].type != X86_OP_MEM || mem->index != X86_REG_INVALID)
			continue;
		if (mem->base == X86_REG_RIP)
			*target_ret =
				d->insn->address + d->insn->size + (uint64_t)mem->disp;
		else if (mem->base == X86_REG_INVALID)
			*target_ret = (uint64_t)mem->disp;
		else
			continue;
		return true;
	}
	return false;
}

size_t hi_function_operands(const uint8_t *code, size_t size, uint64_t addr,
			    uint64_t *targets, size_t max)
{
	return collect_targets(code, size, addr, has_fixed_operand, targets, max);
}
