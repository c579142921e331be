/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How the calls of a recording find their callees, by the files of its modules, as far as
 * these are here and of the same build (decode/modules/call_file.h).
 */
#ifndef HI_SESSION_DEEP_CALL_KINDS_H
#define HI_SESSION_DEEP_CALL_KINDS_H

#include "census/deep/deep_profile.h"
#include "census/events/frames.h"
#include "session/inspection.h"

struct hi_call_kinds;
/* in: borrowed. *ret: hi_call_kinds_destroy(). HI_NO_MEMORY, and errors of the list of
 * mapped files. */
enum hi_status hi_call_kinds_create(struct hi_inspection *in, struct hi_call_kinds **ret,
				    struct hi_error *err);
void hi_call_kinds_destroy(struct hi_call_kinds *kinds); /* NULL is fine */
/*
 * The kind of the call that returns to the frame of this row. callee: a row of the frame
 * that it has led to; NULL: the allocator. HI_DEEP_TAIL: the call leads to another
 * function of the module, which has jumped to this one.
 */
enum hi_deep_site_kind hi_call_kind_of(struct hi_call_kinds *kinds,
				       const struct hi_frame_row *row,
				       const struct hi_frame_row *callee);

/* Is the function of the frame of this row exported by its module? False where that is
 * not known. */
bool hi_call_kinds_exports(struct hi_call_kinds *kinds, const struct hi_frame_row *row);
/* How many of the modules that were asked for are not here, or are of another build;
 * *first_ret: the path of one, "" for none. */
uint32_t hi_call_kinds_missing(const struct hi_call_kinds *kinds, const char **first_ret);

#endif
