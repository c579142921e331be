/* SPDX-License-Identifier: BSD-2-Clause */
/* Pages of a heap: addresses, what they may ask for, and that a page says what the
 * command prints. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/options/option_row.h"
#include "cli/pages/pages_heaps.h"
#include "cli/pages/pages_kept.h"
#include "cli/pages/pages_request.h"
#include "report/render/text.h"
#include "cli/command/complaints.h"
#include "tests/harness.h"
#include "tests/support/hostile_snapshot.h"
#include "tests/support/json.h"
#include "tests/support/page_links.h"
#include "tests/support/snapshots.h"
#include "tests/support/targets.h"

/* ---- addresses ---- */

/* The request of an address, and what was complained about. */
static enum hi_status read_address(const char *address,
				   const struct hi_pages_files *files,
				   struct hi_pages_request **ret, char text[1000])
{
	struct hi_error err = {};
	FILE *stream = fmemopen(text, 1000, "w");
	enum hi_status status;

	HI_ASSERT(stream);
	memset(text, 0, 1000);
	hi_complaints_to(stream);
	status = hi_pages_request_read(address, files, ret, &err);
	hi_complaints_to(NULL);
	fclose(stream);
	hi_test_defer(hi_pages_request_destroy, *ret);
	if (status != HI_OK && *err.text)
		snprintf(text, 1000, "%s", err.text);
	return status;
}

/* No file is read for these: its name says what it is. */
static const struct hi_pages_files nowhere = {.file = "/nowhere/app.hisnap",
					      .other = "/nowhere/other.hisnap"};

HI_TEST(pages, every_option_is_decided)
{
	for (size_t i = 0; i < hi_option_table_size; i++) {
		const char *name = hi_option_table[i].name;

		HI_ASSERT_MSG(!name || hi_pages_option_of(name) != HI_PAGES_UNDECIDED,
			      "--%s: may pages take it?", name);
	}
	HI_ASSERT_EQ(HI_PAGES_UNDECIDED, hi_pages_option_of("no-such-option"));
}

/* What could read or write another file, look at a process, or run a program. */
HI_TEST(pages, refuse_what_is_not_about_the_heap)
{
	static const char *const refused[] = {
		"pid",	    "name",   "core",	  "exe",	  "output",
		"hp",	    "like",   "contour",  "hints",	  "debug-dir",
		"baseline", "three",  "budget",	  "junit",	  "update-baseline",
		"edit",	    "format", "json",	  "no-sandbox",	  "color",
		"at",	    "every",  "max-file", "conservative", "verbose",
	};
	static const char *const pages[] = {"summary", "census",      "retained", "diff",
					    "deep",    "alloc",	      "peaks",	  "query",
					    "bio",     "explain/0x55"};

	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++)
		for (size_t k = 0; k < sizeof(pages) / sizeof(*pages); k++) {
			struct hi_pages_request *r = NULL;
			char address[80], text[1000];

			snprintf(address, sizeof(address), "%s?%s=x", pages[k],
				 refused[i]);
			HI_ASSERT_EQ(HI_USAGE, read_address(address, &nowhere, &r, text));
			HI_ASSERT_MSG(strstr(text, refused[i]), "%s: %s", address, text);
		}
}

HI_TEST(pages, have_no_page_for_other_commands)
{
	static const char *const names[] = {
		"record", "snap",	"check",      "export",	 "audit",   "mark",
		"era",	  "safepoints", "browse",     "report",	 "no-such", "..",
		"-",	  "--help",	"style.css?", "app.js/x"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct hi_pages_request *r = NULL;
		char text[1000];

		HI_ASSERT_MSG(read_address(names[i], &nowhere, &r, text) == HI_NOT_FOUND,
			      "%s: %s", names[i], text);
		HI_ASSERT(*text);
	}
}

/* An argument is one, whatever is in it. */
HI_TEST(pages, take_no_option_or_file_for_an_argument)
{
	static const char *const addresses[] = {
		"paths/-o%2Ftmp%2Fx",
		"explain/--pid=1",
		"query/-",
		"query?sql=",
		"paths/%2Fnowhere%2Felse.hisnap",
		"paths/--",
		"deep/-o",
		"deep/diff/%2Fnowhere%2Felse.hirec",
		"census/struct",
		"summary/%2Fetc%2Fpasswd",
		"census?census=7%40x",
		"diff/peak%20x",
		"paths/a?census=-1",
	};

	for (size_t i = 0; i < sizeof(addresses) / sizeof(*addresses); i++) {
		struct hi_pages_request *r = NULL;
		char text[1000];
		enum hi_status status = read_address(addresses[i], &nowhere, &r, text);

		if (strcmp(addresses[i], "query?sql=") == 0) {
			HI_ASSERT_EQ(HI_OK, status);
			HI_ASSERT(!r->options.argument);
			continue;
		}
		HI_ASSERT_MSG(status == HI_USAGE || status == HI_NOT_FOUND, "%s: %s",
			      addresses[i], text);
	}
}

HI_TEST(pages, are_the_command_lines_of_their_addresses)
{
	struct hi_pages_request *r = NULL;
	char text[1000];

	HI_ASSERT_EQ(HI_OK, read_address("census?top=7&type=struct%20conn*&full-names=",
					 &nowhere, &r, text));
	HI_ASSERT_EQ(7, r->options.selection.top);
	HI_ASSERT_STREQ("struct conn*", r->options.selection.type);
	HI_ASSERT(r->options.output.full_names);
	HI_ASSERT_STREQ(nowhere.file, r->options.target.file);
	HI_ASSERT(!r->is_json);

	HI_ASSERT_EQ(HI_OK, read_address("json/paths/a%20%26%3Fb%2Fc?ways=3", &nowhere,
					 &r, text));
	HI_ASSERT_STREQ("a &?b/c", r->options.argument);
	HI_ASSERT_EQ(3, r->options.selection.paths);
	HI_ASSERT(r->is_json && r->options.output.json);

	HI_ASSERT_EQ(HI_OK,
		     read_address("query?sql=--+all%0ASELECT+1%2B1", &nowhere, &r, text));
	HI_ASSERT_STREQ(" -- all\nSELECT 1+1", r->options.argument);

	HI_ASSERT_EQ(HI_OK, read_address("explain/0x55?census=peak", &nowhere, &r, text));
	HI_ASSERT_STREQ("peak", r->options.target.census);
	HI_ASSERT_STREQ("0x55", r->options.argument);
}

/* Rows are bounded: a page has no million of them. */
HI_TEST(pages, page_rows_are_bounded)
{
	static const char *const addresses[] = {"census?all=", "census?top=99999999"};
	struct hi_pages_request *r = NULL;
	char text[1000], json[80];

	for (size_t i = 0; i < 2; i++) {
		HI_ASSERT_EQ(HI_OK, read_address(addresses[i], &nowhere, &r, text));
		HI_ASSERT(!r->options.selection.all);
		HI_ASSERT_EQ(HI_PAGES_ROWS, r->options.selection.top);
		snprintf(json, sizeof(json), "json/%s", addresses[i]);
		HI_ASSERT_EQ(HI_OK, read_address(json, &nowhere, &r, text));
		HI_ASSERT_EQ(HI_PAGES_JSON_ROWS, r->options.selection.top);
	}
}

/* Requests that count other objects have other keys; what is shown does not matter. */
HI_TEST(pages, know_which_requests_share_an_inspection)
{
	static const struct {
		const char *a, *b;
		bool same;
	} pairs[] = {
		{"census", "retained?top=3", true},
		{"census?by=module", "leaks?full-names=", true},
		{"census", "census?census=2", false},
		{"census?census=2", "retained?census=2&top=9", true},
		{"retainers", "retainers?type=x", false},
		{"census", "census?type=x", true},
		{"census?by=site", "census?by=site&type=x", false},
		{"retainers", "retainers?retainer=auto", false},
		{"census", "explain/0x55", true},
		{"census", "explain/server.db", false},
		{"explain/a", "explain/b", false},
		{"census", "census?site=f", false},
	};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
		struct hi_pages_request *a = NULL, *b = NULL;
		char text[1000];

		HI_ASSERT_EQ(HI_OK, read_address(pairs[i].a, &nowhere, &a, text));
		HI_ASSERT_EQ(HI_OK, read_address(pairs[i].b, &nowhere, &b, text));
		HI_ASSERT_MSG((strcmp(a->key, b->key) == 0) == pairs[i].same, "%s, %s",
			      pairs[i].a, pairs[i].b);
	}
}

HI_TEST(pages, find_the_page_of_a_suggested_command)
{
	static const struct {
		const char *command, *address;
	} lines[] = {
		{"heapinspect /nowhere/app.hisnap", ""},
		{"heapinspect /nowhere/app.hisnap@3", "summary?census=3"},
		{"heapinspect explain 0x55 /nowhere/app.hisnap", "explain/0x55"},
		{"heapinspect explain /nowhere/app.hisnap 0x55 --top 5",
		 "explain/0x55?top=5"},
		{"heapinspect paths 'struct a & b' /nowhere/app.hisnap@peak",
		 "paths/struct%20a%20%26%20b?census=peak"},
		{"heapinspect census --by=size /nowhere/app.hisnap", "census?by=size"},
		{"heapinspect paths -k 7 x /nowhere/app.hisnap", "paths/x?ways=7"},
		{"heapinspect census --all --pid 1", NULL},
		{"heapinspect snap --pid 1 -o x.hisnap", NULL},
		{"heapinspect census /nowhere/app.hisnap -o x", NULL},
		{"heapinspect census /nowhere/third.hisnap", NULL},
		{"heapinspect diff /nowhere/app.hisnap@1 /nowhere/app.hisnap@3",
		 "diff/1?census=3"},
		{"heapinspect deep diff /nowhere/app.hisnap root/90",
		 "deep/diff/root/90"},
		{"heapinspect paths 'struct \\x1b' /nowhere/app.hisnap", NULL},
		{"heapinspect paths 'unfinished /nowhere/app.hisnap", NULL},
		{"kill 1", NULL},
		{"heapinspect", NULL},
		{"", NULL},
	};
	struct hi_page *page = hi_page_create();

	HI_ASSERT(page);
	hi_test_defer(hi_page_destroy, page);
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		const char *address =
			hi_pages_address_of(lines[i].command, &nowhere, page);

		HI_ASSERT_MSG(!address == !lines[i].address, "%s: %s", lines[i].command,
			      address);
		if (address)
			HI_ASSERT_STREQ(lines[i].address, address);
	}
}

HI_TEST(pages, keep_the_census_that_was_chosen)
{
	static const struct {
		const char *from, *to, *wanted;
	} links[] = {
		{"retained?census=2", "explain/0x55", "explain/0x55?census=2"},
		{"retained?top=1&census=peak&all=", "", "summary?census=peak"},
		{"retained?census=2", "retained?census=3", "retained?census=3"},
		{"retained", "explain/0x55", "explain/0x55"},
		{"retained?census=2", "peaks", "peaks"},
		{"retained?census=2", "snapshots?census=1", "snapshots?census=1"},
		{"retained?census=2", "style.css", "style.css"},
		{"retained?census=%22%3E", "leaks", "leaks"},
	};
	struct hi_page *page = hi_page_create();

	HI_ASSERT(page);
	hi_test_defer(hi_page_destroy, page);
	for (size_t i = 0; i < sizeof(links) / sizeof(*links); i++)
		HI_ASSERT_STREQ(links[i].wanted,
				hi_pages_keep_census(page, links[i].from, links[i].to));
}

/* ---- pages of files ---- */

/* The document at an address; freed when the test ends. */
static const char *ask_for_page(struct hi_pages *pages, const char *address,
				unsigned *code_ret)
{
	struct hi_pages_answer answer = {};
	struct hi_error err = {};
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	HI_ASSERT(out);
	HI_ASSERT_OK(hi_pages_write(pages, address, "/TOKEN/", out, &answer, &err), &err);
	HI_ASSERT(fclose(out) == 0);
	hi_test_defer(free, text);
	HI_ASSERT(strlen(text) == size && answer.type);
	*code_ret = answer.code;
	return text;
}

static void expect_code(struct hi_pages *pages, const char *address, unsigned code,
			const char *said)
{
	unsigned got = 0;
	const char *text = ask_for_page(pages, address, &got);

	HI_ASSERT_MSG(got == code, "%s: %u, %.600s", address, got, text);
	HI_ASSERT_MSG(strstr(text, said), "%s: %s is missing in %.2000s", address, said,
		      text);
}

/* The same page as text: it says what the command has printed, word by word. */
static void expect_same(struct hi_pages *pages, const char *address,
			const struct hi_command *c)
{
	struct hi_text_options options = {.width = 100};
	struct hi_page *page = NULL;
	struct hi_error err = {};
	char *text = NULL;
	size_t size = 0;
	unsigned code = 0;
	FILE *out = open_memstream(&text, &size);

	HI_ASSERT(out);
	HI_ASSERT_OK(hi_pages_make(pages, address, &page, &code, &err), &err);
	hi_test_defer(hi_page_destroy, page);
	HI_ASSERT_MSG(code == 200, "%s: %u", address, code);
	HI_ASSERT_OK(hi_text_render(page, &options, out, &err), &err);
	HI_ASSERT(fclose(out) == 0);
	hi_test_defer(free, text);
	HI_ASSERT_MSG(c->exit_code < 2, "%s: %s", address, c->err);
	HI_ASSERT_MSG(strcmp(text, c->out) == 0, "%s: the page\n%s\nthe command\n%s",
		      address, text, c->out);
}

static const char *leaky_snapshot(void)
{
	char *in = snapshot_directory();
	struct target *t = target_start("leak_shapes", "acyclic", "3", NULL);

	return snapshot_of_core(snapshot_core(t->fx, in), in, "app.hisnap", NULL);
}

static void check_say_what_the_commands_print(const char *file)
{
	static const struct {
		const char *address, *words[8];
	} pairs[] = {
		{"", {"summary"}},
		{"census", {"census"}},
		{"census?by=module&top=3", {"census", "--by", "module", "--top", "3"}},
		{"retained", {"retained"}},
		{"retained?full-names=&min-size=1KiB",
		 {"retained", "--full-names", "--min-size", "1KiB"}},
		{"retained?by=thread", {"retained", "--by", "thread"}},
		{"leaks", {"leaks"}},
		{"retainers", {"retainers"}},
		{"retainers?retainer=auto&type=struct%20item",
		 {"retainers", "--retainer", "auto", "--type", "struct item"}},
		{"waste", {"waste"}},
		{"up?type=struct%20item", {"up", "--type", "struct item"}},
		{"paths/struct%20item?ways=2", {"paths", "struct item", "-k", "2"}},
		{"census?retained-by=*", {"census", "--retained-by", "*"}},
		{"query?sql=SELECT+count(*)+FROM+objects",
		 {"query", "SELECT count(*) FROM objects"}},
	};
	enum { PAIRS = sizeof(pairs) / sizeof(*pairs) };
	struct hi_pages *pages = page_links_open(file, NULL);
	struct hi_command *said[PAIRS];

	setenv("LC_ALL", "C", 1);
	for (size_t k = 0; k < PAIRS; k++)
		said[k] = hi_heapinspect_words(pairs[k].words,
					       TARGET_WORDS(file, "--width", "100"));
	/* Twice: with what is kept of the first time, too. */
	for (size_t i = 0; i < 2 * PAIRS; i++)
		expect_same(pages, pairs[i % PAIRS].address, said[i % PAIRS]);
}

static void check_of_errors_say_what_is_wrong(const char *file)
{
	struct hi_pages *pages = page_links_open(file, NULL);

	expect_code(pages, "no-such-page", 404, "There is no such page");
	expect_code(pages, "explain/0x1", 404, "0x1 is in no object");
	expect_code(pages, "paths/struct%20nothing", 404, "struct nothing");
	expect_code(pages, "census?by=colour", 400, "--by colour: not one of type");
	expect_code(pages, "retained?by=module", 400, "--by module: not one of");
	expect_code(pages, "census?top=x", 400, "--top x: not a number");
	expect_code(pages, "census?all=&top=3", 400, "--all and --top");
	expect_code(pages, "census?by=site", 404, "recording");
	expect_code(pages, "bio", 404, "heapinspect bio");
	expect_code(pages, "explain", 400, "ADDRESS");
	expect_code(pages, "%zz", 400, "escape");
	expect_code(pages, "census?census=9", 400, "");
	expect_code(pages, "query?sql=DELETE+FROM+objects", 400, "may not be modified");
	expect_code(pages, "query?sql=SELECT+colour+FROM+objects", 400, "colour");
	expect_code(pages, "query?sql=.write", 400, "query");
	expect_code(pages, "roots?root=a%3D((", 400, "--root a");
	expect_code(pages, "json/census?by=colour", 400, "heapinspect/error/v1");
	expect_code(pages, "json/no-such-page", 404, "heapinspect/error/v1");
	/* It goes on, and there is a way back. */
	expect_code(pages, "census?by=colour", 400, "href=\"/TOKEN/\"");
	expect_code(pages, "", 200, "leak_shapes");
}

/* One that takes for ever ends, and so do its pages. */
static void check_end_statements_that_take_too_long(const char *file)
{
	struct hi_pages *pages = page_links_open(file, NULL);

	expect_code(pages,
		    "query?sql=WITH+RECURSIVE+c(x)+AS+(SELECT+1+UNION+ALL+SELECT+x%2B1+"
		    "FROM+c)+SELECT+count(*)+FROM+c",
		    400, "not ready after 5.00 s");
	expect_code(pages, "query?sql=SELECT+42", 200, "42");
}

static void check_are_json_of_the_same_command(const char *file)
{
	static const char *const names[] = {"summary", "census", "retained", "leaks",
					    "waste"};
	struct hi_pages *pages = page_links_open(file, NULL);

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		json_t *doc = doc_of(hi_heapinspect(names[i], file, "--json"));
		unsigned code = 0;
		char address[40];

		snprintf(address, sizeof(address), "json/%s", names[i]);
		HI_ASSERT_MSG(
			json_equal(doc, doc_parse(ask_for_page(pages, address, &code))),
			"%s", names[i]);
		HI_ASSERT_EQ(200, code);
	}
}

/* Whatever is damaged: a page says so, and the next one is there. */
static void check_of_damaged_files_are_pages(const char *file)
{
	FILE *f = fopen(file, "r+");
	struct hi_pages *pages;
	unsigned code = 0, bad = 0;
	long size;

	HI_ASSERT(f && fseek(f, 0, SEEK_END) == 0);
	size = ftell(f);
	for (long at = 4096; at < size; at += 64) {
		HI_ASSERT(fseek(f, at, SEEK_SET) == 0);
		fputc(0xa5, f);
	}
	HI_ASSERT(fclose(f) == 0);
	pages = page_links_open(file, NULL);
	for (size_t i = 0; i < 2; i++) {
		static const char *const addresses[] = {
			"",	 "census",    "retained", "leaks",
			"waste", "retainers", "query",	  "explain/0x55"};

		for (size_t k = 0; k < sizeof(addresses) / sizeof(*addresses); k++) {
			ask_for_page(pages, addresses[k], &code);
			bad += code == 500;
		}
	}
	HI_ASSERT_MSG(bad >= 8, "%u", bad);
	HI_ASSERT(truncate(file, size / 2) == 0);
	pages = page_links_open(file, NULL);
	expect_code(pages, "", 500, "heapinspect");
	expect_code(pages, "census", 500, "");
}

static void check_warm_up_ends(const char *file)
{
	struct hi_pages *pages = page_links_open(file, NULL);
	unsigned n = 0;

	while (hi_pages_warm_up(pages))
		HI_ASSERT(++n < 100);
	HI_ASSERT(n > 3 && !hi_pages_warm_up(pages));
	expect_code(pages, "retained", 200, "retained");
}

HI_TEST_SCENARIO(pages, pages_of_a_file_equal_the_output_of_commands)
{
	const char *file = leaky_snapshot();

	check_say_what_the_commands_print(file);
	check_are_json_of_the_same_command(file);
	check_of_errors_say_what_is_wrong(file);
	check_end_statements_that_take_too_long(file);
	check_warm_up_ends(file);
	check_of_damaged_files_are_pages(file);
}

/* Whatever the navigation leads to is there, and XML. */
static void check_navigation(const char *file, const char *other, const char *in)
{
	struct hi_pages *pages = page_links_open(file, other);
	struct hi_html_site site = hi_pages_site_of(pages);

	HI_ASSERT(site.n_nav > 5);
	for (size_t i = 0; i < site.n_nav; i++) {
		unsigned code = 0;
		const char *text = ask_for_page(pages, site.nav[i].address, &code);
		const char *path = snapshot_path(in, "page.html");
		struct hi_command *c;
		FILE *f = fopen(path, "w");

		HI_ASSERT_MSG(code == 200, "%s: %u, %.3000s", site.nav[i].address, code,
			      text);
		HI_ASSERT(f && fputs(text, f) >= 0 && fclose(f) == 0);
		c = hi_command_run(0, "xmllint", "--noout", path, NULL);
		HI_ASSERT_MSG(c->exit_code == 0, "%s: %.1000s", site.nav[i].address,
			      c->err);
	}
}

HI_TEST_SCENARIO(pages, all_links_of_the_navigation_resolve)
{
	const char *in = snapshot_directory();
	const char *recording = hostile_snapshot(in, "a.hirec", 60);

	check_navigation(recording, NULL, in);
	check_navigation(recording, hostile_snapshot(in, "b.hirec", 90), in);
	check_navigation(hostile_series(in, "series.hirec", 3), NULL, in);
}

static long resident_kib(void)
{
	char line[200];
	long kib = 0;
	FILE *f = fopen("/proc/self/status", "r");

	HI_ASSERT(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "RssAnon: %ld", &kib) == 1)
			break;
	fclose(f);
	return kib;
}

/* Asks for every page that the page links to. */
static size_t follow_links(struct hi_pages *pages, const char *html)
{
	static const char before[] = "<a href=\"/TOKEN/";
	const char *at = html;
	size_t n = 0;

	while ((at = strstr(at, before))) {
		char address[1000];
		unsigned code = 0;
		size_t length;

		at += sizeof(before) - 1;
		length = strcspn(at, "\"");
		HI_ASSERT(length < sizeof(address));
		snprintf(address, sizeof(address), "%.*s", (int)length, at);
		for (char *amp; (amp = strstr(address, "&amp;"));)
			memmove(amp + 1, amp + 5, strlen(amp + 5) + 1);
		ask_for_page(pages, address, &code);
		HI_ASSERT_MSG(code == 200, "%s: %u", address, code);
		n++;
	}
	return n;
}

/* The last census alone has a graph. */
HI_TEST_SCENARIO(pages, links_of_a_census_without_a_graph_resolve)
{
	struct target *t = target_start("leaky_service", NULL);
	struct hi_pages *pages = page_links_open(
		target_snap(t, "--every", "100ms", "--for", "4s", "--full", "last"),
		NULL);
	unsigned code = 0;

	ask_for_page(pages, "retained?census=1", &code);
	HI_ASSERT_EQ(400, code);
	HI_ASSERT(follow_links(pages, ask_for_page(pages, "census?census=1", &code)) > 5);
	HI_ASSERT_EQ(200, code);
	HI_ASSERT(follow_links(pages, ask_for_page(pages, "snapshots?census=1", &code)) >
		  5);
}

/* Many restrictions, each an inspection of its own, and many pages of one: those that
 * were used longest ago are given up. */
HI_TEST_SCENARIO(pages, do_not_grow_with_what_was_asked_for)
{
	const char *in = snapshot_directory();
	struct hi_pages *pages =
		page_links_open(hostile_snapshot(in, "a.hirec", 400), NULL);
	long before = 0;

	for (unsigned round = 0; round < 4; round++) {
		for (unsigned i = 0; i < 60; i++) {
			char address[100];
			unsigned code = 0;

			snprintf(address, sizeof(address),
				 "census?born=%us..&min-size=%u", i + 1, i);
			ask_for_page(pages, address, &code);
			HI_ASSERT_MSG(code == 200, "%s: %u", address, code);
			snprintf(address, sizeof(address), "retained?top=%u", i + 1);
			ask_for_page(pages, address, &code);
			HI_ASSERT_MSG(code == 200, "%s: %u", address, code);
		}
		if (round == 1)
			before = resident_kib();
	}
	HI_ASSERT_MSG(resident_kib() < before + (64 << 10), "%ld KiB, then %ld", before,
		      resident_kib());
}

/* A path in an address is a word: whatever lies there, pages are about their own files.
 */
HI_TEST_SCENARIO(pages, read_no_file_that_an_address_names)
{
	static const char *const names[] = {"deep/diff/", "deep/",  "paths/",
					    "explain/",	  "query/", "deep/diff/root/"};
	const char *in = snapshot_directory();
	const char *own = hostile_snapshot(in, "a.hirec", 30);
	const char *other = hostile_snapshot(in, "b.hirec", 30);
	struct hi_pages *pages = page_links_open(own, NULL);
	struct hi_page *page = hi_page_create();

	HI_ASSERT(page);
	hi_test_defer(hi_page_destroy, page);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		char address[400];

		snprintf(address, sizeof(address), "%s%s", names[i],
			 hi_address(page, "x", other) + 2);
		expect_code(pages, address, 400, "");
		snprintf(address, sizeof(address), "%s%s", names[i],
			 hi_address(page, "x", own) + 2);
		expect_code(pages, address, 400, "");
	}
}

/* ---- what is kept ---- */

/* A page of about so many bytes. */
static struct hi_page *page_of_size(size_t bytes)
{
	struct hi_page *page = hi_page_create();

	HI_ASSERT(page);
	for (size_t used = 0; used < bytes; used += 2000)
		HI_ASSERT(*hi_page_printf(page, "%02000d", 0));
	return page;
}

HI_TEST(pages_kept, oldest_page_is_evicted_first)
{
	static struct hi_pages_kept kept;
	struct hi_page *large = page_of_size(HI_PAGES_KEPT_BYTES / 3);
	char address[32];

	hi_test_defer(hi_pages_kept_free, &kept);
	hi_test_defer(hi_page_destroy, large);
	HI_ASSERT(!hi_pages_kept_find(&kept, "0"));
	HI_ASSERT(!hi_pages_kept_add(&kept, "large", large));
	for (unsigned i = 0; i < 3 * HI_PAGES_KEPT; i++) {
		snprintf(address, sizeof(address), "%u", i);
		HI_ASSERT(hi_pages_kept_add(&kept, address, page_of_size(100)));
		HI_ASSERT(hi_pages_kept_find(&kept, "0"));
	}
	HI_ASSERT(!hi_pages_kept_find(&kept, "1") && hi_pages_kept_find(&kept, address));
	for (unsigned i = 0; i < 100; i++) {
		snprintf(address, sizeof(address), "large %u", i);
		HI_ASSERT(hi_pages_kept_add(&kept, address, page_of_size(1 << 20)));
		HI_ASSERT(kept.bytes <= HI_PAGES_KEPT_BYTES);
	}
	HI_ASSERT(hi_pages_kept_find(&kept, address) &&
		  !hi_pages_kept_find(&kept, "large 1"));
}

/* Enters and leaves the inspection of an address; returns whether it was open already. */
static bool use_heap(struct hi_pages_heaps *heaps, const char *address,
		     const struct hi_pages_files *files)
{
	struct hi_pages_request *r = NULL;
	struct hi_pages_heap *heap = NULL;
	struct hi_error err = {};
	char text[1000];
	bool was_open;

	HI_ASSERT_MSG(read_address(address, files, &r, text) == HI_OK, "%s", text);
	was_open = hi_pages_heaps_have_graph(heaps, r->key);
	HI_ASSERT_OK(hi_pages_heap_enter(heaps, r, &heap, &err), &err);
	HI_ASSERT(heap->in->options == &heap->options);
	hi_pages_heap_leave(heap, HI_OK);
	return was_open;
}

static unsigned count_graphs(const struct hi_pages_heaps *heaps)
{
	unsigned n = 0;

	for (size_t i = 0; i < HI_PAGES_HEAPS; i++)
		n += heaps->items[i].used && !heaps->items[i].is_outline;
	return n;
}

HI_TEST_SCENARIO(pages_heaps, few_graphs_are_open)
{
	static struct hi_pages_heaps heaps;
	struct hi_pages_files files = {
		.file = hostile_snapshot(snapshot_directory(), "a.hirec", 60)};
	char address[64];

	hi_test_defer(hi_pages_heaps_free, &heaps);
	HI_ASSERT(!use_heap(&heaps, "leaks", &files));
	HI_ASSERT_EQ(1, count_graphs(&heaps));
	/* A stored table needs no graph; other results of the same objects no second. */
	use_heap(&heaps, "census", &files);
	HI_ASSERT(use_heap(&heaps, "explain/0x55", &files));
	HI_ASSERT(use_heap(&heaps, "summary", &files));
	HI_ASSERT_EQ(1, count_graphs(&heaps));
	for (unsigned i = 1; i < 12; i++) {
		snprintf(address, sizeof(address), "census?born=%us..", i);
		HI_ASSERT(!use_heap(&heaps, address, &files));
		HI_ASSERT(use_heap(&heaps, "leaks", &files));
		HI_ASSERT(count_graphs(&heaps) <= HI_PAGES_GRAPHS);
	}
	HI_ASSERT_EQ(HI_PAGES_GRAPHS, count_graphs(&heaps));
	HI_ASSERT(use_heap(&heaps, address, &files));
	HI_ASSERT(!use_heap(&heaps, "census?born=1s..", &files));
}

/* Damage that was found in one page ends the inspection: the next page reads again. */
HI_TEST_SCENARIO(pages_heaps, damage_ends_an_inspection)
{
	static struct hi_pages_heaps heaps;
	struct hi_pages_files files = {
		.file = hostile_snapshot(snapshot_directory(), "a.hirec", 60)};
	struct hi_pages_request *r = NULL;
	struct hi_pages_heap *heap = NULL;
	struct hi_error err = {};
	char text[1000];

	hi_test_defer(hi_pages_heaps_free, &heaps);
	HI_ASSERT_EQ(HI_OK, read_address("leaks", &files, &r, text));
	HI_ASSERT_OK(hi_pages_heap_enter(&heaps, r, &heap, &err), &err);
	hi_pages_heap_leave(heap, HI_NOT_FOUND);
	HI_ASSERT(hi_pages_heaps_have_graph(&heaps, r->key));
	HI_ASSERT_OK(hi_pages_heap_enter(&heaps, r, &heap, &err), &err);
	hi_pages_heap_leave(heap, HI_BAD_DATA);
	HI_ASSERT(!hi_pages_heaps_have_graph(&heaps, r->key));
}
