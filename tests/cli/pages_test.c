/* SPDX-License-Identifier: BSD-2-Clause */
/* Pages of a heap: addresses, what they may ask for, and that a page says what the
 * command prints. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/option_table.h"
#include "cli/pages.h"
#include "cli/pages_request.h"
#include "report/formats/text.h"
#include "session/complaints.h"
#include "tests/harness.h"
#include "tests/support/command.h"
#include "tests/support/snapshots.h"

/* ---- addresses ---- */

static void destroy_request(void *r)
{
	hi_pages_request_destroy(r);
}

static void destroy_page(void *page)
{
	hi_page_destroy(page);
}

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
	hi_test_defer(destroy_request, *ret);
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
		const char *name = hi_option_table[i].option.name;

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
	HI_ASSERT(r->options.most_ns);

	HI_ASSERT_EQ(HI_OK, read_address("explain/0x55?census=peak", &nowhere, &r, text));
	HI_ASSERT_STREQ("peak", r->options.target.census);
	HI_ASSERT_STREQ("0x55", r->options.argument);
}

/* Rows are bounded: a page has no million of them. */
HI_TEST(pages, have_so_many_rows)
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
	hi_test_defer(destroy_page, page);
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
	hi_test_defer(destroy_page, page);
	for (size_t i = 0; i < sizeof(links) / sizeof(*links); i++)
		HI_ASSERT_STREQ(links[i].wanted,
				hi_pages_keep_census(page, links[i].from, links[i].to));
}
