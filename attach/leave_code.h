/* SPDX-License-Identifier: BSD-2-Clause */
/* Brings stopped threads out of code in which they must not be (malloc). */
#ifndef HI_ATTACH_LEAVE_CODE_H
#define HI_ATTACH_LEAVE_CODE_H

#include "attach/stop_options.h"
#include "attach/tracees.h"

#define HI_AVOID_MAX_TRIES 200

/*
 * All threads are stopped. Threads that may be inside options->avoid run on, alone, and
 * are stopped again until they are out, max_tries are used up or limit_ns
 * (CLOCK_MONOTONIC) is reached. The remaining ones have maybe_inside set. Threads may
 * die, be born or even exec meanwhile: check afterwards.
 */
enum hi_status hi_avoid_leave(struct hi_tracees *all,
			      const struct hi_stop_options *options, uint64_t limit_ns,
			      struct hi_error *err);

#endif
