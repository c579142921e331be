/* SPDX-License-Identifier: BSD-2-Clause */
/* The report of a recording by windows, of the process or of its file. */
#ifndef HI_CLI_RECORD_RECORD_WINDOWS_H
#define HI_CLI_RECORD_RECORD_WINDOWS_H

#include "cli/command/command.h"
#include "report/parts/recorded_children.h"
#include "session/inspection.h"

/* Fills the page or the document with what was recorded by windows. children: those that
 * were recorded beside it; NULL: none were. Errors as of hi_inspect_windows(). */
enum hi_status hi_record_windows_run(struct hi_inspection *in,
				     const struct hi_report_header *header,
				     const struct hi_recorded_children *children,
				     struct hi_page *page, struct hi_json *json,
				     struct hi_error *err);

#endif
