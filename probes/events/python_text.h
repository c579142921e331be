/* SPDX-License-Identifier: BSD-2-Clause */
/* The text of CPython's loop, which a walk over a stack recognises it by. */
#ifndef HI_PROBES_EVENTS_PYTHON_TEXT_H
#define HI_PROBES_EVENTS_PYTHON_TEXT_H

#include "decode/runtimes/cpython_walk.h"
#include "probes/target_code.h"

/* All of *ret, for the CPython that is in the target; code_type 0: none that is known.
 * HI_NO_MEMORY. */
enum hi_status hi_event_python_find(struct hi_target_code *code,
				    struct hi_python_walk *ret, struct hi_error *err);

#endif
