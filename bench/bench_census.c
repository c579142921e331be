/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The object graph at 1 and 10 million objects: doubly linked lists with a
 * payload a node, binary trees with parent pointers, and hash tables with keys
 * and values, in address order and scattered over the heap. Beside each time
 * stands its ratio to one memcpy of an image as large as such a heap.
 *
 *	bench_census [million objects]...
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "census/analysis/analysis.h"

enum { ROUNDS = 4 }; /* the first is dropped */
enum { TYPE_NODE = 1, TYPE_PAYLOAD, TYPE_TREE, TYPE_TABLE, TYPE_ENTRY, TYPE_KEY, TYPES };

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void check(enum hi_status status, const struct hi_error *err)
{
	if (status == HI_OK)
		return;
	fprintf(stderr, "bench_census: %s\n", err->text);
	exit(1);
}

static void *need(void *memory)
{
	if (memory)
		return memory;
	fprintf(stderr, "bench_census: out of memory\n");
	exit(1);
}

static uint64_t random_state = 0x9e3779b97f4a7c15;
static uint64_t random64(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state * 0x2545f4914f6cdd1d;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Of all rounds but the first. */
static double median(double *times)
{
	qsort(times + 1, ROUNDS - 1, sizeof(*times), compare_doubles);
	return times[1 + (ROUNDS - 1) / 2];
}

/* "VmRSS:" or "VmHWM:" of /proc/self/status, in bytes. */
static double memory_now(const char *key)
{
	FILE *f = fopen("/proc/self/status", "re");
	char line[256];
	double kib = 0;

	while (f && fgets(line, sizeof(line), f))
		if (strncmp(line, key, strlen(key)) == 0)
			kib = strtod(line + strlen(key), NULL);
	if (f)
		fclose(f);
	return kib * 1024;
}

static void reset_peak(void)
{
	int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);

	if (fd >= 0) {
		if (write(fd, "5", 1) != 1)
			perror("clear_refs");
		close(fd);
	}
}

/* ---- the heap to be, in the order in which a program would have built it ---- */

enum { LIST = 4000, TREE = 65535, ENTRIES = 20000, TABLE = 1 + 3 * ENTRIES };

struct heap {
	uint32_t n, lists_end, trees_end;
	uint32_t *place, *built; /* built order -> id, and back */
	uint64_t *address;	 /* by id */
	uint32_t *size;		 /* by id: usable */
};

static uint32_t type_of(const struct heap *h, uint32_t i)
{
	if (i < h->lists_end)
		return i % 2 ? TYPE_PAYLOAD : TYPE_NODE;
	if (i < h->trees_end)
		return TYPE_TREE;
	i = (i - h->trees_end) % TABLE;
	if (i == 0)
		return TYPE_TABLE;
	return i % 3 == 1 ? TYPE_ENTRY : TYPE_KEY;
}

static uint32_t usable_of(const struct heap *h, uint32_t i)
{
	switch (type_of(h, i)) {
	case TYPE_NODE:
		return 24;
	case TYPE_TREE:
		return 40;
	case TYPE_TABLE:
		return ENTRIES * 8;
	case TYPE_ENTRY:
		return 40;
	default:
		return 24 + 16 * (i * 2654435761u >> 29);
	}
}

typedef void edge_fn(void *arg, uint32_t to);

static void list_edges(const struct heap *h, uint32_t i, edge_fn *fn, void *arg)
{
	uint32_t at = i % (2 * LIST);

	if (i % 2)
		return;
	if (at + 2 < 2 * LIST && i + 2 < h->lists_end)
		fn(arg, i + 2);
	if (at)
		fn(arg, i - 2);
	fn(arg, i + 1);
}

static void tree_edges(const struct heap *h, uint32_t i, edge_fn *fn, void *arg)
{
	uint32_t at = (i - h->lists_end) % TREE, base = i - at;

	for (uint32_t child = 2 * at + 1; child <= 2 * at + 2; child++)
		if (child < TREE && base + child < h->trees_end)
			fn(arg, base + child);
	if (at)
		fn(arg, base + (at - 1) / 2);
}

/* Two entries of three hang in the array, the third behind its neighbour. */
static void table_edges(const struct heap *h, uint32_t i, edge_fn *fn, void *arg)
{
	uint32_t at = (i - h->trees_end) % TABLE, base = i - at, entry = (at - 1) / 3;

	if (at == 0) {
		for (uint32_t e = 0; e < ENTRIES; e++)
			if (e % 3 != 2 && base + 1 + 3 * e < h->n)
				fn(arg, base + 1 + 3 * e);
		return;
	}
	if (at % 3 == 1) {
		if (entry % 3 == 1 && at + 3 < TABLE && i + 3 < h->n)
			fn(arg, i + 3);
		for (uint32_t k = 1; k <= 2 && i + k < h->n; k++)
			fn(arg, i + k);
	} else if (at % 3 == 2 && i % 2) { /* half of the keys share something */
		fn(arg, base + 3 * (uint32_t)(i * 0x9e3779b97f4a7c15ull >> 32) % at);
	}
}

static void edges_of(const struct heap *h, uint32_t i, edge_fn *fn, void *arg)
{
	if (i < h->lists_end)
		list_edges(h, i, fn, arg);
	else if (i < h->trees_end)
		tree_edges(h, i, fn, arg);
	else
		table_edges(h, i, fn, arg);
}

/* One in fifty structures is leaked. */
static bool is_head(const struct heap *h, uint32_t i, bool *leaked)
{
	uint32_t size = 2 * LIST, at = i;

	if (i >= h->lists_end) {
		at = i - (i < h->trees_end ? h->lists_end : h->trees_end);
		size = i < h->trees_end ? TREE : TABLE;
	}
	*leaked = at / size % 50 == 49;
	return at % size == 0;
}

static void heap_init(struct heap *h, uint32_t n, bool scattered)
{
	uint64_t addr = 0x555555560010;

	h->n = n;
	h->lists_end = n / 3 & ~1u;
	h->trees_end = h->lists_end + n / 3;
	h->place = need(malloc(n * 4ul));
	h->built = need(malloc(n * 4ul));
	h->address = need(malloc(n * 8ul));
	h->size = need(malloc(n * 4ul));
	for (uint32_t i = 0; i < n; i++)
		h->built[i] = i;
	for (uint32_t i = n - 1; scattered && i > 0; i--) {
		uint32_t k = (uint32_t)(random64() % (i + 1)), swap = h->built[i];

		h->built[i] = h->built[k];
		h->built[k] = swap;
	}
	for (uint32_t id = 0; id < n; id++) {
		h->place[h->built[id]] = id;
		h->size[id] = usable_of(h, h->built[id]);
		h->address[id] = addr;
		addr += (h->size[id] + 8 + 15) & ~15ul;
	}
}

static void heap_free(struct heap *h)
{
	free(h->place);
	free(h->built);
	free(h->address);
	free(h->size);
}

/* ---- into the graph ---- */

static struct hi_objects *make_objects(const struct heap *h)
{
	struct hi_objects_builder *b;
	struct hi_objects *o;
	struct hi_error err;
	unsigned region;
	double start = now(), added;
	uint64_t end = h->address[h->n - 1] + h->size[h->n - 1] + 16;

	check(hi_objects_builder_create(&b, &err), &err);
	check(hi_objects_builder_region(b, h->address[0] - 16, end, 4, &region, &err),
	      &err);
	hi_objects_builder_overhead(b, 0, 8);
	for (uint32_t id = 0; id < h->n; id++)
		check(hi_objects_builder_add(b, region, h->address[id], h->size[id],
					     HI_EVIDENCE_POINTER, &err),
		      &err);
	added = now();
	check(hi_objects_seal(b, &o, &err), &err);
	printf("  add %.1f ns, seal %.1f ns an object\n", (added - start) * 1e9 / h->n,
	       (now() - added) * 1e9 / h->n);
	for (uint32_t id = 0; id < h->n; id++)
		o->type[id] = type_of(h, h->built[id]);
	return o;
}

struct row_writer {
	const struct heap *heap;
	struct hi_edge_chunk chunk;
	uint32_t n;
	bool counting;
};

static void write_edge(void *arg, uint32_t to)
{
	struct row_writer *w = arg;

	if (!w->counting) {
		w->chunk.to[w->n] = w->heap->place[to];
		/* One in fifty words is only thought to be a pointer. */
		w->chunk.grade[w->n] = (to * 2654435761u >> 16) % 50 == 0
					       ? HI_GRADE_CONSERVATIVE
					       : HI_GRADE_EXACT;
	}
	w->n++;
}

static void write_rows(struct row_writer *w, uint32_t first, uint32_t end)
{
	w->n = 0;
	for (uint32_t id = first; id < end; id++) {
		if (!w->counting)
			w->chunk.row[id - first] = w->n;
		edges_of(w->heap, w->heap->built[id], write_edge, w);
	}
	if (!w->counting)
		w->chunk.row[end - first] = w->n;
}

static void make_chunk(struct hi_graph_builder *b, const struct heap *h, uint32_t index)
{
	uint32_t first = index << HI_CHUNK_SHIFT, end = first + HI_CHUNK_NODES;
	struct row_writer w = {.heap = h, .counting = true};
	struct hi_error err;

	end = end < h->n ? end : h->n;
	write_rows(&w, first, end);
	w.counting = false;
	w.chunk.row = need(hi_alloc((end - first + 1) * 4ul));
	w.chunk.to = need(hi_alloc(w.n * 4ul));
	w.chunk.grade = need(hi_alloc(w.n));
	write_rows(&w, first, end);
	check(hi_graph_builder_chunk(b, index, w.chunk, &err), &err);
}

static struct hi_graph *make_graph(const struct heap *h, struct hi_objects *o)
{
	struct hi_graph_builder *b;
	struct hi_graph *g;
	struct hi_error err;
	uint32_t id;

	check(hi_graph_builder_create(o, &b, &err), &err);
	for (uint32_t type = 1; type < TYPES; type++)
		check(hi_graph_builder_type(
			      b,
			      &(struct hi_type_name){
				      .name = "type", .size = 8, .klass = HI_TYPE_RECORD},
			      &id, &err),
		      &err);
	for (uint32_t i = 0; i < h->n; i++) {
		struct hi_root root = {.name = "head", .variable = UINT32_MAX};
		bool leaked;

		if (!is_head(h, i, &leaked) || leaked)
			continue;
		check(hi_graph_builder_root(b, &root, &id, &err), &err);
		check(hi_graph_builder_root_edge(b, id, h->place[i], HI_GRADE_EXACT,
						 &err),
		      &err);
	}
	for (uint32_t k = 0; k < (h->n + HI_CHUNK_NODES - 1) >> HI_CHUNK_SHIFT; k++)
		make_chunk(b, h, k);
	check(hi_graph_seal(b, &g, &err), &err);
	return g;
}

/* ---- memcpy, lookup and scan ---- */

static double copy_time(uint64_t bytes)
{
	unsigned char *from = need(hi_pages_alloc(bytes)),
		      *to = need(hi_pages_alloc(bytes));
	double times[ROUNDS];

	memset(from, 1, bytes);
	for (int i = 0; i < ROUNDS; i++) {
		double start = now();

		memcpy(to, from, bytes);
		__asm__ volatile("" : : "r"(to) : "memory");
		times[i] = now() - start;
	}
	hi_pages_free(from, bytes);
	hi_pages_free(to, bytes);
	return median(times);
}

enum { SCAN_BLOCK = 1 << 17 }; /* words: 1 MiB */
struct scan {
	const struct hi_objects *objects;
	const uint64_t *words;
	size_t n;
	struct scan_worker {
		uint64_t kept[SCAN_BLOCK];
		struct hi_hit hits[SCAN_BLOCK];
		uint64_t sum, n_hits;
	} * workers;
};

static void scan_block(void *arg, size_t task, unsigned worker)
{
	struct scan *s = arg;
	struct scan_worker *w = &s->workers[worker];
	const uint64_t *words = s->words + task * SCAN_BLOCK;
	size_t n = s->n - task * SCAN_BLOCK, kept = 0, hits;
	uint64_t low = s->objects->low, span = s->objects->high - low;

	n = n < SCAN_BLOCK ? n : SCAN_BLOCK;
	for (size_t i = 0; i < n; i++) {
		w->kept[kept] = words[i];
		kept += words[i] - low < span;
	}
	hits = hi_objects_find_many(s->objects, w->kept, kept, w->hits);
	for (size_t i = 0; i < hits; i++)
		w->sum += w->hits[i].id;
	w->n_hits += hits;
}

static double scan_time(struct scan *s, unsigned threads)
{
	double times[ROUNDS];

	for (int i = 0; i < ROUNDS; i++) {
		double start = now();

		hi_parallel(threads, (s->n + SCAN_BLOCK - 1) / SCAN_BLOCK, scan_block, s);
		times[i] = now() - start;
	}
	return median(times);
}

static void bench_lookup(const struct heap *h, const struct hi_objects *o, double copy)
{
	uint64_t bytes = o->high - o->low;
	struct scan s = {.objects = o, .n = bytes / 8};
	uint64_t *words = need(hi_pages_alloc(bytes));
	double one, two;

	s.words = words;
	s.workers = need(calloc(2, sizeof(*s.workers)));
	/* 15 % of the words are pointers, a tenth of these to the inside. */
	for (size_t i = 0; i < s.n; i++) {
		uint64_t r = random64();
		uint32_t id = (uint32_t)((r >> 32) * h->n >> 32);

		words[i] = r % 100 >= 15 ? r % 4096 : h->address[id] + (r % 10 == 0) * 8;
	}
	one = scan_time(&s, 1);
	two = scan_time(&s, 2);
	printf("  scan at 15 %% pointers: %.2f GB/s (%.2f x memcpy), two threads %.2f "
	       "x\n",
	       (double)bytes / one / 1e9, one / copy, one / two);
	for (size_t i = 0; i < s.n; i++)
		words[i] = h->address[(random64() >> 32) * h->n >> 32];
	s.n = s.n < 10000000 ? s.n : 10000000;
	printf("  lookup: %.1f ns a hit\n", scan_time(&s, 1) / (double)s.n * 1e9);
	free(s.workers);
	hi_pages_free(words, bytes);
}

/* ---- analyses ---- */

enum { REACH, DOMINATORS, LEAKS, CENSUS, SUSPECTS, PATHS, REFERRERS, STEPS };
static const char *const step_names[STEPS] = {
	"reach", "dominators", "leaks", "census", "suspects", "paths", "referrers"};

struct analyses {
	struct hi_reach *reach;
	struct hi_dominators *dominators;
	struct hi_leaks *leaks;
	struct hi_census *census;
	struct hi_suspects *suspects;
	struct hi_paths *paths;
	struct hi_referrers *referrers;
};

static void run_step(const struct hi_graph *g, int step, struct analyses *a)
{
	unsigned threads = hi_parallel_threads();
	hi_node target = g->n_objects / 2;
	struct hi_error err;
	enum hi_status status = HI_OK;

	if (step == REACH)
		status = hi_reach_compute(g, threads, &a->reach, &err);
	else if (step == DOMINATORS)
		status = hi_dominators_compute(g, a->reach, &a->dominators, &err);
	else if (step == LEAKS)
		status = hi_leaks_compute(g, a->reach, NULL, &a->leaks, &err);
	else if (step == CENSUS)
		status = hi_census_by_type(g, a->reach, a->dominators, &a->census, &err);
	else if (step == SUSPECTS)
		status = hi_suspects_find(g, a->reach, a->dominators, 0.2, NULL,
					  &a->suspects, &err);
	else if (step == PATHS)
		status = hi_paths_find(g, a->reach, &target, 1, 5, &a->paths, &err);
	else
		status = hi_referrers_find(g, target, 10, threads, &a->referrers, &err);
	check(status, &err);
}

static void free_all(struct analyses *a)
{
	hi_reach_destroy(a->reach);
	hi_dominators_destroy(a->dominators);
	hi_leaks_destroy(a->leaks);
	hi_census_destroy(a->census);
	hi_suspects_destroy(a->suspects);
	hi_paths_destroy(a->paths);
	hi_referrers_destroy(a->referrers);
}

/* Returns ns an object of dominators. */
static double bench_analyses(const struct hi_graph *g, double copy, double base)
{
	double times[STEPS][ROUNDS], total = 0, peak = 0, own = 0;
	double n = g->n_objects;

	for (int round = 0; round < ROUNDS; round++) {
		struct analyses a = {};

		reset_peak();
		for (int step = 0; step < STEPS; step++) {
			double start = now();

			run_step(g, step, &a);
			times[step][round] = now() - start;
			if (step == SUSPECTS)
				peak = memory_now("VmHWM:") - base;
		}
		own = memory_now("VmHWM:") - base;
		if (round == 0)
			printf("  live %lu, leaked %lu in %zu roots, %.2f edges an "
			       "object\n",
			       a.reach->live_objects, a.leaks->objects, a.leaks->n_roots,
			       (double)g->n_edges / n);
		free_all(&a);
	}
	for (int step = 0; step < STEPS; step++) {
		double time = median(times[step]);

		printf("  %-10s %8.1f ms %7.1f ns an object %7.2f x memcpy\n",
		       step_names[step], time * 1e3, time * 1e9 / n, time / copy);
		if (step <= CENSUS)
			total += time;
	}
	printf("  reach + dominators + leaks + census: %.2f s (%.1f x memcpy)\n", total,
	       total / copy);
	printf("  peak %.1f bytes an object (%.1f with paths)\n", peak / n, own / n);
	return median(times[DOMINATORS]) * 1e9 / n;
}

static double bench(uint32_t millions, bool scattered)
{
	struct heap h;
	struct hi_objects *o;
	struct hi_graph *g;
	double copy, base, ns;
	uint64_t bytes;

	heap_init(&h, millions * 1000000, scattered);
	bytes = h.address[h.n - 1] - h.address[0];
	copy = copy_time(bytes);
	printf("%u M objects, %s, %.0f MB: memcpy %.1f ms\n", millions,
	       scattered ? "scattered" : "in address order", (double)bytes / 1e6,
	       copy * 1e3);
	base = memory_now("VmRSS:");
	o = make_objects(&h);
	printf("  table %.1f bytes an object\n", (memory_now("VmRSS:") - base) / h.n);
	bench_lookup(&h, o, copy);
	g = make_graph(&h, o);
	printf("  table and edges %.1f bytes an object\n",
	       (memory_now("VmRSS:") - base) / h.n);
	ns = bench_analyses(g, copy, base);
	hi_graph_destroy(g);
	heap_free(&h);
	return ns;
}

int main(int argc, char **argv)
{
	static const uint32_t usual[] = {1, 10};
	int n = argc > 1 ? argc - 1 : 2;
	double first[2] = {};

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int i = 0; i < n; i++)
		for (int scattered = 0; scattered < 2; scattered++) {
			uint32_t m = argc > 1 ? (uint32_t)strtoul(argv[i + 1], NULL, 10)
					      : usual[i];
			double ns = bench(m ? m : 1, scattered);

			if (i == 0)
				first[scattered] = ns;
			else
				printf("  dominators: %.2f x the first size's ns an "
				       "object\n",
				       ns / first[scattered]);
		}
	return 0;
}
