/* SPDX-License-Identifier: BSD-2-Clause */
/* The steps of an inspection in the order they ran, with their times, for -v. */
#ifndef HI_REPORT_PARTS_PHASES_H
#define HI_REPORT_PARTS_PHASES_H

#include "base/vector.h"
#include "report/json_writer.h"

struct hi_phase {
	const char *name; /* text of this program */
	uint64_t ns;	  /* CLOCK_MONOTONIC; 0: it has not ended */
	uint64_t cpu_ns;  /* user and system, of all threads of the process that ran it */
	uint64_t peak_bytes; /* most resident memory of that process until the end of it
			      */
};

struct hi_phases HI_VECTOR(struct hi_phase);

/* Writes the member "phases", with those that have ended; nothing if phases is NULL. */
void hi_phases_json(const struct hi_phases *phases, struct hi_json *json);

#endif
