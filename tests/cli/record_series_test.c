/* SPDX-License-Identifier: BSD-2-Clause */
/* `record --every`: censuses of a recording, against what fixtures/recorded_sites.c says
 * that it allocates. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/fixture.h"
#include "tests/support/json.h"
#include "tests/support/recorded_sites.h"
#include "tests/support/recording_run.h"
#include "tests/support/workshop.h"

enum { LOOK_US = 20000, LOOKS = 3000 };

static char file[256];
static struct hi_fixture *fx;

/* Records fx into a new file. */
static struct recording_run start_recorded_series(const char *option, const char *value)
{
	snprintf(file, sizeof(file), "%s/app.hirec", workshop_open());
	return recording_start(fx->pid, "--every", "100ms", "-o", file, option, value,
			       NULL);
}

/* Of the file. */
static size_t count_censuses(void)
{
	return doc_size(doc_of(hi_heapinspect("snapshots", "--json", "--all", file)),
			"rows");
}

/* 0: there is no file yet. */
static long long size_of_file(void)
{
	struct stat st;

	return stat(file, &st) == 0 ? st.st_size : 0;
}

/* The file has its name when the first census is complete, and grows by two parts with
 * each that has a graph. A census that was under way at the call counts, too. */
static void await_parts(unsigned n)
{
	long long before = size_of_file(), now;

	for (int i = 0; n && i < LOOKS; i++) {
		now = size_of_file();
		n -= now != before;
		before = now;
		usleep(LOOK_US);
	}
	HI_ASSERT_EQ(0, n);
}

static void await_first_census(void)
{
	for (int i = 0; !size_of_file() && i < LOOKS; i++)
		usleep(LOOK_US);
	HI_ASSERT(size_of_file() > 0);
}

/* Live objects of make_node() in a census, "" for the last; -1: none. */
static long long count_nodes(const char *census, long long *before_ret)
{
	char name[300];
	json_t *doc, *row;

	snprintf(name, sizeof(name), "%s%s", file, census);
	doc = doc_of(hi_heapinspect("census", "--by", "site", "--json", "--all", name));
	*before_ret = doc_number(doc, "before.objects");
	row = doc_find_row(doc_at(doc, "rows"), "site.function", "make_node");
	return row ? doc_number(row, "objects") : -1;
}

static void check_a_full_disk_is_an_error_and_the_file_stays(void)
{
	struct rlimit before, small;
	struct recording_run run;
	struct hi_command *c;
	long long nodes;

	HI_ASSERT_EQ(0, getrlimit(RLIMIT_FSIZE, &before));
	small = before;
	/* Some censuses fit. */
	small.rlim_cur = 400 << 10;
	HI_ASSERT_EQ(0, setrlimit(RLIMIT_FSIZE, &small));
	run = start_recorded_series("--full", "all");
	HI_ASSERT_EQ(0, setrlimit(RLIMIT_FSIZE, &before));
	c = recording_end(&run, 0);
	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT_MSG(strstr(c->err, "File too large"), "%s", c->err);
	HI_ASSERT(count_censuses() >= 1);
	HI_ASSERT_EQ(-1, count_nodes("", &nodes));
	HI_ASSERT_EQ(BEFORE, nodes);
}

static void check_each_census_has_the_births_up_to_its_stop(void)
{
	struct recording_run run = start_recorded_series("--full", "all");
	struct hi_command *c;
	char first[300];
	long long before;

	await_first_census();
	sites_tell(fx, "go");
	c = recording_end(&run, SIGINT);
	HI_ASSERT_MSG(c->exit_code == 0, "exit %d: %s", c->exit_code, c->err);
	HI_ASSERT_MSG(strstr(c->out, "make_node"), "%s", c->out);
	HI_ASSERT_EQ(-1, count_nodes("@1", &before));
	HI_ASSERT_EQ(BEFORE, before);
	/* The last one is that of the end. */
	HI_ASSERT_EQ(NODES, count_nodes("", &before));
	HI_ASSERT_EQ(BEFORE, before);
	snprintf(first, sizeof(first), "%s@1", file);
	c = hi_heapinspect("diff", "--by", "site", first, file);
	HI_ASSERT_MSG(strstr(c->out, "make_node"), "%s%s", c->out, c->err);
}

HI_TEST_ROOT(record_series, goes_into_a_file_as_far_as_it_has_room)
{
	fx = sites_start();
	check_a_full_disk_is_an_error_and_the_file_stays();
	check_each_census_has_the_births_up_to_its_stop();
}

HI_TEST_ROOT(record_series, complete_censuses_survive_a_kill)
{
	struct recording_run run;
	struct hi_command *c;
	long long before;

	fx = sites_start();
	run = start_recorded_series(NULL, NULL);
	await_first_census();
	sites_tell(fx, "go");
	await_parts(6);
	HI_ASSERT_EQ(0, kill(run.pid, SIGKILL));
	HI_ASSERT_EQ(run.pid, waitpid(run.pid, NULL, 0));
	c = hi_heapinspect("snapshots", file);
	HI_ASSERT_MSG(strstr(c->out, "killed"), "%s", c->out);
	HI_ASSERT_EQ(NODES, count_nodes("", &before));
	HI_ASSERT_EQ(BEFORE, before);
	/* The program has not noticed. */
	sites_tell(fx, "churn");
}

static void check_an_exec_ends_it_with_the_census_before(void)
{
	struct recording_run run = start_recorded_series("--full", "all");
	struct hi_command *c;
	long long before;

	await_first_census();
	sites_tell(fx, "go");
	await_parts(6);
	hi_fixture_tell(fx, "exec");
	hi_fixture_read_until(fx, "ready", NULL, NULL);
	c = recording_end(&run, 0);
	HI_ASSERT_MSG(c->exit_code == 0, "exit %d: %s", c->exit_code, c->err);
	HI_ASSERT_MSG(strstr(c->err, "(exec)"), "%s", c->err);
	HI_ASSERT_EQ(NODES, count_nodes("", &before));
	HI_ASSERT_EQ(BEFORE, before);
}

/* The program that was started is a new one, with the allocations of its start. */
static void check_an_exit_is_the_last_census(void)
{
	struct recording_run run = start_recorded_series(NULL, NULL);
	struct hi_command *c;
	long long before;

	await_first_census();
	sites_tell(fx, "go");
	hi_fixture_tell(fx, "quit");
	c = recording_end(&run, 0);
	HI_ASSERT_MSG(c->exit_code == 0, "exit %d: %s", c->exit_code, c->err);
	HI_ASSERT_MSG(strstr(c->err, "the target has exited"), "%s", c->err);
	/* An exit in the some milliseconds around a stop is missed, and said. */
	if (strstr(c->err, "there is no sample of its exit"))
		return;
	HI_ASSERT_EQ(NODES, count_nodes("", &before));
	/* At which little may be left: the page is of the census before. */
	HI_ASSERT_MSG(strstr(c->out, "the target has exited: this page is of census"),
		      "%s", c->out);
}

HI_TEST_ROOT(record_series, ends_with_its_program)
{
	fx = sites_start();
	check_an_exec_ends_it_with_the_census_before();
	check_an_exit_is_the_last_census();
}

HI_TEST_ROOT(record_series, options_without_a_meaning_are_refused)
{
	struct hi_command *c = hi_heapinspect("record", "--every", "1s", "--pid", "1");

	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT_MSG(strstr(c->err, "-o FILE is missing"), "%s", c->err);
	c = hi_heapinspect("record", "--full", "all", "--pid", "1");
	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT_MSG(strstr(c->err, "--full: only with --every"), "%s", c->err);
}
