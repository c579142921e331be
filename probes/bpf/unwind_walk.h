/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * One step from a frame to its caller, by tables (unwind.h): the same for BPF programs
 * and for user space. Whatever includes this defines before
 *
 *	struct hi_unwind_reader
 *	HI_UNWIND_NOTHING		   0, as a value that the kernel's verifier
 *					   cannot compute: it follows each path with
 *					   a constant index by itself
 *	HI_UNWIND_WORD(reader, index)	   a word of the tables, else HI_UNWIND_NOTHING
 *	HI_UNWIND_STACK(reader, addr, ret) a word of the stack; true if it was read
 *	HI_UNWIND_RULE(reader, pc)	   the rule at pc: by hi_unwind_search(), or from
 *					   a memory of it
 */
#ifndef HI_PROBES_BPF_UNWIND_WALK_H
#define HI_PROBES_BPF_UNWIND_WALK_H

#include "probes/bpf/unwind.h"

enum hi_unwind_step { HI_UNWIND_ON, HI_UNWIND_OUTERMOST, HI_UNWIND_CUT };

enum {
	/* A handler may run on a stack that lies higher: so often the walk may go down.
	 */
	HI_UNWIND_SIGNALS_MAX = 8,
	/* struct ucontext of the kernel, x86-64: uc_mcontext at 40. */
	HI_UCONTEXT_RBP = 120,
	HI_UCONTEXT_RSP = 160,
	HI_UCONTEXT_RIP = 168,
};

#define HI_UNWIND_INLINE static inline __attribute__((always_inline, unused))

HI_UNWIND_INLINE __u32 hi_unwind_half(struct hi_unwind_reader *reader, __u32 word,
				      __u32 index)
{
	return (__u32)(HI_UNWIND_WORD(reader, word + (index >> 1)) >> (index & 1) * 32);
}

/* The last module that starts at or below pc; there is at least one. */
HI_UNWIND_INLINE __u32 hi_unwind_find_module(struct hi_unwind_reader *reader, __u32 at,
					     __u32 n, __u64 pc)
{
	__u32 found = HI_UNWIND_NOTHING;

	for (__u32 step = 1u << (HI_UNWIND_MODULE_BITS - 1); step; step >>= 1) {
		__u32 next = found + step;

		if (next < n &&
		    HI_UNWIND_WORD(reader, at + next * HI_UNWIND_MODULE_WORDS) <= pc)
			found = next;
	}
	return at + found * HI_UNWIND_MODULE_WORDS;
}

/* The last row of [before + 1, end) that begins at or below the offset, else `before`. */
HI_UNWIND_INLINE __u32 hi_unwind_find_row(struct hi_unwind_reader *reader, __u32 rows,
					  __u32 before, __u32 end, __u32 offset)
{
	__u32 found = before;

	for (__u32 step = 1u << (HI_UNWIND_PAGE_BITS - 1); step; step >>= 1) {
		__u32 next = found + step;

		if (next < end &&
		    hi_unwind_half(reader, rows, next) >> HI_UNWIND_RULE_BITS <= offset)
			found = next;
	}
	return found;
}

/* The number of the rule at pc; 0: there is none. */
HI_UNWIND_INLINE __u32 hi_unwind_search(struct hi_unwind_reader *reader, __u64 pc)
{
	__u64 head0 = HI_UNWIND_WORD(reader, 0), head1 = HI_UNWIND_WORD(reader, 1);
	__u32 n = (__u32)(head0 >> 32), modules = (__u32)head1;
	__u32 pages = (__u32)(head1 >> 32), rows = (__u32)HI_UNWIND_WORD(reader, 2);
	__u32 module, page, first, end;
	__u64 start;

	module = hi_unwind_find_module(reader, modules, n, pc);
	start = HI_UNWIND_WORD(reader, module);
	if (pc < start || pc >= HI_UNWIND_WORD(reader, module + 1))
		return 0;
	page = (__u32)HI_UNWIND_WORD(reader, module + 2) +
	       (__u32)((pc - start) >> HI_UNWIND_PAGE_BITS);
	first = hi_unwind_half(reader, pages, page);
	end = hi_unwind_half(reader, pages, page + 1);
	first = hi_unwind_find_row(reader, rows, first - 1, end,
				   (__u32)(pc & ((1 << HI_UNWIND_PAGE_BITS) - 1)));
	return hi_unwind_half(reader, rows, first) & (HI_UNWIND_RULES_MAX - 1);
}

/* That of hi_unwind_search(). */
HI_UNWIND_INLINE __u64 hi_unwind_rule(struct hi_unwind_reader *reader, __u32 number)
{
	return HI_UNWIND_WORD(reader, HI_UNWIND_HEAD_WORDS + number);
}

HI_UNWIND_INLINE __u64 hi_unwind_rule_of(struct hi_unwind_reader *reader,
					 const struct hi_unwind_regs *regs)
{
	__u64 rule = HI_UNWIND_RULE(reader, regs->rip - !regs->is_exact);

	/* makecontext() gives the address of a function as a return address. */
	return rule || regs->is_exact ? rule : HI_UNWIND_RULE(reader, regs->rip);
}

HI_UNWIND_INLINE enum hi_unwind_step hi_unwind_signal(struct hi_unwind_reader *reader,
						      struct hi_unwind_regs *regs)
{
	__u64 context = regs->rsp;

	if (++regs->n_signals > HI_UNWIND_SIGNALS_MAX ||
	    !HI_UNWIND_STACK(reader, context + HI_UCONTEXT_RBP, &regs->rbp) ||
	    !HI_UNWIND_STACK(reader, context + HI_UCONTEXT_RSP, &regs->rsp) ||
	    !HI_UNWIND_STACK(reader, context + HI_UCONTEXT_RIP, &regs->rip))
		return HI_UNWIND_CUT;
	regs->is_exact = 1;
	return regs->rip ? HI_UNWIND_ON : HI_UNWIND_OUTERMOST;
}

/* 0: not readable. */
HI_UNWIND_INLINE __u64 hi_unwind_cfa(struct hi_unwind_reader *reader,
				     const struct hi_unwind_regs *regs, __u64 rule)
{
	__u32 kind = (__u32)(rule >> 48) & 0xff, plt = (__u32)(rule >> 60);
	__u64 cfa = regs->rsp;

	if (kind == HI_UNWIND_RBP || kind == HI_UNWIND_AT_RBP)
		cfa = regs->rbp;
	cfa += (__u64)(__s64)(__s32)rule;
	if (kind == HI_UNWIND_PLT && (regs->rip & 15) >= plt)
		cfa += 8;
	if ((kind == HI_UNWIND_AT_RSP || kind == HI_UNWIND_AT_RBP) &&
	    !HI_UNWIND_STACK(reader, cfa, &cfa))
		return 0;
	return cfa;
}

/* False: not readable. */
HI_UNWIND_INLINE int hi_unwind_restore_rbp(struct hi_unwind_reader *reader,
					   struct hi_unwind_regs *regs, __u64 rule,
					   __u64 cfa)
{
	__u32 saved = (__u32)(rule >> 56) & 3;
	__u64 at = saved == HI_UNWIND_RBP_AT_RBP ? regs->rbp : cfa;

	if (saved == HI_UNWIND_RBP_SAME)
		return 1;
	if (saved == HI_UNWIND_RBP_LOST) {
		regs->rbp = 0;
		return 1;
	}
	at += (__u64)(__s64)(__s16)(rule >> 32);
	return HI_UNWIND_STACK(reader, at, &regs->rbp);
}

/* To the caller's registers. They are worth nothing unless it goes on. */
HI_UNWIND_INLINE enum hi_unwind_step hi_unwind_step(struct hi_unwind_reader *reader,
						    struct hi_unwind_regs *regs)
{
	__u64 rule = hi_unwind_rule_of(reader, regs), cfa;
	__u32 kind = (__u32)(rule >> 48) & 0xff;

	if (kind == HI_UNWIND_NONE)
		return HI_UNWIND_CUT;
	if (kind == HI_UNWIND_END)
		return HI_UNWIND_OUTERMOST;
	if (kind == HI_UNWIND_SIGNAL)
		return hi_unwind_signal(reader, regs);
	cfa = hi_unwind_cfa(reader, regs, rule);
	if (cfa <= regs->rsp || !HI_UNWIND_STACK(reader, cfa - 8, &regs->rip) ||
	    !hi_unwind_restore_rbp(reader, regs, rule, cfa))
		return HI_UNWIND_CUT;
	regs->rsp = cfa;
	regs->is_exact = 0;
	return regs->rip ? HI_UNWIND_ON : HI_UNWIND_OUTERMOST;
}

#endif
