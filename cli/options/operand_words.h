/* SPDX-License-Identifier: BSD-2-Clause */
/* Words of a command line that are no options: FILE.hisnap, FILE@CENSUS, an argument. */
#ifndef HI_CLI_OPTIONS_OPERAND_WORDS_H
#define HI_CLI_OPTIONS_OPERAND_WORDS_H

#include "session/options.h"

/* All return 0, or 2 when the word is wrong, which was printed. */

/* Takes a word as the command says (struct hi_command), else as a snapshot or its one
 * argument. The text stays where it is and may be cut. */
int hi_operand_take(char *word, struct hi_options *o);

/* For commands that take words in their own way: */

/* Takes a snapshot file: the target, or the earlier heap where the command compares. */
int hi_operand_take_snapshot(const char *file, const char *census, struct hi_options *o);
/* Takes the argument of the command. */
int hi_operand_take_argument(const char *word, const char *census, struct hi_options *o);
/* Prints that the command has no place for the word. One that looks like a file was meant
 * as a snapshot. */
int hi_operand_refuse(const char *word, const struct hi_options *o);

/* Cuts "FILE@3" or "FILE@peak", one census of a file of many. A file of that whole name
 * comes first. *census_ret stays as it is when there is none. */
void hi_operand_split_census(char *word, const char **census_ret);
/* Is it a snapshot, by its name or its content? */
bool hi_operand_is_snapshot(const char *word);

#endif
