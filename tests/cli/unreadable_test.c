/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory that nobody can read may lead anywhere: without it no leak is certain. */
#include "tests/cli/summary.h"
#include "tests/support/fixture.h"
#include "tests/support/json.h"

enum { SIZE = 64 };

struct held {
	long long nodes;
	char node[24];
};

static void take_line(const char *line, void *arg)
{
	struct held *held = arg;

	if (sscanf(line, "nodes %lld", &held->nodes) != 1)
		(void)sscanf(line, "node %23s", held->node);
}

static struct hi_fixture *start_held(struct held *held, const char *more)
{
	struct hi_fixture *fx = hi_fixture_start("held_page", more, NULL);

	hi_fixture_read_until(fx, "ready", take_line, held);
	HI_ASSERT(held->nodes > 0 && held->node[0]);
	return fx;
}

static const char *pid_text(const struct hi_fixture *fx)
{
	static _Thread_local char text[16];

	snprintf(text, sizeof(text), "%d", (int)fx->pid);
	return text;
}

static void check_none_is_certain(const char *mode, const char *more)
{
	struct held held = {};
	struct hi_fixture *fx = start_held(&held, more);
	struct hi_command *c =
		hi_heapinspect("--json", "--pid", pid_text(fx), "--snapshot", mode, NULL);
	json_t *doc = json_loads(c->out, 0, NULL);

	HI_ASSERT_MSG(doc, "%s", c->err);
	hi_test_defer(free_json, doc);
	HI_ASSERT_EQ(0, doc_number(doc, "leaks.objects"));
	HI_ASSERT_EQ(0, doc_number(doc, "leaks.bytes"));
	HI_ASSERT(doc_number(doc, "leaks.likely_objects") >= held.nodes);
	HI_ASSERT(doc_number(doc, "leaks.likely_bytes") >= held.nodes * SIZE);
	c = hi_heapinspect("check", "--pid", pid_text(fx), "--snapshot", mode,
			   "--fail-on", "leak.bytes > 0", NULL);
	HI_ASSERT_MSG(c->exit_code == 0, "%s%s", c->out, c->err);
}

HI_TEST_SCENARIO(unreadable, what_a_held_page_leads_to_is_no_certain_leak)
{
	check_none_is_certain("copy", NULL);
}

HI_TEST_SCENARIO(unreadable, what_a_held_page_leads_to_is_no_certain_leak_in_a_fork)
{
	check_none_is_certain("fork", NULL);
}

/* Which of the leaks the page leads to, nobody knows. */
HI_TEST_SCENARIO(unreadable, a_held_page_makes_every_leak_likely)
{
	check_none_is_certain("copy", "leak");
}

/* The allocator counts a chunk that the walk does not find. */
HI_TEST_SCENARIO(unreadable, a_heap_with_a_missing_chunk_has_no_certain_leak)
{
	check_none_is_certain("copy", "mmapped");
}

HI_TEST_SCENARIO(unreadable, explain_says_why_it_is_only_likely)
{
	struct held held = {};
	struct hi_fixture *fx = start_held(&held, NULL);
	struct hi_command *c = hi_heapinspect("explain", held.node, "--pid", pid_text(fx),
					      "--width", "200", NULL);

	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	HI_ASSERT_MSG(strstr(c->out, "could not be read"), "%s", c->out);
}
