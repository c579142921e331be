/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A signal that asks the first process to end is passed on to the second one, which may
 * print a message before it ends (the command query does). A terminal sends the signal
 * to both.
 */
#include <signal.h>
#include <stddef.h>

#include "cli/decoder/decoder_signals.h"

static const int numbers[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
enum { NUMBERS = sizeof(numbers) / sizeof(*numbers) };

/* A handler has no other way to know. */
static volatile pid_t receiver;
static volatile sig_atomic_t n_received;

/* A second signal ends it at once: the other process may be stuck. */
static void hand_on(int number, siginfo_t *info, void *context)
{
	(void)context;
	if (receiver > 0 && n_received++ > 0)
		kill(receiver, SIGKILL);
	else if (receiver > 0 && info->si_code <= 0) /* by a process, not a terminal */
		kill(receiver, number);
}

void hi_decoder_signals_begin(struct hi_decoder_signals *before, pid_t pid)
{
	struct sigaction action = {.sa_sigaction = hand_on,
				   .sa_flags = SA_SIGINFO | SA_RESTART};

	receiver = pid;
	n_received = 0;
	for (size_t i = 0; i < NUMBERS; i++) {
		sigaction(numbers[i], NULL, &before->actions[i]);
		if (before->actions[i].sa_handler != SIG_IGN)
			sigaction(numbers[i], &action, NULL);
	}
}

void hi_decoder_signals_end(const struct hi_decoder_signals *before, int ended_by)
{
	receiver = 0;
	for (size_t i = 0; i < NUMBERS; i++)
		sigaction(numbers[i], &before->actions[i], NULL);
	for (size_t i = 0; i < NUMBERS; i++)
		if (numbers[i] == ended_by)
			raise(ended_by);
}
