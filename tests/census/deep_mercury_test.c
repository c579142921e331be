/* SPDX-License-Identifier: BSD-2-Clause */
/* Files of Mercury's deep profiler: written and read back, and beside another reader and
 * another writer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "census/deep/mercury_format.h"
#include "tests/census/deep_profiles.h"
#include "tests/census/deep_stacks.h"

enum { ROUND_TRIPS = 500, PROGRAMS = 60 };

/* ---- profiles of stacks ---- */

static uint32_t text_of(struct hi_deep_profile *p, const char *text)
{
	uint32_t number;

	HI_ASSERT(hi_deep_profile_intern(p, text, &number));
	return number;
}

static void add_named_function(struct hi_deep_profile *p, const char *name,
			       const char *module, uint32_t line, bool is_exported)
{
	struct hi_deep_procedure f = {.name = text_of(p, name),
				      .module = text_of(p, module),
				      .file = text_of(p, "code.c"),
				      .line = line,
				      .is_exported = is_exported};

	HI_ASSERT(hi_vector_push(&p->functions, f));
}

static void add_numbered_site(struct hi_deep_profile *p, uint32_t function, uint32_t kind,
			      uint32_t line, const char *place)
{
	struct hi_deep_call_site s = {.function = function,
				      .kind = kind,
				      .callee = HI_DEEP_NONE,
				      .file = text_of(p, line % 2 ? "code.c" : "part.h"),
				      .line = line,
				      .place = text_of(p, place)};

	HI_ASSERT(hi_vector_push(&p->sites, s));
}

static void know_costs(struct hi_deep_profile *p)
{
	static const enum hi_deep_cost known[] = {HI_DEEP_CALLS, HI_DEEP_EXITS,
						  HI_DEEP_FAILS, HI_DEEP_ALLOCS,
						  HI_DEEP_BYTES, HI_DEEP_LIVE};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		p->has[known[i]] = true;
}

static struct hi_deep_costs all_costs_of(const struct deep_stack *s)
{
	struct hi_deep_costs costs = {};

	costs.of[HI_DEEP_EXITS] = costs.of[HI_DEEP_ALLOCS] = s->count;
	costs.of[HI_DEEP_FAILS] = s->bytes % 3;
	costs.of[HI_DEEP_CALLS] = s->count + s->bytes % 3;
	costs.of[HI_DEEP_BYTES] = 8 * s->bytes;
	return costs;
}

/* The graph of a profile whose tables are there. */
static void add_graph(struct hi_deep_profile *p, const struct deep_stack *stacks,
		      size_t n)
{
	struct hi_deep *deep;
	struct hi_error err;

	HI_ASSERT_OK(hi_deep_create(&deep, &err), &err);
	for (size_t i = 0; i < n; i++) {
		struct hi_deep_costs costs = all_costs_of(&stacks[i]);

		HI_ASSERT_OK(
			hi_deep_add(deep, stacks[i].frames, stacks[i].n, &costs, &err),
			&err);
	}
	HI_ASSERT_OK(hi_deep_graph(deep, &p->graph, &err), &err);
	hi_deep_destroy(deep);
	know_costs(p);
}

/* Functions and call sites as deep_stacks.h numbers them. */
static void draw_profile(uint64_t seed, struct hi_deep_profile *p)
{
	static const uint32_t kinds[] = {HI_DEEP_DIRECT, HI_DEEP_DIRECT, HI_DEEP_VIRTUAL,
					 HI_DEEP_DIRECT, HI_DEEP_INDIRECT};
	struct deep_stack_set set = draw_deep_stacks(seed);
	char name[16];
	struct hi_error err;

	HI_ASSERT_OK(hi_deep_profile_init(p, &err), &err);
	p->program = text_of(p, "drawn");
	add_numbered_site(p, 0, HI_DEEP_DIRECT, 0, "");
	for (uint32_t f = 1; f <= DEEP_FUNCTIONS; f++) {
		snprintf(name, sizeof(name), "f%u", f);
		add_named_function(p, name, f % 2 ? "one" : "two", 100 * f, f % 2);
		for (uint32_t i = 0; i < DEEP_SITES; i++) {
			snprintf(name, sizeof(name), "+0x%x", (f - 1) * 64 + i);
			add_numbered_site(p, f, kinds[(f + i + seed) % 5], f * 10 + i,
					  name);
		}
	}
	add_graph(p, set.of, set.n);
}

/* hi_deep_mercury_write() into memory that the test frees. */
static uint8_t *write_profile(const struct hi_deep_profile *p, size_t *size)
{
	char *bytes = NULL;
	FILE *out = open_memstream(&bytes, size);
	struct hi_error err;

	HI_ASSERT(out != NULL);
	HI_ASSERT_OK(hi_deep_mercury_write(p, out, &err), &err);
	fclose(out);
	return (uint8_t *)bytes;
}

/* ---- write, then read ---- */

static void expect_text(const struct hi_deep_profile *p, uint32_t a,
			const struct hi_deep_profile *q, uint32_t b)
{
	HI_ASSERT_STREQ(hi_deep_profile_text(p, a), hi_deep_profile_text(q, b));
}

static void expect_same_functions(const struct hi_deep_profile *p,
				  const struct hi_deep_profile *q)
{
	HI_ASSERT_EQ(p->functions.count, q->functions.count);
	for (size_t i = 0; i < p->functions.count; i++) {
		const struct hi_deep_procedure *f = &p->functions.items[i],
					       *g = &q->functions.items[i];

		expect_text(p, f->name, q, g->name);
		expect_text(p, f->module, q, g->module);
		expect_text(p, f->file, q, g->file);
		HI_ASSERT_EQ(f->line, g->line);
		HI_ASSERT_EQ(f->is_exported, g->is_exported);
	}
}

/* Functions that a call site leads to. */
static uint32_t callees_of_site(const struct hi_deep_graph *g, uint32_t site,
				uint32_t *first_ret)
{
	bool has[DEEP_FUNCTIONS + 1] = {};
	uint32_t n = 0;

	for (uint32_t i = 0; i < g->n_edges; i++) {
		uint32_t f = g->nodes[g->edges[i].callee].function;

		if (g->edges[i].site != site || has[f])
			continue;
		has[f] = true;
		if (!n++)
			*first_ret = f;
	}
	return n;
}

/* new_ret: by call site, its new number; HI_DEEP_NONE: it leads nowhere. */
static void expect_same_sites(const struct hi_deep_profile *p,
			      const struct hi_deep_profile *q, uint32_t *new_ret)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->sites.count; i++) {
		const struct hi_deep_call_site *s = &p->sites.items[i], *t;
		bool is_direct = s->kind == HI_DEEP_DIRECT;
		uint32_t callee = HI_DEEP_NONE,
			 n_callees = callees_of_site(&p->graph, i, &callee);

		new_ret[i] = HI_DEEP_NONE;
		if (is_direct && !n_callees)
			continue;
		new_ret[i] = n;
		t = &q->sites.items[n++];
		HI_ASSERT_EQ(is_direct && n_callees > 1 ? HI_DEEP_INDIRECT : s->kind,
			     t->kind);
		HI_ASSERT_EQ(is_direct && n_callees == 1 ? callee : HI_DEEP_NONE,
			     t->callee);
		HI_ASSERT_EQ(s->function, t->function);
		HI_ASSERT_EQ(s->line, t->line);
		expect_text(p, s->file, q, t->file);
		expect_text(p, s->place, q, t->place);
	}
}

static struct hi_deep_costs as_written(const struct hi_deep_costs *costs)
{
	struct hi_deep_costs c = *costs;

	c.of[HI_DEEP_CALLSEQS] = c.of[HI_DEEP_CALLS];
	return c;
}

static void expect_costs_written(const struct hi_deep_costs *a,
				 const struct hi_deep_costs *b)
{
	struct hi_deep_costs c = as_written(a);

	HI_ASSERT(is_same_cost(&c, b));
}

static void expect_graph_written(const struct hi_deep_graph *g,
				 const struct hi_deep_graph *h, const uint32_t *new_site)
{
	HI_ASSERT_EQ(g->n_nodes, h->n_nodes);
	HI_ASSERT_EQ(g->n_edges, h->n_edges);
	HI_ASSERT_EQ(g->n_cliques, h->n_cliques);
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		HI_ASSERT_EQ(g->nodes[i].function, h->nodes[i].function);
		HI_ASSERT_EQ(g->nodes[i].clique, h->nodes[i].clique);
		HI_ASSERT_EQ(g->nodes[i].first_edge, h->nodes[i].first_edge);
		HI_ASSERT_EQ(g->nodes[i].n_edges, h->nodes[i].n_edges);
		expect_costs_written(&g->nodes[i].own, &h->nodes[i].own);
		expect_costs_written(&g->nodes[i].desc, &h->nodes[i].desc);
	}
	for (uint32_t i = 0; i < g->n_edges; i++) {
		HI_ASSERT_EQ(g->edges[i].caller, h->edges[i].caller);
		HI_ASSERT_EQ(new_site[g->edges[i].site], h->edges[i].site);
		HI_ASSERT_EQ(g->edges[i].callee, h->edges[i].callee);
		expect_costs_written(&g->edges[i].own, &h->edges[i].own);
		expect_costs_written(&g->edges[i].desc, &h->edges[i].desc);
	}
	expect_costs_written(&g->total, &h->total);
}

/* What a node allocated by itself is at the call site that stands for its function. */
static void check_leaves_of_functions(const struct hi_deep_profile *p)
{
	const struct hi_deep_graph *g = &p->graph;

	for (uint32_t i = 0; i < g->n_nodes; i++) {
		const struct hi_deep_node *n = &g->nodes[i];
		const struct hi_deep_leaf *leaf = &g->leaves[n->first_leaf];
		const struct hi_deep_call_site *s = &p->sites.items[leaf->site];

		HI_ASSERT_EQ(is_same_cost(&n->own, &(struct hi_deep_costs){}) ? 0 : 1,
			     n->n_leaves);
		if (!n->n_leaves)
			continue;
		HI_ASSERT(is_same_cost(&n->own, &leaf->costs));
		HI_ASSERT_EQ(HI_DEEP_DIRECT, s->kind);
		HI_ASSERT_EQ(HI_DEEP_NONE, s->callee);
		HI_ASSERT_EQ(0, s->place);
		HI_ASSERT_EQ(p->functions.items[n->function].line, s->line);
	}
}

static void check_round_trip(const struct hi_deep_profile *p)
{
	uint32_t new_site[DEEP_SITES * (DEEP_FUNCTIONS + 1)];
	struct hi_deep_profile q;
	struct hi_error err;
	size_t size, again;
	uint8_t *bytes = write_profile(p, &size), *other;

	HI_ASSERT_OK(hi_deep_mercury_read(bytes, size, &q, &err), &err);
	HI_ASSERT_STREQ("drawn", hi_deep_profile_text(&q, q.program));
	check_deep_profile(&q);
	expect_same_functions(p, &q);
	expect_same_sites(p, &q, new_site);
	expect_graph_written(&p->graph, &q.graph, new_site);
	check_leaves_of_functions(&q);
	other = write_profile(&q, &again);
	HI_ASSERT_EQ(size, again);
	HI_ASSERT(memcmp(bytes, other, size) == 0);
	hi_deep_profile_free(&q);
	free(other);
	free(bytes);
}

HI_TEST(deep_mercury, written_profile_is_read_back)
{
	for (uint64_t seed = 0; seed < ROUND_TRIPS; seed++) {
		struct hi_deep_profile p;

		draw_profile(seed, &p);
		check_deep_profile(&p);
		check_round_trip(&p);
		hi_deep_profile_free(&p);
	}
}

/* ---- bytes of the header, and of numbers ---- */

enum { MAIN = 1, PARSE, EXPR, LOAD };
/* Call sites: those up to H call functions. */
enum { A = 1, B, C, D, E, F, G, H, M };

/* The worked example, a call of EXPR by LOAD, and MAIN and LOAD calling themselves. */
static const struct deep_stack header_stacks[] = {
	{100, 10, 2, {{MAIN, A}, {PARSE, M + 1}}},
	{40, 4, 3, {{MAIN, A}, {PARSE, B}, {EXPR, M + 2}}},
	{60, 6, 4, {{MAIN, A}, {PARSE, B}, {EXPR, C}, {PARSE, M + 1}}},
	{500, 1, 2, {{MAIN, D}, {LOAD, M + 3}}},
	{30, 3, 3, {{MAIN, D}, {LOAD, E}, {PARSE, M + 1}}},
	{9, 1, 3, {{MAIN, D}, {LOAD, F}, {EXPR, M + 2}}},
	{8, 1, 3, {{MAIN, D}, {LOAD, H}, {LOAD, M + 3}}},
	{7, 1, 2, {{MAIN, G}, {MAIN, M}}},
};
enum { HEADER_STACKS = sizeof(header_stacks) / sizeof(*header_stacks) };

static void make_header_profile(struct hi_deep_profile *p)
{
	static const uint32_t function_of[] = {0,    MAIN, PARSE, EXPR,	 MAIN, LOAD, LOAD,
					       MAIN, LOAD, MAIN,  PARSE, EXPR, LOAD};
	struct hi_error err;

	HI_ASSERT_OK(hi_deep_profile_init(p, &err), &err);
	p->program = text_of(p, "demo");
	for (uint32_t f = MAIN; f <= LOAD; f++)
		add_named_function(p, "f", "m", f, false);
	for (uint32_t s = A; s <= M + 3; s++)
		add_numbered_site(p, function_of[s], HI_DEEP_DIRECT, s, "");
	add_graph(p, header_stacks, HEADER_STACKS);
	p->ticks_per_second = 100;
	p->sequence = 27;
	p->graph.total.of[HI_DEEP_TICKS] = 42;
	p->has[HI_DEEP_TICKS] = true;
}

HI_TEST(deep_mercury, header_has_the_documented_bytes)
{
	static const uint8_t drawn[] =
		"Mercury deep profiler data version 9\n\4demo\x08\1\0\0\0\0\0\0"
		"\x09\0\0\0\0\0\0\0\x09\0\0\0\0\0\0\0\x07\0\0\0\0\0\0\0\x05\0\0\0\0\0\0\0"
		"\x64\0\x2a\x1b\1";
	struct hi_deep_profile p;
	size_t size;
	uint8_t *bytes;

	make_header_profile(&p);
	bytes = write_profile(&p, &size);
	HI_ASSERT_EQ(87, sizeof(drawn) - 1);
	HI_ASSERT(size > 87 && memcmp(drawn, bytes, 87) == 0);
	HI_ASSERT_EQ(0, bytes[size - 1]);
	free(bytes);
	hi_deep_profile_free(&p);
}

HI_TEST(deep_mercury, numbers_are_groups_of_seven_bits)
{
	static const struct {
		uint64_t number;
		const char *bytes;
		size_t n;
	} drawn[] = {{0, "\0", 1},
		     {127, "\x7f", 1},
		     {128, "\x81\0", 2},
		     {300, "\x82\x2c", 2},
		     {16383, "\xff\x7f", 2},
		     {16384, "\x81\x80\0", 3},
		     {1176936, "\xc7\xea\x68", 3},
		     {1ull << 63, "\x81\x80\x80\x80\x80\x80\x80\x80\x80\0", 10},
		     {UINT64_MAX, "\x81\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 10}};

	for (size_t i = 0; i < sizeof(drawn) / sizeof(*drawn); i++) {
		struct hi_deep_profile p, q;
		struct hi_error err;
		uint8_t *bytes;
		size_t size;

		make_header_profile(&p);
		p.sequence = drawn[i].number;
		bytes = write_profile(&p, &size);
		HI_ASSERT(memcmp(bytes + 85, drawn[i].bytes, drawn[i].n) == 0);
		HI_ASSERT_EQ(1, bytes[85 + drawn[i].n]);
		HI_ASSERT_OK(hi_deep_mercury_read(bytes, size, &q, &err), &err);
		HI_ASSERT(q.sequence == drawn[i].number);
		free(bytes);
		hi_deep_profile_free(&q);
		hi_deep_profile_free(&p);
	}
}

/* 9 bytes are two words; live bytes are not in the file. */
HI_TEST(deep_mercury, bytes_are_rounded_up_to_words)
{
	struct deep_stack stack = {0, 1, 2, {{MAIN, A}, {PARSE, M + 1}}};
	struct hi_deep_profile p, q;
	struct hi_error err;
	uint8_t *bytes;
	size_t size;

	make_header_profile(&p);
	hi_deep_graph_free(&p.graph);
	add_graph(&p, &stack, 1);
	for (uint32_t i = 0; i < p.graph.n_edges; i++)
		p.graph.edges[i].own.of[HI_DEEP_BYTES] = i == 1 ? 9 : 0;
	p.graph.edges[1].own.of[HI_DEEP_LIVE] = 5;
	bytes = write_profile(&p, &size);
	HI_ASSERT_OK(hi_deep_mercury_read(bytes, size, &q, &err), &err);
	HI_ASSERT_EQ(16, q.graph.total.of[HI_DEEP_BYTES]);
	HI_ASSERT_EQ(0, q.graph.total.of[HI_DEEP_LIVE]);
	HI_ASSERT(!q.has[HI_DEEP_LIVE] && q.has[HI_DEEP_BYTES] && !q.has[HI_DEEP_TICKS]);
	free(bytes);
	hi_deep_profile_free(&q);
	hi_deep_profile_free(&p);
}

HI_TEST(deep_mercury, a_full_disk_is_an_error)
{
	struct hi_deep_profile p;
	struct hi_error err;
	FILE *full = fopen("/dev/full", "w");

	HI_ASSERT(full != NULL);
	make_header_profile(&p);
	HI_ASSERT_STATUS(HI_OS, hi_deep_mercury_write(&p, full, &err));
	fclose(full);
	hi_deep_profile_free(&p);
}

/* ---- names ---- */

HI_TEST(deep_mercury, names_are_those_that_mercury_shows)
{
	static const struct {
		const char *name;
		enum hi_mercury_label_kind kind;
		const char *pieces[3]; /* name, type, module of the type */
		uint32_t arity, mode;
	} drawn[] = {
		{"append/3-0", HI_MERCURY_PREDICATE, {"append"}, 3, 0},
		{"append/3-1", HI_MERCURY_PREDICATE, {"append"}, 3, 1},
		{"append/2+1-0", HI_MERCURY_FUNCTION, {"append"}, 2, 0},
		{"nullary/0+1-0", HI_MERCURY_FUNCTION, {"nullary"}, 0, 0},
		{"parse", HI_MERCURY_PREDICATE, {"parse"}, 0, 0},
		{"", HI_MERCURY_PREDICATE, {""}, 0, 0},
		{"parse/0-0", HI_MERCURY_PREDICATE, {"parse/0-0"}, 0, 0},
		{"a/03-0", HI_MERCURY_PREDICATE, {"a/03-0"}, 0, 0},
		{"a/4294967296-0", HI_MERCURY_PREDICATE, {"a/4294967296-0"}, 0, 0},
		{"a/4294967295-1", HI_MERCURY_PREDICATE, {"a"}, UINT32_MAX, 1},
		{"/3-0", HI_MERCURY_PREDICATE, {"/3-0"}, 0, 0},
		{"operator-(int)", HI_MERCURY_PREDICATE, {"operator-(int)"}, 0, 0},
		{"Unify for list.list/1",
		 HI_MERCURY_SPECIAL,
		 {"__Unify__", "list", "list"},
		 1,
		 0},
		{"Compare for a.b.t/0 mode 2",
		 HI_MERCURY_SPECIAL,
		 {"__Compare__", "t", "a.b"},
		 0,
		 2},
		{"Index for t/0", HI_MERCURY_SPECIAL, {"__Index__", "t", ""}, 0, 0},
		{"CompareRep for .t/0",
		 HI_MERCURY_SPECIAL,
		 {"__CompareRep__", ".t", ""},
		 0,
		 0},
		{"Unify for this", HI_MERCURY_PREDICATE, {"Unify for this"}, 0, 0},
		{"Unify for t/0 mode 0",
		 HI_MERCURY_PREDICATE,
		 {"Unify for t/0 mode 0"},
		 0,
		 0},
	};

	for (size_t i = 0; i < sizeof(drawn) / sizeof(*drawn); i++) {
		struct hi_mercury_label l = hi_mercury_label(drawn[i].name);
		struct hi_mercury_piece pieces[] = {l.name, l.type, l.type_module};
		struct hi_mercury_text text = {};

		HI_ASSERT_MSG(drawn[i].kind == l.kind, "%s", drawn[i].name);
		for (int k = 0; k < 3; k++) {
			const char *piece = drawn[i].pieces[k] ? drawn[i].pieces[k] : "";

			HI_ASSERT_MSG(strlen(piece) == pieces[k].n &&
					      (!*piece || memcmp(piece, pieces[k].at,
								 pieces[k].n) == 0),
				      "%s: %.*s", drawn[i].name, (int)pieces[k].n,
				      pieces[k].at);
		}
		HI_ASSERT_EQ(drawn[i].arity, l.arity);
		HI_ASSERT_EQ(drawn[i].mode, l.mode);
		HI_ASSERT(hi_mercury_name(&l, &text) && hi_vector_push(&text, '\0'));
		HI_ASSERT_STREQ(drawn[i].name, text.items);
		hi_vector_free(&text);
	}
}

HI_TEST(deep_mercury, places_are_goal_paths)
{
	static const struct {
		const char *place, *goal_path;
		bool is_back;
	} drawn[] = {
		{"", "", true},
		{"+0x0", "c0;c0;", true},
		{"+0x12", "c0;c18;", true},
		{"+0x7fffffffffffffff", "c0;c9223372036854775807;", true},
		{"c2;d1;s3-na;s3-12;?;t;e;~;q;q!;r;=;a;o4;",
		 "c2;d1;s3-na;s3-12;?;t;e;~;q;q!;r;=;a;o4;", true},
		{"c2;c18;", "c2;c18;", true},
		{"+0x8000000000000000", "", false}, /* more than Mercury's int */
		{"+0x012", "", false},
		{"+0x", "", false},
		{"c1", "", false},
		{";", "", false},
		{"x1;", "", false},
		{"c;", "", false},
		{"s1;", "", false},
		{"s1-;", "", false},
		{"s-1;", "", false},
		{"q?;", "", false},
		{"c1;col 3", "", false},
	};

	for (size_t i = 0; i < sizeof(drawn) / sizeof(*drawn); i++) {
		struct hi_mercury_text text = {};
		struct hi_mercury_piece path = {drawn[i].goal_path,
						strlen(drawn[i].goal_path)};

		HI_ASSERT(hi_mercury_goal_path(drawn[i].place, &text) &&
			  hi_vector_push(&text, '\0'));
		HI_ASSERT_STREQ(drawn[i].goal_path, text.items);
		text.count = 0;
		HI_ASSERT(hi_mercury_place(path, &text) && hi_vector_push(&text, '\0'));
		if (drawn[i].is_back)
			HI_ASSERT_STREQ(drawn[i].place, text.items);
		hi_vector_free(&text);
	}
}

/* ---- against a reader and a writer of others ---- */

#define ORACLE "/usr/bin/python3 " HI_SOURCE_DIR "/tests/support/mercury_oracle.py"

static void remove_test_file(void *path)
{
	remove(path);
	free(path);
}

/* A new file that is removed when the test ends. */
static const char *new_test_file(void)
{
	char *path = strdup("/tmp/heapinspect-deep-XXXXXX");
	int fd = mkstemp(path);

	HI_ASSERT(fd >= 0);
	close(fd);
	hi_test_defer(remove_test_file, path);
	return path;
}

/* What the oracle says of a file is what the profile has. */
static void expect_oracle(FILE *oracle, const struct hi_deep_profile *p,
			  const char *program)
{
	unsigned long nodes, edges, cliques, total;
	char word[16];

	HI_ASSERT_EQ(4,
		     fscanf(oracle, "%15s %lu %lu %lu", word, &nodes, &edges, &cliques));
	HI_ASSERT_STREQ(program, word);
	HI_ASSERT_EQ(nodes, p->graph.n_nodes);
	HI_ASSERT_EQ(edges, p->graph.n_edges);
	HI_ASSERT_EQ(cliques, p->graph.n_cliques);
	for (int i = 0; i < HI_MERCURY_COSTS; i++) {
		enum hi_deep_cost cost = hi_mercury_costs[i].cost;

		HI_ASSERT_EQ(1, fscanf(oracle, "%lu", &total));
		HI_ASSERT_MSG(total == p->graph.total.of[cost],
			      "cost %x: %lu, the oracle has %lu", hi_mercury_costs[i].bit,
			      (unsigned long)p->graph.total.of[cost], total);
	}
	for (uint32_t f = 1; f < p->functions.count; f++) {
		uint64_t own = 0;

		for (uint32_t i = 0; i < p->graph.n_nodes; i++)
			if (p->graph.nodes[i].function == f)
				own += p->graph.nodes[i].own.of[HI_DEEP_BYTES];
		HI_ASSERT_EQ(1, fscanf(oracle, "%lu", &total));
		HI_ASSERT_EQ(total, own);
	}
}

/* Programs that run as Mercury counts them, in versions 8 and 9 and with every kind of
 * coverage. */
HI_TEST(deep_mercury, files_of_another_writer_have_its_totals)
{
	static uint8_t data[1 << 16];
	const char *path = new_test_file();
	char command[512];
	FILE *oracle, *file;

	snprintf(command, sizeof(command), ORACLE " write %s %d", path, PROGRAMS);
	oracle = popen(command, "r");
	HI_ASSERT(oracle != NULL);
	file = fopen(path, "r");
	HI_ASSERT(file != NULL);
	for (int i = 0; i < PROGRAMS; i++) {
		struct hi_deep_profile p;
		struct hi_error err;
		unsigned long size;

		HI_ASSERT_EQ(1, fscanf(oracle, "%lu", &size));
		HI_ASSERT(size <= sizeof(data));
		HI_ASSERT_EQ(size, fread(data, 1, size, file));
		HI_ASSERT_OK(hi_deep_mercury_read(data, size, &p, &err), &err);
		check_deep_profile(&p);
		expect_oracle(oracle, &p, "program");
		hi_deep_profile_free(&p);
	}
	fclose(file);
	HI_ASSERT_EQ(0, pclose(oracle));
}

HI_TEST(deep_mercury, another_reader_agrees_with_the_written_profile)
{
	const char *path = new_test_file();
	char command[512];

	for (uint64_t seed = 0; seed < 8; seed++) {
		struct hi_deep_profile p;
		FILE *oracle, *file = fopen(path, "w");
		struct hi_error err;

		HI_ASSERT(file != NULL);
		draw_profile(seed, &p);
		HI_ASSERT_OK(hi_deep_mercury_write(&p, file, &err), &err);
		fclose(file);
		for (uint32_t i = 0; i < p.graph.n_edges; i++)
			p.graph.total.of[HI_DEEP_CALLSEQS] +=
				p.graph.edges[i].own.of[HI_DEEP_CALLS];
		snprintf(command, sizeof(command), ORACLE " read %s", path);
		oracle = popen(command, "r");
		HI_ASSERT(oracle != NULL);
		expect_oracle(oracle, &p, "drawn");
		HI_ASSERT_EQ(0, pclose(oracle));
		hi_deep_profile_free(&p);
	}
}
