/* SPDX-License-Identifier: BSD-2-Clause */
/* Names for the rows of the report `retained`. */
#ifndef HI_SESSION_RETAINED_NAMES_H
#define HI_SESSION_RETAINED_NAMES_H

#include "report/views/retained_report.h"
#include "session/inspection.h"

enum { HI_RETAINED_TOP = 15 }; /* rows of the top level without --top */

/*
 * Fills in the names of the first 200 rows of the report that are objects: below the top
 * level how the parent refers to the object, on the top level the path from a root. Walks
 * the whole heap once. The texts live in the inspection's arena. Rows without a name keep
 * theirs: there is no error.
 */
void hi_retained_name_rows(struct hi_inspection *in, struct hi_retained_report *report);

#endif
