/* SPDX-License-Identifier: BSD-2-Clause */
/* The functions by which CPython allocates its objects (pymalloc), to be followed. */
#ifndef HI_PROBES_EVENTS_PYTHON_HEAP_H
#define HI_PROBES_EVENTS_PYTHON_HEAP_H

#include "probes/events/function_list.h"

/*
 * Adds them to ret, whose python has been found, as a source of their own, and sets
 * ret->heap. Large objects are malloc's blocks: they count once, as these functions call
 * malloc. HI_NO_MEMORY.
 */
enum hi_status hi_event_python_heap_add(struct hi_target_code *code,
					struct hi_event_functions *ret,
					struct hi_error *err);

#endif
