/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fork() in a process with a thread that works beside the first one. Such a thread works
 * only while it has the lock of a gate, which a fork takes: no child begins in the middle
 * of a change, and none with a lock of the allocator that only that thread could release
 * (glibc's allocator survives that, the one of sanitizers does not). A thread that has
 * the lock may fork. Not by pthread_atfork(): before glibc 2.36 its handlers run under a
 * lock that a fork of the other thread needs.
 */
#ifndef HI_BASE_FORK_H
#define HI_BASE_FORK_H

#include <pthread.h>
#include <sys/types.h>

struct hi_fork_gate {
	pthread_mutex_t lock; /* of pthread_mutex_init() */
	/* In the child, which has no such thread. */
	void (*forget)(void *arg);
	void *arg;
};

/* From now on forks take its lock, until the close. At most one gate is open. */
void hi_fork_gate_open(struct hi_fork_gate *gate);
void hi_fork_gate_close(void);
void hi_fork_gate_lock(struct hi_fork_gate *gate);
void hi_fork_gate_unlock(struct hi_fork_gate *gate);

/*
 * A descriptor that children of hi_fork() do not get: they have /dev/null in its place
 * before they do anything else. At most 2,048 of them; more are inherited as usual. From
 * any thread.
 */
void hi_fork_withhold(int fd);
/* Before it is closed, or if a child is to have it. */
void hi_fork_inherit(int fd);

/* As fork(). */
pid_t hi_fork(void);

#endif
