/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Retainer sets and sharing bins at 10 million objects, beside the visiting
 * algorithm (once round for every retainer that comes along), whose answer must
 * be the same.
 *
 *	bench_sets [million objects] [shape]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "base/table.h"
#include "base/vector.h"
#include "bench/support.h"
#include "census/retainers/bins.h"
#include "census/retainers/retainers.h"

enum { ROUNDS = 4 }; /* the first is dropped */

/* Of our own: others may use the machine. All of this runs on one thread. */
static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void check(enum hi_status status, const struct hi_error *err)
{
	if (status == HI_OK)
		return;
	fprintf(stderr, "bench_sets: %s\n", err->text);
	exit(1);
}

static void *need(void *memory)
{
	if (memory)
		return memory;
	fprintf(stderr, "bench_sets: out of memory\n");
	exit(1);
}

/* A number without pattern, the same in every run. */
static uint64_t noise(uint64_t x)
{
	x = (x + 1) * 0x9e3779b97f4a7c15;
	x = (x ^ x >> 32) * 0xd1342543de82ef95;
	return x ^ x >> 29;
}

/* ---- shapes ---- */

struct shape {
	const char *name;
	void (*edges)(uint32_t n, uint32_t i, void (*fn)(void *arg, uint32_t to),
		      void *arg);
	uint32_t roots; /* variables that lead to objects at equal distances; 0: one for
			 * as many objects as a list has */
};

enum { LIST = 8000, TREE = 65535 };

/* A third doubly linked lists with payloads, two thirds trees with parents, where one
 * leaf in eight refers to somewhere else: in its tree, or in any (a knot). */
static void heap_or_knot(bool is_knot, uint32_t n, uint32_t i,
			 void (*fn)(void *arg, uint32_t to), void *arg)
{
	uint32_t lists = n / 3 / LIST * LIST, at;

	if (i < lists) {
		at = i % LIST;
		if (i % 2)
			return;
		if (at + 2 < LIST)
			fn(arg, i + 2);
		if (at)
			fn(arg, i - 2);
		fn(arg, i + 1);
		return;
	}
	at = (i - lists) % TREE;
	for (uint32_t child = 2 * at + 1; child <= 2 * at + 2; child++)
		if (child < TREE && i - at + child < n)
			fn(arg, i - at + child);
	if (at && 2 * at + 2 < TREE)
		fn(arg, i - at + (at - 1) / 2);
	else if (at && noise(i) % 8 == 0)
		fn(arg, is_knot ? lists + (uint32_t)(noise(i) >> 32) % (n - lists)
				: i - at + (uint32_t)(noise(i) >> 32) % at);
}

static void heap_edges(uint32_t n, uint32_t i, void (*fn)(void *arg, uint32_t to),
		       void *arg)
{
	heap_or_knot(false, n, i, fn, arg);
}

static void knot_edges(uint32_t n, uint32_t i, void (*fn)(void *arg, uint32_t to),
		       void *arg)
{
	heap_or_knot(true, n, i, fn, arg);
}

/* No structure but nearness, upward: two fields, the nearer half a page away. */
static void web_edges(uint32_t n, uint32_t i, void (*fn)(void *arg, uint32_t to),
		      void *arg)
{
	uint64_t r = noise(i);

	if (i + 1 < n)
		fn(arg, i + 1 + (uint32_t)(r % 64) % (n - i - 1));
	if (i + 1 < n && r >> 20 & 1)
		fn(arg, i + 1 + (uint32_t)(r >> 32) % 4096 % (n - i - 1));
}

/* A list and a payload for each cell. */
static void list_edges(uint32_t n, uint32_t i, void (*fn)(void *arg, uint32_t to),
		       void *arg)
{
	if (i % 2)
		return;
	if (i + 1 < n)
		fn(arg, i + 1);
	if (i + 2 < n)
		fn(arg, i + 2);
}

static const struct shape heap = {"heap", heap_edges, 0};
static const struct shape knot = {"knot", knot_edges, 6};
static const struct shape tight_knot = {"knot of many", knot_edges, 48};
static const struct shape web = {"web", web_edges, 100};
static const struct shape list = {"list", list_edges, 1};

/* ---- into a graph ---- */

struct world {
	struct hi_graph *graph;
	struct hi_reach *reach;
	uint32_t n, *place, *built; /* as it was built -> id, and back */
};

static void order(struct world *w, bool scattered)
{
	w->place = need(malloc(w->n * 4ul));
	w->built = need(malloc(w->n * 4ul));
	for (uint32_t i = 0; i < w->n; i++)
		w->built[i] = i;
	for (uint32_t i = w->n - 1; scattered && i > 0; i--) {
		uint32_t k = (uint32_t)(noise(i) >> 32) % (i + 1), swap = w->built[i];

		w->built[i] = w->built[k];
		w->built[k] = swap;
	}
	for (uint32_t id = 0; id < w->n; id++)
		w->place[w->built[id]] = id;
}

static struct hi_objects *make_objects(uint32_t n)
{
	struct hi_objects_builder *b;
	struct hi_objects *o;
	struct hi_error err;
	uint64_t start = 0x555555560010, end = start + 64ul * n;
	unsigned region;

	check(hi_objects_builder_create(&b, &err), &err);
	check(hi_objects_builder_region(b, start - 16, end, 4, &region, &err), &err);
	hi_objects_builder_overhead(b, 0, 8);
	for (uint32_t i = 0; i < n; i++)
		check(hi_objects_builder_add(b, region, start + 64ul * i,
					     24 + noise(i) % 3 * 16, HI_EVIDENCE_POINTER,
					     &err),
		      &err);
	check(hi_objects_seal(b, &o, &err), &err);
	return o;
}

struct row_writer {
	const struct world *world;
	struct hi_edge_chunk chunk;
	uint32_t n;
	bool counting;
};

static void write_edge(void *arg, uint32_t to)
{
	struct row_writer *w = arg;

	if (!w->counting)
		w->chunk.to[w->n] = w->world->place[to];
	w->n++;
}

static void write_rows(struct row_writer *w, const struct shape *shape, uint32_t first,
		       uint32_t end)
{
	w->n = 0;
	for (uint32_t id = first; id < end; id++) {
		if (!w->counting)
			w->chunk.row[id - first] = w->n;
		shape->edges(w->world->n, w->world->built[id], write_edge, w);
	}
	if (!w->counting)
		w->chunk.row[end - first] = w->n;
}

static void make_chunk(struct hi_graph_builder *b, const struct world *world,
		       const struct shape *shape, uint32_t index)
{
	uint32_t first = index << HI_CHUNK_SHIFT, end = first + HI_CHUNK_NODES;
	struct row_writer w = {.world = world, .counting = true};
	struct hi_error err;

	end = end < world->n ? end : world->n;
	write_rows(&w, shape, first, end);
	w.counting = false;
	w.chunk.row = need(hi_alloc((end - first + 1) * 4ul));
	w.chunk.to = need(hi_alloc(w.n * 4ul));
	w.chunk.grade = need(hi_calloc(w.n + 1, 1)); /* HI_GRADE_EXACT */
	write_rows(&w, shape, first, end);
	check(hi_graph_builder_chunk(b, index, w.chunk, &err), &err);
}

static struct world world_make(const struct shape *shape, uint32_t n, bool scattered)
{
	struct world w = {.n = n};
	struct hi_graph_builder *b;
	struct hi_error err;
	uint32_t id, roots = shape->roots ? shape->roots : n / LIST;

	order(&w, scattered);
	check(hi_graph_builder_create(make_objects(n), &b, &err), &err);
	for (uint32_t i = 0; i < roots; i++) {
		struct hi_root root = {.name = "root", .variable = UINT32_MAX};

		check(hi_graph_builder_root(b, &root, &id, &err), &err);
		check(hi_graph_builder_root_edge(b, id,
						 w.place[(uint64_t)n * i / roots & ~1ul],
						 HI_GRADE_EXACT, &err),
		      &err);
	}
	for (uint32_t k = 0; k < (n + HI_CHUNK_NODES - 1) >> HI_CHUNK_SHIFT; k++)
		make_chunk(b, &w, shape, k);
	check(hi_graph_seal(b, &w.graph, &err), &err);
	check(hi_reach_compute(w.graph, hi_parallel_threads(), &w.reach, &err), &err);
	return w;
}

static void world_free(struct world *w)
{
	hi_reach_destroy(w->reach);
	hi_graph_destroy(w->graph);
	free(w->place);
	free(w->built);
}

/* ---- the visiting algorithm, with sets stored once and additions remembered ---- */

struct visit_set {
	uint32_t *members, n;
};
struct visiting {
	const struct hi_graph *graph;
	const uint32_t *identity;
	uint32_t *set;
	uint32_t *alone; /* by identity: the set of it alone */
	struct HI_VECTOR(struct visit_set) sets;
	struct hi_table added; /* set << 32 | identity -> set */
	struct hi_table by_hash;
	struct {
		uint64_t key;
		uint32_t set;
	} recent[1 << 16];
	struct visit_item {
		hi_node node;
		uint32_t from;
	} * stack;
	size_t depth, room;
	uint64_t visits, words;
};
#define TOO_MANY_VISITS 1000000000ul
#define TOO_MANY_WORDS 250000000ul

static bool is_same(const struct visit_set *a, const struct visit_set *b)
{
	return a->n == b->n && memcmp(a->members, b->members, a->n * 4ul) == 0;
}

static uint32_t intern(struct visiting *v, struct visit_set set)
{
	uint64_t hash = 0, id;

	for (uint32_t i = 0; i < set.n; i++)
		hash += noise(set.members[i]);
	for (; hi_table_get(&v->by_hash, hash >> 1, &id); hash += 2)
		if (is_same(&v->sets.items[id], &set)) {
			free(set.members);
			return (uint32_t)id;
		}
	id = v->sets.count;
	need(hi_table_put(&v->by_hash, hash >> 1, id) ? v : NULL);
	need(hi_vector_push(&v->sets, set) ? v : NULL);
	v->words += set.n;
	return (uint32_t)id;
}

static uint32_t add_new(struct visiting *v, uint32_t set, uint32_t identity)
{
	struct visit_set old = v->sets.items[set],
			 new = {need(malloc((old.n + 1) * 4ul)), 0};

	for (uint32_t i = 0; i < old.n && old.members[i] < identity; i++)
		new.members[new.n++] = old.members[i];
	if (new.n < old.n && old.members[new.n] == identity) {
		free(new.members);
		return set;
	}
	new.members[new.n++] = identity;
	memcpy(new.members + new.n, old.members + new.n - 1, (old.n - new.n + 1) * 4ul);
	new.n = old.n + 1;
	return intern(v, new);
}

/* set 0 is empty. */
static uint32_t add(struct visiting *v, uint32_t set, uint32_t identity)
{
	uint64_t key = (uint64_t)set << 32 | identity, ret;
	size_t slot = (size_t)(key * 0x9e3779b97f4a7c15 >> 48);

	if (v->recent[slot].key == key)
		return v->recent[slot].set;
	if (!hi_table_get(&v->added, key, &ret)) {
		ret = add_new(v, set, identity);
		need(hi_table_put(&v->added, key, ret) ? v : NULL);
	}
	v->recent[slot].key = key;
	v->recent[slot].set = (uint32_t)ret;
	return (uint32_t)ret;
}

static void visit_later(struct visiting *v, hi_node node, uint32_t from)
{
	if (v->depth == v->room) {
		v->room = v->room ? 2 * v->room : 1 << 16;
		v->stack = need(realloc(v->stack, v->room * sizeof(*v->stack)));
	}
	v->stack[v->depth++] = (struct visit_item){node, from};
}

/* retain(c, r): those that have r already are not even pushed. */
static inline void visit_edges(struct visiting *v, hi_node node, uint32_t from)
{
	struct hi_edges edges = hi_graph_edges(v->graph, node);

	uint32_t alone = v->alone[from];

	v->visits += edges.count;
	if (!alone)
		alone = v->alone[from] = add(v, 0, from);
	for (uint32_t e = 0; e < edges.count; e++) {
		hi_node to = edges.to[e];
		uint32_t old = v->set[to];
		uint32_t set = !old || old == alone ? alone : add(v, old, from);

		if (edges.grade[e] == HI_GRADE_WEAK || set == v->set[to])
			continue;
		v->set[to] = set;
		visit_later(v, to, from);
	}
}

/* False: it gave up. */
static bool visit_all(struct visiting *v)
{
	const struct hi_graph *g = v->graph;

	for (hi_node root = g->first_root; root < g->first_kind; root++) {
		visit_edges(v, root, v->identity[root]);
		while (v->depth) {
			struct visit_item i = v->stack[--v->depth];

			/* A retainer's own edges are the same whoever comes. */
			visit_edges(v, i.node,
				    v->identity[i.node] ? v->identity[i.node] : i.from);
			if (v->visits > TOO_MANY_VISITS || v->words > TOO_MANY_WORDS)
				return false;
		}
	}
	return true;
}

static void visiting_free(struct visiting *v)
{
	for (size_t i = 0; i < v->sets.count; i++)
		free(v->sets.items[i].members);
	hi_vector_free(&v->sets);
	hi_table_free(&v->added);
	hi_table_free(&v->by_hash);
	hi_pages_free(v->set, v->graph->n_objects * 4ul);
	free(v->alone);
	free(v->stack);
	free(v);
}

static void compare(const struct visiting *v, const struct hi_retainers *r,
		    const struct hi_set_pool *pool)
{
	uint32_t *known = need(calloc(v->sets.count, sizeof(*known)));
	uint32_t *members = NULL;

	for (hi_node i = 0; i < r->table.n_objects; i++) {
		uint32_t mine = r->table.set[i], n = hi_set_size(pool, mine);
		const struct visit_set *set = &v->sets.items[v->set[i]];

		if (known[v->set[i]] == mine)
			continue;
		members = need(realloc(members, (n + 1) * 4ul));
		hi_set_members(pool, mine, members);
		if (known[v->set[i]] || !is_same(set, &(struct visit_set){members, n})) {
			fprintf(stderr, "bench_sets: object %u differs\n", i);
			exit(1);
		}
		known[v->set[i]] = mine;
	}
	free(members);
	free(known);
}

/* ---- retainers ---- */

/* Root variables from 1 on; one object in `every` (0: none) has one of `identities`. */
static uint32_t *identities_of(const struct hi_graph *g, uint32_t every,
			       uint32_t identities)
{
	uint32_t *identity = need(calloc(g->n_nodes, sizeof(*identity)));

	for (hi_node i = 0; i < g->n_roots; i++)
		identity[g->first_root + i] = 1 + i;
	for (hi_node i = 0; every && i < g->n_objects; i++)
		if (noise(i) % every == 0)
			identity[i] = 1 + g->n_roots +
				      (uint32_t)((noise(i) >> 32) * identities >> 32);
	return identity;
}

static double ns_an_object(uint64_t ns, const struct world *w)
{
	return (double)ns / w->n;
}

static void bench_visiting(const struct world *w, const uint32_t *identity,
			   const struct hi_retainers *r, const struct hi_set_pool *pool,
			   uint64_t ours)
{
	uint64_t times[3];
	bool done = true;
	struct visiting *v = NULL;

	for (int i = 0; i < 3 && done; i++) {
		uint64_t start;

		if (v)
			visiting_free(v);
		v = need(calloc(1, sizeof(*v)));
		v->graph = w->graph;
		v->identity = identity;
		v->set = need(hi_pages_alloc(w->n * 4ul));
		v->alone = need(calloc(w->graph->n_nodes, sizeof(*v->alone)));
		need(hi_vector_push(&v->sets, ((struct visit_set){})) ? v : NULL);
		memset(v->recent, 0xff, sizeof(v->recent));
		start = cpu_ns();
		done = visit_all(v);
		times[i] = cpu_ns() - start;
		if (times[i] > 10000000000) { /* once is enough */
			times[0] = times[1] = times[2] = times[i];
			break;
		}
	}
	if (!done) {
		printf("    visiting gave up after %.1f ns and %.1f visits an object, "
		       "%zu sets, %.0f MB of members\n",
		       ns_an_object(times[0], w), (double)v->visits / w->n, v->sets.count,
		       (double)v->words * 4e-6);
		visiting_free(v);
		return;
	}
	compare(v, r, pool);
	times[0] = bench_median(times, 3);
	printf("    visiting %6.1f ns an object, %5.2f visits an object; ours is %.2f "
	       "x\n",
	       ns_an_object(times[0], w), (double)v->visits / w->n,
	       (double)ours / (double)times[0]);
	visiting_free(v);
}

static void bench_retainers(const struct world *w, const char *name, uint32_t every,
			    uint32_t n_identities, bool beside)
{
	uint32_t *identity = identities_of(w->graph, every, n_identities);
	struct hi_retainer_options o = {.identities = identity, .system = 1u << 31};
	struct hi_set_pool *pool = NULL;
	struct hi_retainers *r = NULL;
	uint64_t times[ROUNDS];
	struct hi_error err;

	for (int i = 0; i < ROUNDS; i++) {
		uint64_t start = cpu_ns();

		hi_retainers_destroy(r);
		hi_set_pool_destroy(pool);
		start = cpu_ns();
		check(hi_set_pool_create(&pool, &err), &err);
		check(hi_retainers_compute(w->graph, w->reach, &o, pool, &r, &err), &err);
		times[i] = cpu_ns() - start;
	}
	times[0] = bench_median(times, ROUNDS);
	printf("  retainers %-28s %6.1f ns an object; %zu rows, %.2f B an object of "
	       "sets, %.0f %% revisited\n",
	       name, ns_an_object(times[0], w), r->table.n_rows,
	       (double)hi_set_pool_bytes(pool) / w->n, 100.0 * r->revisited / w->n);
	if (beside)
		bench_visiting(w, identity, r, pool, times[0]);
	hi_retainers_destroy(r);
	hi_set_pool_destroy(pool);
	free(identity);
}

/* ---- bins ---- */

/* Names at n places, evenly in the order in which it was built, or anywhere. */
static void bench_bins(const struct world *w, const char *name, uint32_t n, bool even)
{
	struct hi_bin_root *roots = need(calloc(n, sizeof(*roots)));
	hi_node *starts = need(calloc(n, sizeof(*starts)));
	struct hi_bin_options o = {.roots = roots, .n_roots = n};
	struct hi_set_pool *pool = NULL;
	struct hi_bins *bins = NULL;
	uint64_t times[ROUNDS];
	struct hi_error err;

	for (uint32_t i = 0; i < n; i++) {
		starts[i] = w->place[even ? w->n / n * i & ~1u : noise(i) % w->n];
		roots[i] = (struct hi_bin_root){
			.identity = i + 1, .nodes = &starts[i], .n_nodes = 1};
	}
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t start;

		hi_bins_destroy(bins);
		hi_set_pool_destroy(pool);
		start = cpu_ns();
		check(hi_set_pool_create(&pool, &err), &err);
		check(hi_bins_compute(w->graph, w->reach, &o, pool, &bins, &err), &err);
		times[i] = cpu_ns() - start;
	}
	times[0] = bench_median(times, ROUNDS);
	printf("  bins      %-28s %6.1f ns an object; %zu rows, %.2f B an object of "
	       "sets, %.0f %% under a name, %.0f %% revisited\n",
	       name, ns_an_object(times[0], w), bins->table.n_rows,
	       (double)hi_set_pool_bytes(pool) / w->n,
	       100.0 * (double)bins->table.objects / w->n,
	       100.0 * bins->revisited / w->n);
	hi_bins_destroy(bins);
	hi_set_pool_destroy(pool);
	free(starts);
	free(roots);
}

/* ---- all ---- */

static void title(const struct world *w, const struct shape *shape, bool scattered)
{
	printf("%s, %s: %u objects, %lu edges, %u roots, %lu live\n", shape->name,
	       scattered ? "scattered" : "in address order", w->n, w->graph->n_edges,
	       w->graph->n_roots, w->reach->live_objects);
}

static void bench_shape(const struct shape *shape, uint32_t n, bool scattered)
{
	struct world w = world_make(shape, n, scattered);

	title(&w, shape, scattered);
	if (shape == &list) { /* each name holds what the next one holds */
		bench_bins(&w, "1 name", 1, true);
		bench_bins(&w, "1,000 nested names", 1000, true);
	} else {
		bench_retainers(&w, "roots", 0, 0, true);
	}
	if (shape == &heap || shape == &web) {
		bench_retainers(&w, "roots, 3 % of 2,000", 33, 2000, true);
		bench_bins(&w, "1,000 names", 1000, false);
	}
	world_free(&w);
}

int main(int argc, char **argv)
{
	static const struct shape *const shapes[] = {&heap, &knot, &tight_knot, &web,
						     &list};
	uint32_t n = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) * 1000000 : 10000000;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int scattered = 0; scattered < 2; scattered++)
		for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
			if (argc < 3 || strcmp(argv[2], shapes[i]->name) == 0)
				bench_shape(shapes[i], n, scattered);
	return 0;
}
