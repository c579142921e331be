/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines that can have made a leak, by the code alone: fixtures/leak_sites.cc. */
#include <stdio.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/json.h"
#include "tests/support/targets.h"
#include "tests/support/workshop.h"

/* sites: how many fit. */
static void check_site(json_t *doc, const struct target *t, const char *name, int sites)
{
	json_t *root = doc_row(doc_at(doc, "roots"), "address", target_said(t, name));
	bool is_named = false;
	char key[64];
	json_t *site;

	snprintf(key, sizeof(key), "%s_line", name);
	HI_ASSERT_MSG(doc_number(root, "made_by.fit") == sites, "%s: %lld sites", name,
		      (long long)doc_number(root, "made_by.fit"));
	doc_each (site, doc_at(root, "made_by.sites")) {
		HI_ASSERT(strstr(doc_text(site, "file"), "leak_sites.cc"));
		is_named |= doc_number(site, "line") == target_number(t, key);
	}
	HI_ASSERT_MSG(is_named, "%s", name);
}

/* A text may be a copy, or what was written into a block of this size. */
static void check_sites(json_t *doc, const struct target *t)
{
	check_site(doc, t, "order", 1);
	check_site(doc, t, "coupon", 3);
	check_site(doc, t, "square", 1);
	check_site(doc, t, "session", 1);
	check_site(doc, t, "series", 1);
	check_site(doc, t, "ledger", 1);
	check_site(doc, t, "voucher", 1);
	check_site(doc, t, "letter", 2);
	HI_ASSERT(strstr(doc_text(doc_row(doc_at(doc, "roots"), "address",
					  target_said(t, "letter")),
				  "made_by.sites.0.type"),
			 "letter"));
	/* A copy, one of another text, not the line that makes an order. */
	check_site(doc, t, "note", 2);
	check_site(doc, t, "ring", 1);
}

/* A row has those of its example: the series is alone in its row. */
static void check_summary_has_sites(json_t *doc, const struct target *t)
{
	json_t *row =
		doc_row(doc_at(doc, "leaks.roots"), "example", target_said(t, "series"));

	HI_ASSERT_EQ(1, doc_number(row, "made_by.fit"));
	HI_ASSERT_EQ(target_number(t, "series_line"),
		     doc_number(row, "made_by.sites.0.line"));
}

HI_TEST_SCENARIO(leak_sites, the_line_that_made_a_leak_is_named_without_a_recording)
{
	struct target *t = target_start("leak_sites", NULL);
	struct hi_command *c = target_run(t, "leaks");

	HI_ASSERT_MSG(strstr(c->out, "make_coupon"), "%s", c->out);
	/* 119 times "c", in a block of 120 bytes. */
	HI_ASSERT_MSG(strstr(c->out, "text of 120 B, \"ccccccccccccccccc...\""), "%s",
		      c->out);
	c = target_run(t);
	HI_ASSERT_MSG(strstr(c->out, "can be made by make_series"), "%s", c->out);
	check_sites(target_ask(t, "leaks", "--all"), t);
	check_sites(doc_of(hi_heapinspect("leaks", "--all", "--json", target_snap(t))),
		    t);
	check_summary_has_sites(target_ask(t), t);
	check_summary_has_sites(doc_of(hi_heapinspect("--json", target_snap(t))), t);
}

static void check_explained(const struct target *t, json_t *doc, const char *name)
{
	char key[64];

	snprintf(key, sizeof(key), "%s_line", name);
	HI_ASSERT_EQ(1, doc_number(doc, "rows.0.made_by.fit"));
	HI_ASSERT_EQ(target_number(t, key),
		     doc_number(doc, "rows.0.made_by.sites.0.line"));
}

/* An untyped one, by its size; one with a table of virtual functions, by its type. */
HI_TEST_SCENARIO(leak_sites, explain_names_the_line_of_one_object)
{
	static const char *const names[] = {"series", "order", "square"};
	struct target *t = target_start("leak_sites", NULL);
	const char *file = target_snap(t);

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const char *address = target_said(t, names[i]);

		check_explained(t, target_ask(t, "explain", address), names[i]);
		check_explained(
			t, doc_of(hi_heapinspect("explain", address, "--json", file)),
			names[i]);
	}
	HI_ASSERT(strstr(target_run(t, "explain", target_said(t, "square"))->out,
			 "can be made by leak_shape (leak_sites.cc:"));
}

/* The line of a source that has both texts; 0: none has. */
static long line_with(const char *path, const char *one, const char *other)
{
	FILE *source = fopen(path, "r");
	char text[300];
	long line = 0;

	HI_ASSERT(source);
	while (fgets(text, sizeof(text), source)) {
		line++;
		if (strstr(text, one) && strstr(text, other)) {
			fclose(source);
			return line;
		}
	}
	fclose(source);
	return 0;
}

static void check_suspects(json_t *doc, long page_line, long session_line)
{
	json_t *page =
		doc_row(doc_at(doc, "suspects"), "child_type", "struct cache_entry");
	json_t *session =
		doc_row(doc_at(doc, "lesser_suspects"), "child_type", "struct session");

	HI_ASSERT_EQ(1, doc_number(page, "made_by.fit"));
	HI_ASSERT_EQ(page_line, doc_number(page, "made_by.sites.0.line"));
	HI_ASSERT_EQ(1, doc_number(session, "made_by.fit"));
	HI_ASSERT_EQ(session_line, doc_number(session, "made_by.sites.0.line"));
}

HI_TEST_SCENARIO(leak_sites, a_suspect_has_the_line_that_makes_its_elements)
{
	static const char source[] = HI_SOURCE_DIR "/fixtures/leaky_service.c";
	struct target *t = target_start("leaky_service", NULL);
	long page_line = line_with(source, "struct cache_entry *", "calloc(");
	long session_line = line_with(source, "struct session *", "calloc(");
	struct hi_command *c = target_run(t);
	char line[100];

	snprintf(line, sizeof(line), "add_page (leaky_service.c:%ld)", page_line);
	HI_ASSERT_MSG(strstr(c->out, line), "no %s in %s", line, c->out);
	check_suspects(target_ask(t), page_line, session_line);
	check_suspects(doc_of(hi_heapinspect("--json", target_snap(t))), page_line,
		       session_line);
}
