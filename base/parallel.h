/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs numbered tasks on several threads. Tasks are started in increasing order. A task
 * must not depend on the worker that runs it, so that results do not depend on the number
 * of threads.
 */
#ifndef HI_BASE_PARALLEL_H
#define HI_BASE_PARALLEL_H

#include <stddef.h>

/* worker is in [0, threads): an index for per-worker scratch. */
typedef void hi_task_fn(void *arg, size_t task, unsigned worker);

/* The default number of threads: the online processors that this process may run on,
 * from 1 to 64. */
unsigned hi_parallel_threads(void);

/*
 * Returns when all tasks are done. Starts at most threads-1 helpers and works
 * itself; if helpers cannot be started the rest do the work, so it never fails.
 */
void hi_parallel(unsigned threads, size_t n_tasks, hi_task_fn *fn, void *arg);

#endif
