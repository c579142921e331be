/* SPDX-License-Identifier: BSD-2-Clause */
/* From an image to the graph: modules, types, hints, allocator, runtime, edges. */
#ifndef HI_SESSION_LIVE_DECODING_H
#define HI_SESSION_LIVE_DECODING_H

#include "session/inspection.h"

/*
 * Fills in->graph and all that it is made of, out of in->image; of a core the image is
 * made first. Without types or without an allocator it goes on with a warning.
 */
enum hi_status hi_decoding_run(struct hi_inspection *in, struct hi_error *err);
/* Do objects lie where no known allocator is, more than the few of the dynamic linker? */
bool hi_decoding_has_much_outside(const struct hi_inspection *in);

#endif
