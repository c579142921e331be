/* SPDX-License-Identifier: BSD-2-Clause */
/* `deep FILE flame` of a recorded process: fixtures/deep_stacks.c has the stacks of the
 * worked example of SPEC section 5, whose figures are the truth; and its page. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "tests/cli/deep_answers.h"
#include "tests/harness.h"
#include "tests/support/fixture.h"
#include "tests/support/recording_run.h"
#include "tests/support/snapshots.h"
#include "tests/support/workshop.h"

static char flame_file[256];

static void record_flame(void)
{
	struct hi_fixture *fx = hi_fixture_start("deep_stacks", NULL);
	struct recording_run run;
	struct hi_command *c;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	snprintf(flame_file, sizeof(flame_file), "%s/flame.hirec", workshop_open());
	run = recording_start(fx->pid, "-o", flame_file, NULL);
	hi_fixture_tell(fx, "go");
	hi_fixture_read_until(fx, "done", NULL, NULL);
	c = recording_end(&run, SIGINT);
	HI_ASSERT_MSG(c->exit_code == 0, "exit %d: %s", c->exit_code, c->err);
}

static json_t *ask_flame_rows(const char *query)
{
	return doc_at(deep_answer(flame_file, query), "tables.0.rows");
}

struct context {
	const char *name, *inside; /* inside: of this function; NULL: anything */
	long long total, own;
};

/* The row before it that is one less deep is what calls it. */
static bool is_context(json_t *rows, size_t at, const struct context *wanted)
{
	json_t *row = doc_at(rows, "%zu", at);
	long long depth = doc_number(row, "depth");

	if (strcmp(doc_text(row, "function"), wanted->name) != 0)
		return false;
	while (wanted->inside && at > 0) {
		json_t *up = doc_at(rows, "%zu", --at);

		if (doc_number(up, "depth") == depth - 1)
			return strcmp(doc_text(up, "function"), wanted->inside) == 0;
	}
	return !wanted->inside;
}

HI_TEST_ROOT(deep_flame_command, contexts_have_the_figures_of_the_worked_example)
{
	static const struct context wanted[] = {
		{"(all)", NULL, 757, 0},
		{"work", "allocate_all", 757, 7},
		{"load", "work", 530, 500},
		{"parse", "load", 30, 30},
		{"parse and 1 more (recursive)", "work", 220, 220}};
	json_t *rows;

	record_flame();
	rows = ask_flame_rows("flame/live_bytes");
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		size_t at = 0;
		json_t *row;

		while (at < json_array_size(rows) && !is_context(rows, at, &wanted[i]))
			at++;
		HI_ASSERT_MSG(at < json_array_size(rows), "%s", wanted[i].name);
		row = doc_at(rows, "%zu", at);
		HI_ASSERT_EQ(wanted[i].total, doc_number(row, "total"));
		HI_ASSERT_EQ(wanted[i].own, doc_number(row, "own"));
	}
}
