/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command `query`, and the list of tables that it prints when there is no statement.
 */
#ifndef HI_CLI_COMMANDS_QUERY_H
#define HI_CLI_COMMANDS_QUERY_H

#include "cli/command/command.h"
#include "cli/command/output.h"

/* In the order of the words of --format. */
enum hi_query_format { HI_QUERY_TABLE, HI_QUERY_JSON, HI_QUERY_CSV };

/* Returns what --format and --json ask for. */
enum hi_query_format hi_query_format(const struct hi_options *options);
/* Checks the command line of both. Returns 0, or 2 when an error was printed. */
int hi_query_check(const struct hi_given *given);
/* Prints tables and columns; needs no target. */
enum hi_status hi_query_show_schema(const struct hi_options *options,
				    struct hi_output *output, struct hi_error *err);
/* Prints the statement's line on stderr, with a caret below byte `offset`. */
void hi_query_point_at(const char *sql, size_t offset);

#endif
