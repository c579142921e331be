/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Allocation events by BPF: bpf/events.bpf.c at the entry and at the return of every
 * function of the allocator. The ring is polled by the clock: to wake a reader costs the
 * target more than the event.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "probes/bpf_link.h"
#include "probes/bpf_load.h"
#include "probes/bpf_process.h"
#include "probes/events/bpf_source_internal.h"

extern const unsigned char hi_bpf_events_start[], hi_bpf_events_end[];
extern const unsigned char hi_bpf_events_old_start[], hi_bpf_events_old_end[];

enum {
	PAGE = 4096,
	RING_DEFAULT = 32 << 20,
	RING_MAX = 1 << 30,
	NAP_US = 2000,
	DRAIN_NAPS = 500,
	TIDS = 4096, /* remembered */
	/* By all but the programs for old kernels. */
	NEEDED = HI_BPF_NEEDS_RINGS | HI_BPF_NEEDS_FETCHES | HI_BPF_NEEDS_COOKIES,
	/* A thread of another namespace, whose id in ours is not known any more: no id of
	 * a thread is so large. */
	ENDED_THREAD = 1 << 30,
};

static struct hi_bpf_source *to_bpf_source(struct hi_event_source *source)
{
	return (struct hi_bpf_source *)source;
}

/* ---- reading ---- */

struct delivery {
	struct hi_bpf_source *source;
	const struct hi_event_sink *sink;
	size_t count;
};

static uint32_t translate_tid(struct hi_bpf_source *source, uint32_t tid)
{
	struct hi_foreign_tid *known = &source->tids[tid % TIDS];

	if (known->theirs != tid) {
		known->theirs = tid;
		known->ours =
			(uint32_t)hi_bpf_process_tid(source->target->pid, (pid_t)tid);
		if (!known->ours)
			known->ours = ENDED_THREAD | tid;
	}
	return known->ours;
}

static void deliver_event(const struct delivery *d, const struct hi_event *record)
{
	struct hi_event event = *record;

	if (d->source->tids && event.tid)
		event.tid = translate_tid(d->source, event.tid);
	d->source->events += event.kind != HI_EVENT_LOST;
	d->sink->event(d->sink->arg, &event);
}

static void deliver_stack(const struct delivery *d, const struct hi_event_stack *stack)
{
	d->source->stacks++;
	d->source->stacks_cut += stack->cut;
	d->sink->stack(d->sink->arg, stack);
}

static bool deliver_record(void *arg, const void *record, size_t size)
{
	struct delivery *d = arg;

	d->count++;
	if (size == sizeof(struct hi_event))
		deliver_event(d, record);
	else if (size % 8 == HI_BPF_STACK_PAD)
		deliver_stack(d, record);
	return true;
}

/* The page exists once a function that is probed has returned. */
static void find_trampoline(struct hi_bpf_source *source)
{
	struct hi_range page;

	if (!source->shared->trampoline &&
	    hi_event_return_page(source->target->pid, &page))
		__atomic_store_n(&source->shared->trampoline, page.start,
				 __ATOMIC_RELEASE);
}

static bool deliver_all(const struct delivery *d, uint64_t end)
{
	return hi_ring_read(&d->source->ring, end, deliver_record, (void *)(uintptr_t)d);
}

/* The time of a window is known when it has ended, and all its events are there. */
static void deliver_window(const struct delivery *d, const struct hi_event_window *window)
{
	(void)deliver_all(d, hi_ring_end(&d->source->ring));
	if (d->sink->window)
		d->sink->window(d->sink->arg, window);
}

static enum hi_status step_windows(struct delivery *d, struct hi_error *err)
{
	struct hi_event_window window;
	bool has_ended = false;
	enum hi_status status = HI_OK;

	if (hi_bpf_source_has_windows(d->source))
		status = hi_bpf_windows_step(d->source, &has_ended, &window, err);
	if (status == HI_OK && has_ended)
		deliver_window(d, &window);
	return status;
}

static enum hi_status poll_ring(struct hi_event_source *base, unsigned timeout_ms,
				const struct hi_event_sink *sink, struct hi_error *err)
{
	struct hi_bpf_source *source = to_bpf_source(base);
	struct delivery d = {.source = source, .sink = sink};
	uint64_t until = hi_clock_ns() + timeout_ms * (uint64_t)1000000;

	for (;;) {
		enum hi_status status = step_windows(&d, err);

		if (status != HI_OK)
			return status;
		(void)deliver_all(&d, hi_ring_end(&source->ring));
		if (d.count || hi_clock_ns() >= until)
			break;
		if (!hi_target_is_alive(source->target))
			return hi_fail(err, HI_GONE, 0, "the target has exited");
		usleep(NAP_US);
	}
	if (d.count)
		find_trampoline(source);
	return HI_OK;
}

/* A thread may have been put aside while it writes a record. */
static enum hi_status drain_ring(struct hi_event_source *base,
				 const struct hi_event_sink *sink, struct hi_error *err)
{
	struct hi_bpf_source *source = to_bpf_source(base);
	struct delivery d = {.source = source, .sink = sink};
	uint64_t end = hi_ring_end(&source->ring), lost;
	struct hi_event event = {.kind = HI_EVENT_LOST, .time_ns = hi_clock_ns()};
	struct hi_event_window window;
	bool has_ended = false;
	enum hi_status status = HI_OK;

	if (hi_bpf_source_has_windows(source) && !source->windows.is_started)
		status = hi_bpf_windows_end(source, &has_ended, &window, err);
	if (status != HI_OK)
		return status;
	end = hi_ring_end(&source->ring);
	for (int i = 0; !deliver_all(&d, end); i++) {
		if (i == DRAIN_NAPS)
			return hi_fail(err, HI_TIMEOUT, 0,
				       "incomplete event record: a thread of the target "
				       "was preempted while it wrote it");
		usleep(NAP_US);
	}
	if (has_ended)
		deliver_window(&d, &window);
	/* Events that were lost after the last one that fitted. */
	lost = __atomic_exchange_n(&source->shared->lost, 0, __ATOMIC_SEQ_CST);
	event.size = lost;
	if (lost)
		sink->event(sink->arg, &event);
	return HI_OK;
}

static enum hi_status rest_from_windows(struct hi_event_source *base,
					const struct hi_event_sink *sink,
					struct hi_error *err)
{
	struct hi_bpf_source *source = to_bpf_source(base);
	struct delivery d = {.source = source, .sink = sink};
	struct hi_event_window window;
	bool has_ended = false;
	enum hi_status status = HI_OK;

	if (hi_bpf_source_has_windows(source))
		status = hi_bpf_windows_rest(source, &has_ended, &window, err);
	if (status == HI_OK && has_ended)
		deliver_window(&d, &window);
	return status;
}

static void read_counts(const struct hi_bpf_source *source, size_t function,
			struct hi_event_function_stats *ret)
{
	const struct hi_bpf_event_counts *counts =
		source->counts + function * HI_BPF_EVENT_SLOTS;

	ret->name = source->functions.items[function].name;
	for (size_t i = 0; i < HI_BPF_EVENT_SLOTS; i++) {
		ret->hits += __atomic_load_n(&counts[i].hits, __ATOMIC_RELAXED);
		ret->nested += __atomic_load_n(&counts[i].nested, __ATOMIC_RELAXED);
		ret->failed += __atomic_load_n(&counts[i].failed, __ATOMIC_RELAXED);
		ret->counted += __atomic_load_n(&counts[i].counted, __ATOMIC_RELAXED);
		ret->counted_bytes +=
			__atomic_load_n(&counts[i].counted_bytes, __ATOMIC_RELAXED);
	}
}

static void read_stats(struct hi_event_source *base, struct hi_event_stats *ret)
{
	const struct hi_bpf_source *source = to_bpf_source(base);
	const struct hi_bpf_events_shared *shared = source->shared;

	ret->events = source->events;
	ret->lost = __atomic_load_n(&shared->lost_total, __ATOMIC_RELAXED);
	ret->lost_calls = __atomic_load_n(&shared->lost_calls, __ATOMIC_RELAXED);
	ret->stacks = source->stacks;
	ret->stacks_cut = source->stacks_cut;
	ret->abandoned = __atomic_load_n(&shared->abandoned, __ATOMIC_RELAXED);
	ret->paused_calls = __atomic_load_n(&shared->paused_calls, __ATOMIC_RELAXED);
	ret->paused_bytes = __atomic_load_n(&shared->paused_bytes, __ATOMIC_RELAXED);
	ret->return_ns = hi_bpf_windows_return_ns(source, &ret->returns);
	ret->blind_ns = source->windows.blind_ns;
	ret->n_functions = source->functions.count;
	ret->ticks.scan_ns = source->no_ticks.status == HI_OK ? source->scan_ns : 0;
	ret->ticks.missed = source->ticks.missed;
	ret->ticks.no_stack = __atomic_load_n(&shared->no_regs, __ATOMIC_RELAXED);
	snprintf(ret->ticks.why_none, sizeof(ret->ticks.why_none), "%s",
		 source->no_ticks.status == HI_OK ? "" : source->no_ticks.text);
	snprintf(ret->why_no_optional, sizeof(ret->why_no_optional), "%s",
		 source->no_optional.status == HI_OK ? "" : source->no_optional.text);
	for (size_t i = 0; i < source->functions.count; i++)
		read_counts(source, i, &ret->functions[i]);
}

/* ---- in the inspector ---- */

static struct bpf_program *program_of_ticks(const struct hi_bpf_source *source)
{
	return bpf_object__find_program_by_name(source->object, "tick");
}

/* Without them there is the rest. */
static void start_ticks(struct hi_bpf_source *source)
{
	if (!source->scan_ns || source->no_ticks.status != HI_OK ||
	    hi_ticks_open(&source->ticks, source->target->pid,
			  bpf_program__fd(program_of_ticks(source)),
			  source->scan_ns / hi_ticks_steps(source->scan_ns),
			  &source->no_ticks) == HI_OK)
		return;
	hi_ticks_close(&source->ticks);
}

static enum hi_status start_events(struct hi_event_source *base, struct hi_error *err)
{
	struct hi_bpf_source *source = to_bpf_source(base);

	(void)err;
	find_trampoline(source);
	if (hi_bpf_source_has_windows(source)) {
		hi_bpf_windows_start(source);
		return HI_OK;
	}
	start_ticks(source);
	__atomic_store_n(&source->shared->running, HI_BPF_EVENTS_MADE, __ATOMIC_SEQ_CST);
	return HI_OK;
}

static void look_for_trampoline(struct hi_event_source *base)
{
	find_trampoline(to_bpf_source(base));
}

static void count_events(struct hi_event_source *base)
{
	/* Between windows there are no links. */
	if (!hi_bpf_source_has_windows(to_bpf_source(base)))
		__atomic_store_n(&to_bpf_source(base)->shared->running,
				 HI_BPF_EVENTS_COUNTED, __ATOMIC_SEQ_CST);
}

static void set_sampling(struct hi_event_source *base, uint64_t bytes)
{
	__atomic_store_n(&to_bpf_source(base)->shared->sample_bytes, bytes,
			 __ATOMIC_SEQ_CST);
}

static void pause_events(struct hi_event_source *base, bool is_paused)
{
	__atomic_store_n(&to_bpf_source(base)->shared->is_paused, is_paused,
			 __ATOMIC_SEQ_CST);
}

static void stop_events(struct hi_event_source *base)
{
	struct hi_bpf_source *source = to_bpf_source(base);

	if (hi_bpf_source_has_windows(source))
		hi_bpf_windows_cut(source);
	__atomic_store_n(&source->shared->running, HI_BPF_EVENTS_NOT, __ATOMIC_SEQ_CST);
	hi_ticks_close(&source->ticks);
}

static void drop_optional_links(struct hi_event_source *base)
{
	struct hi_bpf_source *source = to_bpf_source(base);

	if (source->n_links <= source->n_kept)
		return;
	hi_probe_holder_close(&source->optional_holder, source->links + source->n_kept,
			      source->n_links - source->n_kept);
	source->n_links = source->n_kept;
}

/* Both holders at one time. If opening has failed there are no links. */
static void close_whole_links(struct hi_bpf_source *source)
{
	size_t kept = source->n_links < source->n_kept ? source->n_links : source->n_kept;

	hi_probe_holder_let_go(&source->optional_holder, source->links + kept,
			       source->n_links - kept);
	hi_probe_holder_close(&source->holder, source->links, kept);
	hi_probe_holder_end(&source->optional_holder);
	source->n_links = 0;
}

static void close_links(struct hi_bpf_source *source)
{
	/* It ends its window first. */
	hi_probe_holder_end(&source->windows.holder);
	close_whole_links(source);
}

static enum hi_status fail_by_first_thread(const struct hi_target *target,
					   struct hi_error *err)
{
	return hi_fail(err, HI_UNSUPPORTED, 0,
		       "the first thread of process %d has ended, which probes of "
		       "windows need",
		       (int)target->pid);
}

/* The holder of windows has its anchors before the links are closed. */
static enum hi_status use_windows(struct hi_event_source *base,
				  const struct hi_event_schedule *schedule,
				  struct hi_error *err)
{
	struct hi_bpf_source *source = to_bpf_source(base);
	enum hi_status status;

	if (hi_bpf_process_has_no_main_thread(source->target->pid))
		return fail_by_first_thread(source->target, err);
	source->n_planned = source->n_links;
	status = hi_bpf_source_prepare_windows(source, err);
	if (status != HI_OK)
		return status;
	__atomic_store_n(&source->shared->running, HI_BPF_EVENTS_NOT, __ATOMIC_SEQ_CST);
	close_whole_links(source);
	source->windows.schedule = *schedule;
	return HI_OK;
}

static size_t counts_size(void)
{
	return sizeof(struct hi_bpf_event_counts) * HI_BPF_EVENT_FUNCTIONS *
	       HI_BPF_EVENT_SLOTS;
}

/* Windows are opened by who reads the events. */
static void list_source_fds(const struct hi_event_source *base,
			    int fds[HI_EVENT_SOURCE_FDS])
{
	const struct hi_bpf_source *source = (const struct hi_bpf_source *)base;

	fds[0] = source->windows.holder.socket;
	fds[1] = source->windows.holder.pidfd;
}

static void close_bpf_source(struct hi_event_source *base)
{
	struct hi_bpf_source *source = to_bpf_source(base);

	if (source->shared)
		stop_events(base);
	close_links(source);
	if (source->shared)
		munmap(source->shared, PAGE);
	if (source->counts)
		munmap((void *)(uintptr_t)source->counts, counts_size());
	hi_ring_unmap(&source->ring);
	bpf_object__close(source->object);
	free(source->tids);
	free(source);
}

#define BPF_SOURCE_OPS(probes, windows)                                                  \
	{                                                                                \
		.name = (probes), .count = count_events, .set_sampling = set_sampling,   \
		.drop_optional = drop_optional_links, .start = start_events,             \
		.pause = pause_events, .set_unwind = hi_bpf_source_set_unwind,           \
		.poll = poll_ring, .drain = drain_ring, .stats = read_stats,             \
		.look = look_for_trampoline, .stop = stop_events,                        \
		.close = close_bpf_source, .use_windows = (windows),                     \
		.fds = list_source_fds, .rest = rest_from_windows,                       \
	}

static const struct hi_event_source_ops multi_source_ops =
	BPF_SOURCE_OPS("uprobe_multi", use_windows);
static const struct hi_event_source_ops perf_source_ops =
	BPF_SOURCE_OPS("perf events", NULL);
static const struct hi_event_source_ops old_source_ops =
	BPF_SOURCE_OPS("perf events without cookies", NULL);

/* ---- opening ---- */

static int set_attach_type(const struct hi_bpf_source *source)
{
	struct bpf_program *program;
	int error = 0;

	if (source->by_perf)
		return 0;
	bpf_object__for_each_program(
		program,
		source->object) if (!error && program != program_of_ticks(source)) error =
		bpf_program__set_expected_attach_type(
			program, (enum bpf_attach_type)HI_BPF_UPROBE_MULTI);
	return error;
}

static int set_map_sizes(const struct hi_bpf_source *source)
{
	int error = bpf_map__set_max_entries(
		bpf_object__find_map_by_name(source->object, "ring_map"),
		(uint32_t)source->ring_size);

	if (!error && hi_bpf_source_keeps_callers(source))
		error = bpf_map__set_max_entries(
			bpf_object__find_map_by_name(source->object, "callers_map"),
			HI_BPF_CALLER_THREADS);
	return error;
}

static enum hi_status open_events_programs(struct hi_bpf_source *source,
					   struct hi_error *err)
{
	if (source->is_old)
		return hi_bpf_open(hi_bpf_events_old_start, hi_bpf_events_old_end,
				   &source->object, err);
	return hi_bpf_open(hi_bpf_events_start, hi_bpf_events_end, &source->object, err);
}

static enum hi_status load_events_program_once(struct hi_bpf_source *source,
					       struct hi_error *err)
{
	enum hi_status status = open_events_programs(source, err);
	int error;

	if (status != HI_OK)
		return status;
	error = set_map_sizes(source);
	if (!error)
		error = set_attach_type(source);
	if (!error)
		error = hi_bpf_source_fill_given(source);
	if (!error)
		error = bpf_program__set_autoload(program_of_ticks(source),
						  source->scan_ns != 0);
	if (error)
		return hi_bpf_refused(-error, err);
	return hi_bpf_load(source->object,
			   (source->is_old ? HI_BPF_NEEDS_RINGS : NEEDED) |
				   (source->by_perf ? 0 : HI_BPF_TRIAL),
			   err);
}

/* A kernel may accept all but the program of samples of time. */
static enum hi_status load_events_program(struct hi_bpf_source *source,
					  struct hi_error *err)
{
	struct hi_error why = {};
	enum hi_status status = load_events_program_once(source, &why);

	if (status != HI_OK && err)
		*err = why;
	if (status == HI_OK || !source->scan_ns || !source->object)
		return status;
	bpf_object__close(hi_take(source->object));
	source->scan_ns = 0;
	source->no_ticks = why;
	return load_events_program_once(source, err);
}

static void *map_source_memory(const struct hi_bpf_source *source, const char *name,
			       size_t size, int prot)
{
	int fd = bpf_object__find_map_fd_by_name(source->object, name);
	void *memory = mmap(NULL, size, prot, MAP_SHARED, fd, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static enum hi_status map_events_memory(struct hi_bpf_source *source,
					struct hi_error *err)
{
	source->shared =
		map_source_memory(source, "shared_map", PAGE, PROT_READ | PROT_WRITE);
	source->counts =
		map_source_memory(source, "counts_map", counts_size(), PROT_READ);
	if (!source->shared || !source->counts)
		return hi_fail_errno(err, "memory of a BPF program");
	return hi_ring_map(bpf_object__find_map_fd_by_name(source->object, "ring_map"),
			   source->ring_size, &source->ring, err);
}

static enum hi_status tell_target(struct hi_bpf_source *source, struct hi_error *err)
{
	struct hi_bpf_events_shared *shared = source->shared;
	struct hi_bpf_process process;
	enum hi_status status = hi_bpf_process_find(source->target->pid, &process, err);

	if (status != HI_OK)
		return status;
	shared->tgid = process.tgid;
	shared->ns_device = process.ns_device;
	shared->ns_inode = process.ns_inode;
	if (process.has_foreign_tids) {
		source->tids = hi_calloc(TIDS, sizeof(*source->tids));
		if (!source->tids)
			return hi_fail_memory(err, "threads");
	}
	shared->python = source->functions.python;
	if (shared->python.code_type)
		shared->fs_base = hi_bpf_find_fs_base();
	for (size_t i = 0; i < source->functions.n_own; i++)
		shared->own[i] = (struct hi_bpf_range){source->functions.own[i].start,
						       source->functions.own[i].end};
	return HI_OK;
}

/* See Note [Without cookies] in bpf/events_old.h. */
static enum hi_status tell_sites(const struct hi_bpf_source *source, struct hi_error *err)
{
	int map = bpf_object__find_map_fd_by_name(source->object, "functions_map");

	for (uint32_t i = 0; source->is_old && i < source->functions.count; i++)
		if (bpf_map_update_elem(map, &source->functions.items[i].site.address, &i,
					BPF_ANY) != 0)
			return hi_fail_errno(err, "functions for a BPF program");
	for (uint32_t i = 0; source->is_old && i < source->functions.n_sites; i++) {
		uint32_t cookie = hi_bpf_cookie_of_site(&source->functions.sites[i]);

		if (bpf_map_update_elem(map, &source->functions.sites[i].address, &cookie,
					BPF_ANY) != 0)
			return hi_fail_errno(err, "places for a BPF program");
	}
	return HI_OK;
}

static size_t choose_ring_size(const struct hi_event_source_options *options)
{
	size_t size = PAGE;

	while (size < options->ring_size && size < RING_MAX)
		size *= 2;
	return options->ring_size ? size : RING_DEFAULT;
}

static enum hi_status check_functions(const struct hi_target *target,
				      const struct hi_event_functions *functions,
				      struct hi_error *err)
{
	if (functions->count == 0 || functions->count > HI_BPF_EVENT_FUNCTIONS ||
	    functions->n_own > HI_BPF_EVENT_OWN ||
	    functions->n_sites > HI_EVENT_SITES_MAX)
		return hi_fail(err, HI_BAD_DATA, 0, "no functions to follow");
	for (size_t i = 0; i < functions->count; i++)
		if (functions->items[i].site.mapping >= target->n_mappings)
			return hi_fail(err, HI_BAD_DATA, functions->items[i].site.address,
				       "a function of the allocator is in no mapped "
				       "file");
	return HI_OK;
}

/* How the programs are started. */
enum means { BY_MULTI, BY_PERF, BY_PERF_ON_OLD_KERNELS };

static const struct hi_event_source_ops *const ops_by_means[] = {
	[BY_MULTI] = &multi_source_ops,
	[BY_PERF] = &perf_source_ops,
	[BY_PERF_ON_OLD_KERNELS] = &old_source_ops,
};

static enum hi_status open_bpf_source(const struct hi_target *target,
				      const struct hi_event_functions *functions,
				      const struct hi_event_source_options *options,
				      enum means means, struct hi_event_source **ret,
				      struct hi_error *err)
{
	struct hi_bpf_source *source;
	enum hi_status status = check_functions(target, functions, err);

	if (status != HI_OK)
		return status;
	source = hi_calloc(1, sizeof(*source));
	if (!source)
		return hi_fail_memory(err, "events");
	source->target = target;
	source->functions = *functions;
	source->holder = source->optional_holder = HI_PROBE_HOLDER_NONE;
	source->windows.holder = HI_PROBE_HOLDER_NONE;
	source->windows.schedule = options->windows;
	source->ring_size = choose_ring_size(options);
	source->scan_ns = options->scan_ns;
	source->source.ops = ops_by_means[means];
	source->by_perf = means != BY_MULTI;
	source->is_old = means == BY_PERF_ON_OLD_KERNELS;
	status = load_events_program(source, err);
	if (status == HI_OK)
		status = map_events_memory(source, err);
	if (status == HI_OK)
		status = tell_target(source, err);
	if (status == HI_OK)
		status = tell_sites(source, err);
	if (status == HI_OK)
		status = hi_bpf_source_has_windows(source)
				 ? hi_bpf_source_prepare_windows(source, err)
				 : hi_bpf_source_attach(source, err);
	if (status == HI_OK)
		*ret = &source->source;
	else
		close_bpf_source(&source->source);
	return status;
}

enum hi_status hi_event_source_open_by_perf(const struct hi_target *target,
					    const struct hi_event_functions *functions,
					    const struct hi_event_source_options *options,
					    struct hi_event_source **ret,
					    struct hi_error *err)
{
	return open_bpf_source(target, functions, options, BY_PERF, ret, err);
}

enum hi_status
hi_event_source_open_as_on_old_kernels(const struct hi_target *target,
				       const struct hi_event_functions *functions,
				       const struct hi_event_source_options *options,
				       struct hi_event_source **ret, struct hi_error *err)
{
	return open_bpf_source(target, functions, options, BY_PERF_ON_OLD_KERNELS, ret,
			       err);
}

enum hi_status hi_event_source_open(const struct hi_target *target,
				    const struct hi_event_functions *functions,
				    const struct hi_event_source_options *options,
				    struct hi_event_source **ret, struct hi_error *err)
{
	enum means means = BY_PERF;

	if (options->windows.length_ns)
		return hi_bpf_process_has_no_main_thread(target->pid)
			       ? fail_by_first_thread(target, err)
			       : open_bpf_source(target, functions, options, BY_MULTI,
						 ret, err);
	if (!hi_bpf_process_has_no_main_thread(target->pid) &&
	    open_bpf_source(target, functions, options, BY_MULTI, ret, NULL) == HI_OK)
		return HI_OK;
	if (hi_bpf_has(HI_BPF_NEEDS_RINGS) && !hi_bpf_has(NEEDED))
		means = BY_PERF_ON_OLD_KERNELS;
	return open_bpf_source(target, functions, options, means, ret, err);
}
