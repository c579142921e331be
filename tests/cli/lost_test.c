/* SPDX-License-Identifier: BSD-2-Clause */
/* `diff` names leaks by what they were: fixtures/lost_nodes.c. */
#include <stdlib.h>
#include <string.h>

#include "tests/cli/summary.h"
#include "tests/support/fixture.h"
#include "tests/support/stopping.h"
#include "tests/support/snapshots.h"

/* Chunks of struct entry and struct value: 56 bytes, and 8 for the size. */
enum { LOST = 50, ENTRY = 64, VALUE = 64 };

static struct hi_fixture *service;
static char pid_text[16];

static void start_table(void)
{
	service = hi_fixture_start("lost_nodes", NULL);
	hi_fixture_read_until(service, "ready", NULL, NULL);
	snprintf(pid_text, sizeof(pid_text), "%d", (int)service->pid);
}

static void order(const char *command)
{
	hi_fixture_tell(service, command);
	hi_test_expect_line(service, "done");
}

static const char *snap_to(const char *directory, const char *name)
{
	const char *file = snapshot_path(directory, name);
	struct hi_command *c = hi_heapinspect("snap", "-o", file, "--pid", pid_text);

	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	return file;
}

static json_t *was_between(const char *a, const char *b)
{
	struct hi_command *c = hi_heapinspect("diff", "--json", a, b);
	json_t *doc = json_loads(c->out, 0, NULL);

	HI_ASSERT_MSG(doc, "%s%s", c->out, c->err);
	hi_test_defer(free_json, doc);
	return json_object_get(doc, "was");
}

static void check_row(json_t *rows, const char *type, long long objects, long long bytes)
{
	for (size_t i = 0; i < json_array_size(rows); i++) {
		json_t *row = json_array_get(rows, i);

		if (strcmp(json_string_value(json_object_get(row, "type")), type) != 0)
			continue;
		HI_ASSERT_STREQ("server.db->buckets",
				json_string_value(json_object_get(row, "under")));
		HI_ASSERT_EQ(objects,
			     json_integer_value(json_object_get(row, "objects")));
		HI_ASSERT_EQ(bytes, json_integer_value(json_object_get(row, "bytes")));
		return;
	}
	HI_ASSERT_MSG(false, "no row of %s", type);
}

HI_TEST_SCENARIO(lost, leaks_are_named_by_what_they_were)
{
	char *in = snapshot_directory();
	const char *before, *after;
	struct hi_command *c;
	json_t *rows;

	start_table();
	before = snap_to(in, "a.hisnap");
	order("unlink 50");
	after = snap_to(in, "b.hisnap");
	rows = was_between(before, after);
	HI_ASSERT_EQ(2, json_array_size(rows));
	check_row(rows, "struct entry", LOST, LOST * ENTRY);
	check_row(rows, "struct value", LOST, LOST * VALUE);
	c = hi_heapinspect("diff", before, after);
	HI_ASSERT_EQ(1, c->exit_code);
	HI_ASSERT_MSG(strstr(c->out, "was struct entry under server.db->buckets"), "%s",
		      c->out);
	/* Against the process itself. */
	c = hi_heapinspect("diff", before, "--pid", pid_text);
	HI_ASSERT_MSG(strstr(c->out, "was struct value under server.db->buckets"), "%s",
		      c->out);
	c = hi_heapinspect("diff", before, after, "--min-size", "1MiB");
	HI_ASSERT_MSG(strstr(c->out, "2 rows with 6.2 KiB hidden by --min-size"), "%s",
		      c->out);
	/* What had leaked by then was nothing else before. */
	HI_ASSERT_EQ(0, json_array_size(was_between(after, snap_to(in, "c.hisnap"))));
}

HI_TEST_SCENARIO(lost, what_was_freed_and_lives_again_is_not_lost)
{
	char *in = snapshot_directory();
	const char *before;

	start_table();
	before = snap_to(in, "a.hisnap");
	order("replace 20");
	HI_ASSERT_EQ(0, json_array_size(was_between(before, snap_to(in, "b.hisnap"))));
}

HI_TEST_SCENARIO(lost, of_two_processes_nothing_is_known)
{
	char *in = snapshot_directory();
	const char *before;

	start_table();
	before = snap_to(in, "a.hisnap");
	start_table();
	order("unlink 50");
	HI_ASSERT_EQ(0, json_array_size(was_between(before, snap_to(in, "b.hisnap"))));
}
