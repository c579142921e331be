/* SPDX-License-Identifier: BSD-2-Clause */
/* `bio --watch` of a process that reads some of its objects, and never writes to them. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/command.h"
#include "tests/support/fixture.h"
#include "tests/support/interrupted.h"
#include "tests/support/json.h"
#include "tests/support/lived.h"
#include "tests/support/recording_run.h"
#include "tests/support/schema.h"
#include "tests/support/targets.h"
#include "tests/support/watching.h"

enum { OBJECTS = 4 };

/* A bound of a band of the objects of one type. */
static long long bound_of(const json_t *document, const char *type, const char *band,
			  const char *bound)
{
	json_t *group;

	doc_each (group, doc_at(document, "groups")) {
		if (!strstr(doc_text(group, "name"), type))
			continue;
		HI_ASSERT_EQ(OBJECTS, doc_number(group, "live.objects"));
		return doc_number(group, "bands.%s.objects.%s", band, bound);
	}
	hi_test_fail(__FILE__, __LINE__, "no group %s", type);
}

static long long estimate_of(const json_t *watch, const char *band, const char *key)
{
	return doc_number(watch, "bands.%s.objects.%s", band, key);
}

static struct target *start_objects(void)
{
	hi_need_watchpoints();
	return target_start("watched_objects", "4", NULL);
}

#define EVERY_BAND "void,lag,use,inherent,drag,unused"

/* Their contents never differ. */
HI_TEST_SLOW(bio_watch, proves_the_use_of_what_is_only_read)
{
	const json_t *document, *watch;
	const struct hi_command *c;

	c = target_run(start_objects(), "bio", "--every", "300ms", "--for", "10s",
		       "--watch", "4", "--bio", EVERY_BAND, "--json", "--quiet");
	document = doc_of(c);
	watch = doc_at(document, "watch");
	HI_ASSERT(doc_is_null(watch, "missing"));
	HI_ASSERT_EQ(doc_number(watch, "population.objects"),
		     doc_number(watch, "sampled"));
	HI_ASSERT(doc_number(watch, "objects") >= 2 * OBJECTS);
	HI_ASSERT_EQ(OBJECTS, doc_number(watch, "used"));
	HI_ASSERT(doc_number(watch, "hits") >= OBJECTS);
	HI_ASSERT(doc_number(watch, "hits") <= doc_number(watch, "all_hits"));
	HI_ASSERT_EQ(0, estimate_of(watch, "void", "high"));
	HI_ASSERT(estimate_of(watch, "use", "low") <= OBJECTS);
	HI_ASSERT(estimate_of(watch, "use", "high") >= OBJECTS);
	HI_ASSERT(estimate_of(watch, "unused_since_attach", "high") >= OBJECTS);
	/* Used by proof, each of them, and none of the others. */
	HI_ASSERT_EQ(
		0, bound_of(document, "read_object", "unused_since_attach", "possible"));
	HI_ASSERT_EQ(OBJECTS, bound_of(document, "idle_object", "unused_since_attach",
				       "possible"));
	HI_ASSERT_EQ(0, bound_of(document, "idle_object", "use", "proved"));
	hi_check_schema(c, "bio.v1.json");
}

static void check_it_is_what_proves_it(const struct target *t)
{
	const json_t *document;
	const struct hi_command *c;

	c = target_run(t, "bio", "--every", "300ms", "--for", "2s", "--bio", EVERY_BAND,
		       "--json", "--quiet");
	document = doc_of(c);
	HI_ASSERT(doc_is_null(document, "watch"));
	HI_ASSERT_EQ(OBJECTS, bound_of(document, "read_object", "unused_since_attach",
				       "possible"));
	hi_check_schema(c, "bio.v1.json");
}

static void check_it_goes_on_without_what_others_have_taken(const struct target *t)
{
	const struct hi_command *c;
	const json_t *watch;
	int taken[4];

	for (unsigned i = 0; i < 4; i++) {
		taken[i] = hi_take_watchpoint(t->fx->pid, 0x10000 + 8 * i);
		HI_ASSERT(taken[i] >= 0);
	}
	c = target_run(t, "bio", "--every", "300ms", "--for", "700ms", "--watch", "1",
		       "--json");
	watch = doc_at(doc_of(c), "watch");
	HI_ASSERT(strstr(doc_text(watch, "missing"), "are taken"));
	HI_ASSERT_EQ(0, doc_number(watch, "objects"));
	HI_ASSERT_EQ(0, doc_number(watch, "used"));
	/* One object is sampled until the fifth census, which does not exclude that others
	 * are in any band; but all are older than the command. */
	HI_ASSERT_EQ(1, doc_number(watch, "sampled"));
	HI_ASSERT_EQ(0, estimate_of(watch, "void", "high"));
	hi_check_schema(c, "bio.v1.json");
	for (unsigned i = 0; i < 4; i++)
		close(taken[i]);
}

static void check_it_reports_when_the_process_ends(const struct target *t)
{
	const char *const words[] = {"--every", "300ms", "--for",  "600s",
				     "--watch", "4",	 "--json", NULL};
	struct hi_fixture *fx = t->fx;
	struct recording_run run =
		recording_start_as("bio", "the first period begins", fx->pid, words);
	const struct hi_command *c;
	const json_t *watch;

	/* Each object is watched in some of these periods. */
	for (unsigned i = 0; i < 10; i++)
		HI_ASSERT(recording_says(&run, "(provisional)", RECORDING_PATIENCE_MS));
	close(fx->in);
	fx->in = -1;
	c = recording_end(&run, 0);
	watch = doc_at(doc_of(c), "watch");
	HI_ASSERT(doc_number(watch, "used") > 0);
	HI_ASSERT(doc_number(watch, "objects") >= doc_number(watch, "used"));
	hi_check_schema(c, "bio.v1.json");
}

/* An object may have been replaced by another one unseen. */
static void check_it_needs_the_recording(const struct target *t)
{
	const struct hi_command *c;
	const json_t *watch;

	c = target_run(t, "bio", "--every", "300ms", "--for", "2s", "--sample", "none",
		       "--watch", "4", "--json");
	watch = doc_at(doc_of(c), "watch");
	HI_ASSERT_EQ(0, doc_number(watch, "objects"));
	HI_ASSERT_EQ(0, doc_number(watch, "hits"));
	HI_ASSERT_EQ(0, doc_number(watch, "sampled"));
	HI_ASSERT(strstr(doc_text(watch, "missing"), "the recording tells no object"));
	hi_check_schema(c, "bio.v1.json");
}

HI_TEST_ROOT(bio_watch, proves_uses_where_it_may)
{
	struct target *t = start_objects();

	check_it_is_what_proves_it(t);
	check_it_goes_on_without_what_others_have_taken(t);
	check_it_needs_the_recording(t);
	check_it_reports_when_the_process_ends(t);
}

HI_TEST_SCENARIO(bio_watch, is_for_one_to_four)
{
	static const char *const wrong[] = {"0", "5", "-1", "x"};

	for (unsigned i = 0; i < 4; i++) {
		const struct hi_command *c =
			hi_heapinspect("bio", "--pid", "1", "--watch", wrong[i]);

		HI_ASSERT(c->exit_code != 0);
		HI_ASSERT_MSG(strstr(c->err, "from 1 to 4"), "%s", c->err);
	}
}

/* ---- lives that are commanded ---- */

/* Bytes of which a watchpoint proves a use in period t. */
static size_t watched_in(json_t *doc, unsigned t)
{
	return (size_t)doc_number(doc, "censuses.%u.evidence.watchpoint.bytes", t - 1);
}

enum { ROUNDS = 4 };

static void check_reads(const struct lived *l, json_t *doc)
{
	const json_t *watch = doc_at(doc, "watch");

	for (unsigned t = 1; t <= 3 * ROUNDS; t += 3) {
		HI_ASSERT_EQ(lived_cost(l, "a"), watched_in(doc, t));
		HI_ASSERT_EQ(lived_cost(l, "b c"), watched_in(doc, t + 1));
		HI_ASSERT_EQ(0, watched_in(doc, t + 2));
	}
	/* The period that ends with the process, which may be missed. */
	if (doc_size(doc, "censuses") > 3 * ROUNDS)
		HI_ASSERT_EQ(lived_cost(l, "a"), watched_in(doc, 3 * ROUNDS + 1));
	HI_ASSERT_EQ(3, doc_number(watch, "used"));
}

/* Four watchpoints for three objects: each read is seen, in its period, also right before
 * the place that ends it, when the command waits there. Of a fork the tracer process goes
 * on while the next watchpoints are set. */
HI_TEST_ROOT(bio_watch, each_read_of_few_objects_is_proved_in_its_period)
{
	const char *const *modes[] = {
		LIVED("--watch", "4", "--snapshot", "copy"),
		LIVED("--watch", "4", "--snapshot", "fork", "--max-image", "64KiB")};

	hi_need_watchpoints();
	for (unsigned m = 0; m < 2; m++) {
		struct lived *l = lived_start(LIVED("new a 100", "new b 40", "new c 600"),
					      modes[m]);

		for (int i = 0; i < ROUNDS; i++) {
			lived_period_before(l, "read a");
			lived_tell(l, "read b");
			lived_period_before(l, "read c");
			lived_period(l, LIVED());
		}
		lived_tell(l, "read a");
		check_reads(l, lived_end(l));
	}
}

/* The address of a watched object that is freed is that of the next one of its size. */
HI_TEST_ROOT(bio_watch, another_object_at_the_address_proves_nothing)
{
	struct lived *l;
	json_t *doc;

	hi_need_watchpoints();
	l = lived_start(LIVED("new a 100"), LIVED("--watch", "4", "--live", "alloc"));
	lived_period(l, LIVED());
	lived_period(l, LIVED("free a", "new b 100", "read b"));
	lived_period(l, LIVED());
	doc = lived_end(l);
	HI_ASSERT_EQ(lived_find(l, "a")->address, lived_find(l, "b")->address);
	HI_ASSERT_EQ(0, lived_bound(doc, 1, "use", "bytes", "proved"));
	HI_ASSERT_EQ(0, lived_bound(doc, 2, "use", "bytes", "proved"));
	HI_ASSERT_EQ(0, doc_number(doc, "watch.used"));
	HI_ASSERT(doc_number(doc, "watch.all_hits") > 0);
}

enum { LIVING = 12, PERIODS = 25 };

static void tell_at_random(struct lived *l, unsigned *born, unsigned *living)
{
	static const char *const verbs[] = {"read",  "read", "read", "same",
					    "write", "free", "free", "new"};
	unsigned i = (unsigned)hi_test_random(LIVING);
	const char *verb = verbs[hi_test_random(8)];
	char command[64];

	if (!living[i]) {
		living[i] = ++*born;
		snprintf(command, sizeof(command), "new o%u %u", living[i],
			 24 + 40 * (unsigned)hi_test_random(4));
	} else if (strcmp(verb, "new") == 0) {
		return;
	} else {
		snprintf(command, sizeof(command), "%s o%u", verb, living[i]);
		living[i] = strcmp(verb, "free") == 0 ? 0 : living[i];
	}
	lived_tell(l, command);
}

/* What is proved is true: lived_end() holds each band against what was told. */
HI_TEST_ROOT(bio_watch, proves_nothing_wrong_of_random_lives)
{
	unsigned born = 0, living[LIVING] = {};
	struct lived *l;
	json_t *watch;

	hi_need_watchpoints();
	l = lived_start(LIVED(), LIVED("--watch", "4", "--live", "alloc"));
	for (unsigned t = 0; t < PERIODS; t++) {
		for (unsigned n = (unsigned)hi_test_random(12); n; n--)
			tell_at_random(l, &born, living);
		lived_period(l, LIVED());
	}
	watch = doc_at(lived_end(l), "watch");
	HI_ASSERT(doc_number(watch, "objects") > 4);
	HI_ASSERT(doc_number(watch, "used") > 0);
}
