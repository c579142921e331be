/* SPDX-License-Identifier: BSD-2-Clause */
/* `alloc` between marks, of fixtures/space_lives.c: each mark is answered before the
 * fixture gets its next command, so what is true of a phase is the sum of its commands.
 */
#include <stdio.h>
#include <string.h>

#include "session/mark_socket.h"
#include "tests/harness.h"
#include "tests/support/json.h"
#include "tests/support/lived.h"
#include "tests/support/spaced.h"

/* What was allocated before mark `load`, then before `drain`, before the second `load`,
 * and behind it; brief of these was freed. */
struct phased {
	const char *file;
	struct spaced before, brief, load, drain, again;
};

static struct spaced phased_all(const struct phased *p)
{
	return spaced_sum(spaced_sum(p->before, p->brief),
			  spaced_sum(spaced_sum(p->load, p->drain), p->again));
}

static struct phased tell_phases(struct hi_fixture *fx)
{
	struct phased p = {};

	p.before = spaced_tell(fx, "node 13");
	spaced_mark(fx, "load");
	p.load = spaced_tell(fx, "served 21");
	p.brief = spaced_tell(fx, "brief 300");
	p.load = spaced_sum(p.load, spaced_tell(fx, "buf 2"));
	spaced_mark(fx, "drain");
	p.drain = spaced_tell(fx, "entry 7");
	spaced_mark(fx, "load");
	p.again = spaced_tell(fx, "built 5");
	return p;
}

static struct phased record_phases(void)
{
	struct hi_fixture *fx = spaced_start();
	const char *file = spaced_file();
	struct recording_run run = recording_start(fx->pid, "-o", file, "--every",
						   "100ms", "--full", "all", NULL);
	struct phased p = tell_phases(fx);

	p.file = file;
	spaced_end(&run);
	return p;
}

static void check_phased(json_t *doc, struct spaced alloc, struct spaced live)
{
	spaced_check(alloc, spaced_amount(spaced_total(doc), "alloc"));
	spaced_check(live, spaced_amount(spaced_total(doc), "live"));
}

static void check_brackets(const struct phased *p)
{
	json_t *doc =
		spaced_read(p->file, "--from-mark", "load", "--to-mark", "drain", NULL);

	check_phased(doc, spaced_sum(p->load, p->brief), p->load);
	spaced_check((struct spaced){21, 21 * 48, 21 * 8},
		     spaced_amount(spaced_function(doc, "cache"), "alloc"));
	check_phased(
		spaced_read(p->file, "--from-mark", "drain", "--to-mark", "load", NULL),
		p->drain, p->drain);
	/* The first mark of a text, and the next one. */
	check_phased(
		spaced_read(p->file, "--from-mark", "load", "--to-mark", "load", NULL),
		spaced_sum(spaced_sum(p->load, p->brief), p->drain),
		spaced_sum(p->load, p->drain));
	check_phased(spaced_read(p->file, "--to-mark", "load", NULL), p->before,
		     p->before);
	check_phased(spaced_read(p->file, "--from-mark", "drain", NULL),
		     spaced_sum(p->drain, p->again), spaced_sum(p->drain, p->again));
}

HI_TEST_ROOT(alloc_marks, only_what_was_allocated_between_two_marks_counts)
{
	struct phased p = record_phases();
	struct spaced all = phased_all(&p);

	check_brackets(&p);
	spaced_check(all,
		     spaced_amount(spaced_total(spaced_read(p.file, NULL)), "alloc"));
}

HI_TEST_ROOT(alloc_marks, each_mark_has_the_allocations_after_it)
{
	struct phased p = record_phases();
	json_t *doc = spaced_read(p.file, "--by", "mark", NULL);

	HI_ASSERT_EQ(3, doc_size(doc, "functions"));
	spaced_check(
		p.before,
		spaced_amount(spaced_function(doc, "(before the first mark)"), "alloc"));
	spaced_check(spaced_sum(spaced_sum(p.load, p.brief), p.again),
		     spaced_amount(spaced_function(doc, "load"), "alloc"));
	spaced_check(spaced_sum(p.load, p.again),
		     spaced_amount(spaced_function(doc, "load"), "live"));
	spaced_check(p.drain, spaced_amount(spaced_function(doc, "drain"), "alloc"));
	spaced_check(phased_all(&p), spaced_amount(spaced_total(doc), "alloc"));
	doc = spaced_read(p.file, "--by", "mark", "--from-mark", "drain", NULL);
	HI_ASSERT_EQ(2, doc_size(doc, "functions"));
	spaced_check(p.again, spaced_amount(spaced_function(doc, "load"), "alloc"));
}

HI_TEST_ROOT(alloc_marks, brackets_go_with_centres_and_callers)
{
	struct phased p = record_phases();
	json_t *doc = spaced_read(p.file, "--from-mark", "load", "--to-mark", "drain",
				  "--centre", "serve", "--callers", NULL);
	json_t *serve = spaced_function(doc, "serve");
	struct spaced served = {42, 21 * 80, 42 * 8};

	spaced_check(served, spaced_amount(serve, "alloc"));
	spaced_check(served,
		     spaced_amount(spaced_named(doc_at(serve, "callers"), "do_once"),
				   "alloc"));
}

HI_TEST_ROOT(alloc_marks, marks_that_did_not_come_are_refused)
{
	static const struct {
		const char *options[4];
		const char *text;
	} wrong[] = {
		{{"--from-mark", "laod"},
		 "--from-mark laod: there is no such mark; "
		 "marks: load, drain"},
		{{"--to-mark", "end"}, "--to-mark end: there is no such mark; marks: "},
		{{"--from-mark", "drain", "--to-mark", "drain"},
		 "--to-mark drain: there is no such mark behind the first"},
	};
	struct phased p = record_phases();

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct hi_command *c = hi_heapinspect(
			"alloc", p.file, wrong[i].options[0], wrong[i].options[1],
			wrong[i].options[2], wrong[i].options[3]);

		HI_ASSERT_EQ(2, c->exit_code);
		HI_ASSERT_STREQ("", c->out);
		HI_ASSERT_MSG(strstr(c->err, wrong[i].text) != NULL, "%s", c->err);
	}
}

HI_TEST_ROOT(alloc_marks, a_file_without_marks_has_one_phase)
{
	struct hi_fixture *fx = spaced_start();
	const char *file = spaced_file();
	struct recording_run run = recording_start(fx->pid, "-o", file, NULL);
	struct spaced nodes = spaced_tell(fx, "node 3");
	struct hi_command *c;
	json_t *doc;

	spaced_end(&run);
	doc = spaced_read(file, "--by", "mark", NULL);
	spaced_check(nodes, spaced_amount(spaced_function(doc, "(before the first mark)"),
					  "alloc"));
	c = hi_heapinspect("alloc", file, "--from-mark", "load");
	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT_MSG(strstr(c->err, "there are no marks (heapinspect mark PID TEXT"),
		      "%s", c->err);
}

/* Marks come within a period, and more than one of them in the last. */
HI_TEST_ROOT(alloc_marks, a_running_process_has_marks)
{
	struct lived *l =
		lived_start_alloc(spaced_start(), LIVED("--json", "--all", "--from-mark",
							"load", "--to-mark", "drain"));
	struct spaced load;
	json_t *doc;

	spaced_tell(l->fx, "node 3");
	lived_period(l, LIVED());
	spaced_tell(l->fx, "node 4");
	spaced_mark(l->fx, "load");
	load = spaced_tell(l->fx, "entry 5");
	lived_period(l, LIVED());
	spaced_tell(l->fx, "drop node 1");
	load = spaced_sum(load, spaced_tell(l->fx, "resized 2"));
	spaced_mark(l->fx, "drain");
	spaced_tell(l->fx, "node 9");
	spaced_mark(l->fx, "rest");
	spaced_tell(l->fx, "buf 9");
	lived_end_alloc(l);
	doc = spaced_document(l->command);
	HI_ASSERT_EQ(3, doc_size(doc, "censuses"));
	spaced_check(load, spaced_amount(spaced_total(doc), "alloc"));
	spaced_check((struct spaced){5, 5 * 48, 40}, spaced_at_age(spaced_total(doc), 2));
	/* grow() has 2 of 24 bytes, which it gave back, and 2 of 200. */
	spaced_check((struct spaced){7, 5 * 48 + 2 * 208, 5 * 8 + 2 * 8},
		     spaced_amount(spaced_total(doc), "live"));
}

HI_TEST_ROOT(alloc_marks, a_running_process_has_a_row_of_each_mark)
{
	struct lived *l =
		lived_start_alloc(spaced_start(), LIVED("--by", "mark", "--width", "80"));

	spaced_tell(l->fx, "node 100");
	spaced_mark(l->fx, "load");
	spaced_tell(l->fx, "entry 200");
	lived_end_alloc(l);
	HI_ASSERT_MSG(l->command->exit_code == 0, "%s", l->command->err);
	HI_ASSERT_MSG(strstr(l->command->out, "By mark") != NULL, "%s", l->command->out);
	HI_ASSERT_MSG(strstr(l->command->out, "\n  load ") != NULL, "%s",
		      l->command->out);
	HI_ASSERT_MSG(strstr(l->command->out, "(before the first mark)") != NULL, "%s",
		      l->command->out);
}

/* An era begins with a mark. */
HI_TEST_ROOT(alloc_marks, eras_are_marks)
{
	struct lived *l = lived_start_alloc(spaced_start(),
					    LIVED("--json", "--all", "--by", "mark"));
	struct spaced before = spaced_tell(l->fx, "node 3"), behind;
	struct hi_command *c;
	char pid[16];
	json_t *doc;

	snprintf(pid, sizeof(pid), "%d", (int)l->fx->pid);
	c = hi_heapinspect("era", "--pid", pid, "load");
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	behind = spaced_tell(l->fx, "entry 5");
	lived_end_alloc(l);
	doc = spaced_document(l->command);
	spaced_check(
		before,
		spaced_amount(spaced_function(doc, "(before the first mark)"), "alloc"));
	spaced_check(behind, spaced_amount(spaced_function(doc, "load"), "live"));
}

HI_TEST_SCENARIO(alloc_marks, wrong_options_of_marks_are_refused)
{
	HI_ASSERT_EQ(2, hi_heapinspect("alloc", "--pid", "1", "--by", "era")->exit_code);
	HI_ASSERT_EQ(
		2, hi_heapinspect("alloc", "--pid", "1", "--by", "mark", "--centre", "f")
			   ->exit_code);
	HI_ASSERT_EQ(2, hi_heapinspect("alloc", "--pid", "1", "--by", "mark", "--callers")
				->exit_code);
	HI_ASSERT_EQ(2, hi_heapinspect("alloc", "--pid", "1", "--from-mark", "a",
				       "--from-mark", "b")
				->exit_code);
	HI_ASSERT_EQ(2,
		     hi_heapinspect("snap", "--pid", "1", "--to-mark", "a")->exit_code);
}

/* From this process: the mark comes while the last events are on their way. */
static void mark_at_once(const struct hi_fixture *fx, const char *text)
{
	struct hi_error err = {};
	unsigned reached = 0;

	HI_ASSERT_MSG(hi_marks_send(fx->pid, HI_MARK_PLAIN, text, &reached, &err) ==
			      HI_OK,
		      "%s", err.text);
	HI_ASSERT_EQ(1, reached);
}

HI_TEST_ROOT(alloc_marks, work_answered_before_a_mark_counts_before_it)
{
	enum { ROUNDS = 8 };
	struct hi_fixture *fx = spaced_start();
	const char *file = spaced_file();
	struct recording_run run = recording_start(fx->pid, "-o", file, "--every", "600s",
						   "--full", "all", NULL);
	struct spaced rounds[ROUNDS];
	char text[ROUNDS][16];
	json_t *doc;

	recording_await(&run, "census 1", 1);
	for (int i = 0; i < ROUNDS; i++) {
		snprintf(text[i], sizeof(text[i]), "round %d", i);
		mark_at_once(fx, text[i]);
		rounds[i] = spaced_tell(fx, "brief 5000");
	}
	spaced_end(&run);
	doc = spaced_read(file, "--by", "mark", NULL);
	for (int i = 0; i < ROUNDS; i++)
		spaced_check(rounds[i],
			     spaced_amount(spaced_function(doc, text[i]), "alloc"));
}
