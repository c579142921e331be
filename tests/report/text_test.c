/* SPDX-License-Identifier: BSD-2-Clause */
/* Pages as text: widths, cuts, escapes, unknown values, the length of the page. */
#include <glob.h>
#include <wchar.h>

#include "base/alloc.h"
#include "report/parts/legend.h"
#include "report/render/text_internal.h"
#include "report/reports/census/census_report.h"
#include "report/reports/leaks/leaks_report.h"
#include "report/reports/retained/retained_report.h"
#include "report/type_search.h"
#include "tests/report/page_text.h"
#include "tests/report/sample.h"
#include "tests/support/golden.h"

static struct hi_page *summary_page(struct sample *s)
{
	struct hi_page *page = page_new();
	struct hi_summary_report *report;
	struct hi_error err;

	HI_ASSERT_OK(hi_summary_report_create(&s->inputs, &report, &err), &err);
	hi_summary_display(report, page);
	hi_summary_report_destroy(report);
	hi_legend_add(page);
	return page;
}

/* Columns of one line, by the C library. */
static int line_columns(const char *line, size_t n)
{
	wchar_t wide[2048];
	char copy[2048];
	size_t count;

	HI_ASSERT(n < sizeof(copy));
	memcpy(copy, line, n);
	copy[n] = 0;
	count = mbstowcs(wide, copy, 2048);
	HI_ASSERT(count != (size_t)-1);
	return wcswidth(wide, count);
}

/* Calls for every line; returns their number. */
static size_t check_lines(const char *text, int width)
{
	size_t lines = 0;

	while (*text) {
		const char *end = strchr(text, '\n');
		int columns;

		HI_ASSERT(end != NULL);
		columns = line_columns(text, (size_t)(end - text));
		HI_ASSERT_MSG(columns >= 0 && columns <= width,
			      "a line of %d columns: %.*s", columns, (int)(end - text),
			      text);
		HI_ASSERT_MSG(end == text || end[-1] != ' ', "blanks at the end: %.*s",
			      (int)(end - text), text);
		text = end + 1;
		lines++;
	}
	return lines;
}

static const char *find_line(const char *text, const char *begin)
{
	const char *at = strstr(text, begin);

	HI_ASSERT_MSG(at != NULL, "no line with \"%s\" in:\n%s", begin, text);
	return at;
}

/* Names that go on in the line below are of strings that no program has. */
HI_TEST(report_text, summary_fits_80_columns_and_64_lines)
{
	struct hi_page *page = summary_page(sample_make());
	size_t lines = check_lines(page_text(page, 120), 120);

	HI_ASSERT_MSG(lines <= 64, "%zu lines:\n%s", lines, page_text(page, 120));
	lines = check_lines(page_text(page, 80), 80);
	HI_ASSERT_MSG(lines <= 64 + 5, "%zu lines:\n%s", lines, page_text(page, 80));
}

HI_TEST(report_text, summary_fits_any_width)
{
	struct hi_page *page = summary_page(sample_make());
	static const int widths[] = {81, 100, 120, 132, 200};

	for (size_t i = 0; i < 5; i++)
		check_lines(page_text(page, (unsigned)widths[i]), widths[i]);
}

/* Drawn (sample.h): 223,766,118 B, which are 213.4 MiB, are live in 1,234,567 objects; 12
 * MiB are leaked in 6 roots; "server" has nine tenths of the live bytes. The ledger's
 * rows of level 0 and 12,345 unknown bytes add up to RSS. Of the 14 types the first has
 * no name and 96 MiB; each retains twice its shallow bytes. */
HI_TEST(report_text, the_summary_is_a_page)
{
	struct hi_page *page = summary_page(sample_make());

	HI_EXPECT_GOLDEN("summary-60", page_text(page, 60));
	HI_EXPECT_GOLDEN("summary-80", page_text(page, 80));
	HI_EXPECT_GOLDEN("summary-120", page_text(page, 120));
	HI_EXPECT_GOLDEN("summary-80-ascii",
			 page_text_as(page, (struct hi_text_options){.width = 80}));
	HI_EXPECT_GOLDEN("summary-80-color",
			 page_text_as(page, (struct hi_text_options){.width = 80,
								     .utf8 = true,
								     .color = true}));
}

static const char *header_text(const struct sample *s, bool whole)
{
	struct hi_page *page = page_new();

	hi_report_header_facts(&s->header, page, whole);
	return page_text(page, 100);
}

/* 120,000,000 of 223,766,118 B are exact, which is 53.6 %; of 1,234,567 objects
 * 900,000, 72.9 %. By field and unnamed are 100,663,296 B: 45.0 %. A short head has a
 * line of them only above a tenth. Who asked for no types is not told that there are
 * none. */
HI_TEST(report_text, a_head_says_how_much_has_a_type)
{
	struct hi_shares doubt = {.exact = {90, 9000}, .unnamed = {10, 1000}};
	struct hi_golden_pages *pages = hi_golden_pages();
	struct sample *s = sample_make();

	hi_golden_add(pages, "whole", header_text(s, true));
	s->header.conservative = true;
	hi_golden_add(pages, "whole, --conservative", header_text(s, true));
	s->header.conservative = false;
	s->header.shares = NULL;
	hi_golden_add(pages, "whole, shares are not known", header_text(s, true));
	s->header.shares = &s->shares;
	hi_golden_add(pages, "short, 45.0 % without a type", header_text(s, false));
	s->header.shares = &doubt;
	hi_golden_add(pages, "short, a tenth without a type", header_text(s, false));
	doubt.conservative_only.bytes = 1001;
	hi_golden_add(pages, "short, more than a tenth alive by conservative edges",
		      header_text(s, false));
	HI_EXPECT_GOLDEN_PAGES("header", pages);
}

HI_TEST(report_text, a_legend_explains_what_the_page_has)
{
	static const struct hi_column columns[] = {{"type", HI_COLUMN_TEXT},
						   {"retained", HI_COLUMN_BYTES}};
	struct hi_page *page = page_new();
	struct hi_report_table *t = hi_page_table(page, columns, 2);

	hi_legend_add(page);
	HI_ASSERT_STREQ("", page_text(page, 80));
	hi_cell_text(t, "shallow", 0);
	hi_cell_at_least(t, 7);
	hi_page_blank(page);
	hi_page_command(page, "heapinspect", NULL);
	hi_legend_add(page);
	HI_ASSERT_STREQ("  type     retained\n"
			"  shallow     ≥ 7 B\n"
			"\n"
			"  ≥: at least · retained: bytes that would be freed with them\n"
			"\nNext:\n  heapinspect\n",
			page_text(page, 80));
	/* A page that has explained it does not do it twice. */
	page = page_new();
	t = hi_page_table(page, columns, 2);
	hi_page_text(page, "retained: with all below");
	hi_cell_text(t, "", 0);
	hi_cell_number(t, 7);
	hi_legend_add(page);
	HI_ASSERT(!strstr(page_text(page, 80), "would be freed"));
}

HI_TEST(report_text, a_long_command_goes_on_behind_a_backslash)
{
	struct hi_page *page = page_new();

	hi_page_command(page, "heapinspect paths 'struct a b' --pid 4242 --hints x",
			"why");
	HI_ASSERT_STREQ("Next:\n"
			"  heapinspect paths 'struct a b' --pid \\\n"
			"    4242 --hints x\n",
			page_text(page, 40));
	HI_ASSERT_STREQ("Next:\n  heapinspect paths 'struct a b' --pid 4242 --hints x  "
			"# why\n",
			page_text(page, 80));
}

HI_TEST(report_text, columns_are_aligned_numbers_to_the_right)
{
	static const struct hi_column columns[] = {
		{"name", HI_COLUMN_TEXT},     {"bytes", HI_COLUMN_BYTES},
		{"share", HI_COLUMN_PERCENT}, {"n", HI_COLUMN_COUNT},
		{"at", HI_COLUMN_ADDRESS},    {"kind", HI_COLUMN_WORD}};
	struct hi_page *page = page_new();
	struct hi_report_table *t = hi_page_table(page, columns, 6);

	hi_cell_text(t, "a", 0);
	hi_cell_number(t, 1536);
	hi_cell_percent(t, 1, 3);
	hi_cell_number(t, 1234567);
	hi_cell_address(t, 0x10);
	hi_cell_text(t, "x", 0);
	hi_cell_text(t, "Größe", 1);
	hi_cell_at_least(t, 7);
	hi_cell_percent(t, 2, 0);
	hi_cell_number(t, UINT64_MAX);
	hi_cell_address(t, 0);
	hi_cell_text(t, "", 0);
	HI_ASSERT_STREQ("  name       bytes   share          n    at  kind\n"
			"  a        1.5 KiB  33.3 %  1,234,567  0x10  x\n"
			"    Größe    ≥ 7 B       ?          ?\n",
			page_text(page, 80));
}

HI_TEST(report_text, names_that_do_not_fit_go_on_in_the_line_below)
{
	static const struct hi_column columns[] = {{"type", HI_COLUMN_TEXT},
						   {"n", HI_COLUMN_COUNT}};
	struct hi_page *page = page_new();
	struct hi_report_table *t = hi_page_table(page, columns, 2);

	hi_cell_text(t, "beginning_0123456789_0123456789_0123456789_end", 0);
	hi_cell_number(t, 1);
	HI_ASSERT(strstr(page_text(page, 60),
			 "beginning_0123456789_0123456789_0123456789_end"));
	/* 42 columns: 2 of indent, 37 of text, 2 between, 1 of count. */
	HI_ASSERT_STREQ("  type                                   n\n"
			"  beginning_0123456789_0123456789_       1\n"
			"    0123456789_end\n",
			page_text(page, 42));
}

/* Evidence, then shares, then addresses, and what is left out is said once. */
HI_TEST(report_text, what_can_be_missed_makes_room_for_names)
{
	static const struct hi_column columns[] = {{"name", HI_COLUMN_TEXT},
						   {"bytes", HI_COLUMN_BYTES},
						   {"evidence", HI_COLUMN_MINOR_WORD},
						   {"share", HI_COLUMN_PERCENT},
						   {"address", HI_COLUMN_ADDRESS}};
	static const char *const shown[] = {
		[0] = "  name                            bytes  evidence   share  "
		      "address\n"
		      "  shop::Session::cart[] of 30  12.0 MiB  pointer   50.0 %   "
		      "0x1234\n",
		[1] = "  name                            bytes   share  address\n"
		      "  shop::Session::cart[] of 30  12.0 MiB  50.0 %   0x1234\n"
		      "\n  left out at 65 columns: evidence; --width 66 shows it\n",
		[2] = "  name                            bytes  address\n"
		      "  shop::Session::cart[] of 30  12.0 MiB   0x1234\n"
		      "\n  left out at 55 columns: evidence, share; --width 66\n"
		      "  shows them\n",
		[3] = "  name                            bytes\n"
		      "  shop::Session::cart[] of 30  12.0 MiB\n"
		      "\n  left out at 47 columns: evidence, share,\n"
		      "  address; --width 66 shows them\n"};
	static const unsigned widths[] = {66, 65, 55, 47};
	struct hi_page *page = page_new();

	for (size_t twice = 0; twice < 2; twice++) {
		struct hi_report_table *t = hi_page_table(page, columns, 5);

		hi_cell_text(t, "shop::Session::cart[] of 30", 0);
		hi_cell_number(t, 12 << 20);
		hi_cell_text(t, "pointer", 0);
		hi_cell_percent(t, 1, 2);
		hi_cell_address(t, 0x1234);
		for (size_t i = 0; twice == 0 && i < 4; i++)
			HI_ASSERT_STREQ(shown[i], page_text(page, widths[i]));
	}
	HI_ASSERT(strstr(page_text(page, 65), "columns: evidence; --width 66"));
}

HI_TEST(report_text, wide_characters_and_combining_marks_are_measured)
{
	static const struct hi_column columns[] = {{"", HI_COLUMN_TEXT},
						   {"", HI_COLUMN_COUNT}};
	struct hi_page *page = page_new();
	struct hi_report_table *t = hi_page_table(page, columns, 2);
	char *text, *last;

	hi_cell_text(t, "表表表表表表表表表表表表表表表表表表表表表表", 0);
	hi_cell_number(t, 1);
	hi_cell_text(t, "e\xcc\x81t\xcc\x81", 0);
	hi_cell_number(t, 2);
	text = page_text(page, 40);
	check_lines(text, 40);
	HI_ASSERT(!strstr(text, "…"));
	/* Both numbers end in the same column; the line between has the name's end. */
	last = strrchr(text, ' ') + 1;
	HI_ASSERT_STREQ("2\n", last);
	while (last[-1] != '\n')
		last--;
	HI_ASSERT_EQ(line_columns(text, strcspn(text, "\n")),
		     line_columns(last, strcspn(last, "\n")));
}

HI_TEST(report_text, nothing_of_the_target_reaches_the_terminal_raw)
{
	struct sample *s = sample_make();
	struct hi_page *page;
	char *text;

	s->header.exe = "/opt/" SAMPLE_HOSTILE;
	s->suspect_paths[0] = SAMPLE_HOSTILE;
	page = summary_page(s);
	text = page_text(page, 200);
	HI_ASSERT(strchr(text, '\033') == NULL);
	HI_ASSERT(strchr(text, '\xff') == NULL);
	HI_ASSERT(strstr(text, "\xe2\x80\xae") == NULL);
	HI_ASSERT(strstr(text, "evil\\x1b[31m\\n") != NULL);
}

HI_TEST(report_text, ascii_terminals_get_ascii)
{
	struct hi_page *page = summary_page(sample_make());
	char *text = page_text_as(page, (struct hi_text_options){.width = 80});

	for (const char *c = text; *c; c++)
		HI_ASSERT_MSG((*c >= ' ' && *c <= '~') || *c == '\n', "byte %02x",
			      (unsigned char)*c);
	HI_ASSERT(strstr(text, ">= ") != NULL);
	check_lines(text, 80);
}

/* What a page that holds only this text is on an ASCII terminal. */
static const char *render_ascii(const char *text)
{
	struct hi_page *page = page_new();

	hi_page_text(page, text);
	return page_text_as(page, (struct hi_text_options){.width = 200});
}

HI_TEST(report_text, characters_of_ours_have_ascii_forms_and_others_stay_escaped)
{
	HI_ASSERT_STREQ("  via conn.buf, <= 128 B\n",
			render_ascii("via conn.buf, ≤ 128 B"));
	HI_ASSERT_STREQ("  >= 3 x a -> b... - c\n", render_ascii("≥ 3 × a → b… · c"));
	HI_ASSERT_STREQ("  \\xc3\\xa9 \\xe2\\x89\\xa0\n", render_ascii("é ≠"));
	HI_ASSERT_STREQ("  \\xe2\\x89 \\xff<=\n", render_ascii("\xe2\x89 \xff≤"));
}

/* The C source without its comments, NUL at the end. */
static void blank_comments(char *source)
{
	for (char *begin = source, *end; (begin = strstr(begin, "/*")); begin = end) {
		end = strstr(begin, "*/");
		HI_ASSERT(end != NULL);
		end += 2;
		memset(begin, ' ', (size_t)(end - begin));
	}
}

/* Renders each non-ASCII character of the file's code; returns their number. The
 * blocks of the live view have their own ASCII forms beside them. */
static unsigned check_source(const char *path)
{
	static char source[1 << 20];
	FILE *f = fopen(path, "re");
	unsigned n_checked = 0;
	size_t n;

	HI_ASSERT(f != NULL);
	n = fread(source, 1, sizeof(source) - 1, f);
	fclose(f);
	source[n] = 0;
	blank_comments(source);
	for (const char *c = source; *c; c++) {
		char one[5] = {*c, c[1]};
		size_t length = 1;

		if ((unsigned char)*c < 0xc0 || strncmp(c, "▁", 2) == 0)
			continue;
		while ((c[length] & 0xc0) == 0x80 && length < 4) {
			one[length] = c[length];
			length++;
		}
		HI_ASSERT_MSG(!strchr(render_ascii(one), '\\'),
			      "%s: %s has no ASCII form", path, one);
		n_checked++;
	}
	return n_checked;
}

HI_TEST(report_text, each_character_that_our_sources_write_has_an_ascii_form)
{
	static const char *const patterns[] = {"/*/*.c", "/*/*/*.c", "/*/*/*/*.c"};
	static const char *const rooms[] = {"/base/",	"/attach/", "/census/",
					    "/decode/", "/probes/", "/report/",
					    "/query/",	"/cli/"};
	unsigned n_checked = 0;

	for (size_t p = 0; p < 3; p++) {
		char pattern[512];
		glob_t found;

		snprintf(pattern, sizeof(pattern), "%s%s", HI_SOURCE_DIR, patterns[p]);
		HI_ASSERT_EQ(0, glob(pattern, 0, NULL, &found));
		for (size_t i = 0; i < found.gl_pathc; i++)
			for (size_t r = 0; r < 8; r++)
				if (strncmp(found.gl_pathv[i] + strlen(HI_SOURCE_DIR),
					    rooms[r], strlen(rooms[r])) == 0)
					n_checked += check_source(found.gl_pathv[i]);
		globfree(&found);
	}
	HI_ASSERT(n_checked > 10);
}

HI_TEST(report_text, colours_come_only_when_asked_for_and_are_always_ended)
{
	struct hi_page *page = summary_page(sample_make());
	char *plain = page_text(page, 80);
	char *text = page_text_as(
		page, (struct hi_text_options){.width = 80, .utf8 = true, .color = true});
	char last = 0;
	size_t kept = 0;

	/* Without its colours it is the same text. */
	for (const char *c = text; *c; c++) {
		if (*c == '\033') {
			c += strcspn(c, "m");
			last = c[-1];
			continue;
		}
		HI_ASSERT(*c == plain[kept++]);
	}
	HI_ASSERT_EQ(strlen(plain), kept);
	HI_ASSERT(last == '0');
}

HI_TEST(report_text, percents_never_say_none_or_all_when_it_is_not_so)
{
	char out[16];

	HI_ASSERT_STREQ("0 %", hi_percent(out, 0, 10));
	HI_ASSERT_STREQ("<0.1 %", hi_percent(out, 1, 100000));
	HI_ASSERT_STREQ("0.1 %", hi_percent(out, 1, 1000));
	HI_ASSERT_STREQ("33.3 %", hi_percent(out, 1, 3));
	HI_ASSERT_STREQ("66.7 %", hi_percent(out, 2, 3));
	HI_ASSERT_STREQ(">99.9 %", hi_percent(out, 99999, 100000));
	HI_ASSERT_STREQ("100 %", hi_percent(out, 10, 10));
	HI_ASSERT_STREQ("150.0 %", hi_percent(out, 3, 2));
	HI_ASSERT_STREQ("?", hi_percent(out, 1, 0));
	HI_ASSERT_STREQ("?", hi_percent(out, UINT64_MAX, 5));
	HI_ASSERT_STREQ("50.0 %", hi_percent(out, UINT64_MAX / 4, UINT64_MAX / 2));
}

/* The lines from a heading to the next empty line; the test frees them. */
static const char *section_of(const char *text, const char *heading)
{
	const char *begin = find_line(text, heading), *end = strstr(begin, "\n\n");
	char *section = strndup(begin, end ? (size_t)(end + 1 - begin) : strlen(begin));

	HI_ASSERT(section != NULL);
	hi_test_defer(free, section);
	return section;
}

/* RSS was read as 20,000 B less: 12,345 - 20,000 is -7.5 KiB. */
HI_TEST(report_text, a_ledger_adds_up_and_a_negative_rest_is_said)
{
	struct sample *s = sample_make();

	s->ledger.rss -= 20000;
	s->ledger.unknown -= 20000;
	HI_EXPECT_GOLDEN("ledger-negative-rest",
			 section_of(page_text(summary_page(s), 80), "Ledger"));
}

/* No types and no leaks: they are not known. */
HI_TEST(report_text, without_an_allocator_it_says_so_and_shows_no_types)
{
	struct sample *s = sample_make();

	s->header.allocator = NULL;
	HI_EXPECT_GOLDEN("summary-no-allocator", page_text(summary_page(s), 80));
}

HI_TEST(report_text, each_allocator_has_a_line_with_its_blocks)
{
	const struct hi_report_allocator list[] = {
		{"jemalloc", "5.3.0", "redis-server", "its page map", "bitmaps, bins", "",
		 9, 1234567, 64000, 0, 0},
		{"glibc", "2.36", "libc.so.6", "symbols", "", "", 1, 1, 4096, 0, 0},
		{.name = "musl",
		 .version = "",
		 .module = "libhostile\033[31m.so",
		 .refused = "slot 3 of the group at 0x7f0000 has no header"}};
	struct hi_golden_pages *pages = hi_golden_pages();
	struct sample *s = sample_make();

	s->header.allocator = "jemalloc, glibc";
	s->header.allocators = list;
	s->header.n_allocators = 3;
	hi_golden_add(pages, "three, one of them not decoded", header_text(s, true));
	/* Its blocks are those of the report. */
	s->header.n_allocators = 1;
	hi_golden_add(pages, "one", header_text(s, true));
	HI_EXPECT_GOLDEN_PAGES("header-allocators", pages);
}

/* A short header, too: what follows is unknown. */
HI_TEST(report_text, a_heap_that_was_refused_is_named_with_its_check)
{
	const struct hi_report_allocator refused = {
		.name = "tcmalloc", .module = "", .refused = "no span has page 0x12"};
	struct sample *s = sample_make();

	s->header.allocator = NULL;
	s->header.allocators = &refused;
	s->header.n_allocators = 1;
	s->header.not_decoded = "tcmalloc";
	HI_EXPECT_GOLDEN("summary-refused", page_text(summary_page(s), 120));
}

HI_TEST(report_text, what_restrictions_hide_is_said_in_bytes)
{
	struct sample *s = sample_make();
	struct hi_restrict only = {.top = 4, .min_size = 1000};
	struct hi_census_report *report;
	struct hi_page *page = page_new();
	struct hi_error err;

	HI_ASSERT_OK(hi_census_report_create(&s->header, s->graph, &s->census, &only,
					     &report, &err),
		     &err);
	HI_ASSERT_EQ(4, report->n_rows);
	HI_ASSERT_EQ(2, report->hidden.by_min_size.rows);
	HI_ASSERT_EQ(196, report->hidden.by_min_size.bytes);
	HI_ASSERT_EQ(8, report->hidden.by_top.rows);
	hi_census_display(report, page);
	hi_census_report_destroy(report);
	HI_EXPECT_GOLDEN("census-hidden", page_text(page, 80));
}

/* Sums are checked in tests/census/groups_test.c. */
HI_TEST(report_retained, the_tree_begins_with_variables_and_goes_down_by_one)
{
	struct sample *s = sample_make();
	struct hi_restrict only = {.top = SIZE_MAX};
	struct hi_retained_report *r;
	struct hi_error err;
	size_t roots = 0;

	HI_ASSERT_OK(hi_retained_report_create(&s->header, s->graph, &s->reach,
					       &s->dominators, &s->census, &only, NULL,
					       UINT64_MAX, &r, &err),
		     &err);
	HI_ASSERT(r->n_rows > SAMPLE_ROOTS);
	for (size_t i = 0; i < r->n_rows; i++) {
		const struct hi_retained_row *row = &r->rows[i];

		HI_ASSERT(row->depth <= (i ? r->rows[i - 1].depth + 1 : 0));
		HI_ASSERT_EQ(row->depth == 0, row->info.sort == HI_NODE_ROOT);
		HI_ASSERT(row->count);
		roots += row->depth == 0;
	}
	HI_ASSERT_EQ(SAMPLE_ROOTS, roots);
	hi_retained_report_destroy(r);
}

/* A group of 1,000 has its number, no address, and its rest of 312 below it; the list of
 * 2,000 has none, as no row is below it. */
HI_TEST(report_retained, groups_and_rests_are_rows)
{
	struct sample *s = sample_make();
	struct hi_retained_row *rows = calloc(3, sizeof(*rows));
	struct hi_retained_report *r;
	struct hi_error err;
	struct hi_page *page = page_new();

	HI_ASSERT(rows);
	for (unsigned i = 0; i < 3; i++) {
		rows[i].info = hi_node_info(s->graph, &s->dominators, i);
		rows[i].info.name = i ? "->sessions" : "service";
		rows[i].depth = i;
		rows[i].count = 1;
	}
	rows[1].count = 1000;
	rows[1].info.address = 0;
	rows[1].children_more = 312;
	rows[1].children_more_bytes = 41 << 10;
	rows[2].count = 2000;
	rows[2].is_list = true;
	rows[2].children_more = 7; /* no row is below it */
	HI_ASSERT_OK(hi_retained_report_restore(&s->header, s->graph, s->reach.live_bytes,
						&s->census, 3, rows, 3,
						(struct hi_hidden){}, &r, &err),
		     &err);
	hi_retained_display(r, page);
	hi_retained_report_destroy(r);
	HI_EXPECT_GOLDEN("retained-groups", page_text(page, 100));
}

HI_TEST(report_names, types_are_found_with_and_without_their_keyword)
{
	struct sample *s = sample_make();
	struct hi_type_set set;
	struct hi_types_near near;
	struct hi_error err;

	HI_ASSERT_OK(hi_types_select(s->graph, "dict", &set, &near, &err), &err);
	HI_ASSERT_EQ(1, set.count);
	HI_ASSERT(set.has[4]);
	hi_type_set_free(&set);
	HI_ASSERT_OK(hi_types_select(s->graph, "struct d*", &set, &near, &err), &err);
	HI_ASSERT_EQ(2, set.count);
	hi_type_set_free(&set);
	HI_ASSERT_OK(hi_types_select(s->graph, "(untyped)", &set, &near, &err), &err);
	HI_ASSERT(set.has[0] && set.count == 1);
	hi_type_set_free(&set);
	HI_ASSERT_OK(hi_types_select(s->graph, "dict, (untyped)", &set, &near, &err),
		     &err);
	HI_ASSERT(set.has[0] && set.has[4] && set.count == 2);
	hi_type_set_free(&set);
	HI_ASSERT_OK(hi_types_select(s->graph, "d*,dict", &set, &near, &err), &err);
	HI_ASSERT_EQ(2, set.count);
	hi_type_set_free(&set);
	HI_ASSERT_STATUS(HI_NOT_FOUND,
			 hi_types_select(s->graph, "dict,dictEntri", &set, &near, &err));
	HI_ASSERT_STREQ("struct dictEntry", near.name[0]);
	HI_ASSERT(strstr(err.text, "dictEntri") != NULL);
	HI_ASSERT_STATUS(HI_NOT_FOUND,
			 hi_types_select(s->graph, "dict,", &set, &near, &err));
	HI_ASSERT_STATUS(HI_NOT_FOUND, hi_types_select(s->graph, "m<dict,dictEntry>",
						       &set, &near, &err));
	HI_ASSERT_STATUS(HI_NOT_FOUND, hi_types_select(s->graph, "struct dictEntri", &set,
						       &near, &err));
	HI_ASSERT_STREQ("struct dictEntry", near.name[0]);
	HI_ASSERT_STATUS(HI_NOT_FOUND,
			 hi_types_select(s->graph, "zzzzzzzzzzzz", &set, &near, &err));
	HI_ASSERT(near.name[0][0] == 0);
}

static enum hi_status make_and_render(struct sample *s, FILE *out, struct hi_error *err)
{
	struct hi_text_options options = {.width = 80};
	struct hi_summary_report *report = NULL;
	struct hi_page *page = hi_page_create();
	enum hi_status status;

	if (!page)
		return hi_fail_memory(err, "page");
	status = hi_summary_report_create(&s->inputs, &report, err);
	if (status == HI_OK) {
		hi_summary_display(report, page);
		status = hi_text_render(page, &options, out, err);
	}
	hi_summary_report_destroy(report);
	hi_page_destroy(page);
	return status;
}

HI_TEST(report_text, out_of_memory_anywhere_is_told_and_leaks_nothing)
{
	struct sample *s = sample_make();
	enum hi_status status = HI_NO_MEMORY;
	struct hi_error err;
	FILE *out = fopen("/dev/null", "w");
	unsigned failures = 0;

	HI_ASSERT(out != NULL);
	for (uint64_t nth = 1; status != HI_OK; nth++) {
		hi_alloc_fail_at(nth);
		status = make_and_render(s, out, &err);
		hi_alloc_fail_at(0);
		HI_ASSERT(status == HI_OK || status == HI_NO_MEMORY);
		failures += status == HI_NO_MEMORY;
		HI_ASSERT(nth < 100000);
	}
	fclose(out);
	HI_ASSERT(failures > 10);
}

/* Headings of many types, and what stands beside them: at no width is a word cut that is
 * shorter than half a line, nor a line too long. */
HI_TEST(report_text, headings_are_broken_between_words)
{
	static const char *const headings[] = {
		"2. struct session",
		"2. struct connection, struct request_line, struct buffer_of_bytes",
		"2. struct connection, struct request_line, struct buffer_of_bytes, "
		"struct "
		"upstream, struct pool_of_threads, struct timer and 12 more types"};
	static const char aside[] = "12.4 MiB in 40,000 objects";

	for (size_t i = 0; i < 3; i++)
		for (unsigned width = 40; width <= 160; width++) {
			struct hi_page *page = page_new();
			char words[300], *save = NULL, *text;
			size_t n = 0;

			hi_page_heading(page, headings[i], aside);
			text = page_text(page, width);
			for (const char *line = text; *line; n++) {
				size_t length = strcspn(line, "\n");

				HI_ASSERT_MSG(length <= width, "%u: %s", width, text);
				line += length + (line[length] != 0);
			}
			HI_ASSERT_MSG(n <= 2 + strlen(headings[i]) / 20 + 1, "%s", text);
			snprintf(words, sizeof(words), "%s %s", headings[i], aside);
			for (char *word = strtok_r(words, " ", &save); word;
			     word = strtok_r(NULL, " ", &save))
				HI_ASSERT_MSG(strstr(text, word), "%u: no %s in:%s",
					      width, word, text);
			/* A number and its unit stay together. */
			HI_ASSERT_MSG(strstr(text, "12.4 MiB"), "%u:%s", width, text);
		}
}

/* A text of one line that has this many columns. */
static const char *fit_columns(const char *text, unsigned columns, bool utf8)
{
	const struct hi_text_style style = {.utf8 = utf8};
	struct hi_arena *arena = hi_calloc(1, sizeof(*arena));

	HI_ASSERT(arena != NULL);
	hi_test_defer(free, arena);
	hi_test_defer(hi_arena_free, arena);
	return hi_text_fit(&style, arena, text, columns);
}

/* The program's own type is what a reader looks for. */
HI_TEST(text, cuts_are_inside_of_template_arguments)
{
	HI_ASSERT_STREQ(
		"unordered_map<string, shared_ptr<Order>> node",
		fit_columns("unordered_map<string, shared_ptr<Order>> node", 45, true));
	HI_ASSERT_STREQ(
		"unordered_map<…, shared_ptr<Order>> node",
		fit_columns("unordered_map<string, shared_ptr<Order>> node", 42, true));
	HI_ASSERT_STREQ(
		"unordered_map<…, shared_ptr<Order>> node",
		fit_columns("unordered_map<string, shared_ptr<Order>> node", 40, true));
	HI_ASSERT_STREQ(
		"unordered_map<…Order> node",
		fit_columns("unordered_map<string, shared_ptr<Order>> node", 39, true));
	HI_ASSERT_STREQ("vector<unsigned l…> block",
			fit_columns("vector<unsigned long> block", 25, true));
	/* Namespaces first. */
	HI_ASSERT_STREQ("shared_ptr<…::Order> block",
			fit_columns("shared_ptr<company::product::model::Order> block",
				    38, true));
	/* Then what it is wrapped in. */
	HI_ASSERT_STREQ("unordered_map<…PendingOrderOfDay> node",
			fit_columns("unordered_map<string, "
				    "shared_ptr<vector<PendingOrderOfDay>>> node",
				    38, true));
	HI_ASSERT_STREQ(
		"unordered_map<...Order> node",
		fit_columns("unordered_map<string, shared_ptr<Order>> node", 41, false));
	/* No arguments, or none that are in order: in the middle. */
	HI_ASSERT_STREQ(
		"a_name_without_argu…_is_longer_than_it",
		fit_columns("a_name_without_arguments_that_is_longer_than_it", 38, true));
	HI_ASSERT_STREQ(
		"server->a<b<c<d_but…c_d_but_it_is_long",
		fit_columns("server->a<b<c<d_but_no_more_c_d_but_it_is_long", 38, true));
}
