/* SPDX-License-Identifier: BSD-2-Clause */
/* Reports of a deep profile that there are not, columns, and hostile names. */
#include "base/alloc.h"
#include "report/render/text.h"
#include "tests/report/deep_profiles.h"
#include "tests/report/sample.h"

static void expect_error(const struct deep_made *made, const char *query,
			 enum hi_status status, const char *text)
{
	struct hi_deep_report *report;
	struct hi_error err;

	HI_ASSERT_STATUS(status, try_deep(made, query, &report, &err));
	HI_ASSERT_MSG(strstr(err.text, text) != NULL, "%s: \"%s\" is not in \"%s\"",
		      query, text, err.text);
}

HI_TEST(deep_report_error, unknown_ids_are_errors)
{
	struct deep_made *made = make_deep_drawn();

	expect_error(made, "clique/6", HI_NOT_FOUND, "clique 6");
	expect_error(made, "clique_rc/6", HI_NOT_FOUND, "there are 5");
	expect_error(made, "clique/4294967294", HI_NOT_FOUND, "clique 4294967294");
	expect_error(made, "proc/6", HI_NOT_FOUND, "function 6");
	expect_error(made, "proc_callers/6/cs/1/20/nc", HI_NOT_FOUND, "function 6");
	expect_error(made, "proc_callers/0/cs/2/20/nc", HI_NOT_FOUND, "page 2");
	expect_error(made, "module/none", HI_NOT_FOUND, "module");
	expect_error(made, "module/", HI_NOT_FOUND, "module");
	expect_error(made, "dump_node/7", HI_NOT_FOUND, "node 7");
	expect_error(made, "dump_edge/7", HI_NOT_FOUND, "edge 7");
	expect_error(made, "dump_function/6", HI_NOT_FOUND, "function 6");
	expect_error(made, "dump_site/11", HI_NOT_FOUND, "site 11");
	expect_error(made, "dump_clique/6", HI_NOT_FOUND, "clique 6");
}

HI_TEST(deep_report_error, commands_of_a_server_are_no_reports)
{
	struct deep_made *made = make_deep_drawn();

	expect_error(made, "quit", HI_UNSUPPORTED, "server");
	expect_error(made, "restart", HI_UNSUPPORTED, "server");
	expect_error(made, "timeout/30", HI_UNSUPPORTED, "server");
}

HI_TEST(deep_report_error, orders_by_a_cost_that_there_is_not)
{
	struct deep_made *made = make_deep_drawn();

	expect_error(made, "top_procs/1-9/drag/self/oa", HI_USAGE, "drag");
	expect_error(made, "top_procs/1-9/bytes/self/pc", HI_USAGE, "calls");
	expect_error(made, "clique/1&order=leaked", HI_USAGE, "leaked");
	expect_error(made, "top_procs/1-9/ticks/self/oa", HI_USAGE, "ticks");
	made->profile.has[HI_DEEP_BYTES] = false;
	expect_error(made, "top_procs/1-9/words/self/oa", HI_USAGE, "words");
	/* Without a wish it is another one. */
	HI_ASSERT_EQ(27, deep_fact_of(ask_deep(made, "root/no"), "total_allocs")->number);
}

HI_TEST(deep_report_error, times_need_ten_ticks)
{
	struct deep_made *made = make_deep_drawn();
	const struct hi_deep_report *r;

	made->profile.has[HI_DEEP_TICKS] = true;
	made->profile.graph.total.of[HI_DEEP_TICKS] = 9;
	expect_error(made, "top_procs/1-9/ticks/self/oa", HI_USAGE, "fewer than 10");
	r = ask_deep(made, "program_modules");
	HI_ASSERT(!deep_has_column(deep_table_of(r, "modules"), "own_ticks"));
	made->profile.graph.total.of[HI_DEEP_TICKS] = 10;
	ask_deep(made, "top_procs/1-9/ticks/self/oa");
	r = ask_deep(made, "program_modules");
	HI_ASSERT(deep_has_column(deep_table_of(r, "modules"), "own_ticks"));
}

HI_TEST(deep_report_error, preferences_choose_columns)
{
	struct deep_made *made = make_deep_drawn();
	const struct hi_deep_report *r;
	const struct hi_deep_table *t;

	made->profile.has[HI_DEEP_CALLS] = made->profile.has[HI_DEEP_LEAKED_BYTES] = true;
	t = deep_table_of(ask_deep(made, "program_modules"), "modules");
	HI_ASSERT(deep_has_column(t, "own_leaked") && !deep_has_column(t, "own_calls"));
	t = deep_table_of(ask_deep(made, "program_modules&fields=calls&unit=words"),
			  "modules");
	HI_ASSERT(deep_has_column(t, "own_calls") && !deep_has_column(t, "own_leaked"));
	HI_ASSERT(deep_has_column(t, "own_words") && !deep_has_column(t, "own_bytes"));
	/* 7 bytes are one word of 8, 500 are 63. */
	HI_ASSERT_EQ(1, deep_cell_of(t, 0, "own_words")->number);
	HI_ASSERT_EQ(63, deep_cell_of(t, 1, "own_words")->number);
	t = deep_table_of(ask_deep(made, "program_modules&fields=leaked&unit=words"),
			  "modules");
	HI_ASSERT(deep_has_column(t, "own_leaked_words"));
	r = ask_deep(made, "program_modules&fields=bytes,drag");
	HI_ASSERT_EQ(2, r->notes.count);
	HI_ASSERT(strstr(r->notes.items[1], "drag") != NULL);
	for (size_t f = 1; f <= 4; f++)
		made->index.functions[f].own.of[HI_DEEP_CALLS] = 4;
	t = deep_table_of(ask_deep(made, "module/disk&per_call=yes"), "functions");
	HI_ASSERT_EQ(500, deep_cell_of(t, 0, "own_bytes_per_call")->number);
	HI_ASSERT_EQ(4, deep_cell_of(t, 0, "own_bytes_per_call")->whole);
}

HI_TEST(deep_report_error, uncalled_functions_are_hidden_and_counted)
{
	struct deep_made *made = make_deep_drawn();
	struct hi_deep_graph graph = made->profile.graph;
	const struct hi_deep_table *t;
	struct hi_error err;
	uint32_t f = add_deep_function(made, "unused", "spare", true);

	add_deep_site(made, DRAWN_MAIN, "never");
	made->profile.sites.items[10].callee = f;
	hi_deep_index_free(&made->index);
	HI_ASSERT_OK(hi_deep_index_create(&made->profile, &made->index, &err), &err);
	HI_ASSERT_EQ(graph.n_nodes, made->profile.graph.n_nodes);
	t = deep_table_of(ask_deep(made, "program_modules"), "modules");
	HI_ASSERT_EQ(3, deep_rows_of(t));
	HI_ASSERT(t->note && strncmp(t->note, "1 ", 2) == 0);
	t = deep_table_of(ask_deep(made, "program_modules&inactive=modules"), "modules");
	HI_ASSERT_EQ(4, deep_rows_of(t));
	HI_ASSERT(t->note == NULL);
	t = deep_table_of(ask_deep(made, "module/spare"), "functions");
	HI_ASSERT_EQ(0, deep_rows_of(t));
	HI_ASSERT(t->note && strncmp(t->note, "1 ", 2) == 0);
	t = deep_table_of(ask_deep(made, "module/spare&inactive=procs"), "functions");
	HI_ASSERT_EQ(1, deep_rows_of(t));
	t = deep_table_of(ask_deep(made, "proc/2"), "sites");
	HI_ASSERT_EQ(3, deep_rows_of(t));
	HI_ASSERT(t->note && strncmp(t->note, "1 ", 2) == 0);
	t = deep_table_of(ask_deep(made, "proc/2&inactive=sites&modules=never"), "sites");
	HI_ASSERT_EQ(4, deep_rows_of(t));
	HI_ASSERT_STREQ("unused", deep_cell_of(t, 3, "callee")->text);
	HI_ASSERT_STREQ("proc/6&modules=never&inactive=sites",
			deep_cell_of(t, 3, "callee")->link);
}

/* ---- many callers, and several callees ---- */

HI_TEST(deep_report_error, callers_come_in_pages_of_twenty)
{
	enum { CALLERS = 45 };
	struct deep_stack stacks[CALLERS] = {};
	struct deep_made *made = make_deep();
	const struct hi_deep_report *r;
	uint32_t f = add_deep_function(made, "callee", "demo", true);
	uint32_t place = add_deep_site(made, f, "m");

	for (uint32_t i = 0; i < CALLERS; i++) {
		char name[16];
		uint32_t caller, site;

		snprintf(name, sizeof(name), "caller%02u", i);
		caller = add_deep_function(made, name, "demo", true);
		site = add_deep_site(made, caller, "c");
		stacks[i] =
			(struct deep_stack){1000 - i, 1, 2, {{caller, site}, {f, place}}};
	}
	add_deep_stacks(made, stacks, CALLERS);
	r = ask_deep(made, "proc_callers/2/cs/1/20/nc");
	HI_ASSERT_EQ(45, deep_fact_of(r, "callers")->number);
	HI_ASSERT_EQ(3, deep_fact_of(r, "pages")->number);
	HI_ASSERT_EQ(20, deep_rows_of(deep_table_of(r, "callers")));
	HI_ASSERT_STREQ("proc_callers/2/cs/2/20/nc", deep_fact_of(r, "next")->link);
	r = ask_deep(made, "proc_callers/2/cs/3/20/nc&modules=never");
	HI_ASSERT_EQ(5, deep_rows_of(deep_table_of(r, "callers")));
	HI_ASSERT_STREQ("caller40",
			deep_cell_of(deep_table_of(r, "callers"), 0, "function")->text);
	HI_ASSERT_STREQ("proc_callers/2/cs/2/20/nc&modules=never",
			deep_fact_of(r, "previous")->link);
	expect_error(made, "proc_callers/2/cs/4/20/nc", HI_NOT_FOUND, "page 4");
}

HI_TEST(deep_report_error, an_indirect_call_has_a_row_for_each_callee)
{
	static const struct deep_stack stacks[] = {
		{10, 1, 2, {{DRAWN_MAIN, DRAWN_A}, {DRAWN_PARSE, DRAWN_M2}}},
		{30, 1, 2, {{DRAWN_MAIN, DRAWN_A}, {DRAWN_LOAD, DRAWN_M3}}},
	};
	struct deep_made *made = make_deep_drawn();
	const struct hi_deep_table *t;
	struct hi_error err;

	hi_deep_index_free(&made->index);
	hi_deep_graph_free(&made->profile.graph);
	made->profile.sites.items[DRAWN_A].kind = HI_DEEP_INDIRECT;
	made->profile.graph = graph_of_stacks(stacks, 2);
	HI_ASSERT_OK(hi_deep_index_create(&made->profile, &made->index, &err), &err);
	t = deep_table_of(ask_deep(made, "proc/2&modules=never"), "sites");
	HI_ASSERT_EQ(3, deep_rows_of(t));
	HI_ASSERT_STREQ("indirect", deep_cell_of(t, 0, "kind")->text);
	HI_ASSERT_STREQ("2 functions", deep_cell_of(t, 0, "callee")->text);
	HI_ASSERT_EQ(40, deep_cell_of(t, 0, "own_bytes")->number);
	HI_ASSERT_STREQ("parse", deep_cell_of(t, 1, "callee")->text);
	HI_ASSERT_EQ(10, deep_cell_of(t, 1, "own_bytes")->number);
	HI_ASSERT_STREQ("load", deep_cell_of(t, 2, "callee")->text);
	t = deep_table_of(ask_deep(made, "proc/2&indirect=sum"), "sites");
	HI_ASSERT_EQ(1, deep_rows_of(t));
}

/* A list calls itself at one place, a tree at two. */
HI_TEST(deep_report_error, kinds_of_recursion)
{
	static const struct deep_stack stacks[] = {
		{1,
		 1,
		 3,
		 {{DRAWN_MAIN, DRAWN_A},
		  {DRAWN_PARSE, DRAWN_B},
		  {DRAWN_PARSE, DRAWN_M2}}},
		{1,
		 1,
		 3,
		 {{DRAWN_MAIN, DRAWN_D}, {DRAWN_LOAD, DRAWN_E}, {DRAWN_LOAD, DRAWN_M3}}},
		{1,
		 1,
		 3,
		 {{DRAWN_MAIN, DRAWN_D}, {DRAWN_LOAD, DRAWN_M3}, {DRAWN_LOAD, DRAWN_M3}}},
	};
	struct deep_made *made = make_deep_drawn();
	const struct hi_deep_table *t;
	struct hi_error err;

	hi_deep_index_free(&made->index);
	hi_deep_graph_free(&made->profile.graph);
	made->profile.graph = graph_of_stacks(stacks, 3);
	HI_ASSERT_OK(hi_deep_index_create(&made->profile, &made->index, &err), &err);
	t = deep_table_of(ask_deep(made, "recursion_type_freq"), "types");
	HI_ASSERT_EQ(3, deep_rows_of(t));
	HI_ASSERT_STREQ("none", deep_cell_of(t, 0, "type")->text);
	HI_ASSERT(strncmp(deep_cell_of(t, 1, "type")->text, "single", 6) == 0);
	HI_ASSERT_EQ(1, deep_cell_of(t, 1, "cliques")->number);
	HI_ASSERT(strncmp(deep_cell_of(t, 2, "type")->text, "divide", 6) == 0);
	HI_ASSERT_EQ(1, deep_cell_of(t, 2, "cliques")->number);
}

/* ---- hostile ---- */

static void check_hostile(const struct deep_made *made, const char *query)
{
	struct hi_text_options options = {.width = 100, .utf8 = true};
	const struct hi_deep_report *r = ask_deep(made, query);
	struct hi_page *page = hi_page_create();
	struct hi_error err;
	char *text = NULL, *json = deep_json_text(r);
	size_t size;
	FILE *out = open_memstream(&text, &size);

	HI_ASSERT(page && out);
	hi_deep_display(r, page);
	HI_ASSERT_OK(hi_text_render(page, &options, out, &err), &err);
	HI_ASSERT(fclose(out) == 0);
	HI_ASSERT(strchr(text, 033) == NULL && strchr(text, 0xff) == NULL);
	HI_ASSERT(strstr(text, "\xe2\x80\xae") == NULL);
	HI_ASSERT(strchr(json, 033) == NULL && strchr(json, 0xff) == NULL);
	HI_ASSERT(strstr(json, "\xe2\x80\xae") == NULL);
	hi_page_destroy(page);
	free(text);
	free(json);
}

HI_TEST(deep_report_error, hostile_names_do_no_harm)
{
	static const char *const queries[] = {
		"menu",
		"root/no",
		"clique/1",
		"clique/2&modules=always",
		"clique_rc/1",
		"recursion_type_freq",
		"proc/2",
		"proc/3",
		"proc_callers/3/cs/1/20/nc",
		"proc_callers/0/mo/1/20/nc",
		"program_modules",
		"top_procs/1-9/bytes/self/oa",
		"dump_function/2",
		"dump_site/2",
	};
	static const struct deep_stack stacks[] = {{10, 1, 2, {{1, 1}, {2, 2}}},
						   {5, 1, 3, {{1, 1}, {2, 2}, {2, 2}}}};
	size_t size = 1 << 20;
	char *huge = malloc(size + 1);
	struct deep_made *made = make_deep();
	const struct hi_deep_table *t;

	HI_ASSERT(huge != NULL);
	hi_test_defer(free, huge);
	memset(huge, 'x', size);
	huge[size] = 0;
	add_deep_function(made, SAMPLE_HOSTILE, SAMPLE_HOSTILE "/" SAMPLE_HOSTILE, true);
	add_deep_function(made, huge, huge, true);
	add_deep_site(made, 1, SAMPLE_HOSTILE);
	add_deep_site(made, 2, huge);
	made->profile.sites.items[1].file = deep_text(made, SAMPLE_HOSTILE);
	made->profile.sites.items[1].line = 7;
	made->profile.functions.items[1].file = deep_text(made, huge);
	made->profile.program = deep_text(made, SAMPLE_HOSTILE);
	add_deep_stacks(made, stacks, 2);
	for (size_t i = 0; i < sizeof(queries) / sizeof(*queries); i++)
		check_hostile(made, queries[i]);
	t = deep_table_of(ask_deep(made, "program_modules"), "modules");
	/* The link of a module with a long name there is not; the other one leads there.
	 */
	HI_ASSERT(deep_cell_of(t, 1, "module")->link == NULL);
	check_hostile(made, deep_cell_of(t, 0, "module")->link);
}

HI_TEST(deep_report_error, a_graph_without_descriptions_is_refused)
{
	static const struct deep_stack stacks[] = {{1, 1, 1, {{9, 0}}},
						   {1, 1, 1, {{1, 9}}}};
	struct hi_deep_index index;
	struct hi_error err;

	for (size_t i = 0; i < 2; i++) {
		struct deep_made *made = make_deep();

		add_deep_function(made, "f", "demo", true);
		made->profile.graph = graph_of_stacks(&stacks[i], 1);
		HI_ASSERT_STATUS(HI_BAD_DATA,
				 hi_deep_index_create(&made->profile, &index, &err));
	}
}

/* ---- no memory ---- */

/* The report, or HI_NO_MEMORY; never less than the whole. */
static void check_without_memory(const struct deep_made *made, const char *query,
				 const char *wanted)
{
	enum hi_status status = HI_NO_MEMORY;

	for (uint64_t nth = 1; status; nth++) {
		struct hi_deep_report *report;
		struct hi_error err;
		char *json;

		hi_alloc_fail_once(nth);
		status = try_deep(made, query, &report, &err);
		if (status) {
			hi_alloc_fail_at(0);
			HI_ASSERT_STATUS(HI_NO_MEMORY, status);
			continue;
		}
		HI_ASSERT(hi_alloc_count() < nth);
		hi_alloc_fail_at(0);
		json = deep_json_text(report);
		HI_ASSERT_STREQ(wanted, json);
		free(json);
		hi_deep_report_destroy(report);
	}
}

HI_TEST(deep_report_error, without_memory_there_is_no_report)
{
	static const char *const queries[] = {
		"menu",
		"root/60",
		"clique/1&developer=yes",
		"clique_rc/1",
		"recursion_type_freq",
		"proc/2&inactive=shown",
		"proc_callers/0/cs/1/2/ac",
		"program_modules",
		"module/util",
		"top_procs/1-9/bytes/self/oa&per_call=yes",
		"dump_node/3",
	};
	struct deep_made *made = make_deep_drawn();

	made->profile.has[HI_DEEP_CALLS] = true;
	set_deep_contour(made, "all util");
	for (size_t i = 0; i < sizeof(queries) / sizeof(*queries); i++) {
		char *wanted = deep_json_text(ask_deep(made, queries[i]));

		check_without_memory(made, queries[i], wanted);
		free(wanted);
	}
}

HI_TEST(deep_report_error, without_memory_there_is_no_index_and_no_contour)
{
	struct deep_made *made = make_deep_drawn();
	struct hi_deep_contour contour;
	struct hi_deep_index index;
	struct hi_error err;

	for (uint64_t nth = 1; nth <= 6; nth++) {
		hi_alloc_fail_once(nth);
		HI_ASSERT_STATUS(HI_NO_MEMORY,
				 hi_deep_index_create(&made->profile, &index, &err));
		hi_alloc_fail_at(0);
	}
	hi_alloc_fail_once(1);
	HI_ASSERT_STATUS(HI_NO_MEMORY,
			 hi_deep_contour_parse(&made->profile, "", 0, &contour, &err));
	hi_alloc_fail_at(0);
}
