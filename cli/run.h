/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs a command that makes one report from one inspection. */
#ifndef HI_CLI_RUN_H
#define HI_CLI_RUN_H

#include "cli/command/exit_codes.h"
#include "session/options.h"
#include "session/run.h"

/* Returns the exit status; prints the error on stderr. run: zeros but for `begun`; what the
 * command adds to it is closed before this returns. */
int hi_run(const struct hi_options *options, struct hi_run *run);

#endif
