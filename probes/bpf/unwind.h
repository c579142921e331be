/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Tables by which the stacks of a process are walked: words of 8 bytes, little-endian.
 * Made by events/unwind_tables.c, read by unwind_walk.h.
 *
 *	head	 struct hi_unwind_head
 *	rules	 8 bytes each: struct hi_unwind_rule; rule 0 is HI_UNWIND_NONE
 *	modules	 struct hi_unwind_module each, by start, disjoint
 *	pages	 4 bytes each; for each page of a module, and one after them: the first
 *		 row that belongs to it or to a later page
 *	rows	 4 bytes each: where in its page the row begins (12 bits), and its rule
 *		 (20 bits); a row holds up to the next one, across pages. Row 0 is in no
 *		 module, and the first row of a module begins where that begins.
 */
#ifndef HI_PROBES_BPF_UNWIND_H
#define HI_PROBES_BPF_UNWIND_H

#include <linux/types.h>

enum {
	HI_UNWIND_PAGE_BITS = 12,
	HI_UNWIND_RULE_BITS = 20,
	HI_UNWIND_RULES_MAX = 1 << HI_UNWIND_RULE_BITS,
	HI_UNWIND_MODULE_BITS = 12,
	HI_UNWIND_MODULES_MAX = (1 << HI_UNWIND_MODULE_BITS) - 1,
	HI_UNWIND_WORDS_MAX = 8 << 20,
};

/* Positions are those of words. */
struct hi_unwind_head {
	__u32 n_rules, n_modules;
	__u32 modules, pages;
	__u32 rows, n_pages;
	__u32 n_rows, unused;
};
enum { HI_UNWIND_HEAD_WORDS = sizeof(struct hi_unwind_head) / 8 };

/* A mapping of code: [start, end), whole pages, and its first entry of `pages`. */
struct hi_unwind_module {
	__u64 start, end;
	__u64 pages;
};
enum { HI_UNWIND_MODULE_WORDS = sizeof(struct hi_unwind_module) / 8 };

/* The form of the CFA (the stack pointer before the call). The return address is below
 * it. */
enum hi_unwind_kind {
	HI_UNWIND_NONE,	  /* not known */
	HI_UNWIND_END,	  /* the outermost frame */
	HI_UNWIND_RSP,	  /* rsp + cfa */
	HI_UNWIND_RBP,	  /* rbp + cfa */
	HI_UNWIND_AT_RSP, /* the word there */
	HI_UNWIND_AT_RBP, /* the word there */
	HI_UNWIND_PLT,	  /* rsp + cfa, 8 more from byte `plt` of 16 on */
	HI_UNWIND_SIGNAL, /* none: rsp leads to a struct ucontext */
	HI_UNWIND_KINDS,
};

/* Places of the caller's rbp. */
enum hi_unwind_rbp {
	HI_UNWIND_RBP_SAME,
	HI_UNWIND_RBP_AT_CFA, /* the word at the CFA + rbp */
	HI_UNWIND_RBP_AT_RBP, /* the word at rbp + rbp */
	HI_UNWIND_RBP_LOST,
};

struct hi_unwind_rule {
	__s32 cfa;
	__s16 rbp;
	__u8 kind;  /* enum hi_unwind_kind */
	__u8 saved; /* enum hi_unwind_rbp, and plt << 4 */
};

/* Registers of a frame, on the way out. */
struct hi_unwind_regs {
	__u64 rip, rsp, rbp; /* rbp 0: not known */
	__u32 is_exact;	 /* rip is where it goes on, or was interrupted; else it is after
			  * a call, which may be the last instruction of its function */
	__u32 n_signals; /* signal frames so far */
};

#endif
