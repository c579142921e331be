/* SPDX-License-Identifier: BSD-2-Clause */
/* Packed variables: what their pointers lead to is live, at whatever offset they lie. */
#include <string.h>

#include "tests/cli/summary.h"
#include "tests/support/fixture.h"
#include "tests/support/json.h"

struct truth {
	long long live, leaks;
};

static void read_truth(const char *line, void *arg)
{
	struct truth *t = arg;

	if (sscanf(line, "live %lld", &t->live) != 1)
		(void)sscanf(line, "leaks %lld", &t->leaks);
}

/* Names of variables of a thread begin with it. */
static bool has_variable(json_t *doc, const char *name)
{
	json_t *row;
	size_t i;

	json_array_foreach(json_object_get(doc, "roots"), i, row)
	{
		const char *text = json_string_value(json_object_get(row, "name"));
		size_t n = text ? strlen(text) : 0;

		if (n >= strlen(name) && strcmp(text + n - strlen(name), name) == 0)
			return true;
	}
	return false;
}

HI_TEST_SCENARIO(packed_variables, are_roots_by_the_offsets_of_their_pointers)
{
	static const char *const names[] = {
		"records_1", "records_2", "records_3", "records_4",    "records_5",
		"records_6", "records_7", "records_8", "last_message", "hidden",
		"of_thread", "local",	  "in_block"};
	struct hi_fixture *fx = hi_fixture_start("packed_variables", NULL);
	struct truth t = {};
	json_t *doc;

	hi_fixture_read_until(fx, "ready", read_truth, &t);
	doc = summary_with(fx->pid, NULL);
	HI_ASSERT_EQ(t.live, count_of_type(doc, "struct item"));
	HI_ASSERT_EQ(t.leaks, doc_number(doc, "leaks.objects"));
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		HI_ASSERT_MSG(has_variable(doc, names[i]), "%s", names[i]);
}
