/* SPDX-License-Identifier: BSD-2-Clause */
/* Random graphs, and snapshots of them in memory, for the tests of the file format. */
#ifndef HI_TESTS_CENSUS_SNAPSHOTS_H
#define HI_TESTS_CENSUS_SNAPSHOTS_H

#include <inttypes.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "census/snapshot/snapshot_births.h"
#include "census/snapshot/snapshot_file.h"
#include "tests/census/graphs.h"
#include "tests/support/random.h"

HI_DEFINE_GUARD(struct hi_stored_events *, hi_stored_events_free)

/* Three regions far apart; with a large one, one object is larger than 4 GiB. */
static inline struct hi_objects *drawn_objects(uint64_t *state, uint32_t n, bool large)
{
	struct hi_objects_builder *b;
	struct hi_objects *o;
	struct hi_error err;
	unsigned region = 0;

	HI_ASSERT_OK(hi_objects_builder_create(&b, &err), &err);
	hi_objects_builder_overhead(b, 0, 8);
	hi_objects_builder_overhead(b, 1, 16);
	for (unsigned r = 0; r < 3; r++) {
		uint64_t addr = 0x550000001000 + ((uint64_t)r << 36);

		HI_ASSERT_OK(hi_objects_builder_region(b, addr, addr + (1ull << 33), 4,
						       &region, &err),
			     &err);
		for (uint32_t i = 0; i < n / 3; i++) {
			uint64_t usable = large && r == 1 && i == 1
						  ? 5ull << 30
						  : 8 + random_below(state, 200);
			uint8_t flags = (uint8_t)(random_below(state, 7) |
						  random_below(state, 2) << 3);

			if (random_below(state, 20) == 0)
				flags |= HI_OBJECT_INTERNAL;
			HI_ASSERT_OK(hi_objects_builder_add(b, region, addr, usable,
							    flags, &err),
				     &err);
			addr += (usable + 31) & ~15ull;
		}
	}
	HI_ASSERT_OK(hi_objects_seal(b, &o, &err), &err);
	return o;
}

static inline void drawn_names(struct hi_graph_builder *b, uint32_t n_types,
			       uint32_t n_roots)
{
	struct hi_error err;
	char name[64], module[64];
	uint32_t id;

	for (uint32_t i = 1; i < n_types; i++) {
		struct hi_type_name type = {.name = name,
					    .module = module,
					    .size = i * 8,
					    .klass = (enum hi_type_class)(i % 7),
					    .owner = i % 2 ? "owner" : "",
					    .field = i % 3 ? "" : "v.val",
					    .size_class = i * 16,
					    .indirect = i % 5 == 0};

		snprintf(name, sizeof(name), "struct t%u", i);
		snprintf(module, sizeof(module), "lib%u.so", i % 3);
		HI_ASSERT_OK(hi_graph_builder_type(b, &type, &id, &err), &err);
	}
	for (uint32_t i = 0; i < n_roots; i++) {
		struct hi_root root = {.kind = (enum hi_root_kind)(i % HI_ROOT_KINDS),
				       .name = name,
				       .detail = "main.c:7",
				       .type = i % 2 ? "struct t1 *" : "",
				       .address = 0x400000 + i * 16,
				       .size = 8,
				       .variable = UINT32_MAX,
				       .rank = (uint8_t)(i % HI_RANKS)};

		snprintf(name, sizeof(name), "root%u", i);
		HI_ASSERT_OK(hi_graph_builder_root(b, &root, &id, &err), &err);
	}
}

static inline struct hi_graph *drawn_graph_of(uint64_t seed, uint32_t n, bool large)
{
	uint64_t state = seed * 0x9e3779b97f4a7c15 + 1;
	uint32_t n_types = 2 + random_below(&state, 8), n_roots = 1 + n / 8;
	struct hi_objects *objects = drawn_objects(&state, n, large);
	struct hi_graph_builder *b;
	struct hi_error err;

	n = objects->count;
	for (hi_node i = 0; i < n; i++)
		objects->type[i] = random_below(&state, n_types);
	HI_ASSERT_OK(hi_graph_builder_create(objects, &b, &err), &err);
	drawn_names(b, n_types, n_roots);
	for (uint32_t i = 0; n && i < n_roots; i++)
		root_edge(b, i, random_below(&state, n),
			  (enum hi_grade)random_below(&state, 4));
	for (uint32_t i = 0; n && i < 2 * n; i++)
		edge(b, random_below(&state, n), random_below(&state, n),
		     (enum hi_grade)(random_below(&state, 40) ? random_below(&state, 3)
							      : HI_GRADE_WEAK));
	return sealed(b);
}

static inline struct hi_graph *drawn_graph(uint64_t seed, uint32_t n)
{
	return drawn_graph_of(seed, n, true);
}

enum { DRAWN_TAILS = 101 }; /* more than a file has room for */

/* The numbers in names: small ones, and some that are too large for a column. */
static inline uint64_t drawn_element(hi_node node, uint32_t k)
{
	return node % 11 == 3 ? 0x1ffffff8ull + node + k : 7ull * node + k;
}

/* What the k-th edge of a node is called. */
static inline const char *drawn_label(hi_node node, uint32_t k)
{
	static _Thread_local char text[8][40];
	char *ret = text[k % 8];
	uint64_t element = drawn_element(node, k);

	if (k >= 8 || node % 5 == 4)
		return "";
	if (node % 7 == 1)
		snprintf(ret, sizeof(text[0]), "[%" PRIu64 "]", element);
	else if (node % 7 == 2)
		snprintf(ret, sizeof(text[0]), " +0x%" PRIx64,
			 element * (4 + 4 * (k % 2)));
	else if (node % 7 == 3)
		snprintf(ret, sizeof(text[0]), "[%" PRIu64 "].t%u", element,
			 node % DRAWN_TAILS);
	else
		snprintf(ret, sizeof(text[0]), "->f%u[%u]", node % 3, k);
	return ret;
}

/* The same with its number apart. */
static inline struct hi_edge_name drawn_name(hi_node node, uint32_t k)
{
	static _Thread_local char tail[8];
	uint64_t element = drawn_element(node, k);

	if (k >= 8 || node % 5 == 4)
		return (struct hi_edge_name){};
	if (node % 7 == 1)
		return (struct hi_edge_name){.kind = HI_NAME_INDEX, .number = element};
	if (node % 7 == 2)
		return (struct hi_edge_name){.kind = HI_NAME_OFFSET,
					     .number = element * (4 + 4 * (k % 2))};
	if (node % 7 == 3) {
		snprintf(tail, sizeof(tail), ".t%u", node % DRAWN_TAILS);
		return (struct hi_edge_name){.kind = HI_NAME_INDEX,
					     .number = element,
					     .text = tail,
					     .key = 100 + node % DRAWN_TAILS};
	}
	return (struct hi_edge_name){.text = drawn_label(node, k),
				     .key = k % 2 ? 1 + node % 3 * 8 + k : 0};
}

static inline uint64_t drawn_used(void *arg, hi_node object)
{
	(void)arg;
	return object * 3;
}

static inline const char *drawn_module(void *arg, uint32_t root)
{
	(void)arg;
	return root % 2 ? "libroot.so" : "";
}

static inline bool drawn_retains(void *arg, uint32_t type)
{
	(void)arg;
	return type % 3 == 1;
}

static inline enum hi_status drawn_edge_names(void *arg, unsigned worker, hi_node node,
					      struct hi_edge_name *names,
					      struct hi_error *err)
{
	const struct hi_graph *g = arg;
	uint32_t n = hi_graph_edges(g, node).count;

	(void)worker;
	(void)err;
	for (uint32_t k = 0; k < n; k++)
		names[k] = drawn_name(node, k);
	return HI_OK;
}

/* What is written of births: three contexts, four frames, two threads. */
static inline uint32_t drawn_context(hi_node i)
{
	return i % 5 == 2 ? HI_BIRTH_NONE : i % 3;
}
static const struct hi_context_node drawn_nodes[] = {
	{0, HI_FRAME_NONE}, {0, 3}, {1, 0}, {1, 1}, {3, 2}};
static const struct hi_context drawn_contexts[] = {
	{}, {UINT64_MAX, 2, 0}, {77, 4, HI_CONTEXT_CUT}};
static const struct hi_context_totals drawn_totals[] = {
	{5, 50, 5, 50, 2, 20}, {9, 900, 9, 900, 3, 300}, {8, 800, 1, 100, 8, 800}};
static const uint64_t drawn_overheads[] = {10, 1ull << 40, 7};
static const struct hi_frame_row drawn_rows[] = {
	{"", "", "", 0, 0, 0},
	{"/bin/app", "xmalloc", "x.h", 16, 3, HI_FRAME_ALLOCATES | HI_FRAME_INLINED},
	{"/bin/app", "parse", "p.c", 16, 7, 0},
	{"libx.so", "f", "", 1ull << 40, 0, 0},
	{"/bin/app", "main", "main.c", 99, 12, 0}};
static const uint32_t drawn_first[] = {0, 1, 3, 4, 5}, drawn_threads[] = {7, 4000};
static const struct hi_recording_counts drawn_counts = {.events = 17,
							.lost = 1,
							.unknown_frees = 2,
							.lost_frees = 3,
							.failed_reallocs = 4,
							.lost_begins = 5,
							.lost_ends = 6,
							.sampled = 7,
							.other_kinds = 8,
							.first_ns = 9,
							.last_ns = 10,
							.ticks = 26,
							.ticks_in_probes = 5};
static const uint64_t drawn_ticks[] = {5, 0, 21};
static const struct hi_context_ports drawn_ports[] = {{1, 2}, {0, 7}, {3, 0}};
static const struct hi_recorded_time drawn_time = {
	.scan_ns = 10000000, .target_ns = 260000000, .tool_ns = 7, .missed = 1};

static const struct hi_recorded_source drawn_sources[] = {
	{"malloc", HI_FAMILY_MALLOC, false, {9, 90, 1, 10, 8, 80}},
	{"pool_get", HI_FAMILY_CALLS, true, {5, 50, 3, 30, 4, 40}},
};
static const struct hi_piece drawn_pieces[] = {
	{.addr = 0x1000, .size = 24, .time_ns = 3, .context = 1, .tid = 7, .source = 1},
	{.addr = 0x1020, .size = 0, .time_ns = 4, .context = 2, .tid = 8, .source = 1},
};

static const struct hi_recorded_mark drawn_marks[] = {{10, "load", 0, 2, 0},
						      {20, "end", 2, 1, 1}};
static const struct hi_recorded_mark_row drawn_marked_rows[] = {
	{1, 0, 4, 400, 9}, {2, 0, 8, 800, 7}, {1, 0, 9, 900, 1ull << 40}};
static const struct hi_recording_pause drawn_pauses[] = {{5, 8, 3, 72}, {8, 9, 0, 0}};

enum { DRAWN_EVENTS = 30 };

static inline struct hi_event drawn_event(uint32_t i)
{
	return (struct hi_event){.time_ns = 1000 + 7ull * i,
				 .addr = 0x1000 + 16ull * (i % 5),
				 .size = i % 2 ? 0 : 24 + i,
				 .tid = 7 + i / 4 % 2,
				 .kind = i % 2 ? HI_EVENT_FREE : HI_EVENT_ALLOC,
				 .source = i / 10 % 2};
}

/* In a file in memory, and not all of them: the last have no room. */
static inline struct hi_kept_events *drawn_kept_events(void)
{
	struct hi_kept_events *kept = NULL;
	struct hi_error err;

	HI_ASSERT_OK(hi_kept_events_create(memfd_create("events", MFD_CLOEXEC), 120,
					   &kept, &err),
		     &err);
	for (uint32_t i = 0; i < DRAWN_EVENTS; i++) {
		struct hi_event event = drawn_event(i);

		hi_kept_events_add(kept, &event, i % 3);
	}
	return kept;
}

static inline enum hi_status drawn_put_births(struct hi_snapshot_writer *w, uint32_t n,
					      struct hi_error *err)
{
	HI_GUARD(free) uint64_t *columns = calloc(3 * (size_t)n + 1, 8);
	HI_GUARD(hi_kept_events_destroy)
	struct hi_kept_events *kept = drawn_kept_events();
	uint64_t *time_ns = columns, *size = columns + n;
	uint32_t *context = (uint32_t *)(size + n), *thread = context + n;
	struct hi_births births = {n,  context, thread, time_ns, size, drawn_threads,
				   2,  1000,	2000,	1,	 0,    11,
				   12, 13,	NULL};
	struct hi_recorded recorded = {&births,
				       {drawn_nodes, drawn_contexts, 5, 3, 4},
				       drawn_totals,
				       {drawn_rows, drawn_first, 4, 5},
				       drawn_counts,
				       {drawn_sources, 2, drawn_pieces, 2},
				       .kept = kept,
				       .overheads = drawn_overheads,
				       .ticks = drawn_ticks,
				       .ports = drawn_ports,
				       .time = drawn_time};

	recorded.marked =
		(struct hi_recorded_marks){drawn_marks, drawn_marked_rows, 2, 3};
	recorded.pauses = drawn_pauses;
	recorded.n_pauses = 2;
	HI_ASSERT(columns);
	for (uint32_t i = 0; i < n; i++) {
		context[i] = drawn_context(i);
		if (context[i] == HI_BIRTH_NONE)
			continue;
		thread[i] = i / 2 % 2;
		time_ns[i] = (uint64_t)i << 33;
		size[i] = i;
	}
	return hi_snapshot_put_births(w, &recorded, err);
}

static inline enum hi_status drawn_put(struct hi_snapshot_writer *w,
				       const struct hi_graph *g, const struct hi_reach *r,
				       const struct hi_dominators *d,
				       struct hi_error *err)
{
	struct hi_snapshot_graph in = {.graph = g,
				       .reach = r,
				       .dominators = d,
				       .label = drawn_edge_names,
				       .threads = 2,
				       .used = drawn_used,
				       .module = drawn_module,
				       .retains = drawn_retains,
				       .arg = (void *)(uintptr_t)g};
	static const uint32_t future[] = {1, 2, 3};
	enum hi_status status = hi_snapshot_put_number(w, "pid", 4242, err);

	if (status == HI_OK)
		status = hi_snapshot_put_text(w, "exe", "/usr/bin/drawn", err);
	if (status == HI_OK)
		status = hi_snapshot_put(w, "a.future.one", future, 4, 3, err);
	if (status == HI_OK)
		status = hi_snapshot_put_graph(w, &in, err);
	if (status == HI_OK)
		status = drawn_put_births(w, g->n_objects, err);
	if (status == HI_OK)
		status = hi_snapshot_finish(w, err);
	return status;
}

static inline enum hi_status try_write(int fd, const struct hi_graph *g,
				       const struct hi_reach *r,
				       const struct hi_dominators *d, bool compress,
				       struct hi_error *err)
{
	struct hi_snapshot_options options = {.compress = compress, .threads = 2};
	HI_GUARD(hi_snapshot_writer_destroy) struct hi_snapshot_writer *w = NULL;
	enum hi_status status = hi_snapshot_create(fd, &options, &w, err);

	return status == HI_OK ? drawn_put(w, g, r, d, err) : status;
}

static inline void close_file(void *fd)
{
	close((int)(intptr_t)fd);
}

/* A file in memory; its path (of 8, in turns). */
static inline int memory_file(const char **path_ret)
{
	static char paths[8][64];
	static unsigned turn;
	char *path = paths[turn++ % 8];
	int fd = memfd_create("snapshot", MFD_CLOEXEC);

	HI_ASSERT(fd >= 0);
	snprintf(path, sizeof(paths[0]), "/proc/self/fd/%d", fd);
	*path_ret = path;
	return fd;
}

#endif
