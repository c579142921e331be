/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hardware watchpoints on words of a running process, by perf_event_open(2): they count
 * reads and writes, and stop nothing. A processor has four for each thread.
 *
 * Accesses of the kernel for the program count, too (a system call that reads a buffer);
 * those through /proc/PID/mem and process_vm_readv(2) do not, nor those of a forked
 * child. Each hit costs the thread a trap: hi_watchpoints_hit_ns().
 *
 * An access counts if one of its bytes is in the word; an instruction that repeats (rep
 * movs) counts for each of its steps there. Vector instructions of string functions read
 * up to 127 bytes after the end of a string: such a read of memory before the word
 * counts, too.
 *
 * Note [Threads of watchpoints]
 *
 * A watchpoint is one event for each thread, which the threads that it creates inherit
 * (Linux 5.13). A thread that appears while the events are opened may have inherited them
 * or not: its creator may not have had them yet. Its own event could count each hit
 * twice. So they are all closed and opened again, until no thread has appeared
 * meanwhile; after some attempts a new thread is left as it is. So every hit that is
 * counted is one, but hits of such threads may be missed.
 */
#ifndef HI_PROBES_WATCHPOINTS_H
#define HI_PROBES_WATCHPOINTS_H

#include <sys/types.h>

#include "base/error.h"

enum { HI_WATCHPOINTS_MAX = 4 };

struct hi_watchpoints;
/*
 * n: 1 to HI_WATCHPOINTS_MAX. None is set yet. Tries them on a process of its own.
 * *ret: hi_watchpoints_close(). HI_UNSUPPORTED: the processor (of a virtual machine) has
 * none, or they do not count; HI_LIMIT: others have taken them; HI_CANNOT_ATTACH: not
 * permitted; HI_NO_MEMORY.
 */
enum hi_status hi_watchpoints_open(pid_t pid, unsigned n, struct hi_watchpoints **ret,
				   struct hi_error *err);
/* The same, but they count how often instructions are reached that addresses name, which
 * need no multiples. */
enum hi_status hi_watchpoints_open_code(pid_t pid, unsigned n,
					struct hi_watchpoints **ret,
					struct hi_error *err);
void hi_watchpoints_close(struct hi_watchpoints *w); /* NULL is fine */
/*
 * Moves them to these n words, each a multiple of 8; 0: nowhere. The counts begin at 0.
 * On failure none is set. HI_GONE: the process has exited; HI_LIMIT: others have taken
 * them in a thread, or its threads would take more than half of the open files that are
 * allowed; HI_USAGE: no word of a program.
 */
enum hi_status hi_watchpoints_set(struct hi_watchpoints *w, const uint64_t *addresses,
				  struct hi_error *err);
/* Takes one away; its count stays. */
void hi_watchpoints_end(struct hi_watchpoints *w, unsigned i);
/* Accesses since it was set, of all threads. */
uint64_t hi_watchpoints_hits(const struct hi_watchpoints *w, unsigned i);
/*
 * From hold to release the events of now are open, whatever is set or ended meanwhile, so
 * that a process that is forked in between can read them. fds_ret: all of them, valid
 * until the release. HI_NO_MEMORY: nothing is held.
 */
enum hi_status hi_watchpoints_hold(struct hi_watchpoints *w, const int **fds_ret,
				   size_t *n_ret, struct hi_error *err);
void hi_watchpoints_release(struct hi_watchpoints *w); /* also if nothing is held */
/* In that process, once: accesses since watchpoint i was set, until now. Closes its
 * events there, as they have it as long as one process has them open. False: it was not
 * set when they were held, or cannot be read. */
bool hi_watchpoints_take_held(struct hi_watchpoints *w, unsigned i, uint64_t *ret);
/* Returns the time of a hit in the trial, in ns. */
uint64_t hi_watchpoints_hit_ns(const struct hi_watchpoints *w);

#endif
