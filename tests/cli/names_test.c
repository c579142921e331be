/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of types as pages show them, and types by these names, of a C++ program that
 * keeps a list of Items with an index of its nodes. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/command.h"
#include "tests/support/fixture.h"

/* libstdc++'s own name of a node, with the blanks of either compiler. */
#define FULL "\"std::_List_node<Item>\""

static char pid[16];

static void start_iterators(void)
{
	struct hi_fixture *fx = hi_fixture_start("containers_iterators", NULL);

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	snprintf(pid, sizeof(pid), "%d", (int)fx->pid);
}

static const struct hi_command *run_census(const char *option, const char *value)
{
	return hi_heapinspect("census", "--pid", pid, "--all", "--width=120", option,
			      value);
}

static bool has_word(const struct hi_command *c, const char *word)
{
	return strstr(c->out, word) != NULL;
}

HI_TEST_SCENARIO(names, are_short_in_text_and_full_elsewhere)
{
	const struct hi_command *c;

	start_iterators();
	c = hi_heapinspect("census", "--pid", pid, "--all", "--width=120");
	HI_ASSERT_EQ(0, c->exit_code);
	HI_ASSERT(has_word(c, "\n  list<Item> node "));
	HI_ASSERT(has_word(c, "\n  map<int, Item> node "));
	HI_ASSERT(has_word(c, "\n  set<Item> node "));
	HI_ASSERT(has_word(c, "\n  map<int, list<Item>::iterator> node "));
	HI_ASSERT(!has_word(c, "_List_node"));
	c = run_census("--full-names", NULL);
	HI_ASSERT_EQ(0, c->exit_code);
	HI_ASSERT(has_word(c, "\n  std::_List_node<Item> "));
	HI_ASSERT(!has_word(c, "list<Item> node"));
	c = run_census("--json", NULL);
	HI_ASSERT(has_word(c, FULL));
	HI_ASSERT(!has_word(c, "list<Item> node"));
}

/* As a page shows it, in full, without the namespace, by a pattern. */
HI_TEST_SCENARIO(names, find_types)
{
	static const char *const names[] = {"list<Item> node", "std::_List_node<Item>",
					    "std::_List_node<Item >", "list<* node"};
	const struct hi_command *c;

	start_iterators();
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		hi_test_note("%s", names[i]);
		c = run_census("--type", names[i]);
		HI_ASSERT_EQ(0, c->exit_code);
		HI_ASSERT(has_word(c, "list<Item> node "));
		HI_ASSERT(!has_word(c, "set<Item> node "));
	}
	c = run_census("--type", "list<Itme> node");
	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT(strstr(c->err, "near it: list<Item> node") != NULL);
}
