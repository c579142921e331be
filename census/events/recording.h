/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A recording: the allocations that are live now, and totals by context, kept up to date
 * by one event after the other. It is independent of processes and sources.
 *
 * Events of one address come in the order in which they happened. A reallocation is two
 * events of a thread: at the begin the old block leaves the table and is put aside; at
 * the end the new block enters, or the old one again where it failed. A reallocated
 * block has the context and the time of the reallocation.
 *
 * Events may be missing (lost, or from before the start), so that they contradict what
 * the table has. The later event is right, and struct hi_recording_counts has the sum.
 */
#ifndef HI_CENSUS_EVENTS_RECORDING_H
#define HI_CENSUS_EVENTS_RECORDING_H

#include "base/cleanup.h"
#include "census/events/contexts.h"
#include "census/events/kept_events.h"
#include "census/events/live.h"
#include "census/events/windows.h"

/* Totals of one context, or of all; estimates if there are samples. Live are allocs -
 * frees. */
struct hi_context_totals {
	uint64_t allocs, bytes;
	uint64_t frees, freed_bytes;
	uint64_t most_live, most_bytes; /* the largest numbers that were live at a time */
};
static inline uint64_t hi_totals_live(const struct hi_context_totals *t)
{
	return t->allocs - t->frees;
}
static inline uint64_t hi_totals_live_bytes(const struct hi_context_totals *t)
{
	return t->bytes - t->freed_bytes;
}

struct hi_recording_counts {
	uint64_t events;	/* that were applied, without HI_EVENT_LOST and stacks */
	uint64_t lost;		/* that the source reported as lost */
	uint64_t unknown_frees; /* of blocks that are not in the table: allocated before
				   the recording, or their allocation was lost. 0 of
				   samples */
	uint64_t lost_frees;	/* the address of a live block was allocated again */
	uint64_t failed_reallocs;
	uint64_t failed_allocs;		 /* that gave no block, without failed_reallocs */
	uint64_t lost_begins, lost_ends; /* reallocations of which one event is missing */
	uint64_t sampled;		 /* events with HI_EVENT_SAMPLED */
	uint64_t other_kinds;		 /* events of unknown kinds: ignored */
	uint64_t first_ns, last_ns;	 /* times of the first and of the last event */
	/* Samples of time (HI_EVENT_TICK), which are no events above; of them, those in
	 * which the kernel worked for a probe. */
	uint64_t ticks, ticks_in_probes;
};

/*
 * A recording may have samples only (sampling.h). Then totals are estimates, in which
 * each sample counts as what it stands for; a reallocated block whose new size is no
 * sample ends, as if it were freed; and frees of unknown blocks mean nothing.
 */
struct hi_recording;
/* *ret: hi_recording_destroy(). */
enum hi_status hi_recording_create(struct hi_recording **ret, struct hi_error *err);
void hi_recording_destroy(struct hi_recording *recording);
HI_DEFINE_GUARD(struct hi_recording *, hi_recording_destroy)

/* Before the first event: events with HI_EVENT_SAMPLED are samples with this mean
 * distance in bytes, and allocations without it are ignored. 0: all are recorded. */
void hi_recording_set_sampling(struct hi_recording *recording, uint64_t sample_bytes);
uint64_t hi_recording_sample_bytes(const struct hi_recording *recording);

/*
 * Before the first event: the sources, at most HI_EVENT_SOURCES, copied. Without it all
 * are malloc. Each family of sources has its own live allocations, since their blocks may
 * have the same addresses. Totals of all and of contexts are of HI_FAMILY_MALLOC: what a
 * pool gives out lies in malloc's blocks, and its bytes are not to count twice.
 */
void hi_recording_set_sources(struct hi_recording *recording,
			      const struct hi_event_source_name *sources, size_t n);
/* Borrowed; *n_ret of them. */
const struct hi_event_source_name *
hi_recording_sources(const struct hi_recording *recording, size_t *n_ret);
/* A mapping of which the middle is unmapped counts as one more, of no bytes. */
struct hi_context_totals hi_recording_by_source(const struct hi_recording *recording,
						size_t source);

/* Before the first event: events are added there, too, as they come; borrowed. */
void hi_recording_keep_events(struct hi_recording *recording,
			      struct hi_kept_events *kept);
/* NULL: events are not kept. */
const struct hi_kept_events *hi_recording_kept_events(const struct hi_recording *r);

/*
 * Before the first event: events are of windows alone, and allocations of HI_FAMILY_MALLOC
 * are counted there, too; borrowed. Then what was freed between two windows stays in the
 * table, and that frees and addresses do not fit what is known is no anomaly.
 */
void hi_recording_count_windows(struct hi_recording *recording,
				struct hi_windows *windows);
/* NULL: there are none. */
const struct hi_windows *hi_recording_windows(const struct hi_recording *recording);

/* Applies an event. HI_NO_MEMORY: it was not applied, and later ones will be, but the
 * table is no longer complete. */
enum hi_status hi_recording_apply(struct hi_recording *recording,
				  const struct hi_event *event, struct hi_error *err);
/* Adds a stack, before or after the events that name it. HI_NO_MEMORY. */
enum hi_status hi_recording_stack(struct hi_recording *recording,
				  const struct hi_event_stack *stack,
				  struct hi_error *err);

void hi_recording_counts(const struct hi_recording *recording,
			 struct hi_recording_counts *ret);
/* Returns the totals of all contexts together; HI_FAMILY_MALLOC. */
struct hi_context_totals hi_recording_totals(const struct hi_recording *recording);
/* Returns the totals of each context, as many as there are contexts; valid until the next
 * event. */
const struct hi_context_totals *hi_recording_by_context(const struct hi_recording *r);
/* Returns by context the bytes that glibc's malloc takes for all allocations besides
 * those requested (glibc_cost.h); with samples, an estimate. 0 for blocks that other
 * functions gave out. Valid as hi_recording_by_context() is. */
const double *hi_recording_overheads(const struct hi_recording *recording);
/* By context: samples of time that found the thread there; context 0 has those without a
 * stack. Valid as hi_recording_by_context() is. */
const uint64_t *hi_recording_ticks(const struct hi_recording *recording);
/* By context: calls of HI_FAMILY_MALLOC that gave no block although one was asked for,
 * reallocations among them; and reallocations that have moved a block (of samples: to
 * one that is a sample). Valid as hi_recording_by_context() is. */
struct hi_context_ports {
	uint64_t fails, moves;
};
const struct hi_context_ports *hi_recording_ports(const struct hi_recording *recording);
/* Borrowed; see there for how long its columns are valid. */
const struct hi_contexts *hi_recording_contexts(const struct hi_recording *recording);

/* Forgets all events: nothing is live, and totals and counts are 0. Stacks and contexts
 * stay as they are, since later events name them. Not where events are kept. */
void hi_recording_restart(struct hi_recording *recording);

/* Number of live allocations that have a record, without blocks that are put aside. */
uint64_t hi_recording_live(const struct hi_recording *recording);
/* The allocation that begins at addr; false: none is live. */
bool hi_recording_find(const struct hi_recording *recording, uint64_t addr,
		       struct hi_live_allocation *ret);
/* All of them, in no order: *at is 0 at first; false: that was the last. Valid until the
 * next event. */
bool hi_recording_next(const struct hi_recording *recording, uint64_t *at,
		       struct hi_live_allocation *ret);
/* The same of any family. */
bool hi_recording_next_of(const struct hi_recording *recording,
			  enum hi_event_family family, uint64_t *at,
			  struct hi_live_allocation *ret);
/* Frees the tables of live allocations (of mappings not), which then have none; totals
 * and contexts stay. No more events are applied. */
void hi_recording_forget_live(struct hi_recording *recording);
/* Bytes that the table of live allocations takes. */
uint64_t hi_recording_size(const struct hi_recording *recording);
/* Whether index and table agree, and totals with both. For tests. */
bool hi_recording_is_valid(const struct hi_recording *recording);

#endif
