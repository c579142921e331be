/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of `alloc`. */
#ifndef HI_CLI_COMMANDS_ALLOC_H
#define HI_CLI_COMMANDS_ALLOC_H

#include "cli/command/command.h"

/* The settle and check of struct hi_command. */
void hi_alloc_settle(struct hi_options *o);
int hi_alloc_check(const struct hi_given *given);

#endif
