/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Code objects of a running CPython: copied while the program runs, as it may free them,
 * and decoded later, by a process without rights. A copy is bytes with bounds of ours;
 * what they mean is hostile.
 */
#ifndef HI_RUNTIMES_CPYTHON_CODE_H
#define HI_RUNTIMES_CPYTHON_CODE_H

#include "attach/memory.h"
#include "base/cleanup.h"
#include "census/event.h"
#include "census/events/frames.h"
#include "decode/runtimes/cpython_walk.h"

/* Has the codes of all frames that were asked for; each once. */
struct hi_python_codes;
/* memory: of the running process; borrowed. walk: of hi_python_find(); copied. *ret:
 * hi_python_codes_destroy(). */
enum hi_status hi_python_codes_create(struct hi_memory *memory,
				      const struct hi_python_walk *walk,
				      struct hi_python_codes **ret, struct hi_error *err);
void hi_python_codes_destroy(struct hi_python_codes *codes); /* NULL is fine */
HI_DEFINE_GUARD(struct hi_python_codes *, hi_python_codes_destroy)
/*
 * Copies the code objects of a stack that has just come, those that have no copy yet, and
 * puts the numbers of the copies into its frames of Python, which are one word each from
 * then on: so these stay what they are when other code comes to be at the address. A code
 * object that is there no more gets the number 0. HI_NO_MEMORY.
 */
enum hi_status hi_python_codes_take(struct hi_python_codes *codes,
				    struct hi_event_stack *stack, struct hi_error *err);
/*
 * Returns the row of a frame that has a number: function (co_qualname; co_name up to
 * 3.10), file (co_filename) and line. The function of number 0 is "(Python code that is
 * gone)". Strings are valid until the next call.
 */
void hi_python_codes_row(struct hi_python_codes *codes, uint64_t frame,
			 struct hi_frame_row *ret);

#endif
