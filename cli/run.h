/* SPDX-License-Identifier: BSD-2-Clause */
/* A command: one inspection, one report. */
#ifndef HI_CLI_RUN_H
#define HI_CLI_RUN_H

#include "cli/exit_codes.h"
#include "session/options.h"

/* Says on stderr what is wrong. */
int hi_run(const struct hi_options *options);

#endif
