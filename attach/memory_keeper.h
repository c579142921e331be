/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keeps the memory of a process when the process is gone.
 *
 * Note [Memory outlives its process]
 *
 * An address space is torn down when it has no user any more: threads are users, and so
 * is a read of /proc/PID/mem while it goes on. A small process, the keeper, begins such a
 * read into a page of its own that never comes: it is registered with a userfaultfd that
 * nobody serves. The read has the first word of the target, and waits where it puts it.
 * The target runs as before: it is not traced, no signal costs more, any debugger may
 * attach, and it exits when it exits. Its memory is left then, which descriptors
 * that were opened before still read: mem and pagemap as ever, maps by PROCMAP_QUERY
 * (Linux 6.11; the text needs the process).
 *
 * The memory counts for the target's cgroup until the keeper ends. So the keeper ends as
 * soon as the memory was copied, at once where the process had SIGKILL, and when it
 * executes another program, which frees the old memory otherwise. It also ends with this
 * process, however that ends.
 */
#ifndef HI_ATTACH_MEMORY_KEEPER_H
#define HI_ATTACH_MEMORY_KEEPER_H

#include "attach/exit_log.h"

struct hi_memory_keeper;

/*
 * mem_fd: of /proc/PID/mem; address: readable there. Returns when it keeps the memory. It
 * ends by itself after an exec that the log sees (borrowed until the end). *ret:
 * hi_memory_keeper_end(). HI_UNSUPPORTED: not permitted, or not by this kernel. HI_OS.
 */
enum hi_status hi_memory_keeper_start(int mem_fd, uint64_t address,
				      const struct hi_exit_log *log,
				      struct hi_memory_keeper **ret,
				      struct hi_error *err);
/* Polls readable when it has ended. Stays the keeper's. */
int hi_memory_keeper_fd(const struct hi_memory_keeper *keeper);
/* Frees the memory, unless the process lives. NULL is fine. */
void hi_memory_keeper_end(struct hi_memory_keeper *keeper);

#endif
