/* SPDX-License-Identifier: BSD-2-Clause */
/* Names for the rows of the report `retained`. */
#ifndef HI_SESSION_RETAINED_NAMES_H
#define HI_SESSION_RETAINED_NAMES_H

#include "report/reports/retained/retained_report.h"
#include "session/inspection.h"

struct hi_known_names;

enum { HI_RETAINED_TOP = 15 }; /* rows of the top level without --top */

/*
 * Fills in the names of those of the first 200 rows that are single objects of the top
 * level: the path from a root. Walks the whole heap once. The texts live in the
 * inspection's arena. Rows without a name keep theirs: there is no error.
 */
void hi_retained_name_rows(struct hi_inspection *in, struct hi_retained_report *report);
/* hi_retained_report_create() with the names of the inspection's edges, and with these
 * names. known: of edges; NULL: they are read. */
enum hi_status hi_retained_create(struct hi_inspection *in,
				  const struct hi_report_header *header,
				  const struct hi_reach *reach,
				  const struct hi_restrict *only,
				  const struct hi_known_names *known, uint64_t type_exact,
				  struct hi_retained_report **ret, struct hi_error *err);

#endif
