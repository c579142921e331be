/* SPDX-License-Identifier: BSD-2-Clause */
/* The steps of an inspection in the order in which they began, with their times, for -v.
 * Several may run at once: what they used cannot be told apart then. */
#ifndef HI_REPORT_PARTS_PHASES_H
#define HI_REPORT_PARTS_PHASES_H

#include "base/vector.h"
#include "report/json_writer.h"

struct hi_phase {
	const char *name; /* text of this program */
	uint64_t ns;	  /* CLOCK_MONOTONIC; 0: it has not ended */
	uint64_t cpu_ns;  /* user and system, of all threads of the process that ran it */
	uint64_t peak_bytes;   /* most resident memory of that process until the end of it
			      */
	uint64_t begin_ns;     /* CLOCK_MONOTONIC */
	uint64_t begin_cpu_ns; /* CLOCK_PROCESS_CPUTIME_ID of the process that ran it */
};

struct hi_phases HI_VECTOR(struct hi_phase);

/* All of them as one: time in which several ran counts once. */
struct hi_phase hi_phases_together(const struct hi_phases *phases);

/* Writes the member "phases", with those that have ended; nothing if phases is NULL. */
void hi_phases_json(const struct hi_phases *phases, struct hi_json *json);

#endif
