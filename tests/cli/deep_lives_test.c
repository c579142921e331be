/* SPDX-License-Identifier: BSD-2-Clause */
/* `deep` of biographies: what is used, not used any more and never used, where it was
 * allocated. The truth is what the fixture lives was told to do. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/lived.h"
#include "tests/support/workshop.h"

/* Blocks of their own pages: whether they are used is proved in each period. */
#define BLOCK "400000"

static void forget_lives_document(void *doc)
{
	json_decref(doc);
}

static json_t *ask_lives(const char *file, const char *query)
{
	struct hi_command *c = hi_heapinspect("deep", "--json", file, query);
	json_error_t error;
	json_t *doc;

	HI_ASSERT_MSG(c->exit_code == 0, "exit %d: %s", c->exit_code, c->err);
	doc = json_loads(c->out, 0, &error);
	HI_ASSERT_MSG(doc, "%s", error.text);
	hi_test_defer(forget_lives_document, doc);
	return doc;
}

static json_t *find_lives_table(json_t *doc, const char *key)
{
	json_t *table;
	size_t i;

	json_array_foreach(json_object_get(doc, "tables"), i, table)
	{
		const char *found = json_string_value(json_object_get(table, "key"));

		if (found && strcmp(found, key) == 0)
			return json_object_get(table, "rows");
	}
	return NULL;
}

static long long number_of_lives(json_t *rows, const char *key, const char *name,
				 const char *number)
{
	json_t *row;
	size_t i;

	json_array_foreach(rows, i, row)
	{
		const char *found = json_string_value(json_object_get(row, key));

		if (found && strcmp(found, name) == 0)
			return json_integer_value(json_object_get(row, number));
	}
	HI_ASSERT_MSG(false, "no %s %s", key, name);
	return 0;
}

/* Whether each period has evidence from its pages. */
static bool has_all_pages(json_t *doc)
{
	json_t *census;
	size_t i;

	json_array_foreach(json_object_get(doc, "censuses"), i, census)
	{
		if (!json_is_true(json_object_get(census, "pages")))
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
	totals = find_lives_table(ask_lives(file, "menu"), "totals");
	functions = find_lives_table(ask_lives(file, "top_procs/1-9/void/self/oa&"
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
	advice = ask_lives(file, "advise");
	HI_ASSERT_EQ(lived_find(l, "never")->requested,
		     number_of_lives(find_lives_table(advice, "void"), "function",
				     "make_object (lives)", "bytes"));
	HI_ASSERT_EQ(lived_find(l, "dead")->requested,
		     number_of_lives(find_lives_table(advice, "unused"), "function",
				     "make_object (lives)", "bytes"));
}
