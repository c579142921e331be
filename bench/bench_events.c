/* SPDX-License-Identifier: BSD-2-Clause */
/*
 *	bench_events            the benchmark
 *	bench_events target     only its target: for scripts/bench-record
 *
 * What it costs the target that its allocations are followed: nanoseconds of a malloc and
 * free without probes, with bare probes whose program does nothing, with samples, with
 * events that have the caller, and with whole stacks of about 6 and about 24 frames; and
 * what an event costs the reader. Medians of ROUNDS, in turns, the first dropped, as the
 * target measures them itself. At most half of the processors may be busy, or the reader
 * takes them from the target.
 */
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench/support.h"
#include "probes/events/event_source.h"
#include "probes/events/unwind_builder.h"
#include "probes/events/unwind_find.h"

/* Of the calls of make_pairs(), above those that every program begins with. */
enum { ROUNDS = 16, PAIRS = 50000, SHALLOW = 0, DEEP = 18 };

/* ---- the target ---- */

/* What the target is asked to do. */
struct round {
	uint32_t depth, pairs;
};

__attribute__((noinline)) static void make_pairs(uint32_t depth, size_t pairs)
{
	if (depth > 0) {
		make_pairs(depth - 1, pairs);
		__asm__ volatile(""); /* no tail call */
		return;
	}
	for (size_t i = 0; i < pairs; i++) {
		void *volatile p = malloc(16 + (i & 255));

		free(p);
	}
}

/* Answers each round with the nanoseconds of all pairs. */
_Noreturn static void be_target(int in, int out)
{
	struct round round;

	while (read(in, &round, sizeof(round)) == sizeof(round)) {
		uint64_t ns = bench_now_ns();

		make_pairs(round.depth, round.pairs);
		ns = bench_now_ns() - ns;
		if (write(out, &ns, sizeof(ns)) != sizeof(ns))
			break;
	}
	_exit(0);
}

struct child {
	pid_t pid;
	int ask, answer;
	struct hi_target *target;
	struct hi_event_functions functions;
	struct hi_unwind_tables tables, no_tables;
};

static _Noreturn void give_up(const struct hi_error *err)
{
	fprintf(stderr, "bench_events: %s\n", err->text);
	exit(1);
}

static void find_tables(struct child *child)
{
	struct hi_unwind_builder nothing = {};
	struct hi_error err;
	uint64_t ns = bench_now_ns();

	if (hi_unwind_tables_find(child->target, &child->tables, &err) != HI_OK ||
	    hi_unwind_builder_finish(&nothing, &child->no_tables, &err) != HI_OK)
		give_up(&err);
	hi_unwind_builder_free(&nothing);
	printf("tables of stacks: %zu KB in %.1f ms\n", child->tables.n_words * 8 / 1000,
	       (double)(bench_now_ns() - ns) / 1e6);
}

static struct child start_target(void)
{
	struct child child = {};
	struct hi_error err;
	int ask[2], answer[2];

	if (pipe(ask) || pipe(answer))
		exit(1);
	child.pid = fork();
	if (child.pid == 0) {
		close(ask[1]);
		close(answer[0]);
		be_target(ask[0], answer[1]);
	}
	close(ask[0]);
	close(answer[1]);
	child.ask = ask[1];
	child.answer = answer[0];
	if (hi_target_open(child.pid, &child.target, &err) != HI_OK ||
	    hi_event_functions_find(child.target, &child.functions, &err) != HI_OK)
		give_up(&err);
	find_tables(&child);
	return child;
}

/* ---- the reader ---- */

struct reading {
	uint64_t events;
	unsigned frames; /* of the last stack */
};

static void count_event(void *arg, const struct hi_event *event)
{
	struct reading *reading = arg;

	(void)event;
	reading->events++;
}

static void count_stack(void *arg, const struct hi_event_stack *stack)
{
	struct reading *reading = arg;

	reading->frames = stack->n;
}

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Reads events until the target has answered. */
static uint64_t run_round(const struct child *child, uint32_t depth,
			  struct hi_event_source *source, struct reading *reading)
{
	struct hi_event_sink sink = {
		.event = count_event, .stack = count_stack, .arg = reading};
	struct pollfd answer = {.fd = child->answer, .events = POLLIN};
	const struct round round = {depth, PAIRS};
	struct hi_error err;
	uint64_t ns;

	if (write(child->ask, &round, sizeof(round)) != sizeof(round))
		exit(1);
	while (source && poll(&answer, 1, 0) == 0)
		if (hi_event_source_poll(source, 10, &sink, &err) != HI_OK)
			give_up(&err);
	if (read(child->answer, &ns, sizeof(ns)) != sizeof(ns))
		exit(1);
	if (source && hi_event_source_drain(source, &sink, &err) != HI_OK)
		give_up(&err);
	return ns;
}

static double run_bare(const struct child *child)
{
	uint64_t ns[ROUNDS];

	for (unsigned i = 0; i < ROUNDS; i++)
		ns[i] = run_round(child, SHALLOW, NULL, NULL);
	return (double)bench_median(ns, ROUNDS) / PAIRS;
}

typedef enum hi_status open_fn(const struct hi_target *target,
			       const struct hi_event_functions *functions,
			       const struct hi_event_source_options *options,
			       struct hi_event_source **ret, struct hi_error *err);

struct mode {
	const char *what;
	uint32_t depth;
	bool has_events, has_stacks;
	uint64_t sample_bytes; /* 0: all */
	struct reading reading;
	uint64_t ns[ROUNDS], cpu;
};

static void run_mode(const struct child *child, struct hi_event_source *source,
		     struct mode *mode, unsigned round)
{
	struct hi_error err;

	hi_event_source_stop(source);
	if (hi_event_source_set_unwind(
		    source, mode->has_stacks ? &child->tables : &child->no_tables,
		    &err) != HI_OK)
		give_up(&err);
	hi_event_source_set_sampling(source, mode->sample_bytes);
	if (mode->has_events && hi_event_source_start(source, &err) != HI_OK)
		give_up(&err);
	mode->cpu -= cpu_ns();
	mode->ns[round] = run_round(child, mode->depth, mode->has_events ? source : NULL,
				    &mode->reading);
	mode->cpu += cpu_ns();
}

static void print_mode(const char *source, struct mode *mode, double bare)
{
	double ns = (double)bench_median(mode->ns, ROUNDS) / PAIRS;

	printf("%-14s %-14s %6u %8.0f %8.0f", source, mode->what, mode->reading.frames,
	       ns, ns - bare);
	if (mode->has_events)
		printf(" %8.0f", (double)mode->cpu / (double)mode->reading.events);
	printf("\n");
}

/* Rounds of all modes alternate: others use the machine as well. */
static void bench_source(const char *what, const struct child *child, open_fn *open)
{
	const struct hi_event_source_options options = {};
	struct mode modes[] = {
		{.what = "bare", .depth = SHALLOW},
		{.what = "sampled",
		 .depth = SHALLOW,
		 .has_events = true,
		 .has_stacks = true,
		 .sample_bytes = 512 << 10},
		{.what = "sampled 4 KiB",
		 .depth = SHALLOW,
		 .has_events = true,
		 .has_stacks = true,
		 .sample_bytes = 4 << 10},
		{.what = "callers", .depth = SHALLOW, .has_events = true},
		{.what = "stacks",
		 .depth = SHALLOW,
		 .has_events = true,
		 .has_stacks = true},
		{.what = "deep stacks",
		 .depth = DEEP,
		 .has_events = true,
		 .has_stacks = true},
	};
	enum { MODES = sizeof(modes) / sizeof(modes[0]) };
	struct hi_event_source *source;
	struct hi_event_stats stats;
	struct hi_error err;

	if (open(child->target, &child->functions, &options, &source, &err) != HI_OK)
		give_up(&err);
	for (unsigned i = 0; i < ROUNDS; i++)
		for (size_t j = 0; j < MODES; j++)
			run_mode(child, source, &modes[j], i);
	hi_event_source_stats(source, &stats);
	hi_event_source_close(source);
	for (size_t j = 0; j < MODES; j++)
		print_mode(what, &modes[j],
			   (double)bench_median(modes[0].ns, ROUNDS) / PAIRS);
	printf("%-14s lost %llu\n", what, (unsigned long long)stats.lost);
}

int main(int argc, char **argv)
{
	struct child child;

	if (argc > 1 && strcmp(argv[1], "target") == 0)
		be_target(STDIN_FILENO, STDOUT_FILENO);

	if (geteuid() != 0) {
		printf("probes need root: nothing measured\n");
		return 0;
	}
	child = start_target();
	printf("malloc and free without probes: %.0f ns\n", run_bare(&child));
	printf("%-14s %-14s %6s %8s %8s %8s\n", "ns a pair", "", "frames", "all",
	       "+ bare", "reader");
	bench_source("uprobe_multi", &child, hi_event_source_open);
	bench_source("perf events", &child, hi_event_source_open_by_perf);
	kill(child.pid, SIGKILL);
	waitpid(child.pid, NULL, 0);
	return 0;
}
