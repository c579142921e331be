/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Probes on sites of a target: by BPF (uprobes through perf_event_open links; the program
 * checks process, condition and arming by itself), or without BPF by perf events alone.
 * They exist through file descriptors only and vanish with the last process that holds
 * them, whatever kills it. That process is always the probe holder (holder.h).
 */
#ifndef HI_PROBES_PROBE_H
#define HI_PROBES_PROBE_H

#include "probes/probe_kind.h"
#include "probes/safepoint.h"

/*
 * Attaches a probe to the sites (copied) of a safepoint; it is not armed yet. target is
 * borrowed until the close. *ret: closed by hi_probe_close(). HI_CANNOT_ATTACH: neither
 * means is permitted; err->text has what each needs (root, CAP_BPF and CAP_PERFMON).
 */
enum hi_status hi_probe_open(const struct hi_target *target,
			     const struct hi_safepoint *safepoint,
			     const struct hi_probe_sites *sites, struct hi_probe **ret,
			     struct hi_error *err);
/* The same by these means alone; without BPF condition and every are ignored. */
enum hi_status hi_probe_open_by(enum hi_probe_means means, const struct hi_target *target,
				const struct hi_safepoint *safepoint,
				const struct hi_probe_sites *sites, struct hi_probe **ret,
				struct hi_error *err);
/* The means by which the probe was opened. */
enum hi_probe_means hi_probe_means(const struct hi_probe *probe);
/* Why it is not opened by BPF, in some words; "" if it is. */
const char *hi_probe_why_no_bpf(const struct hi_probe *probe);
/* For hi_stop_options.trigger; lives as long as the probe. May be armed again
 * after each stop (series). */
struct hi_trigger *hi_probe_trigger(struct hi_probe *probe);
/* Hits of the i-th site so far, armed or not, conditions not looked at;
 * UINT64_MAX: these means do not count. */
uint64_t hi_probe_hits(const struct hi_probe *probe, size_t site);
/* Detaches and frees the probe. NULL is fine. */
void hi_probe_close(struct hi_probe *probe);

#endif
