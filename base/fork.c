/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/fork.h"

#include <stddef.h>
#include <unistd.h>

static struct hi_fork_gate *open_gate;
static _Thread_local unsigned locks_held;

void hi_fork_gate_open(struct hi_fork_gate *gate)
{
	open_gate = gate;
}

void hi_fork_gate_close(void)
{
	open_gate = NULL;
}

void hi_fork_gate_lock(struct hi_fork_gate *gate)
{
	pthread_mutex_lock(&gate->lock);
	locks_held++;
}

void hi_fork_gate_unlock(struct hi_fork_gate *gate)
{
	locks_held--;
	pthread_mutex_unlock(&gate->lock);
}

pid_t hi_fork(void)
{
	struct hi_fork_gate *gate = locks_held ? NULL : open_gate;
	pid_t pid;

	if (gate)
		hi_fork_gate_lock(gate);
	pid = fork();
	if (pid == 0 && open_gate) {
		open_gate->forget(open_gate->arg);
		open_gate = NULL;
		locks_held = 0;
	}
	if (pid != 0 && gate)
		hi_fork_gate_unlock(gate);
	return pid;
}
