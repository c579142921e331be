/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A Python that somebody wrote into: fixtures/python/corrupt.py overwrites headers and
 * tables of objects of its own and waits. What the runtime cannot prove is refused with a
 * word and a place; what is torn below that is left out, and all else is counted as it
 * is.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/python.h"

enum { BROKEN = 8, ITEMS = 200, OF_EACH = 100, NEAR = 64 };

/* What heapinspect says, which ends well or with an error that is told in a line. */
static struct hi_command *ask(const struct python *p, const char *command,
			      const char *argument)
{
	struct hi_command *c = hi_heapinspect(command, "-q", "--json", "--max-pause=20s",
					      "--pid", p->pid, argument);

	HI_ASSERT_MSG(c->exit_code == 0 || c->exit_code == 2, "%s: exit %d: %s", command,
		      c->exit_code, c->err);
	if (c->exit_code == 2)
		HI_ASSERT_EQ(strlen(c->err) - 1, strcspn(c->err, "\n"));
	return c;
}

/* Those that read the tables once more fall over nothing, and the target waits on. */
static void ask_more(const struct python *p)
{
	char address[32];

	snprintf(address, sizeof(address), "%#llx",
		 (unsigned long long)python_address(p, "at0"));
	ask(p, "waste", NULL);
	ask(p, "explain", address);
	HI_ASSERT_EQ('S', hi_process_state(p->fx->pid));
	kill(p->fx->pid, SIGKILL);
}

static long long count_of(json_t *doc, const char *type)
{
	json_t *row = python_row(json_object_get(doc, "rows"), "type", type);

	return row ? python_number(row, "count") : 0;
}

/* No number is greater than what it is a part of. */
static void check_sums(const struct python *p, json_t *census)
{
	json_t *doc = python_ask(p, PYTHON_WORDS("--all", "--max-pause=20s")), *row;
	json_t *ledger = json_object_get(doc, "ledger");
	long long rss = python_number(ledger, "rss"), sum = 0;
	long long live = python_number(json_object_get(doc, "bytes"), "live");
	size_t i;

	HI_ASSERT(live > 100000 && live < rss);
	json_array_foreach(json_object_get(ledger, "rows"), i,
			   row) if (python_number(row, "level") == 0) sum +=
		json_integer_value(json_object_get(row, "resident"));
	HI_ASSERT_EQ(rss, sum + python_number(ledger, "unknown"));
	sum = 0;
	json_array_foreach(json_object_get(census, "rows"), i, row)
	{
		sum += python_number(row, "shallow");
		HI_ASSERT(python_number(row, "retained") <= rss);
	}
	HI_ASSERT(sum > 100000 && sum < rss);
}

/* The place that it says, in the text; 0: none. */
static unsigned long long place_in(const char *text)
{
	const char *at = text ? strstr(text, "(at 0x") : NULL;

	return at ? strtoull(at + 4, NULL, 16) : 0;
}

static bool is_near_one(const struct python *p, unsigned long long place)
{
	for (unsigned i = 0; i < BROKEN; i++) {
		unsigned long long at;
		char key[8];

		snprintf(key, sizeof(key), "at%u", i);
		at = python_address(p, key);
		if (place + NEAR > at && place < at + NEAR)
			return true;
	}
	return false;
}

/* All or nothing: a type of the program with a count that is not its count is wrong. */
static void expect_refused(const char *kind, bool at_the_object)
{
	struct python *p = python_start(NULL, "corrupt", kind, NULL);
	json_t *doc = python_ask(p, PYTHON_WORDS("census", "--all", "--max-pause=20s")),
	       *row;
	json_t *warnings = json_object_get(json_object_get(doc, "snapshot"), "warnings");
	const char *said = json_string_value(json_array_get(warnings, 0));
	struct hi_command *c;
	size_t i;

	HI_ASSERT_EQ(1, json_array_size(warnings));
	HI_ASSERT_MSG(said && strstr(said, "its objects are not decoded: CPython: "),
		      "%s: %s", kind, said);
	HI_ASSERT_MSG(place_in(said), "%s: %s", kind, said);
	if (at_the_object)
		HI_ASSERT_MSG(is_near_one(p, place_in(said)), "%s: %s", kind, said);
	json_array_foreach(json_object_get(doc, "rows"), i, row)
		HI_ASSERT(!strstr(python_text(row, "type"), "__main__."));
	c = ask(p, "audit", NULL);
	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT(strstr(c->err, "no runtime with reference counts"));
	check_sums(p, doc);
	ask_more(p);
}

HI_TEST_SCENARIO(python_corrupt, a_header_that_is_none_is_refused_with_its_place)
{
	expect_refused("type", true);
	expect_refused("count", true);
}

HI_TEST_SCENARIO(python_corrupt, a_torn_list_of_the_collector_is_refused)
{
	expect_refused("gc", false);
}

HI_TEST_SCENARIO(python_corrupt, a_class_that_is_none_is_refused)
{
	expect_refused("class", false);
}

/* What such a table led to is what nothing leads to now: of eight objects, each with
 * ten keys, ten numbers and a table or two at most. */
static void expect_torn(const char *kind, long long least_lost, long long most_lost)
{
	struct python *p = python_start(NULL, "corrupt", kind, NULL);
	json_t *doc = python_ask(p, PYTHON_WORDS("census", "--all", "--max-pause=20s"));
	long long lost;

	HI_ASSERT_EQ(ITEMS, count_of(doc, "__main__.Item"));
	HI_ASSERT_EQ(OF_EACH, count_of(doc, "__main__.Witness"));
	HI_ASSERT_EQ(OF_EACH, count_of(doc, "__main__.Other"));
	HI_ASSERT_EQ(OF_EACH, count_of(doc, "__main__.Victim"));
	check_sums(p, doc);
	doc = python_ask(p, PYTHON_WORDS("leaks", "--max-pause=20s"));
	lost = python_number(json_object_get(doc, "leaks"), "objects");
	HI_ASSERT_MSG(lost >= least_lost && lost <= most_lost, "%s: %lld lost", kind,
		      lost);
	HI_ASSERT_EQ(0, ask(p, "audit", NULL)->exit_code);
	ask_more(p);
}

HI_TEST_SCENARIO(python_corrupt, what_a_torn_dict_held_is_counted_as_lost)
{
	expect_torn("dict", 1, BROKEN * 22);
	expect_torn("keys", 1, BROKEN * 22);
}

/* Each with the largest number of members: nothing but the cycle ends the search. */
HI_TEST_SCENARIO(python_corrupt, chains_that_lead_to_themselves_end)
{
	expect_torn("deque", 0, BROKEN * 4);
	expect_torn("lru", 0, BROKEN * 4 * 3);
}

HI_TEST_SCENARIO(python_corrupt, what_a_torn_list_held_is_counted_as_lost)
{
	expect_torn("size", 1, BROKEN * 3);
}
