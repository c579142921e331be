/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Blocks that only shared memory leads to (fixtures/shared_roots.c) are alive; one that
 * nothing leads to is not.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/cli/summary.h"
#include "tests/harness.h"
#include "tests/support/fixture.h"
#include "tests/support/json.h"

struct shared {
	char blocks[16][32], what[16][16];
	unsigned n;
	int pid, dropped;
};

static void keep_line(const char *line, void *arg)
{
	struct shared *s = arg;

	if (sscanf(line, "pid %d", &s->pid) == 1 ||
	    sscanf(line, "dropped %d", &s->dropped) == 1)
		return;
	HI_ASSERT(s->n < 16);
	HI_ASSERT_EQ(2, sscanf(line, "%15s %31s", s->what[s->n], s->blocks[s->n]));
	s->n++;
}

static void remove_file(void *arg)
{
	unlink(arg);
}

static void start(struct shared *s, const char *child, const char *drop)
{
	static char path[64];

	snprintf(path, sizeof(path), "/tmp/hi-shared-roots.%d", (int)getpid());
	hi_test_defer(remove_file, path);
	hi_fixture_read_until(hi_fixture_start("shared_roots", path, child, drop, NULL),
			      "ready", keep_line, s);
	HI_ASSERT_EQ(9, s->n);
}

static const char *report_of(const struct shared *s, const char *command, const char *way)
{
	char pid[16];
	struct hi_command *c;

	snprintf(pid, sizeof(pid), "%d", s->pid);
	/* Text has one of several alike. */
	c = hi_heapinspect(command, "--pid", pid, "--snapshot", way, "--all", "--json");
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	return c->out;
}

static void check_blocks(const struct shared *s, const char *way)
{
	const char *leaks = report_of(s, "leaks", way);
	char name[96];

	for (unsigned i = 0; i < s->n; i++)
		HI_ASSERT_MSG(!strstr(leaks, s->blocks[i]) ==
				      (strcmp(s->what[i], "leaked") != 0),
			      "%s, by %s: %s", s->what[i], way, leaks);
	/* Parts that were never touched, and files that others may read, raise no doubts.
	 */
	if (geteuid() == 0)
		HI_ASSERT_EQ(0, doc_number(summary_with(s->pid, NULL),
					   "leaks.likely_objects"));
	snprintf(name, sizeof(name), "mapping hi-shared-roots.%d", (int)getpid());
	HI_ASSERT_MSG(has_root(summary_with(s->pid, NULL), name), "no root %s", name);
}

HI_TEST_SCENARIO(shared_roots, blocks_that_shared_mappings_hold_are_alive)
{
	struct shared s = {};

	start(&s, NULL, NULL);
	check_blocks(&s, "copy");
	check_blocks(&s, "fork");
}

/* The child has none of the shared pages in its page tables. They are read from the
 * files, some of which only root may open: without that nothing is certain. */
static void check_child(const struct shared *s)
{
	json_t *doc = summary_with(s->pid, NULL);

	HI_ASSERT_MSG(doc_number(doc, "leaks.objects") == (geteuid() ? 0 : 1) &&
			      doc_number(doc, "leaks.likely_objects") ==
				      (geteuid() ? 8 : 7),
		      "%d pages dropped: %s", s->dropped,
		      json_dumps(doc_at(doc, "leaks"), JSON_INDENT(1)));
	if (geteuid() == 0)
		HI_ASSERT(strstr(report_of(s, "leaks", "copy"), s->blocks[8]));
}

HI_TEST_SCENARIO(shared_roots,
		 objects_held_by_untouched_shared_pages_are_no_certain_leaks)
{
	struct shared s = {};

	start(&s, "child", NULL);
	check_child(&s);
}

/* As the kernel does by itself where memory is short. */
HI_TEST_SCENARIO(shared_roots, objects_held_by_pages_on_disk_are_no_certain_leaks)
{
	struct shared s = {};

	start(&s, "child", "drop");
	/* Where /tmp is in memory it is the test above. */
	if (s.dropped < 3)
		hi_test_note("only %d pages are on disk", s.dropped);
	check_child(&s);
}
