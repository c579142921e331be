/* SPDX-License-Identifier: BSD-2-Clause */
/* Takes the values of options into struct hi_options, as their rows say. */
#ifndef HI_CLI_OPTIONS_OPTION_TAKE_H
#define HI_CLI_OPTIONS_OPTION_TAKE_H

#include "cli/options/option_row.h"

enum { HI_OPTIONS_MOST = 192 }; /* rows of the table */

/* Which options a command line has. */
struct hi_given {
	const struct hi_options *options;
	bool rows[HI_OPTIONS_MOST]; /* by index in the table */
	const char *values[HI_OPTIONS_MOST];
};

/* Takes the value (NULL: a flag) and notes that the option was given. Returns 0, or 2
 * when it is wrong, which was printed. `value` may be cut into pieces. */
int hi_option_take(const struct hi_option_row *row, char *value, struct hi_options *o,
		   struct hi_given *given);

/* Prints the error on stderr, in one line: argp's own would add a second one. Returns 2.
 */
int hi_option_wrong(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The functions of rows use these; all return 0, or 2 when an error was printed. */
/* Stores the text; a second one would silently replace the first. */
int hi_option_take_once(const char *name, const char *value, const char **ret);
/* Parses a number from low to high. `option` is for errors. */
int hi_option_take_number(const char *option, const char *text, uint64_t low,
			  uint64_t high, uint64_t *ret);
/* Parses a number from 0 to row->high. */
int hi_option_take_decimal(const struct hi_option_row *row, const char *text,
			   double *ret);
/* Looks the text up in the words of the row. */
int hi_option_take_choice(const struct hi_option_row *row, const char *text,
			  size_t *index_ret);

/* Returns the index of --format in the words of its row; `otherwise` when it was not
 * given. */
size_t hi_option_format(const struct hi_options *o, size_t otherwise);
/* Returns the member of the options that the row names. */
static inline void *hi_option_place(const struct hi_option_row *row, struct hi_options *o)
{
	return (char *)o + row->at;
}

#endif
