/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * For kernels without cookies of probes (5.15) and atomic operations that return the old
 * value (5.12): which site was hit, and which hit of several is the first. Part of
 * probe.bpf.c.
 */
#ifndef HI_PROBES_BPF_PROBE_OLD_H
#define HI_PROBES_BPF_PROBE_OLD_H

/* max_entries is set by the loader. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u64); /* the address of the site in the target */
	__type(value, __u32);
} sites_map SEC(".maps");

/* The armings whose hit was taken; older ones are removed. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, __u64);
	__type(value, __u32);
} taken_map SEC(".maps");

static __always_inline int find_site(struct pt_regs *regs, __u32 *site_ret)
{
	__u64 address = regs->rip;
	const __u32 *site = bpf_map_lookup_elem(&sites_map, &address);

	if (!site)
		return 0;
	*site_ret = *site;
	return 1;
}

/* Is it the hit that counts, or a later one? */
static __always_inline int is_late_enough(struct hi_bpf_shared *shared)
{
	__sync_fetch_and_add(&shared->satisfied, 1);
	return *(volatile __u64 *)&shared->satisfied >= shared->every;
}

/* If several hits come at one time only one adds the element. `armed` stays: the loader
 * alone writes it here. */
static __always_inline int is_first(struct hi_bpf_shared *shared)
{
	__u64 arming = *(volatile __u64 *)&shared->arming, before = arming - 1;
	__u32 one = 1;

	if (bpf_map_update_elem(&taken_map, &arming, &one, BPF_NOEXIST))
		return 0;
	bpf_map_delete_elem(&taken_map, &before);
	return 1;
}

#endif
