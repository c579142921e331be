/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The functions by which a target allocates, and where probes on them go. By symbols;
 * reads files only.
 */
#ifndef HI_PROBES_EVENTS_FUNCTIONS_H
#define HI_PROBES_EVENTS_FUNCTIONS_H

#include "probes/events/call_spec.h"
#include "probes/events/function_list.h"

/*
 * Finds the functions of the allocator that the target uses: of each the program's own if
 * it has that, else that of a library that takes the place of libc's, else libc's.
 * HI_NOT_FOUND: no file that is mapped has symbols of malloc and free.
 */
enum hi_status hi_event_functions_find(const struct hi_target *target,
				       struct hi_event_functions *ret,
				       struct hi_error *err);
/* And those that are named (functions_named.h); where there are some, the allocator may
 * be missing. */
enum hi_status hi_event_functions_find_with(const struct hi_target *target,
					    const struct hi_followed *followed,
					    struct hi_event_functions *ret,
					    struct hi_error *err);
/* The same in a process without rights: see hi_safepoint_find_in(), which takes the image
 * too. */
enum hi_status hi_event_functions_find_in(const struct hi_target *target,
					  struct hi_image *image,
					  const struct hi_followed *followed,
					  struct hi_event_functions *ret,
					  struct hi_error *err);

#endif
