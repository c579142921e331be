/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Instructions of x86-64 as steps that move values between registers and memory: only
 * what is needed to follow constants, parameters and results of calls. Code is hostile:
 * every step is at least one byte long, and what is not understood writes registers.
 */
#ifndef HI_DECODE_SITES_CODE_STEPS_H
#define HI_DECODE_SITES_CODE_STEPS_H

#include "base/error.h"
#include "base/vector.h"

enum {
	HI_CODE_REGISTERS = 16, /* as their numbers in instructions: rax 0 … r15 15 */
	HI_CODE_RSP = 4,
	HI_CODE_NO_REGISTER = 16,
	HI_CODE_RIP = 17, /* only as a base: disp is an address */
};

enum hi_code_step_kind {
	HI_STEP_OTHER, /* writes `written` */
	HI_STEP_MOVE,  /* dst = src */
	HI_STEP_MEET,  /* dst = dst or src */
	HI_STEP_LEA,   /* dst = address of src's memory */
	HI_STEP_ADD,   /* dst += src */
	HI_STEP_SUBTRACT,
	HI_STEP_SHIFT,	  /* dst <<= src */
	HI_STEP_MULTIPLY, /* dst = src * factor; factor 0: dst *= src */
	HI_STEP_ALIGN,	  /* dst &= src */
	HI_STEP_PUSH,
	HI_STEP_POP,
	HI_STEP_CALL,
	HI_STEP_JUMP,	/* to src, a constant, or unknown */
	HI_STEP_BRANCH, /* there, or on */
	HI_STEP_RETURN,
	HI_STEP_STOP, /* does not go on */
};

enum hi_code_operand_kind {
	HI_OPERAND_NONE,
	HI_OPERAND_REGISTER,
	HI_OPERAND_CONSTANT,
	HI_OPERAND_MEMORY,
};

struct hi_code_operand {
	uint8_t kind;	     /* enum hi_code_operand_kind */
	uint8_t reg;	     /* REGISTER; MEMORY: base */
	uint8_t index;	     /* MEMORY */
	uint8_t scale, size; /* size: bytes */
	int64_t number;	     /* CONSTANT; MEMORY: displacement, or address of RIP */
};

struct hi_code_op {
	uint64_t addr, end; /* [addr, end) */
	uint8_t kind;	    /* enum hi_code_step_kind */
	uint16_t written;   /* registers, a bit each */
	int64_t factor;
	struct hi_code_operand dst, src;
};
struct hi_code_steps HI_VECTOR(struct hi_code_op);

struct hi_code_decoder;
/* HI_NO_MEMORY. *ret: hi_code_decoder_close(). */
enum hi_status hi_code_decoder_open(struct hi_code_decoder **ret, struct hi_error *err);
void hi_code_decoder_close(struct hi_code_decoder *decoder); /* NULL is fine */

/* Appends the steps of code [bytes, bytes + size) that is at addr, up to a byte that is
 * no instruction, at most `most`. False: out of memory. */
bool hi_code_steps_read(struct hi_code_decoder *decoder, const uint8_t *bytes,
			size_t size, uint64_t addr, size_t most,
			struct hi_code_steps *ret);

#endif
