/* SPDX-License-Identifier: BSD-2-Clause */
/* The file without a name that holds the events of a recording until its end. */
#ifndef HI_SESSION_LIVE_EVENT_SPOOL_H
#define HI_SESSION_LIVE_EVENT_SPOOL_H

#include "census/events/kept_events.h"
#include "session/options.h"

/* Makes it in the directory of the -o file, whose disk has room for the events anyway;
 * its limit is --max-file, or 1 GiB. It is gone with the last descriptor of it. *ret:
 * hi_kept_events_destroy(). HI_OS, HI_NO_MEMORY. */
enum hi_status hi_event_spool_open(const struct hi_options *options,
				   struct hi_kept_events **ret, struct hi_error *err);

#endif
