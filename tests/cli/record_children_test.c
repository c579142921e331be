/* SPDX-License-Identifier: BSD-2-Clause */
/* record --children: a file for each process that fixtures/forks.c has forked. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/fixture.h"
#include "tests/support/json.h"
#include "tests/support/recording_run.h"
#include "tests/support/schema.h"
#include "tests/support/workshop.h"

/* As the fixture has them: before the recording, and freed in it. */
enum { CHILDREN = 32, AT_ONCE = 16, INHERITED = 500, FREED = 10 };

struct recorded_forks {
	struct hi_fixture *fx;
	struct recording_run run;
	char file[256];
	int children[CHILDREN];
	size_t n;
	struct {
		int pid;
		long long blocks;
	} kept[CHILDREN];
	size_t n_kept;
};

static void take_forks_line(const char *line, void *arg)
{
	struct recorded_forks *f = arg;
	long long blocks;
	int pid;

	if (sscanf(line, "child %d", &pid) == 1 && f->n < CHILDREN)
		f->children[f->n++] = pid;
	if (sscanf(line, "kept %d %lld", &pid, &blocks) == 2 && f->n_kept < CHILDREN) {
		f->kept[f->n_kept].pid = pid;
		f->kept[f->n_kept++].blocks = blocks;
	}
}

static void tell_forks(struct recorded_forks *f, const char *command)
{
	hi_fixture_tell(f->fx, command);
	hi_fixture_read_until(f->fx, "done", take_forks_line, f);
}

/* before: forks before the recording; NULL: none. */
static struct recorded_forks record_forks_by(const char *before, const char *sample)
{
	struct recorded_forks f = {.fx = hi_fixture_start("forks", NULL)};

	hi_fixture_read_until(f.fx, "ready", NULL, NULL);
	if (before)
		tell_forks(&f, before);
	snprintf(f.file, sizeof(f.file), "%s/app.hirec", workshop_open());
	f.run = recording_start(f.fx->pid, "-o", f.file, "--children", "--json", sample,
				NULL);
	return f;
}

static struct recorded_forks record_forks(const char *before)
{
	return record_forks_by(before, "--sample=all");
}

static const char *file_of_process(const struct recorded_forks *f, int pid)
{
	static char file[300];

	if (pid == f->fx->pid)
		return f->file;
	snprintf(file, sizeof(file), "%s.%d", f->file, pid);
	return file;
}

/* The children of the report are those of the fixture, no more and no fewer. */
static void expect_children(const struct recorded_forks *f, const struct hi_command *c)
{
	const json_t *list = doc_at(doc_of(c), "children"), *child;
	size_t k;

	if (strcmp(doc_text(doc_of(c), "schema"), "heapinspect/windows/v1") != 0)
		hi_check_schema(c, "rows.v1.json");
	HI_ASSERT_EQ(f->n, json_array_size(list));
	doc_each (child, list) {
		int pid = (int)doc_number(child, "pid");

		for (k = 0; k < f->n && f->children[k] != pid; k++)
			;
		HI_ASSERT(k < f->n);
		HI_ASSERT(doc_is_null(child, "failure"));
		HI_ASSERT_STREQ(file_of_process(f, pid), doc_text(child, "file"));
		HI_ASSERT_EQ(0, access(file_of_process(f, pid), R_OK));
	}
}

/* What a process has kept by itself is its own, and what it inherited from before. */
static void expect_own_blocks(const struct recorded_forks *f, int pid, long long blocks)
{
	struct hi_command *c = hi_heapinspect("census", "--by", "site", "--json",
					      file_of_process(f, pid));
	json_t *doc = doc_of(c), *rows = doc_at(doc, "rows");
	long long own = doc_sum_of(rows, "site.function", "keep_own", "objects");
	long long before = doc_number(doc, "before.objects");

	HI_ASSERT_EQ(blocks, own);
	HI_ASSERT_EQ(own, doc_sum(rows, "objects"));
	HI_ASSERT_MSG(before >= INHERITED - FREED && before < INHERITED, "%lld before",
		      before);
}

static void end_child(struct recorded_forks *f, int pid)
{
	char command[32];

	snprintf(command, sizeof(command), "end %d", pid);
	tell_forks(f, command);
}

/* One exits, and its file has what was live then. One that shares the memory has none: it
 * would be the heap of the program once more. */
HI_TEST_ROOT(record_children, have_files_with_what_is_theirs)
{
	struct recorded_forks f = record_forks("fork");

	tell_forks(&f, "fork");
	tell_forks(&f, "vfork");
	tell_forks(&f, "grandchild");
	tell_forks(&f, "fork");
	HI_ASSERT_EQ(4, f.n);
	recording_await(&f.run, "recording child", f.n);
	tell_forks(&f, "work");
	HI_ASSERT_EQ(5, f.n_kept);
	end_child(&f, f.children[1]);
	recording_await(&f.run, "has exited", 1);
	HI_ASSERT_EQ(0, access(file_of_process(&f, f.children[1]), R_OK));
	expect_children(&f, recording_end(&f.run, SIGINT));
	for (size_t i = 0; i < f.n_kept; i++)
		expect_own_blocks(&f, f.kept[i].pid, f.kept[i].blocks);
}

/* The program is killed: the report is of its events, and lists the children. */
HI_TEST_ROOT(record_children, stay_recorded_where_the_program_is_killed)
{
	struct recorded_forks f = record_forks(NULL);

	tell_forks(&f, "fork");
	recording_await(&f.run, "recording child", 1);
	tell_forks(&f, "work");
	kill(f.fx->pid, SIGKILL);
	expect_children(&f, recording_end(&f.run, 0));
	expect_own_blocks(&f, f.children[0], f.kept[1].blocks);
}

HI_TEST_SLOW(record_children, wait_where_sixteen_are_recorded)
{
	struct recorded_forks f;

	if (geteuid() != 0)
		HI_SKIP("probes need root");
	f = record_forks(NULL);
	for (int i = 0; i < AT_ONCE; i++)
		tell_forks(&f, "fork");
	recording_await(&f.run, "recording child", AT_ONCE);
	tell_forks(&f, "fork");
	recording_await(&f.run, "recorded at one time", 1);
	end_child(&f, f.children[0]);
	recording_await(&f.run, "recording child", AT_ONCE + 1);
	expect_children(&f, recording_end(&f.run, SIGINT));
}

HI_TEST_SCENARIO(record_children, need_a_file)
{
	struct hi_command *c =
		hi_heapinspect("record", "--pid", "1", "--children", "--for", "1s");

	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT_MSG(strstr(c->err, "-o FILE"), "%s", c->err);
	c = hi_heapinspect("record", "--pid", "1", "--children", "--every", "1s", "-o",
			   "/tmp/none.hirec");
	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT_MSG(strstr(c->err, "--every"), "%s", c->err);
}

/* Each has windows of its own, and the report of the program lists them. */
HI_TEST_ROOT(record_children, are_recorded_by_windows)
{
	struct recorded_forks f = record_forks_by(NULL, "--sample=windows");
	struct hi_command *c;
	json_t *doc;

	tell_forks(&f, "fork");
	tell_forks(&f, "fork");
	HI_ASSERT_EQ(2, f.n);
	recording_await(&f.run, "recording child", f.n);
	tell_forks(&f, "work");
	c = recording_end(&f.run, SIGINT);
	hi_check_schema(c, "windows.v1.json");
	expect_children(&f, c);
	for (size_t i = 0; i < f.n; i++) {
		doc = doc_of(hi_heapinspect("alloc", file_of_process(&f, f.children[i]),
					    "--json", NULL));
		hi_check_schema_of(doc, "windows.v1.json");
		HI_ASSERT_EQ(f.children[i], doc_number(doc, "target.pid"));
	}
}
