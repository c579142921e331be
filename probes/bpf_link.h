/* SPDX-License-Identifier: BSD-2-Clause */
/* The connection of a loaded BPF program with a probe site. */
#ifndef HI_PROBES_BPF_LINK_H
#define HI_PROBES_BPF_LINK_H

#include <linux/types.h>

#include "probes/uprobe.h"

enum { HI_BPF_UPROBE_MULTI = 48 }; /* BPF_TRACE_UPROBE_MULTI of linux/bpf.h since 6.6 */
/* A BPF call failed with this errno: HI_CANNOT_ATTACH, HI_UNSUPPORTED. */
enum hi_status hi_bpf_refused(int error, struct hi_error *err);
/* Instructions of one file. */
struct hi_bpf_places {
	size_t count;
	const uint64_t *offsets, *cookies;
	const uint64_t *semaphores; /* 0: none; NULL: none has one */
};
/* One uprobe_multi link of the program, for one process, to all of them; the offset and
 * the semaphore of uprobe are not used. With uprobe->at_return each must be one where the
 * stack pointer still is what it was at the function's entry. *link_ret: for the caller
 * to close. */
enum hi_status hi_bpf_link_places(int program, pid_t pid, const struct hi_uprobe *uprobe,
				  const struct hi_bpf_places *places, int *link_ret,
				  struct hi_error *err);
/* pid of hi_bpf_link_places: a process that has ended, so that the link is an anchor
 * (Note [Anchors] in holder.c). The caller may not ignore SIGCHLD. */
enum { HI_BPF_NOBODY = 0 };
/* The cookie of programs that do not ask for one: kernels without cookies (before 5.15)
 * have no links of perf events either, and the event itself keeps the program there. */
#define HI_BPF_NO_COOKIE UINT64_MAX
/* The same to one place by a perf event for the target, which lives as long as the link;
 * cookie: or HI_BPF_NO_COOKIE. */
enum hi_status hi_bpf_link_event(int program, const struct hi_target *target,
				 uint64_t cookie, const struct hi_uprobe *uprobe,
				 int *link_ret, struct hi_error *err);
/* One uprobe_multi link of the program to HI_BPF_OWN_SITE in this process. */
enum hi_status hi_bpf_link_own_site(int program, int *link_ret, struct hi_error *err);
/*
 * Checks that hi_bpf_link_places sees every thread; the program counts in *hits the hits
 * of HI_BPF_OWN_SITE. HI_UNSUPPORTED: it does not. *link_ret is the link that was used,
 * for the caller to close, which takes 20 ms.
 */
enum hi_status hi_bpf_link_check(int program, const __u64 *hits, int *link_ret,
				 struct hi_error *err);

#endif
