/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Allocation events of a process, in a fixed layout: BPF programs include this too.
 */
#ifndef HI_CENSUS_EVENT_H
#define HI_CENSUS_EVENT_H

#include <linux/types.h>

enum hi_event_kind {
	HI_EVENT_ALLOC = 1,	/* addr, size were given to the program */
	HI_EVENT_FREE,		/* at the entry: addr is given back */
	HI_EVENT_REALLOC_BEGIN, /* at the entry: addr may be given back; size is the new
				   one */
	HI_EVENT_REALLOC_END,	/* at the return: addr is the result (0: failed, the old
				   block lives on), old is what was passed */
	HI_EVENT_STACK,		/* struct hi_event_stack */
	HI_EVENT_LOST,		/* size events were lost here */
	HI_EVENT_TICK,		/* a sample of time: tid runs now, at `stack`, whose first
				 * frame is after the instruction that it is at */
	HI_EVENT_FAILED,	/* a call gave no block of the size that it was asked for;
				 * of a reallocation whose begin was sent its end has
				 * that. Only of HI_FAMILY_MALLOC */
};

enum hi_event_flags {
	HI_EVENT_STACK_CUT = 1, /* outer frames of the stack are missing */
	HI_EVENT_SAMPLED = 2,
	HI_EVENT_PAUSED = 4,   /* of the end of a reallocation: the new block is not
				  recorded, though all others are */
	HI_EVENT_IN_PROBE = 8, /* of a tick: the kernel works for a probe of ours */
};

/*
 * Allocators whose functions call each other, and give out the same blocks: of calls
 * within each other the outermost counts. Blocks of different families are different,
 * also where they have the same address: a pool's pieces lie in blocks of malloc.
 */
enum hi_event_family {
	HI_FAMILY_MALLOC,   /* general allocators, runtimes' included */
	HI_FAMILY_CALLS,    /* functions of the program that were named */
	HI_FAMILY_MAPPINGS, /* mmap: blocks are ranges, of which HI_EVENT_FREE and
			       HI_EVENT_REALLOC_BEGIN take [addr, addr + size) */
	HI_FAMILIES
};

struct hi_event {
	__u64 time_ns; /* CLOCK_MONOTONIC */
	__u64 addr, size, old;
	__u64 stack; /* hash of the frames; 0: none */
	__u32 tid;   /* as /proc/PID/task of the inspector's namespace has it */
	__u16 kind;
	__u8 source; /* which functions, by a table of the recording: 0 malloc */
	__u8 flags;  /* enum hi_event_flags */
};

/* Which functions gave a block; an event has the number of its source. */
struct hi_event_source_name {
	char name[64];	/* "malloc", "je_malloc", "pool_get"; hostile */
	__u32 family;	/* enum hi_event_family */
	__u32 is_whole; /* all of its blocks have events, also of samples */
};

enum {
	HI_EVENT_SOURCES = 32,
	HI_STACK_FRAMES = 127,
	HI_STACK_WORDS = 2 * HI_STACK_FRAMES
};

/* A stack that events before it or after it name. */
struct hi_event_stack {
	__u64 stack; /* the hash */
	__u16 kind;  /* HI_EVENT_STACK */
	__u16 n;     /* words of frames, innermost first: the caller of the allocator's
			function */
	__u8 cut, unused[3];
	/* Return addresses; only n are there. A frame of Python (its top bit is set) is
	 * two words, counted as two, until its code was looked at: see
	 * decode/runtimes/cpython_walk.h. */
	__u64 frames[HI_STACK_WORDS];
};

#endif
