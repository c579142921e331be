/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes the snapshot file of -o, for `snap` and `record`. */
#ifndef HI_CLI_COMMANDS_SNAP_H
#define HI_CLI_COMMANDS_SNAP_H

#include "cli/command/command.h"

/* Writes it to the output and prints its size on stderr. Errors as of hi_snapshot_save().
 */
enum hi_status hi_snap_write(struct hi_inspection *in,
			     const struct hi_report_header *header,
			     struct hi_output *output, struct hi_error *err);

#endif
