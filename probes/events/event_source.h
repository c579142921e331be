/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sources of allocation events.
 *
 * To add a source: a `struct hi_event_source` embedded first in its own, with a table of
 * operations; a function that opens it, declared here; a line in
 * tests/probes/event_source_test.c.
 */
#ifndef HI_PROBES_EVENTS_EVENT_SOURCE_H
#define HI_PROBES_EVENTS_EVENT_SOURCE_H

#include "census/event.h"
#include "probes/events/functions.h"
#include "probes/events/unwind_tables.h"
#include "probes/events/window_holder.h"

/* Both get what is theirs until they return. HI_EVENT_STACK goes to `stack`, everything
 * else to `event`. */
struct hi_event_sink {
	void (*event)(void *arg, const struct hi_event *event);
	void (*stack)(void *arg, const struct hi_event_stack *stack);
	void *arg;
	/* A window has ended, and all of its events were delivered. NULL: nobody asks. */
	void (*window)(void *arg, const struct hi_event_window *window);
};

/* Samples of time. */
struct hi_tick_stats {
	uint64_t scan_ns;   /* CPU time between two of them; 0: there are none */
	char why_none[240]; /* though they were wanted: this refused them; else "" */
	uint32_t missed;    /* threads that have no timer */
	uint64_t no_stack;  /* samples at which no register was known */
};

struct hi_event_stats {
	uint64_t events;     /* that the sink got, those of HI_EVENT_LOST not counted */
	uint64_t lost;	     /* they did not fit into the ring */
	uint64_t lost_calls; /* not seen: too many at one time */
	uint64_t stacks,
		stacks_cut; /* that the sink got; of those, without outer frames */
	uint64_t abandoned; /* calls that never returned */
	/* In windows: calls that were seen to return, and what the trap of a return takes
	 * without its program, the median; 0: not known. */
	uint64_t returns, return_ns;
	/* Since when windows see nothing (CLOCK_MONOTONIC), as the first thread of the
	 * target has ended; 0: they do. */
	uint64_t blind_ns;
	/* Calls of malloc and its like in pauses, and bytes that they gave out. */
	uint64_t paused_calls, paused_bytes;
	struct hi_tick_stats ticks;
	char why_no_optional[240]; /* what refused the probes of functions with
				      HI_BPF_OPTIONAL; "": nothing */
	size_t n_functions;
	struct hi_event_function_stats {
		const char *name;
		uint64_t hits;	 /* entries */
		uint64_t nested; /* of those: inside another one, or by the allocator */
		uint64_t failed; /* returned no block */
		/* While calls were only counted, of functions that allocate. */
		uint64_t counted, counted_bytes;
	} functions[HI_BPF_EVENT_FUNCTIONS];
};

/*
 * Events are made in windows of this length only, one in each period at a random place of
 * it (Note [Windows] in window_holder.c), each of at most so many hits, and of as few as
 * take the target no longer than cost_ns (Note [The cost of a window] in window_cost.h;
 * 0: any).
 */
struct hi_event_schedule {
	uint64_t length_ns, period_ns, budget, cost_ns;
};

enum { HI_EVENT_SOURCE_FDS = 2 };

struct hi_event_source;
struct hi_event_source_ops {
	const char *name; /* by which means: "uprobe_multi", "perf events", "mock" */
	/* Calls are only counted from now on, until the start. */
	void (*count)(struct hi_event_source *source);
	/* Before the start: only some allocations are to make events, by their sizes
	 * (bpf/sampling.h), and what frees those. 0: all. */
	void (*set_sampling)(struct hi_event_source *source, uint64_t bytes);
	/* Before the start: closes the probes of functions with HI_BPF_OPTIONAL. */
	void (*drop_optional)(struct hi_event_source *source);
	/* From the next start on events are made in windows alone. NULL: cannot. */
	enum hi_status (*use_windows)(struct hi_event_source *source,
				      const struct hi_event_schedule *schedule,
				      struct hi_error *err);
	/* Events are made from now on. A call that is under way makes none. */
	enum hi_status (*start)(struct hi_event_source *source, struct hi_error *err);
	/* From now on what is allocated makes no event, until it goes on: but frees of
	 * what was recorded do, and a reallocation ends it. */
	void (*pause)(struct hi_event_source *source, bool is_paused);
	/* From now on stacks are walked by these tables, whether events are made or not.
	 * tables (checked) are copied. */
	enum hi_status (*set_unwind)(struct hi_event_source *source,
				     const struct hi_unwind_tables *tables,
				     struct hi_error *err);
	/* Delivers the events that are there, waiting for one if there is none, at most
	 * so long. */
	enum hi_status (*poll)(struct hi_event_source *source, unsigned timeout_ms,
			       const struct hi_event_sink *sink, struct hi_error *err);
	/* Everything that happened before this call; does not wait for more. */
	enum hi_status (*drain)(struct hi_event_source *source,
				const struct hi_event_sink *sink, struct hi_error *err);
	void (*stats)(struct hi_event_source *source, struct hi_event_stats *ret);
	/* While events are made, often: finds what is in the target only then. NULL:
	 * nothing. */
	void (*look)(struct hi_event_source *source);
	/* No more windows are opened until the next start; the one that is open ends when
	 * it would, and is delivered. NULL: there are none. */
	enum hi_status (*rest)(struct hi_event_source *source,
			       const struct hi_event_sink *sink, struct hi_error *err);
	/* No more events are made; those that were can still be drained. */
	void (*stop)(struct hi_event_source *source);
	/* Descriptors that a fork needs which reads the events, at most
	 * HI_EVENT_SOURCE_FDS; -1: none. NULL: needs none. */
	void (*fds)(const struct hi_event_source *source, int fds[HI_EVENT_SOURCE_FDS]);
	/* Closes the probes and frees source. */
	void (*close)(struct hi_event_source *source);
};

struct hi_event_source {
	const struct hi_event_source_ops *ops;
};

struct hi_event_source_options {
	size_t ring_size; /* bytes, rounded up to a power of two; 0: 32 MiB */
	/* From the start on: a HI_EVENT_TICK for so much CPU time of each thread; 0:
	 * none. If the kernel refuses it there are none, and the stats have that. */
	uint64_t scan_ns;
	struct hi_event_schedule windows; /* zeros: events are made all the time */
};

/*
 * Puts the probes into a process; events are made from the start on. target and functions
 * (copied) are of hi_target_open() and hi_event_functions_find(). target is borrowed
 * until the close. Probes are opened, and closed last, by a process of their own
 * (holder.h). *ret: closed by hi_event_source_close(). HI_CANNOT_ATTACH: err->text names
 * the rights that it needs; HI_UNSUPPORTED: this kernel cannot do it, or not by windows:
 * only links of uprobe_multi can be opened and closed in a moment.
 */
enum hi_status hi_event_source_open(const struct hi_target *target,
				    const struct hi_event_functions *functions,
				    const struct hi_event_source_options *options,
				    struct hi_event_source **ret, struct hi_error *err);
/* The same by perf events alone, which is what hi_event_source_open() uses where the
 * kernel has no links of uprobe_multi. */
enum hi_status hi_event_source_open_by_perf(const struct hi_target *target,
					    const struct hi_event_functions *functions,
					    const struct hi_event_source_options *options,
					    struct hi_event_source **ret,
					    struct hi_error *err);
/* And by the programs for kernels before 5.15 (bpf/events_old.h), which it uses there.
 * Later kernels run them, too, but may run two at one time on a processor: then a stack
 * may be wrong. */
enum hi_status hi_event_source_open_as_on_old_kernels(
	const struct hi_target *target, const struct hi_event_functions *functions,
	const struct hi_event_source_options *options, struct hi_event_source **ret,
	struct hi_error *err);

/* As the operations. */
void hi_event_source_count(struct hi_event_source *source);
/* bytes: the mean distance of samples, at most HI_SAMPLING_MEAN_MAX. */
void hi_event_source_set_sampling(struct hi_event_source *source, uint64_t bytes);
void hi_event_source_drop_optional(struct hi_event_source *source);
/*
 * Removes the probes of a source that was opened without windows; from the next start on
 * there are windows alone, of the functions that were followed until now. After a start:
 * stop and drain it before. HI_UNSUPPORTED: it cannot; other errors: as of
 * hi_event_source_open(). After an error it is as it was.
 */
enum hi_status hi_event_source_use_windows(struct hi_event_source *source,
					   const struct hi_event_schedule *schedule,
					   struct hi_error *err);
enum hi_status hi_event_source_start(struct hi_event_source *source,
				     struct hi_error *err);
void hi_event_source_pause(struct hi_event_source *source, bool is_paused);
/* Before it, and where there is no table, a stack is cut. On failure the tables before
 * stay. HI_UNSUPPORTED: this kernel cannot walk stacks. */
enum hi_status hi_event_source_set_unwind(struct hi_event_source *source,
					  const struct hi_unwind_tables *tables,
					  struct hi_error *err);
enum hi_status hi_event_source_poll(struct hi_event_source *source, unsigned timeout_ms,
				    const struct hi_event_sink *sink,
				    struct hi_error *err);
enum hi_status hi_event_source_drain(struct hi_event_source *source,
				     const struct hi_event_sink *sink,
				     struct hi_error *err);
void hi_event_source_stats(struct hi_event_source *source, struct hi_event_stats *ret);
void hi_event_source_look(struct hi_event_source *source);
enum hi_status hi_event_source_rest(struct hi_event_source *source,
				    const struct hi_event_sink *sink,
				    struct hi_error *err);
void hi_event_source_stop(struct hi_event_source *source);
/* Borrowed. */
void hi_event_source_fds(const struct hi_event_source *source,
			 int fds[HI_EVENT_SOURCE_FDS]);
/* NULL is fine. */
void hi_event_source_close(struct hi_event_source *source);

/*
 * Finds the range in which no thread may be stopped for a census, beside the allocator's
 * text: the kernel's page of the process, through which a probed function returns. False:
 * the target has none yet.
 */
bool hi_event_return_page(pid_t pid, struct hi_range *ret);

#endif
