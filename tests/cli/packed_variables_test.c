/* SPDX-License-Identifier: BSD-2-Clause */
/* Packed variables: what their pointers lead to is live, at whatever offset they lie. */
#include "tests/cli/summary.h"
#include "tests/support/targets.h"

/* Names of variables of a thread begin with it. */
static bool has_variable(json_t *doc, const char *name)
{
	json_t *row;

	doc_each (row, doc_at(doc, "roots")) {
		const char *text = doc_text(row, "name");
		size_t n = strlen(text);

		if (n >= strlen(name) && strcmp(text + n - strlen(name), name) == 0)
			return true;
	}
	return false;
}

HI_TEST_SCENARIO(packed_variables, packed_variables_are_roots_by_offsets)
{
	static const char *const names[] = {
		"records_1", "records_2", "records_3", "records_4",    "records_5",
		"records_6", "records_7", "records_8", "last_message", "hidden",
		"of_thread", "local",	  "in_block"};
	struct target *t = target_start("packed_variables", NULL);
	json_t *doc = summary_with(t->fx->pid, NULL);

	HI_ASSERT_EQ(target_number(t, "live"), count_of_type(doc, "struct item"));
	HI_ASSERT_EQ(target_number(t, "leaks"), doc_number(doc, "leaks.objects"));
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		HI_ASSERT_MSG(has_variable(doc, names[i]), "%s", names[i]);
}

/* Without types nothing tells where pointers lie: those in the data are roots, and no
 * object to which a word at another offset leads is a certain leak. */
HI_TEST_SCENARIO(packed_variables, targets_of_packed_variables_are_no_certain_leaks)
{
	enum { OUTSIDE_OF_DATA = 2 + 2 + 3 }; /* of_thread, local, in_block */
	struct target *t = target_start("packed_variables_stripped", NULL);
	json_t *doc = summary_with(t->fx->pid, NULL);

	HI_ASSERT_EQ(target_number(t, "leaks"), doc_number(doc, "leaks.objects"));
	HI_ASSERT(doc_number(doc, "leaks.likely_objects") <= OUTSIDE_OF_DATA);
}
