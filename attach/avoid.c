/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Note [Out of the allocator]
 *
 * A thread may be inside when its pc, or one of the first words above its
 * stack pointer, lies in the ranges: a return address, or a stale word that
 * looks like one. Those threads run on together, so that one that waits for a
 * lock gets it from another one inside; all others stay stopped. Each try is
 * longer than the one before.
 *
 * A stale word above the stack pointer of a sleeping thread would use up all
 * tries for nothing, and hold up everybody else. So a thread that is found
 * asleep in its system call ASLEEP_TRIES times running gets the second opinion
 * at once, and when only sleepers are left that never move, we stop trying: the
 * lock that they might wait for is held by nobody who runs.
 */
#include "attach/avoid.h"

#include <sys/uio.h>
#include <time.h>

#include "attach/clock.h"
#include "attach/restart.h"

#define LOOK_WORDS 128
#define OPINION_BYTES 16384
#define PAGE 4096u
#define ASLEEP_TRIES 3
#define ASLEEP_TRIES_MAX 8
#define DELAY_MIN_NS 20000u
#define DELAY_MAX_NS 2000000u

struct avoidance {
	struct hi_tracees *all;
	const struct hi_stop_options *options;
	unsigned max_tries;
};

static bool in_ranges(const struct hi_stop_options *options, uint64_t addr)
{
	size_t low = 0, high = options->n_avoid;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (addr < options->avoid[middle].start)
			high = middle;
		else if (addr >= options->avoid[middle].end)
			low = middle + 1;
		else
			return true;
	}
	return false;
}

/* As many bytes from addr as can be read, page by page: a transfer need not be
 * split inside one vector. */
static size_t read_stack(pid_t tid, uint64_t addr, void *buf, size_t size)
{
	struct iovec local = {.iov_base = buf, .iov_len = size};
	struct iovec remote[OPINION_BYTES / PAGE + 1];
	size_t n = 0, done = 0;
	ssize_t got;

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

static bool looks_inside(const struct avoidance *av, const struct hi_tracee *tracee)
{
	uint64_t words[LOOK_WORDS];
	size_t n;

	if (in_ranges(av->options, tracee->regs.rip))
		return true;
	n = read_stack(tracee->tid, tracee->regs.rsp, words, sizeof(words));
	for (size_t i = 0; i < n / sizeof(*words); i++)
		if (in_ranges(av->options, words[i]))
			return true;
	return false;
}

/* The second opinion, where there is one. */
static bool is_really_inside(const struct avoidance *av, const struct hi_tracee *tracee)
{
	const struct hi_stop_options *options = av->options;
	static char stack[OPINION_BYTES] __attribute__((aligned(16)));
	struct user_regs_struct regs = tracee->regs;
	size_t n;

	if (!options->is_inside || in_ranges(options, regs.rip))
		return true;
	hi_restart_predict(&regs);
	n = read_stack(tracee->tid, regs.rsp, stack, sizeof(stack));
	return options->is_inside(options->is_inside_arg, &regs, stack, n);
}

static void settle(struct hi_tracee *tracee, bool inside)
{
	tracee->maybe_inside = inside;
	tracee->is_settled = true;
}

/* A thread stands again (or for the first time): is it out? */
static void judge(const struct avoidance *av, struct hi_tracee *tracee)
{
	if (tracee->state == HI_TRACEE_DEAD || !looks_inside(av, tracee)) {
		settle(tracee, false);
		return;
	}
	tracee->maybe_inside = true;
	/* A group-stopped thread may not run: it was stopped before we came. */
	if (tracee->state == HI_TRACEE_GROUP_STOPPED) {
		settle(tracee, is_really_inside(av, tracee));
		return;
	}
	if (hi_restart_was_asleep(&tracee->regs))
		tracee->asleep_tries++;
	else
		tracee->asleep_tries = 0;
	if (tracee->asleep_tries == ASLEEP_TRIES && av->options->is_inside &&
	    !is_really_inside(av, tracee))
		settle(tracee, false);
}

/* Threads to let run. None when nothing can move any more. */
static size_t count_movable(const struct avoidance *av)
{
	size_t n = 0, awake = 0;

	for (size_t i = 0; i < av->all->count; i++) {
		const struct hi_tracee *tracee = &av->all->items[i];

		if (tracee->is_settled || tracee->state != HI_TRACEE_STOPPED)
			continue;
		n++;
		awake += tracee->asleep_tries < ASLEEP_TRIES_MAX;
	}
	return awake ? n : 0;
}

static enum hi_status try_once(const struct avoidance *av, uint64_t delay_ns,
			       struct hi_error *err)
{
	struct timespec delay = hi_timespec(delay_ns);
	struct hi_tracees *all = av->all;
	enum hi_status status;

	for (size_t i = 0; i < all->count; i++)
		if (!all->items[i].is_settled && all->items[i].state == HI_TRACEE_STOPPED)
			hi_tracee_continue(&all->items[i]);
	nanosleep(&delay, NULL);
	for (size_t i = 0; i < all->count; i++)
		if (all->items[i].state == HI_TRACEE_RUNNING)
			hi_tracee_interrupt(&all->items[i]);
	for (size_t i = 0; i < all->count; i++) {
		if (all->items[i].state != HI_TRACEE_RUNNING)
			continue;
		status = hi_tracee_await(all, &all->items[i], err);
		if (status != HI_OK)
			return status;
		judge(av, &all->items[i]);
	}
	return HI_OK;
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
	enum hi_status status;

	if (!options->n_avoid)
		return HI_OK;
	for (size_t i = 0; i < all->count; i++)
		if (!all->items[i].is_settled)
			judge(&av, &all->items[i]);
	for (unsigned i = 0; i < av.max_tries && count_movable(&av); i++) {
		if (hi_clock_ns() + delay_ns > limit_ns)
			break;
		status = try_once(&av, delay_ns, err);
		if (status != HI_OK)
			return status;
		delay_ns += delay_ns / 4;
		if (delay_ns > DELAY_MAX_NS)
			delay_ns = DELAY_MAX_NS;
	}
	for (size_t i = 0; i < all->count; i++)
		if (!all->items[i].is_settled)
			settle(&all->items[i],
			       all->items[i].state != HI_TRACEE_DEAD &&
				       is_really_inside(&av, &all->items[i]));
	return HI_OK;
}
