/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A Python that somebody wrote into: fixtures/python/corrupt.py overwrites headers and
 * tables of objects of its own and waits. A block that is no object any more is counted,
 * with a word and a place; what is torn is left out, and all else is counted as it is.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/python.h"

enum { BROKEN = 8, ITEMS = 200, OF_EACH = 100 };

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

/* Objects that nobody touched are counted as they are. */
static void check_counts(json_t *census, long long items, long long victims)
{
	HI_ASSERT_EQ(items, python_count(census, "__main__.Item"));
	HI_ASSERT_EQ(OF_EACH, python_count(census, "__main__.Witness"));
	HI_ASSERT_EQ(OF_EACH, python_count(census, "__main__.Other"));
	HI_ASSERT_EQ(victims, python_count(census, "__main__.Victim"));
}

/* A word that says how many, and where the first one is. Their members are held by their
 * words still, unless such a word was overwritten. */
static void expect_odd(const char *kind, long long items, long long victims,
		       const char *how_many, long long lost)
{
	struct target *p = python_start(NULL, "corrupt", kind, NULL);
	json_t *doc = python_ask(p, "census", "--all", "--max-pause=20s");
	const char *said = doc_text(doc, "snapshot.warnings.0");

	HI_ASSERT_EQ(1, doc_size(doc, "snapshot.warnings"));
	HI_ASSERT_MSG(strncmp(said, how_many, strlen(how_many)) == 0, "%s: %s", kind,
		      said);
	check_counts(doc, items, victims);
	check_sums(p, doc);
	HI_ASSERT_EQ(0, ask(p, "audit", NULL)->exit_code);
	doc = python_ask(p, "leaks", "--max-pause=20s");
	HI_ASSERT_EQ(lost, doc_number(doc, "leaks.objects"));
	ask_more(p);
}

HI_TEST_SCENARIO(python_corrupt, a_header_that_is_none_costs_its_object_alone)
{
	expect_odd("type", ITEMS - BROKEN, OF_EACH, "8 objects in the lists of ", 0);
	/* Three of eight counts are too large, and one is that of a freed object. */
	expect_odd("count", ITEMS - 4, OF_EACH, "3 objects in the lists of ", 0);
}

/* Two of the words are no links at all. */
HI_TEST_SCENARIO(python_corrupt, a_torn_list_of_the_collector_costs_no_other_object)
{
	expect_odd("gc", ITEMS - 2, OF_EACH, "1 object in the lists of ", 0);
}

/* Nothing leads to its dict and its bases any more: five objects. */
HI_TEST_SCENARIO(python_corrupt, a_class_that_is_none_costs_its_instances)
{
	expect_odd("class", ITEMS, 0, "100 objects in the lists of ", 5);
}

/* What such a table led to is what nothing leads to now: of eight objects, each with
 * ten keys, ten numbers and a table or two at most. */
static void expect_torn(const char *kind, long long least_lost, long long most_lost)
{
	struct target *p = python_start(NULL, "corrupt", kind, NULL);
	json_t *doc = python_ask(p, "census", "--all", "--max-pause=20s");
	long long lost;

	check_counts(doc, ITEMS, OF_EACH);
	check_sums(p, doc);
	doc = python_ask(p, "leaks", "--max-pause=20s");
	lost = doc_number(doc, "leaks.objects");
	HI_ASSERT_MSG(lost >= least_lost && lost <= most_lost, "%s: %lld lost", kind,
		      lost);
	HI_ASSERT_EQ(0, ask(p, "audit", NULL)->exit_code);
	ask_more(p);
}

HI_TEST_SCENARIO(python_corrupt, contents_of_a_torn_dict_are_counted_as_lost)
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

HI_TEST_SCENARIO(python_corrupt, contents_of_a_torn_list_are_counted_as_lost)
{
	expect_torn("size", 1, BROKEN * 3);
}
