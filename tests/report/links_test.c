/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the cells of pages lead. Truth: the heap of tests/report/sample.h, in which
 * object i has type i % SAMPLE_TYPES and begins at SAMPLE_HEAP + 0x10 + 0x100 i. */
#include <inttypes.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/formats/html_page.h"
#include "report/formats/text.h"
#include "report/views/census_report.h"
#include "report/views/explain_report.h"
#include "report/views/leaks_report.h"
#include "report/views/links.h"
#include "report/views/paths_report.h"
#include "report/views/retained_report.h"
#include "tests/report/sample.h"

static void destroy_page(void *page)
{
	hi_page_destroy(page);
}

static struct hi_page *make_page(void)
{
	struct hi_page *page = hi_page_create();

	HI_ASSERT(page);
	hi_test_defer(destroy_page, page);
	return page;
}

static char *text_of(const struct hi_page *page)
{
	struct hi_text_options options = {.width = 120, .utf8 = true};
	struct hi_error err = {};
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	HI_ASSERT(out);
	setlocale(LC_CTYPE, "C.UTF-8");
	HI_ASSERT_OK(hi_text_render(page, &options, out, &err), &err);
	fclose(out);
	hi_test_defer(free, text);
	return text;
}

/* The link of a cell of the nth table; "" none. */
static const char *link_at(const struct hi_page *page, size_t table, size_t row,
			   size_t column)
{
	const struct hi_report_table *t = page->tables.items[table];
	const char *link = t->cells.items[row * t->n_columns + column].link;

	return link ? link : "";
}

static const char *link_of_fact(const struct hi_page *page, const char *key)
{
	for (size_t i = 0; i < page->items.count; i++) {
		const struct hi_item *item = &page->items.items[i];

		if (item->kind == HI_ITEM_FACT && strcmp(item->aside, key) == 0)
			return item->link ? item->link : "";
	}
	hi_test_fail(__FILE__, __LINE__, "no fact %s", key);
}

static struct hi_node_info object_info(const struct sample *s, hi_node object)
{
	return hi_node_info(s->graph, &s->dominators, object);
}

/* ---- leaks, census ---- */

static struct hi_page *leaks_page(struct sample *s)
{
	struct hi_restrict all = {.top = SIZE_MAX};
	struct hi_leaks_report *report = NULL;
	struct hi_page *page = make_page();
	struct hi_error err = {};

	HI_ASSERT_OK(hi_leaks_report_create(&s->header, s->graph, &s->reach, &s->leaks,
					    &all, &report, &err),
		     &err);
	hi_leaks_display(report, page);
	hi_leaks_report_destroy(report);
	return page;
}

HI_TEST(links, of_leaks_lead_to_the_object_and_to_leaks_of_its_type)
{
	struct hi_page *page = leaks_page(sample_make());

	/* The first row is of type 6, its example is object 18. */
	HI_ASSERT_STREQ("leaks?type=struct%20client", link_at(page, 0, 0, 0));
	HI_ASSERT_STREQ("explain/0x55d0c8a42210", link_at(page, 0, 0, 5));
	HI_ASSERT_STREQ("explain/0x55d0c8a42210", link_at(page, 1, 0, 0));
	HI_ASSERT_STREQ("leaks?type=%28untyped%29", link_at(page, 1, 0, 1));
	/* Type 8 tries everything; the leak roots of the sample are named after object 0.
	 */
	HI_ASSERT_STREQ("leaks?type=evil%1B%5B31m%0A%22quoted%22%20%FF%E2%80%AEback%"
			"5Cslash",
			link_at(page, 0, 2, 0));
}

HI_TEST(links, of_types_lead_to_what_keeps_them_and_to_their_objects)
{
	struct sample *s = sample_make();
	struct hi_restrict all = {.top = SIZE_MAX};
	struct hi_census_report *report = NULL;
	struct hi_page *page = make_page();
	struct hi_error err = {};

	HI_ASSERT_OK(hi_census_report_create(&s->header, s->graph, &s->census, &all,
					     &report, &err),
		     &err);
	hi_census_display(report, page);
	hi_census_report_destroy(report);
	HI_ASSERT_STREQ("census?by=size", link_at(page, 0, 0, 0));
	HI_ASSERT_STREQ("retained?type=%28untyped%29", link_at(page, 0, 0, 1));
	HI_ASSERT_STREQ("paths/struct%20dictEntry", link_at(page, 0, 1, 0));
	HI_ASSERT_STREQ("retained?type=struct%20dictEntry", link_at(page, 0, 1, 1));
	HI_ASSERT_STREQ("", link_at(page, 0, 1, 2));
	HI_ASSERT_STREQ("retained?type=struct%20dictEntry", link_at(page, 0, 1, 4));
	/* Short in text, whole in the link. */
	HI_ASSERT_STREQ("paths/std::__cxx11::basic_string%3Cchar,%20std::char_traits%"
			"3Cchar%3E,%20std::allocator%3Cchar%3E%20%3E",
			link_at(page, 0, 5, 0));
}

/* ---- explain, paths, retained ---- */

static struct hi_page *explain_page(struct sample *s)
{
	struct hi_explain_field fields[] = {
		{.offset = 0, .path = "next", .type = "struct dict *", .value = "0x1"},
		{.offset = 8, .path = "id", .type = "int", .value = "7"}};
	struct hi_explain_link referrers[] = {
		{.info = object_info(s, 2), .text = "->a"},
		{.info = hi_node_info(s->graph, NULL, s->graph->first_root), .text = ""}};
	struct hi_node_info dominators[] = {object_info(s, 3)};
	struct hi_explain_report r = {.header = &s->header,
				      .address = SAMPLE_HEAP + 0x110,
				      .state = "live",
				      .info = object_info(s, 1),
				      .live_bytes = s->reach.live_bytes,
				      .mapping = "",
				      .evidence = "",
				      .name = "",
				      .value = "",
				      .fields = fields,
				      .n_fields = 2,
				      .n_fields_total = 2,
				      .referrers = referrers,
				      .n_referrers = 2,
				      .n_referrers_total = 2,
				      .dominators = dominators,
				      .n_dominators = 1};
	struct hi_page *page = make_page();

	fields[0].points = true;
	fields[0].to = object_info(s, 4);
	hi_explain_display(&r, page);
	return page;
}

HI_TEST(links, of_an_object_lead_to_fields_referrers_and_dominators)
{
	struct hi_page *page = explain_page(sample_make());

	HI_ASSERT_STREQ("paths/struct%20dictEntry", link_of_fact(page, "type"));
	HI_ASSERT_STREQ("tree/0x55d0c8a41110", link_of_fact(page, "retains"));
	HI_ASSERT_STREQ("explain/0x55d0c8a41410", link_at(page, 0, 0, 4));
	HI_ASSERT_STREQ("", link_at(page, 0, 1, 4));
	HI_ASSERT_STREQ("explain/0x55d0c8a41210", link_at(page, 1, 0, 0));
	HI_ASSERT_STREQ("explain/0x55d0c8a41210", link_at(page, 1, 0, 1));
	HI_ASSERT_STREQ("explain/0x4000", link_at(page, 1, 1, 0));
	HI_ASSERT_STREQ("explain/0x55d0c8a41310", link_at(page, 2, 0, 1));
	HI_ASSERT_STREQ("tree/0x55d0c8a41310", link_at(page, 2, 0, 2));
}

static struct hi_page *paths_page(struct sample *s, bool steps)
{
	struct hi_paths_step step[] = {
		{.edge = "",
		 .info = hi_node_info(s->graph, &s->dominators, s->graph->first_root)},
		{.edge = "->db", .info = object_info(s, 0)},
		{.edge = "->key", .info = object_info(s, 15)}};
	struct hi_paths_way way = {.text = "server->db->key",
				   .pattern = "server->db->key",
				   .steps = step,
				   .n_steps = 3,
				   .n_alike = 1};
	struct hi_paths_report r = {.header = &s->header,
				    .query = "struct dictEntry",
				    .target = "struct dictEntry (2 live)",
				    .steps = steps,
				    .n_targets = 2,
				    .ways = &way,
				    .n_ways = 1,
				    .more = true};
	struct hi_page *page = make_page();

	hi_paths_display(&r, page);
	return page;
}

HI_TEST(links, of_a_path_have_its_steps_where_text_has_not)
{
	struct sample *s = sample_make();
	struct hi_page *page = paths_page(s, false);

	HI_ASSERT_STREQ("explain/0x4000", link_at(page, 0, 0, 1));
	HI_ASSERT_STREQ("explain/0x55d0c8a41010", link_at(page, 0, 1, 1));
	HI_ASSERT_STREQ("explain/0x55d0c8a41f10", link_at(page, 0, 2, 2));
	HI_ASSERT_STREQ("tree/0x55d0c8a41f10", link_at(page, 0, 2, 3));
	HI_ASSERT(!strstr(text_of(page), "0x55d0c8a41010"));
	HI_ASSERT(strstr(text_of(paths_page(s, true)), "0x55d0c8a41010"));
	for (size_t i = 0; i < page->items.count; i++)
		if (page->items.items[i].text &&
		    strcmp(page->items.items[i].text, "server->db->key") == 0)
			HI_ASSERT_STREQ("paths/0x55d0c8a41f10",
					page->items.items[i].link);
}

/* ---- text ---- */

HI_TEST(links, make_no_difference_to_text)
{
	struct sample *s = sample_make();
	struct hi_page *pages[] = {leaks_page(s), explain_page(s), paths_page(s, false),
				   paths_page(s, true)};

	for (size_t i = 0; i < sizeof(pages) / sizeof(*pages); i++) {
		const char *with = text_of(pages[i]);

		hi_page_drop_links(pages[i]);
		HI_ASSERT_STREQ(text_of(pages[i]), with);
	}
}

/* ---- items, censuses, names ---- */

static const char *href_of_test(void *arg, const char *address)
{
	snprintf(arg, 200, "/x/%s", address);
	return arg;
}

static char *html_of(const struct hi_page *page)
{
	char href[200];
	struct hi_html_links links = {.href = href_of_test, .arg = href};
	struct hi_error err = {};
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	HI_ASSERT(out);
	HI_ASSERT_OK(hi_html_linked_page(page, &links, out, &err), &err);
	fclose(out);
	hi_test_defer(free, text);
	return text;
}

HI_TEST(links, of_facts_headings_and_lines_are_links_in_html)
{
	struct hi_page *page = make_page();
	const char *html;

	hi_page_heading(page, "H", NULL);
	hi_page_link(page, "leaks");
	hi_page_fact(page, "key", "F");
	hi_page_link(page, hi_address_of_type(page, "a<b>"));
	hi_page_text(page, "T");
	hi_page_link(page, "");
	hi_page_code(page, "C");
	hi_page_link(page, "waste?all=");
	html = html_of(page);
	HI_ASSERT(strstr(html, "<a href=\"/x/leaks\">H</a>"));
	HI_ASSERT(strstr(html, "<a href=\"/x/paths/a%3Cb%3E\">F</a>"));
	HI_ASSERT(strstr(html, "<a href=\"/x/waste?all=\">C</a>"));
	HI_ASSERT(!strstr(html, ">T</a>"));
}

HI_TEST(links, stay_in_the_census_that_is_shown)
{
	struct sample *s = sample_make();
	struct hi_page *page;

	s->header.file = "app.hisnap";
	s->header.census = s->header.censuses = 7;
	HI_ASSERT_STREQ("explain/0x55d0c8a42210", link_at(leaks_page(s), 0, 0, 5));
	s->header.census = 3;
	page = leaks_page(s);
	HI_ASSERT_STREQ("explain/0x55d0c8a42210?census=3", link_at(page, 0, 0, 5));
	HI_ASSERT_STREQ("leaks?type=struct%20client&census=3", link_at(page, 0, 0, 0));
	hi_page_text(page, "");
	hi_page_link(page, "census?census=5");
	HI_ASSERT_STREQ("census?census=5", page->items.items[page->items.count - 1].link);
	hi_page_link(page, "alloc?select=f");
	HI_ASSERT_STREQ("alloc?select=f", page->items.items[page->items.count - 1].link);
}

HI_TEST(links, of_sites_have_the_function_alone)
{
	static const char *const cases[][2] = {
		{"make_object lives.c:123", "census?site=make_object"},
		{"make (list.c:7)", "census?site=make"},
		{"operator new (lib.so+0x12)", "census?site=operator%20new"},
		{"f", "census?site=f"},
		{"ns::f(int, char*) a.cc:1", "census?site=ns::f%28int,%20char%2A%29"},
		{"f(std::map<int, std::string>)",
		 "census?site=f%28std::map%3Cint,%20std::string%3E%29"},
		{"(no stack)", ""},
		{"(before the recording)", ""},
		{"/usr/lib/libx.so", ""},
		{"", ""},
	};
	struct hi_page *page = make_page();

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		HI_ASSERT_STREQ(cases[i][1],
				hi_address_of_site(page, "census", cases[i][0]));
}

HI_TEST(links, with_more_options_than_fit_are_none)
{
	struct hi_address_option many[HI_ADDRESS_OPTIONS];
	struct hi_link_options options = {.items = many, .count = HI_ADDRESS_OPTIONS};
	struct hi_page *page = make_page();

	for (size_t i = 0; i < HI_ADDRESS_OPTIONS; i++)
		many[i] = (struct hi_address_option){"root", "a=b"};
	HI_ASSERT_STREQ("", hi_address_of_query(page, "SELECT 1", &options));
	options.count = 1;
	HI_ASSERT_STREQ("query/SELECT%201?root=a%3Db",
			hi_address_of_query(page, "SELECT 1", &options));
}

HI_TEST(links, to_nowhere_are_none)
{
	struct hi_page *page = make_page();
	struct hi_node_info kind = {.sort = HI_NODE_KIND, .retained = 9};
	struct hi_node_info nothing = {.sort = HI_NODE_OBJECT, .address = 16};

	HI_ASSERT_STREQ("", hi_address_of_object(page, 0));
	HI_ASSERT_STREQ("", hi_address_of_object(page, UINT64_MAX));
	HI_ASSERT_STREQ("", hi_address_of_node(page, &kind));
	HI_ASSERT_STREQ("", hi_address_of_level(page, &kind));
	HI_ASSERT_STREQ("", hi_address_of_level(page, &nothing));
	HI_ASSERT_STREQ("", hi_address_where(page, "alloc", "select", ""));
}
