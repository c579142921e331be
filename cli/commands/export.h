/* SPDX-License-Identifier: BSD-2-Clause */
/* The command `export`: gives an inspection to the writers of report/exports/export.h. */
#ifndef HI_CLI_COMMANDS_EXPORT_H
#define HI_CLI_COMMANDS_EXPORT_H

#include <stdio.h>
#include "cli/command/output.h"
#include "report/exports/export.h"
#include "session/inspect/inspect.h"

/* Writes the export that in->options select; errors as hi_export_write(). */
enum hi_status hi_export_inspection(struct hi_inspection *in,
				    const struct hi_report_header *header,
				    struct hi_output *output,
				    const struct hi_export_limits *limits,
				    struct hi_error *err);

#endif
