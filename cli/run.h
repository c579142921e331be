/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs a command that makes one report from one inspection. */
#ifndef HI_CLI_RUN_H
#define HI_CLI_RUN_H

#include "cli/command/exit_codes.h"
#include "session/options.h"

/* Prints the error on stderr. */
int hi_run(const struct hi_options *options);

#endif
