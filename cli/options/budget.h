/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Budget files: gates for `check`, one a line.
 *
 *	# what a release may cost
 *	no leaks: leak.bytes > 64KiB
 *	live.bytes > 512MiB		# the name may be left out
 */
#ifndef HI_CLI_OPTIONS_BUDGET_H
#define HI_CLI_OPTIONS_BUDGET_H

#include "session/options.h"

/* Adds the gates of the file to the check's; their texts and names live in its arena.
 * Returns 0, or HI_OPTION_SAID when an error was printed, with the file, the line and a
 * caret. A file without a gate is an error. */
int hi_budget_read(const char *file, struct hi_check_options *check);

#endif
