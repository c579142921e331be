/* SPDX-License-Identifier: BSD-2-Clause */
/* The report of `record --sample windows`, of the process or of its file. */
#ifndef HI_CLI_RECORD_RECORD_WINDOWS_H
#define HI_CLI_RECORD_RECORD_WINDOWS_H

#include "cli/command/command.h"
#include "session/inspection.h"

/* Fills the page or the document with what was recorded by windows. Errors as of
 * hi_inspect_windows(). */
enum hi_status hi_record_windows_run(struct hi_inspection *in,
				     const struct hi_report_header *header,
				     struct hi_page *page, struct hi_json *json,
				     struct hi_error *err);

#endif
