/* SPDX-License-Identifier: BSD-2-Clause */
/* `alloc --pause` and `--resume` of fixtures/space_lives.c: each is answered before the
 * fixture gets its next command, so what is true is the sum of the commands outside. */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/json.h"
#include "tests/support/lived.h"
#include "tests/support/spaced.h"

static void tell_recording(const struct hi_fixture *fx, const char *option,
			   const char *answer)
{
	char pid[16];
	struct hi_command *c;

	snprintf(pid, sizeof(pid), "%d", (int)fx->pid);
	c = hi_heapinspect("alloc", "--pid", pid, option);
	HI_ASSERT_MSG(c->exit_code == 0, "exit %d: %s", c->exit_code, c->err);
	HI_ASSERT_MSG(strstr(c->out, answer) != NULL, "%s", c->out);
}

static void pause_recording_of(const struct hi_fixture *fx)
{
	tell_recording(fx, "--pause", "1 recording of pid");
}

static void resume_recording_of(const struct hi_fixture *fx)
{
	tell_recording(fx, "--resume", "goes on");
}

/* What was recorded, what of it lives, and what was not. */
struct paused {
	struct spaced alloc, live, missed[2];
	long long requested[2]; /* of what was missed */
};

static long long requested_of(struct spaced s)
{
	return s.size - s.overhead;
}

/* Frees and reallocations in the pause end what was recorded before it. */
static struct paused tell_pauses(struct hi_fixture *fx)
{
	struct spaced nodes = spaced_tell(fx, "node 6"), entries, texts, again, grown;
	struct paused p;

	entries = spaced_tell(fx, "entry 9");
	texts = spaced_tell(fx, "resized 4");
	pause_recording_of(fx);
	p.missed[0] = spaced_tell(fx, "buf 3");
	p.missed[0] = spaced_sum(p.missed[0], spaced_tell(fx, "brief 500"));
	p.missed[0] = spaced_sum(p.missed[0], spaced_tell(fx, "regrown 3"));
	spaced_tell(fx, "drop entry 5");
	resume_recording_of(fx);
	/* Of what is not recorded, and of what is. */
	spaced_tell(fx, "drop buf 1");
	grown = spaced_tell(fx, "regrown 4");
	again = spaced_tell(fx, "node 2");
	pause_recording_of(fx);
	pause_recording_of(fx);
	p.missed[1] = spaced_tell(fx, "node 1");
	spaced_tell(fx, "drop node 2");
	resume_recording_of(fx);
	for (int i = 0; i < 2; i++)
		p.requested[i] = requested_of(p.missed[i]);
	p.alloc = spaced_sum(spaced_sum(nodes, entries),
			     spaced_sum(texts, spaced_sum(grown, again)));
	/* Of entries 4, of nodes 6 and 1, and the texts that grew in the end. */
	p.live = spaced_sum(spaced_sum(nodes, grown),
			    (struct spaced){5, 4 * 48 + 32, 4 * 8 + 8});
	return p;
}

static void check_pauses(json_t *doc, const struct paused *p)
{
	spaced_check(p->alloc, spaced_amount(spaced_total(doc), "alloc"));
	spaced_check(p->live, spaced_amount(spaced_total(doc), "live"));
	HI_ASSERT_EQ(2, doc_size(doc, "pauses"));
	for (size_t i = 0; i < 2; i++) {
		json_t *pause = doc_at(doc, "pauses.%zu", i);

		HI_ASSERT_EQ(p->missed[i].number, doc_number(pause, "calls"));
		HI_ASSERT_EQ(p->requested[i], doc_number(pause, "bytes"));
		HI_ASSERT(doc_number(pause, "to_ns") > doc_number(pause, "from_ns"));
	}
}

HI_TEST_ROOT(alloc_pause, bytes_of_pauses_are_left_out_of_a_running_profile)
{
	struct lived *l = lived_start_alloc(spaced_start(), LIVED("--json", "--all"));
	struct paused p = tell_pauses(l->fx);

	lived_end_alloc(l);
	check_pauses(spaced_document(l->command), &p);
}

HI_TEST_ROOT(alloc_pause, a_file_has_the_pauses)
{
	struct hi_fixture *fx = spaced_start();
	const char *file = spaced_file();
	struct recording_run run = recording_start(fx->pid, "-o", file, "--every",
						   "100ms", "--full", "all", NULL);
	struct hi_command *c;
	struct paused p;

	p = tell_pauses(fx);
	spaced_end(&run);
	check_pauses(spaced_read(file, NULL), &p);
	c = hi_heapinspect("alloc", file, "--width", "80");
	HI_ASSERT_MSG(strstr(c->out, "2 times, ") && strstr(c->out, "507 calls (") &&
			      strstr(c->out, "were not recorded"),
		      "%s", c->out);
}

/* As its last census has it. */
HI_TEST_ROOT(alloc_pause, a_pause_may_last_until_the_end)
{
	struct lived *l = lived_start_alloc(spaced_start(), LIVED("--json", "--all"));
	struct spaced nodes = spaced_tell(l->fx, "node 6"), missed;
	json_t *doc, *pauses;

	pause_recording_of(l->fx);
	missed = spaced_tell(l->fx, "entry 40");
	lived_period(l, LIVED());
	missed = spaced_sum(missed, spaced_tell(l->fx, "short 10"));
	lived_end_alloc(l);
	doc = spaced_document(l->command);
	spaced_check(nodes, spaced_amount(spaced_total(doc), "alloc"));
	spaced_check(nodes, spaced_at_age(spaced_total(doc), 2));
	pauses = doc_at(doc, "pauses");
	HI_ASSERT_EQ(1, json_array_size(pauses));
	HI_ASSERT_EQ(missed.number, doc_number(pauses, "0.calls"));
}

/* Of samples a block that was chosen ends as well. */
HI_TEST_ROOT(alloc_pause, samples_pause_too)
{
	struct lived *l = lived_start_alloc(spaced_start(),
					    LIVED("--json", "--all", "--sample", "1B"));
	struct paused p = tell_pauses(l->fx);
	json_t *doc;

	lived_end_alloc(l);
	doc = spaced_document(l->command);
	spaced_check(p.live, spaced_amount(spaced_total(doc), "live"));
	HI_ASSERT_EQ(2, doc_size(doc, "pauses"));
}

HI_TEST_ROOT(alloc_pause, a_process_without_a_recording_has_nothing_to_pause)
{
	struct hi_fixture *fx = spaced_start();
	struct hi_command *c, *mark;
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", (int)fx->pid);
	mark = hi_heapinspect("mark", pid, "x");
	c = hi_heapinspect("alloc", "--pid", pid, "--pause");
	HI_ASSERT(c->exit_code != 0);
	HI_ASSERT_EQ(mark->exit_code, c->exit_code);
	HI_ASSERT_MSG(strstr(c->err, "--pause: this user runs no series of pid") != NULL,
		      "%s", c->err);
	c = hi_heapinspect("alloc", "--pid", pid, "--resume");
	HI_ASSERT_EQ(mark->exit_code, c->exit_code);
}

/* One that records no allocations does not accept it, and goes on. */
HI_TEST_ROOT(alloc_pause, other_series_do_not_pause)
{
	struct hi_fixture *fx = spaced_start();
	struct recording_run run;
	struct hi_command *c;
	char pid[16], file[300];

	snprintf(pid, sizeof(pid), "%d", (int)fx->pid);
	snprintf(file, sizeof(file), "%s.hisnap", spaced_file());
	run = recording_start_as(
		"snap", "census 1", fx->pid,
		(const char *const[]){"--every", "600s", "-o", file, NULL});
	c = hi_heapinspect("alloc", "--pid", pid, "--pause");
	HI_ASSERT(c->exit_code != 0);
	HI_ASSERT_MSG(strstr(c->err, "did not accept it") != NULL, "%s", c->err);
	HI_ASSERT(recording_says(&run, "no allocations are recorded here",
				 RECORDING_PATIENCE_MS));
	spaced_mark(fx, "still there");
	spaced_end(&run);
}

HI_TEST_SCENARIO(alloc_pause, wrong_options_of_pauses_are_refused)
{
	HI_ASSERT_EQ(2, hi_heapinspect("alloc", "--pause")->exit_code);
	HI_ASSERT_EQ(
		2,
		hi_heapinspect("alloc", "--pid", "1", "--pause", "--resume")->exit_code);
	HI_ASSERT_EQ(2, hi_heapinspect("alloc", "--pid", "1", "--pause", "--for", "1s")
				->exit_code);
	HI_ASSERT_EQ(
		2,
		hi_heapinspect("alloc", "--pid", "1", "--resume", "--json")->exit_code);
}
