/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The terminal of the command browse: its modes, and what gives it back.
 *
 * Note [Two processes on one terminal]
 *
 * The process that decodes draws (cli/terminal/browse_screen.h), but must not change the
 * terminal: its filter of system calls refuses that (base/rights_filter.c). So the first
 * process sets the modes before it forks the second one, and restores them when that has
 * ended, in whatever way. The second one enters and leaves the alternate screen. If it
 * was killed, the first one leaves that, too; and so do handlers in both for signals that
 * would end them.
 */
#ifndef HI_CLI_TERMINAL_BROWSE_TERMINAL_H
#define HI_CLI_TERMINAL_BROWSE_TERMINAL_H

#include <stdbool.h>

/* Are standard input and output a terminal that can move its cursor? */
bool hi_browse_terminal_is_possible(void);
/* Keys one by one, without echo, from now on. */
void hi_browse_terminal_open(void);
/* In the process that draws: from now on handlers leave the alternate screen, too. */
void hi_browse_terminal_drawn(bool is_drawn);
/* The other process was killed while it may have drawn: back to the screen that stays.
 * Nothing where hi_browse_terminal_open() was not called. */
void hi_browse_terminal_leave(void);
/* The modes as they were. Nothing where it is not open. */
void hi_browse_terminal_close(void);

#endif
