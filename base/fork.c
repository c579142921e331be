/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/fork.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

enum { WITHHELD_MAX = 2048 };

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

/* Descriptors and 1 each, 0: free; those from the end on were never used. */
static _Atomic int withheld[WITHHELD_MAX];
static _Atomic size_t withheld_end;

static void raise_end(size_t end)
{
	size_t before = atomic_load(&withheld_end);

	while (before < end && !atomic_compare_exchange_weak(&withheld_end, &before, end))
		;
}

void hi_fork_withhold(int fd)
{
	for (size_t i = 0; i < WITHHELD_MAX; i++) {
		int none = 0;

		if (!atomic_compare_exchange_strong(&withheld[i], &none, fd + 1))
			continue;
		raise_end(i + 1);
		return;
	}
}

void hi_fork_inherit(int fd)
{
	for (size_t i = 0; i < atomic_load(&withheld_end); i++) {
		int wanted = fd + 1;

		if (atomic_compare_exchange_strong(&withheld[i], &wanted, 0))
			return;
	}
}

/* The numbers stay taken: the child may close what it does not have. */
static void replace_withheld(void)
{
	size_t end = atomic_load(&withheld_end);
	int null = end ? open("/dev/null", O_RDWR | O_CLOEXEC) : -1;

	for (size_t i = 0; i < end; i++) {
		int fd = atomic_load(&withheld[i]) - 1;

		if (fd >= 0 && (null < 0 || dup3(null, fd, O_CLOEXEC) < 0))
			close(fd);
		atomic_store(&withheld[i], 0);
	}
	if (null >= 0)
		close(null);
	atomic_store(&withheld_end, 0);
}

pid_t hi_fork(void)
{
	struct hi_fork_gate *gate = locks_held ? NULL : open_gate;
	pid_t pid;

	if (gate)
		hi_fork_gate_lock(gate);
	pid = fork();
	if (pid == 0)
		replace_withheld();
	if (pid == 0 && open_gate) {
		open_gate->forget(open_gate->arg);
		open_gate = NULL;
		locks_held = 0;
	}
	if (pid != 0 && gate)
		hi_fork_gate_unlock(gate);
	return pid;
}
