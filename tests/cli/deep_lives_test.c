/* SPDX-License-Identifier: BSD-2-Clause */
/* `deep` of biographies: what is used, not used any more and never used, where it was
 * allocated. The truth is what the fixture lives was told to do. */
#include <stdio.h>
#include <string.h>

#include "tests/cli/deep_answers.h"
#include "tests/harness.h"
#include "tests/support/lived.h"
#include "tests/support/workshop.h"

/* Blocks of their own pages: whether they are used is proved in each period. */
#define BLOCK "400000"

static long long number_of_lives(json_t *rows, const char *key, const char *name,
				 const char *number)
{
	return doc_number(doc_row(rows, key, name), "%s", number);
}

/* Whether each period has evidence from its pages. */
static bool has_all_pages(json_t *doc)
{
	json_t *census;

	doc_each (census, doc_at(doc, "censuses")) {
		if (!doc_bool(census, "pages"))
			return false;
	}
	return true;
}

HI_TEST_ROOT(deep_lives, use_drag_and_void_count_where_they_were_allocated)
{
	static const struct {
		const char *cost, *object;
	} wanted[] = {{"use", "young"}, {"drag", "dead"}, {"void", "never"}};
	struct lived *l;
	json_t *live, *totals, *advice, *functions;
	char file[320];

	snprintf(file, sizeof(file), "%s/lives.hisnap", workshop_open());
	l = lived_start(LIVED("new old " BLOCK), LIVED("-o", file));
	lived_period(l, LIVED("new young " BLOCK, "new dead 500000 buf",
			      "new never 600000 arena"));
	lived_period(l, LIVED("write young", "write dead"));
	lived_period(l, LIVED("write dead", "read young"));
	lived_period(l, LIVED("write young"));
	live = lived_interrupt(l);
	if (!has_all_pages(live))
		HI_SKIP("a period has no evidence from pages");
	totals = deep_rows(deep_answer(file, "menu"), "totals");
	functions = deep_rows(deep_answer(file, "top_procs/1-9/void/self/oa&"
						"modules=never&fields=use,drag,"
						"void"),
			      "functions");
	for (int i = 0; i < 3; i++) {
		char key[16];
		long long size = (long long)lived_find(l, wanted[i].object)->requested;

		snprintf(key, sizeof(key), "own_%s", wanted[i].cost);
		HI_ASSERT_EQ(size,
			     number_of_lives(totals, "cost", wanted[i].cost, "total"));
		HI_ASSERT_EQ(size,
			     number_of_lives(functions, "function",
					     lived_find(l, wanted[i].object)->site, key));
	}
	advice = deep_answer(file, "advise");
	HI_ASSERT_EQ(lived_find(l, "never")->requested,
		     number_of_lives(deep_rows(advice, "void"), "function",
				     "make_object (lives)", "bytes"));
	HI_ASSERT_EQ(lived_find(l, "dead")->requested,
		     number_of_lives(deep_rows(advice, "unused"), "function",
				     "make_object (lives)", "bytes"));
}
