/* SPDX-License-Identifier: BSD-2-Clause */
/* Joins a recording that has ended with the objects of the image at its end. */
#ifndef HI_SESSION_LIVE_LIVE_RECORDED_H
#define HI_SESSION_LIVE_LIVE_RECORDED_H

#include "census/snapshot/snapshot_events.h"
#include "session/inspection.h"

/* hi_source_ops.read_recorded of processes and cores. */
enum hi_status hi_live_read_recorded(struct hi_inspection *in, struct hi_error *err);
/* hi_source_ops.read_events: HI_NOT_FOUND. */
enum hi_status hi_live_read_events(struct hi_inspection *in,
				   const struct hi_stored_events **ret,
				   struct hi_error *err);
/* hi_source_ops.close_recorded. */
void hi_live_close_recorded(struct hi_inspection *in);

#endif
