/* SPDX-License-Identifier: BSD-2-Clause */
/* Probes by BPF: uprobes with a program that checks process, condition and arming. */
#ifndef HI_PROBES_BPF_PROBE_H
#define HI_PROBES_BPF_PROBE_H

#include "probes/safepoint.h"

struct hi_probe;

/* condition NULL: none. HI_CANNOT_ATTACH with os_errno: not permitted, or no BPF. */
enum hi_status hi_bpf_probe_open(const struct hi_target *target,
				 const struct hi_safepoint *safepoint,
				 const struct hi_probe_sites *sites,
				 struct hi_probe **ret, struct hi_error *err);
enum hi_bpf_link {
	HI_BPF_LINK_MULTI, /* Note [One link for all sites] in bpf_link.c */
	/* For tests: such links as some kernels have them. See Note [Links that miss
	 * threads] in own_site.c. */
	HI_BPF_LINK_MULTI_OF_MAIN_THREAD,
	HI_BPF_LINK_EVENT,     /* a perf event per site */
	HI_BPF_LINK_EVENT_OLD, /* the same, with the program for kernels before 5.15 */
};
/* By this kind of link alone. */
enum hi_status hi_bpf_probe_open_by(enum hi_bpf_link link, const struct hi_target *target,
				    const struct hi_safepoint *safepoint,
				    const struct hi_probe_sites *sites,
				    struct hi_probe **ret, struct hi_error *err);
/* By this kind if it works here, else by the perf events that this kernel has. */
enum hi_status hi_bpf_probe_open_first(enum hi_bpf_link link,
				       const struct hi_target *target,
				       const struct hi_safepoint *safepoint,
				       const struct hi_probe_sites *sites,
				       struct hi_probe **ret, struct hi_error *err);
/* The kind of link that the probe has. */
enum hi_bpf_link hi_bpf_probe_link(const struct hi_probe *probe);

#endif
