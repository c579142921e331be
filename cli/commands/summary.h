/* SPDX-License-Identifier: BSD-2-Clause */
/* The report `summary` of an inspection, for each command that shows it. */
#ifndef HI_CLI_COMMANDS_SUMMARY_H
#define HI_CLI_COMMANDS_SUMMARY_H

#include "report/reports/summary/summary_report.h"
#include "session/inspection.h"

/* Makes the report, with at most `top` rows a table. It borrows from the inspection and the
 * header. has_sets: what many variables hold together stays a row of its own, and is not
 * counted for the nearest of them. tree: its top for a page that draws, or NULL; it must
 * stay as long as the report. The results of hi_command_summary.wanted are there.
 * *ret: hi_summary_report_destroy(). HI_NO_MEMORY. */
enum hi_status hi_summary_of_inspection(struct hi_inspection *in,
					const struct hi_report_header *header, size_t top,
					bool has_sets, const struct hi_tree_report *tree,
					struct hi_summary_report **ret,
					struct hi_error *err);

#endif
