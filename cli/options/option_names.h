/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of commands and options as they are typed: before argp reads them. */
#ifndef HI_CLI_OPTIONS_OPTION_NAMES_H
#define HI_CLI_OPTIONS_OPTION_NAMES_H

struct hi_command;

/* Returns how many words the option in `word` takes: 1 or 2. */
int hi_option_words(const char *word);
enum hi_help_wanted { HI_HELP_NONE, HI_HELP_PAGE, HI_HELP_ALL };
/* Is there a word -h, -?, --help or --help-all among the options? The first one counts. */
enum hi_help_wanted hi_option_wants_help(int argc, char **argv);
/* Checks that the command takes the long options. Returns 0, or 2 when an error was printed: it
 * names the option that was meant, or the commands that take it. */
int hi_option_names_check(const struct hi_command *command, int argc, char **argv);
/* Prints that there is no such command, and which one was meant. */
void hi_option_no_command(const char *name);

#endif
