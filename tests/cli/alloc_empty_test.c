/* SPDX-License-Identifier: BSD-2-Clause */
/* `alloc` of recordings in which nothing happens, and of files without one. */
#include <stdio.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/json.h"
#include "tests/support/lived.h"
#include "tests/support/spaced.h"

/* Options that choose, where there is nothing to choose from. */
static const char *const choices[][2] = {
	{"--all", NULL},  {"--select", "parse"},   {"--centre", "serve"},
	{"--by", "mark"}, {"--callers", NULL},	   {"--manner", "parse=space"},
	{"--bars", NULL}, {"--format", "mlworks"}, {"--min-size", "1MB"}};

HI_TEST_ROOT(alloc_empty, a_file_in_which_nothing_was_allocated_has_a_report)
{
	struct hi_fixture *fx = spaced_start();
	const char *file = spaced_file();
	struct recording_run run = recording_start(fx->pid, "-o", file, NULL);
	json_t *doc;

	spaced_end(&run);
	for (size_t i = 0; i < sizeof(choices) / sizeof(*choices); i++) {
		struct hi_command *c =
			hi_heapinspect("alloc", file, choices[i][0], choices[i][1]);

		HI_ASSERT_MSG(c->exit_code == 0, "%s: %s", choices[i][0], c->err);
		HI_ASSERT_MSG(strstr(c->out, i == 7 ? "total profiled"
						    : "nothing was allocated") != NULL,
			      "%s: %s", choices[i][0], c->out);
		HI_ASSERT_STREQ("", c->err);
	}
	doc = spaced_read(file, NULL);
	spaced_check((struct spaced){}, spaced_amount(spaced_total(doc), "alloc"));
	HI_ASSERT_EQ(0, doc_size(doc, "functions"));
}

HI_TEST_ROOT(alloc_empty, a_process_that_allocates_nothing_has_a_report)
{
	struct lived *l =
		lived_start_alloc(spaced_start(), LIVED("--json", "--centre", "serve",
							"--manner", "serve=calls,space"));
	json_t *doc;

	lived_period(l, LIVED());
	lived_end_alloc(l);
	doc = spaced_document(l->command);
	HI_ASSERT_EQ(2, doc_size(doc, "censuses"));
	spaced_check((struct spaced){}, spaced_amount(spaced_total(doc), "alloc"));
	HI_ASSERT_EQ(1, doc_size(doc, "counted"));
}

/* What a recording has cannot be chosen from without one. */
HI_TEST_ROOT(alloc_empty, files_without_a_recording_are_refused)
{
	struct hi_fixture *fx = spaced_start();
	char pid[16], file[300];
	struct hi_command *c;

	snprintf(pid, sizeof(pid), "%d", (int)fx->pid);
	snprintf(file, sizeof(file), "%s.hisnap", spaced_file());
	HI_ASSERT_EQ(0, hi_heapinspect("snap", "--pid", pid, "-o", file)->exit_code);
	for (size_t i = 0; i < sizeof(choices) / sizeof(*choices); i++) {
		c = hi_heapinspect("alloc", file, choices[i][0], choices[i][1]);
		HI_ASSERT_EQ(2, c->exit_code);
		HI_ASSERT_MSG(strstr(c->err, "has no recording of allocations") != NULL,
			      "%s: %s", choices[i][0], c->err);
		HI_ASSERT_STREQ("", c->out);
	}
	c = hi_heapinspect("alloc", file, "--from-mark", "a", "--to-mark", "b");
	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT_MSG(strstr(c->err, "has no recording of allocations") != NULL, "%s",
		      c->err);
	c = hi_heapinspect("census", file, "--centre", "f");
	HI_ASSERT_EQ(2, c->exit_code);
}
