/* SPDX-License-Identifier: BSD-2-Clause */
/* `alloc --centre` of a recording of fixtures/space_lives.c: the same stacks, counted for
 * one set of functions after the other. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/json.h"
#include "tests/support/lived.h"
#include "tests/support/spaced.h"

/* What the fixture has said. served: a node by build() and an entry, both in serve(). */
struct served {
	const char *file;
	struct spaced nodes, built, served, brief;
};

static struct served record_served(void)
{
	struct hi_fixture *fx = spaced_start();
	struct served s = {.file = spaced_file()};
	struct recording_run run = recording_start(fx->pid, "-o", s.file, NULL);

	s.nodes = spaced_tell(fx, "node 7");
	s.built = spaced_tell(fx, "built 5");
	s.served = spaced_tell(fx, "served 11");
	s.brief = spaced_tell(fx, "brief 40");
	spaced_end(&run);
	return s;
}

static struct spaced all_of(const struct served *s)
{
	return spaced_sum(spaced_sum(s->nodes, s->built),
			  spaced_sum(s->served, s->brief));
}

static void check_centre(json_t *doc, const char *name, struct spaced expected)
{
	spaced_check(expected, spaced_amount(spaced_function(doc, name), "alloc"));
}

HI_TEST_ROOT(alloc_centre, any_choice_has_the_same_total)
{
	struct served s = record_served();
	static const char *const choices[][2] = {
		{"serve", NULL},      {"build", NULL},	{"parse,cache", NULL},
		{"serve", "build"},   {"*", NULL},	{"main", "serve"},
		{"b*,s*,do_*", NULL}, {"main*", "par*"}};
	struct spaced total = all_of(&s);

	spaced_check(total,
		     spaced_amount(spaced_total(spaced_read(s.file, NULL)), "alloc"));
	for (size_t i = 0; i < sizeof(choices) / sizeof(*choices); i++) {
		json_t *doc =
			choices[i][1]
				? spaced_read(s.file, "--centre", choices[i][0],
					      "--centre", choices[i][1], NULL)
				: spaced_read(s.file, "--centre", choices[i][0], NULL);

		spaced_check(total, spaced_amount(spaced_total(doc), "alloc"));
		spaced_check(spaced_sum(s.nodes, spaced_sum(s.built, s.served)),
			     spaced_amount(spaced_total(doc), "live"));
	}
}

HI_TEST_ROOT(alloc_centre, the_outermost_function_that_matches_counts)
{
	struct served s = record_served();
	json_t *doc = spaced_read(s.file, "--centre", "build,serve", NULL);

	HI_ASSERT_EQ(3, doc_size(doc, "functions"));
	check_centre(doc, "serve", s.served);
	check_centre(doc, "build", s.built);
	check_centre(doc, "(no centre)", spaced_sum(s.nodes, s.brief));
	doc = spaced_read(s.file, "--centre", "build", NULL);
	/* Of each one served a node, of 32 bytes. */
	check_centre(doc, "build",
		     spaced_sum(s.built, (struct spaced){11, 11 * 32, 11 * 8}));
	HI_ASSERT(!spaced_has(doc_at(doc, "functions"), "serve"));
	doc = spaced_read(s.file, "--centre", "do_onc?", "--centre", "build,serve", NULL);
	HI_ASSERT_EQ(1, doc_size(doc, "functions"));
	check_centre(doc, "do_once", all_of(&s));
}

HI_TEST_ROOT(alloc_centre, types_ages_and_callers_are_of_the_centre)
{
	struct served s = record_served();
	json_t *doc = spaced_read(s.file, "--centre", "serve", "--callers", NULL);
	json_t *serve = spaced_function(doc, "serve"), *callers, *types;
	struct spaced nodes = {11, 11 * 32, 11 * 8}, entries = {11, 11 * 48, 11 * 8};

	HI_ASSERT_EQ(2, doc_size(serve, "types"));
	spaced_check(nodes,
		     spaced_amount(spaced_named(doc_at(serve, "types"), "struct node"),
				   "live"));
	spaced_check(entries,
		     spaced_amount(spaced_named(doc_at(serve, "types"), "struct entry"),
				   "live"));
	spaced_check(s.served, spaced_at_age(serve, 1));
	callers = doc_at(serve, "callers");
	HI_ASSERT_EQ(1, json_array_size(callers));
	spaced_check(s.served, spaced_amount(spaced_named(callers, "do_once"), "alloc"));
	/* The type of what died unseen is unknown, whatever the centres are. */
	doc = spaced_read(s.file, "--centre", "serve", NULL);
	types = doc_at(spaced_function(doc, "(no centre)"), "types");
	spaced_check(spaced_sum(s.nodes, s.built),
		     spaced_amount(spaced_named(types, "struct node"), "alloc"));
	spaced_check(s.brief, spaced_amount(spaced_named(types, ""), "alloc"));
}

HI_TEST_ROOT(alloc_centre, lines_of_mlworks_and_of_the_report_have_centres)
{
	struct served s = record_served();
	struct hi_command *c = hi_heapinspect("alloc", s.file, "--centre", "serve",
					      "--format", "mlworks");

	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	HI_ASSERT_MSG(strstr(c->out, "  serve[space_lives.c]\n") != NULL, "%s", c->out);
	HI_ASSERT_MSG(strstr(c->out, "  (no centre)\n") != NULL, "%s", c->out);
	c = hi_heapinspect("alloc", s.file, "--centre", "serve", "--select", "serve");
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	HI_ASSERT_MSG(strstr(c->out, "By centre") != NULL, "%s", c->out);
	HI_ASSERT(!strstr(c->out, "(no centre)"));
}

HI_TEST_ROOT(alloc_centre, a_pattern_without_a_function_names_what_is_near)
{
	struct served s = record_served();
	static const char *const wrong[] = {"servee", "build,servee", "serve,zz*"};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct hi_command *c =
			hi_heapinspect("alloc", s.file, "--centre", wrong[i]);

		HI_ASSERT_EQ(2, c->exit_code);
		HI_ASSERT_STREQ("", c->out);
		HI_ASSERT_MSG(strstr(c->err, i < 2 ? "near it: serve" : "--centre zz*"),
			      "%s", c->err);
	}
}

HI_TEST_SCENARIO(alloc_centre, names_must_be_there)
{
	static const char *const wrong[] = {"", ",", "a,", ",b"};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct hi_command *c =
			hi_heapinspect("alloc", "--pid", "1", "--centre", wrong[i]);

		HI_ASSERT_EQ(2, c->exit_code);
		HI_ASSERT_MSG(strstr(c->err, "the name of a function is missing"), "%s",
			      c->err);
	}
	HI_ASSERT_EQ(2, hi_heapinspect("snap", "--pid", "1", "--centre", "f")->exit_code);
}

/* Of a process, in two periods. */
HI_TEST_ROOT(alloc_centre, a_running_process_has_centres)
{
	struct lived *l = lived_start_alloc(
		spaced_start(), LIVED("--json", "--all", "--centre", "serve"));
	struct spaced served = spaced_tell(l->fx, "served 3"),
		      nodes = spaced_tell(l->fx, "node 2");
	json_t *doc;

	lived_period(l, LIVED());
	served = spaced_sum(served, spaced_tell(l->fx, "served 2"));
	lived_end_alloc(l);
	doc = spaced_document(l->command);
	check_centre(doc, "serve", served);
	check_centre(doc, "(no centre)", nodes);
	spaced_check(spaced_sum(served, nodes), spaced_at_age(spaced_total(doc), 0));
}
