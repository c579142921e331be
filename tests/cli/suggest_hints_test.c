/* SPDX-License-Identifier: BSD-2-Clause */
/* `census --suggest-hints`, on fixtures/tagged_unions.c. */
#include <string.h>

#include "tests/harness.h"
#include "tests/support/json.h"
#include "tests/support/snapshots.h"
#include "tests/support/targets.h"

enum { OF_EACH = 30, NODES_OF_EACH = 15 };

static void check_a_tagged_union_gets_its_types(const struct target *t)
{
	const char *file = snapshot_path(snapshot_directory(), "x.hints");
	json_t *rows = doc_at(target_ask(t, "census", "--all"), "rows"), *doc;

	HI_ASSERT_EQ(0, doc_sum_of(rows, "type", "struct list", "count"));
	target_run(t, "census", "--suggest-hints", "-o", file);
	doc = target_ask(t, "census", "--all", "--hints", file);
	rows = doc_at(doc, "rows");
	HI_ASSERT_EQ(OF_EACH, doc_sum_of(rows, "type", "struct list", "count"));
	HI_ASSERT_EQ(OF_EACH, doc_sum_of(rows, "type", "string", "count"));
	HI_ASSERT_EQ(0, doc_size(doc, "snapshot.warnings"));
}

static void check_line(const char *text, const char *line)
{
	HI_ASSERT_MSG(strstr(text, line), "no \"%s\" in:\n%s", line, text);
}

static void
check_what_fits_is_counted_and_what_does_not_is_left_out(const struct target *t)
{
	struct hi_command *c = target_run(t, "census", "--suggest-hints");

	check_line(c->out, "  as.string switch kind {\n");
	check_line(c->out, "    VALUE_NUMBER: scalar; # 30 fit, 0 do not\n");
	check_line(c->out, "    VALUE_STR: blob string; # 30 fit, 0 do not\n");
	check_line(c->out, "    VALUE_LIST: list; # 30 fit, 0 do not\n");
	check_line(c->out, "    VALUE_BLOB: any; # 30 fit, 0 do not\n");
	check_line(c->out, "    # VALUE_OTHER: no member of one word has such a name\n");
	/* Their sizes are those of the other. */
	check_line(c->out, "    # NODE_LEAF: pair; # 0 fit, 15 do not\n");
	check_line(c->out, "    # NODE_PAIR: leaf; # 0 fit, 15 do not\n");
	check_line(c->out, "\n# record node {\n");
	HI_ASSERT_MSG(!strstr(c->out, "record plain {\n"), "%s", c->out);
	/* The page has them too. */
	c = target_run(t, "census", "--untyped");
	check_line(c->out, "VALUE_LIST: list; # 30 fit, 0 do not");
}

static void check_a_file_has_not_what_they_need(const struct target *t)
{
	struct hi_command *c =
		hi_heapinspect("census", "--suggest-hints", target_snap(t));

	HI_ASSERT_EQ(2, c->exit_code);
	check_line(c->err, "--suggest-hints: not with a snapshot file");
	c = hi_heapinspect("census", "--suggest-hints", "--json", "--pid", t->pid);
	HI_ASSERT_EQ(2, c->exit_code);
	check_line(c->err, "--suggest-hints: not with --json");
}

HI_TEST_SCENARIO(suggest_hints, tagged_unions_get_hints)
{
	struct target *t = target_start("tagged_unions", NULL);

	check_a_tagged_union_gets_its_types(t);
	check_what_fits_is_counted_and_what_does_not_is_left_out(t);
	check_a_file_has_not_what_they_need(t);
}
