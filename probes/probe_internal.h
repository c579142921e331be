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
/* multi: Note [One link for all places] in bpf_probe.c; else by perf events. */
enum hi_status hi_bpf_probe_open_by(bool multi, const struct hi_target *target,
				    const struct hi_safepoint *safepoint,
				    const struct hi_probe_places *places,
				    struct hi_probe **ret, struct hi_error *err);
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

#endif
