/* SPDX-License-Identifier: BSD-2-Clause */
/* What the command shares with the table that snap keeps of it (stored_retained.c). */
#ifndef HI_CLI_RETAINED_H
#define HI_CLI_RETAINED_H

#include "cli/inspect.h"
#include "report/views/retained_report.h"

/* Of the top level, and of all rows those that get a name. */
enum { HI_RETAINED_TOP = 15, HI_RETAINED_NAMED = 200 };

/* Objects get a name: how the parent leads there, for those on top the way from a root.
 * Walks the whole heap once. */
void hi_retained_name_rows(struct hi_inspection *in, struct hi_retained_report *report);

#endif
