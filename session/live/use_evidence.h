/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which objects of a target were passed to its functions between the stops of a series
 * (probes/use_functions.h, probes/use_probes.h): a call uses the object that it is given.
 *
 * Functions are probed that take pointers to the types that have most bytes on the heap,
 * as the last census found them. A pointer counts for the object that it leads to,
 * whatever the type of that; also one into the middle of an object.
 */
#ifndef HI_SESSION_LIVE_USE_EVIDENCE_H
#define HI_SESSION_LIVE_USE_EVIDENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct hi_stop_observer;
struct hi_use_evidence;
/* Reads the debug information of the target's files; probes nothing yet. *ret:
 * hi_use_evidence_close(). HI_UNSUPPORTED: not x86-64, or no BPF; HI_NOT_FOUND: no
 * function is known to take objects, err->text has the reason; else as hi_target_open()
 * and hi_symbols_use_functions(). */
enum hi_status hi_use_evidence_open(pid_t pid, bool verbose, struct hi_use_evidence **ret,
				    struct hi_error *err);
void hi_use_evidence_close(struct hi_use_evidence *evidence); /* NULL is fine */

/* For hi_stop_observers_add(); NULL for NULL. */
struct hi_stop_observer *hi_use_evidence_observer(struct hi_use_evidence *evidence);
/* The census of its observer, at this time (CLOCK_MONOTONIC): calls before it belong to
 * the period that it ends. */
void hi_use_evidence_end_period(struct hi_use_evidence *evidence, uint64_t at_ns);
/* Was an address of [start, end) passed in the period that the last stop ended? */
bool hi_use_evidence_is_called(const struct hi_use_evidence *evidence, uint64_t start,
			       uint64_t end);

/* A type's objects in a census. */
struct hi_use_type {
	const char *name; /* "struct conn" */
	uint64_t bytes;
};
/* After a census: probes the functions that take these types, those of most bytes first.
 * New ones are tried for some milliseconds; what is called too often is dropped. */
void hi_use_evidence_choose(struct hi_use_evidence *evidence,
			    const struct hi_use_type *types, size_t n);

struct hi_use_counts {
	uint64_t functions; /* of the target that take pointers to records */
	uint64_t wanted;    /* of them, those that take types of the last census */
	uint64_t probed;    /* of these, those that have probes now */
	uint64_t dropped;   /* that were called so often that they would cost too much */
	uint64_t left_out;  /* that are wanted, but too many */
	uint64_t hits;	    /* calls that were seen */
	uint64_t changes;   /* times that probes were set */
	uint64_t waited; /* times that probes were taken away, until their cost was gained
			  */
	uint64_t not_stored; /* calls whose address was not kept: too many in a period */
	uint64_t hit_ns;     /* what a hit is taken to cost */
};
struct hi_use_counts hi_use_evidence_counts(struct hi_use_evidence *evidence);
/* Why nothing was probed the last time, copied to out; "": something was. */
void hi_use_evidence_missing(struct hi_use_evidence *evidence, char out[240]);

#endif
