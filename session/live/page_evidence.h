/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which pages of a target were referenced between the stops of a series
 * (probes/pages.h), as far as that can be known.
 */
#ifndef HI_SESSION_LIVE_PAGE_EVIDENCE_H
#define HI_SESSION_LIVE_PAGE_EVIDENCE_H

#include <sys/types.h>

#include "probes/pages.h"
#include "session/stop_observer.h"

struct hi_page_evidence;
/* *ret: hi_page_evidence_close(). Errors: as of hi_target_open() and
 * hi_page_watch_open(). */
enum hi_status hi_page_evidence_open(pid_t pid, struct hi_page_evidence **ret,
				     struct hi_error *err);
void hi_page_evidence_close(struct hi_page_evidence *evidence); /* NULL is fine */

/* For hi_stop_observers_add(); NULL for NULL. */
struct hi_stop_observer *hi_page_evidence_observer(struct hi_page_evidence *evidence);

/* The number of stops until now that may have changed what is known. */
uint64_t hi_page_evidence_stops(const struct hi_page_evidence *evidence);
/* Why nothing is known of the time between the last two stops; NULL: it is. */
const char *hi_page_evidence_missing(const struct hi_page_evidence *evidence);
/* Was no byte of [start, end) referenced in that time, for certain? */
bool hi_page_evidence_is_idle(const struct hi_page_evidence *evidence, uint64_t start,
			      uint64_t end);

#endif
