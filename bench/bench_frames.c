/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stacks: 100 threads of 20 frames and more, each with a handful of variables,
 * by a program with DWARF and by a stripped copy of it (frames only). Time a
 * frame in the first pass (files are opened, rules and scopes looked up) and in
 * later ones, beside libdwfl's own walk over the same threads of the same image.
 */
#include <elfutils/libdwfl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "attach/stop.h"
#include "decode/frames/frames.h"

enum { THREADS = 100, DEPTH = 20, ROUNDS = 6 /* the first is told apart */ };

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void die(const char *what, const struct hi_error *err)
{
	fprintf(stderr, "bench_frames: %s: %s\n", what, err ? err->text : "failed");
	exit(1);
}

/* ---- the target ---- */

struct node {
	struct node *next;
	long number;
};

static volatile long sink;

__attribute__((noipa)) static void deepest(struct node *node)
{
	sink += node->number;
	for (;;)
		pause();
}

__attribute__((noipa)) static long one(int depth, struct node *up);

__attribute__((noipa)) static long two(int depth, struct node *up)
{
	struct node here = {up, depth}, *there = up->next ? up->next : up;
	long result;

	if (depth == 0)
		deepest(&here);
	result = one(depth - 1, &here);
	sink += there->number;
	return result + here.number;
}

__attribute__((noipa)) static long one(int depth, struct node *up)
{
	struct node here[2] = {{up, depth}, {up->next, -depth}};
	long before = sink, result;

	if (depth == 0)
		deepest(here);
	result = two(depth - 1, &here[depth & 1]);
	return result + here[0].number + before;
}

static void *run_thread(void *arg)
{
	struct node root = {NULL, (long)arg};

	one(DEPTH, &root);
	return NULL;
}

static int run_target(void)
{
	pthread_attr_t attr;
	pthread_t thread;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(120);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 256 << 10);
	for (long i = 0; i < THREADS; i++)
		if (pthread_create(&thread, &attr, run_thread, (void *)i) != 0)
			return 1;
	usleep(200000);
	if (write(1, "r", 1) != 1)
		return 1;
	for (;;)
		pause();
}

static pid_t start_target(const char *exe)
{
	int pipes[2];
	char byte;
	pid_t pid;

	if (pipe(pipes) != 0)
		die("pipe", NULL);
	pid = fork();
	if (pid == 0) {
		dup2(pipes[1], 1);
		execl(exe, exe, "--target", (char *)NULL);
		_exit(127);
	}
	close(pipes[1]);
	if (pid < 0 || read(pipes[0], &byte, 1) != 1)
		die("starting the target", NULL);
	close(pipes[0]);
	return pid;
}

static struct hi_image *freeze(pid_t pid)
{
	struct hi_stop_options options = {};
	struct hi_target *target;
	struct hi_image *image;
	struct hi_error err;

	if (hi_target_open(pid, &target, &err) != HI_OK)
		die("opening the target", &err);
	if (hi_stop_and_copy(target, &options, &image, &err) != HI_OK)
		die("copying the target", &err);
	hi_target_close(target);
	return image;
}

/* ---- ours ---- */

struct totals {
	size_t frames, locals;
	double us;
};

static struct totals read_all(struct hi_types *types, const struct hi_image *image)
{
	struct totals totals = {};
	double start = now_us();
	struct hi_error err;

	for (uint32_t i = 0; i < image->n_threads; i++) {
		struct hi_stack *stack;

		if (hi_stack_read(types, image, i, &stack, &err) != HI_OK)
			die("reading a stack", &err);
		totals.frames += stack->n_frames;
		totals.locals += stack->n_locals;
		hi_stack_destroy(stack);
	}
	totals.us = now_us() - start;
	return totals;
}

static double measure(const char *exe, const char *what)
{
	struct hi_modules_options options = {.cache_dir = "",
					     .debug_dir = "/nonexistent"};
	pid_t pid = start_target(exe);
	struct hi_image *image = freeze(pid);
	struct totals first = {}, best = {};
	struct hi_modules *modules;
	struct hi_types *types;
	struct hi_error err;

	if (hi_modules_open(image, &options, &modules, &err) != HI_OK ||
	    hi_types_open(modules, &types, &err) != HI_OK)
		die("opening modules", &err);
	for (int i = 0; i < ROUNDS; i++) {
		struct totals round = read_all(types, image);

		if (i == 0)
			first = round;
		else if (i == 1 || round.us < best.us)
			best = round;
	}
	printf("%-28s %6zu frames %6zu variables  first %7.2f us/frame  then %6.3f "
	       "us/frame\n",
	       what, best.frames, best.locals, first.us / (double)first.frames,
	       best.us / (double)best.frames);
	hi_types_close(types);
	hi_modules_close(modules);
	hi_image_destroy(image);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return best.us / (double)best.frames;
}

/* ---- libdwfl, on the live process: its walk alone ---- */

static int count_frame(Dwfl_Frame *frame, void *arg)
{
	Dwarf_Addr pc;

	(void)frame;
	dwfl_frame_pc(frame, &pc, NULL);
	++*(size_t *)arg;
	return DWARF_CB_OK;
}

static int count_thread(Dwfl_Thread *thread, void *arg)
{
	dwfl_thread_getframes(thread, count_frame, arg);
	return DWARF_CB_OK;
}

static double measure_libdwfl(const char *exe)
{
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_linux_proc_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
	};
	pid_t pid = start_target(exe);
	double best = 0, start;
	size_t n = 0;
	Dwfl *dwfl = dwfl_begin(&callbacks);

	if (!dwfl || dwfl_linux_proc_report(dwfl, pid) != 0 ||
	    dwfl_report_end(dwfl, NULL, NULL) != 0 ||
	    dwfl_linux_proc_attach(dwfl, pid, false) != 0)
		die("libdwfl", NULL);
	for (int i = 0; i < ROUNDS; i++) {
		n = 0;
		start = now_us();
		dwfl_getthreads(dwfl, count_thread, &n);
		start = now_us() - start;
		if (i == 1 || (i > 1 && start < best))
			best = start;
	}
	printf("%-28s %6zu frames %37s then %6.3f us/frame\n", "libdwfl, live process", n,
	       "", n ? best / (double)n : 0);
	dwfl_end(dwfl);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return n ? best / (double)n : 0;
}

int main(int argc, char **argv)
{
	char stripped[] = "/tmp/bench_frames_XXXXXX", command[256];
	double bare, full, libdwfl;
	int fd;

	if (argc > 1 && strcmp(argv[1], "--target") == 0)
		return run_target();
	fd = mkstemp(stripped);
	if (fd < 0)
		die("temporary file", NULL);
	close(fd);
	snprintf(command, sizeof(command), "strip -o %s /proc/%d/exe && chmod 700 %s",
		 stripped, (int)getpid(), stripped);
	if (system(command) != 0)
		die("strip", NULL);
	bare = measure(stripped, "frames only (stripped)");
	full = measure("/proc/self/exe", "frames and variables");
	libdwfl = measure_libdwfl(stripped);
	unlink(stripped);
	printf("frames only: %.2f of libdwfl's time; variables add %.1f times the walk\n",
	       bare / libdwfl, full / bare - 1);
	return 0;
}
