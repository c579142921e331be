/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the cells of pages lead. Truth: the heap of tests/report/sample.h, in which
 * object i has type i % SAMPLE_TYPES and begins at SAMPLE_HEAP + 0x10 + 0x100 i. */
#include "report/parts/report_links.h"
#include "report/render/html_page.h"
#include "tests/report/heap_pages.h"
#include "tests/support/golden.h"

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

/* ---- leaks, census ---- */

HI_TEST(links, of_leaks_lead_to_the_object_and_to_leaks_of_its_type)
{
	struct sample *s = sample_make();
	struct hi_page *page;

	/* More roots that differ than rows: they have a table. */
	s->leak_roots[2] = s->leak_roots[1];
	s->leaks.n_rows = 3;
	page = leaks_page(s);
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
	struct hi_page *page = census_page(sample_make(), SIZE_MAX);

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

HI_TEST(links, of_a_path_have_its_steps_where_text_has_not)
{
	struct hi_page *page = paths_page(sample_make(), false);

	HI_ASSERT_STREQ("explain/0x4000", link_at(page, 0, 0, 1));
	HI_ASSERT_STREQ("explain/0x55d0c8a41010", link_at(page, 0, 1, 1));
	HI_ASSERT_STREQ("explain/0x55d0c8a41f10", link_at(page, 0, 2, 2));
	HI_ASSERT_STREQ("tree/0x55d0c8a41f10", link_at(page, 0, 2, 3));
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
		const char *with = page_text(pages[i], 120);

		hi_page_drop_links(pages[i]);
		HI_ASSERT_STREQ(page_text(pages[i], 120), with);
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
	struct hi_page *page = page_new();

	hi_page_heading(page, "H", NULL);
	hi_page_link(page, "leaks");
	hi_page_fact(page, "key", "F");
	hi_page_link(page, hi_address_of_type(page, "a<b>"));
	hi_page_text(page, "T");
	hi_page_link(page, "");
	hi_page_code(page, "C");
	hi_page_link(page, "waste?all=");
	HI_EXPECT_GOLDEN("html-links", html_of(page));
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
	struct hi_page *page = page_new();

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		HI_ASSERT_STREQ(cases[i][1],
				hi_address_of_site(page, "census", cases[i][0]));
}

HI_TEST(links, with_more_options_than_fit_are_none)
{
	struct hi_address_option many[HI_ADDRESS_OPTIONS];
	struct hi_link_options options = {.items = many, .count = HI_ADDRESS_OPTIONS};
	struct hi_page *page = page_new();

	for (size_t i = 0; i < HI_ADDRESS_OPTIONS; i++)
		many[i] = (struct hi_address_option){"root", "a=b"};
	HI_ASSERT_STREQ("", hi_address_of_query(page, "SELECT 1", &options));
	options.count = 1;
	HI_ASSERT_STREQ("query/SELECT%201?root=a%3Db",
			hi_address_of_query(page, "SELECT 1", &options));
}

HI_TEST(links, to_nowhere_are_none)
{
	struct hi_page *page = page_new();
	struct hi_node_info kind = {.sort = HI_NODE_KIND, .retained = 9};
	struct hi_node_info nothing = {.sort = HI_NODE_OBJECT, .address = 16};

	HI_ASSERT_STREQ("", hi_address_of_object(page, 0));
	HI_ASSERT_STREQ("", hi_address_of_object(page, UINT64_MAX));
	HI_ASSERT_STREQ("", hi_address_of_node(page, &kind));
	HI_ASSERT_STREQ("", hi_address_of_level(page, &kind));
	HI_ASSERT_STREQ("", hi_address_of_level(page, &nothing));
	HI_ASSERT_STREQ("", hi_address_where(page, "alloc", "select", ""));
}
