/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs an inspection for a command: from the target to the image, the graph and the
 * results.
 */
#ifndef HI_SESSION_INSPECT_INSPECT_H
#define HI_SESSION_INSPECT_INSPECT_H

#include "base/cleanup.h"
#include "session/inspection.h"

/* run: what the command carries, which lives as long as the inspection; NULL: nothing.
 * wanted: bits of enum hi_wanted; reachability is always there. If memory ran out and
 * some part could do without (no types, fewer roots), a warning reports it; if there is
 * no memory for that either: HI_NO_MEMORY. */
enum hi_status hi_inspect_open(const struct hi_options *options, const struct hi_run *run,
			       unsigned wanted, struct hi_inspection **ret,
			       struct hi_error *err);
/* The same in two steps. Only the first needs rights: a process is stopped and its
 * image made. In between, a fork may go on with the second. */
enum hi_status hi_inspect_begin(const struct hi_options *options,
				const struct hi_run *run, struct hi_inspection **ret,
				struct hi_error *err);
/* The second step. On failure the inspection is still the caller's to close. */
enum hi_status hi_inspect_finish(struct hi_inspection *in, unsigned wanted,
				 struct hi_error *err);
/* Computes what else is wanted of an inspection that is open and has its graph. After an
 * error it can only be closed. */
enum hi_status hi_inspect_more(struct hi_inspection *in, unsigned wanted,
			       struct hi_error *err);
/* Frees the inspection and releases the target; NULL is fine. */
void hi_inspect_close(struct hi_inspection *in);
HI_DEFINE_GUARD(struct hi_inspection *, hi_inspect_close)

#endif
