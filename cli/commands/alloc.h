/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of `alloc`. */
#ifndef HI_CLI_COMMANDS_ALLOC_H
#define HI_CLI_COMMANDS_ALLOC_H

#include "cli/command/command.h"

/* The settle and check of struct hi_command. */
void hi_alloc_settle(struct hi_options *o);
int hi_alloc_check(const struct hi_given *given);
/* For --sample windows. */
int hi_alloc_windows_check(const struct hi_given *given);
/* Finds the first option given that has no meaning for estimates of windows, which are
 * of functions alone; NULL: there is none. */
const char *hi_alloc_find_beyond_windows(const struct hi_options *o);

#endif
