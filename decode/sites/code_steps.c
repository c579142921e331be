/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/sites/code_steps.h"

#include <capstone/capstone.h>

#include "base/alloc.h"
#include "base/cleanup.h"

struct hi_code_decoder {
	csh handle;
	bool has_handle;
	cs_insn *insn;
};

void hi_code_decoder_close(struct hi_code_decoder *decoder)
{
	if (!decoder)
		return;
	if (decoder->insn)
		cs_free(decoder->insn, 1);
	if (decoder->has_handle)
		cs_close(&decoder->handle);
	free(decoder);
}
HI_DEFINE_GUARD(struct hi_code_decoder *, hi_code_decoder_close)

enum hi_status hi_code_decoder_open(struct hi_code_decoder **ret, struct hi_error *err)
{
	HI_GUARD(hi_code_decoder_close)
	struct hi_code_decoder *d = hi_calloc(1, sizeof(*d));

	if (!d)
		return hi_fail_memory(err, "decoder of code");
	d->has_handle = cs_open(CS_ARCH_X86, CS_MODE_64, &d->handle) == CS_ERR_OK;
	if (!d->has_handle || cs_option(d->handle, CS_OPT_DETAIL, CS_OPT_ON) != CS_ERR_OK)
		return hi_fail_memory(err, "decoder of code");
	d->insn = cs_malloc(d->handle);
	if (!d->insn)
		return hi_fail_memory(err, "decoder of code");
	*ret = hi_take(d);
	return HI_OK;
}

/* ---- registers ---- */

#define REGISTER(number, r64, r32, r16, r8)                                              \
	case X86_REG_##r64:                                                              \
	case X86_REG_##r32:                                                              \
	case X86_REG_##r16:                                                              \
	case X86_REG_##r8:                                                               \
		return number

static uint8_t number_of_register(x86_reg reg)
{
	switch ((unsigned)reg) {
		REGISTER(0, RAX, EAX, AX, AL);
		REGISTER(1, RCX, ECX, CX, CL);
		REGISTER(2, RDX, EDX, DX, DL);
		REGISTER(3, RBX, EBX, BX, BL);
		REGISTER(4, RSP, ESP, SP, SPL);
		REGISTER(5, RBP, EBP, BP, BPL);
		REGISTER(6, RSI, ESI, SI, SIL);
		REGISTER(7, RDI, EDI, DI, DIL);
		REGISTER(8, R8, R8D, R8W, R8B);
		REGISTER(9, R9, R9D, R9W, R9B);
		REGISTER(10, R10, R10D, R10W, R10B);
		REGISTER(11, R11, R11D, R11W, R11B);
		REGISTER(12, R12, R12D, R12W, R12B);
		REGISTER(13, R13, R13D, R13W, R13B);
		REGISTER(14, R14, R14D, R14W, R14B);
		REGISTER(15, R15, R15D, R15W, R15B);
	case X86_REG_AH:
		return 0;
	case X86_REG_CH:
		return 1;
	case X86_REG_DH:
		return 2;
	case X86_REG_BH:
		return 3;
	case X86_REG_RIP:
		return HI_CODE_RIP;
	default:
		return HI_CODE_NO_REGISTER;
	}
}
#undef REGISTER

static uint16_t list_written_registers(const struct hi_code_decoder *d)
{
	cs_regs read, written;
	uint8_t n_read = 0, n_written = 0;
	uint16_t ret = 0;

	if (cs_regs_access(d->handle, d->insn, read, &n_read, written, &n_written) !=
	    CS_ERR_OK)
		return UINT16_MAX;
	for (uint8_t i = 0; i < n_written; i++) {
		uint8_t number = number_of_register((x86_reg)written[i]);

		if (number < HI_CODE_REGISTERS)
			ret = (uint16_t)(ret | 1u << number);
	}
	return ret;
}

/* ---- operands ---- */

/* Nothing is known of another segment (thread-local memory). */
static struct hi_code_operand take_memory_operand(const cs_x86_op *op, uint64_t end)
{
	struct hi_code_operand ret = {
		.kind = HI_OPERAND_MEMORY,
		.reg = number_of_register(op->mem.base),
		.index = number_of_register(op->mem.index),
		.scale = (uint8_t)op->mem.scale,
		.size = op->size,
		.number = op->mem.disp,
	};

	if (ret.reg == HI_CODE_RIP)
		ret.number = (int64_t)(end + (uint64_t)op->mem.disp);
	if (op->mem.segment == X86_REG_FS || op->mem.segment == X86_REG_GS)
		ret.reg = ret.index = HI_CODE_NO_REGISTER;
	return ret;
}

static struct hi_code_operand take_operand(const cs_x86 *x, unsigned i, uint64_t end)
{
	struct hi_code_operand ret = {};
	const cs_x86_op *op = &x->operands[i];

	if (i >= x->op_count)
		return ret;
	if (op->type == X86_OP_MEM)
		return take_memory_operand(op, end);
	ret.size = op->size;
	if (op->type == X86_OP_IMM) {
		ret.kind = HI_OPERAND_CONSTANT;
		ret.number = op->imm;
	} else if (op->type == X86_OP_REG &&
		   number_of_register(op->reg) < HI_CODE_REGISTERS) {
		ret.kind = HI_OPERAND_REGISTER;
		ret.reg = number_of_register(op->reg);
	}
	return ret;
}

/* ---- kinds ---- */

static bool is_same_register(const struct hi_code_op *s)
{
	return s->dst.kind == HI_OPERAND_REGISTER && s->src.kind == HI_OPERAND_REGISTER &&
	       s->dst.reg == s->src.reg;
}

static void take_multiply(const cs_x86 *x, struct hi_code_op *s)
{
	if (x->op_count < 2)
		return;
	s->kind = HI_STEP_MULTIPLY;
	s->factor = x->op_count == 3 ? x->operands[2].imm : 0;
}

/* xor %eax,%eax */
static void take_zero(struct hi_code_op *s)
{
	if (!is_same_register(s))
		return;
	s->kind = HI_STEP_MOVE;
	s->src = (struct hi_code_operand){.kind = HI_OPERAND_CONSTANT,
					  .size = s->dst.size};
}

static void take_subtract(struct hi_code_op *s)
{
	if (is_same_register(s))
		take_zero(s);
	else
		s->kind = HI_STEP_SUBTRACT;
}

static bool is_conditional_move(unsigned id)
{
	switch (id) {
	case X86_INS_CMOVA:
	case X86_INS_CMOVAE:
	case X86_INS_CMOVB:
	case X86_INS_CMOVBE:
	case X86_INS_CMOVE:
	case X86_INS_CMOVG:
	case X86_INS_CMOVGE:
	case X86_INS_CMOVL:
	case X86_INS_CMOVLE:
	case X86_INS_CMOVNE:
	case X86_INS_CMOVNO:
	case X86_INS_CMOVNP:
	case X86_INS_CMOVNS:
	case X86_INS_CMOVO:
	case X86_INS_CMOVP:
	case X86_INS_CMOVS:
		return true;
	default:
		return false;
	}
}

static void take_flow(const struct hi_code_decoder *d, struct hi_code_op *s)
{
	s->src = s->dst;
	if (cs_insn_group(d->handle, d->insn, X86_GRP_CALL))
		s->kind = HI_STEP_CALL;
	else if (d->insn->id == X86_INS_JMP)
		s->kind = HI_STEP_JUMP;
	else if (cs_insn_group(d->handle, d->insn, X86_GRP_JUMP))
		s->kind = HI_STEP_BRANCH;
}

/* Instructions that only extend the sign of a register. */
static bool keeps_value(unsigned id)
{
	return id == X86_INS_CDQE || id == X86_INS_CWDE;
}

static void take_kind(const struct hi_code_decoder *d, struct hi_code_op *s)
{
	switch (d->insn->id) {
	case X86_INS_MOV:
	case X86_INS_MOVABS:
	case X86_INS_MOVSXD:
	case X86_INS_MOVZX:
	case X86_INS_MOVSX:
		s->kind = HI_STEP_MOVE;
		break;
	case X86_INS_LEA:
		s->kind = HI_STEP_LEA;
		break;
	case X86_INS_ADD:
		s->kind = HI_STEP_ADD;
		break;
	case X86_INS_SUB:
		take_subtract(s);
		break;
	case X86_INS_XOR:
		take_zero(s);
		break;
	case X86_INS_SHL:
		s->kind = HI_STEP_SHIFT;
		break;
	case X86_INS_IMUL:
		take_multiply(&d->insn->detail->x86, s);
		break;
	case X86_INS_AND:
		s->kind = HI_STEP_ALIGN;
		break;
	case X86_INS_PUSH:
		s->kind = HI_STEP_PUSH;
		s->src = s->dst;
		break;
	case X86_INS_POP:
		s->kind = HI_STEP_POP;
		break;
	case X86_INS_RET:
		s->kind = HI_STEP_RETURN;
		break;
	case X86_INS_UD2:
	case X86_INS_HLT:
		s->kind = HI_STEP_STOP;
		break;
	default:
		if (is_conditional_move(d->insn->id))
			s->kind = HI_STEP_MEET;
		else if (keeps_value(d->insn->id))
			s->written = 0;
		else
			take_flow(d, s);
	}
}

static struct hi_code_op take_instruction(const struct hi_code_decoder *d)
{
	const cs_insn *insn = d->insn;
	const cs_x86 *x = &insn->detail->x86;
	struct hi_code_op s = {
		.addr = insn->address,
		.end = insn->address + insn->size,
		.kind = HI_STEP_OTHER,
		.written = list_written_registers(d),
	};

	s.dst = take_operand(x, 0, s.end);
	s.src = take_operand(x, 1, s.end);
	take_kind(d, &s);
	return s;
}

bool hi_code_steps_read(struct hi_code_decoder *d, const uint8_t *bytes, size_t size,
			uint64_t addr, size_t most, struct hi_code_steps *ret)
{
	for (size_t n = 0; n < most && size; n++) {
		if (!cs_disasm_iter(d->handle, &bytes, &size, &addr, d->insn))
			break;
		if (!hi_vector_push(ret, take_instruction(d)))
			return false;
	}
	return true;
}
