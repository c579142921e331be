/* SPDX-License-Identifier: BSD-2-Clause */
/* The traces of a program that runs tracemalloc, as a recording that it made of itself.
 */
#ifndef HI_SESSION_LIVE_TRACED_H
#define HI_SESSION_LIVE_TRACED_H

#include "census/events/frames.h"
#include "census/events/recording.h"
#include "session/inspection.h"

/* *ret: hi_recording_destroy(); its live allocations are the traces, and frame i of its
 * contexts is what *names_ret (hi_frames_builder_destroy()) has as its i-th.
 * HI_NOT_FOUND: the program has none; HI_NO_MEMORY. */
enum hi_status hi_live_read_traces(const struct hi_inspection *in,
				   struct hi_recording **ret,
				   struct hi_frames_builder **names_ret,
				   struct hi_error *err);

#endif
