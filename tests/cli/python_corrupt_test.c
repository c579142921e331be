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
static struct hi_command *ask(const struct target *p, const char *command,
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
static void ask_more(const struct target *p)
{
	ask(p, "waste", NULL);
	ask(p, "explain", target_said(p, "at0"));
	HI_ASSERT_EQ('S', hi_process_state(p->fx->pid));
	kill(p->fx->pid, SIGKILL);
}

/* No number is greater than what it is a part of. */
static void check_sums(const struct target *p, json_t *census)
{
	json_t *doc = python_ask(p, "--all", "--max-pause=20s"), *row;
	long long rss = doc_number(doc, "ledger.rss"), sum = 0;
	long long live = doc_number(doc, "bytes.live");

	HI_ASSERT(live > 100000 && live < rss);
	doc_each (row, doc_at(doc, "ledger.rows")) {
		if (doc_number(row, "level") == 0)
			sum += doc_number(row, "resident");
	}
	HI_ASSERT_EQ(rss, sum + doc_number(doc, "ledger.unknown"));
	sum = 0;
	doc_each (row, doc_at(census, "rows")) {
		sum += doc_number(row, "shallow");
		HI_ASSERT(doc_number(row, "retained") <= rss);
	}
	HI_ASSERT(sum > 100000 && sum < rss);
}

/* The place that it says, in the text; 0: none. */
static unsigned long long place_in(const char *text)
{
	const char *at = text ? strstr(text, "(at 0x") : NULL;

	return at ? strtoull(at + 4, NULL, 16) : 0;
}

static bool is_near_one(const struct target *p, unsigned long long place)
{
	for (unsigned i = 0; i < BROKEN; i++) {
		unsigned long long at;
		char key[8];

		snprintf(key, sizeof(key), "at%u", i);
		at = (unsigned long long)target_number(p, key);
		if (place + NEAR > at && place < at + NEAR)
			return true;
	}
	return false;
}

/* All or nothing: a type of the program with a count that is not its count is wrong. */
static void expect_refused(const char *kind, bool at_the_object)
{
	struct target *p = python_start(NULL, "corrupt", kind, NULL);
	json_t *doc = python_ask(p, "census", "--all", "--max-pause=20s"), *row;
	const char *said = doc_text(doc, "snapshot.warnings.0");
	struct hi_command *c;

	HI_ASSERT_EQ(1, doc_size(doc, "snapshot.warnings"));
	HI_ASSERT_MSG(strstr(said, "its objects are not decoded: CPython: "), "%s: %s",
		      kind, said);
	HI_ASSERT_MSG(place_in(said), "%s: %s", kind, said);
	if (at_the_object)
		HI_ASSERT_MSG(is_near_one(p, place_in(said)), "%s: %s", kind, said);
	doc_each (row, doc_at(doc, "rows"))
		HI_ASSERT(!strstr(doc_text(row, "type"), "__main__."));
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
	struct target *p = python_start(NULL, "corrupt", kind, NULL);
	json_t *doc = python_ask(p, "census", "--all", "--max-pause=20s");
	long long lost;

	HI_ASSERT_EQ(ITEMS, python_count(doc, "__main__.Item"));
	HI_ASSERT_EQ(OF_EACH, python_count(doc, "__main__.Witness"));
	HI_ASSERT_EQ(OF_EACH, python_count(doc, "__main__.Other"));
	HI_ASSERT_EQ(OF_EACH, python_count(doc, "__main__.Victim"));
	check_sums(p, doc);
	doc = python_ask(p, "leaks", "--max-pause=20s");
	lost = doc_number(doc, "leaks.objects");
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
