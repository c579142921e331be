/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Runs where a process executes a program and where a thread exits: of the target it
 * keeps when that was, and the registers with which its threads left user mode for the
 * last time. It delays nothing and writes nothing but its own maps.
 */
#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "probes/bpf/exits_shared.h"

char _license[] SEC("license") = "Dual BSD/GPL";

enum { GROUP_EXIT = 4 }; /* SIGNAL_GROUP_EXIT of linux/sched/signal.h */

/* The parts that are used of the kernel's types; the loader finds the offsets. */
typedef struct {
	int counter;
} atomic_t;

struct signal_struct {
	atomic_t live;
	unsigned int flags;
} __attribute__((preserve_access_index));

struct thread_struct {
	unsigned long fsbase, gsbase;
} __attribute__((preserve_access_index));

struct task_struct {
	struct signal_struct *signal;
	int exit_code;
	char comm[16];
	struct thread_struct thread;
} __attribute__((preserve_access_index));

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct hi_bpf_exits);
} exits_map SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* the loader gives it room */
	__type(key, __u32);
	__type(value, struct hi_bpf_exit_thread);
} threads_map SEC(".maps");

/* The log, if the current process is the target. *tid_ret: its thread. */
static __always_inline struct hi_bpf_exits *find_log(__u32 *tid_ret)
{
	__u32 zero = 0;
	struct hi_bpf_exits *log = bpf_map_lookup_elem(&exits_map, &zero);
	__u64 id = bpf_get_current_pid_tgid();
	struct bpf_pidns_info in_ns;

	if (!log)
		return 0;
	if (!log->ns_inode) {
		*tid_ret = (__u32)id;
		return id >> 32 == log->tgid ? log : 0;
	}
	if (bpf_get_ns_current_pid_tgid(log->ns_device, log->ns_inode, &in_ns,
					sizeof(in_ns)) ||
	    in_ns.tgid != log->tgid)
		return 0;
	*tid_ret = in_ns.pid;
	return log;
}

SEC("tp_btf/sched_process_exec")
int note_exec(void *context)
{
	__u32 tid;
	struct hi_bpf_exits *log = find_log(&tid);

	(void)context;
	if (!log)
		return 0;
	if (!log->exec_ns)
		log->exec_ns = bpf_ktime_get_ns();
	__sync_fetch_and_add(&log->n_execs, 1);
	return 0;
}

/* One that exits alone is no end of the process, unless it is the last. */
static __always_inline int ends_process(struct task_struct *task)
{
	struct signal_struct *signal = task->signal;

	return (signal->flags & GROUP_EXIT) || !signal->live.counter;
}

SEC("tp_btf/sched_process_exit")
int note_exit(void *context)
{
	__u32 tid = 0, slot;
	struct hi_bpf_exits *log = find_log(&tid);
	struct hi_bpf_exit_thread *thread;
	struct task_struct *task;

	(void)context;
	if (!log)
		return 0;
	task = (struct task_struct *)bpf_get_current_task_btf();
	if (!ends_process(task))
		return 0;
	slot = __sync_fetch_and_add(&log->n_threads, 1);
	thread = bpf_map_lookup_elem(&threads_map, &slot);
	if (!thread)
		return 0;
	thread->tid = tid;
	thread->tgid = log->tgid;
	thread->code = (__u32)task->exit_code;
	bpf_get_current_comm(thread->name, sizeof(thread->name));
	bpf_probe_read_kernel(thread->regs, sizeof(thread->regs),
			      (const void *)bpf_task_pt_regs(task));
	thread->fs_base = task->thread.fsbase;
	thread->gs_base = task->thread.gsbase;
	thread->is_filled = 1;
	return 0;
}
