/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Runs at each hit of a site: checks the process, the condition and the arming. The first
 * hit that passes disarms the probe, stores the thread and the site, and sends its own
 * thread the signal: a thread that is traced stops before its next instruction.
 */
#include <linux/bpf.h>
#include <linux/ptrace.h>

#include <bpf/bpf_helpers.h>

#include "probes/bpf/shared.h"

char _license[] SEC("license") = "Dual BSD/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct hi_bpf_shared);
} shared_map SEC(".maps");

/* max_entries is set by the loader. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, HI_BPF_HIT_SLOTS);
	__type(key, __u32);
	__type(value, struct hi_bpf_hits);
} hits_map SEC(".maps");

/* Only to be polled: the data of a hit is in the shared memory. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} events_map SEC(".maps");

#ifdef HI_BPF_OLD
#include "probes/bpf/probe_old.h"
#else
static __always_inline int find_site(struct pt_regs *regs, __u32 *site_ret)
{
	*site_ret = (__u32)bpf_get_attach_cookie(regs);
	return 1;
}

/* Is it the hit that counts, or a later one? */
static __always_inline int is_late_enough(struct hi_bpf_shared *shared)
{
	return __sync_fetch_and_add(&shared->satisfied, 1) + 1 >= shared->every;
}

/* Is it the first of hits at one time? */
static __always_inline int is_first(struct hi_bpf_shared *shared)
{
	return __sync_val_compare_and_swap(&shared->armed, HI_BPF_ARMED, HI_BPF_TAKEN) ==
	       HI_BPF_ARMED;
}
#endif

static __always_inline int is_our_process(const struct hi_bpf_shared *shared, __u32 *tid)
{
	struct bpf_pidns_info in_ns;
	__u64 id;

	if (shared->ns_inode) {
		if (bpf_get_ns_current_pid_tgid(shared->ns_device, shared->ns_inode,
						&in_ns, sizeof(in_ns)))
			return 0;
		*tid = in_ns.pid;
		return in_ns.tgid == shared->tgid;
	}
	id = bpf_get_current_pid_tgid();
	*tid = (__u32)id;
	return id >> 32 == shared->tgid;
}

/* A pointer into regs that is computed is refused: they are copied. */
struct arguments {
	__u64 value[8];
};

static __always_inline void read_arguments(const struct pt_regs *regs,
					   struct arguments *ret)
{
	ret->value[0] = regs->rdi;
	ret->value[1] = regs->rsi;
	ret->value[2] = regs->rdx;
	ret->value[3] = regs->rcx;
	ret->value[4] = regs->r8;
	ret->value[5] = regs->r9;
	ret->value[6] = ret->value[7] = 0;
}

static __always_inline __u64 extend(__u64 value, __u32 size, int is_signed)
{
	switch (size) {
	case 1:
		return is_signed ? (__u64)(__s64)(__s8)value : (__u8)value;
	case 2:
		return is_signed ? (__u64)(__s64)(__s16)value : (__u16)value;
	case 4:
		return is_signed ? (__u64)(__s64)(__s32)value : (__u32)value;
	default:
		return value;
	}
}

static __always_inline int compare(__u64 value, const struct hi_bpf_term *term)
{
	__s64 number = term->number;
	int less = term->compares_signed ? (__s64)value < number : value < (__u64)number;
	int equal = value == (__u64)number;

	switch (term->op) {
	case HI_BPF_EQUAL:
		return equal;
	case HI_BPF_UNEQUAL:
		return !equal;
	case HI_BPF_LESS:
		return less;
	case HI_BPF_LESS_EQUAL:
		return less || equal;
	case HI_BPF_GREATER:
		return !less && !equal;
	default:
		return !less;
	}
}

/* False if memory cannot be read (a null pointer on the way, a page that is not
 * present). */
static __always_inline int term_holds(const struct arguments *arguments,
				      const struct hi_bpf_term *term)
{
	__u32 argument = term->argument & 7;
	__u64 value;

	asm volatile("" : "+r"(argument)); /* the bound stays where it is needed */
	value = arguments->value[argument & 7];
	if (argument == HI_BPF_NO_REGISTER)
		value = term->start;
	for (__u32 i = 0; i < HI_BPF_LOADS; i++) {
		__u32 size = i + 1 == term->n_loads ? term->size : 8;
		__u64 word = 0;

		if (i >= term->n_loads)
			break;
		if (size > 8 ||
		    bpf_probe_read_user(&word, size,
					(const void *)(value + (__u64)term->offset[i])))
			return 0;
		value = word;
	}
	return compare(extend(value, term->size, term->is_signed), term);
}

static __always_inline int condition_holds(const struct pt_regs *regs,
					   const struct hi_bpf_shared *shared)
{
	struct arguments arguments;

	read_arguments(regs, &arguments);
	for (__u32 i = 0; i < HI_BPF_TERMS; i++) {
		if (i >= shared->n_terms)
			break;
		if (!term_holds(&arguments, &shared->terms[i]))
			return 0;
	}
	return 1;
}

static __always_inline void count_hit(__u32 site)
{
	__u32 slot = site * HI_BPF_HIT_SLOTS +
		     (bpf_get_smp_processor_id() & (HI_BPF_HIT_SLOTS - 1));
	struct hi_bpf_hits *hits = bpf_map_lookup_elem(&hits_map, &slot);

	if (hits)
		__sync_fetch_and_add(&hits->count, 1);
}

/* A signal that the thread blocks would stay pending and come to the program. */
static __always_inline int is_blocked(const struct hi_bpf_shared *shared)
{
	__u64 blocked = 0;

	if (shared->blocked_offset == 0 ||
	    bpf_probe_read_kernel(
		    &blocked, sizeof(blocked),
		    (const void *)(bpf_get_current_task() + shared->blocked_offset)))
		return 0;
	return blocked >> ((shared->signal - 1) & 63) & 1;
}

/* See Note [Born traced] in attach/tracees_follow.c. */
static __always_inline int is_wanted(const struct hi_bpf_shared *shared)
{
	__u32 traced = 0;

	if (shared->ptrace_offset == 0 ||
	    bpf_probe_read_kernel(
		    &traced, sizeof(traced),
		    (const void *)(bpf_get_current_task() + shared->ptrace_offset)))
		return 1;
	return traced != 0;
}

static __always_inline void take_hit(struct hi_bpf_shared *shared,
				     const struct pt_regs *regs, __u32 tid, __u32 site)
{
	__u64 event = tid;

	shared->hit_time = bpf_ktime_get_ns();
	shared->hit_pc = regs->rip;
	shared->hit_tid = tid;
	shared->hit_site = site;
	shared->hit_unsent = (__u32)is_blocked(shared);
	__sync_fetch_and_add(&shared->was_hit, 1);
	if (!shared->hit_unsent)
		bpf_send_signal_thread(shared->signal);
	bpf_ringbuf_output(&events_map, &event, sizeof(event), BPF_RB_FORCE_WAKEUP);
}

static __always_inline int handle_hit(struct pt_regs *regs)
{
	__u32 zero = 0, site = 0, tid = 0;
	struct hi_bpf_shared *shared = bpf_map_lookup_elem(&shared_map, &zero);

	if (!shared || !find_site(regs, &site))
		return 0;
	if (site == HI_BPF_OWN_SITE) {
		__sync_fetch_and_add(&shared->own_hits, 1);
		return 0;
	}
	if (!is_our_process(shared, &tid))
		return 0;
	count_hit(site);
	if (*(volatile __u32 *)&shared->armed != HI_BPF_ARMED)
		return 0;
	if (!is_wanted(shared))
		return 0;
	if (shared->n_terms && !condition_holds(regs, shared))
		return 0;
	if (is_late_enough(shared) && is_first(shared))
		take_hit(shared, regs, tid, site);
	return 0;
}

SEC("uprobe")
int probe(struct pt_regs *regs)
{
	return handle_hit(regs);
}

/* For tests: what a kernel does that lets only the main thread's hits through, see
 * Note [Links that miss threads] in own_site.c. */
SEC("uprobe")
int probe_main_thread(struct pt_regs *regs)
{
	__u64 id = bpf_get_current_pid_tgid();

	return (__u32)id == id >> 32 ? handle_hit(regs) : 0;
}
