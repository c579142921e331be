/* SPDX-License-Identifier: BSD-2-Clause */
/* The terminal's description in terminfo; its header has macros of common words. */
#ifndef HI_CLI_TERMINAL_TERMINAL_DESCRIPTION_H
#define HI_CLI_TERMINAL_TERMINAL_DESCRIPTION_H

#include <stdbool.h>

/* Is there one for the terminal of $TERM? Where newterm() finds that there is none, it
 * loses memory. */
bool hi_terminal_is_described(void);

#endif
