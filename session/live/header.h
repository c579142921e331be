/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes the header of a report from an image. */
#ifndef HI_SESSION_LIVE_HEADER_H
#define HI_SESSION_LIVE_HEADER_H

#include "session/inspection.h"

/* hi_source_ops.make_header of processes and cores. */
enum hi_status hi_live_make_header(struct hi_inspection *in, struct hi_report_header *ret,
				   struct hi_error *err);

#endif
