/* SPDX-License-Identifier: BSD-2-Clause */
/* The header of every report, out of an inspection. */
#ifndef HI_SESSION_HEADING_H
#define HI_SESSION_HEADING_H

#include "report/views/report_header.h"
#include "session/inspect.h"

/* Borrows from the inspection, whose arena it uses. */
enum hi_status hi_heading_make(struct hi_inspection *in, struct hi_report_header *ret,
			       struct hi_error *err);

#endif
