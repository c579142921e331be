/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes the image of a target: stops the process, at once or at the probe site of --at,
 * takes its memory and resumes it.
 */
#ifndef HI_SESSION_LIVE_FREEZE_H
#define HI_SESSION_LIVE_FREEZE_H

#include "session/inspection.h"
#include "session/live/stop_site.h"

/* Fills in->image, and of a process in->stop.target, in->stop.allocator_text,
 * in->stop.resumed and in->stop.hit. HI_MISSED if no probe site was reached in time. */
enum hi_status hi_freeze(struct hi_inspection *in, struct hi_error *err);
/* Tells the user how long the pause was, at once: decoding may take time. */
void hi_freeze_report(const struct hi_inspection *in);

enum { HI_FREEZE_WAITING = HI_STOP_SITE_TEXT + 256 };
/* "waiting for … ; ^C ends it"; hostile. */
void hi_freeze_waiting_text(const struct hi_stop_site *place,
			    char out[HI_FREEZE_WAITING]);

#endif
