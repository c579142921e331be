/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SQL over a snapshot file: how long the program takes for queries over all objects,
 * beside `census` of the same file, which opens and checks the same sections. The heap
 * is lists of two kinds of nodes, each with a payload of one of 50 types.
 *
 *	bench_query [million objects]
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "bench/support.h"
#include "census/snapshot/snapshot_file.h"

enum { ROUNDS = 4, TYPES = 52, LIST = 4000 };

static void check(enum hi_status status, const struct hi_error *err)
{
	if (status == HI_OK)
		return;
	fprintf(stderr, "bench_query: %s\n", err->text);
	exit(1);
}

static uint32_t type_of(uint32_t i)
{
	return i % 2 ? 2 + i * 2654435761u % (TYPES - 2) : 1;
}

static struct hi_objects *make_objects(uint32_t n)
{
	struct hi_objects_builder *b;
	struct hi_objects *o;
	struct hi_error err;
	uint64_t addr = 0x555555560010, end = addr + (uint64_t)n * 128 + 4096;
	unsigned region;

	check(hi_objects_builder_create(&b, &err), &err);
	check(hi_objects_builder_region(b, addr & ~15ull, end, 4, &region, &err), &err);
	hi_objects_builder_overhead(b, 0, 8);
	for (uint32_t i = 0; i < n; i++) {
		uint64_t usable = 24 + 16 * (i % 5);

		check(hi_objects_builder_add(b, region, addr, usable, HI_EVIDENCE_POINTER,
					     &err),
		      &err);
		addr += usable + 8;
	}
	check(hi_objects_seal(b, &o, &err), &err);
	for (uint32_t i = 0; i < n; i++)
		o->type[i] = type_of(i);
	return o;
}

/* A node refers to its payload, which is behind it, and to the next node. */
static void make_chunk(struct hi_graph_builder *b, uint32_t index, uint32_t n)
{
	uint32_t first = index << HI_CHUNK_SHIFT, end = first + HI_CHUNK_NODES, k = 0;
	struct hi_edge_chunk chunk;
	struct hi_error err;

	end = end < n ? end : n;
	chunk.row = hi_alloc((end - first + 1) * 4ul);
	chunk.to = hi_alloc((end - first + 1) * 8ul);
	chunk.grade = hi_calloc(2, end - first + 1);
	if (!chunk.row || !chunk.to || !chunk.grade)
		exit(1);
	for (uint32_t i = first; i < end; i++) {
		chunk.row[i - first] = k;
		if (i % 2 == 0 && i + 1 < n)
			chunk.to[k++] = i + 1;
		if (i % 2 == 0 && i + 2 < n && (i + 2) % LIST)
			chunk.to[k++] = i + 2;
	}
	chunk.row[end - first] = k;
	check(hi_graph_builder_chunk(b, index, chunk, &err), &err);
}

static struct hi_graph *make_graph(uint32_t n)
{
	struct hi_graph_builder *b;
	struct hi_graph *g;
	struct hi_error err;
	char name[64];
	uint32_t id;

	check(hi_graph_builder_create(make_objects(n), &b, &err), &err);
	for (uint32_t type = 1; type < TYPES; type++) {
		snprintf(name, sizeof(name), "struct payload_of_kind_%u", type);
		check(hi_graph_builder_type(
			      b,
			      &(struct hi_type_name){
				      .name = name, .size = 24, .klass = HI_TYPE_RECORD},
			      &id, &err),
		      &err);
	}
	for (uint32_t i = 0; i < n; i += LIST) {
		check(hi_graph_builder_root(
			      b,
			      &(struct hi_root){.name = "head", .variable = UINT32_MAX},
			      &id, &err),
		      &err);
		check(hi_graph_builder_root_edge(b, id, i, HI_GRADE_EXACT, &err), &err);
	}
	for (uint32_t k = 0; k < (n + HI_CHUNK_NODES - 1) >> HI_CHUNK_SHIFT; k++)
		make_chunk(b, k, n);
	check(hi_graph_seal(b, &g, &err), &err);
	return g;
}

static void write_file(const char *path, uint32_t n)
{
	struct hi_graph *g = make_graph(n);
	struct hi_snapshot_options options = {};
	struct hi_snapshot_writer *w;
	struct hi_snapshot_graph in = {.graph = g};
	struct hi_reach *reach;
	struct hi_dominators *dominators;
	struct hi_census *census;
	struct hi_error err;
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	check(hi_reach_compute(g, 2, &reach, &err), &err);
	check(hi_dominators_compute(g, reach, &dominators, &err), &err);
	check(hi_census_by_type(g, reach, dominators, &census, &err), &err);
	in.reach = reach;
	in.dominators = dominators;
	check(hi_snapshot_create(fd, &options, &w, &err), &err);
	check(hi_snapshot_put_census(w, census, &err), &err);
	check(hi_snapshot_put_graph(w, &in, &err), &err);
	check(hi_snapshot_finish(w, &err), &err);
	hi_snapshot_writer_destroy(w);
	hi_census_destroy(census);
	hi_dominators_destroy(dominators);
	hi_reach_destroy(reach);
	hi_graph_destroy(g);
	close(fd);
}

struct cost {
	uint64_t wall, cpu;
};

static struct cost run(const char *command, const char *path, const char *sql)
{
	uint64_t start = bench_now_ns();
	struct rusage use = {};
	int status = 0;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		if (!freopen("/dev/null", "w", stdout))
			_exit(1);
		execl(HI_BINARY_DIR "/heapinspect", "heapinspect", command, path, sql,
		      NULL);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &use) != pid || status != 0) {
		fprintf(stderr, "bench_query: %s %s failed\n", command, sql ? sql : "");
		exit(1);
	}
	return (struct cost){
		.wall = bench_now_ns() - start,
		.cpu = (uint64_t)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) *
			       1000000000 +
		       (uint64_t)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) * 1000};
}

static void measure(const char *command, const char *path, const char *sql)
{
	uint64_t wall[ROUNDS], cpu[ROUNDS];

	for (int i = 0; i < ROUNDS; i++) {
		struct cost cost = run(command, path, sql);

		wall[i] = cost.wall;
		cpu[i] = cost.cpu;
	}
	printf("  %6.2f %6.2f  %s\n", (double)bench_median(wall, ROUNDS) / 1e9,
	       (double)bench_median(cpu, ROUNDS) / 1e9, sql ? sql : command);
}

int main(int argc, char **argv)
{
	static const char *const queries[] = {
		"SELECT 1",
		"SELECT type, count(*), sum(shallow) FROM objects GROUP BY type",
		"SELECT count(*) FROM objects WHERE type = 'struct payload_of_kind_7'",
		"SELECT sum(retained) FROM objects WHERE idom IS NULL",
		"SELECT id, retained FROM objects ORDER BY retained DESC LIMIT 20",
		"SELECT count(*) FROM edges",
		"SELECT source FROM edges WHERE target = 4711",
		"SELECT evidence, sum(shallow) FROM objects GROUP BY evidence",
	};
	uint32_t n = (uint32_t)((argc > 1 ? atof(argv[1]) : 10) * 1e6);
	char path[] = "/tmp/heapinspect-bench-XXXXXX.hisnap";
	int fd = mkstemps(path, 7);

	if (fd < 0)
		return 1;
	close(fd);
	write_file(path, n);
	printf("%u objects; median of %d, seconds: of the clock, of processors\n", n,
	       ROUNDS - 1);
	measure("leaks", path, NULL);
	for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++)
		measure("query", path, queries[i]);
	unlink(path);
	return 0;
}
