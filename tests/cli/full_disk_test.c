/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A disk that is full, in every command that has --json: its document goes to /dev/full
 * through a standard output without a buffer (stdbuf), so that the first write fails as
 * it does where a document is larger than the buffer.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/command.h"
#include "tests/support/python.h"
#include "tests/support/recording_run.h"
#include "tests/support/targets.h"
#include "tests/support/workshop.h"

#define FILE_OF_ONE "@data/v1.hisnap"
#define SERIES "@data/series-v1.hisnap"

/* A command line of each way to write; words with @ are replaced. */
static const struct {
	const char *command, *rest;
	bool is_recorded; /* BPF programs follow a process for it, or have done so */
} answers[] = {
	{"summary", FILE_OF_ONE, false},
	{"census", FILE_OF_ONE, false},
	{"retained", FILE_OF_ONE, false},
	{"leaks", FILE_OF_ONE, false},
	{"paths", "'struct item' " FILE_OF_ONE, false},
	{"explain", "0x55ac2f385320 " FILE_OF_ONE, false},
	{"waste", "--pid @pid", false},
	{"roots", "--pid @pid --root r=server.db", false},
	{"retainers", FILE_OF_ONE, false},
	{"up", FILE_OF_ONE " --type '*'", false},
	{"tree", FILE_OF_ONE, false},
	{"snapshots", FILE_OF_ONE, false},
	{"snapshots", SERIES, false},
	{"diff", FILE_OF_ONE " " FILE_OF_ONE " --force", false},
	{"check", FILE_OF_ONE " --fail-on 'live.bytes < 1'", false},
	{"check", FILE_OF_ONE " -f json --fail-on 'live.bytes > 1'", false},
	{"query", FILE_OF_ONE, false},
	{"query", FILE_OF_ONE " 'SELECT * FROM objects'", false},
	{"safepoints", "--pid @pid", false},
	{"audit", "--pid @python", false},
	{"peaks", SERIES, false},
	{"spacetime", SERIES, false},
	{"record", "--pid @pid --for 200ms", true},
	{"bio", "--pid @pid --every 100ms --for 200ms", true},
	{"alloc", "--pid @pid --every 100ms --for 200ms", true},
	{"alloc", "@recording", true},
	{"deep", "@recording", true},
};

/* python: a process id. */
static void check_full_disk(const struct target *t, const char *python,
			    const char *recording, size_t i)
{
	struct hi_command *c;
	char line[1000];

	snprintf(line, sizeof(line),
		 "rest=\"%s\"; rest=${rest//@pid/%s}; rest=${rest//@python/%s}; "
		 "rest=${rest//@data/%s}; "
		 /* stdbuf preloads a library before that of a sanitizer. */
		 "export ASAN_OPTIONS=verify_asan_link_order=0:$ASAN_OPTIONS; "
		 "eval stdbuf -o0 " HI_BINARY_DIR "/heapinspect %s "
		 "\"${rest//@recording/%s}\" --json > /dev/full",
		 answers[i].rest, t->pid, python, HI_SOURCE_DIR "/tests/data",
		 answers[i].command, recording);
	c = hi_command_run(0, "bash", "-c", line, NULL);
	HI_ASSERT_MSG(
		c->exit_code == 2 &&
			strstr(c->err, "cannot write standard output: No space left"),
		"%s %s: exit %d: %s", answers[i].command, answers[i].rest, c->exit_code,
		c->err);
}

HI_TEST_SCENARIO(full_disk, is_named_by_every_command_that_writes_json)
{
	struct target *t = target_start("lost_nodes", "7", NULL),
		      *python = python_start(NULL, "values", NULL, NULL);

	for (size_t i = 0; i < sizeof(answers) / sizeof(*answers); i++)
		if (!answers[i].is_recorded)
			check_full_disk(t, python->pid, "", i);
}

HI_TEST_ROOT(full_disk, is_named_by_what_records)
{
	struct target *t = target_start("lost_nodes", "7", NULL);
	char file[256];
	struct recording_run run;

	snprintf(file, sizeof(file), "%s/x.hirec", workshop_open());
	run = recording_start(t->fx->pid, "-o", file, NULL);
	HI_ASSERT_EQ(0, recording_end(&run, SIGINT)->exit_code);
	for (size_t i = 0; i < sizeof(answers) / sizeof(*answers); i++)
		if (answers[i].is_recorded)
			check_full_disk(t, "", file, i);
}

/* What refuses --json names the commands that have it. */
HI_TEST_SCENARIO(full_disk, no_command_with_json_is_left_out)
{
	char *at = strstr(hi_heapinspect("graph", "--json")->err, "but of ");
	size_t asked = 0;

	HI_ASSERT(at);
	for (char *name = strtok(at + strlen("but of "), ", \n"); name;
	     name = strtok(NULL, ", \n")) {
		bool found = false;

		for (size_t i = 0; i < sizeof(answers) / sizeof(*answers); i++)
			found |= strcmp(answers[i].command, name) == 0;
		HI_ASSERT_MSG(found, "%s has --json and is not asked", name);
		asked++;
	}
	HI_ASSERT(asked > 20);
}
