/* SPDX-License-Identifier: BSD-2-Clause */
/* State that the parts of a source by BPF share: reading (bpf_source.c), probes
 * (bpf_attach.c), tables of stacks (bpf_unwind.c). */
#ifndef HI_PROBES_EVENTS_BPF_SOURCE_INTERNAL_H
#define HI_PROBES_EVENTS_BPF_SOURCE_INTERNAL_H

#include "probes/events/event_source.h"
#include "probes/events/ring.h"
#include "probes/events/ticks.h"
#include "probes/events/window_cost.h"
#include "probes/probe_holder.h"

struct bpf_object;

enum { HI_EVENT_LINKS_MAX = 2 * HI_BPF_EVENT_FUNCTIONS + HI_EVENT_SITES_MAX };

/* A link to be made: of this function, or, by uprobe_multi, of all that are in its
 * file. */
struct hi_planned_link {
	size_t function;
	const struct hi_event_site *site; /* of a function with HI_BPF_AT_PLACES, where
					     each has a link; else NULL */
	bool at_return;
};

/* The cookie of programs. */
uint32_t hi_bpf_cookie_of_site(const struct hi_event_site *site);

/* Thread ids of another namespace, and what they are in ours. */
struct hi_foreign_tid {
	uint32_t theirs, ours;
};

/* See bpf_windows.c. */
struct hi_source_windows {
	struct hi_event_schedule schedule;
	struct hi_window_costs costs;
	uint64_t all_hits; /* of all windows */
	struct hi_probe_holder holder;
	bool is_started, is_under_way;
	uint64_t period_from_ns, next_ns; /* of the next window */
	uint64_t random;
	unsigned restarts, failures; /* of the holder; of windows, in a row */
	uint64_t blind_ns; /* see struct hi_event_stats; there are no more windows */
};

struct hi_bpf_source {
	struct hi_event_source source;
	const struct hi_target *target;
	struct hi_event_functions functions;
	struct bpf_object *object;
	struct hi_bpf_events_shared *shared;
	const struct hi_bpf_event_counts *counts;
	struct hi_ring ring;
	size_t ring_size;
	uint64_t scan_ns; /* of samples of time; 0: none */
	struct hi_ticks ticks;
	struct hi_error no_ticks;    /* why there are none */
	struct hi_error no_optional; /* why the probes of functions with HI_BPF_OPTIONAL
					are not there */
	bool by_perf;
	bool is_old;		     /* by_perf, with the programs of events_old.bpf.c */
	struct hi_foreign_tid *tids; /* TIDS of them, by hash; NULL: not needed */
	uint64_t events, stacks, stacks_cut;
	/* A holder of its own for the functions that may be dropped: their links are the
	 * last ones, from n_kept on. */
	struct hi_probe_holder holder, optional_holder;
	struct hi_source_windows windows;
	size_t n_links, n_kept, n_planned;
	int links[HI_EVENT_LINKS_MAX];
	struct hi_planned_link plan[HI_EVENT_LINKS_MAX];
};

/* Makes the links, in the probe holder; the program and its memory are there. */
enum hi_status hi_bpf_source_attach(struct hi_bpf_source *source, struct hi_error *err);

/* Starts the holder of windows instead; windows are opened later. */
enum hi_status hi_bpf_source_prepare_windows(struct hi_bpf_source *source,
					     struct hi_error *err);

/* ---- windows: bpf_windows.c ---- */

static inline bool hi_bpf_source_has_windows(const struct hi_bpf_source *source)
{
	return source->windows.schedule.length_ns;
}
/* See struct hi_event_stats. */
uint64_t hi_bpf_windows_return_ns(const struct hi_bpf_source *source, uint64_t *n_ret);
void hi_bpf_windows_start(struct hi_bpf_source *source);
/* Opens one that is due, and takes note of one that has ended: true, and its events are
 * in the ring. Errors: HI_GONE: its process was killed, again and again. */
enum hi_status hi_bpf_windows_step(struct hi_bpf_source *source, bool *has_ended_ret,
				   struct hi_event_window *ret, struct hi_error *err);
/* Ends the window that is open, if one is; there are no more. */
void hi_bpf_windows_cut(struct hi_bpf_source *source);
/* The same, and waits until its events are in the ring. As the step. */
enum hi_status hi_bpf_windows_end(struct hi_bpf_source *source, bool *has_ended_ret,
				  struct hi_event_window *ret, struct hi_error *err);
/* There are no more, and the one that is open ends when it would: waits for that. */
enum hi_status hi_bpf_windows_rest(struct hi_bpf_source *source, bool *has_ended_ret,
				   struct hi_event_window *ret, struct hi_error *err);

/* Are pools followed or is time sampled, so that stacks are walked through functions
 * whose return is probed? */
bool hi_bpf_source_keeps_callers(const struct hi_bpf_source *source);
/* Before the program is loaded. Returns 0, or what libbpf said. */
int hi_bpf_source_fill_given(struct hi_bpf_source *source);
/* Offset of thread.fsbase in the kernel's task_struct, by its own type information; 0:
 * it has none. */
uint64_t hi_bpf_find_fs_base(void);
void hi_sampling_table_fill(struct hi_sampling_table *table);
/* As the operation of the source. */
enum hi_status hi_bpf_source_set_unwind(struct hi_event_source *source,
					const struct hi_unwind_tables *tables,
					struct hi_error *err);

#endif
