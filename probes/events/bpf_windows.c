/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The schedule of windows: one in each period, at a random place of it, so that nothing
 * the target does at regular times is always hit or always missed. A window that would
 * begin before the one before it was closed begins after that.
 */
#include "base/clock.h"
#include "probes/bpf_process.h"
#include "probes/events/bpf_source_internal.h"

enum { RESTARTS_MOST = 3, FAILURES_MOST = 3, END_MS = 500, END_TRIES = 40 };

/*
 * Between the programs of an entry and of a return lie the second half of one trap and the
 * first half of the other, and malloc, which takes some 20 ns mostly.
 */
uint64_t hi_bpf_windows_return_ns(const struct hi_bpf_source *source, uint64_t *n_ret)
{
	const __u32 *bins = source->shared->between;
	uint64_t all = 0, below = 0;

	for (unsigned i = 0; i < HI_BPF_BETWEEN_BINS; i++)
		all += __atomic_load_n(&bins[i], __ATOMIC_RELAXED);
	*n_ret = all;
	for (unsigned i = 0; i < HI_BPF_BETWEEN_BINS && all; i++) {
		below += __atomic_load_n(&bins[i], __ATOMIC_RELAXED);
		if (2 * below >= all)
			return i * (uint64_t)HI_BPF_BETWEEN_NS + HI_BPF_BETWEEN_NS / 2;
	}
	return 0;
}

static uint64_t draw_random(struct hi_source_windows *w)
{
	w->random ^= w->random << 13;
	w->random ^= w->random >> 7;
	w->random ^= w->random << 17;
	return w->random;
}

static void schedule_window(struct hi_source_windows *w)
{
	uint64_t room = w->schedule.period_ns > w->schedule.length_ns
				? w->schedule.period_ns - w->schedule.length_ns
				: 1;

	w->next_ns = w->period_from_ns + draw_random(w) % room;
}

/* After a rest. A window that was due in it comes soon, but not at once: what has rested
 * for it may have just stopped the target. */
static void resume_windows(struct hi_source_windows *w)
{
	uint64_t now = hi_clock_ns();

	if (w->next_ns < now)
		w->next_ns = now + draw_random(w) % (w->schedule.period_ns / 8 + 1);
}

void hi_bpf_windows_start(struct hi_bpf_source *source)
{
	struct hi_source_windows *w = &source->windows;

	w->is_started = true;
	if (w->period_from_ns) {
		resume_windows(w);
		return;
	}
	w->period_from_ns = hi_clock_ns();
	w->random = w->period_from_ns | 1;
	schedule_window(w);
}

static void skip_to_next_period(struct hi_source_windows *w)
{
	uint64_t now = hi_clock_ns(), period = w->schedule.period_ns;

	do
		w->period_from_ns += period;
	while (w->period_from_ns + period <= now);
	schedule_window(w);
}

static enum hi_status replace_window_holder(struct hi_bpf_source *source,
					    struct hi_error *err)
{
	hi_probe_holder_end(&source->windows.holder);
	if (source->windows.restarts++ >= RESTARTS_MOST)
		return hi_fail(err, HI_GONE, 0,
			       "the process of windows was killed again and again");
	return hi_bpf_source_prepare_windows(source, err);
}

/* The kernel puts breakpoints of a new link into the memory of the target's first thread,
 * which has none any more when that has ended. */
static bool is_blind(struct hi_bpf_source *source, uint64_t since_ns)
{
	struct hi_source_windows *w = &source->windows;

	if (!w->blind_ns && hi_bpf_process_has_no_main_thread(source->target->pid))
		w->blind_ns = since_ns;
	return w->blind_ns;
}

static enum hi_status take_window(struct hi_bpf_source *source, unsigned timeout_ms,
				  bool *has_ended_ret, struct hi_event_window *ret,
				  struct hi_error *err)
{
	struct hi_source_windows *w = &source->windows;
	struct hi_error why = {};
	enum hi_status status = hi_window_holder_take(&w->holder, timeout_ms, ret, &why);

	/* One that saw nothing, or part of it only, is none. */
	*has_ended_ret = status == HI_OK && !is_blind(source, ret->from_ns);
	if (status == HI_NOT_FOUND)
		return HI_OK;
	w->is_under_way = false;
	if (status == HI_GONE && hi_target_is_alive(source->target))
		return replace_window_holder(source, err);
	if (status == HI_OK) {
		w->failures = 0;
		w->all_hits += ret->hits;
		hi_window_costs_add(&w->costs, ret);
	}
	/* A window that could not be opened is left out, unless it is one after another. */
	if (status == HI_OK || (status != HI_GONE && w->failures++ < FAILURES_MOST))
		return HI_OK;
	if (err)
		*err = why;
	return status;
}

static uint64_t choose_budget(const struct hi_bpf_source *source)
{
	const struct hi_source_windows *w = &source->windows;
	uint64_t returns = 0, budget = w->schedule.budget, by_cost;
	double return_ns = (double)hi_bpf_windows_return_ns(source, &returns);
	double entry_ns = w->costs.n ? (double)w->costs.entry_ns / (double)w->costs.n : 0;

	if (!w->schedule.cost_ns)
		return budget;
	by_cost = hi_window_budget(
		&w->costs, hi_window_trap_ns(w->all_hits, returns, entry_ns, return_ns),
		w->schedule.cost_ns);
	return by_cost < budget ? by_cost : budget;
}

enum hi_status hi_bpf_windows_step(struct hi_bpf_source *source, bool *has_ended_ret,
				   struct hi_event_window *ret, struct hi_error *err)
{
	struct hi_source_windows *w = &source->windows;
	struct hi_window_request request = {.length_ns = w->schedule.length_ns};

	*has_ended_ret = false;
	if (!w->is_started)
		return HI_OK;
	if (w->is_under_way)
		return take_window(source, 0, has_ended_ret, ret, err);
	if (hi_clock_ns() < w->next_ns || is_blind(source, hi_clock_ns()))
		return HI_OK;
	skip_to_next_period(w);
	request.budget = choose_budget(source);
	w->is_under_way = hi_window_holder_begin(&w->holder, &request);
	return w->is_under_way ? HI_OK : replace_window_holder(source, err);
}

void hi_bpf_windows_cut(struct hi_bpf_source *source)
{
	uint64_t none = 0;

	source->windows.is_started = false;

	(void)__atomic_compare_exchange_n(&source->shared->window_end_ns, &none,
					  hi_clock_ns(), false, __ATOMIC_SEQ_CST,
					  __ATOMIC_SEQ_CST);
	__atomic_store_n(&source->shared->running, HI_BPF_EVENTS_NOT, __ATOMIC_SEQ_CST);
}

static enum hi_status await_last_window(struct hi_bpf_source *source, bool cuts,
					bool *has_ended_ret, struct hi_event_window *ret,
					struct hi_error *err)
{
	struct hi_source_windows *w = &source->windows;
	enum hi_status status = HI_OK;

	*has_ended_ret = false;
	w->is_started = false;
	for (int i = 0; i < END_TRIES && w->is_under_way && status == HI_OK; i++) {
		if (cuts)
			hi_bpf_windows_cut(source);
		status = take_window(source, END_MS, has_ended_ret, ret, err);
	}
	return status;
}

enum hi_status hi_bpf_windows_end(struct hi_bpf_source *source, bool *has_ended_ret,
				  struct hi_event_window *ret, struct hi_error *err)
{
	return await_last_window(source, true, has_ended_ret, ret, err);
}

enum hi_status hi_bpf_windows_rest(struct hi_bpf_source *source, bool *has_ended_ret,
				   struct hi_event_window *ret, struct hi_error *err)
{
	return await_last_window(source, false, has_ended_ret, ret, err);
}
