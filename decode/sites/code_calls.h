/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls of a function, with what is known of their arguments: constants, parameters of
 * the function times and plus constants, results of other calls. Values are followed
 * through registers and the function's own stack, over all ways through its code; where
 * ways disagree a value is unknown. Memory that other functions may change through
 * pointers is taken to stay as it is, so that arguments are likely, and not certain.
 */
#ifndef HI_DECODE_SITES_CODE_CALLS_H
#define HI_DECODE_SITES_CODE_CALLS_H

#include "decode/sites/code_steps.h"

enum { HI_CODE_ARGUMENTS = 6 };

enum hi_code_value_kind {
	HI_VALUE_ANY,	    /* a multiple of mul, and add */
	HI_VALUE_CONSTANT,  /* add */
	HI_VALUE_PARAMETER, /* mul * parameter `index` + add */
	HI_VALUE_RESULT,    /* of call `index`, + add */
	HI_VALUE_STACK,	    /* address: rsp at the entry + add */
	HI_VALUE_MEMORY,    /* eight bytes that are read at the address add */
};
struct hi_code_value {
	uint8_t kind; /* enum hi_code_value_kind */
	uint32_t index;
	uint64_t mul; /* of ANY and PARAMETER; at least 1 */
	int64_t add;
};

struct hi_code_call {
	uint64_t end; /* the return address */
	/* The address that is called, or of the memory that has it; 0: unknown. */
	uint64_t target;
	bool is_through_memory;
	bool is_jump;	  /* the function ends there: the callee returns for it */
	bool is_returned; /* the function returns its result */
	struct hi_code_value arguments[HI_CODE_ARGUMENTS];
	/* The last constant that is stored where the result points to; 0: none. */
	uint64_t first_word;
};
struct hi_code_calls HI_VECTOR(struct hi_code_call);

/* Finds the calls of a function of these steps, in their order. HI_NO_MEMORY. */
enum hi_status hi_code_calls_find(const struct hi_code_steps *steps,
				  struct hi_code_calls *ret, struct hi_error *err);

/* A value times and plus a constant. */
struct hi_code_value hi_code_value_scale(struct hi_code_value v, uint64_t mul,
					 int64_t add);

#endif
