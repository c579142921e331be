/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The main job end to end on a live process: from resume to
 * report, to the finished edge rows, and the memory beside the image; each
 * beside one memcpy of as many bytes as the image has.
 *
 *	bench_inspect [bench_heap|bench_shop|bench_variety] [objects] [shuffle]
 */
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "bench/support.h"
#include "cli/command/command.h"
#include "session/inspect/inspect.h"

enum { RUNS = 6, MAX_PHASES = 24 };

struct figures {
	const char *names[MAX_PHASES];
	uint64_t ns[MAX_PHASES][RUNS];
	size_t n_phases;
	uint64_t edges[RUNS], report[RUNS], pause[RUNS]; /* from the resume, ns */
	uint64_t objects, n_edges, image_bytes;
};

static uint64_t after_resume(const char *phase)
{
	return strcmp(phase, "opening the target") != 0 &&
	       strcmp(phase, "stopping and copying") != 0;
}

static void run_once(pid_t pid, bool conservative, int run, struct figures *f)
{
	struct hi_options options = {.target.pid = pid,
				     .output.quiet = true,
				     .decoding.conservative = conservative,
				     .safepoint.max_pause_ns = 20000000000u};
	unsigned wanted = HI_WANT_DOMINATORS | HI_WANT_LEAKS | HI_WANT_CENSUS |
			  HI_WANT_SUSPECTS | HI_WANT_LEDGER;
	struct hi_inspection *in = NULL;
	struct hi_error err = {};
	bool linked = false;

	if (hi_inspect_open(&options, NULL, wanted, &in, &err) != HI_OK) {
		fprintf(stderr, "%s\n", err.text);
		exit(2);
	}
	hi_inspect_phase(in, NULL);
	f->edges[run] = f->report[run] = 0;
	f->n_phases =
		in->phases.list.count < MAX_PHASES ? in->phases.list.count : MAX_PHASES;
	for (size_t i = 0; i < f->n_phases; i++) {
		const struct hi_phase *p = &in->phases.list.items[i];

		f->names[i] = p->name;
		f->ns[i][run] = p->ns;
		if (!after_resume(p->name))
			continue;
		f->report[run] += p->ns;
		f->edges[run] += linked ? 0 : p->ns;
		linked |= strcmp(p->name, "typing and linking") == 0;
	}
	f->pause[run] = in->image->stats.pause_ns;
	f->objects = in->graph->n_objects;
	f->n_edges = in->graph->n_edges;
	f->image_bytes = in->image->stats.bytes_copied;
	hi_inspect_close(in);
}

static void print_line(const char *name, uint64_t ns, uint64_t memcpy_ns,
		       uint64_t objects)
{
	printf("  %-24s %9.1f ms %8.1f x memcpy %7.1f ns/object\n", name,
	       (double)ns / 1e6, (double)ns / (double)memcpy_ns,
	       (double)ns / (double)objects);
}

static void bench(pid_t pid, bool conservative)
{
	static struct figures f;
	uint64_t copy, peak;

	for (int run = 0; run < RUNS; run++)
		run_once(pid, conservative, run, &f);
	peak = bench_peak_rss();
	copy = bench_memcpy_ns(f.image_bytes);
	printf("%s: %llu objects, %llu edges, image %.1f MiB, memcpy of it %.1f ms\n",
	       conservative ? "conservative" : "typed", (unsigned long long)f.objects,
	       (unsigned long long)f.n_edges, (double)f.image_bytes / 1048576,
	       (double)copy / 1e6);
	for (size_t i = 0; i < f.n_phases; i++)
		print_line(f.names[i], bench_median(f.ns[i], RUNS), copy, f.objects);
	print_line("= resume to edge rows", bench_median(f.edges, RUNS), copy, f.objects);
	print_line("= resume to report", bench_median(f.report, RUNS), copy, f.objects);
	print_line("pause", bench_median(f.pause, RUNS), copy, f.objects);
	printf("  peak beside the image    %.1f bytes/object\n",
	       ((double)peak - (double)f.image_bytes) / (double)f.objects);
}

int main(int argc, char **argv)
{
	bool is_named = argc > 1 && strncmp(argv[1], "bench_", 6) == 0;
	const char *fixture = is_named ? argv[1] : "bench_heap";
	char **rest = argv + 1 + is_named; /* ends with NULL */
	struct bench_target target = bench_target_start(
		fixture, rest[0] ? rest[0] : "10000000", rest[0] ? rest[1] : NULL);

	printf("%s, %u threads\n", fixture, hi_parallel_threads());
	/* The peak is of the whole life: the leaner reading goes first. */
	bench(target.pid, true);
	bench(target.pid, false);
	bench_target_end(&target);
	return 0;
}
