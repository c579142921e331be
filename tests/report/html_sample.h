/* SPDX-License-Identifier: BSD-2-Clause */
/* A site of pages with every kind of item, some of it hostile. */
#ifndef HI_TESTS_REPORT_HTML_SAMPLE_H
#define HI_TESTS_REPORT_HTML_SAMPLE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/address.h"
#include "report/pictures/picture.h"
#include "report/render/html_pack.h"
#include "tests/harness.h"

/* Markup, an attribute's end, bidi controls, bytes that are no UTF-8 or no XML. */
#define HTML_HOSTILE                                                                     \
	"</td></table></script><script>window.bad=1</script><img src=x onerror=bad()>"   \
	"\" onfocus=\"bad()\" style='x' ]]> \xe2\x80\xae"                                \
	"abc\xff\xfe\x01 \xef\xbf\xbf &amp; \xd8\xa7\xd9\x84"

/* "#types", "#object": addresses of one file; /T/types on a server. */
struct html_sample_links {
	bool in_file;
	char text[512];
};

static inline const char *html_sample_href(void *arg, const char *address)
{
	struct html_sample_links *links = arg;

	if (strncmp(address, "none", 4) == 0)
		return NULL;
	if (links->in_file)
		snprintf(links->text, sizeof(links->text), "#%.*s",
			 (int)strcspn(address, "/?"), address);
	else
		snprintf(links->text, sizeof(links->text), "/T/%s", address);
	return links->text;
}

static inline const char *html_sample_command(void *arg, const char *command)
{
	(void)arg;
	return strstr(command, " census ") ? "types?top=100&all=" : NULL;
}

static inline struct hi_page *html_sample_new(void)
{
	struct hi_page *page = hi_page_create();

	HI_ASSERT(page);
	hi_test_defer(hi_page_destroy, page);
	return page;
}

static inline void html_sample_row(struct hi_report_table *t, struct hi_page *page,
				   const char *name, uint64_t i)
{
	hi_cell_text(t, hi_page_safe(page, name), (unsigned)(i % 4));
	hi_cell_link(t, i == 3 ? "none" : "types/name%3F");
	hi_cell_text(t, i % 2 ? "exact" : "by field", 0);
	hi_cell_number(t, i == 5 ? UINT64_MAX : (1234567 - 1234 * i) * (i < 9));
	hi_cell_number(t, i == 4 ? UINT64_MAX : (96u << 20) >> i);
	if (i == 6)
		hi_cell_at_least(t, 70000);
	else
		hi_cell_signed(t, (int64_t)i * 1000 - 3000);
	hi_cell_percent(t, (96u << 20) >> i, i == 7 ? 0 : 96u << 20);
	hi_cell_address(t, i == 8 ? 0 : 0x55d0c8a2b2a0 + 64 * i);
	hi_cell_link(t, "object/0x55d0c8a2b2a0");
	hi_cell_text(t, i % 3 ? "1.25 s" : "310 ms", 0);
}

static inline void html_sample_table(struct hi_page *page, size_t n_rows)
{
	static const struct hi_column columns[] = {
		{"type", HI_COLUMN_TEXT},	{"evidence", HI_COLUMN_WORD},
		{"objects", HI_COLUMN_COUNT},	{"bytes", HI_COLUMN_BYTES},
		{"change", HI_COLUMN_BYTES},	{"share", HI_COLUMN_PERCENT},
		{"example", HI_COLUMN_ADDRESS}, {"", HI_COLUMN_FIGURE},
	};
	static const char *const names[] = {
		"struct redisObject", HTML_HOSTILE, "std::map<std::string, int>",
		"\xd8\xa7\xd9\x84\xd8\xaa\xd8\xad\xd8\xb2\xd9\x8a\xd8\xb1 <b>",
		"struct dictEntry"};
	struct hi_report_table *t = hi_page_table(page, columns, 8);

	for (size_t i = 0; i < n_rows; i++) {
		html_sample_row(t, page, names[i % 5], i);
		if (i == 2)
			hi_report_table_stress(t);
	}
}

/* A name of 1 MB. */
static inline const char *html_sample_long_name(struct hi_page *page)
{
	size_t size = 1 << 20;
	char *name = malloc(size + 1);
	const char *ret;

	HI_ASSERT(name);
	memset(name, 'x', size);
	name[size] = 0;
	memcpy(name, "ns::T<\"&", 8);
	ret = hi_page_safe(page, name);
	free(name);
	return ret;
}

/* A box with three in it, each with three in it. */
static inline void html_sample_boxes(struct hi_page *page,
				     enum hi_page_picture_shape shape)
{
	struct hi_page_picture *p =
		hi_page_picture(page, shape, "Bytes by what keeps them",
				"A box is as large as its bytes.");
	struct hi_page_box box = {
		.label = "all", .title = "all\n9.0 MiB", .bytes = 9 << 20};
	int32_t top = hi_page_box(p, HI_PAGE_BOX_NONE, &box);

	for (unsigned i = 0; i < 9; i++) {
		char name[40];
		int32_t middle;

		snprintf(name, sizeof(name), "kind %u", i);
		box = (struct hi_page_box){.label = name,
					   .title = hi_page_safe(page, HTML_HOSTILE),
					   .link = i ? "types/a" : "none",
					   .bytes = 1 << 20,
					   .kind = i % HI_PICTURE_KINDS};
		middle = hi_page_box(p, top, &box);
		box.label = "a name that is longer than its box";
		box.link = "";
		for (unsigned k = 0; k < 3; k++) {
			box.title = hi_page_printf(page, "part %u of %u", k, i);
			box.bytes = 100000 * (k + 1);
			hi_page_box(p, middle, &box);
		}
	}
}

static inline void html_sample_bands(struct hi_page *page)
{
	struct hi_page_picture *p =
		hi_page_picture(page, HI_PAGE_BANDS, "Live bytes over time", "By type.");
	double times[40], values[40];

	for (unsigned i = 0; i < 40; i++)
		times[i] = i;
	hi_page_picture_times(p, times, 40, "s");
	for (unsigned k = 0; k < 12; k++) {
		for (unsigned i = 0; i < 40; i++)
			values[i] = 1e6 * (1 + (i * (k + 1)) % 17);
		hi_page_band(p, &(struct hi_page_band){
					.label = hi_page_printf(page, "type %u", k),
					.title = hi_page_safe(page, HTML_HOSTILE),
					.link = k ? "types/a" : "",
					.values = values});
	}
	hi_page_picture_mark(p, &(struct hi_page_mark){.time = 20,
						       .value = 40e6,
						       .label = "A",
						       .title = "peak A",
						       .link = "leaks"});
}

static inline struct hi_page *html_sample_page(const char *title)
{
	struct hi_page *page = html_sample_new();

	hi_page_title(page, title, "heapinspect census dump.hisnap --top 100");
	hi_page_fact(page, "objects", "1,234,567 live objects, 213.4 MiB");
	hi_page_fact(page, "program", hi_page_safe(page, HTML_HOSTILE));
	hi_page_text(page, "Types are sorted by the bytes of their objects.");
	hi_page_warning(page, hi_page_safe(page, HTML_HOSTILE));
	hi_page_heading(page, "By type", hi_page_safe(page, HTML_HOSTILE));
	html_sample_table(page, 20);
	hi_page_note(page, "Of 5.0 MiB the type is not known.");
	hi_page_heading(page, hi_page_safe(page, HTML_HOSTILE), NULL);
	html_sample_table(page, 3);
	hi_page_heading(page, html_sample_long_name(page), NULL);
	hi_page_code(page, "  10 MiB |    ####");
	hi_page_code(page, "         +---------");
	hi_page_heading(page, "Pictures", NULL);
	html_sample_boxes(page, HI_PAGE_TREEMAP);
	html_sample_boxes(page, HI_PAGE_FLAME);
	html_sample_bands(page);
	hi_page_command(page, "heapinspect census dump.hisnap --top 100",
			"more of the types");
	hi_page_command(page, "heapinspect explain dump.hisnap 0x55d0c8a2b2a0", NULL);
	hi_page_command(page, hi_page_safe(page, HTML_HOSTILE),
			hi_page_safe(page, HTML_HOSTILE));
	return page;
}

static const struct hi_html_link html_sample_nav[] = {
	{"Summary", "summary"}, {"Types", "types"},	{"Retained", "retained"},
	{"Leaks", "leaks"},	{"Nowhere", "nowhere"}, {"None", "none"},
};

static inline struct hi_html_site html_sample_site(struct html_sample_links *links,
						   size_t n_nav)
{
	return (struct hi_html_site){
		.title = "redis-server, pid 42 " HTML_HOSTILE,
		.nav = html_sample_nav,
		.n_nav = n_nav,
		.links = {html_sample_href, html_sample_command, links}};
}

static inline void html_sample_write_document(FILE *out, const char *address)
{
	struct html_sample_links links = {};
	struct hi_html_site site = html_sample_site(&links, 6);
	struct hi_error err;

	HI_ASSERT_OK(
		hi_html_document(html_sample_page("Types"), &site, address, out, &err),
		&err);
}

static inline void html_sample_write_file(FILE *out)
{
	static const char *const ids[] = {"summary", "types", "retained", "leaks",
					  "object"};
	struct html_sample_links links = {.in_file = true};
	struct hi_html_site site = html_sample_site(&links, 4);
	HI_GUARD(hi_html_pack_destroy) struct hi_html_pack *pack = NULL;
	struct hi_error err;

	HI_ASSERT_OK(hi_html_pack_create(out, &pack, &err), &err);
	hi_html_file_begin(&site, out);
	HI_ASSERT_OK(hi_html_file_page(html_sample_page(ids[0]), &site, ids[0], ids[0],
				       out, &err),
		     &err);
	for (size_t i = 1; i < 5; i++)
		HI_ASSERT_OK(hi_html_pack_page(pack, html_sample_page(ids[i]), &site,
					       ids[i], ids[i], &err),
			     &err);
	HI_ASSERT_OK(hi_html_pack_finish(pack, &err), &err);
	hi_html_file_end(out);
}

#endif
