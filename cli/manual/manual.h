/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The manual pages and the completions of shells. They are made from the tables that
 * parse the command line, so they agree with it. What a table does not contain (why a
 * command is used, how to read its output) is written by hand in docs/man/COMMAND.roff,
 * in man(7), and placed under DESCRIPTION.
 *
 * This is a program of the build (make_manual.c), no part of heapinspect.
 */
#ifndef HI_CLI_MANUAL_MANUAL_H
#define HI_CLI_MANUAL_MANUAL_H

#include <stdio.h>

#include "cli/command/command.h"
#include "cli/options/option_row.h"

/* All of these only write to a stream; the caller checks for errors when it closes the
 * stream. */

/* `by_hand` is the text of docs/man/COMMAND.roff. The page of the summary is
 * heapinspect(1), which lists all others. */
void hi_manual_page(FILE *out, const struct hi_command *command, const char *by_hand);

/* Writes the completion of all commands and options for bash. */
void hi_completion_bash(FILE *out);
/* The same for zsh. */
void hi_completion_zsh(FILE *out);

/* What can stand for an option's value, for completions. */
enum hi_option_value {
	HI_VALUE_NONE, /* it takes none */
	HI_VALUE_ANY,
	HI_VALUE_FILE,
	HI_VALUE_DIR,
	HI_VALUE_PID,
	HI_VALUE_WORDS, /* one of the words of the row */
};
enum hi_option_value hi_manual_value(const struct hi_option_row *row);
/* Writes the words of the row, separated by spaces, each by `put`. */
void hi_manual_words(FILE *out, const struct hi_option_row *row,
		     void (*put)(FILE *out, const char *word));

/* Does the command take the row, and is it an option, not a heading? */
bool hi_manual_takes(const struct hi_option_row *row, const struct hi_command *command);
/* Whether its target can be a process, and so a snapshot too. */
bool hi_manual_takes_pid(const struct hi_command *command);

#endif
