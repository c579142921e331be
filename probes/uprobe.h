/* SPDX-License-Identifier: BSD-2-Clause */
/* Uprobes as perf_event_open(2) takes them. */
#ifndef HI_PROBES_UPROBE_H
#define HI_PROBES_UPROBE_H

#include <linux/perf_event.h>

#include "probes/safepoint.h"

/* A probe site as the kernel takes it. path is a link to the descriptor fd. */
struct hi_uprobe {
	unsigned type; /* of the kernel's perf unit for uprobes */
	int fd;	       /* of the file; -1: none */
	char path[32];
	uint64_t offset, semaphore;
	bool at_return; /* when the function that begins there returns */
};
/* The number of the kernel's perf unit. HI_UNSUPPORTED: it has no uprobes. */
enum hi_status hi_uprobe_type(unsigned *ret, struct hi_error *err);
/* Are two mappings (indices in target->mappings) of one file? */
bool hi_uprobe_is_one_file(const struct hi_target *target, size_t a, size_t b);
/* Opens the file of a site. *ret: closed by hi_uprobe_release(). HI_UNSUPPORTED: no
 * uprobes here; HI_BAD_DATA: no such site; HI_NOT_FOUND: its file is gone. */
enum hi_status hi_uprobe_prepare(const struct hi_target *target,
				 const struct hi_probe_site *site, struct hi_uprobe *ret,
				 struct hi_error *err);
/* Opens a perf event on it for one task, by attr; the uprobe's fields of attr are set
 * here. tid 0: any thread that lives, for what looks at the whole process. */
enum hi_status hi_uprobe_open(const struct hi_uprobe *uprobe,
			      const struct hi_target *target, pid_t tid,
			      struct perf_event_attr *attr, int *fd_ret,
			      struct hi_error *err);
/* Opens an anchor: an event that puts no breakpoint into the target and never counts, but
 * for which the kernel keeps those that other probes have put there. See Note [Anchors]
 * in holder.c. The errors are hi_uprobe_open()'s. */
enum hi_status hi_uprobe_anchor(const struct hi_uprobe *uprobe,
				const struct hi_target *target, int *fd_ret,
				struct hi_error *err);
/* The same for a site, which it prepares. */
enum hi_status hi_uprobe_anchor_site(const struct hi_target *target,
				     const struct hi_probe_site *site, int *fd_ret,
				     struct hi_error *err);
/* Closes the file; more than once is fine. */
void hi_uprobe_release(struct hi_uprobe *uprobe);

#endif
