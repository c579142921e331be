/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long a stop and resume holds a process of 1, 100 and 1000 threads,
 * asleep and busy, with and without SCHED_FIFO. Median of ROUNDS, the first
 * dropped; the ratio is to one sleeping thread with FIFO in the same run.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/tracer.h"
#include "base/error.h"

#define ROUNDS 11

struct figures {
	double stop_ms[ROUNDS], pause_ms[ROUNDS];
};

static void *busy(void *arg)
{
	volatile unsigned long *counter = arg;

	for (;;)
		++*counter;
	return NULL;
}

static void *asleep(void *arg)
{
	(void)arg;
	for (;;)
		pause();
	return NULL;
}

/* A child with n threads beside the leader; ready when it returns. */
static pid_t start_target(int n, int is_busy)
{
	static unsigned long counters[1024 * 8];
	pthread_attr_t attr;
	pthread_t thread;
	int ready[2];
	pid_t pid;
	char byte;

	if (pipe(ready) < 0)
		exit(1);
	pid = fork();
	if (pid) {
		if (pid < 0 || read(ready[0], &byte, 1) != 1)
			exit(1);
		close(ready[0]);
		close(ready[1]);
		return pid;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(120);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	for (int i = 0; i < n; i++)
		if (pthread_create(&thread, &attr, is_busy ? busy : asleep,
				   &counters[i % 1024 * 8]))
			_exit(1);
	usleep(100000);
	if (write(ready[1], "", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

static void measure(pid_t pid, bool fifo, double *stop_ms, double *pause_ms)
{
	struct hi_stop_options options = {.best_effort_priority = fifo,
					  .max_pause_ns = 20000000000ull};
	struct hi_target target = {.pid = pid, .pidfd = -1};
	struct hi_tracer_stop stop;
	struct hi_tracer *tracer;
	struct hi_error err = {};
	struct timespec ts;
	uint64_t resumed_ns = 0;

	if (hi_tracer_start(&target, &options, &tracer, &err) != HI_OK ||
	    hi_tracer_stop(tracer, &stop, &err) != HI_OK) {
		fprintf(stderr, "%s\n", err.text);
		exit(1);
	}
	clock_gettime(CLOCK_MONOTONIC, &ts);
	if (hi_tracer_resume(tracer, &resumed_ns, &err) != HI_OK)
		exit(1);
	*stop_ms =
		((double)ts.tv_sec * 1e9 + (double)ts.tv_nsec - (double)stop.stopped_ns) /
		1e6;
	*pause_ms = (double)(resumed_ns - stop.stopped_ns) / 1e6;
	hi_tracer_destroy(tracer);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(void)
{
	static const int counts[] = {1, 100, 1000};
	double base = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("%-8s %7s %5s %10s %10s %10s %8s\n", "threads", "", "fifo", "stop ms",
	       "pause ms", "worst ms", "ratio");
	for (int kind = 0; kind < 2; kind++)
		for (int fifo = 1; fifo >= 0; fifo--)
			for (int c = 0; c < 3; c++) {
				struct figures f;
				pid_t pid = start_target(counts[c] - 1, kind);

				for (int i = 0; i < ROUNDS; i++)
					measure(pid, fifo, &f.stop_ms[i], &f.pause_ms[i]);
				kill(pid, SIGKILL);
				waitpid(pid, NULL, 0);
				qsort(f.stop_ms + 1, ROUNDS - 1, sizeof(double), compare);
				qsort(f.pause_ms + 1, ROUNDS - 1, sizeof(double),
				      compare);
				if (base == 0)
					base = f.pause_ms[ROUNDS / 2];
				printf("%-8d %7s %5s %10.3f %10.3f %10.3f %8.1f\n",
				       counts[c], kind ? "busy" : "asleep",
				       fifo ? "yes" : "no", f.stop_ms[ROUNDS / 2],
				       f.pause_ms[ROUNDS / 2], f.pause_ms[ROUNDS - 1],
				       f.pause_ms[ROUNDS / 2] / base);
			}
	return 0;
}
