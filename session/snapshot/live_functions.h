/* SPDX-License-Identifier: BSD-2-Clause */
/* Live bytes by the function that allocated them, of one census of a recording. */
#ifndef HI_SESSION_SNAPSHOT_LIVE_FUNCTIONS_H
#define HI_SESSION_SNAPSHOT_LIVE_FUNCTIONS_H

#include "census/snapshot/snapshot_functions.h"
#include "session/inspection.h"

/* Writes them as a section; nothing where nothing is recorded. HI_NO_MEMORY, HI_OS. */
enum hi_status hi_live_functions_save(struct hi_inspection *in,
				      struct hi_snapshot_writer *w, struct hi_error *err);

#endif
