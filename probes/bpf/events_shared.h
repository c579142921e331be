/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Memory that the BPF programs of allocation events and their loader share: both map it.
 * Fixed layout.
 */
#ifndef HI_PROBES_BPF_EVENTS_SHARED_H
#define HI_PROBES_BPF_EVENTS_SHARED_H

#include <linux/types.h>

#include "census/event.h"
#include "decode/runtimes/cpython_walk.h"
#include "probes/bpf/sampling.h"

enum {
	HI_BPF_EVENT_FUNCTIONS = 128,	 /* that are probed, at most */
	HI_BPF_EVENT_PLACES = 2048,	 /* of all of them */
	HI_BPF_EVENT_SLOTS = 8,		 /* counters of a function, by cpu */
	HI_BPF_EVENT_OWN = 4,		 /* ranges of the allocator's own text */
	HI_BPF_EVENT_CALLS = 1 << 16,	 /* of all threads, at one time */
	HI_BPF_CALLER_THREADS = 1 << 12, /* that are inside of functions at one time */
	HI_BPF_CALLERS_BITS = 6,
	/* Calls of a thread within each other: as many as the kernel sees return. */
	HI_BPF_CALLERS = 1 << HI_BPF_CALLERS_BITS,
	HI_BPF_EVENT_STACKS = 1 << 15, /* sets of stacks that were sent */
	HI_BPF_EVENT_SCRATCH = 256,
	HI_BPF_EVENT_LINES = 256,      /* of bytes, on which samples are drawn; by cpu */
	HI_BPF_SAMPLED_SETS = 1 << 18, /* of addresses, for 1 KiB of memory each */
	HI_BPF_STACK_WINDOW = 2048,    /* bytes of a stack that are copied at once */
	HI_BPF_STACK_RULE_BITS = 8,
	HI_BPF_STACK_RULES = 1 << HI_BPF_STACK_RULE_BITS, /* that are remembered */
	/* The cookie of the loader's own site, as in shared.h. */
	HI_BPF_EVENT_OWN_SITE = 0x7fffffff,
	/*
	 * A record of the ring is a struct hi_event, or as many bytes as a struct
	 * hi_event_stack has with its frames and these: so it never has the same size.
	 */
	HI_BPF_STACK_PAD = 4,
	HI_BPF_TICK_THREADS = 1 << 13, /* whose samples are told apart */
	/* The cookie of a place: from these bits on the register, whether the block is in
	 * memory at an offset from it, and that. Below: the function. */
	HI_BPF_REGISTER_SHIFT = 8,
	HI_BPF_IN_MEMORY = 1 << 12,
	HI_BPF_OFFSET_SHIFT = 16,
	HI_BPF_GIVEN_BLOCKS = 256, /* that were given out last; by cpu */
	HI_BPF_BETWEEN_BINS = 128,
	HI_BPF_BETWEEN_NS = 32, /* of a bin */
};

/*
 * Effect of a function, by its arguments: they have the numbers 1 to 6 in the order of
 * the registers, 0 is none. A cookie is the index of the function in the table of these.
 *
 *	malloc(size)		      size 1, result HI_BPF_RETURNED
 *	reallocarray(block, n, size)  block 1, count 2, size 3, result HI_BPF_RETURNED
 *	posix_memalign(&block, _, size)	size 3, result 1
 *	free(block)		      block 1
 */
struct hi_bpf_function {
	__u8 size, count; /* arguments whose product is the size, in units */
	__u8 block;	 /* argument: is given back, or where there is a result resized */
	__u8 result;	 /* HI_BPF_RETURNED, or the argument that points to it; none: the
			    function gives nothing */
	__u8 block_size; /* argument: how much of the block; none: all of it */
	__u8 source;	 /* of struct hi_event */
	__u8 family;	 /* enum hi_event_family */
	__u8 flags;	 /* enum hi_bpf_function_flags */
	__u64 unit;	 /* bytes; 0: the size is not known */
};

enum { HI_BPF_ARGUMENTS = 6, HI_BPF_RETURNED = 7 };

enum hi_bpf_function_flags {
	HI_BPF_RETURNS_ERROR = 1, /* and a result only where that is 0 */
	HI_BPF_RETURNS_SIZE = 2,  /* the block stays where it is, and has the size that it
				     was to have only where no less is returned */
	HI_BPF_NOT_OWN = 4,	  /* calls that the allocator makes do not count */
	HI_BPF_ALWAYS = 8,	  /* also of samples */
	HI_BPF_OPTIONAL = 16,	  /* may be called too often to be followed */
	/* It has no entry and no return, but places, whose cookies name where its block
	 * is there. With block and result: an object (of Python), whose block was given
	 * out before and is used again. */
	HI_BPF_AT_PLACES = 32,
	HI_BPF_OF_POOL = 64, /* the size is what pymalloc's pool is divided into */
};

/* Work of the programs. */
enum hi_bpf_events_running {
	HI_BPF_EVENTS_NOT,
	HI_BPF_EVENTS_MADE,
	HI_BPF_EVENTS_COUNTED, /* calls and bytes, and no event is made */
};

/* Read-only data, which the loader fills. */
struct hi_bpf_events_given {
	__u32 keeps_callers; /* see Note [Returns that are probed] in events.bpf.c */
	__u32 has_task_regs; /* does the kernel have bpf_task_pt_regs()? */
	__u32 pool_size;     /* of pymalloc */
	__u32 scan_steps; /* of a timer, from one sample of time to the next; 0: there are
			     none */
	__u64 scan_step_ns; /* of CPU time */
	struct hi_sampling_table sampling;
	struct hi_bpf_function functions[HI_BPF_EVENT_FUNCTIONS];
};

struct hi_bpf_events_shared {
	/* Written by the loader. */
	__u32 running; /* enum hi_bpf_events_running */
	__u32 tgid;    /* the process, as in struct hi_bpf_shared */
	__u64 ns_device, ns_inode;
	__u64 trampoline;   /* where probed functions return to; 0: not known yet */
	__u64 generation;   /* of the tables of stacks */
	__u64 sample_bytes; /* mean distance of samples; 0: all are recorded */
	struct hi_bpf_range {
		__u64 start, end;
	} own[HI_BPF_EVENT_OWN]; /* what is called from there makes no event */
	/* The interpreter whose frames are shown in stacks. */
	struct hi_python_walk python;
	__u64 fs_base; /* offset of a thread's pointer in the kernel's task_struct; 0: not
			  known, and no frames of Python are shown */
	__u64 is_paused; /* what is allocated makes no event, but what frees recorded
			    blocks does */
	/* A recording by windows: the number of the last one, its end (CLOCK_MONOTONIC),
	 * and after how many hits it ends before that. 0: there are none. */
	__u64 window, window_until_ns, window_budget;
	/* Written by the programs. */
	__u64 window_hits;   /* of the last window */
	__u64 window_end_ns; /* as a hit found it to be over; 0: none has */
	__u64 late_hits;     /* of all windows, after their ends */
	__u64 program_ns;    /* in programs, of all windows */
	/* Calls of all windows by the time from the end of the program at the entry to
	 * the begin of that at the return: two halves of traps, and malloc. */
	__u32 between[HI_BPF_BETWEEN_BINS];
	__u64 unused[6];
	__u64 own_hits;	  /* of the loader's own site */
	__u64 lost;	  /* events, since the last HI_EVENT_LOST */
	__u64 lost_total; /* events that did not fit into the ring */
	__u64 lost_calls; /* for which there was no room */
	__u64 abandoned;  /* calls that did not return */
	/* Blocks of malloc's family that were given out in pauses, and their bytes. */
	__u64 paused_calls, paused_bytes;
	__u64 no_regs; /* samples of time of which no register was known */
};

/* Index function * HI_BPF_EVENT_SLOTS + cpu % HI_BPF_EVENT_SLOTS. */
struct hi_bpf_event_counts {
	__u64 hits;   /* entries */
	__u64 nested; /* of those: inside another function of the allocator */
	__u64 failed; /* returned no block */
	__u64 counted, counted_bytes; /* calls and their sizes, while they are counted */
	__u64 unused[3];
};

#endif
