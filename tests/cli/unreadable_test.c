/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory that nobody can read may lead anywhere: without it no leak is certain. */
#include <stdio.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/json.h"
#include "tests/support/targets.h"

enum { SIZE = 64 };

/* As many may be leaked as are likely: a gate on certain ones neither holds nor fails. */
static void check_gate_is_unknown(const struct target *t, const char *mode)
{
	char pid[16];
	struct hi_command *c;

	snprintf(pid, sizeof(pid), "%d", t->fx->pid);
	c = hi_heapinspect("check", "--snapshot", mode, "--fail-on", "leak.bytes > 0",
			   "--pid", pid);
	HI_ASSERT_EQ(1, c->exit_code);
	HI_ASSERT_MSG(strstr(c->out, "unknown"), "%s", c->out);
}

static void check_none_is_certain(const struct target *t, const char *mode)
{
	json_t *doc = target_ask(t, "--snapshot", mode);
	long long nodes = target_number(t, "nodes");

	HI_ASSERT(nodes > 0);
	HI_ASSERT_EQ(0, doc_number(doc, "leaks.objects"));
	HI_ASSERT_EQ(0, doc_number(doc, "leaks.bytes"));
	HI_ASSERT(doc_number(doc, "leaks.likely_objects") >= nodes);
	HI_ASSERT(doc_number(doc, "leaks.likely_bytes") >= nodes * SIZE);
	check_gate_is_unknown(t, mode);
}

HI_TEST_SCENARIO(unreadable, objects_behind_an_unreadable_page_are_no_certain_leaks)
{
	struct target *t = target_start("held_page", NULL);
	struct hi_command *c;

	check_none_is_certain(t, "copy");
	check_none_is_certain(t, "fork");
	c = target_run(t, "explain", target_said(t, "node"), "--width", "200");
	HI_ASSERT_MSG(strstr(c->out, "could not be read"), "%s", c->out);
}

/* Which of the leaks the page leads to, nobody knows. */
HI_TEST_SCENARIO(unreadable, a_held_page_makes_every_leak_likely)
{
	check_none_is_certain(target_start("held_page", "leak", NULL), "copy");
}

/* The allocator counts a chunk that the walk does not find. */
HI_TEST_SCENARIO(unreadable, a_heap_with_a_missing_chunk_has_no_certain_leak)
{
	check_none_is_certain(target_start("held_page", "mmapped", NULL), "copy");
}
