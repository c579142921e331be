/* SPDX-License-Identifier: BSD-2-Clause */
/* The documented exit codes. */
#ifndef HI_CLI_COMMAND_EXIT_CODES_H
#define HI_CLI_COMMAND_EXIT_CODES_H

enum hi_exit {
	HI_EXIT_FINE = 0,
	HI_EXIT_FINDING = 1,
	HI_EXIT_ERROR = 2,
	HI_EXIT_CANNOT_ATTACH = 3,
	HI_EXIT_PARTIAL = 4,
	HI_EXIT_OUT_OF_TIME = 124,
};

#endif
