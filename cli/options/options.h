/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line: one argp parser a command, all from one table. */
#ifndef HI_CLI_OPTIONS_OPTIONS_H
#define HI_CLI_OPTIONS_OPTIONS_H

#include "base/parse.h"
#include "session/options.h"

/*
 * Fills *ret from argv; strings are borrowed from it. Returns 0; 2 on wrong usage, which
 * is printed on stderr in one line; -1 when --help or --version was printed. argv may be
 * permuted, and cut into pieces.
 */
int hi_options_parse(int argc, char **argv, struct hi_options *ret);
void hi_options_free(struct hi_options *options);

#endif
