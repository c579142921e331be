/* SPDX-License-Identifier: BSD-2-Clause */
/* What `bio` does where following the target would cost it too much. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/json.h"
#include "tests/support/lived.h"
#include "tests/support/schema.h"

enum { PERIOD_MS = 60000 };

static struct hi_fixture *start_lives(const char *command)
{
	struct hi_fixture *fx = hi_fixture_start("lives", NULL);
	char line[64];

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	hi_fixture_tell(fx, command);
	HI_ASSERT(hi_fixture_line(fx, line, sizeof(line)));
	return fx;
}

static json_t *read_report(const struct hi_command *c)
{
	json_t *doc = doc_checked(c, "bio.v1.json");

	lived_check_invariants(doc);
	return doc;
}

/* Bytes that are proved to be in use at census i; -1: the last. */
static long proved_use(json_t *doc, long i)
{
	long n = (long)doc_size(doc, "censuses");

	HI_ASSERT(n > 0);
	return doc_number(doc, "censuses.%ld.bands.use.bytes.proved", i < 0 ? n - 1 : i);
}

/* Allocations begin to come fast after the start, which had none. */
HI_TEST_ROOT_ALONE(bio_cost, a_recording_that_becomes_too_expensive_is_given_up)
{
	struct hi_fixture *fx = start_lives("new object 100");
	struct recording_run run =
		recording_start_as("bio", "the first period begins", fx->pid,
				   LIVED("--every", "1s", "--for", "600s", "--json"));
	json_t *doc;

	hi_fixture_tell(fx, "write object");
	HI_ASSERT(recording_says(&run, "(provisional)", PERIOD_MS));
	hi_fixture_tell(fx, "churn 8000");
	HI_ASSERT_MSG(
		recording_says(&run, "allocations are not followed any more", PERIOD_MS),
		"%s", run.begun);
	/* A use now is not proved, as it might be of another object. */
	HI_ASSERT(recording_says(&run, "(provisional)", PERIOD_MS));
	hi_fixture_tell(fx, "write object");
	for (int i = 0; i < 9; i++)
		HI_ASSERT(recording_says(&run, "(provisional)", PERIOD_MS));
	doc = read_report(recording_end(&run, SIGINT));
	HI_ASSERT(proved_use(doc, 0) > 0);
	HI_ASSERT_EQ(0, proved_use(doc, -1));
}

/* The cost is what was asked for. */
HI_TEST_ROOT_ALONE(bio_cost, a_recording_of_all_is_not_given_up)
{
	struct hi_fixture *fx = start_lives("new object 100");
	struct recording_run run = recording_start_as(
		"bio", "the first period begins", fx->pid,
		LIVED("--every", "500ms", "--for", "600s", "--json", "--sample", "1MiB"));
	struct hi_command *c;

	hi_fixture_tell(fx, "churn 4000");
	for (int i = 0; i < 9; i++)
		HI_ASSERT(recording_says(&run, "(provisional)", PERIOD_MS));
	c = recording_end(&run, SIGINT);
	HI_ASSERT_MSG(!strstr(c->err, "not followed"), "%s", c->err);
	read_report(c);
}

static pid_t start_spinning(void)
{
	pid_t pid = fork();

	HI_ASSERT(pid >= 0);
	if (pid == 0)
		for (;;)
			;
	return pid;
}

/* Half a million objects, on processors that are all taken. */
HI_TEST_ROOT_ALONE(bio_cost, a_busy_machine_has_fewer_censuses)
{
	struct hi_fixture *fx = start_lives("list cells 500000");
	long n = sysconf(_SC_NPROCESSORS_ONLN);
	pid_t spinning[64];
	struct recording_run run;
	struct hi_command *c;

	HI_ASSERT(n > 0 && n <= 64);
	for (long i = 0; i < n; i++)
		spinning[i] = start_spinning();
	run = recording_start_as("bio", "the first period begins", fx->pid,
				 LIVED("--every", "50ms", "--for", "600s", "--json"));
	HI_ASSERT(recording_says(&run, "no processor is idle", PERIOD_MS));
	for (long i = 0; i < n; i++) {
		kill(spinning[i], SIGKILL);
		waitpid(spinning[i], NULL, 0);
	}
	c = recording_end(&run, SIGINT);
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
}
