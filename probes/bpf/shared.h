/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Memory that the BPF program of a probe and its loader share: both map it. Fixed layout.
 * The loader writes everything except the data of a hit.
 */
#ifndef HI_PROBES_BPF_SHARED_H
#define HI_PROBES_BPF_SHARED_H

#include <linux/types.h>

enum {
	HI_BPF_TERMS = 8,     /* of a condition, joined by && */
	HI_BPF_LOADS = 4,     /* a->b->c->d */
	HI_BPF_HIT_SLOTS = 8, /* counters of a site, by cpu: a cache line each */
	HI_BPF_NO_REGISTER = 7,
	/* The cookie of the loader's own site: a hit there is counted in own_hits,
	 * whichever process it is of, and does nothing else. */
	HI_BPF_OWN_SITE = 0x7fffffff,
};

enum hi_bpf_operator {
	HI_BPF_EQUAL,
	HI_BPF_UNEQUAL,
	HI_BPF_LESS,
	HI_BPF_LESS_EQUAL,
	HI_BPF_GREATER,
	HI_BPF_GREATER_EQUAL,
};

/*
 * value = `start`, or the n-th argument register; then n_loads times: what is at
 * value + offset[i], 8 bytes, `size` bytes at the last. Compared with `number`.
 */
struct hi_bpf_term {
	__u64 start;
	__s64 offset[HI_BPF_LOADS];
	__s64 number;
	__u8 argument; /* 0 … 5; HI_BPF_NO_REGISTER: start */
	__u8 n_loads, size;
	__u8 is_signed; /* how it is extended to 64 bits */
	__u8 op, compares_signed;
	__u8 unused[2];
};

enum hi_bpf_armed { HI_BPF_OFF, HI_BPF_ARMED, HI_BPF_TAKEN };

struct hi_bpf_shared {
	__u32 armed;   /* OFF or ARMED by the loader; TAKEN by the winning hit */
	__u32 was_hit; /* 1 when what follows is written */
	__u64 hit_time, hit_pc;
	__u32 hit_tid, hit_site;
	__u64 satisfied; /* hits that met the condition since the arming */
	__u64 every;	 /* the hit that counts, from 1 */
	/* The process: its id in the initial namespace, or, ns_inode not 0, in that. */
	__u64 ns_device, ns_inode;
	__u32 tgid;
	__u32 signal;
	__u32 n_terms;
	__u32 hit_unsent;     /* the thread blocks the signal: none was sent */
	__u64 blocked_offset; /* of task_struct.blocked; 0: not known */
	__u64 own_hits;	      /* of HI_BPF_OWN_SITE */
	__u64 ptrace_offset;  /* of task_struct.ptrace; 0: not known, or all may hit */
	__u64 arming;	      /* counts up with each arming, from 1 */
	struct hi_bpf_term terms[HI_BPF_TERMS];
};

/* A map of its own: index site * HI_BPF_HIT_SLOTS + cpu % HI_BPF_HIT_SLOTS. */
struct hi_bpf_hits {
	__u64 count;
	__u64 unused[7];
};

#endif
