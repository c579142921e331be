/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Recordings, of fixtures/reused_addresses.c: what a program requested is the pure size
 * of an object, and an object that was allocated anew at an address is another one.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/json.h"
#include "tests/support/recording_run.h"
#include "tests/support/snapshots.h"
#include "tests/support/targets.h"

enum { NAMES = 100, RECORDS = 20, ANEW = 15 };

static struct target *t;
static const char *file;

/* Returns the number after the key of what it says to that. */
static long long tell(const char *word, const char *key)
{
	char line[256];
	long long n = 0;

	hi_fixture_tell(t->fx, word);
	while (hi_fixture_line(t->fx, line, sizeof(line)) && strcmp(line, "done") != 0)
		if (strncmp(line, key, strlen(key)) == 0)
			HI_ASSERT_EQ(1, sscanf(line + strlen(key), "%lli", &n));
	return n;
}

static void check_pure_bytes_are_those_that_were_requested(long long requested)
{
	json_t *doc = doc_of(hi_heapinspect("retainers", file, "--pure", "--json"));
	json_t *row, *found = NULL;

	doc_each (row, doc_at(doc, "rows"))
		if (strcmp(doc_text(row, "members.0"), "names") == 0)
			found = row;
	HI_ASSERT(found);
	HI_ASSERT_EQ(NAMES, doc_number(found, "objects"));
	HI_ASSERT_EQ(requested, doc_number(found, "pure"));
}

HI_TEST_ROOT(reused_addresses, pure_bytes_of_a_recording_are_those_that_were_requested)
{
	struct recording_run run;
	long long requested;

	t = target_start("reused_addresses", NULL);
	file = snapshot_path(snapshot_directory(), "pure.hirec");
	run = recording_start(t->fx->pid, "-o", file, NULL);
	requested = tell("go", "requested");
	HI_ASSERT(requested > 0);
	HI_ASSERT_EQ(0, recording_end(&run, SIGINT)->exit_code);
	check_pure_bytes_are_those_that_were_requested(requested);
}

/* ---- serials ---- */

static void check_the_first_and_the_last_census_differ_by_those(long long stayed)
{
	char first[300];
	struct hi_command *c;
	json_t *doc;

	snprintf(first, sizeof(first), "%s@1", file);
	doc = doc_of_exit(hi_heapinspect("diff", first, file, "--json"), 1);
	HI_ASSERT_EQ(stayed,
		     doc_number(doc_row(doc_at(doc, "rows"), "type", "struct record"),
				"born.count"));
	HI_ASSERT_EQ(stayed,
		     doc_number(doc_row(doc_at(doc, "rows"), "type", "struct record"),
				"died.count"));
	c = hi_heapinspect("diff", first, file);
	HI_ASSERT_MSG(strstr(c->out, "the recording has"), "%s", c->out);
}

/* Serials of the recording: the address and a time. */
static void check_retainers_have_the_times_of_their_births(long long stayed)
{
	struct hi_command *c =
		hi_heapinspect("retainers", file, "--retainer=struct record",
			       "--identity=addr", "--all", "--json");
	json_t *row, *doc = doc_of(c);
	long long born = 0, older = 0;

	doc_each (row, doc_at(doc, "rows")) {
		const char *name = doc_text(row, "members.0");

		if (strncmp(name, "struct record 0x", 16) != 0)
			continue;
		(*(strstr(name, " s)") ? &born : &older))++;
	}
	HI_ASSERT_EQ(stayed, born);
	HI_ASSERT_EQ(RECORDS - stayed, older);
}

HI_TEST_ROOT(reused_addresses, recording_tells_objects_at_one_address_apart)
{
	struct recording_run run;
	long long stayed;

	t = target_start("reused_addresses", NULL);
	file = snapshot_path(snapshot_directory(), "reused.hirec");
	run = recording_start(t->fx->pid, "-o", file, "--every", "100ms", "--full", "all",
			      NULL);
	for (int i = 0; access(file, F_OK) != 0 && i < 3000; i++)
		usleep(20000);
	stayed = tell("again", "stayed");
	HI_ASSERT_EQ(ANEW, stayed);
	HI_ASSERT_EQ(0, recording_end(&run, SIGINT)->exit_code);
	check_the_first_and_the_last_census_differ_by_those(stayed);
	check_retainers_have_the_times_of_their_births(stayed);
}

/* Until a census has the text, or has it no more. */
static void await_census(struct hi_fixture *series, const char *text, bool has)
{
	static char line[1 << 16];

	while (hi_fixture_line(series, line, sizeof(line)))
		if ((strstr(line, text) != NULL) == has)
			return;
	hi_test_fail(__FILE__, __LINE__, "no census %s %s", has ? "has" : "is without",
		     text);
}

HI_TEST_SCENARIO(reused_addresses, series_numbers_a_reused_address_after_a_gap)
{
	struct hi_fixture *series;
	long long first;
	char name[80], later[80];

	t = target_start("reused_addresses", NULL);
	series = hi_fixture_start(HI_BINARY_DIR "/heapinspect", "retainers",
				  "--every=20ms", "--json", "--identity=addr", "--all",
				  "--retainer=struct record", "--pid", t->pid, NULL);
	await_census(series, "struct record 0x", true);
	first = tell("drop", "first");
	snprintf(name, sizeof(name), "struct record 0x%llx\"", first);
	snprintf(later, sizeof(later), "struct record 0x%llx #2\"", first);
	await_census(series, name, false);
	HI_ASSERT_EQ(first, tell("give", "first"));
	await_census(series, later, true);
	await_census(series, later, true);
	HI_ASSERT_EQ(0, kill(series->pid, SIGTERM));
	hi_fixture_end(series);
}
