/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Data for a walk over the frames of a running CPython thread: where its state is, and
 * offsets in its structures. Fixed layout: BPF programs include this too.
 *
 * In a stack of return addresses a frame of Python is one word that no address of a
 * process can be, as its top bit is set:
 *
 *	63	1
 *	19..62	address of the code object / 8
 *	0..18	the instruction, counted in units of 2 bytes; HI_PYTHON_AT_UNKNOWN:
 *		beyond the range of these bits
 *
 * Code objects are freed, and others are made at their addresses. So BPF programs send a
 * second word after it: a check of the code object (hi_python_check()), by which a reader
 * finds out whether the object there is still the same. Code objects that it has copied
 * have numbers from then on (cpython_code.h), which take the place of the address.
 */
#ifndef HI_RUNTIMES_CPYTHON_WALK_H
#define HI_RUNTIMES_CPYTHON_WALK_H

#include <linux/types.h>

enum {
	HI_PYTHON_EVALS = 4,		  /* parts of the interpreter's loop */
	HI_PYTHON_FRAME_MAX = 128,	  /* bytes of a frame that are read */
	HI_PYTHON_CODE_MAX = 208,	  /* bytes of a code object */
	HI_PYTHON_OWNED_BY_GENERATOR = 1, /* owner of a frame */
	HI_PYTHON_AT_BITS = 19,
	HI_PYTHON_AT_UNKNOWN = (1 << HI_PYTHON_AT_BITS) - 1,
	HI_PYTHON_CODE_BITS = 44,
	HI_PYTHON_LINES = 64,	  /* bytes of a table of lines that are checked */
	HI_PYTHON_OWNED_BY_C = 3, /* and more: of a frame that stands for C code */
};
#define HI_PYTHON_FRAME (1ull << 63)

/* 0 in an offset: the version has no such member, where it is not the first word. */
struct hi_python_walk {
	__u64 code_type; /* PyCode_Type; 0: there is no CPython that is known */
	/* The text of _PyEval_EvalFrameDefault, its largest part first; end 0: none */
	struct hi_python_range {
		__u64 start, end;
	} evals[HI_PYTHON_EVALS];
	/* Address of the state of the thread that has the lock; 0: not in one place */
	__u64 current;
	/* Address of a pointer to the first interpreter. With `current`, the thread's own
	 * state is believed only where there is no second interpreter. */
	__u64 interpreters;
	/* The thread's own state: the word at the thread pointer + tss_block (0: the
	 * thread pointer itself), + tss; tss 0: not known */
	__u32 tss_block, tss;
	__u32 minor;	      /* 11 for 3.11 */
	__u32 interp_next;    /* PyInterpreterState */
	__u32 thread_pthread; /* PyThreadState: its thread pointer */
	__u32 thread_frame;   /* its frame, or what leads to it: */
	__u32 has_cframe, cframe_current;
	__u32 frame_size; /* bytes of a frame with all that follows; at most
			     HI_PYTHON_FRAME_MAX */
	__u32 frame_code, frame_previous, frame_instr, frame_owner, frame_is_entry;
	/* One frame to a call of the loop, and its instruction is a number of units of
	 * so many bytes; 0: it is an address */
	__u32 instr_unit;
	__u32 code_first_line, code_filename, code_qualname, code_lines,
		code_instructions;
	/* Bytes of a code object before its instructions. */
	__u32 code_size;
	/* A frame that has not come to this instruction is still being made, or is none
	 * of the program; unless a generator has it. 0: there are none (up to 3.10) */
	__u32 code_first_traceable;
};

/* Is the word of a stack a frame of Python? */
static inline int hi_python_is_frame(__u64 frame)
{
	return frame >> 63 != 0;
}

static inline __u64 hi_python_code_of(__u64 frame)
{
	return (frame >> HI_PYTHON_AT_BITS & ((1ull << HI_PYTHON_CODE_BITS) - 1)) << 3;
}

/* HI_PYTHON_AT_UNKNOWN: not known. */
static inline __u32 hi_python_at_of(__u64 frame)
{
	return (__u32)(frame & HI_PYTHON_AT_UNKNOWN);
}

static inline __u64 hi_python_mix(__u64 hash, __u64 word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 32;
}

/* The beginning of a table of lines, a bytes object. */
struct hi_python_lines {
	__u64 size;   /* ob_size */
	__u64 unused; /* ob_shash, which changes */
	__u64 words[HI_PYTHON_LINES / 8];
};
enum { HI_PYTHON_LINES_AT = 16 }; /* in the object */

/* Returns a check that distinguishes a code object from others that have been at its
 * address. */
static inline __u64 hi_python_check(__u32 first_line, __u64 filename, __u64 qualname,
				    const struct hi_python_lines *lines)
{
	__u64 check = hi_python_mix(filename, qualname);

	check = hi_python_mix(check, first_line);
	check = hi_python_mix(check, lines->size);
	for (int i = 0; i < HI_PYTHON_LINES / 8; i++)
		if (lines->size >= 8u * ((unsigned)i + 1))
			check = hi_python_mix(check, lines->words[i]);
	return check;
}

/* 0: it cannot be one word. */
static inline __u64 hi_python_frame(__u64 code, __u64 at)
{
	if (!code || code & 7 || code >> (HI_PYTHON_CODE_BITS + 3))
		return 0;
	if (at > HI_PYTHON_AT_UNKNOWN)
		at = HI_PYTHON_AT_UNKNOWN;
	return HI_PYTHON_FRAME | code >> 3 << HI_PYTHON_AT_BITS | at;
}

#endif
