/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Note [A stack to write to]
 *
 * The bytes below the red zone of a thread are unused only if they belong to its stack.
 * Fibers, goroutines and alternate signal stacks are small blocks of a heap: what lies
 * below them is an object. The bytes are restored within the stop, but not if the tracer
 * dies in it. So the stack pointer must lie in [stack] for the main thread, and for
 * another one in the mapping that its thread control block lies in, below it (libc puts
 * the block at the top of the stack that it maps); the block is known by its first word,
 * which is its own address (the x86-64 ABI: %fs:0).
 *
 * The pages must be there already: else the target's resident set would grow.
 */
#include <errno.h>
#include <string.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include "attach/fork_internal.h"
#include "attach/frozen_memory.h"
#include "attach/maps.h"
#include "attach/target.h"
#include "attach/target_internal.h"
#include "attach/tracees.h"
#include "base/cleanup.h"
#include "base/search.h"

#define MAX_STACK (64ull << 20)
#define USER_CODE_64 0x33 /* cs of 64-bit code, arch/x86/include/asm/segment.h */
#define MAX_CANDIDATES 512
#define PRESENT (1ull << 63)

#ifndef PTRACE_GET_SYSCALL_USER_DISPATCH_CONFIG
#define PTRACE_GET_SYSCALL_USER_DISPATCH_CONFIG 0x4211 /* linux/ptrace.h, Linux 6.4 */
#endif
struct dispatch_config {
	uint64_t mode, selector, offset, length;
};
/* struct rseq_cs, linux/rseq.h. */
struct critical_section {
	uint32_t version, flags;
	uint64_t start, length, abort;
};
#define RSEQ_CS_OFFSET 8 /* in struct rseq */

static bool read_target(int memory, uint64_t addr, void *buf, size_t size)
{
	return pread(memory, buf, size, (off_t)addr) == (ssize_t)size;
}

enum hi_status hi_fork_read_mappings(pid_t pid, struct hi_mapping **ret, size_t *n_ret,
				     struct hi_error *err)
{
	HI_GUARD(close) int fd = hi_proc_open(pid, "maps");
	HI_GUARD(free) char *text = NULL;
	size_t capacity = 0, size = 0;
	enum hi_status status;

	if (fd < 0)
		return hi_fail_errno(err, "reading its mappings");
	status = hi_proc_read(fd, &text, &capacity, &size, err);
	return status == HI_OK ? hi_maps_parse(text, size, ret, n_ret, err) : status;
}

/* Criteria by which the thread is chosen. */
struct choice {
	const struct hi_tracees *all;
	const struct hi_mapping *mappings;
	size_t n_mappings;
	int memory;
};

/* The first mapping that ends above addr; NULL: none. */
static const struct hi_mapping *find_mapping_above_stack(const struct choice *by,
							 uint64_t addr)
{
	size_t low = hi_search(i, by->n_mappings, by->mappings[i].end <= addr);

	return low < by->n_mappings ? &by->mappings[low] : NULL;
}

/* [stack] may have grown downwards since the mappings were read. */
static bool in_main_stack(const struct hi_mapping *m, uint64_t sp)
{
	return m->kind == HI_MAPPING_STACK &&
	       (sp >= m->start || m->start - sp < MAX_STACK);
}

static bool in_thread_stack(const struct hi_mapping *m,
			    const struct user_regs_struct *regs, size_t room, int memory)
{
	uint64_t block = regs->fs_base, first_word;

	if (m->kind != HI_MAPPING_ANONYMOUS || m->shared || !(m->prot & HI_PROT_WRITE))
		return false;
	if (regs->rsp < m->start + HI_RED_ZONE + room || block <= regs->rsp ||
	    block >= m->end || block - regs->rsp > MAX_STACK)
		return false;
	return read_target(memory, block, &first_word, sizeof(first_word)) &&
	       first_word == block;
}

static bool is_present(int pagemap, uint64_t start, uint64_t end)
{
	for (uint64_t page = start / HI_PAGE; page <= (end - 1) / HI_PAGE; page++) {
		uint64_t entry;

		if (pagemap < 0)
			return true; /* it may not be read: it is mapped */
		if (pread(pagemap, &entry, sizeof(entry), (off_t)(page * 8)) !=
			    sizeof(entry) ||
		    !(entry & PRESENT))
			return false;
	}
	return true;
}

/* Returns whether the kernel would change its pc before its next instruction. */
static bool in_critical_section(pid_t tid, const struct user_regs_struct *regs,
				int memory)
{
	struct __ptrace_rseq_configuration rseq = {};
	struct critical_section section;
	uint64_t addr;

	if (ptrace(PTRACE_GET_RSEQ_CONFIGURATION, tid, sizeof(rseq), &rseq) <= 0 ||
	    !rseq.rseq_abi_pointer)
		return false;
	if (!read_target(memory, rseq.rseq_abi_pointer + RSEQ_CS_OFFSET, &addr,
			 sizeof(addr)))
		return true;
	if (!addr)
		return false;
	if (!read_target(memory, addr, &section, sizeof(section)))
		return true;
	return regs->rip - section.start < section.length;
}

/* Its system calls go to a handler of its own (Wine). */
static bool dispatches_calls(pid_t tid)
{
	struct dispatch_config config = {};

	return ptrace(PTRACE_GET_SYSCALL_USER_DISPATCH_CONFIG, tid, sizeof(config),
		      &config) == 0 &&
	       config.mode;
}

static bool fits_program(const struct choice *by, const struct hi_tracee *tracee,
			 struct hi_fork_origin *origin)
{
	const struct user_regs_struct *regs = &origin->regs;
	const struct hi_mapping *m;
	uint64_t top = regs->rsp - HI_RED_ZONE;
	size_t room;

	if (regs->cs != USER_CODE_64)
		return false;
	m = find_mapping_above_stack(by, regs->rsp);
	if (!m || hi_xstate_read(tracee->tid, &origin->xstate, NULL) != HI_OK)
		return false;
	room = hi_fork_program_room(origin);
	if (!(tracee->tid == by->all->pid && in_main_stack(m, regs->rsp)) &&
	    !in_thread_stack(m, regs, room, by->memory))
		return false;
	return is_present(by->all->pagemap, top - room, top) &&
	       !in_critical_section(tracee->tid, regs, by->memory) &&
	       !dispatches_calls(tracee->tid);
}

/*
 * Not one that is group-stopped: if the tracer dies during the calls, it makes them only
 * when it is continued, and until then the first child is visible.
 */
static int rank_stack_thread(const struct hi_tracee *tracee)
{
	if (tracee->state != HI_TRACEE_STOPPED)
		return -1;
	return (long long)tracee->regs.orig_rax < 0 ? 0 : 1;
}

static struct hi_tracee *choose_stack_thread(const struct choice *by,
					     struct hi_fork_origin *origin)
{
	unsigned tried = 0;

	for (int rank = 0; rank < 2; rank++)
		for (size_t i = 0; i < by->all->count && tried < MAX_CANDIDATES; i++) {
			struct hi_tracee *tracee = &by->all->items[i];

			if (rank_stack_thread(tracee) != rank)
				continue;
			tried++;
			origin->regs = tracee->regs;
			if (fits_program(by, tracee, origin) &&
			    ptrace(PTRACE_GETSIGMASK, tracee->tid, sizeof(origin->mask),
				   &origin->mask) == 0)
				return tracee;
		}
	return NULL;
}

/* One that may run; 0: there is none. */
static pid_t any_free(const struct hi_tracees *all)
{
	for (size_t i = 0; i < all->count; i++)
		if (rank_stack_thread(&all->items[i]) >= 0)
			return all->items[i].tid;
	return 0;
}

/* Chooses according to the current mappings. */
static struct hi_tracee *choose_stack_thread_anew(struct choice by,
						  struct hi_fork_origin *origin)
{
	struct hi_mapping *mappings;
	struct hi_tracee *tracee;

	/* Not by the leader, which may have exited meanwhile. */
	if (hi_fork_read_mappings(any_free(by.all), &mappings, &by.n_mappings, NULL) !=
	    HI_OK)
		return NULL;
	by.mappings = mappings;
	tracee = choose_stack_thread(&by, origin);
	hi_mappings_free(mappings, by.n_mappings);
	return tracee;
}

enum hi_status hi_fork_choose_thread(const struct hi_tracees *all,
				     const struct hi_fork_plan *plan, int memory,
				     struct hi_tracee **ret,
				     struct hi_fork_origin *origin_ret,
				     struct hi_error *err)
{
	const struct choice by = {.all = all,
				  .mappings = plan->mappings,
				  .n_mappings = plan->n_mappings,
				  .memory = memory};

	if (!any_free(all))
		return hi_fail(err, HI_UNSUPPORTED, 0, "%s",
			       hi_tracees_any_stopped(all) ? HI_FORK_STOPPED
							   : HI_FORK_ASLEEP);
	*ret = choose_stack_thread(&by, origin_ret);
	if (!*ret)
		*ret = choose_stack_thread_anew(by, origin_ret);
	if (*ret)
		return HI_OK;
	return hi_fail(
		err, HI_UNSUPPORTED, 0,
		"no thread has one or two resident stack pages below its stack pointer");
}
