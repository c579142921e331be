/* SPDX-License-Identifier: BSD-2-Clause */
/* `alloc --manner` of fixtures/space_lives.c: which columns are there, and calls that are
 * counted while the fixture does as commanded. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/json.h"
#include "tests/support/lived.h"
#include "tests/support/spaced.h"

static const char *record_manners(void)
{
	struct hi_fixture *fx = spaced_start();
	const char *file = spaced_file();
	struct recording_run run = recording_start(fx->pid, "-o", file, NULL);

	spaced_tell(fx, "node 7");
	spaced_tell(fx, "entry 5");
	spaced_tell(fx, "served 2");
	spaced_end(&run);
	return file;
}

static json_t *read_manners(const struct hi_command *c)
{
	return spaced_columns(c);
}

/* "space copies types callers" as far as they are there. */
static void check_columns(json_t *doc, const char *name, const char *expected)
{
	static const char *const keys[][2] = {{"calls", "calls"},
					      {"alloc", "space"},
					      {"ages", "copies"},
					      {"types", "types"},
					      {"callers", "callers"}};
	json_t *f = spaced_function(doc, name);
	char found[80] = "";

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (doc_find(f, "%s", keys[i][0]))
			snprintf(found + strlen(found), sizeof(found) - strlen(found),
				 "%s%s", *found ? " " : "", keys[i][1]);
	HI_ASSERT_STREQ(expected, found);
}

HI_TEST_ROOT(alloc_manner, each_function_has_the_columns_of_its_last_manner)
{
	const char *file = record_manners();
	json_t *doc;

	doc = read_manners(hi_heapinspect("alloc", file, "--json", "--manner",
					  "parse=types", "--manner", "c*=space,copies"));
	check_columns(doc, "parse", "types");
	check_columns(doc, "cache", "space copies");
	doc = read_manners(hi_heapinspect("alloc", file, "--json", "--manner", "types",
					  "--manner", "parse=space,depth=1"));
	check_columns(doc, "parse", "space callers");
	check_columns(doc, "cache", "types");
	/* The usual ones of MLWorks, where no manner matches. */
	doc = read_manners(
		hi_heapinspect("alloc", file, "--json", "--manner", "parse=copies"));
	check_columns(doc, "parse", "copies");
	check_columns(doc, "cache", "space");
	doc = read_manners(hi_heapinspect("alloc", file, "--json", "--callers",
					  "--manner", "parse=space,depth=0"));
	check_columns(doc, "parse", "space");
	check_columns(doc, "cache", "space callers");
	doc = read_manners(hi_heapinspect("alloc", file, "--json"));
	check_columns(doc, "parse", "space copies types");
}

HI_TEST_ROOT(alloc_manner, reports_and_lines_of_mlworks_leave_columns_out)
{
	const char *file = record_manners();
	struct hi_command *c = hi_heapinspect("alloc", file, "--manner", "cache=types");

	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	HI_ASSERT_MSG(strstr(c->out, "cache by age and type") != NULL, "%s", c->out);
	HI_ASSERT_MSG(!strstr(c->out, "parse by age"), "%s", c->out);
	HI_ASSERT_MSG(strstr(c->out, "\n  parse ") != NULL, "%s", c->out);
	HI_ASSERT_MSG(!strstr(c->out, "\n  cache "), "%s", c->out);
	c = hi_heapinspect("alloc", file, "--format", "mlworks", "--manner",
			   "parse=space,copies", "--manner", "cache=types");
	HI_ASSERT_MSG(strstr(c->out, "  parse[space_lives.c]\n            ") != NULL,
		      "%s", c->out);
	HI_ASSERT_MSG(!strstr(c->out, "cache["), "%s", c->out);
	HI_ASSERT_MSG(!strstr(c->out, "gen"), "%s", c->out);
	c = hi_heapinspect("alloc", file, "--format", "mlworks", "--manner",
			   "cache=space,types");
	HI_ASSERT_MSG(strstr(c->out, "  cache[space_lives.c]\n          gen") != NULL,
		      "%s", c->out);
}

HI_TEST_ROOT(alloc_manner, wrong_manners_are_refused)
{
	const char *file = record_manners();
	struct hi_command *c =
		hi_heapinspect("alloc", file, "--manner", "parse=space,size");

	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT_MSG(strstr(c->err, "--manner size: not one of calls, time, space, "
				     "copies, types, depth=0"),
		      "%s", c->err);
	c = hi_heapinspect("alloc", file, "--manner", "parse=calls");
	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT_MSG(strstr(c->err, "only with --pid"), "%s", c->err);
	c = hi_heapinspect("alloc", "--pid", "1", "--manner", "calls");
	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT_MSG(strstr(c->err, "--manner PATTERN=calls"), "%s", c->err);
	c = hi_heapinspect("snap", "--pid", "1", "--manner", "space");
	HI_ASSERT_EQ(2, c->exit_code);
	c = hi_heapinspect("alloc", file, "--bars", "--manner", "space");
	HI_ASSERT_EQ(2, c->exit_code);
}

/* ---- calls ---- */

enum { TEXT_MOST = 1 << 20 };

/* The code of the fixture, as it is in memory. */
static size_t read_text_of(const struct hi_fixture *fx, unsigned char *to)
{
	unsigned long start = 0, end = 0;
	char path[64], line[512];
	FILE *maps;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)fx->pid);
	maps = fopen(path, "r");
	HI_ASSERT(maps != NULL);
	while (!start && fgets(line, sizeof(line), maps))
		if (strstr(line, "r-xp") && strstr(line, "space_lives"))
			sscanf(line, "%lx-%lx", &start, &end);
	fclose(maps);
	HI_ASSERT(start && end - start <= TEXT_MOST);
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)fx->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = pread(fd, to, end - start, (off_t)start);
	close(fd);
	HI_ASSERT_EQ((ssize_t)(end - start), n);
	return end - start;
}

static long long counted_calls(json_t *doc, const char *name)
{
	json_t *counted = spaced_named(doc_at(doc, "counted"), name);

	return doc_number(counted, "calls");
}

HI_TEST_ROOT(alloc_manner, calls_are_counted_exactly_and_leave_the_code_as_it_was)
{
	static unsigned char before[TEXT_MOST], during[TEXT_MOST], after[TEXT_MOST];
	struct hi_fixture *fx = spaced_start();
	size_t n = read_text_of(fx, before);
	struct lived *l = lived_start_alloc(
		fx, LIVED("--json", "--all", "--manner", "s*rve=calls", "--manner",
			  "parse=calls,space", "--manner", "build=calls"));
	json_t *doc;

	spaced_tell(fx, "node 7");
	spaced_tell(fx, "built 500");
	HI_ASSERT_EQ(n, read_text_of(fx, during));
	lived_period(l, LIVED());
	spaced_tell(fx, "served 110");
	lived_end_alloc(l);
	HI_ASSERT_EQ(n, read_text_of(fx, after));
	doc = read_manners(l->command);
	HI_ASSERT_EQ(3, doc_size(doc, "counted"));
	HI_ASSERT_EQ(110, counted_calls(doc, "serve"));
	HI_ASSERT_EQ(610, counted_calls(doc, "build"));
	HI_ASSERT_EQ(617, counted_calls(doc, "parse"));
	HI_ASSERT_EQ(617, doc_number(spaced_function(doc, "parse"), "calls"));
	check_columns(doc, "parse", "calls space");
	check_columns(doc, "cache", "space");
	HI_ASSERT(doc_number(doc, "call_ns") > 0);
	HI_ASSERT(memcmp(before, during, n) != 0);
	HI_ASSERT(memcmp(before, after, n) == 0);
}

/* parse() allocates once a call. A thread may stand between its entry and the end of
 * malloc, and calls that came before the first event count as well. */
HI_TEST_ROOT(alloc_manner, calls_are_those_until_the_last_census)
{
	struct hi_fixture *fx = spaced_start();
	struct recording_run run = recording_start_as(
		"alloc", "the first period begins", fx->pid,
		LIVED("--every", "500ms", "--for", "2s", "--sample", "all", "--json",
		      "--all", "--manner", "parse=calls,space"));
	long long calls, allocated;
	json_t *doc;

	hi_fixture_tell(fx, "brief 2000000");
	doc = read_manners(recording_end(&run, 0));
	calls = counted_calls(doc, "parse");
	allocated = spaced_amount(spaced_function(doc, "parse"), "alloc").number;
	HI_ASSERT_EQ(0, doc_number(doc, "lost_events"));
	HI_ASSERT_MSG(calls == allocated || calls == allocated + 1,
		      "%lld calls, %lld allocations", calls, allocated);
	HI_ASSERT(calls > 1000);
}

HI_TEST_ROOT(alloc_manner, the_report_says_what_counts_cost)
{
	struct lived *l = lived_start_alloc(
		spaced_start(), LIVED("--manner", "serve=calls", "--width", "80"));

	spaced_tell(l->fx, "served 42");
	lived_end_alloc(l);
	HI_ASSERT_MSG(l->command->exit_code == 0, "%s", l->command->err);
	HI_ASSERT_MSG(strstr(l->command->out, "a count costs") != NULL, "%s",
		      l->command->out);
	HI_ASSERT_MSG(strstr(l->command->out, " 42 ") != NULL, "%s", l->command->out);
}

HI_TEST_ROOT(alloc_manner, functions_that_cannot_be_counted_are_refused)
{
	struct hi_fixture *fx = spaced_start();
	struct hi_command *c;
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", (int)fx->pid);
	c = hi_heapinspect("alloc", "--pid", pid, "--for", "1s", "--manner",
			   "sevre=calls");
	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT_MSG(strstr(c->err, "sevre=calls: the target has no such function"),
		      "%s", c->err);
	HI_ASSERT_MSG(strstr(c->err, "serve") != NULL, "%s", c->err);
	c = hi_heapinspect("alloc", "--pid", pid, "--for", "1s", "--manner", "*=calls");
	HI_ASSERT(c->exit_code != 0);
	HI_ASSERT_MSG(strstr(c->err, "more than 64"), "%s", c->err);
	HI_ASSERT_STREQ("", c->out);
}
