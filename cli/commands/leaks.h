/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines that can have made the leaks of a report, for each command that shows it. */
#ifndef HI_CLI_COMMANDS_LEAKS_H
#define HI_CLI_COMMANDS_LEAKS_H

#include "report/reports/leaks/leaks_report.h"
#include "session/leak_sites.h"

/* Fills in made_by of rows and roots, which borrow from the inspection. HI_NO_MEMORY. */
enum hi_status hi_leaks_find_makers(struct hi_inspection *in,
				    struct hi_leaks_report *report, struct hi_error *err);

#endif
