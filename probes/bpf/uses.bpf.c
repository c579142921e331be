/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Runs at the entry of functions that take pointers to records: keeps the addresses that
 * are passed, with the time of the first and of the last call.
 */
#include <linux/bpf.h>
#include <linux/ptrace.h>

#include <bpf/bpf_helpers.h>

#include "probes/bpf/uses_shared.h"

char _license[] SEC("license") = "Dual BSD/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct hi_bpf_uses_shared);
} shared_map SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, HI_BPF_USE_SITES);
	__type(key, __u32);
	__type(value, struct hi_bpf_use_hits);
} hits_map SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, HI_BPF_USE_ADDRESSES);
	__type(key, __u64);
	__type(value, struct hi_bpf_use_times);
} even_map SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, HI_BPF_USE_ADDRESSES);
	__type(key, __u64);
	__type(value, struct hi_bpf_use_times);
} odd_map SEC(".maps");

#ifdef HI_BPF_OLD
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, HI_BPF_USE_SITES);
	__type(key, __u64); /* the address of the site in the target */
	__type(value, __u32);
} sites_map SEC(".maps");

static __always_inline int find_use_site(struct pt_regs *regs, __u32 *site_ret)
{
	__u64 address = regs->rip;
	const __u32 *site = bpf_map_lookup_elem(&sites_map, &address);

	if (!site)
		return 0;
	*site_ret = *site;
	return 1;
}
#else
static __always_inline int find_use_site(struct pt_regs *regs, __u32 *site_ret)
{
	*site_ret = (__u32)bpf_get_attach_cookie(regs);
	return 1;
}
#endif

static __always_inline int is_of_target(const struct hi_bpf_uses_shared *shared)
{
	struct bpf_pidns_info in_ns;

	if (!shared->ns_inode)
		return bpf_get_current_pid_tgid() >> 32 == shared->tgid;
	return !bpf_get_ns_current_pid_tgid(shared->ns_device, shared->ns_inode, &in_ns,
					    sizeof(in_ns)) &&
	       in_ns.tgid == shared->tgid;
}

static __always_inline void store_address(void *map, struct hi_bpf_uses_shared *shared,
					  __u64 address, __u64 now)
{
	const struct hi_bpf_use_times fresh = {.first_ns = now, .last_ns = now};
	struct hi_bpf_use_times *times = bpf_map_lookup_elem(map, &address);

	if (times)
		times->last_ns = now;
	else if (bpf_map_update_elem(map, &address, &fresh, BPF_NOEXIST))
		__sync_fetch_and_add(&shared->not_stored, 1);
}

/* No pointer to an object is in the first page, or no address of user space. */
static __always_inline void store_argument(struct hi_bpf_uses_shared *shared,
					   __u64 address, __u64 now)
{
	if (address < 4096 || address >> 56)
		return;
	if (*(volatile __u32 *)&shared->is_odd)
		store_address(&odd_map, shared, address, now);
	else
		store_address(&even_map, shared, address, now);
}

SEC("uprobe")
int enter_with_objects(struct pt_regs *regs)
{
	__u32 zero = 0, site = 0, registers;
	struct hi_bpf_uses_shared *shared = bpf_map_lookup_elem(&shared_map, &zero);
	struct hi_bpf_use_hits *hits;
	__u64 now;

	if (!shared || !find_use_site(regs, &site))
		return 0;
	if (site == HI_BPF_USE_OWN_SITE) {
		__sync_fetch_and_add(&shared->own_hits, 1);
		return 0;
	}
	hits = bpf_map_lookup_elem(&hits_map, &site);
	if (!hits || !is_of_target(shared))
		return 0;
	__sync_fetch_and_add(&hits->count, 1);
	if (!*(volatile __u32 *)&shared->is_stored)
		return 0;
	registers = shared->registers[site & (HI_BPF_USE_SITES - 1)];
	now = bpf_ktime_get_ns();
	if (registers & 1)
		store_argument(shared, regs->rdi, now);
	if (registers & 2)
		store_argument(shared, regs->rsi, now);
	if (registers & 4)
		store_argument(shared, regs->rdx, now);
	if (registers & 8)
		store_argument(shared, regs->rcx, now);
	if (registers & 16)
		store_argument(shared, regs->r8, now);
	if (registers & 32)
		store_argument(shared, regs->r9, now);
	return 0;
}
