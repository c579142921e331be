/* SPDX-License-Identifier: BSD-2-Clause */
/* Reports of the worked example of the deep profile: every figure is drawn. */
#include "tests/report/deep_profiles.h"

/* Rows are in this order. */
static void expect_rows(const struct hi_deep_table *t, const char *key,
			const char *const names[], const uint64_t own[],
			const uint64_t total[], size_t n)
{
	HI_ASSERT_EQ(n, deep_rows_of(t));
	for (size_t i = 0; i < n; i++) {
		HI_ASSERT_STREQ(names[i], deep_cell_of(t, i, key)->text);
		HI_ASSERT_EQ(own[i], deep_cell_of(t, i, "own_bytes")->number);
		HI_ASSERT_EQ(total[i], deep_cell_of(t, i, "total_bytes")->number);
	}
}

static void expect_call(const struct hi_deep_table *t, size_t row, const char *caller,
			const char *site, const char *callee, uint64_t own,
			uint64_t total)
{
	HI_ASSERT_STREQ(caller, deep_cell_of(t, row, "caller")->text);
	HI_ASSERT_STREQ(site, deep_cell_of(t, row, "site")->text);
	HI_ASSERT_STREQ(callee, deep_cell_of(t, row, "callee")->text);
	HI_ASSERT_EQ(own, deep_cell_of(t, row, "own_bytes")->number);
	HI_ASSERT_EQ(total, deep_cell_of(t, row, "total_bytes")->number);
}

HI_TEST(deep_report_drawn, menu_has_counts_and_totals)
{
	const struct hi_deep_report *r = ask_deep(make_deep_drawn(), "menu");
	const struct hi_deep_table *t = deep_table_of(r, "totals");

	HI_ASSERT_STREQ("demo", deep_fact_of(r, "program")->text);
	HI_ASSERT_EQ(6, deep_fact_of(r, "edges")->number);
	HI_ASSERT_EQ(10, deep_fact_of(r, "sites")->number);
	HI_ASSERT_EQ(6, deep_fact_of(r, "nodes")->number);
	HI_ASSERT_EQ(5, deep_fact_of(r, "functions")->number);
	HI_ASSERT_EQ(5, deep_fact_of(r, "cliques")->number);
	HI_ASSERT_EQ(2, deep_rows_of(t));
	HI_ASSERT_EQ(757,
		     deep_cell_of(t, deep_row_of(t, "cost", "bytes"), "total")->number);
	HI_ASSERT_EQ(27,
		     deep_cell_of(t, deep_row_of(t, "cost", "allocs"), "total")->number);
}

HI_TEST(deep_report_drawn, the_root_has_all)
{
	struct deep_made *made = make_deep_drawn();
	const struct hi_deep_report *r = ask_deep(made, "root/no&modules=never");

	HI_ASSERT_EQ(757, deep_fact_of(r, "total_bytes")->number);
	HI_ASSERT_EQ(27, deep_fact_of(r, "total_allocs")->number);
	HI_ASSERT_EQ(0, deep_rows_of(deep_table_of(r, "ancestors")));
	HI_ASSERT_EQ(1, deep_rows_of(deep_table_of(r, "calls")));
	expect_call(deep_table_of(r, "calls"), 0, "(root)", "", "main", 7, 757);
}

static void expect_action(const struct deep_made *made, const char *query,
			  const char *function)
{
	const struct hi_deep_report *r = ask_deep(made, query);
	const struct hi_deep_table *t = deep_table_of(r, "members");

	HI_ASSERT_EQ(1, deep_rows_of(t));
	HI_ASSERT_STREQ(function, deep_cell_of(t, 0, "function")->text);
}

HI_TEST(deep_report_drawn, the_action_starts_where_no_call_has_enough)
{
	struct deep_made *made = make_deep_drawn();

	expect_action(made, "root/90&modules=never", "main");
	expect_action(made, "root/60&modules=never", "load");
	/* 530 of 757 are 70.01 %. */
	expect_action(made, "root/70&modules=never", "load");
	expect_action(made, "root/71&modules=never", "main");
	/* Both calls of main have enough. */
	expect_action(made, "root/29&modules=never", "main");
	expect_action(made, "root/no&modules=never", "(root)");
	/* 22 of 27 objects are those of parse and expr, in one clique. */
	HI_ASSERT_EQ(2, deep_rows_of(deep_table_of(ask_deep(made, "root/60&order=allocs"),
						   "members")));
}

HI_TEST(deep_report_drawn, a_clique_has_members_ancestors_and_calls)
{
	static const char *const names[] = {"parse", "expr"};
	static const uint64_t own[] = {160, 60};
	const struct hi_deep_report *r =
		ask_deep(make_deep_drawn(), "clique/1&modules=never");
	const struct hi_deep_table *t = deep_table_of(r, "calls");

	HI_ASSERT_EQ(2, deep_fact_of(r, "members")->number);
	HI_ASSERT_EQ(220, deep_fact_of(r, "own_bytes")->number);
	HI_ASSERT_EQ(220, deep_fact_of(r, "total_bytes")->number);
	expect_rows(deep_table_of(r, "members"), "function", names, own, own, 2);
	HI_ASSERT_EQ(4, deep_rows_of(t));
	expect_call(t, 0, "parse", "m2", "(allocator)", 160, 160);
	/* The same costs: by name. */
	expect_call(t, 1, "expr", "m1", "(allocator)", 60, 60);
	expect_call(t, 2, "parse", "b", "expr", 60, 60);
	expect_call(t, 3, "expr", "c", "parse", 60, 60);
	t = deep_table_of(r, "ancestors");
	HI_ASSERT_EQ(2, deep_rows_of(t));
	expect_call(t, 0, "(root)", "", "main", 7, 757);
	expect_call(t, 1, "main", "a", "parse", 100, 220);
	HI_ASSERT_STREQ("clique/4&modules=never", deep_cell_of(t, 1, "caller")->link);
}

HI_TEST(deep_report_drawn, ancestors_have_a_limit)
{
	struct deep_made *made = make_deep_drawn();
	const struct hi_deep_table *t = deep_table_of(
		ask_deep(made, "clique/2&ancestors=1&modules=never"), "ancestors");

	HI_ASSERT_EQ(1, deep_rows_of(t));
	expect_call(t, 0, "load", "e", "parse", 30, 30);
	HI_ASSERT(t->note && strstr(t->note, "2 more"));
	t = deep_table_of(ask_deep(made, "clique/2"), "ancestors");
	HI_ASSERT_EQ(3, deep_rows_of(t));
	HI_ASSERT(t->note == NULL);
}

HI_TEST(deep_report_drawn, functions_have_the_sums_of_their_nodes)
{
	static const struct {
		const char *query;
		uint64_t own, total;
	} wanted[] = {{"proc/2", 7, 757},   {"proc/3", 190, 190}, {"proc/4", 60, 60},
		      {"proc/5", 500, 530}, {"proc/1", 0, 757},	  {"proc/0", 757, 757}};
	struct deep_made *made = make_deep_drawn();

	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		const struct hi_deep_report *r = ask_deep(made, wanted[i].query);

		HI_ASSERT_EQ(wanted[i].own, deep_fact_of(r, "own_bytes")->number);
		HI_ASSERT_EQ(wanted[i].total, deep_fact_of(r, "total_bytes")->number);
	}
}

HI_TEST(deep_report_drawn, a_function_has_its_call_sites_and_contexts)
{
	static const char *const sites[] = {"d", "a", "m0"};
	static const uint64_t own[] = {500, 100, 7}, total[] = {530, 220, 7};
	struct deep_made *made = make_deep_drawn();
	const struct hi_deep_report *r = ask_deep(made, "proc/2");
	const struct hi_deep_table *t = deep_table_of(r, "sites");

	expect_rows(t, "site", sites, own, total, 3);
	HI_ASSERT_STREQ("load (disk)", deep_cell_of(t, 0, "callee")->text);
	HI_ASSERT_STREQ("proc/5", deep_cell_of(t, 0, "callee")->link);
	HI_ASSERT_STREQ("(allocator)", deep_cell_of(t, 2, "callee")->text);
	HI_ASSERT_STREQ("proc/0", deep_cell_of(t, 2, "callee")->link);
	t = deep_table_of(ask_deep(made, "proc/3"), "nodes");
	HI_ASSERT_EQ(2, deep_rows_of(t));
	HI_ASSERT_STREQ("main (demo) a", deep_cell_of(t, 0, "entry")->text);
	HI_ASSERT_EQ(160, deep_cell_of(t, 0, "own_bytes")->number);
	HI_ASSERT_STREQ("load (disk) e", deep_cell_of(t, 1, "entry")->text);
	HI_ASSERT_EQ(30, deep_cell_of(t, 1, "own_bytes")->number);
}

HI_TEST(deep_report_drawn, callers_climb_out_of_the_contour)
{
	static const struct {
		const char *function, *site;
		uint64_t bytes;
	} wanted[] = {{"load", "m3", 500},
		      {"main", "a", 220},
		      {"load", "e", 30},
		      {"main", "m0", 7}};
	struct deep_made *made = make_deep_drawn();
	const struct hi_deep_table *t;

	set_deep_contour(made, "# what parses\nall util\n");
	t = deep_table_of(ask_deep(made, "proc_callers/0/cs/1/20/ac&modules=never"),
			  "callers");
	HI_ASSERT_EQ(4, deep_rows_of(t));
	for (size_t i = 0; i < 4; i++) {
		HI_ASSERT_STREQ(wanted[i].function, deep_cell_of(t, i, "function")->text);
		HI_ASSERT_STREQ(wanted[i].site, deep_cell_of(t, i, "site")->text);
		HI_ASSERT_EQ(wanted[i].bytes, deep_cell_of(t, i, "own_bytes")->number);
	}
	t = deep_table_of(ask_deep(made, "proc_callers/0/cs/1/20/nc"), "callers");
	HI_ASSERT_EQ(4, deep_rows_of(t));
	HI_ASSERT_EQ(757, deep_sum_of(t, "own_bytes"));
	HI_ASSERT_EQ(190, deep_cell_of(t, 1, "own_bytes")->number); /* parse m2 */
}

HI_TEST(deep_report_drawn, internal_leaves_out_what_is_not_exported)
{
	struct deep_made *made = make_deep_drawn();
	const struct hi_deep_table *t;

	set_deep_contour(made, "internal util");
	t = deep_table_of(ask_deep(made, "proc_callers/0/pr/1/20/ac&modules=never"),
			  "callers");
	/* expr is left out: its 60 count for main, which entered the clique. */
	HI_ASSERT_EQ(3, deep_rows_of(t));
	HI_ASSERT_EQ(500, deep_cell_of(t, 0, "own_bytes")->number);
	HI_ASSERT_STREQ("parse", deep_cell_of(t, 1, "function")->text);
	HI_ASSERT_EQ(190, deep_cell_of(t, 1, "own_bytes")->number);
	HI_ASSERT_STREQ("main", deep_cell_of(t, 2, "function")->text);
	HI_ASSERT_EQ(67, deep_cell_of(t, 2, "own_bytes")->number);
}

HI_TEST(deep_report_drawn, modules_are_sums)
{
	static const char *const names[] = {"demo", "disk", "util"};
	static const uint64_t own[] = {7, 500, 250}, total[] = {757, 530, 250};
	static const char *const functions[] = {"parse", "expr"};
	static const uint64_t of_functions[] = {190, 60};
	struct deep_made *made = make_deep_drawn();
	const struct hi_deep_table *t =
		deep_table_of(ask_deep(made, "program_modules"), "modules");
	const struct hi_deep_report *r;

	expect_rows(t, "module", names, own, total, 3);
	HI_ASSERT_EQ(757, deep_sum_of(t, "own_bytes"));
	HI_ASSERT_STREQ("module/util", deep_cell_of(t, 2, "module")->link);
	r = ask_deep(made, "module/util");
	expect_rows(deep_table_of(r, "functions"), "function", functions, of_functions,
		    of_functions, 2);
	HI_ASSERT_EQ(250, deep_fact_of(r, "own_bytes")->number);
}

static void expect_top(const struct deep_made *made, const char *query,
		       const char *const names[], size_t n)
{
	const struct hi_deep_table *t = deep_table_of(ask_deep(made, query), "functions");

	HI_ASSERT_EQ(n, deep_rows_of(t));
	for (size_t i = 0; i < n; i++)
		HI_ASSERT_STREQ(names[i], deep_cell_of(t, i, "function")->text);
}

HI_TEST(deep_report_drawn, top_functions_by_rank_share_and_value)
{
	static const char *const self[] = {"load", "parse", "expr", "main"};
	static const char *const both[] = {"main", "load", "parse", "expr"};
	static const char *const objects[] = {"parse", "expr", "load", "main"};
	static const char *const per_call[] = {"load", "expr", "parse", "main"};
	struct deep_made *made = make_deep_drawn();

	expect_top(made, "top_procs/1-100/bytes/self/oa&modules=never", self, 4);
	expect_top(made, "top_procs/2-3/bytes/self/oa&modules=never", self + 1, 2);
	expect_top(made, "top_procs/1-100/bytes/both/oa&modules=never", both, 4);
	expect_top(made, "top_procs/1-100/words/both/oa&modules=never", both, 4);
	/* load and main have one object each: the bytes decide. */
	expect_top(made, "top_procs/1-100/allocs/self/oa&modules=never", objects, 4);
	/* 190 of 757 are 25.099 %. */
	expect_top(made, "top_procs/p25/bytes/self/oa&modules=never", self, 2);
	expect_top(made, "top_procs/p25.2/bytes/self/oa&modules=never", self, 1);
	expect_top(made, "top_procs/v60/bytes/self/oa&modules=never", self, 3);
	expect_top(made, "top_procs/v61/bytes/self/oa&modules=never", self, 2);
	made->profile.has[HI_DEEP_CALLS] = true;
	for (size_t f = 1; f <= 4; f++)
		made->index.functions[f].own.of[HI_DEEP_CALLS] = 10;
	made->index.functions[DRAWN_EXPR].own.of[HI_DEEP_CALLS] = 3;
	/* 50, 20, 19 and 0.7 bytes a call. */
	expect_top(made, "top_procs/1-100/bytes/self/pc&modules=never", per_call, 4);
}

HI_TEST(deep_report_drawn, recursion_has_types)
{
	struct deep_made *made = make_deep_drawn();
	const struct hi_deep_report *r = ask_deep(made, "clique_rc/1&modules=never");
	const struct hi_deep_table *t = deep_table_of(r, "recursive");

	HI_ASSERT_STREQ("mutual, of 2 functions", deep_fact_of(r, "type")->text);
	HI_ASSERT_EQ(100, deep_fact_of(r, "base")->number);
	HI_ASSERT_EQ(120, deep_fact_of(r, "recursive")->number);
	HI_ASSERT_EQ(2, deep_rows_of(t));
	expect_call(t, 0, "parse", "b", "expr", 60, 60);
	expect_call(t, 1, "expr", "c", "parse", 60, 60);
	t = deep_table_of(ask_deep(made, "recursion_type_freq"), "types");
	HI_ASSERT_EQ(2, deep_rows_of(t));
	HI_ASSERT_EQ(3, deep_cell_of(t, 0, "cliques")->number);
	HI_ASSERT_EQ(537, deep_cell_of(t, 0, "own_bytes")->number);
	HI_ASSERT_EQ(1, deep_cell_of(t, 1, "cliques")->number);
	HI_ASSERT_EQ(220, deep_cell_of(t, 1, "own_bytes")->number);
}

static uint64_t sum_of_column(const struct hi_deep_report *r, const char *table,
			      const char *column)
{
	const struct hi_deep_table *t = deep_table_of(r, table);
	uint64_t sum = 0;

	for (size_t i = 0; i < deep_rows_of(t); i++)
		sum += deep_cell_of(t, i, column)->number;
	return sum;
}

/* D1: 9 call edges, 6 functions and 6 nodes; all of it is 757 bytes in 27 objects. */
HI_TEST(deep_report_drawn, a_whole_dump_has_each_row_once)
{
	struct deep_made *made = make_deep_drawn();
	const struct hi_deep_report *r = ask_deep(made, "dump");
	const struct hi_deep_report *menu = ask_deep(made, "menu");
	static const char *const tables[] = {"functions", "sites", "nodes", "edges",
					     "cliques"};

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		HI_ASSERT_EQ(deep_fact_of(menu, tables[i])->number,
			     deep_rows_of(deep_table_of(r, tables[i])));
	HI_ASSERT_EQ(757, sum_of_column(r, "nodes", "own_bytes"));
	HI_ASSERT_EQ(757, sum_of_column(r, "leaves", "own_bytes"));
	HI_ASSERT_EQ(27, sum_of_column(r, "leaves", "own_allocs"));
	HI_ASSERT_EQ(757, sum_of_column(r, "edges", "own_bytes"));
}

HI_TEST(deep_report_drawn, dumps_have_what_is_stored)
{
	struct deep_made *made = make_deep_drawn();
	const struct hi_deep_report *r = ask_deep(made, "dump_edge/2");

	HI_ASSERT_STREQ("2", deep_fact_of(r, "caller")->text);
	HI_ASSERT_STREQ("3", deep_fact_of(r, "callee")->text);
	HI_ASSERT_EQ(100, deep_fact_of(r, "own_bytes")->number);
	HI_ASSERT_EQ(120, deep_fact_of(r, "desc_bytes")->number);
	HI_ASSERT_STREQ("dump_node/3", deep_fact_of(r, "callee")->link);
	r = ask_deep(made, "dump_clique/1");
	HI_ASSERT_STREQ("2", deep_fact_of(r, "entry")->text);
	HI_ASSERT_EQ(2, deep_rows_of(deep_table_of(r, "members")));
	HI_ASSERT_STREQ("4", deep_cell_of(deep_table_of(r, "members"), 1, "node")->text);
	HI_ASSERT_STREQ("dump_node/4",
			deep_cell_of(deep_table_of(r, "members"), 1, "node")->link);
	r = ask_deep(made, "dump_clique/5");
	HI_ASSERT_STREQ("none", deep_fact_of(r, "entry")->text);
	r = ask_deep(made, "dump_function/3");
	HI_ASSERT_EQ(2, deep_rows_of(deep_table_of(r, "nodes")));
	HI_ASSERT_EQ(2, deep_rows_of(deep_table_of(r, "sites")));
	r = ask_deep(made, "dump_node/3");
	HI_ASSERT_EQ(160, deep_cell_of(deep_table_of(r, "leaves"), 0, "bytes")->number);
	r = ask_deep(made, "dump_site/6");
	HI_ASSERT_STREQ("m2", deep_fact_of(r, "place")->text);
}
