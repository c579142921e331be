/* SPDX-License-Identifier: BSD-2-Clause */
/* `bio` of objects whose lives are commanded (fixtures/lives.c): the examples L1 to L6 of
 * SPEC section 2 as a real process. Where nothing proves that pages were not referenced
 * the bounds are wide, but they hold. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/interrupted.h"
#include "tests/support/json.h"
#include "tests/support/lived.h"
#include "tests/support/waiting.h"

static void expect_truth(const struct lived *l, unsigned t, const char *band,
			 const char *names)
{
	HI_ASSERT_MSG(lived_truth(l, band, t, NULL) == lived_cost(l, names),
		      "census %u, %s: %zu", t, band, lived_truth(l, band, t, NULL));
}

/* L1 until the end of a period: 6 are all. */
static struct lived *live_l1(unsigned periods, const char *const *options)
{
	static const char *const commands[6][8] = {
		{"new a 100", "new c 16", "write c", "new g 1000 arena"},
		{"new b 40", "new f 8 buf", "write f", "free f"},
		{"new d 64 buf", "write d", "write a"},
		{"free d", "new e 200 buf", "write c"},
		{"free b"},
		{"free a"},
	};
	struct lived *l = lived_start(LIVED(), options);

	for (unsigned i = 0; i < periods; i++)
		lived_period(l, commands[i]);
	return l;
}

#define ALL_BANDS "void,lag,use,inherent,drag,unused"

HI_TEST_ROOT(bio_lives, l1_is_within_the_bounds_in_each_band_of_each_census)
{
	/* SPEC's table by names of objects: void, lag, use, drag. */
	static const char *const table[6][4] = {
		{"", "a", "c", ""},    {"b", "a", "c", ""},  {"b", "", "a c d", ""},
		{"b e", "", "c", "a"}, {"e", "", "", "a c"}, {"e", "", "", "c"}};
	struct lived *l = live_l1(6, LIVED("--inherent", "struct arena", "--bio",
					   ALL_BANDS, "--all", "--birth-use", "maybe"));
	json_t *doc = lived_end(l);

	for (unsigned t = 1; t <= 6; t++) {
		expect_truth(l, t, "void", table[t - 1][0]);
		expect_truth(l, t, "lag", table[t - 1][1]);
		expect_truth(l, t, "use", table[t - 1][2]);
		expect_truth(l, t, "drag", table[t - 1][3]);
		expect_truth(l, t, "inherent_use", "g");
	}
	/* What the writes prove: a in period 3, c in period 4. */
	HI_ASSERT_EQ(lived_cost(l, "a"), lived_bound(doc, 3, "use", "bytes", "proved"));
	HI_ASSERT_EQ(lived_cost(l, "c"), lived_bound(doc, 4, "use", "bytes", "proved"));
	/* f is in no census. */
	HI_ASSERT_EQ(8, doc_number(doc, "censuses.1.unseen.bytes"));
}

/* c was written when it was new; d died before a whole period had passed. */
HI_TEST_ROOT(bio_lives, writes_in_the_period_of_birth_are_no_use)
{
	static const char *const table[6][4] = {
		{"", "a c", "", ""},   {"b", "a c", "", ""}, {"b", "c", "a d", ""},
		{"b e", "", "c", "a"}, {"e", "", "", "a c"}, {"e", "", "", "c"}};
	struct lived *l = live_l1(
		6, LIVED("--inherent", "struct arena", "--bio", ALL_BANDS, "--all"));
	json_t *doc = lived_end(l);

	for (unsigned t = 1; t <= 6; t++) {
		expect_truth(l, t, "void", table[t - 1][0]);
		expect_truth(l, t, "lag", table[t - 1][1]);
		expect_truth(l, t, "use", table[t - 1][2]);
		expect_truth(l, t, "drag", table[t - 1][3]);
	}
	HI_ASSERT_STREQ("no", doc_text(doc, "birth_use"));
	/* Before its first whole period nothing but LAG or VOID is possible. */
	HI_ASSERT_EQ(0, lived_bound(doc, 1, "use", "bytes", "possible"));
	HI_ASSERT(lived_bound(doc, 3, "use", "bytes", "possible") >=
		  lived_cost(l, "a d"));
}

HI_TEST_ROOT(bio_lives, l2_begins_and_ends_bands_at_the_right_periods)
{
	struct lived *l = lived_start(
		LIVED(), LIVED("--birth-use", "maybe", "--death-use", "maybe"));
	json_t *doc;

	lived_period(l, LIVED("new late 10", "new early 10"));
	lived_period(l, LIVED("new x 10", "write x", "free x", "new y 10", "write y",
			      "new z 10", "write z", "new never 10", "write early"));
	lived_period(l, LIVED("free y", "free never"));
	lived_tell(l, "free z");
	/* The use in the period in which the process ends is one. */
	doc = lived_end_after(l, "write late");
	expect_truth(l, 2, "use", "y z early");
	expect_truth(l, 2, "void", "never");
	expect_truth(l, 3, "drag", "z early");
	for (unsigned t = 1; t <= 4; t++) {
		HI_ASSERT(lived_truth(l, "lag", t, NULL) >= lived_cost(l, "late"));
		HI_ASSERT(lived_bound(doc, t, "lag", "bytes", "possible") >=
			  lived_cost(l, "late"));
	}
	HI_ASSERT_EQ(lived_cost(l, "early"),
		     lived_bound(doc, 2, "use", "bytes", "proved"));
}

/* Both kinds of realloc: the old object dies, another one is born. */
HI_TEST_ROOT(bio_lives, l3_a_resize_is_a_death_and_a_birth)
{
	struct lived *l = lived_start(LIVED(), LIVED());
	unsigned long moving, in_place;
	json_t *doc;

	lived_period(l, LIVED("new moving 48", "new blocker 48", "new last 48"));
	moving = lived_find(l, "moving")->address;
	in_place = lived_find(l, "last")->address;
	lived_period(l, LIVED("write moving", "write last"));
	lived_period(l, LIVED());
	lived_period(l, LIVED("resize moving 96", "write moving"));
	HI_ASSERT(lived_find(l, "moving")->address != moving);
	lived_period(l, LIVED("free blocker", "new x 4000", "new y 3000"));
	lived_period(l, LIVED("write y"));
	in_place = lived_find(l, "y")->address;
	lived_period(l, LIVED("resize y 3600", "write y"));
	HI_ASSERT_EQ(in_place, lived_find(l, "y")->address);
	HI_ASSERT_EQ(7, lived_find(l, "y")->birth);
	doc = lived_end(l);
	/* The new one was written in the period of its birth: there is nothing that its
	 * bytes could be compared with. */
	HI_ASSERT_EQ(0, lived_bound(doc, 7, "use", "bytes", "proved"));
	HI_ASSERT_EQ(0, lived_bound(doc, 4, "use", "bytes", "proved"));
}

HI_TEST_ROOT(bio_lives, l4_groups_of_the_wanted_bands_are_those_of_the_types)
{
	struct lived *l = live_l1(4, LIVED("--inherent", "struct arena", "--bio",
					   "drag,void", "--by", "type"));
	json_t *doc = lived_end(l), *group;
	size_t nodes = 0, bufs = 0, arenas = 0;

	/* Nothing happened in period 5. */
	HI_ASSERT_EQ(lived_cost(l, "a b c"), lived_truth(l, "drag", 5, "node") +
						     lived_truth(l, "void", 5, "node"));
	doc_each (group, doc_at(doc, "groups")) {
		const char *name = doc_text(group, "name");

		nodes += strcmp(name, "struct node") == 0;
		bufs += strcmp(name, "struct buf") == 0;
		arenas += strcmp(name, "struct arena") == 0;
	}
	HI_ASSERT_EQ(1, nodes);
	HI_ASSERT_EQ(1, bufs);
	HI_ASSERT_EQ(0, arenas);
}

HI_TEST_ROOT(bio_lives, l6_bytes_that_changed_are_use_and_the_others_may_be)
{
	struct lived *l = lived_start(LIVED("new p 32", "new q 32", "new r 32"), LIVED());
	json_t *doc;

	lived_period(l, LIVED("write p", "write q", "write r"));
	lived_period(l, LIVED("write p"));
	lived_period(l, LIVED("free p", "free q", "free r"));
	doc = lived_end(l);
	expect_truth(l, 2, "use", "p");
	expect_truth(l, 2, "drag", "q r");
	HI_ASSERT_EQ(lived_cost(l, "p"), lived_bound(doc, 2, "use", "bytes", "proved"));
	/* q lies in the page of p, which was referenced. */
	HI_ASSERT(lived_bound(doc, 2, "use", "bytes", "possible") >=
		  lived_cost(l, "p q"));
	HI_ASSERT_EQ(0, lived_bound(doc, 2, "drag", "bytes", "proved"));
}

HI_TEST_ROOT(bio_lives, unreachable_is_dead_or_not_as_live_says)
{
	static const char *const lives[] = {"reach", "alloc"};

	for (unsigned i = 0; i < 2; i++) {
		struct lived *l =
			lived_start(LIVED("new old 300"), LIVED("--live", lives[i]));

		lived_period(l, LIVED("new kept 100", "new lost 200"));
		lived_period(l, LIVED("write lost", "write old"));
		lived_period(l, LIVED("drop lost", "drop old", "write kept"));
		lived_period(l, LIVED("write kept"));
		lived_end(l);
		expect_truth(l, 3, "drag", i ? "lost old" : "");
	}
}

HI_TEST_ROOT(bio_lives, older_objects_are_neither_void_nor_lag)
{
	struct lived *l =
		lived_start(LIVED("new used 100", "new quiet 200", "new read 60"),
			    LIVED("--bio", ALL_BANDS));
	json_t *doc;

	lived_period(l, LIVED());
	lived_period(l, LIVED("write used", "read read"));
	lived_period(l, LIVED());
	doc = lived_end(l);
	for (unsigned t = 1; t <= 3; t++) {
		HI_ASSERT_EQ(0, lived_bound(doc, t, "void", "bytes", "possible"));
		HI_ASSERT_EQ(0, lived_bound(doc, t, "lag", "bytes", "possible"));
	}
	HI_ASSERT(lived_bound(doc, 3, "unused_since_attach", "bytes", "possible") >=
		  lived_cost(l, "quiet"));
}

HI_TEST_ROOT(bio_lives, another_object_at_the_same_address_was_not_used)
{
	struct lived *l = lived_start(LIVED("new old 72"), LIVED());
	unsigned long address;
	json_t *doc;

	lived_period(l, LIVED("new a 120", "write a"));
	address = lived_find(l, "a")->address;
	lived_period(l, LIVED("free a", "new b 120", "write b"));
	HI_ASSERT_EQ(address, lived_find(l, "b")->address);
	address = lived_find(l, "old")->address;
	/* Also in place of an older one; and twice in a period. */
	lived_period(l, LIVED("free old", "new c 72", "free c", "new d 72", "write d"));
	HI_ASSERT_EQ(address, lived_find(l, "d")->address);
	lived_period(l, LIVED("write d"));
	doc = lived_end(l);
	for (unsigned t = 1; t <= 3; t++)
		HI_ASSERT_EQ(0, lived_bound(doc, t, "use", "bytes", "proved"));
	HI_ASSERT_EQ(lived_cost(l, "d"), lived_bound(doc, 4, "use", "bytes", "proved"));
}

HI_TEST_ROOT(bio_lives, reads_and_same_values_are_possible_uses)
{
	struct lived *l = lived_start(LIVED(), LIVED());
	json_t *doc;

	lived_period(l, LIVED("new read 5000", "new same 64"));
	lived_period(l, LIVED("read read", "same same"));
	lived_period(l, LIVED());
	doc = lived_end(l);
	HI_ASSERT_EQ(0, lived_bound(doc, 2, "use", "bytes", "proved"));
	HI_ASSERT_EQ(lived_cost(l, "read same"),
		     lived_bound(doc, 2, "use", "bytes", "possible"));
}

HI_TEST_ROOT(bio_lives, objects_born_and_freed_in_one_period_are_counted)
{
	struct lived *l = lived_start(LIVED("new old 40"), LIVED());

	lived_period(l, LIVED("new a 8", "free a", "new b 1000", "free b", "new c 8"));
	/* Resized, and dead: two that were not seen; of an older one, one. */
	lived_period(l, LIVED("new d 100", "new e 30", "resize d 5000", "free d",
			      "resize c 700", "free c"));
	lived_period(l, LIVED());
	lived_end(l);
}

HI_TEST_ROOT(bio_lives, objects_of_eight_threads_have_their_bands)
{
	struct lived *l = lived_start(LIVED("threads 8"), LIVED());
	char command[64];

	/* The thread library's own, of which the fixture has no word. */
	l->other_objects = 8;
	for (unsigned i = 0; i < 24; i++) {
		snprintf(command, sizeof(command), "spread t%u %u", i, 64 + 16 * i);
		lived_tell(l, command);
	}
	lived_period(l, LIVED());
	for (unsigned i = 0; i < 24; i += 2) {
		snprintf(command, sizeof(command), "write t%u", i);
		lived_tell(l, command);
	}
	lived_period(l, LIVED());
	for (unsigned i = 0; i < 24; i += 3) {
		snprintf(command, sizeof(command), "free t%u", i);
		lived_tell(l, command);
	}
	for (unsigned i = 24; i < 40; i++) {
		snprintf(command, sizeof(command), "spread t%u %u", i, 64 + 16 * i);
		lived_tell(l, command);
	}
	lived_period(l, LIVED());
	/* dtv of each thread: 16 bytes a slot, in a block of one size. */
	l->other_bytes = 8 * 288;
	lived_end(l);
}

/* GHC's profiler takes such a list for VOID (SPEC section 2). */
HI_TEST_ROOT(bio_lives, a_list_that_is_written_is_used_and_one_that_is_read_may_be)
{
	struct lived *l = lived_start(LIVED(), LIVED("--bio", ALL_BANDS));
	json_t *doc;

	lived_period(l, LIVED("list written 2000", "list read 2000"));
	lived_period(l, LIVED("write written", "read read"));
	lived_period(l, LIVED("write written", "read read"));
	lived_period(l, LIVED());
	doc = lived_end(l);
	for (unsigned t = 2; t <= 3; t++) {
		HI_ASSERT_EQ(lived_cost(l, "written"),
			     lived_bound(doc, t, "use", "bytes", "proved"));
		HI_ASSERT(lived_bound(doc, t, "use", "bytes", "possible") >=
			  lived_cost(l, "written read"));
		HI_ASSERT_EQ(0, lived_bound(doc, t, "void", "bytes", "proved"));
	}
}

/* ---- groups: lived_end() holds each of them against what was told ---- */

/* Nothing is hidden, so that the groups have all that is live. */
static size_t count_groups(const json_t *doc)
{
	HI_ASSERT_EQ(0, doc_number(doc, "hidden.rows"));
	return doc_size(doc, "groups");
}

/* Objects of two and of three variables, shared before and while bio runs; gone at the
 * end, or forgotten. */
static void live_in_groups(struct lived *l)
{
	lived_period(l, LIVED("new a 100", "new b 200 buf", "new c 300 arena",
			      "new d 400", "list cells 20", "share b"));
	lived_period(l, LIVED("write a", "write b", "share a", "write cells"));
	lived_period(l, LIVED("write c", "drop d", "resize c 350", "new gone 60",
			      "share gone"));
	lived_period(l, LIVED("free gone", "write older", "new last 70 buf"));
}

static json_t *run_groups(const char *by, const char *live)
{
	struct lived *l = lived_start(
		LIVED("new old 50", "new older 5000 buf", "share old"),
		LIVED("--by", by, "--live", live, "--bio", ALL_BANDS, "--all"));

	live_in_groups(l);
	return lived_end(l);
}

HI_TEST_ROOT(bio_lives, groups_by_retainers_are_the_sets_that_keep_objects)
{
	/* nodes and shared, bufs, bufs and shared, arenas, lists; what is forgotten. */
	HI_ASSERT_EQ(5, count_groups(run_groups("retainers", "reach")));
	HI_ASSERT_EQ(6, count_groups(run_groups("retainers", "alloc")));
}

HI_TEST_ROOT(bio_lives, groups_by_root_are_the_variables_that_keep_objects_alone)
{
	HI_ASSERT_EQ(4, count_groups(run_groups("root", "reach")));
	HI_ASSERT_EQ(5, count_groups(run_groups("root", "alloc")));
}

/* Of what is older no site is known. */
HI_TEST_ROOT(bio_lives, groups_by_site_are_the_functions_that_allocated)
{
	HI_ASSERT_EQ(4, count_groups(run_groups("site", "reach")));
}

HI_TEST_ROOT(bio_lives, a_signal_ends_it_while_it_waits_for_the_end_of_a_period)
{
	struct lived *l = lived_start(LIVED(), LIVED());

	lived_period(l, LIVED("new a 100"));
	lived_period(l, LIVED("write a"));
	lived_tell(l, "new b 100");
	lived_interrupt(l);
	HI_ASSERT_MSG(strstr(l->command->err, "stopped by a signal"), "%s",
		      l->command->err);
	/* The target runs on. */
	lived_tell(l, "write b");
}

HI_TEST_ROOT(bio_lives, a_killed_target_leaves_the_periods_before)
{
	struct lived *l = lived_start(LIVED(), LIVED());

	lived_period(l, LIVED("new a 100", "new b 200"));
	lived_period(l, LIVED("write a"));
	lived_tell(l, "free a");
	lived_kill(l);
	HI_ASSERT_MSG(strstr(l->command->err, "has exited") ||
			      strstr(l->command->err, "has ended"),
		      "%s", l->command->err);
}

/* The recording has a birth for each reallocation. */
HI_TEST_ROOT(bio_lives, a_resize_to_the_same_size_is_a_birth_too)
{
	struct lived *l = lived_start(LIVED("new old 50"), LIVED());
	json_t *doc;

	lived_period(l, LIVED("new a 100"));
	lived_period(l, LIVED("write a", "write old"));
	lived_period(l, LIVED("resize a 100", "resize old 50"));
	lived_period(l, LIVED("write a"));
	doc = lived_end(l);
	HI_ASSERT_EQ(3, lived_find(l, "old")->birth);
	HI_ASSERT_EQ(0, lived_bound(doc, 3, "unused_since_attach", "bytes", "possible"));
	HI_ASSERT_EQ(0, lived_bound(doc, 3, "use", "bytes", "proved"));
}

/* ---- lost events ---- */

enum { BURST = 400000 };

/* The first process, and the one that reads the events. */
static void signal_both(const struct lived *l, int number)
{
	pid_t decoder = hi_waiting_find_child(l->run.pid, "hi-decoder");

	HI_ASSERT_EQ(0, kill(l->run.pid, number));
	HI_ASSERT(decoder);
	HI_ASSERT_EQ(0, kill(decoder, number));
}

/* heapinspect stands while more events come than there is room for, and then others: of
 * these nothing is recorded. */
static void lose_events(struct lived *l, const char *const *commands)
{
	char burst[32];

	snprintf(burst, sizeof(burst), "burst %d", BURST);
	signal_both(l, SIGSTOP);
	lived_tell(l, burst);
	while (*commands)
		lived_tell(l, *commands++);
	signal_both(l, SIGCONT);
	l->is_lossy = true;
}

/* An object takes the place of another one of its size unseen, and is written: that
 * proves no use of either of them. */
HI_TEST_ROOT(bio_lives, bounds_hold_where_events_are_lost)
{
	struct lived *l = lived_start(LIVED("new old 72", "new kept 40"),
				      LIVED("--bio", ALL_BANDS, "--all"));
	unsigned long address;
	json_t *doc;

	lived_period(l, LIVED("new a 120", "new b 200"));
	lived_period(l, LIVED("write kept"));
	address = lived_find(l, "a")->address;
	lose_events(l, LIVED("free a", "new c 120", "write c", "free old", "new d 72"));
	HI_ASSERT_EQ(address, lived_find(l, "c")->address);
	lived_period(l, LIVED());
	lived_period(l, LIVED("write c", "write d", "new later 300"));
	lived_period(l, LIVED("write later", "write d"));
	doc = lived_end(l);
	HI_ASSERT(doc_number(doc, "uncertain.bytes") > 0);
	/* What is born after that is told apart again. */
	HI_ASSERT(lived_bound(doc, 5, "use", "bytes", "proved") >=
		  lived_cost(l, "later"));
}

/* ---- random lives ---- */

enum { MOST_LIVING = 40, MOST_RANDOM = 300 };

struct random_lives {
	struct lived *l;
	unsigned born, n_living;
	unsigned living[MOST_LIVING];
};

static void tell_new(struct random_lives *r)
{
	static const char *const types[] = {"node", "buf", "arena"};
	static const unsigned sizes[] = {24, 100, 1000, 5000, 20000};
	char command[64];

	if (r->n_living == MOST_LIVING || r->born == MOST_RANDOM)
		return;
	snprintf(command, sizeof(command), "new o%u %u %s", r->born,
		 sizes[hi_test_random(5)] + (unsigned)hi_test_random(40),
		 types[hi_test_random(3)]);
	lived_tell(r->l, command);
	r->living[r->n_living++] = r->born++;
}

static void tell_change(struct random_lives *r, const char *verb)
{
	unsigned i = (unsigned)hi_test_random(r->n_living);
	char command[64], name[16];

	snprintf(name, sizeof(name), "o%u", r->living[i]);
	/* What nothing leads to has no type if no census has seen one. */
	if (strcmp(verb, "drop") == 0 && lived_find(r->l, name)->birth == r->l->period)
		verb = "read";
	if (strcmp(verb, "resize") == 0)
		snprintf(command, sizeof(command), "resize o%u %u", r->living[i],
			 20 + (unsigned)hi_test_random(3000));
	else
		snprintf(command, sizeof(command), "%s o%u", verb, r->living[i]);
	lived_tell(r->l, command);
	if (strcmp(verb, "free") == 0 || strcmp(verb, "drop") == 0)
		r->living[i] = r->living[--r->n_living];
}

static void tell_random(struct random_lives *r)
{
	static const char *const verbs[] = {"write", "write",  "read", "same", "free",
					    "free",  "resize", "drop", "share"};
	unsigned verb = (unsigned)hi_test_random(15);

	if (verb >= 9 || !r->n_living)
		tell_new(r);
	else
		tell_change(r, verbs[verb]);
}

static void live_at_random(unsigned periods, const char *live, const char *by)
{
	struct random_lives r = {};

	r.l = lived_start(LIVED("new older 60", "new old 9000 buf"),
			  LIVED("--live", live, "--by", by, "--inherent", "struct arena",
				"--bio", ALL_BANDS, "--all"));
	for (unsigned t = 1; t <= periods; t++) {
		unsigned n = (unsigned)hi_test_random(12);

		while (n--)
			tell_random(&r);
		lived_period(r.l, LIVED());
	}
	lived_end(r.l);
}

/* Each object has a size of its own: of the same size at the same address they are not
 * told apart. */
static void tell_without_doubles(struct random_lives *r)
{
	static const char *const verbs[] = {"write", "read", "same", "free", "drop"};
	unsigned verb = (unsigned)hi_test_random(9);
	char command[64];

	if (verb < 5 && r->n_living) {
		tell_change(r, verbs[verb]);
	} else if (r->n_living < MOST_LIVING) {
		snprintf(command, sizeof(command), "new o%u %u", r->born,
			 24 + 16 * r->born);
		lived_tell(r->l, command);
		r->living[r->n_living++] = r->born++;
	}
}

/* Without the recording births are at the first census that has the object, deaths at
 * the first one that has not, and no use is proved. */
HI_TEST_ROOT(bio_lives, bands_without_the_recording_are_within_the_bounds)
{
	static const char *const lives[] = {"reach", "alloc"};

	for (unsigned i = 0; i < 2; i++) {
		struct random_lives r = {};
		json_t *doc;

		r.l = lived_start(LIVED("new older 60000", "new old 9000 buf"),
				  LIVED("--sample", "none", "--live", lives[i], "--bio",
					ALL_BANDS, "--all"));
		for (unsigned t = 1; t <= 12; t++) {
			for (unsigned n = (unsigned)hi_test_random(12); n; n--)
				tell_without_doubles(&r);
			lived_period(r.l, LIVED());
		}
		doc = lived_end(r.l);
		HI_ASSERT(!doc_bool(doc, "recorded"));
	}
}

HI_TEST_ROOT(bio_lives, bands_of_random_lives_are_within_the_bounds)
{
	live_at_random(12, "reach", "type");
	live_at_random(12, "alloc", "retainers");
}

HI_TEST_SLOW(bio_lives, bands_of_many_random_lives_are_within_the_bounds)
{
	unsigned rounds = hi_test_rounds("HI_ROUNDS", 20);

	for (unsigned i = 0; i < rounds; i++) {
		live_at_random(40, "reach", i % 2 ? "root" : "type");
		live_at_random(40, "alloc", i % 2 ? "site" : "retainers");
	}
}

/* ---- a million objects ---- */

enum { LISTS = 12, OF_A_LIST = 84000 };

/* List i is used, or not, as drawn; now and then one is dropped, and a small one comes.
 */
static void tell_of_lists(struct lived *l, bool is_dropped[LISTS], unsigned t)
{
	static const char *const verbs[] = {"write", "read", "same"};
	char command[64];

	for (unsigned i = 0; i < LISTS; i++) {
		bool is_end = hi_test_random(20) == 0;

		if (is_dropped[i] || (!is_end && hi_test_random(2)))
			continue;
		snprintf(command, sizeof(command), "%s list%u",
			 is_end ? "drop" : verbs[hi_test_random(3)], i);
		lived_tell(l, command);
		is_dropped[i] = is_end;
	}
	snprintf(command, sizeof(command), "list young%u %u link", t,
		 100 + (unsigned)hi_test_random(900));
	lived_tell(l, command);
	if (t > 2) {
		snprintf(command, sizeof(command), "free young%u", t - 2);
		lived_tell(l, command);
	}
}

static void live_with_a_million(void)
{
	static const char *const types[] = {"cell", "link", "chunk"};
	static char before[LISTS][64];
	const char *words[LISTS + 1] = {};
	bool is_dropped[LISTS] = {};
	struct lived *l;

	for (unsigned i = 0; i < LISTS; i++) {
		snprintf(before[i], sizeof(before[i]), "list list%u %u %s", i, OF_A_LIST,
			 types[i % 3]);
		words[i] = before[i];
	}
	l = lived_start(words, LIVED("--bio", ALL_BANDS, "--all"));
	for (unsigned t = 1; t <= 6; t++) {
		tell_of_lists(l, is_dropped, t);
		lived_period(l, LIVED());
	}
	HI_ASSERT(lived_truth(l, "unused_since_attach", 0, NULL) > 50 << 20);
	lived_end(l);
}

HI_TEST_SLOW(bio_lives, bands_of_a_million_objects_are_within_the_bounds)
{
	unsigned rounds = hi_test_rounds("HI_ROUNDS", 5);

	for (unsigned i = 0; i < rounds; i++)
		live_with_a_million();
}
