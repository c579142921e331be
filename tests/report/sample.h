/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A made-up heap for the tests of report/: a graph of some objects, and results
 * that are filled in by hand, large numbers and hostile names included.
 */
#ifndef HI_TESTS_REPORT_SAMPLE_H
#define HI_TESTS_REPORT_SAMPLE_H

#include <stdlib.h>

#include "report/reports/summary/summary_report.h"
#include "tests/harness.h"

enum { SAMPLE_TYPES = 14, SAMPLE_OBJECTS = 20, SAMPLE_ROOTS = 8 };
#define SAMPLE_HEAP 0x55d0c8a41000ull

/* A name that tries everything: colours, newlines, a quote, invalid UTF-8, a
 * right-to-left override. */
#define SAMPLE_HOSTILE                                                                   \
	"evil\033[31m\n\"quoted\" \xff\xe2\x80\xae"                                      \
	"back\\slash"

struct sample {
	struct hi_graph *graph;
	struct hi_reach reach;
	struct hi_dominators dominators;
	struct hi_leaks leaks;
	struct hi_census census;
	struct hi_suspects suspects;
	struct hi_owners owners;
	struct hi_owner_row owner_rows[SAMPLE_ROOTS + 2];
	hi_node owner_nodes[SAMPLE_ROOTS + 3];
	struct hi_ledger ledger;
	struct hi_report_header header;
	struct hi_shares shares;
	struct hi_summary_inputs inputs;
	struct hi_report_child children[6];
	const char *warnings[2];
	struct hi_census_row rows[SAMPLE_TYPES];
	struct hi_leak_row leak_rows[6];
	struct hi_leak_root leak_roots[6];
	struct hi_suspect suspect[2];
	const char *suspect_paths[2];
	uint64_t reached[1];
	hi_node idom[64], order[64], n_order;
	uint32_t span[64];
	uint64_t retained[64];
};

static inline const char *sample_type(uint32_t i)
{
	static const char *const names[SAMPLE_TYPES] = {
		"",
		"struct dictEntry",
		"struct redisObject",
		"struct sdshdr8",
		"struct dict",
		"std::__cxx11::basic_string<char, std::char_traits<char>, "
		"std::allocator<char> >",
		"struct client",
		"struct listNode",
		SAMPLE_HOSTILE,
		"char []",
		"Größe::Straße",
		"struct quicklist",
		"struct rax",
		"struct aeEventLoop",
	};

	return names[i];
}

static inline void sample_add_objects(struct hi_objects_builder *b)
{
	struct hi_error err;
	unsigned region;

	hi_objects_builder_overhead(b, 0, 8);
	HI_ASSERT_OK(hi_objects_builder_region(b, SAMPLE_HEAP, SAMPLE_HEAP + 0x10000, 4,
					       &region, &err),
		     &err);
	for (unsigned i = 0; i < SAMPLE_OBJECTS; i++)
		HI_ASSERT_OK(hi_objects_builder_add(b, region,
						    SAMPLE_HEAP + 0x10 + i * 0x100ull, 88,
						    0, &err),
			     &err);
}

static inline void sample_add_names(struct hi_graph_builder *b)
{
	static const char *const roots[SAMPLE_ROOTS] = {
		"server",	    "shared",
		"main() argv_copy", "thread 3 worker() buf",
		SAMPLE_HOSTILE,	    "ns::C::instance",
		"main.c:counter",   "untyped word"};
	struct hi_error err;
	uint32_t id;

	for (unsigned i = 1; i < SAMPLE_TYPES; i++) {
		struct hi_type_name type = {.name = sample_type(i), .size = 88};

		HI_ASSERT_OK(hi_graph_builder_type(b, &type, &id, &err), &err);
	}
	for (unsigned i = 0; i < SAMPLE_ROOTS; i++) {
		struct hi_root root = {.kind = i < 2   ? HI_ROOT_GLOBAL
					       : i < 4 ? HI_ROOT_STACK
					       : i < 7 ? HI_ROOT_TLS
						       : HI_ROOT_UNTYPED,
				       .name = roots[i],
				       .detail = i < 3 ? "src/server.c:120" : "",
				       .type = i == 0 ? "struct redisServer" : "",
				       .address = 0x4000 + i * 8ull,
				       .size = 8,
				       .variable = UINT32_MAX};

		HI_ASSERT_OK(hi_graph_builder_root(b, &root, &id, &err), &err);
		HI_ASSERT_OK(hi_graph_builder_root_edge(b, id, i, HI_GRADE_EXACT, &err),
			     &err);
	}
}

static inline void sample_make_graph(struct sample *s)
{
	struct hi_objects_builder *ob = NULL;
	struct hi_objects *objects = NULL;
	struct hi_graph_builder *gb = NULL;
	struct hi_error err;

	HI_ASSERT_OK(hi_objects_builder_create(&ob, &err), &err);
	sample_add_objects(ob);
	HI_ASSERT_OK(hi_objects_seal(ob, &objects, &err), &err);
	for (unsigned i = 0; i < SAMPLE_OBJECTS; i++)
		objects->type[i] = i % SAMPLE_TYPES;
	HI_ASSERT_OK(hi_graph_builder_create(objects, &gb, &err), &err);
	sample_add_names(gb);
	HI_ASSERT_OK(hi_graph_seal(gb, &s->graph, &err), &err);
}

/* The preorder of the tree below a node, by the parents alone. */
static inline void sample_make_order(struct sample *s, hi_node node)
{
	hi_node at = s->n_order++;

	s->order[at] = node;
	for (hi_node i = 0; i < s->graph->n_nodes; i++)
		if (s->idom[i] == node && i != node)
			sample_make_order(s, i);
	s->span[at] = s->n_order - at;
}

static inline void sample_make_results(struct sample *s)
{
	struct hi_graph *g = s->graph;
	uint64_t live = 223766118;

	HI_ASSERT(g->n_nodes <= 64);
	s->reached[0] = ~0ull & ~(1ull << 18 | 1ull << 19);
	s->reach = (struct hi_reach){.any = s->reached,
				     .live_objects = 1234567,
				     .live_bytes = live,
				     .leak_objects = 100,
				     .leak_bytes = 12 << 20};
	for (hi_node i = 0; i < g->n_nodes; i++) {
		s->idom[i] = i < SAMPLE_ROOTS	? g->first_root + i
			     : i < g->n_objects ? i / 2
			     : i < g->first_kind
				     ? g->first_kind + g->roots[i - g->first_root].kind
			     : i < g->super_root ? g->super_root
						 : HI_NODE_NONE;
		s->retained[i] = i < g->n_objects ? live / (i + 2) : 0;
	}
	s->idom[18] = s->idom[19] = HI_NODE_NONE;
	s->retained[18] = s->retained[19] = 0;
	for (unsigned i = 0; i < SAMPLE_ROOTS; i++)
		s->retained[g->first_root + i] = live / 10 * 9 >> (3 * i);
	s->retained[g->first_kind + HI_ROOT_GLOBAL] = live / 10 * 9;
	s->retained[g->first_kind + HI_ROOT_STACK] = live / 20;
	s->retained[g->first_kind + HI_ROOT_TLS] = 4711;
	s->retained[g->super_root] = live;
	sample_make_order(s, g->super_root);
	s->dominators = (struct hi_dominators){.idom = s->idom,
					       .retained = s->retained,
					       .order = s->order,
					       .span = s->span,
					       .n_nodes = g->n_nodes,
					       .n_order = s->n_order};
}

/* Each root alone, the last three together, and what too many have together. */
static inline void sample_make_owners(struct sample *s)
{
	for (unsigned i = 0; i < SAMPLE_ROOTS; i++) {
		s->owner_nodes[i] = s->graph->first_root + i;
		s->owner_rows[i] = (struct hi_owner_row){
			.variables = &s->owner_nodes[i],
			.n = 1,
			.is_named = s->graph->roots[i].kind != HI_ROOT_UNTYPED &&
				    s->graph->roots[i].kind != HI_ROOT_REGISTER,
			.bytes = s->retained[s->owner_nodes[i]],
			.largest = s->owner_nodes[i],
			.largest_bytes = s->retained[s->owner_nodes[i]]};
	}
	s->owner_rows[SAMPLE_ROOTS] =
		(struct hi_owner_row){.variables = &s->owner_nodes[SAMPLE_ROOTS - 3],
				      .n = 3,
				      .is_named = true,
				      .bytes = 90,
				      .largest = 1,
				      .largest_bytes = 80};
	s->owner_rows[SAMPLE_ROOTS + 1] = (struct hi_owner_row){
		.is_many = true, .is_named = true, .bytes = 50, .largest = 2};
	s->owners = (struct hi_owners){.rows = s->owner_rows, .n_rows = SAMPLE_ROOTS + 2};
}

static inline void sample_make_tables(struct sample *s)
{
	static const uint64_t shallow[SAMPLE_TYPES] = {
		96 << 20, 64 << 20, 30 << 20, 20 << 20, 2 << 20, 1 << 20, 500000,
		400000,	  300000,   200000,   10000,	2000,	 100,	  96};

	for (unsigned i = 0; i < SAMPLE_TYPES; i++) {
		s->rows[i] = (struct hi_census_row){.type = i,
						    .count = shallow[i] / 96,
						    .shallow = shallow[i],
						    .retained = shallow[i] * 2,
						    .largest = 96};
		s->rows[i].by_evidence[i ? HI_EVIDENCE_POINTER : HI_EVIDENCE_NONE] =
			shallow[i];
	}
	s->census = (struct hi_census){.rows = s->rows,
				       .n_rows = SAMPLE_TYPES,
				       .objects = 1234567,
				       .bytes = 223766118,
				       .exact_bytes = 123102822,
				       .untyped_bytes = 96 << 20};
	for (unsigned i = 0; i < 6; i++) {
		uint64_t bytes = (12u << 20) >> i;

		s->leak_rows[i] = (struct hi_leak_row){.type = i + 6,
						       .shape = i % 3,
						       .count = 7 - i,
						       .objects = 20 - i,
						       .bytes = bytes,
						       .example = 18};
		s->leak_roots[i] = (struct hi_leak_root){
			.node = 18, .shape = i % 3, .objects = 9 - i, .bytes = bytes};
	}
	s->leaks = (struct hi_leaks){.roots = s->leak_roots,
				     .n_roots = 6,
				     .rows = s->leak_rows,
				     .n_rows = 6,
				     .objects = 100,
				     .bytes = 12 << 20};
	s->suspect[0] = (struct hi_suspect){.top = s->graph->first_root,
					    .accumulation = 4,
					    .retained = 201389506,
					    .accumulation_retained = 199389506,
					    .child_type = 1,
					    .children = 1048576,
					    .children_bytes = 190000000};
	s->suspect[1] = (struct hi_suspect){.top = 5,
					    .accumulation = 5,
					    .retained = 50000000,
					    .accumulation_retained = 50000000};
	s->suspects = (struct hi_suspects){.items = s->suspect, .count = 2};
	s->suspect_paths[0] = "server.db[0].dict->ht_table[0]";
	s->suspect_paths[1] = "";
}

static inline void sample_make_ledger(struct sample *s)
{
	static const struct hi_ledger_row rows[] = {
		{"live", "live objects", 0, 220 << 20, 223766118, 0, 1234567},
		{"leak", "leaked", 0, 12 << 20, 12 << 20, 0, 100},
		{"free", "free in the allocator", 0, 9 << 20, 12 << 20, 0, 4500},
		{"free_tcache", "thread caches", 1, 1 << 20, 1 << 20, 0, 3000},
		{"free_fastbin", "fast bins", 1, 1 << 19, 1 << 19, 0, 1000},
		{"free_bin", "bins", 1, 7 << 20, 9 << 20, 0, 499},
		{"free_top", "top", 1, 1 << 19, 1 << 20, 0, 1},
		{"allocator", "allocator overhead", 0, 40000, 40000, 0, 12},
		{"fragmentation", "fragmentation", 0, 1 << 20, 1 << 20, 0, HI_UNKNOWN},
		{"stacks", "stacks", 0, 132 << 10, 40 << 20, 0, 5},
		{"files", "mapped files", 0, 6 << 20, 30 << 20, 0, 14},
		{"shared", "shared memory", 0, 0, 0, 0, 0},
		{"other", "other anonymous memory", 0, 3 << 20, 64 << 20, 0, 8},
		{"kernel", "kernel mappings (vdso)", 0, 4096, 24576, 0, 3},
	};
	uint64_t sum = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		s->ledger.rows[i] = rows[i];
		sum += rows[i].level == 0 ? rows[i].resident : 0;
	}
	s->ledger.n_rows = sizeof(rows) / sizeof(rows[0]);
	s->ledger.unknown = 12345;
	s->ledger.rss = sum + 12345;
}

static inline void sample_make_header(struct sample *s)
{
	for (int i = 0; i < 6; i++)
		s->children[i] =
			(struct hi_report_child){.pid = 4243 + i,
						 .name = i ? "worker" : SAMPLE_HOSTILE,
						 .rss = 12 << 20,
						 .shared = i == 2 ? UINT64_MAX : 8 << 20};
	s->warnings[0] = "libfoo.so: file on disk was replaced";
	s->warnings[1] = SAMPLE_HOSTILE;
	s->header = (struct hi_report_header){
		.pid = 4242,
		.exe = "/usr/bin/redis-server",
		.build_id = "0123456789abcdef0123456789abcdef01234567",
		.threads = 5,
		.time_ns = 1700000000000000000,
		.pause_ns = 4560000,
		.mode = "copy",
		.safepoint = "now",
		.complete = true,
		.bytes_copied = 325000000,
		.allocator = "glibc",
		.allocator_version = "2.36",
		.allocator_found_by = "disassembly of mallopt, malloc",
		.arenas = 5,
		.modules = {.total = 14, .with_debug = 2, .in_file = 1, .by_build_id = 1},
		.children = s->children,
		.n_children = 6,
		.n_children_total = 9,
		.shares = &s->shares,
		.warnings = s->warnings,
		.n_warnings = 2,
	};
}

static inline void sample_free(struct sample *s)
{
	hi_graph_destroy(s->graph);
	free(s);
}

/* Freed at the end of the test. */
static inline struct sample *sample_make(void)
{
	struct sample *s = calloc(1, sizeof(*s));

	HI_ASSERT(s != NULL);
	hi_test_defer(sample_free, s);
	sample_make_graph(s);
	sample_make_results(s);
	sample_make_owners(s);
	sample_make_tables(s);
	sample_make_ledger(s);
	s->shares = (struct hi_shares){.exact = {900000, 120000000},
				       .inferred = {34567, 3102822},
				       .by_field = {280000, 90663296},
				       .unnamed = {20000, 10000000},
				       .conservative_only = {1000, 5 << 20}};
	sample_make_header(s);
	s->inputs = (struct hi_summary_inputs){.header = &s->header,
					       .graph = s->graph,
					       .reach = &s->reach,
					       .dominators = &s->dominators,
					       .leaks = &s->leaks,
					       .census = &s->census,
					       .suspects = &s->suspects,
					       .owners = &s->owners,
					       .suspect_paths = s->suspect_paths,
					       .ledger = &s->ledger,
					       .top = 10};
	return s;
}

#endif
