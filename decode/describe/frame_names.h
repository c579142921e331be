/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of the frames of call stacks: from addresses to rows (census/events/frames.h). */
#ifndef HI_DECODE_DESCRIBE_FRAME_NAMES_H
#define HI_DECODE_DESCRIBE_FRAME_NAMES_H

#include "census/events/frames.h"
#include "decode/modules/modules.h"
#include "decode/runtimes/cpython_code.h"

/*
 * Adds the rows of n return addresses to the builder, in their order, one frame each. The
 * byte before an address is looked up: it belongs to the call. An address in no module
 * has one row without names. If there is DWARF, inlined calls have rows of their own, the
 * innermost first; else there is one row with the name of the symbol that covers the
 * address.
 *
 * Addresses are looked up in the order of their units, so that a unit is read once for
 * all of them: give many at a time. Takes the lock of the modules. HI_NO_MEMORY; the
 * builder has some of the frames then.
 *
 * Frames of Python (cpython_walk.h) get their row from codes; NULL: there are none.
 * Frames of the interpreter's file and of its library in C are HI_FRAME_INTERPRETER.
 */
enum hi_status hi_frame_names_add(struct hi_modules *modules,
				  struct hi_python_codes *codes,
				  const uint64_t *addresses, uint32_t n,
				  struct hi_frames_builder *builder,
				  struct hi_error *err);

#endif
