/* SPDX-License-Identifier: BSD-2-Clause */
/* The report of a command about one heap: a page, or JSON. */
#ifndef HI_CLI_COMMAND_WRITE_REPORT_H
#define HI_CLI_COMMAND_WRITE_REPORT_H

#include "cli/command/output.h"
#include "session/inspection.h"

/* Runs the command of the options on the inspection, and writes its report onto the
 * output. Damage that was found meanwhile is an error. */
enum hi_status hi_write_report(struct hi_inspection *in,
			       const struct hi_report_header *header,
			       struct hi_output *output, struct hi_error *err);

#endif
