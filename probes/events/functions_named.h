/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the functions that are followed on request. */
#ifndef HI_PROBES_EVENTS_FUNCTIONS_NAMED_H
#define HI_PROBES_EVENTS_FUNCTIONS_NAMED_H

#include "probes/events/call_spec.h"
#include "probes/events/function_list.h"

/*
 * Adds them. HI_NOT_FOUND: err names the function, and what is called nearly so, or where
 * its calls were inlined. HI_UNSUPPORTED: the compiler has changed its arguments.
 * HI_LIMIT: too many functions or sources.
 */
enum hi_status hi_event_functions_add_named(struct hi_target_code *code,
					    const struct hi_followed *followed,
					    struct hi_event_functions *ret,
					    struct hi_error *err);

#endif
