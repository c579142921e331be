/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#define MAX_THREADS 64

struct job {
	hi_task_fn *fn;
	void *arg;
	size_t n_tasks;
	_Atomic size_t next;
};

struct worker {
	struct job *job;
	unsigned index;
	pthread_t thread;
};

unsigned hi_parallel_threads(void)
{
	cpu_set_t set;
	int n;

	if (sched_getaffinity(0, sizeof(set), &set) != 0)
		return 1;
	n = CPU_COUNT(&set);
	if (n < 1)
		return 1;
	return n > MAX_THREADS ? MAX_THREADS : (unsigned)n;
}

static void run_tasks(struct job *job, unsigned index)
{
	for (;;) {
		size_t task = atomic_fetch_add(&job->next, 1);

		if (task >= job->n_tasks)
			return;
		job->fn(job->arg, task, index);
	}
}

static void *run_parallel_worker(void *arg)
{
	struct worker *worker = arg;

	run_tasks(worker->job, worker->index);
	return NULL;
}

void hi_parallel(unsigned threads, size_t n_tasks, hi_task_fn *fn, void *arg)
{
	struct job job = {.fn = fn, .arg = arg, .n_tasks = n_tasks};
	struct worker workers[MAX_THREADS];
	unsigned started = 0;

	if (threads > MAX_THREADS)
		threads = MAX_THREADS;
	if (threads > n_tasks)
		threads = (unsigned)n_tasks;
	for (unsigned i = 1; i < threads; i++) {
		struct worker *worker = &workers[started];

		*worker = (struct worker){.job = &job, .index = i};
		if (pthread_create(&worker->thread, NULL, run_parallel_worker, worker) !=
		    0)
			break;
		started++;
	}
	run_tasks(&job, 0);
	for (unsigned i = 0; i < started; i++)
		pthread_join(workers[i].thread, NULL);
}
