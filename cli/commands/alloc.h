/* SPDX-License-Identifier: BSD-2-Clause */
/* The command `alloc`. */
#ifndef HI_CLI_COMMANDS_ALLOC_H
#define HI_CLI_COMMANDS_ALLOC_H

#include "cli/command/command.h"
#include "cli/decoder/decoder.h"
#include "session/run.h"

/* Follows the target of the options, and writes the report. *partial_ret: some image had
 * gaps. Errors: as of hi_record_series() and hi_space_profile_report(). */
enum hi_status hi_alloc_run(const struct hi_options *options, struct hi_run *run,
			    struct hi_outcome *ret, struct hi_error *err);

/* The settle and check of struct hi_command. */
void hi_alloc_settle(struct hi_options *o);
int hi_alloc_check(const struct hi_given *given);

#endif
