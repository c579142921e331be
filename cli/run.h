/* SPDX-License-Identifier: BSD-2-Clause */
/* A command: one inspection, one report. */
#ifndef HI_CLI_RUN_H
#define HI_CLI_RUN_H

#include "cli/options.h"

/* The documented exit codes. */
enum hi_exit {
	HI_EXIT_FINE = 0,
	HI_EXIT_FINDING = 1,
	HI_EXIT_ERROR = 2,
	HI_EXIT_CANNOT_ATTACH = 3,
	HI_EXIT_PARTIAL = 4,
	HI_EXIT_OUT_OF_TIME = 124,
};

/* Says on stderr what is wrong. */
int hi_run(const struct hi_options *options);

#endif
