/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of return addresses while the target is followed: a process of its own looks them
 * up (symbols.h), so that events do not wait for it. Names that were found are kept.
 */
#ifndef HI_SESSION_LIVE_FRAME_LOOKUP_H
#define HI_SESSION_LIVE_FRAME_LOOKUP_H

#include "attach/image.h"
#include "census/events/frames.h"
#include "decode/runtimes/cpython_code.h"
#include "session/options.h"

struct hi_frame_lookup;
struct hi_recorder;
/* Reads of options the target and how files are decoded. recorder: of the recording whose
 * frames they are, or NULL; borrowed; what it has copied of Python code is not changed
 * while hi_frame_lookup_work() runs. *ret: hi_frame_lookup_destroy(). HI_NO_MEMORY. */
enum hi_status hi_frame_lookup_create(const struct hi_options *options,
				      struct hi_recorder *recorder,
				      struct hi_frame_lookup **ret, struct hi_error *err);
/* Ends the process, too. NULL is fine. */
void hi_frame_lookup_destroy(struct hi_frame_lookup *lookup);

/* The rows of an address, the innermost function first (frames.h); borrowed until the
 * next hi_frame_lookup_work(). NULL: not known yet. */
const struct hi_frame_row *hi_frame_lookup_find(const struct hi_frame_lookup *lookup,
						uint64_t address, uint32_t *n_ret);
/* Puts an address on the list of the next process. False: the list is full. */
bool hi_frame_lookup_ask(struct hi_frame_lookup *lookup, uint64_t address);
/* From now on names are those of what was mapped then; borrowed. */
void hi_frame_lookup_use(struct hi_frame_lookup *lookup, const struct hi_image *image);
/* Waits for the process, if there is one. */
void hi_frame_lookup_wait(struct hi_frame_lookup *lookup);
/* Takes what the process has found if it has ended, and starts one for the list if there
 * is none. If one fails its addresses have no names. HI_NO_MEMORY, HI_OS. */
enum hi_status hi_frame_lookup_work(struct hi_frame_lookup *lookup, struct hi_error *err);

#endif
