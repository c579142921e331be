/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Chooses the place of a probe in a function. The kernel emulates a few instructions and
 * single-steps all others, which costs 20 to 40 times as much in a virtual machine
 * (bench/bench_probe.c): Note [Which instructions are cheap] in prologue.c.
 */
#ifndef HI_PROBES_PROLOGUE_H
#define HI_PROBES_PROLOGUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hi_prologue_site {
	uint64_t offset; /* bytes after the entry */
	bool single_stepped;
	char instruction[64]; /* as text; "" it cannot be decoded */
};

/* A bit of `kept`: the stack pointer must still be what it was at the entry. */
enum { HI_PROLOGUE_STACK = 1 << 6 };

/*
 * code[0 .. size) are the bytes of the whole function (size 0: unknown, the entry is
 * chosen), as the file has them; addr is its address. kept: bit n, the n-th integer
 * argument (from 0) must still be in its register.
 */
void hi_prologue_choose(const uint8_t *code, size_t size, uint64_t addr, unsigned kept,
			struct hi_prologue_site *ret);
/* The instruction at code[0], as it is. */
void hi_prologue_look(const uint8_t *code, size_t size, uint64_t addr,
		      struct hi_prologue_site *ret);
/*
 * Finds the exits of the function: offsets, ascending, of its returns and of the direct
 * jumps out of it (tail calls; [addr, addr + size) is inside, and so is another part of
 * it, for which is_part holds). At most `max` are written; the result is their number,
 * SIZE_MAX where not all of its bytes can be decoded. An indirect jump is taken for one
 * through a table of a switch.
 */
size_t hi_function_exits(const uint8_t *code, size_t size, uint64_t addr,
			 bool (*is_part)(void *arg, uint64_t target), void *arg,
			 uint64_t *offsets, size_t max);
/* Finds the targets of direct jumps out of the function: addresses, in the order of the
 * jumps. At most `max` are written; the result is their number. */
size_t hi_function_jumps_out(const uint8_t *code, size_t size, uint64_t addr,
			     uint64_t *targets, size_t max);
/* The same of its direct calls. */
size_t hi_function_calls(const uint8_t *code, size_t size, uint64_t addr,
			 uint64_t *targets, size_t max);
/* The same of the addresses in memory that it uses, as far as the instructions alone say
 * them. */
size_t hi_function_operands(const uint8_t *code, size_t size, uint64_t addr,
			    uint64_t *targets, size_t max);
/* Does the kernel emulate it? n bytes, one whole instruction. */
bool hi_instruction_is_emulated(const uint8_t *bytes, size_t n);

#endif
