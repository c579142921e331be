/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How a recording goes, while it does: a live view on the terminal behind standard
 * output, where `record` writes its report later; elsewhere a line on standard error, now
 * and then.
 */
#ifndef HI_CLI_RECORD_RECORD_PROGRESS_H
#define HI_CLI_RECORD_RECORD_PROGRESS_H

#include "base/cleanup.h"
#include "session/live/recorder.h"
#include "session/options.h"

struct hi_record_progress;
/* The recording has begun; says so. Borrows both. is_shown: prints how it goes, unless
 * the options are quiet. *ret: hi_record_progress_close().
 * HI_NO_MEMORY. */
enum hi_status hi_record_progress_open(const struct hi_options *options, bool is_shown,
				       struct hi_recorder *recorder,
				       struct hi_record_progress **ret,
				       struct hi_error *err);
/* Takes the keys that were pressed. HI_NO_MEMORY, HI_OS. */
enum hi_status hi_record_progress_take_keys(struct hi_record_progress *progress,
					    struct hi_error *err);
/* Shows what there is now if it is time; call it often. HI_NO_MEMORY, HI_OS. */
enum hi_status hi_record_progress_show(struct hi_record_progress *progress,
				       struct hi_error *err);
/* A line for the user: in the view for some seconds, or on standard error. */
void hi_record_progress_note(struct hi_record_progress *progress, const char *text);
/* Where keys come from now; -1: from nowhere. */
int hi_record_progress_keys_fd(const struct hi_record_progress *progress);
/* Does the view stand still, by a key? */
bool hi_record_progress_pauses(const struct hi_record_progress *progress);
/* Was the key pressed that ends the recording? */
bool hi_record_progress_is_ended(const struct hi_record_progress *progress);
/* What was live by the events alone, by function, on standard output: where there is no
 * heap for a census. HI_NO_MEMORY, HI_OS. */
enum hi_status hi_record_progress_print(struct hi_record_progress *progress,
					struct hi_error *err);
/* Gives the terminal back, with the last table on it. NULL is fine. */
void hi_record_progress_close(struct hi_record_progress *progress);
HI_DEFINE_GUARD(struct hi_record_progress *, hi_record_progress_close)

#endif
