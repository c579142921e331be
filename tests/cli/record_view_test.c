/* SPDX-License-Identifier: BSD-2-Clause */
/* A recording on a terminal: of fixtures/recorded_sites.c. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/fixture.h"
#include "tests/support/recorded_sites.h"
#include "tests/support/terminal_view.h"
#include "tests/support/workshop.h"

static const char program[] = HI_BINARY_DIR "/heapinspect";

HI_TEST_ROOT(record_view, names_sites_takes_keys_and_leaves_table_and_report)
{
	char pid_text[16];
	struct hi_fixture *fx = sites_start();
	struct terminal_view *v;
	const char *stays, *report;

	snprintf(pid_text, sizeof(pid_text), "%d", (int)fx->pid);
	v = terminal_view_open(80, program, "record", "--sample", "all", "--pid",
			       pid_text, NULL);
	terminal_view_await(v, "p pauses");
	sites_tell(fx, "go");
	/* Its name and its line, while it runs. */
	terminal_view_await(v, "make_node");
	terminal_view_await(v, "recorded_sites.c:39");
	terminal_view_press(v, "s");
	terminal_view_await(v, "s sorts (by growth)");
	terminal_view_press(v, "p");
	terminal_view_await(v, "p continues (paused)");
	terminal_view_press(v, "p");
	terminal_view_await(v, "p pauses");
	terminal_view_press(v, "q");
	stays = terminal_view_end(v);
	HI_ASSERT_MSG(!strstr(stays, "\033[H"), "%s", stays);
	HI_ASSERT_MSG(strstr(stays, "recorded_sites.c:39"), "%s", stays);
	report = strstr(stays, "Live bytes by the function");
	HI_ASSERT_MSG(report && strstr(report, "Next:"), "%s", stays);
}

HI_TEST_ROOT(record_view, censuses_are_notes_of_the_view_and_q_takes_the_last)
{
	char pid_text[16], file[256];
	struct hi_fixture *fx = sites_start();
	struct terminal_view *v;
	const char *stays;

	snprintf(pid_text, sizeof(pid_text), "%d", (int)fx->pid);
	snprintf(file, sizeof(file), "%s/app.hirec", workshop_open());
	v = terminal_view_open(80, program, "record", "--sample", "all", "--every", "1h",
			       "-o", file, "--pid", pid_text, NULL);
	terminal_view_await(v, "census 1, 0 s");
	sites_tell(fx, "go");
	terminal_view_await(v, "make_node");
	terminal_view_press(v, "q");
	stays = terminal_view_end(v);
	HI_ASSERT_MSG(strstr(stays, "census 2 of 2"), "%s", stays);
	HI_ASSERT_MSG(strstr(strstr(stays, "Live bytes by the function"), "make_node"),
		      "%s", stays);
}

HI_TEST_ROOT(record_view, signals_restore_the_terminal)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGQUIT, SIGHUP};
	char pid_text[16];

	snprintf(pid_text, sizeof(pid_text), "%d", (int)sites_start()->pid);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		struct terminal_view *v =
			terminal_view_open(80, program, "record", "--sample", "all",
					   "--pid", pid_text, NULL);

		terminal_view_await(v, "p pauses");
		kill(v->pid, numbers[i]);
		HI_ASSERT_MSG(strstr(terminal_view_end(v), "Live bytes by"), "signal %d",
			      numbers[i]);
	}
}

/* Rates with their ranges, and the same keys. */
HI_TEST_ROOT_ALONE(record_view, windows_have_rates)
{
	struct hi_fixture *fx = hi_fixture_start("counted_sites", NULL);
	char pid_text[16];
	struct terminal_view *v;
	const char *stays;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	snprintf(pid_text, sizeof(pid_text), "%d", (int)fx->pid);
	v = terminal_view_open(80, program, "record", "--sample", "windows", "--pid",
			       pid_text, NULL);
	terminal_view_await(v, "p pauses");
	terminal_view_await(v, "~allocs/s");
	terminal_view_await(v, "make_kept");
	terminal_view_await(v, " to ");
	terminal_view_press(v, "s");
	terminal_view_await(v, "s sorts (by bytes)");
	terminal_view_press(v, "p");
	terminal_view_await(v, "p continues (paused)");
	terminal_view_press(v, "q");
	stays = terminal_view_end(v);
	HI_ASSERT_MSG(!strstr(stays, "\033[H"), "%s", stays);
	HI_ASSERT_MSG(strstr(stays, "~allocs/s"), "%s", stays);
	HI_ASSERT_MSG(strstr(stays, "How often functions allocate"), "%s", stays);
}
