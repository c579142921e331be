/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Watchpoints on objects of a target, between the stops of a series
 * (probes/watchpoints.h). A thread looks at their counts, so that they cost the target
 * no more than a share of one processor: a watchpoint that is hit too often is ended,
 * and the next ones wait until the share allows them.
 *
 * Hits belong to the time between two stops. The counts are read while the target is
 * stopped (a hook of the stop): so each hit belongs to one period. For watchpoints that
 * were set when the tracer process was there already, and for more than some hundred
 * threads, the last look before the stop counts; hits between that and the stop belong to
 * no period.
 */
#ifndef HI_SESSION_LIVE_WATCH_EVIDENCE_H
#define HI_SESSION_LIVE_WATCH_EVIDENCE_H

#include "probes/watchpoints.h"
#include "session/stop_observer.h"

struct hi_watch_evidence;
/* n watchpoints. *ret: hi_watch_evidence_close(). Errors: hi_watchpoints_open()'s. */
enum hi_status hi_watch_evidence_open(pid_t pid, unsigned n,
				      struct hi_watch_evidence **ret,
				      struct hi_error *err);
void hi_watch_evidence_close(struct hi_watch_evidence *evidence); /* NULL is fine */
unsigned hi_watch_evidence_slots(const struct hi_watch_evidence *evidence);

/* For hi_stop_observers_add(); NULL for NULL. If the target was not stopped between its
 * calls, the period goes on. */
struct hi_stop_observer *hi_watch_evidence_observer(struct hi_watch_evidence *evidence);

/* Hits of watchpoint i before the last stop that were not taken yet. NULL: 0. */
uint64_t hi_watch_evidence_take(struct hi_watch_evidence *evidence, unsigned i);

/* Was it there until that stop? False: it was ended as it was hit too often, or never
 * set. NULL: false. */
bool hi_watch_evidence_stood(struct hi_watch_evidence *evidence, unsigned i);

/* The place of a watchpoint from now on. */
struct hi_watch_place {
	uint64_t address; /* a multiple of 8; 0: nowhere */
	bool goes_on;	  /* on the same object: its hits since the last stop count on */
};
/* Sets each watchpoint; at once, or as soon as their cost allows it. False: they cannot
 * be set, none is until the next call, and hi_watch_evidence_missing() returns the
 * reason. NULL: true. */
bool hi_watch_evidence_set(struct hi_watch_evidence *evidence,
			   const struct hi_watch_place *places);

struct hi_watch_counts {
	uint64_t hits;	   /* all, also those that are no evidence */
	uint64_t moved_on; /* watchpoints that were ended as they cost too much */
	uint64_t waited;   /* times that they were set later for that */
	uint64_t hit_ns;   /* what one hit is taken to cost */
};
struct hi_watch_counts hi_watch_evidence_counts(struct hi_watch_evidence *evidence);
/* Why they could not be set the last time, copied to out; "": they could. */
void hi_watch_evidence_missing(struct hi_watch_evidence *evidence, char out[240]);

#endif
