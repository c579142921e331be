/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Chooses how `record` records if nobody has: all allocations of a program that makes few,
 * windows of one that makes many, by its CPU time.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/fixture.h"
#include "tests/support/json.h"
#include "tests/support/recording_run.h"
#include "tests/support/schema.h"
#include "tests/support/workshop.h"

static struct recording_run start_record(pid_t pid, const char *const *words)
{
	return recording_start_as("record", "recording pid", pid, words);
}

static struct hi_fixture *start_counted_sites(void)
{
	struct hi_fixture *fx = hi_fixture_start("counted_sites", NULL);

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	return fx;
}

/* It does nothing, which no load changes. */
HI_TEST_ROOT_ALONE(record_choice, all_of_a_program_that_allocates_little)
{
	static const char *const words[] = {"--for=1s", "--json", NULL};
	struct hi_fixture *fx = hi_fixture_start("counted_sites", "3000", "waits", NULL);
	struct recording_run run;
	json_t *doc;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	run = start_record(fx->pid, words);
	HI_ASSERT(strstr(run.begun, "recording every allocation"));
	doc = doc_of(recording_end(&run, 0));
	HI_ASSERT(strcmp("heapinspect/windows/v1", doc_text(doc, "schema")) != 0);
}

/* It does hardly anything else, whatever part of a processor it gets. */
HI_TEST_ROOT_ALONE(record_choice, windows_of_a_program_that_allocates_much)
{
	static const char *const words[] = {"--json", NULL};
	struct hi_fixture *fx = start_counted_sites();
	struct recording_run run = start_record(fx->pid, words);
	json_t *doc;

	HI_ASSERT_MSG(strstr(run.begun, "recording windows"), "%s", run.begun);
	HI_ASSERT(strstr(run.begun, "--sample all"));
	sleep(2);
	doc = doc_of(recording_end(&run, SIGINT));
	hi_check_schema_of(doc, "windows.v1.json");
	HI_ASSERT_STREQ("dear", doc_text(doc, "recording.chosen.why"));
	HI_ASSERT(doc_real(doc, "recording.chosen.cost") > 0.02);
	HI_ASSERT(doc_real(doc, "recording.chosen.cost") <= 1);
	HI_ASSERT_EQ(0, doc_number(doc, "recording.chosen.whole_ns"));
}

/* The head has why, and what else there is; of the file, too. */
HI_TEST_ROOT_ALONE(record_choice, the_head_names_the_reason)
{
	char file[256], option[300];
	struct hi_fixture *fx = start_counted_sites();
	const char *words[] = {"--width=80", option, NULL};
	struct recording_run run;
	struct hi_command *c;

	snprintf(file, sizeof(file), "%s/chosen.hirec", workshop_open());
	snprintf(option, sizeof(option), "-o%s", file);
	run = start_record(fx->pid, words);
	sleep(1);
	c = recording_end(&run, SIGINT);
	HI_ASSERT_EQ(0, c->exit_code);
	HI_ASSERT_MSG(strstr(c->out, "  chosen     windows, since a record of every"),
		      "%s", c->out);
	HI_ASSERT(strstr(c->out, "--sample all"));
	c = hi_heapinspect("alloc", file, "--width=80", NULL);
	HI_ASSERT_EQ(0, c->exit_code);
	HI_ASSERT(strstr(c->out, "  chosen     windows, since a record of every"));
}

/* These need every event, and choose as ever. */
HI_TEST_ROOT_ALONE(record_choice, no_windows_where_all_events_are_needed)
{
	static const char *const words[] = {"--for=2s", "--scan=50", "--json", NULL};
	struct hi_fixture *fx = start_counted_sites();
	struct recording_run run = start_record(fx->pid, words);
	json_t *doc;

	HI_ASSERT(!strstr(run.begun, "recording windows"));
	doc = doc_of(recording_end(&run, 0));
	HI_ASSERT(strcmp("heapinspect/windows/v1", doc_text(doc, "schema")) != 0);
}

/* It begins when it is told to: all were recorded until then, and that is left out. */
HI_TEST_ROOT_ALONE(record_choice, windows_of_a_program_that_comes_to_allocate_much)
{
	static const char *const words[] = {"--json", NULL};
	struct hi_fixture *fx = hi_fixture_start("counted_sites", "3000", "waits", NULL);
	struct recording_run run;
	json_t *doc;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	run = start_record(fx->pid, words);
	HI_ASSERT(strstr(run.begun, "recording every allocation"));
	hi_fixture_tell(fx, "go");
	recording_await(&run, "recording windows", 1);
	recording_await(&run, "--sample all", 1);
	sleep(2);
	doc = doc_of(recording_end(&run, SIGINT));
	hi_check_schema_of(doc, "windows.v1.json");
	HI_ASSERT_STREQ("became dear", doc_text(doc, "recording.chosen.why"));
	HI_ASSERT(doc_number(doc, "recording.chosen.whole_ns") > 1000000000);
	/* Its totals are those of windows alone. */
	HI_ASSERT(doc_number(doc, "recording.events") <
		  4 * doc_number(doc, "recording.hits") + 1000);
}

/* One window tells nothing. */
HI_TEST_ROOT_ALONE(record_choice, no_windows_of_a_moment)
{
	static const char *const words[] = {"--for=1s", "--json", NULL};
	struct hi_fixture *fx = start_counted_sites();
	struct recording_run run = start_record(fx->pid, words);

	HI_ASSERT(!strstr(run.begun, "recording windows"));
	HI_ASSERT_EQ(0, recording_end(&run, 0)->exit_code);
}
