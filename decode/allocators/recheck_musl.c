/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Note [Stacks of musl]
 *
 * musl's own code has no unwinding tables: a stack that ends in it cannot be unwound, and
 * a stale word that looks like a caller in malloc's code could not be told from a caller.
 * But a thread that is in a system call says by this call where it is not. malloc maps
 * and unmaps memory and waits for its lock, which is a variable: its code refers to it by
 * address. A thread that makes any other call, or waits for any other word, is outside.
 * What a handler of a signal does that came inside of malloc is taken for outside: the
 * checks of the walk (headers of live slots) notice what it leaves half done.
 */
#include "decode/allocators/musl.h"

#include <string.h>
#include <sys/syscall.h>

enum { PIECE = 4096, WORD = 4 };

static bool is_call_of_musl_malloc(uint64_t number)
{
	static const unsigned short calls[] = {SYS_mmap, SYS_mprotect, SYS_munmap,
					       SYS_brk,	 SYS_mremap,   SYS_madvise};

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (number == calls[i])
			return true;
	return false;
}

/* Is there a displacement in these bytes, relative to what follows or absolute, that is
 * word's? */
static bool refers_to_word(const uint8_t *bytes, size_t n, uint64_t addr, uint64_t word)
{
	for (size_t i = 0; i + WORD <= n; i++) {
		int32_t value;

		memcpy(&value, bytes + i, sizeof(value));
		if (addr + i + WORD + (uint64_t)(int64_t)value == word ||
		    (uint64_t)(int64_t)value == word)
			return true;
	}
	return false;
}

static bool is_word_of_text(struct hi_modules *modules, const struct hi_range *text,
			    size_t n_text, uint64_t word)
{
	uint8_t bytes[PIECE + WORD];

	for (size_t i = 0; i < n_text; i++)
		for (uint64_t at = text[i].start; at < text[i].end; at += PIECE) {
			uint64_t left = text[i].end - at;
			size_t n = left < sizeof(bytes) ? left : sizeof(bytes);

			if (hi_modules_read(modules, at, bytes, n, NULL) != HI_OK ||
			    refers_to_word(bytes, n, at, word))
				return true;
		}
	return false;
}

bool hi_musl_waits_outside(const struct hi_thread *thread, struct hi_modules *modules,
			   const struct hi_range *text, size_t n_text)
{
	const struct user_regs_struct *regs = &thread->regs;
	uint8_t code[2] = {};

	if (!hi_musl_may_be_in(modules) ||
	    hi_modules_read(modules, regs->rip, code, sizeof(code), NULL) != HI_OK ||
	    code[0] != 0x0f || code[1] != 0x05) /* syscall */
		return false;
	for (size_t i = 0; i < n_text; i++)
		if (regs->rip >= text[i].start && regs->rip < text[i].end)
			return false;
	if (regs->rax != SYS_futex)
		return !is_call_of_musl_malloc(regs->rax);
	return !is_word_of_text(modules, text, n_text, regs->rdi);
}
