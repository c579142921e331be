/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long a copy-on-write snapshot stops a process, beside its own fork(): 64 MiB to
 * 1 GiB in pages of 4 KiB, 1 GiB in huge pages, and 1 to 1000 threads. Medians of
 * ROUNDS, the two in turn, the first pair dropped. bench_fork [MAX_MIB].
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/tracer.h"
#include "base/error.h"
#include "bench/support.h"

#define ROUNDS 8

struct target {
	pid_t pid;
	int ask, answer; /* pipes */
};

static void *asleep(void *arg)
{
	(void)arg;
	for (;;)
		pause();
	return NULL;
}

static uint64_t own_fork_ns(void)
{
	uint64_t start = bench_now_ns(), end;
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	end = bench_now_ns();
	waitpid(pid, NULL, 0);
	return end - start;
}

static void serve(size_t mib, int huge, int n_threads, int ask, int answer)
{
	size_t size = mib << 20;
	unsigned char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_t attr;
	pthread_t thread;
	uint64_t ns = 0;
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (memory == MAP_FAILED)
		_exit(1);
	madvise(memory, size, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	memset(memory, 1, size);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	for (int i = 1; i < n_threads; i++)
		if (pthread_create(&thread, &attr, asleep, NULL))
			_exit(1);
	usleep(100000);
	while (write(answer, &ns, sizeof(ns)) == sizeof(ns) && read(ask, &byte, 1) == 1)
		ns = own_fork_ns();
	_exit(0);
}

static struct target start(size_t mib, int huge, int n_threads)
{
	int in[2], out[2];
	struct target target;
	uint64_t ready;

	if (pipe(in) || pipe(out))
		exit(1);
	fflush(NULL);
	target.pid = fork();
	if (target.pid == 0)
		serve(mib, huge, n_threads, in[0], out[1]);
	close(in[0]);
	close(out[1]);
	target.ask = in[1];
	target.answer = out[0];
	if (read(out[0], &ready, sizeof(ready)) != sizeof(ready))
		exit(1);
	return target;
}

static uint64_t ask(const struct target *target)
{
	uint64_t ns = 0;

	if (write(target->ask, "x", 1) != 1 ||
	    read(target->answer, &ns, sizeof(ns)) != sizeof(ns))
		exit(1);
	return ns;
}

/* The pause, and what of it was the making of the child. */
static uint64_t snapshot(pid_t pid, uint64_t *making_ret)
{
	struct hi_stop_options options = {.snapshot = HI_REQUEST_FORK,
					  .best_effort_priority = true,
					  .max_pause_ns = 20000000000ull};
	struct hi_target target = {.pid = pid, .pidfd = -1};
	struct hi_tracer *tracer = NULL;
	struct hi_tracer_child child;
	struct hi_tracer_stop stop;
	struct hi_error err = {};
	uint64_t resumed_ns = 0, before;
	enum hi_status status = hi_tracer_start(&target, &options, &tracer, &err);

	if (status == HI_OK)
		status = hi_tracer_stop(tracer, &stop, &err);
	before = bench_now_ns();
	if (status == HI_OK)
		status = hi_tracer_fork(tracer, &child, &err);
	*making_ret = bench_now_ns() - before;
	if (status == HI_OK)
		status = hi_tracer_resume(tracer, &resumed_ns, &err);
	if (status != HI_OK) {
		fprintf(stderr, "bench_fork: %s\n", err.text);
		exit(1);
	}
	hi_tracer_destroy(tracer);
	return resumed_ns - stop.stopped_ns;
}

static void measure(size_t mib, int huge, int n_threads)
{
	struct target target = start(mib, huge, n_threads);
	uint64_t own[ROUNDS], pause[ROUNDS], making[ROUNDS];

	for (int i = 0; i < ROUNDS; i++) {
		own[i] = ask(&target);
		usleep(20000);
		pause[i] = snapshot(target.pid, &making[i]);
		usleep(20000);
	}
	printf("%6zu MiB %-5s %5d threads  own fork %8.2f ms  pause %8.2f ms  "
	       "(making the child %8.2f)  ratio %.2f\n",
	       mib, huge ? "huge" : "4 KiB", n_threads,
	       (double)bench_median(own, ROUNDS) / 1e6,
	       (double)bench_median(pause, ROUNDS) / 1e6,
	       (double)bench_median(making, ROUNDS) / 1e6,
	       (double)bench_median(pause, ROUNDS) / (double)bench_median(own, ROUNDS));
	kill(target.pid, SIGKILL);
	waitpid(target.pid, NULL, 0);
	close(target.ask);
	close(target.answer);
}

int main(int argc, char **argv)
{
	size_t max = argc > 1 ? strtoul(argv[1], NULL, 10) : 1024;

	for (size_t mib = 64; mib <= max; mib *= 2)
		measure(mib, 0, 1);
	measure(max, 1, 1);
	for (int n = 10; n <= 1000; n *= 10)
		measure(64, 0, n);
	return 0;
}
