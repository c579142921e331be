/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks of what options a command line has together. */
#ifndef HI_CLI_OPTIONS_OPTION_CHECK_H
#define HI_CLI_OPTIONS_OPTION_CHECK_H

#include "cli/options/option_take.h"

/* Checks all of them, when all were taken: what the command requires, what rows need and
 * exclude, and which target there is. Returns 0, or 2 when an error was printed. */
int hi_option_check(const struct hi_given *given);

/* For commands: */
/* Sets the period of a command that follows a process: censuses at each hit of --at, else
 * one a second, unless --every says another one. */
void hi_series_settle_period(struct hi_series_options *s, bool has_place);
/* Returns the name of the first option in the table that was given and is for `is_for`
 * (enum hi_option_for); NULL: there is none. */
const char *hi_given_for(const struct hi_given *given, unsigned is_for);
/* Checks that --three has its three files. Returns 0, or 2 when an error was printed. */
int hi_option_check_three(const struct hi_options *o);
/* Was the report to be written to a file, and not to standard output? */
bool hi_option_has_output_file(const struct hi_options *o);

#endif
