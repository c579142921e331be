/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The stack machine. The topmost value is kept apart from the stack, in a register; the
 * first push saves a 0 that is not used. Runs end: all jumps go forward.
 */
#include <string.h>

#include "decode/expressions/expression_internal.h"

/* The sizes of most members each with an instruction of their own. */
static inline bool load_at_hand(const struct hi_code_input *in, uint64_t addr,
				unsigned size, uint64_t *ret)
{
	uint64_t offset = addr - in->at_hand.start;
	const uint8_t *host;

	if (offset >= in->at_hand.size || in->at_hand.size - offset < size)
		return false;
	host = in->at_hand.host + offset;
	if (size == 8)
		memcpy(ret, host, 8);
	else if (size == 4)
		memcpy(ret, host, 4);
	else
		memcpy(ret, host, size);
	return true;
}

static inline bool run_load(const struct hi_code_input *in, const struct hi_insn *insn,
			    uint64_t addr, uint64_t *top)
{
	uint64_t value = 0;

	if (!load_at_hand(in, addr + insn->imm, insn->size, &value) &&
	    !in->read(in->arg, addr + insn->imm, &value, insn->size))
		return false;
	*top = hi_op_extract(value, insn->left, insn->right, insn->is_signed);
	return true;
}

/* NOLINTNEXTLINE(readability-function-size,readability-function-cognitive-complexity) */
bool hi_code_run(const struct hi_code *code, const struct hi_code_input *in,
		 uint64_t *ret)
{
	uint64_t stack[HI_CODE_STACK + 1], *sp = stack, top = 0;
	const struct hi_insn *insn = code->insns;

	for (;; insn++) {
		switch (insn->op) {
#define RUN(name, value)                                                                 \
	case HI_OP_##name: {                                                             \
		uint64_t b = top, a = *--sp;                                             \
		top = value;                                                             \
		break;                                                                   \
	}                                                                                \
	case HI_OP_##name | HI_OP_IMM: {                                                 \
		uint64_t b = insn->imm, a = top;                                         \
		top = value;                                                             \
		break;                                                                   \
	}
			HI_BINARY_OPS(RUN)
#undef RUN
		case HI_OP_DIVU:
		case HI_OP_DIVS:
		case HI_OP_MODU:
		case HI_OP_MODS:
			sp--;
			if (!hi_op_divide(insn->op, *sp, top, &top))
				return false;
			break;
		case HI_OP_DIVU | HI_OP_IMM:
		case HI_OP_DIVS | HI_OP_IMM:
		case HI_OP_MODU | HI_OP_IMM:
		case HI_OP_MODS | HI_OP_IMM:
			if (!hi_op_divide(insn->op & ~HI_OP_IMM, top, insn->imm, &top))
				return false;
			break;
		case HI_OP_CONST:
			*sp++ = top;
			top = insn->imm;
			break;
		case HI_OP_SELF:
			*sp++ = top;
			top = in->self;
			break;
		case HI_OP_DOLLAR:
			*sp++ = top;
			top = in->dollar;
			break;
		case HI_OP_INDEX:
			*sp++ = top;
			top = in->index;
			break;
		case HI_OP_CONTEXT:
			if (!hi_context_has(in->context, insn->imm))
				return false;
			*sp++ = top;
			top = in->context[insn->imm];
			break;
		case HI_OP_LOAD_SELF:
			*sp++ = top;
			if (!run_load(in, insn, in->self, &top))
				return false;
			break;
		case HI_OP_LOAD_DOLLAR:
			*sp++ = top;
			if (!run_load(in, insn, in->dollar, &top))
				return false;
			break;
		case HI_OP_LOAD:
			if (!run_load(in, insn, top, &top))
				return false;
			break;
		case HI_OP_EXTEND:
			top = hi_op_extract(top, insn->left, insn->right,
					    insn->is_signed);
			break;
		case HI_OP_USABLE:
			top = in->usable ? in->usable(in->arg, top) : 0;
			break;
		case HI_OP_JUMP:
			insn = &code->insns[insn->imm] - 1;
			break;
		case HI_OP_JUMP_ZERO:
			if (top == 0)
				insn = &code->insns[insn->imm] - 1;
			top = *--sp;
			break;
		case HI_OP_ZERO_ELSE:
			if (top == 0)
				insn = &code->insns[insn->imm] - 1;
			else
				top = *--sp;
			break;
		case HI_OP_TRUTH_ELSE:
			if (top != 0)
				insn = &code->insns[insn->imm] - 1;
			else
				top = *--sp;
			break;
		default: /* HI_OP_END */
			*ret = top;
			return true;
		}
	}
}
