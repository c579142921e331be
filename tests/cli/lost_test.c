/* SPDX-License-Identifier: BSD-2-Clause */
/* `diff` names leaks by what they were: fixtures/lost_nodes.c. */
#include <string.h>

#include "tests/harness.h"
#include "tests/support/json.h"
#include "tests/support/stopping.h"
#include "tests/support/targets.h"

/* Chunks of struct entry and struct value: 56 bytes, and 8 for the size. */
enum { LOST = 50, ENTRY = 64, VALUE = 64 };

static const char *snap_after(const struct target *t, const char *command)
{
	hi_fixture_tell(t->fx, command);
	hi_test_expect_line(t->fx, "done");
	return target_snap(t);
}

static json_t *was_between(const char *a, const char *b)
{
	return doc_at(doc_parse(hi_heapinspect("diff", "--json", a, b)->out), "was");
}

static void check_row(json_t *rows, const char *type, long long objects, long long bytes)
{
	json_t *row = doc_row(rows, "type", type);

	HI_ASSERT_STREQ("server.db->buckets", doc_text(row, "under"));
	HI_ASSERT_EQ(objects, doc_number(row, "objects"));
	HI_ASSERT_EQ(bytes, doc_number(row, "bytes"));
}

static void check_says(const struct hi_command *c, const char *text)
{
	HI_ASSERT_MSG(strstr(c->out, text), "%s", c->out);
}

static void check_what_was_freed_and_lives_again_is_not_lost(const struct target *t,
							     const char *before)
{
	HI_ASSERT_EQ(0,
		     json_array_size(was_between(before, snap_after(t, "replace 20"))));
}

static void check_of_two_processes_nothing_is_known(const char *before, const char *after)
{
	HI_ASSERT_EQ(0, json_array_size(was_between(before, after)));
}

HI_TEST_SCENARIO(lost, leaks_have_the_names_of_their_former_owners)
{
	struct target *t = target_start("lost_nodes", NULL);
	struct target *other = target_start("lost_nodes", NULL);
	const char *before = target_snap(t), *after;
	struct hi_command *c;
	json_t *rows;

	check_what_was_freed_and_lives_again_is_not_lost(t, before);
	before = target_snap(t);
	after = snap_after(t, "unlink 50");
	rows = was_between(before, after);
	HI_ASSERT_EQ(2, json_array_size(rows));
	check_row(rows, "struct entry", LOST, LOST * ENTRY);
	check_row(rows, "struct value", LOST, LOST * VALUE);
	c = hi_heapinspect("diff", before, after);
	HI_ASSERT_EQ(1, c->exit_code);
	check_says(c, "was struct entry under server.db->buckets");
	/* Against the process itself. */
	check_says(hi_heapinspect("diff", before, "--pid", t->pid),
		   "was struct value under server.db->buckets");
	check_says(hi_heapinspect("diff", before, after, "--min-size", "1MiB"),
		   "2 rows with 6.2 KiB hidden by --min-size");
	check_of_two_processes_nothing_is_known(target_snap(other), after);
	/* What had leaked by then was nothing else before. */
	HI_ASSERT_EQ(0, json_array_size(was_between(after, target_snap(t))));
}
