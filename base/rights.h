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
 *   clone() makes threads only: a process that shares the memory would not end with the
 *   parent. The table in tests/support/payload.c has all that is tried.
 * - Landlock where the kernel has it: no writing and no executing below any directory, no
 *   TCP, no signal to other processes. It is a second lock on the same doors: the filter
 *   sees flags and not paths, Landlock sees objects.
 *
 * The first two are needed, or nothing is decoded. Landlock is not: older kernels lack
 * it. Switching the user is not either: in a user namespace there may be no "nobody".
 *
 * An attacker who has taken it over can still do this:
 *
 * - Reading: the memory of the target, its standard input, what everybody may read, and
 *   the files that the server gives away (Note [Files for a decoder] in
 *   session/live/decoder_files.h). If heapinspect does not run as root: what its user may
 *   read, and without Landlock and Yama the memory of the user's other processes.
 * - Writing: to descriptors that were open for it, which are the report, standard output
 *   and error, and new files of the cache. So a report, a gate's answer or a baseline may
 *   be false, a terminal may get any bytes, a disk may become full, and the cache may
 *   have wrong types for any build-id; readers take it for hostile, as any other file.
 * - Sending: at most 4,096 build-ids of 32 bytes to the servers of DEBUGINFOD_URLS.
 *   Nothing else leads to a network.
 * - Time and memory, until the parent ends, with which it ends. Ending the copy of the
 *   target that it reads, if it is read in place.
 * - Faults of the kernel in the allowed system calls, and what caches and time show of
 *   others.
 */
#ifndef HI_BASE_RIGHTS_H
#define HI_BASE_RIGHTS_H

#include <stddef.h>

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

/*
 * Before that, in a fork that has more descriptors than it is to have: closes all but the
 * standard streams, files and pipes that were opened by name, and the n ones that are
 * given (-1: none). Closed are sockets, directories, probes and whatever is of /proc.
 */
void hi_rights_close_others(const int *fds, size_t n);

/* Before that: it may go on accepting connections to this socket, which listens. */
void hi_rights_permit_accept(int fd);

/* Parts of hi_rights_drop(). */
enum hi_status hi_rights_filter(struct hi_error *err);
/* Applies Landlock. False: this kernel does not have it. */
bool hi_rights_landlock(void);

#endif
