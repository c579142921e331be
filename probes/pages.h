/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which pages of a target were referenced, read or written, between two stops. That a
 * page was not is proof that no object wholly inside it was used. See Note [When a page
 * was not referenced] in page_states.c for what is unknown.
 *
 *	hi_page_watch_open(target, &watch, &err)
 *	for each census:
 *		hi_page_watch_prepare(watch, &options, &err)
 *		hi_stop_and_copy(target, &options, &image, &err)
 *		hi_page_watch_take(watch, &err)            the period that has ended
 *		hi_page_watch_of_range(watch, start, end)
 *	hi_page_watch_close(watch)
 *
 * While the target is stopped the accessed bits of its page tables are read and cleared,
 * so the first census has no period yet. The kernel's reclaim uses the same bits: pages
 * of the target look less used to it than they are.
 *
 * Referenced means: by a processor in the target's address space, system calls included.
 * Not seen are transfers by devices (O_DIRECT, RDMA), virtual machines that the target
 * runs, what others do by ptrace, process_vm_readv() or /proc/PID/mem, and what processes
 * that share the address space (vfork) and io_uring do within the stop. It is not noticed
 * that the target itself (madvise MADV_COLD, MADV_FREE) or another program (clear_refs,
 * DAMON for a moment, idle page tracking) clears the bits.
 */
#ifndef HI_PROBES_PAGES_H
#define HI_PROBES_PAGES_H

#include "attach/stop_options.h"
#include "attach/target.h"
#include "probes/page_states.h"

struct hi_page_watch;
struct hi_page_faults;

/* Time of the last stop in the target's pause for this; all nanoseconds. */
struct hi_page_watch_cost {
	uint64_t read_ns, clear_ns;
	uint64_t n_tables; /* that were read; each is 2 MiB of address space */
};

/*
 * Loads the BPF program and tries everything out on a small process of its own. target
 * must outlive the watch. HI_CANNOT_ATTACH: what is not permitted, and what helps.
 * HI_UNSUPPORTED: it does not work on this machine, with the reason.
 */
enum hi_status hi_page_watch_open(const struct hi_target *target,
				  struct hi_page_watch **ret, struct hi_error *err);
/* For tests: with faults, which must be refused. */
enum hi_status hi_page_watch_open_with(const struct hi_target *target,
				       const struct hi_page_faults *faults,
				       struct hi_page_watch **ret, struct hi_error *err);
/*
 * Before each stop: makes room for what is read, and sets options->hook, which is valid
 * until the watch is closed or prepared again.
 */
enum hi_status hi_page_watch_prepare(struct hi_page_watch *watch,
				     struct hi_stop_options *options,
				     struct hi_error *err);
/*
 * After each stop, whether it succeeded or not, and before the next
 * hi_page_watch_prepare: the period from the last stop of which this was called to this
 * one is over. HI_NOT_FOUND: the period has no evidence, err->text has the reason, and
 * all pages are UNKNOWN until the next call. HI_NO_MEMORY as well.
 */
enum hi_status hi_page_watch_take(struct hi_page_watch *watch, struct hi_error *err);
/* Before hi_page_watch_take: has the stop come so far that bits were read, or cleared, or
 * could not be? False: it has changed nothing. */
bool hi_page_watch_has_read(const struct hi_page_watch *watch);
/* Return states of the period that was taken last: see hi_page_states_get,
 * hi_page_states_of_range. */
enum hi_page_state hi_page_watch_get(const struct hi_page_watch *watch, uint64_t address);
enum hi_page_state hi_page_watch_of_range(const struct hi_page_watch *watch,
					  uint64_t start, uint64_t end);
/* The states that the two before look at; borrowed until the next take. */
const struct hi_page_states *hi_page_watch_states(const struct hi_page_watch *watch);
/* Zeros before the first stop. */
struct hi_page_watch_cost hi_page_watch_cost(const struct hi_page_watch *watch);
/* NULL is fine. */
void hi_page_watch_close(struct hi_page_watch *watch);

#endif
