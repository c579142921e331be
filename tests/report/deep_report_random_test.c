/* SPDX-License-Identifier: BSD-2-Clause */
/* Properties of reports of random deep profiles. */
#include "report/render/text.h"
#include "tests/report/deep_profiles.h"
#include "tests/support/random.h"

enum { SETS = 300, STACKS = 14, FUNCTIONS = 6, SITES = 2, MODULES = 3 };

static struct deep_made *draw_profile(uint64_t seed)
{
	static const char *const modules[MODULES] = {"one", "two", "three"};
	uint64_t random = seed * 0x9e3779b97f4a7c15u + 3;
	struct deep_stack stacks[STACKS];
	size_t n = random_below(&random, STACKS + 1);
	struct deep_made *made = make_deep();
	char name[16];

	for (uint32_t f = 1; f <= FUNCTIONS; f++) {
		snprintf(name, sizeof(name), "f%u", random_below(&random, 4));
		add_deep_function(made, name, modules[random_below(&random, MODULES)],
				  random_below(&random, 2));
		for (uint32_t s = 0; s < SITES; s++) {
			snprintf(name, sizeof(name), "+%u", s);
			add_deep_site(made, f, name);
		}
	}
	for (size_t i = 0; i < n; i++) {
		struct deep_stack *s = &stacks[i];

		*s = (struct deep_stack){random_below(&random, 1000),
					 1 + random_below(&random, 9),
					 1 + random_below(&random, 8),
					 {}};
		for (uint32_t k = 0; k < s->n; k++) {
			uint32_t f = 1 + random_below(&random, FUNCTIONS);

			s->frames[k] = (struct hi_deep_frame){
				f, 1 + (f - 1) * SITES + random_below(&random, SITES)};
		}
	}
	add_deep_stacks(made, stacks, n);
	return made;
}

/* A report that does not outlive the call of use(). */
static void with_report(const struct deep_made *made, const char *query,
			void (*use)(const struct deep_made *,
				    const struct hi_deep_report *, void *),
			void *arg)
{
	struct hi_deep_report *report;
	struct hi_error err;

	HI_ASSERT_OK(try_deep(made, query, &report, &err), &err);
	use(made, report, arg);
	hi_deep_report_destroy(report);
}

static void expect_callers_total(const struct deep_made *made,
				 const struct hi_deep_report *r, void *arg)
{
	const struct hi_deep_table *t = deep_table_of(r, "callers");

	(void)made;
	HI_ASSERT_EQ(*(const uint64_t *)arg, deep_sum_of(t, "total_bytes"));
}

/* Callers of the allocator have all; those of a function what its calls have, however
 * they are put together, with and without the contour. */
static void check_callers(const struct deep_made *made)
{
	static const char *const groups[] = {"cs", "pr", "mo", "cl"};
	const struct hi_deep_graph *g = &made->profile.graph;
	char query[80];

	for (uint32_t f = 0; f <= FUNCTIONS + 1; f++) {
		uint64_t total = f ? 0 : g->total.of[HI_DEEP_BYTES];

		for (uint32_t i = 0; i < g->n_edges; i++)
			if (g->nodes[g->edges[i].callee].function + 1 == f)
				total += g->edges[i].own.of[HI_DEEP_BYTES] +
					 g->edges[i].desc.of[HI_DEEP_BYTES];
		for (int i = 0; i < 8; i++) {
			snprintf(query, sizeof(query), "proc_callers/%u/%s/1/1000/%s", f,
				 groups[i / 2], i % 2 ? "ac" : "nc");
			with_report(made, query, expect_callers_total, &total);
		}
	}
}

static void expect_own_total(const struct deep_made *made, const struct hi_deep_report *r,
			     void *arg)
{
	HI_ASSERT_EQ(made->profile.graph.total.of[HI_DEEP_BYTES],
		     deep_sum_of(deep_table_of(r, arg), "own_bytes"));
}

static bool is_contour_free(const struct hi_deep_table *t, const struct deep_made *made)
{
	for (size_t i = 0; i < deep_rows_of(t); i++) {
		const char *link = deep_cell_of(t, i, "function")->link;
		uint32_t f = (uint32_t)strtoul(link + strlen("proc/"), NULL, 10);

		if (made->contour.excludes[f - 1])
			return false;
	}
	return true;
}

static void expect_contour_free(const struct deep_made *made,
				const struct hi_deep_report *r, void *arg)
{
	(void)arg;
	HI_ASSERT(is_contour_free(deep_table_of(r, "callers"), made));
}

HI_TEST(deep_report_random, totals_stay_the_same)
{
	static char modules[] = "modules", functions[] = "functions";

	for (uint64_t seed = 0; seed < SETS; seed++) {
		struct deep_made *made = draw_profile(seed);
		struct hi_error err;
		char text[] = "all one\ninternal two\nall nothing\n";

		/* A module that no function has makes the contour an error; the root is
		 * in none. */
		if (hi_deep_contour_parse(&made->profile, text, strlen(text),
					  &made->contour, &err) == HI_OK) {
			made->index.contour = &made->contour;
			with_report(made, "proc_callers/0/pr/1/1000/ac",
				    expect_contour_free, NULL);
		}
		check_callers(made);
		with_report(made, "program_modules", expect_own_total, modules);
		with_report(made, "top_procs/1-1000/bytes/self/oa", expect_own_total,
			    functions);
	}
}

/* What leaves a clique, and what it allocates, is what it has. */
static void check_clique(const struct deep_made *made, const struct hi_deep_report *r,
			 void *arg)
{
	const struct hi_deep_table *t = deep_table_of(r, "calls");
	uint64_t sum = 0;

	(void)made;
	(void)arg;
	for (size_t i = 0; i < deep_rows_of(t); i++) {
		const char *link = deep_cell_of(t, i, "callee")->link;

		if (!link || strncmp(link, "clique/", 7) == 0)
			sum += deep_cell_of(t, i, "total_bytes")->number;
	}
	HI_ASSERT_EQ(deep_fact_of(r, "total_bytes")->number, sum);
	HI_ASSERT_EQ(deep_fact_of(r, "own_bytes")->number,
		     deep_sum_of(deep_table_of(r, "members"), "own_bytes"));
}

/* The sites of a function have what it has; what it calls in its clique counts there. */
static void check_order(const struct deep_made *made, const struct hi_deep_report *r,
			void *arg)
{
	const struct hi_deep_table *t = deep_table_of(r, "functions");
	bool self = arg != NULL;
	uint64_t last = UINT64_MAX;

	(void)made;
	for (size_t i = 0; i < deep_rows_of(t); i++) {
		uint64_t value =
			deep_cell_of(t, i, self ? "own_allocs" : "total_allocs")->number;

		HI_ASSERT(value <= last);
		if (value == last)
			HI_ASSERT(
				deep_cell_of(t, i - 1, self ? "own_bytes" : "total_bytes")
					->number >=
				deep_cell_of(t, i, self ? "own_bytes" : "total_bytes")
					->number);
		last = value;
	}
}

HI_TEST(deep_report_random, cliques_and_orders)
{
	static char self[] = "self";

	for (uint64_t seed = 0; seed < SETS; seed++) {
		struct deep_made *made = draw_profile(seed);
		char query[40];

		for (uint32_t i = 1; i <= made->profile.graph.n_cliques; i++) {
			snprintf(query, sizeof(query), "clique/%u", i);
			with_report(made, query, check_clique, NULL);
		}
		with_report(made, "top_procs/1-100/allocs/self/oa", check_order, self);
		with_report(made, "top_procs/1-100/allocs/both/oa", check_order, NULL);
	}
}

/* ---- all that a report links to is a report, and the same again ---- */

struct walk {
	struct HI_VECTOR(char *) queries;
};

static void add_link(struct walk *w, const char *link)
{
	char *copy;

	if (!link)
		return;
	for (size_t i = 0; i < w->queries.count; i++)
		if (strcmp(w->queries.items[i], link) == 0)
			return;
	copy = strdup(link);
	HI_ASSERT(copy && hi_vector_push(&w->queries, copy));
}

static char *page_text(const struct hi_deep_report *r)
{
	struct hi_text_options options = {.width = 100, .utf8 = true};
	struct hi_page *page = hi_page_create();
	struct hi_error err;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	HI_ASSERT(page && out);
	hi_deep_display(r, page);
	HI_ASSERT_OK(hi_text_render(page, &options, out, &err), &err);
	HI_ASSERT(fclose(out) == 0);
	hi_page_destroy(page);
	return text;
}

static void visit(const struct deep_made *made, const struct hi_deep_report *r, void *arg)
{
	struct hi_deep_report *again;
	struct hi_error err;
	char *text[4];

	for (size_t i = 0; i < r->facts.count; i++)
		add_link(arg, r->facts.items[i].cell.link);
	for (size_t i = 0; i < r->tables.count; i++)
		for (size_t k = 0; k < r->tables.items[i]->cells.count; k++)
			add_link(arg, r->tables.items[i]->cells.items[k].link);
	HI_ASSERT_OK(try_deep(made, r->query, &again, &err), &err);
	HI_ASSERT_STREQ(r->query, again->query);
	text[0] = deep_json_text(r);
	text[1] = deep_json_text(again);
	text[2] = page_text(r);
	text[3] = page_text(again);
	HI_ASSERT_STREQ(text[0], text[1]);
	HI_ASSERT_STREQ(text[2], text[3]);
	for (int i = 0; i < 4; i++)
		free(text[i]);
	hi_deep_report_destroy(again);
}

static size_t visit_all(const struct deep_made *made, const char *first)
{
	struct walk w = {};
	size_t n;

	add_link(&w, first);
	for (size_t i = 0; i < w.queries.count; i++)
		with_report(made, w.queries.items[i], visit, &w);
	n = w.queries.count;
	for (size_t i = 0; i < n; i++) {
		/* Links keep preferences. */
		const char *prefs = strchr(first, '&');

		HI_ASSERT(!prefs || strcmp(strchr(w.queries.items[i], '&'), prefs) == 0);
		free(w.queries.items[i]);
	}
	hi_vector_free(&w.queries);
	return n;
}

HI_TEST(deep_report_random, every_link_leads_to_a_report_that_is_the_same_twice)
{
	size_t n = visit_all(make_deep_drawn(), "menu");

	/* 6 nodes, 6 edges, 5 functions, 10 call sites, 5 cliques have a dump each. */
	HI_ASSERT_EQ(n + 32, visit_all(make_deep_drawn(), "menu&developer=yes"));
	/* Menu and its 10, cliques twice, flames below 4 of them, functions, 6 times 4
	 * lists of callers, modules. */
	HI_ASSERT_EQ(11 + 2 * 5 + 4 + 5 + 6 * 4 + 3, n);
	for (uint64_t seed = 0; seed < 20; seed++)
		visit_all(draw_profile(seed),
			  "menu&fields=bytes,words&order=allocs&scope=self&per_call=yes"
			  "&unit=words&ancestors=2&modules=always&contour=yes"
			  "&inactive=shown&developer=yes");
}
