/* SPDX-License-Identifier: BSD-2-Clause */
/* The help of a command: a page that fits on a screen (--help), or all of it (--help-all). */
#ifndef HI_CLI_OPTIONS_HELP_H
#define HI_CLI_OPTIONS_HELP_H

#include <argp.h>

struct hi_command;

/* Lines of the page of --help, at most. */
enum { HI_HELP_LINES = 45 };

/* Prints usage and purpose, then the commands or the options that are this command's own, in a
 * line each, the names of the others, and examples. `usage` is what follows the program's name
 * there. */
void hi_help_print_page(const struct hi_command *command, const char *usage);
/* Prints all options with their whole text, and all examples. `name` is that of the program with
 * the command. */
void hi_help_print_all(const struct argp *argp, const struct hi_command *command,
		       char *name);
/* Flushes what was printed. Returns the exit status; an error was printed. */
int hi_help_finish(void);

#endif
