/* SPDX-License-Identifier: BSD-2-Clause */
/* `bio --uses` of objects that are only passed to functions (fixtures/lives.c). */
#include <stdio.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/fixture.h"
#include "tests/support/json.h"
#include "tests/support/lived.h"
#include "tests/support/watching.h"
#include "tests/support/workshop.h"

static size_t use_count(json_t *doc, const char *key)
{
	return (size_t)doc_number(doc, "uses.%s", key);
}

static size_t passed_bytes(json_t *doc, unsigned t)
{
	return (size_t)doc_number(doc, "censuses.%u.evidence.probe.bytes", t - 1);
}

#define OBJECTS                                                                          \
	"new a 100", "new b 200 buf", "new c 300 arena", "new d 400", "new e 200",       \
		"list f 5"

static struct lived *start_passing(const char *const *options)
{
	struct lived *l;

	hi_need_watchpoints();
	l = lived_start(LIVED(OBJECTS), options);
	lived_ready(l);
	return l;
}

HI_TEST_ROOT(bio_uses, passing_an_object_to_a_function_is_a_use)
{
	struct lived *l = start_passing(LIVED("--uses", "--all"));
	json_t *doc;

	lived_period(l, LIVED("take a", "take b", "inside c", "read d"));
	lived_period(l, LIVED());
	lived_period(l, LIVED("take c", "take f", "take a", "take a"));
	doc = lived_end(l);
	HI_ASSERT_EQ(lived_cost(l, "a b c"), passed_bytes(doc, 1));
	HI_ASSERT_EQ(0, passed_bytes(doc, 2));
	HI_ASSERT_EQ(lived_cost(l, "a c f"), passed_bytes(doc, 3));
	/* Its last use may be later; between the two it is in use. */
	HI_ASSERT_EQ(lived_cost(l, "a c"), lived_bound(doc, 2, "use", "bytes", "proved"));
	HI_ASSERT_EQ(lived_cost(l, "a c f"),
		     lived_bound(doc, 3, "use", "bytes", "proved"));
	HI_ASSERT_EQ(3 + 3 + 5, use_count(doc, "hits"));
	/* Others of the fixture are not called here. */
	HI_ASSERT(use_count(doc, "wanted") >= 5);
	HI_ASSERT_EQ(use_count(doc, "wanted"), use_count(doc, "probed"));
	HI_ASSERT_EQ(0, use_count(doc, "dropped"));
	HI_ASSERT_EQ(0, use_count(doc, "not_stored"));
	HI_ASSERT(doc_is_null(doc, "uses.missing"));
}

/* SPEC's c of L1: used in the period of its birth. By default that is none. */
HI_TEST_ROOT(bio_uses, a_call_at_a_birth_is_a_use_if_that_is_asked)
{
	static const char *const words[] = {"seen", "no"};

	for (unsigned i = 0; i < 2; i++) {
		struct lived *l =
			start_passing(LIVED("--uses", "--all", "--birth-use", words[i]));
		json_t *doc;
		size_t used;

		lived_period(l, LIVED("new fresh 100", "new other 100", "take fresh"));
		lived_period(l, LIVED());
		lived_period(l, LIVED());
		used = i ? 0 : lived_cost(l, "fresh");
		doc = lived_interrupt(l);
		HI_ASSERT_EQ(used, passed_bytes(doc, 1));
		HI_ASSERT_EQ(used, lived_bound(doc, 1, "use", "bytes", "proved"));
		HI_ASSERT_EQ(lived_cost(l, "fresh other") - used,
			     lived_bound(doc, 1, "void", "bytes", "possible"));
	}
}

HI_TEST_ROOT(bio_uses, without_probes_no_use_is_proved)
{
	struct lived *l = start_passing(LIVED());
	json_t *doc;

	lived_period(l, LIVED("take a", "take b", "inside c", "take f"));
	lived_period(l, LIVED("take a"));
	doc = lived_end(l);
	for (unsigned t = 1; t <= 2; t++)
		HI_ASSERT_EQ(0, lived_bound(doc, t, "use", "bytes", "proved"));
	HI_ASSERT(doc_is_null(doc, "uses"));
}

/* At the address that was passed another object lies at the end of the period. */
HI_TEST_ROOT(bio_uses, another_object_at_the_same_address_was_not_passed)
{
	struct lived *l = start_passing(LIVED("--uses"));
	unsigned long address = lived_find(l, "e")->address;
	json_t *doc;

	lived_period(l, LIVED("take e", "free e", "new g 200"));
	HI_ASSERT_EQ(address, lived_find(l, "g")->address);
	/* Born in the period: that its maker passed it is no use of it. */
	lived_period(l, LIVED("free g", "new h 200", "take h"));
	HI_ASSERT_EQ(address, lived_find(l, "h")->address);
	lived_period(l, LIVED("take h"));
	doc = lived_end(l);
	HI_ASSERT_EQ(0, passed_bytes(doc, 1));
	HI_ASSERT_EQ(0, passed_bytes(doc, 2));
	HI_ASSERT_EQ(lived_cost(l, "h"), passed_bytes(doc, 3));
	HI_ASSERT(use_count(doc, "hits") >= 3);
}

/* Types that come later: their functions have probes from the next census on. */
HI_TEST_ROOT(bio_uses, functions_of_new_types_are_probed)
{
	struct lived *l;
	json_t *doc;

	hi_need_watchpoints();
	l = lived_start(LIVED("new a 100"), LIVED("--uses"));
	lived_period(l, LIVED("new b 5000 buf"));
	lived_ready(l);
	lived_period(l, LIVED("take b", "take a"));
	doc = lived_end(l);
	HI_ASSERT_EQ(lived_cost(l, "a b"), passed_bytes(doc, 2));
	HI_ASSERT_EQ(3, use_count(doc, "probed"));
}

static struct hi_command *run_bio(const struct hi_fixture *fx, const char *option)
{
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", (int)fx->pid);
	return hi_heapinspect("bio", "--pid", pid, "--every", "300ms", "--for", "1s",
			      option, "--bio", "use");
}

/* Its libraries may have some. */
HI_TEST_ROOT(bio_uses, goes_on_without_debug_information)
{
	const struct hi_command *c;
	struct hi_fixture *fx;
	char path[256];

	snprintf(path, sizeof(path), "%s/stripped", workshop_open());
	workshop_run("strip -o stripped %s/lives", HI_FIXTURE_DIR);
	fx = hi_fixture_start(path, NULL);
	hi_fixture_read_until(fx, "ready", NULL, NULL);
	c = run_bio(fx, "--uses");
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	HI_ASSERT(strstr(c->out, "0 B were passed to a function"));
}

HI_TEST_ROOT(bio_uses, the_report_says_what_is_probed)
{
	const struct hi_command *c;
	struct hi_fixture *fx;
	char line[64];

	hi_need_watchpoints();
	fx = hi_fixture_start("lives", NULL);
	hi_fixture_read_until(fx, "ready", NULL, NULL);
	hi_fixture_tell(fx, "new a 100");
	HI_ASSERT(hi_fixture_line(fx, line, sizeof(line)));
	c = run_bio(fx, "--uses");
	HI_ASSERT_EQ(0, c->exit_code);
	HI_ASSERT_MSG(strstr(c->out, "2 of 2 functions that take objects of these types"),
		      "%s", c->out);
	HI_ASSERT(!strstr(c->out, "no probes"));
}

/* One that is called all the time gets no probe. */
HI_TEST_ROOT_ALONE(bio_uses, function_called_all_the_time_gets_no_probe)
{
	struct lived *l;
	json_t *doc;

	hi_need_watchpoints();
	l = lived_start(LIVED("threads 1", "new a 100", "new b 200", "spin a"),
			LIVED("--uses"));
	/* Of the thread library. */
	l->other_objects = 1;
	l->other_bytes = 288;
	lived_ready(l);
	lived_period(l, LIVED("take b"));
	doc = lived_end(l);
	HI_ASSERT_EQ(2, use_count(doc, "wanted"));
	HI_ASSERT_EQ(1, use_count(doc, "dropped"));
	HI_ASSERT_EQ(0, use_count(doc, "waited"));
	HI_ASSERT(use_count(doc, "hits") <= 1);
}

/* One that becomes so later loses it. */
HI_TEST_ROOT_ALONE(bio_uses, function_that_becomes_hot_loses_its_probe)
{
	struct lived *l = start_passing(LIVED("--uses"));
	json_t *doc;

	lived_period(l, LIVED("take b", "hot a 3000000"));
	lived_period(l, LIVED());
	doc = lived_end(l);
	HI_ASSERT_EQ(lived_cost(l, "a b"), passed_bytes(doc, 1));
	HI_ASSERT_EQ(1, use_count(doc, "dropped"));
	HI_ASSERT(use_count(doc, "waited") >= 1);
	HI_ASSERT(use_count(doc, "hits") < 3000000);
}
