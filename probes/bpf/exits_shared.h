/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/* Shared by the program of exits.bpf.c and exit_log.c. Included by BPF programs. */
#ifndef HI_PROBES_BPF_EXITS_SHARED_H
#define HI_PROBES_BPF_EXITS_SHARED_H

#include <linux/types.h>

/* The first words of struct user_regs_struct, which are the kernel's struct pt_regs. */
enum { HI_BPF_EXIT_REGS = 21 };

struct hi_bpf_exit_thread {
	__u32 tid, tgid;
	__u32 code; /* as of wait(): the signal in the lowest seven bits */
	__u32 is_filled;
	char name[16];
	__u64 regs[HI_BPF_EXIT_REGS];
	__u64 fs_base, gs_base;
};

struct hi_bpf_exits {
	__u64 ns_device, ns_inode; /* 0: the initial namespace */
	__u32 tgid;
	__u32 n_execs;
	__u64 exec_ns;	 /* of the first one, CLOCK_MONOTONIC */
	__u32 n_threads; /* that ended with the process, more than there is room for too
			  */
};

#endif
