/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Memory that the BPF program of calls that pass objects (uses.bpf.c) and its loader
 * share. Fixed layout.
 */
#ifndef HI_PROBES_BPF_USES_SHARED_H
#define HI_PROBES_BPF_USES_SHARED_H

#include <linux/types.h>

enum {
	HI_BPF_USE_SITES = 64,
	HI_BPF_USE_REGISTERS = 6,
	HI_BPF_USE_ADDRESSES = 65536, /* that are kept of a period */
	/* The cookie of the loader's own site, as HI_BPF_OWN_SITE. */
	HI_BPF_USE_OWN_SITE = 0x7fffffff,
};

struct hi_bpf_uses_shared {
	/* The process: its id in the initial namespace, or, ns_inode not 0, in that. */
	__u64 ns_device, ns_inode;
	__u32 tgid;
	__u32 is_odd;	 /* which of the two maps has the open period */
	__u32 is_stored; /* 0: hits are counted only */
	__u32 unused;
	__u64 own_hits;
	__u64 hit_ns;	  /* what a hit took in a trial; 0: there was none */
	__u64 not_stored; /* addresses for which there was no room */
	/* By site: bit n, the n-th integer argument register has a pointer to a record.
	 */
	__u8 registers[HI_BPF_USE_SITES];
};

/* A map of its own, by site. */
struct hi_bpf_use_hits {
	__u64 count;
	__u64 unused[7];
};

/* When an address was passed: CLOCK_MONOTONIC. */
struct hi_bpf_use_times {
	__u64 first_ns, last_ns;
};

#endif
