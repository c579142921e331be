/* SPDX-License-Identifier: BSD-2-Clause */
/* `bio` with the evidence of pages: what was not referenced is proved to be unused, what
 * was read is not; with the recording of allocations and without. */
#include <stdio.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/json.h"
#include "tests/support/lived.h"

/* Blocks of their own pages: nothing else is in them. */
#define BLOCK "400000"

static size_t proved(json_t *doc, unsigned t, const char *band)
{
	return lived_bound(doc, t, band, "bytes", "proved");
}

static size_t not_used(json_t *doc, unsigned t)
{
	return (size_t)doc_number(doc, "censuses.%u.not_used.proved", t - 1);
}

HI_TEST_ROOT(bio_pages, unreferenced_pages_prove_objects_unused)
{
	struct lived *l = lived_start(LIVED("new old " BLOCK), LIVED("--sample", "all"));
	size_t old = lived_cost(l, "old");
	json_t *doc;

	lived_period(l, LIVED("new young " BLOCK));
	lived_period(l, LIVED("read old"));
	lived_period(l, LIVED("write young"));
	doc = lived_end(l);
	HI_ASSERT_MSG(doc_is_null(doc, "no_pages"), "%s", doc_text(doc, "no_pages"));
	/* Not used in period 1; whether it was used in 2 or later is not proved. */
	HI_ASSERT(proved(doc, 1, "unused_since_attach") >= old);
	HI_ASSERT(proved(doc, 2, "unused_since_attach") < old);
	HI_ASSERT(lived_bound(doc, 2, "use", "bytes", "possible") >= old);
	/* Written in period 3, after a period in which it was not used. */
	HI_ASSERT(proved(doc, 3, "use") >= lived_cost(l, "young"));
}

/* Pages that nobody has touched are not in memory: that proves it as well. */
HI_TEST_ROOT(bio_pages, untouched_pages_prove_objects_unused)
{
	struct lived *l =
		lived_start(LIVED("raw old 5000000"),
			    LIVED("--sample", "all", "--bio", "void,unused", "--all"));
	size_t untouched, old = lived_cost(l, "old");
	json_t *doc;

	lived_period(l, LIVED("raw young 5000000 arena", "new idle " BLOCK));
	untouched = lived_cost(l, "young idle");
	lived_period(l, LIVED());
	lived_period(l, LIVED());
	doc = lived_interrupt(l);
	for (unsigned t = 1; t <= 3; t++) {
		HI_ASSERT(proved(doc, t, "unused_since_attach") >= old);
		HI_ASSERT_EQ(untouched, proved(doc, t, "void"));
	}
}

/* The census at an exit has evidence of its period, as others have. */
HI_TEST_ROOT(bio_pages, pages_unreferenced_until_exit_prove_objects_unused)
{
	struct lived *l = lived_start(LIVED("new old " BLOCK), LIVED("--sample", "all"));
	size_t old = lived_cost(l, "old");
	unsigned last;
	json_t *doc;

	lived_period(l, LIVED("new young " BLOCK));
	lived_period(l, LIVED("write old"));
	doc = lived_end_after(l, "write young");
	last = (unsigned)doc_size(doc, "censuses");
	HI_ASSERT(doc_bool(doc, "censuses.2.pages"));
	HI_ASSERT_EQ(old, proved(doc, last, "drag"));
	HI_ASSERT_EQ(lived_cost(l, "young"), proved(doc, last, "use"));
}

/* Little is left at an exit: the page is of the census before it. */
HI_TEST_ROOT(bio_pages, a_page_at_an_exit_is_of_the_census_before)
{
	struct lived *l = lived_start_page(LIVED("new old " BLOCK), LIVED());
	char periods[32];
	const char *page;

	lived_period(l, LIVED("new young " BLOCK));
	page = lived_end_page(l, "free old");
	/* The last of all of them ended with the exit. */
	snprintf(periods, sizeof(periods), "  %u period", l->period - 1);
	HI_ASSERT_MSG(strstr(page, periods) != NULL, "%s", page);
	HI_ASSERT_MSG(strstr(page, "the target has exited: this page") != NULL, "%s",
		      page);
}

/* What is not used any more, and what keeps it, in one command. */
HI_TEST_ROOT(bio_pages, unused_objects_are_grouped_by_their_retainers)
{
	struct lived *l = lived_start(
		LIVED(), LIVED("--bio", "drag", "--by", "retainers", "--all"));
	json_t *doc;
	const char *idle;

	lived_period(l, LIVED("new a " BLOCK, "new b " BLOCK " buf", "share a"));
	lived_period(l, LIVED("write a", "write b"));
	lived_period(l, LIVED("write b"));
	lived_period(l, LIVED("write b"));
	doc = lived_interrupt(l);
	HI_ASSERT_EQ(1, doc_size(doc, "groups"));
	HI_ASSERT_EQ(lived_cost(l, "a"),
		     doc_number(doc, "groups.0.bands.drag.bytes.proved"));
	HI_ASSERT(lived_belongs(lived_find(l, "a"), l->period - 1, "retainers",
				doc_text(doc, "groups.0.name")));
	idle = doc_text(doc, "idle.retainers");
	HI_ASSERT_MSG(lived_belongs(lived_find(l, "a"), l->period - 1, "retainers", idle),
		      "%s", idle);
}

/* The command waits for the place when the era begins, and waits again. */
HI_TEST_ROOT(bio_pages, an_era_that_begins_in_a_period_leaves_its_evidence)
{
	struct lived *l = lived_start(LIVED("new old " BLOCK), LIVED("--sample", "all"));
	json_t *doc;

	lived_period(l, LIVED("new young " BLOCK));
	lived_begin_era(l, "load");
	lived_period(l, LIVED("read old"));
	lived_begin_era(l, "after");
	lived_period(l, LIVED());
	doc = lived_interrupt(l);
	/* In period 2 only the older one was referenced, in period 3 none. */
	HI_ASSERT_EQ(lived_cost(l, "young"), not_used(doc, 2));
	HI_ASSERT_EQ(lived_cost(l, "young old"), not_used(doc, 3));
}

/* One of the fixture's objects, of so many bytes. */
static size_t make_object(struct hi_fixture *fx, const char *command)
{
	unsigned long address;
	char line[128];
	size_t cost = 0;

	hi_fixture_tell(fx, command);
	HI_ASSERT(hi_fixture_line(fx, line, sizeof(line)));
	HI_ASSERT_EQ(2, sscanf(line, "%*s %lx %zu", &address, &cost));
	return cost;
}

HI_TEST_ROOT(bio_pages, nothing_is_proved_to_be_used_without_the_recording)
{
	struct hi_fixture *fx = hi_fixture_start("lives", NULL);
	struct lived *l;
	size_t old;
	json_t *doc;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	old = make_object(fx, "new old " BLOCK);
	l = lived_start_program(fx, "period_end", LIVED("--sample", "none"));
	lived_period(l, LIVED("write old"));
	lived_period(l, LIVED("read old"));
	lived_period(l, LIVED("new young 100"));
	lived_period(l, LIVED("write young"));
	doc = lived_interrupt(l);
	HI_ASSERT(!doc_bool(doc, "recorded"));
	for (unsigned t = 1; t <= 4; t++)
		HI_ASSERT_EQ(0, proved(doc, t, "use"));
	/* Written and read in periods 1 and 2, idle from 3 on. */
	HI_ASSERT(lived_bound(doc, 2, "use", "bytes", "possible") >= old);
	HI_ASSERT(lived_bound(doc, 4, "use", "bytes", "possible") < old);
}
