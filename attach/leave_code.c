/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Note [Out of the allocator]
 *
 * A thread may be inside the allocator when its pc, or one of the first words above its
 * stack pointer, lies in the ranges: a return address, or a stale word that looks like
 * one. Such threads run on together, so that one that waits for a lock gets it from
 * another one inside; all others stay stopped. That ends quickly if few are inside. Many
 * that share a lock would form a queue in there for ever, so the next tries give each one
 * a turn of its own: it takes the lock, unless one whose turn is still to come holds it,
 * and leaves.
 *
 * A stale word above the stack pointer of a sleeping thread would use up all tries for
 * nothing and delay all other threads. So a thread that sleeps in a call that no
 * allocator makes is not made to run: waiting would give no more information. It stays
 * marked until the stack is unwound from the image. A thread that is found asleep in a
 * call that an allocator may make ASLEEP_TRIES times running is checked by
 * options->is_inside at once. When only sleeping threads are left, the tries end: no
 * running thread holds the lock that they might wait for.
 *
 * A thread that waits for a condition variable is outside, whatever its stack shows: an
 * allocator makes no caller wait so, since that would wait for another caller. jemalloc's
 * background threads (background_thread:true) never leave jemalloc's code, and wait so
 * whenever they do nothing; they hold no lock then, and nothing is half done. libc waits
 * for a condition variable by FUTEX_WAIT_BITSET (an absolute time, or none), for a lock
 * by FUTEX_WAIT, as allocators that have locks of their own do.
 *
 * Note [Following a thread to its processor]
 *
 * A thread that runs on another processor does not see PTRACE_INTERRUPT where it is, but
 * when the inter-processor interrupt arrives (microseconds), or at the end of its next
 * system call if that comes first. One whose only system calls are made inside the
 * allocator (mmap and munmap of large blocks, a contended lock) is therefore caught
 * inside again and again. So the tracer moves to the thread's processor before it ends
 * the turn: that preempts it wherever it happens to be, and there it stops.
 */
#include "attach/leave_code.h"
#include "base/search.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "attach/restart_syscalls.h"
#include "base/clock.h"

#define LOOK_WORDS 128
#define OPINION_BYTES 16384
#define PAGE 4096u
#define PAGEMAP_PRESENT (1ull << 63) /* linux: admin-guide/mm/pagemap.rst */
#define PAGEMAP_SWAPPED (1ull << 62)
#define ASLEEP_TRIES 3
#define ASLEEP_TRIES_MAX 8
#define QUIET_NS 20000000u
#define DELAY_MIN_NS 20000u
#define DELAY_MAX_NS 2000000u
#define TRIES_TOGETHER 3
#define TURN_TRIES 8
#define TURN_DELAY_MIN_NS 50000u

struct avoidance {
	struct hi_tracees *all;
	const struct hi_stop_options *options;
	unsigned max_tries;
};

static bool is_in_avoided_code(const struct hi_stop_options *options, uint64_t addr)
{
	size_t n = hi_search(i, options->n_avoid, options->avoid[i].end <= addr);

	return n < options->n_avoid && options->avoid[n].start <= addr;
}

/*
 * How many bytes from addr the target has touched: reading others would make it grow page
 * tables, and may wait for the handler of a userfaultfd. size: at most OPINION_BYTES.
 */
static size_t touched_bytes(const struct hi_tracees *all, uint64_t addr, size_t size)
{
	uint64_t entries[OPINION_BYTES / PAGE + 1], first = addr / PAGE;
	size_t n = (size_t)((addr + size - 1) / PAGE - first) + 1, touched = 0;
	ssize_t got;

	if (all->pagemap < 0)
		return size;
	if (addr > INT64_MAX || n > sizeof(entries) / sizeof(*entries))
		return 0; /* not of user space */
	got = pread(all->pagemap, entries, n * sizeof(*entries),
		    (off_t)(first * sizeof(*entries)));
	while (got > 0 && touched < (size_t)got / sizeof(*entries) &&
	       (entries[touched] & (PAGEMAP_PRESENT | PAGEMAP_SWAPPED)))
		touched++;
	if (touched == n)
		return size;
	return touched ? (size_t)((first + touched) * PAGE - addr) : 0;
}

/* As many bytes from addr as can be read, page by page: a transfer need not be
 * split inside one vector. */
static size_t read_stack_bytes(const struct hi_tracees *all, pid_t tid, uint64_t addr,
			       void *buf, size_t size)
{
	struct iovec local = {.iov_base = buf, .iov_len = size};
	struct iovec remote[OPINION_BYTES / PAGE + 1];
	size_t n = 0, done = 0;
	ssize_t got;

	size = touched_bytes(all, addr, size);
	while (done < size && n < sizeof(remote) / sizeof(*remote)) {
		uint64_t at = addr + done;
		size_t part = PAGE - (size_t)(at % PAGE);

		if (part > size - done)
			part = size - done;
		/* An address of the target, used by the kernel only. */
		remote[n++] = (struct iovec){.iov_base = (void *)(uintptr_t)at,
					     .iov_len = part};
		done += part;
	}
	got = process_vm_readv(tid, &local, 1, remote, n, 0);
	return got < 0 ? 0 : (size_t)got;
}

static bool is_called_from_inside(const struct avoidance *av,
				  const struct hi_tracee *tracee)
{
	uint64_t words[LOOK_WORDS];
	size_t n;

	n = read_stack_bytes(av->all, tracee->tid, tracee->regs.rsp, words,
			     sizeof(words));
	for (size_t i = 0; i < n / sizeof(*words); i++)
		if (is_in_avoided_code(av->options, words[i]))
			return true;
	return false;
}

static bool looks_inside(const struct avoidance *av, const struct hi_tracee *tracee)
{
	return is_in_avoided_code(av->options, tracee->regs.rip) ||
	       is_called_from_inside(av, tracee);
}

/* By options->is_inside, where it is set. */
static bool is_really_inside(const struct avoidance *av, const struct hi_tracee *tracee)
{
	const struct hi_stop_options *options = av->options;
	static char stack[OPINION_BYTES] __attribute__((aligned(16)));
	struct user_regs_struct regs = tracee->regs;
	size_t n;

	if (!options->is_inside || is_in_avoided_code(options, regs.rip))
		return true;
	hi_restart_predict(&regs);
	n = read_stack_bytes(av->all, tracee->tid, regs.rsp, stack, sizeof(stack));
	return options->is_inside(options->is_inside_arg, &regs, stack, n);
}

/* Calls that malloc itself makes, or waits in for a lock. */
static bool is_allocators_call(uint64_t number)
{
	static const unsigned short calls[] = {
		SYS_mmap,   SYS_mprotect, SYS_munmap, SYS_brk,	 SYS_sched_yield,
		SYS_mremap, SYS_madvise,  SYS_prctl,  SYS_futex, SYS_getrandom,
	};

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (number == calls[i])
			return true;
	return false;
}

/* After a second interruption it is a restart_syscall with the same arguments. */
static bool waits_for_condition(const struct user_regs_struct *regs)
{
	return hi_restart_was_asleep(regs) &&
	       (regs->orig_rax == SYS_futex || regs->orig_rax == SYS_restart_syscall) &&
	       (regs->rsi & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET;
}

static void settle_thread(struct hi_tracee *tracee, bool inside)
{
	tracee->maybe_inside = inside;
	tracee->is_settled = true;
}

/*
 * Decides whether a thread that has stopped is outside the allocator. A thread at the
 * probe stays there. The probe may be on malloc itself, so such a thread is inside only
 * if malloc has called the probed code.
 */
static void judge_thread(const struct avoidance *av, struct hi_tracee *tracee)
{
	if (tracee->is_at_probe) {
		settle_thread(tracee, is_called_from_inside(av, tracee) &&
					      (is_in_avoided_code(av->options,
								  tracee->regs.rip) ||
					       is_really_inside(av, tracee)));
		return;
	}
	if (tracee->state == HI_TRACEE_DEAD || !looks_inside(av, tracee) ||
	    (waits_for_condition(&tracee->regs) &&
	     !is_in_avoided_code(av->options, tracee->regs.rip))) {
		settle_thread(tracee, false);
		return;
	}
	tracee->maybe_inside = true;
	/* A group-stopped thread may not run: it was stopped before this stop. */
	if (tracee->state == HI_TRACEE_GROUP_STOPPED) {
		settle_thread(tracee, is_really_inside(av, tracee));
		return;
	}
	if (hi_restart_was_asleep(&tracee->regs))
		tracee->asleep_tries++;
	else
		tracee->asleep_tries = 0;
	if (tracee->asleep_tries && !is_allocators_call(tracee->regs.orig_rax) &&
	    !is_in_avoided_code(av->options, tracee->regs.rip)) {
		settle_thread(tracee, is_really_inside(av, tracee));
		return;
	}
	if (tracee->asleep_tries == ASLEEP_TRIES && av->options->is_inside &&
	    !is_really_inside(av, tracee))
		settle_thread(tracee, false);
}

static void follow_to_processor(const struct avoidance *av,
				const struct hi_tracee *tracee)
{
	int cpu = hi_thread_cpu(av->all->pid, tracee->tid);
	cpu_set_t set;

	if (cpu < 0 || cpu >= CPU_SETSIZE)
		return;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	(void)sched_setaffinity(0, sizeof(set), &set); /* an optimization, may fail */
}

static bool is_movable(const struct hi_tracee *tracee)
{
	return !tracee->is_settled && tracee->state == HI_TRACEE_STOPPED;
}

/*
 * Is there a thread that may still leave the allocator? Threads that stayed asleep get
 * QUIET_NS beyond their tries: on a loaded machine they may not have run at all.
 */
static bool can_go_on(const struct avoidance *av, uint64_t *quiet_since_ns)
{
	size_t n = 0, awake = 0;

	for (size_t i = 0; i < av->all->count; i++) {
		const struct hi_tracee *tracee = &av->all->items[i];

		if (!is_movable(tracee))
			continue;
		n++;
		awake += tracee->asleep_tries < ASLEEP_TRIES_MAX;
	}
	if (awake || !*quiet_since_ns)
		*quiet_since_ns = hi_clock_ns();
	return n && (awake || hi_clock_ns() - *quiet_since_ns < QUIET_NS);
}

static enum hi_status await_avoided_thread(const struct avoidance *av,
					   struct hi_tracee *tracee, struct hi_error *err)
{
	enum hi_status status = hi_tracee_await(av->all, tracee, err);

	if (status != HI_OK)
		return status;
	tracee->tries++;
	judge_thread(av, tracee);
	return HI_OK;
}

static enum hi_status try_together(const struct avoidance *av, uint64_t delay_ns,
				   struct hi_error *err)
{
	struct hi_tracee *items = av->all->items;
	enum hi_status status = HI_OK;

	for (size_t i = 0; i < av->all->count; i++)
		if (is_movable(&items[i]))
			hi_tracee_continue(&items[i]);
	hi_clock_pause_ns(delay_ns);
	for (size_t i = 0; i < av->all->count; i++)
		if (items[i].state == HI_TRACEE_RUNNING)
			hi_tracee_interrupt(&items[i]);
	for (size_t i = 0; status == HI_OK && i < av->all->count; i++)
		if (items[i].state == HI_TRACEE_RUNNING)
			status = await_avoided_thread(av, &items[i], err);
	return status;
}

/* Lets one thread run until it is out, falls asleep, or has had its turn. */
static enum hi_status take_turn(const struct avoidance *av, struct hi_tracee *tracee,
				struct hi_error *err)
{
	uint64_t delay_ns = TURN_DELAY_MIN_NS;
	enum hi_status status = HI_OK;

	for (int i = 0; status == HI_OK && i < TURN_TRIES && is_movable(tracee); i++) {
		hi_tracee_continue(tracee);
		hi_clock_pause_ns(delay_ns);
		follow_to_processor(av, tracee);
		hi_tracee_interrupt(tracee);
		status = await_avoided_thread(av, tracee, err);
		if (hi_restart_was_asleep(&tracee->regs))
			break; /* it waits for a thread whose turn is still to come */
		delay_ns += delay_ns / 2;
	}
	return status;
}

static enum hi_status try_in_turn(const struct avoidance *av, uint64_t limit_ns,
				  struct hi_error *err)
{
	enum hi_status status = HI_OK;

	for (size_t i = 0; status == HI_OK && i < av->all->count; i++) {
		if (hi_clock_ns() > limit_ns)
			break;
		status = take_turn(av, &av->all->items[i], err);
	}
	return status;
}

enum hi_status hi_avoid_leave(struct hi_tracees *all,
			      const struct hi_stop_options *options, uint64_t limit_ns,
			      struct hi_error *err)
{
	struct avoidance av = {
		.all = all,
		.options = options,
		.max_tries = options->max_tries ? options->max_tries : HI_AVOID_MAX_TRIES,
	};
	uint64_t delay_ns = DELAY_MIN_NS;
	enum hi_status status = HI_OK;
	uint64_t quiet_since_ns = 0;
	cpu_set_t home;
	bool has_home;

	if (!options->n_avoid)
		return HI_OK;
	has_home = sched_getaffinity(0, sizeof(home), &home) == 0;
	for (size_t i = 0; i < all->count; i++)
		if (!all->items[i].is_settled)
			judge_thread(&av, &all->items[i]);
	for (unsigned i = 0; i < av.max_tries && can_go_on(&av, &quiet_since_ns); i++) {
		if (hi_clock_ns() + delay_ns > limit_ns)
			break;
		all->avoid_rounds++;
		if (i < TRIES_TOGETHER || i % 4 == 0)
			status = try_together(&av, delay_ns, err);
		else
			status = try_in_turn(&av, limit_ns, err);
		if (status != HI_OK)
			break;
		delay_ns += delay_ns / 4;
		if (delay_ns > DELAY_MAX_NS)
			delay_ns = DELAY_MAX_NS;
	}
	if (has_home)
		(void)sched_setaffinity(0, sizeof(home), &home);
	for (size_t i = 0; status == HI_OK && i < all->count; i++)
		if (!all->items[i].is_settled)
			settle_thread(&all->items[i],
				      all->items[i].state != HI_TRACEE_DEAD &&
					      is_really_inside(&av, &all->items[i]));
	return status;
}
