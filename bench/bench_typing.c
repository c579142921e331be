/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From a frozen image to the finished graph: roots, types, edges; typed (by the shipped
 * rules too) and conservative, beside one memcpy of the same bytes.
 *
 *	bench_typing [objects] [shuffle]	starts fixtures/bench_heap
 *	bench_typing --pid N
 *	bench_typing --core FILE [runs]		the same bytes each time
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "attach/core.h"
#include "attach/stop.h"
#include "base/alloc.h"
#include "base/parallel.h"
#include "decode/rules/rulebook.h"
#include "decode/run/typing_run.h"

enum { RUNS = 4, MAX_RUNS = 64 };

struct bench {
	struct hi_image *image;
	struct hi_modules *modules;
	struct hi_types *types;
	struct hi_allocator *allocator;
	struct hi_rulebook *rules;
	uint64_t heap_bytes, memcpy_ns;
	unsigned runs; /* the first does not count, if there are more */
};

struct figures {
	uint64_t walk_ns, total_ns;
	uint64_t cpu_ns; /* of all threads: on a busy machine the truer figure */
	struct hi_typing_stats stats;
	uint64_t objects, edges, precise, typed;
	uint32_t types, roots;
};

static struct hi_error err;

static void must(enum hi_status status, const char *what)
{
	if (status == HI_OK)
		return;
	fprintf(stderr, "bench_typing: %s: %s (%s)\n", what, err.text,
		hi_status_text(status));
	exit(1);
}

static uint64_t read_clock(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static uint64_t now_ns(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

/* ---- the heap ---- */

struct filling {
	struct hi_objects_builder *builder;
	unsigned *regions;
};

static bool add_blocks(const struct hi_block *blocks, size_t n, unsigned region,
		       void *arg)
{
	struct filling *f = arg;

	for (size_t i = 0; i < n; i++) {
		uint8_t flags = 0;

		if (blocks[i].state > HI_BLOCK_INTERNAL)
			continue;
		if (blocks[i].state == HI_BLOCK_INTERNAL)
			flags = HI_OBJECT_INTERNAL;
		must(hi_objects_builder_add(f->builder, f->regions[region],
					    blocks[i].addr, blocks[i].usable, flags,
					    &err),
		     "block");
	}
	return true;
}

static struct hi_objects *walk(struct bench *b)
{
	struct filling f = {};
	struct hi_objects *objects = NULL;

	must(hi_objects_builder_create(&f.builder, &err), "objects");
	hi_objects_builder_overhead(f.builder, 0, 8);
	f.regions = hi_calloc(b->allocator->n_regions + 1, sizeof(*f.regions));
	for (size_t i = 0; i < b->allocator->n_regions; i++)
		must(hi_objects_builder_region(f.builder, b->allocator->regions[i].start,
					       b->allocator->regions[i].end, 4,
					       &f.regions[i], &err),
		     "region");
	must(hi_allocator_walk(b->allocator, add_blocks, &f, &err), "walk");
	free(f.regions);
	must(hi_objects_seal(f.builder, &objects, &err), "seal");
	return objects;
}

static struct figures run(struct bench *b, bool conservative, unsigned threads)
{
	struct hi_typing_options options = {.conservative = conservative,
					    .threads = threads,
					    .rules = hi_rulebook_source(b->rules)};
	struct hi_typing *typing = NULL;
	struct hi_graph *graph = NULL;
	struct figures f = {};
	uint64_t start = now_ns(), cpu = read_clock(CLOCK_PROCESS_CPUTIME_ID);
	struct hi_objects *objects = walk(b);

	f.walk_ns = now_ns() - start;
	must(hi_typing_run(b->image, b->modules, b->types, b->allocator, objects,
			   &options, &typing, &graph, &err),
	     "typing");
	f.total_ns = now_ns() - start;
	f.cpu_ns = read_clock(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	f.stats = hi_typing_stats(typing);
	f.objects = graph->n_objects;
	f.edges = graph->n_edges;
	f.types = graph->n_types;
	f.roots = graph->n_roots;
	for (hi_node i = 0; i < graph->n_objects; i++) {
		struct hi_edges e = hi_graph_edges(graph, i);

		f.typed += graph->objects->type[i] != 0;
		for (uint32_t k = 0; k < e.count; k++)
			f.precise += hi_grade_is_precise(e.grade[k]);
	}
	hi_typing_destroy(typing);
	hi_graph_destroy(graph);
	return f;
}

static int by_total(const void *a, const void *b)
{
	const struct figures *x = a, *y = b;

	return (x->total_ns > y->total_ns) - (x->total_ns < y->total_ns);
}

static double ms(uint64_t ns)
{
	return (double)ns / 1e6;
}

static void show(struct bench *b, bool conservative, unsigned threads)
{
	struct figures all[MAX_RUNS], *m = &all[b->runs / 2];

	for (unsigned i = 0; i < b->runs; i++)
		all[i] = run(b, conservative, threads);
	if (b->runs > 1)
		qsort(all + 1, b->runs - 1, sizeof(all[0]), by_total);
	printf("%s, %u thread%s: walk %.0f roots %.0f types %.0f scan %.0f, total %.0f "
	       "ms (cpu %.0f) = %.2f x memcpy; scan %.2f GB/s\n",
	       conservative ? "conservative" : "typed", threads, threads > 1 ? "s" : "",
	       ms(m->walk_ns), ms(m->stats.roots_ns), ms(m->stats.propagate_ns),
	       ms(m->stats.scan_ns), ms(m->total_ns), ms(m->cpu_ns),
	       (double)m->total_ns / (double)b->memcpy_ns,
	       (double)b->heap_bytes / (double)m->stats.scan_ns);
	printf("  %llu objects, %llu typed by following %llu, %llu edges (%llu precise), "
	       "%u types, %u roots, %llu conflicts\n",
	       (unsigned long long)m->objects, (unsigned long long)m->typed,
	       (unsigned long long)m->stats.followed, (unsigned long long)m->edges,
	       (unsigned long long)m->precise, m->types, m->roots,
	       (unsigned long long)m->stats.conflicts);
}

/* ---- the target ---- */

static pid_t start_fixture(int argc, char **argv, const char *self, int *in_ret)
{
	int in[2], out[2];
	char path[512], c = 0, last[6] = {};
	pid_t pid;

	snprintf(path, sizeof(path), "%.*s/../fixtures/bench_heap",
		 (int)(strrchr(self, '/') ? strrchr(self, '/') - self : 1),
		 strrchr(self, '/') ? self : ".");
	if (pipe(in) || pipe(out) || (pid = fork()) < 0) {
		perror("bench_typing");
		exit(1);
	}
	if (pid == 0) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		close(in[1]);
		close(out[0]);
		execl(path, path, argc > 1 ? argv[1] : "1000000",
		      argc > 2 ? argv[2] : NULL, NULL);
		perror(path);
		_exit(127);
	}
	close(out[1]);
	while (memcmp(last, "ready", 5) != 0 && read(out[0], &c, 1) == 1) {
		memmove(last, last + 1, 4);
		last[4] = c;
	}
	*in_ret = in[1];
	return pid;
}

static void freeze(struct bench *b, pid_t pid)
{
	struct hi_target *target = NULL;
	struct hi_stop_options stop = {.max_pause_ns = 20000000000ull};

	must(hi_target_open(pid, &target, &err), "target");
	must(hi_stop_and_copy(target, &stop, &b->image, &err), "copy");
	hi_target_close(target);
}

static void open_decoders(struct bench *b)
{
	struct hi_modules_options options = {};

	must(hi_modules_open(b->image, &options, &b->modules, &err), "modules");
	must(hi_types_open(b->modules, &b->types, &err), "types");
	must(hi_allocator_probe(b->image, b->modules, &b->allocator, &err), "allocator");
	must(hi_rulebook_create(b->types, b->modules, &b->rules, &err), "rules");
	must(hi_rulebook_add_shipped(b->rules, NULL, &err), "rules");
}

/* One memcpy of the heap, into memory already touched. */
static void measure_memcpy(struct bench *b)
{
	for (size_t i = 0; i < b->allocator->n_regions; i++)
		b->heap_bytes +=
			b->allocator->regions[i].end - b->allocator->regions[i].start;
	for (size_t i = 0; i < b->allocator->n_regions; i++) {
		const struct hi_heap_region *r = &b->allocator->regions[i];
		size_t avail = 0;
		const void *host = hi_memory_view(b->image->memory, r->start, &avail);
		char *copy;
		uint64_t t;

		if (!host)
			continue;
		if (avail > r->end - r->start)
			avail = r->end - r->start;
		copy = hi_pages_alloc(avail);
		if (!copy)
			continue;
		memcpy(copy, host, avail);
		t = now_ns();
		memcpy(copy, host, avail);
		b->memcpy_ns += now_ns() - t;
		hi_pages_free(copy, avail);
	}
}

static void take_target(struct bench *b, int argc, char **argv)
{
	bool is_pid = argc > 2 && strcmp(argv[1], "--pid") == 0;
	int in = -1;
	pid_t pid;

	if (argc > 2 && strcmp(argv[1], "--core") == 0) {
		must(hi_core_open(argv[2], &(struct hi_core_options){}, &b->image, &err),
		     "core");
		return;
	}
	pid = is_pid ? (pid_t)atoi(argv[2]) : start_fixture(argc, argv, argv[0], &in);
	freeze(b, pid);
	if (in >= 0) {
		close(in);
		waitpid(pid, NULL, 0);
	}
}

int main(int argc, char **argv)
{
	struct bench b = {.runs = RUNS};
	struct rusage usage;

	if (argc > 3 && atoi(argv[3]) > 0 && atoi(argv[3]) < MAX_RUNS)
		b.runs = (unsigned)atoi(argv[3]);
	take_target(&b, argc, argv);
	open_decoders(&b);
	measure_memcpy(&b);
	printf("heap %.0f MB, memcpy %.0f ms\n", (double)b.heap_bytes / 1e6,
	       ms(b.memcpy_ns));
	for (unsigned threads = 1; threads <= hi_parallel_threads(); threads *= 2) {
		show(&b, true, threads);
		show(&b, false, threads);
	}
	getrusage(RUSAGE_SELF, &usage);
	printf("peak memory %ld MB\n", usage.ru_maxrss / 1024);
	hi_allocator_release(b.allocator);
	hi_rulebook_destroy(b.rules);
	hi_types_close(b.types);
	hi_modules_close(b.modules);
	hi_image_destroy(b.image);
	return 0;
}
