/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of types as pages show them, and types by these names, of a C++ program that
 * keeps a list of Items with an index of its nodes. */
#include <string.h>

#include "tests/harness.h"
#include "tests/support/targets.h"

/* libstdc++'s own name of a node, with the blanks of either compiler. */
#define FULL "\"std::_List_node<Item>\""

static const struct hi_command *run_census(const struct target *t, const char *option,
					   const char *value)
{
	return target_run(t, "census", "--all", "--width=120", option, value);
}

static bool has_word(const struct hi_command *c, const char *word)
{
	return strstr(c->out, word) != NULL;
}

static void check_are_short_in_text_and_full_elsewhere(const struct target *t)
{
	const struct hi_command *c = run_census(t, NULL, NULL);

	HI_ASSERT(has_word(c, "\n  list<Item> node "));
	HI_ASSERT(has_word(c, "\n  map<int, Item> node "));
	HI_ASSERT(has_word(c, "\n  set<Item> node "));
	HI_ASSERT(has_word(c, "\n  map<int, list<Item>::iterator> node "));
	HI_ASSERT(!has_word(c, "_List_node"));
	c = run_census(t, "--full-names", NULL);
	HI_ASSERT(has_word(c, "\n  std::_List_node<Item> "));
	HI_ASSERT(!has_word(c, "list<Item> node"));
	c = run_census(t, "--json", NULL);
	HI_ASSERT(has_word(c, FULL));
	HI_ASSERT(!has_word(c, "list<Item> node"));
}

/* As a page shows it, in full, without the namespace, by a pattern. */
static void check_find_types(const struct target *t)
{
	static const char *const names[] = {"list<Item> node", "std::_List_node<Item>",
					    "std::_List_node<Item >", "list<* node"};
	const struct hi_command *c;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		hi_test_note("%s", names[i]);
		c = run_census(t, "--type", names[i]);
		HI_ASSERT(has_word(c, "list<Item> node "));
		HI_ASSERT(!has_word(c, "set<Item> node "));
	}
	c = hi_heapinspect("census", "--pid", t->pid, "--type", "list<Itme> node");
	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT(strstr(c->err, "near it: list<Item> node") != NULL);
}

HI_TEST_SCENARIO(names, type_names_are_short_in_text_and_full_elsewhere)
{
	struct target *t = target_start("containers_iterators", NULL);

	check_are_short_in_text_and_full_elsewhere(t);
	check_find_types(t);
}
