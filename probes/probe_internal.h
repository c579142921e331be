/* SPDX-License-Identifier: BSD-2-Clause */
/* What the two kinds of probes share. */
#ifndef HI_PROBES_PROBE_INTERNAL_H
#define HI_PROBES_PROBE_INTERNAL_H

#include <linux/perf_event.h>

#include "base/cleanup.h"
#include "probes/probe.h"

/* Embedded first in each kind; trigger first in this. */
struct hi_probe {
	struct hi_trigger trigger;
	enum hi_probe_means means;
	size_t n_places;
	uint64_t (*hits)(const struct hi_probe *probe, size_t place);
	void (*close)(struct hi_probe *probe);
};
HI_DEFINE_GUARD(struct hi_probe *, hi_probe_close)

/* condition NULL: none. HI_CANNOT_ATTACH with os_errno: not permitted, or no BPF. */
enum hi_status hi_bpf_probe_open(const struct hi_target *target,
				 const struct hi_safepoint *safepoint,
				 const struct hi_probe_places *places,
				 struct hi_probe **ret, struct hi_error *err);
enum hi_bpf_link {
	HI_BPF_LINK_MULTI, /* Note [One link for all places] in bpf_probe.c */
	/* For tests: such links as some kernels have them. See Note [Links that miss
	 * threads] in own_place.c. */
	HI_BPF_LINK_MULTI_OF_MAIN_THREAD,
	HI_BPF_LINK_EVENT, /* a perf event a place */
};
/* By this kind of link alone. */
enum hi_status hi_bpf_probe_open_by(enum hi_bpf_link link, const struct hi_target *target,
				    const struct hi_safepoint *safepoint,
				    const struct hi_probe_places *places,
				    struct hi_probe **ret, struct hi_error *err);
/* By this kind if it works here, else by perf events. */
enum hi_status hi_bpf_probe_open_first(enum hi_bpf_link link,
				       const struct hi_target *target,
				       const struct hi_safepoint *safepoint,
				       const struct hi_probe_places *places,
				       struct hi_probe **ret, struct hi_error *err);
enum hi_bpf_link hi_bpf_probe_link(const struct hi_probe *probe);
enum hi_status hi_perf_probe_open(const struct hi_target *target,
				  const struct hi_probe_places *places,
				  struct hi_probe **ret, struct hi_error *err);

/* ---- uprobe.c ---- */

/* What a place is for the kernel. The path is a link to a descriptor of ours. */
struct hi_uprobe {
	unsigned type; /* of the kernel's perf unit for uprobes */
	int fd;	       /* of the file; -1: none */
	char path[32];
	uint64_t offset, semaphore;
};
enum hi_status hi_uprobe_prepare(const struct hi_target *target,
				 const struct hi_probe_place *place,
				 struct hi_uprobe *ret, struct hi_error *err);
/* A perf event on it for one task, by attr, whose uprobe's fields are set here.
 * tid 0: any thread that lives, for what looks at the whole process. */
enum hi_status hi_uprobe_open(const struct hi_uprobe *uprobe,
			      const struct hi_target *target, pid_t tid,
			      struct perf_event_attr *attr, int *fd_ret,
			      struct hi_error *err);
void hi_uprobe_release(struct hi_uprobe *uprobe);

/* ---- bpf_link.c ---- */

enum { HI_BPF_UPROBE_MULTI = 48 }; /* BPF_TRACE_UPROBE_MULTI of linux/bpf.h since 6.6 */
/* A BPF call failed with this errno: HI_CANNOT_ATTACH, HI_UNSUPPORTED. */
enum hi_status hi_bpf_refused(int error, struct hi_error *err);
enum hi_status hi_bpf_link_multi(int program, pid_t pid, uint64_t cookie,
				 const struct hi_uprobe *uprobe, int *link_ret,
				 struct hi_error *err);
enum hi_status hi_bpf_link_event(int program, const struct hi_target *target,
				 uint64_t cookie, const struct hi_uprobe *uprobe,
				 int *link_ret, struct hi_error *err);
/*
 * That hi_bpf_link_multi sees every thread; the program counts in hits what hits
 * HI_BPF_OWN_PLACE. HI_UNSUPPORTED: it does not. The link that proved it is the caller's:
 * to close it takes 20 ms.
 */
enum hi_status hi_bpf_link_prove(int program, const __u64 *hits, int *link_ret,
				 struct hi_error *err);

/* ---- own_place.c ---- */

/* An instruction of this program that nothing else runs. */
enum hi_status hi_own_place_prepare(struct hi_uprobe *ret, struct hi_error *err);
/* A second thread of this process runs it, once. */
enum hi_status hi_own_place_run(struct hi_error *err);

#endif
