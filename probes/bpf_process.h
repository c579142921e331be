/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process as BPF programs see it. A program sees ids of the initial namespace, or, if
 * it asks for that, of the namespace that the hitting thread is in. If this process is in
 * the initial one its ids are used; elsewhere the target's ids in its own namespace.
 */
#ifndef HI_PROBES_BPF_PROCESS_H
#define HI_PROBES_BPF_PROCESS_H

#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct hi_bpf_process {
	uint64_t ns_device, ns_inode; /* 0: the initial namespace */
	uint32_t tgid;
	bool has_foreign_tids; /* the program sees thread ids of another namespace */
};

/* HI_OS: it has exited, or /proc cannot be read. */
enum hi_status hi_bpf_process_find(pid_t pid, struct hi_bpf_process *ret,
				   struct hi_error *err);
/* The thread with the id tid in the namespace of process pid, as its id in this process's
 * namespace; 0: none. */
pid_t hi_bpf_process_tid(pid_t pid, pid_t tid);
/* A uprobe_multi link uses the main thread's address space, which is gone then. */
bool hi_bpf_process_has_no_main_thread(pid_t pid);

#endif
