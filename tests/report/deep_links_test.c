/* SPDX-License-Identifier: BSD-2-Clause */
/* Pages of the deep profile: cells lead to the pages of their queries. */
#include "report/address.h"
#include "report/render/html_page.h"
#include "tests/report/deep_profiles.h"

static const struct hi_page *show_linked_page(const struct deep_made *made,
					      const char *query)
{
	struct hi_page *page = hi_page_create();

	HI_ASSERT(page);
	hi_test_defer(hi_page_destroy, page);
	hi_deep_display(ask_deep(made, query), page);
	return page;
}

/* Each link is an address of this command, whose argument is a query that has a report.
 * Returns how many. */
static size_t check_links_of(const struct deep_made *made, const struct hi_page *page)
{
	struct hi_arena arena = {};
	size_t n = 0;

	for (size_t i = 0; i < page->tables.count; i++) {
		const struct hi_report_table *t = page->tables.items[i];

		for (size_t k = 0; k < t->cells.count; k++) {
			const char *link = t->cells.items[k].link;
			struct hi_address address;
			struct hi_error err;

			if (!link)
				continue;
			HI_ASSERT_OK(hi_address_parse(link, &arena, &address, &err),
				     &err);
			HI_ASSERT_STREQ("deep", address.name);
			(void)ask_deep(made, address.argument);
			n++;
		}
	}
	hi_arena_free(&arena);
	return n;
}

HI_TEST(deep_links, cells_lead_to_pages_of_their_queries)
{
	static const char *const queries[] = {"menu",
					      "root/no",
					      "clique/2",
					      "clique_rc/1",
					      "proc/2&order=name",
					      "proc_callers/2/cs/1/20/nc",
					      "program_modules",
					      "module/util",
					      "top_procs/1-9/bytes/self/oa"};
	struct deep_made *made = make_deep_drawn();

	for (size_t i = 0; i < sizeof(queries) / sizeof(*queries); i++)
		HI_ASSERT(check_links_of(made, show_linked_page(made, queries[i])) > 0);
}

static const char *same_href(void *arg, const char *address)
{
	(void)arg;
	return address;
}

static const char *html_of_linked(const struct hi_page *page)
{
	const struct hi_html_links links = {.href = same_href};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct hi_error err;

	HI_ASSERT(out);
	HI_ASSERT_OK(hi_html_linked_page(page, &links, out, &err), &err);
	HI_ASSERT(fclose(out) == 0);
	hi_test_defer(free, text);
	return text;
}

/* In text they are a column (tests/golden/deep-root.txt). */
HI_TEST(deep_links, queries_are_a_column_of_text_alone)
{
	const struct hi_page *page = show_linked_page(make_deep_drawn(), "root/no");
	const char *html = html_of_linked(page);

	HI_ASSERT(strstr(html, "<a href=\"deep/clique/"));
	HI_ASSERT(!strstr(html, "query"));
}
