/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/terminal/terminal_description.h"

#include <curses.h>
#include <term.h>
#include <unistd.h>

bool hi_terminal_is_described(void)
{
	int found = 0;

	if (setupterm(NULL, STDOUT_FILENO, &found) == ERR)
		return false;
	del_curterm(cur_term);
	return true;
}
