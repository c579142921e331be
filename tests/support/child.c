/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/child.h"

#include <signal.h>
#include <stddef.h>

void hi_child_signals(void)
{
	sigset_t none;

	for (int number = 1; number < NSIG; number++)
		signal(number, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}
