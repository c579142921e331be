/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process gives up its rights for good before it reads hostile bytes. It keeps its
 * descriptors, and may compute, start threads, and read files that its user may read.
 *
 * Note [Rights of a decoder]
 *
 * Debug information, heaps, cores and snapshot files may be made by an attacker; root
 * often reads them. So a process that reads them must be of no use to an attacker who
 * takes it over:
 *
 * - No capability in any set, no_new_privs, and instead of root the user nobody: it owns
 *   no file, and no process of a service belongs to it.
 * - A list of allowed system calls (rights_filter.c). All others fail with EPERM; nothing
 *   is killed for a call that some library makes. There is no execve, fork, ptrace,
 *   process_vm_*, kill, pidfd_*, socket, mount, bpf, perf_event_open, no opening for
 *   writing, no executable memory, no owner of a descriptor's signals (F_SETOWN).
 * - Landlock where the kernel has it: no writing and no executing below any directory, no
 *   TCP, no signal to other processes. It is a second lock on the same doors: the filter
 *   sees flags and not paths, Landlock sees objects.
 *
 * The first two are needed, or nothing is decoded. Landlock is not: older kernels lack
 * it. Switching the user is not either: in a user namespace there may be no "nobody".
 *
 * What remains: world-readable files, ELF files that the server opens (base/files.h), the
 * descriptors that were open, wrong results, and wasted time and memory.
 */
#ifndef HI_BASE_RIGHTS_H
#define HI_BASE_RIGHTS_H

#include "base/error.h"

struct hi_rights_dropped {
	bool user;     /* it is the user nobody now; false: it was not root */
	bool landlock; /* this kernel has it */
};

/*
 * Gives up the rights of this process, which must have one thread and from now on ends
 * with its parent. HI_UNSUPPORTED: something that is needed is missing, and rights may be
 * left.
 */
enum hi_status hi_rights_drop(struct hi_rights_dropped *ret, struct hi_error *err);

/* Parts of hi_rights_drop(). */
enum hi_status hi_rights_filter(struct hi_error *err);
/* Applies Landlock. False: this kernel does not have it. */
bool hi_rights_landlock(void);

#endif
