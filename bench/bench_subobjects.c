/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Subobjects: candidates by several threads, what they come to, the new table,
 * and lookups before and after.
 *
 *	bench_subobjects [objects in millions] [subobjects in millions]
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "attach/mock.h"
#include "base/alloc.h"
#include "base/parallel.h"
#include "decode/inference/subobjects.h"

enum { SMALL = 104, POOL = 1 << 20, ITEM = 256, ITEM_SPACE = 288, TASKS = 1024 };
enum { KEY_EVIDENCE_SHIFT = 29 }; /* decode/inference/typing_state.h */
static const uint64_t heap = 0x10000000000, outside = 0x20000000000;

struct bench {
	const char *name;
	uint64_t n_small, n_pools, n_outside;
	uint64_t per_pool;
	struct hi_image *image;
	struct hi_objects *objects;
	struct hi_layouts *layouts;
	struct hi_subobjects *subobjects;
	uint64_t pools; /* address of the first pool */
	uint32_t layout;
};

static struct hi_error err;

static void must(enum hi_status status, const char *what)
{
	if (status == HI_OK)
		return;
	fprintf(stderr, "bench_subobjects: %s: %s (%s)\n", what, err.text,
		hi_status_text(status));
	exit(1);
}

static double now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

static long resident_mib(void)
{
	long pages = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	if (f && fscanf(f, "%*d %ld", &pages) != 1)
		pages = 0;
	if (f)
		fclose(f);
	return pages / 256;
}

static const struct hi_type *type_of(void *arg, hi_type_id id)
{
	static const struct hi_type types[] = {{.name = "", .file = ""},
					       {.id = 1,
						.kind = HI_KIND_STRUCT,
						.name = "struct item",
						.size = ITEM,
						.file = "",
						.module = ""}};

	(void)arg;
	return &types[id == 1];
}

static void make_objects(struct bench *b)
{
	uint64_t size = b->n_small * (SMALL + 8) + b->n_pools * (POOL + 16) + 4096;
	struct hi_objects_builder *builder;
	uint64_t addr = heap + 16;
	unsigned region;

	must(hi_objects_builder_create(&builder, &err), "table");
	hi_objects_builder_overhead(builder, 0, 8);
	must(hi_objects_builder_region(builder, heap, heap + size, 4, &region, &err),
	     "region");
	for (uint64_t i = 0; i < b->n_small; i++, addr += SMALL + 8)
		must(hi_objects_builder_add(builder, region, addr, SMALL, 0, &err),
		     "block");
	b->pools = addr;
	for (uint64_t i = 0; i < b->n_pools; i++, addr += POOL + 16)
		must(hi_objects_builder_add(builder, region, addr, POOL + 8, 0, &err),
		     "pool");
	must(hi_objects_seal(builder, &b->objects, &err), "table");
}

static void make_image(struct bench *b)
{
	struct hi_mapping m = {.start = outside,
			       .end = outside + (b->n_outside + 1) * ITEM_SPACE,
			       .prot = HI_PROT_READ | HI_PROT_WRITE,
			       .path = ""};
	struct hi_memory *memory;

	must(hi_memory_create_mock(&memory, &err), "memory");
	must(hi_image_create_mock(memory, &b->image, &err), "image");
	must(hi_image_add_mapping(b->image, &m, &err), "mapping");
}

static uint64_t subobject_address(const struct bench *b, uint64_t i)
{
	if (i >= b->n_pools * b->per_pool)
		return outside + (i - b->n_pools * b->per_pool) * ITEM_SPACE;
	return b->pools + i / b->per_pool * (POOL + 16) + 64 +
	       i % b->per_pool * ITEM_SPACE;
}

/* Each task every 1024th of them, so that addresses come in no order. */
static void candidate(void *arg, size_t task, unsigned worker)
{
	struct bench *b = arg;
	uint64_t n = b->n_pools * b->per_pool + b->n_outside;

	(void)worker;
	for (uint64_t i = task; i < n; i += TASKS)
		(void)hi_subobjects_add(b->subobjects, subobject_address(b, i), ITEM,
					b->layout | (uint32_t)HI_EVIDENCE_POINTER
							    << KEY_EVIDENCE_SHIFT);
}

static uint64_t extent(void *arg, hi_node id)
{
	(void)arg;
	(void)id;
	return 0;
}

/* Nanoseconds a word that points to a random object. */
static double lookup(const struct hi_objects *o)
{
	enum { WORDS = 512, ROUNDS = 4096 };
	static struct hi_hit hits[WORDS];
	uint64_t words[WORDS], state = 88172645463325252u, found = 0;
	double spent = 0, start;

	if (!o->count)
		return 0;
	for (unsigned r = 0; r < ROUNDS; r++) {
		for (unsigned i = 0; i < WORDS; i++) {
			state ^= state << 13;
			state ^= state >> 7;
			state ^= state << 17;
			words[i] = hi_objects_address(o, (hi_node)(state % o->count));
		}
		start = now_ms();
		found += hi_objects_find_many(o, words, WORDS, hits);
		spent += now_ms() - start;
	}
	if (found != (uint64_t)WORDS * ROUNDS)
		fprintf(stderr, "bench_subobjects: lookups miss\n");
	return spent * 1e6 / (WORDS * (double)ROUNDS);
}

static struct hi_subobject *list_of(const struct bench *b, uint64_t n)
{
	struct hi_subobject *list = hi_calloc(n, sizeof(*list));

	if (!list)
		must(hi_fail_memory(&err, "list"), "list");
	for (uint64_t i = 0; i < n; i++)
		list[i] = (struct hi_subobject){
			.addr = subobject_address(b, i), .size = ITEM, .type = b->layout};
	return list;
}

static void run(struct bench *b)
{
	uint64_t n = b->n_pools * b->per_pool + b->n_outside;
	double t0, candidates, finish, table, before, after;
	struct hi_subobject_stats stats;
	struct hi_subobject *list;
	struct hi_objects *o;
	struct hi_pools pools;
	long size;

	make_objects(b);
	make_image(b);
	must(hi_layouts_create((struct hi_type_source){.type = type_of}, &b->layouts,
			       &err),
	     "plans");
	b->layout = hi_layouts_of(b->layouts, 1);
	before = lookup(b->objects);
	list = list_of(b, n);
	size = resident_mib();
	t0 = now_ms();
	must(hi_objects_split(b->objects, list, n, &o, &pools, &err), "split");
	table = now_ms() - t0;
	size = resident_mib() - size;
	after = lookup(o);
	free(list);
	hi_objects_destroy(o);
	hi_pools_free(&pools);
	must(hi_subobjects_create(b->image, NULL, NULL, b->objects, &b->subobjects, &err),
	     "candidates");
	t0 = now_ms();
	hi_parallel(hi_parallel_threads(), TASKS, candidate, b);
	candidates = now_ms() - t0;
	t0 = now_ms();
	must(hi_subobjects_split(b->subobjects, b->layouts, b->objects,
				 &(struct hi_subobject_places){.extent = extent}, &o,
				 &pools, &stats, &err),
	     "split");
	finish = now_ms() - t0;
	printf("%-22s %9u %9llu %9u %8.0f %8.0f %8.0f %8ld %7.1f %7.1f\n", b->name,
	       b->objects->count, (unsigned long long)stats.count, o->count, candidates,
	       finish, table, size, before, after);
	hi_objects_destroy(o);
	hi_pools_free(&pools);
	hi_subobjects_destroy(b->subobjects);
	hi_layouts_destroy(b->layouts);
	hi_objects_destroy(b->objects);
	hi_image_destroy(b->image);
}

int main(int argc, char **argv)
{
	uint64_t objects = (argc > 1 ? strtoull(argv[1], NULL, 0) : 10) * 1000000;
	uint64_t subobjects = (argc > 2 ? strtoull(argv[2], NULL, 0) : 1) * 1000000;
	struct bench runs[] = {
		{.name = "one object", .n_small = objects, .n_pools = 1, .per_pool = 1},
		{.name = "pools of 1 MiB",
		 .n_small = objects,
		 .n_pools = subobjects / 3600,
		 .per_pool = 3600},
		{.name = "outside", .n_small = objects, .n_outside = subobjects},
		{.name = "outside, no blocks", .n_outside = subobjects * 10},
	};

	printf("%-22s %9s %9s %9s %8s %8s %8s %8s %7s %7s\n", "", "objects", "subobj",
	       "nodes", "candidates", "finish", "table", "table", "lookup", "after");
	printf("%-22s %9s %9s %9s %8s %8s %8s %8s %7s %7s\n", "", "", "", "", "ms", "ms",
	       "ms", "MiB", "ns", "ns");
	for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++)
		run(&runs[i]);
	return 0;
}
