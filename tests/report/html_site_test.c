/* SPDX-License-Identifier: BSD-2-Clause */
/* Pages as HTML, alone, as documents of a server and in one file. */
#include "tests/report/html_sample.h"

#include "report/render/html_page.h"
#include "tests/support/golden.h"

struct html_text {
	char *text;
	size_t size;
	FILE *out;
};

static void open_html(struct html_text *t)
{
	t->out = open_memstream(&t->text, &t->size);
	HI_ASSERT(t->out);
}

static const char *close_html(struct html_text *t)
{
	fclose(t->out);
	hi_test_defer(free, t->text);
	return t->text;
}

static const char *html_of_document(const char *address)
{
	struct html_text t = {};

	open_html(&t);
	html_sample_write_document(t.out, address);
	return close_html(&t);
}

static const char *html_of_page(const struct hi_page *page)
{
	struct html_text t = {};
	struct html_sample_links links = {};
	struct hi_html_links to = {html_sample_href, html_sample_command, &links};
	struct hi_error err;

	open_html(&t);
	HI_ASSERT_OK(hi_html_linked_page(page, &to, t.out, &err), &err);
	return close_html(&t);
}

#define HAS(html, part) HI_ASSERT_MSG(strstr(html, part), "%s", html)
#define HAS_NOT(html, part) HI_ASSERT_MSG(!strstr(html, part), "%s", html)

/* A page with one of each, as a document of a server. */
static const char *small_document(const char *address)
{
	struct html_text t = {};
	struct html_sample_links links = {};
	struct hi_html_site site = html_sample_site(&links, 6);
	struct hi_page *page = html_sample_new();
	struct hi_error err;

	site.title = "redis-server, pid 42";
	hi_page_title(page, "Types", "heapinspect census dump.hisnap");
	hi_page_fact(page, "objects", "1,234,567 live objects, 213.4 MiB");
	hi_page_fact(page, "hostile", hi_page_safe(page, HTML_HOSTILE));
	hi_page_warning(page, "libfoo.so: file on disk was replaced");
	hi_page_heading(page, "By type", "all of them");
	html_sample_table(page, 9);
	hi_page_note(page, "Of 5.0 MiB the type is not known.");
	hi_page_code(page, "  10 MiB |    ####");
	hi_page_code(page, "         +---------");
	hi_page_command(page, "heapinspect census x --all", "all <types>");
	hi_page_command(page, "heapinspect leaks x", "what is lost");
	hi_page_command(page, "heapinspect census y", NULL);
	open_html(&t);
	HI_ASSERT_OK(hi_html_document(page, &site, address, t.out, &err), &err);
	return close_html(&t);
}

/* It has what screen readers need: a language, a way around the navigation, names of
 * tables and regions, headers of columns. Cells are links (but one, whose page there is
 * not), figures and bars; commands lead to their pages. */
HI_TEST(html_site, a_document_is_a_page)
{
	HI_EXPECT_GOLDEN("html-document", small_document("types"));
}

HI_TEST(html_site, a_page_below_one_of_the_navigation_leads_up_to_it)
{
	const char *html = html_of_document("types/struct%20a?top=7");

	HAS(html, "<link rel=\"up\" href=\"/T/types\"/>");
	HAS(html, "<a href=\"/T/types\" aria-current=\"true\">");
	html = html_of_document("retained");
	HAS(html, "<link rel=\"up\" href=\"/T/summary\"/>");
	html = html_of_document("summary");
	HAS_NOT(html, "rel=\"up\"");
	/* "type" is no part of "types". */
	html = html_of_document("typesetting");
	HAS_NOT(html, "rel=\"up\"");
	HAS_NOT(html, "aria-current");
	html = html_of_document(NULL);
	HAS_NOT(html, "aria-current");
}

HI_TEST(html_site, a_page_without_a_title_has_that_of_the_heap)
{
	struct html_text t = {};
	struct html_sample_links links = {};
	struct hi_html_site site = html_sample_site(&links, 6);
	struct hi_page *page = html_sample_new();
	struct hi_error err;
	const char *html;

	site.title = "redis <7>";
	hi_page_text(page, "nothing");
	open_html(&t);
	HI_ASSERT_OK(hi_html_document(page, &site, NULL, t.out, &err), &err);
	html = close_html(&t);
	HAS(html, "<title>redis &lt;7&gt;</title>");
	HAS(html, "<h1>redis &lt;7&gt;</h1>");
}

static const char *document_titled(const char *title, const char *address)
{
	struct html_text t = {};
	struct html_sample_links links = {};
	struct hi_html_site site = html_sample_site(&links, 6);
	struct hi_page *page = html_sample_new();
	struct hi_error err;

	site.title = "redis, pid 42";
	hi_page_title(page, title, "aside");
	open_html(&t);
	HI_ASSERT_OK(hi_html_document(page, &site, address, t.out, &err), &err);
	return close_html(&t);
}

HI_TEST(html_site, pages_with_the_title_of_the_heap_are_named_by_their_address)
{
	const char *html = document_titled("redis, pid 42, snapshot a", "types?top=9");

	HAS(html, "<title>Types, top 9 \xc2\xb7 redis, pid 42</title>");
	HAS(html,
	    "<hgroup><h1>Types, top 9</h1><p class=\"aside\">redis, pid 42, snapshot a "
	    "\xc2\xb7 aside</p></hgroup>");
	html = document_titled("redis, pid 42", "types/a%3Cb%22");
	HAS(html, "<h1>Types a&lt;b&quot;</h1>");
	html = document_titled("redis, pid 42", "explain/0x7f00");
	HAS(html, "<title>Explain 0x7f00 \xc2\xb7 redis, pid 42</title>");
	html = document_titled("redis, pid 42", "types");
	HAS(html, "<h1>Types</h1>");
	html = document_titled("redis, pid 42", "leaks?all=&by=%3Csite%3E");
	HAS(html, "<h1>Leaks, all, by &lt;site&gt;</h1>");
	html = document_titled("redis server, pid 42", "explain/0x7f00");
	HAS(html, "<title>redis server, pid 42 ");
	html = document_titled("Deep profile", "explain/0x7f00?census=3");
	HAS(html, "<title>Deep profile, census 3 ");
	html = document_titled("redis, pid 42", "sql?sql=select%201");
	HAS(html, "<h1>Sql, select 1</h1>");
	html = document_titled("redis, pid 42", "%zz");
	HAS(html, "<h1>redis, pid 42</h1>");
	html = document_titled("One object", "explain/0x7f00");
	HAS(html, "<hgroup><h1>One object</h1><p class=\"aside\">aside</p></hgroup>");
}

HI_TEST(html_site, names_of_blanks_can_be_seen)
{
	static const char *const names[] = {" ", "\xc2\xa0 ", "\xe3\x80\x80",
					    "\xe2\x80\x83"};
	static const struct hi_column columns[] = {{"type", HI_COLUMN_TEXT}};

	for (size_t i = 0; i < 4; i++) {
		struct hi_page *page = html_sample_new();
		struct hi_report_table *t = hi_page_table(page, columns, 1);
		const char *html;

		hi_cell_text(t, names[i], 0);
		hi_cell_link(t, "types/a");
		html = html_of_page(page);
		HAS(html, "<a href=\"/T/types/a\">&quot;");
		HAS(html, "&quot;</a>");
	}
}

HI_TEST(html_site, long_names_are_cut_and_have_a_title)
{
	struct hi_page *page = html_sample_new();
	char expected[400] = "&quot;&amp;";
	const char *html;

	hi_page_heading(page, html_sample_long_name(page), NULL);
	html = html_of_page(page);
	memset(expected + strlen(expected), 'x', 232);
	strcat(expected, "\xe2\x80\xa6</span>");
	HAS(html, "<h2><span title=\"ns::T&lt;&quot;&amp;xxx");
	HAS(html, expected);
	HI_ASSERT(strlen(html) < 10000);
}

HI_TEST(html_site, assets_are_small_and_there_are_no_others)
{
	static const char *const names[] = {"style.css", "app.js", "icon.svg"};
	size_t size = 0;

	for (size_t i = 0; i < 3; i++) {
		const struct hi_html_asset *asset = hi_html_asset(names[i]);

		HI_ASSERT(asset && asset->size > 0 && asset->bytes[asset->size - 1]);
		HI_ASSERT_STREQ(names[i], asset->name);
		size += asset->size;
	}
	HI_ASSERT_MSG(size < 60 * 1024, "%zu", size);
	HI_ASSERT(!hi_html_asset("") && !hi_html_asset("app.js/") &&
		  !hi_html_asset("../style.css"));
}

HI_TEST(html_site, the_policy_permits_nothing_inline_and_nothing_of_others)
{
	HAS(hi_html_policy, "default-src 'none'");
	HAS(hi_html_policy, "script-src 'self';");
	HAS(hi_html_policy, "base-uri 'none'");
	HAS(hi_html_policy, "form-action 'self'");
	HAS(hi_html_policy, "object-src 'none'");
	HAS_NOT(hi_html_policy, "unsafe");
	HAS_NOT(hi_html_policy, "*");
	HAS_NOT(hi_html_policy, "http");
}

HI_TEST(html_site, a_page_that_ran_out_of_memory_says_so)
{
	struct html_sample_links links = {};
	struct hi_html_site site = html_sample_site(&links, 6);
	struct hi_page *page = html_sample_new();
	struct html_text t = {};
	struct hi_error err;

	page->failed = true;
	open_html(&t);
	HI_ASSERT_STATUS(HI_NO_MEMORY,
			 hi_html_document(page, &site, "types", t.out, &err));
	HI_ASSERT_STATUS(HI_NO_MEMORY,
			 hi_html_file_page(page, &site, "types", "types", t.out, &err));
	close_html(&t);
}
