/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes the snapshot file of -o, for `snap` and `record`. */
#ifndef HI_CLI_COMMAND_WRITE_SNAPSHOT_H
#define HI_CLI_COMMAND_WRITE_SNAPSHOT_H

#include "cli/command/output.h"
#include "report/parts/report_header.h"
#include "session/inspect/inspect.h"

/* Writes it to the output and prints its size on stderr. Errors as of hi_snapshot_save().
 */
enum hi_status hi_write_snapshot(struct hi_inspection *in,
				 const struct hi_report_header *header,
				 struct hi_output *output, struct hi_error *err);

#endif
