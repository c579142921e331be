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
	check_site(doc, t, "coupon", 2);
	check_site(doc, t, "square", 1);
	check_site(doc, t, "session", 1);
	check_site(doc, t, "series", 1);
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
