/* SPDX-License-Identifier: BSD-2-Clause */
/* A series on a terminal, and for readers that go: of fixtures/leaky_service.c. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "report/formats/hp_reader.h"
#include "tests/cli/summary.h"
#include "tests/support/fixture.h"
#include "tests/support/snapshots.h"
#include "tests/support/terminal_view.h"

#define PROGRAM HI_BINARY_DIR "/heapinspect"

/* What it leaks, with the 8 bytes of each chunk: 300 requests of 48 bytes, 1000 jobs of
 * 16, 120 nodes of 24. */
enum { LEAKED = 300 * 64 + 1000 * 32 + 120 * 32, WAIT_MS = 60000 };

static char pid_text[16];

static void start_service(void)
{
	struct hi_fixture *fx = hi_fixture_start("leaky_service", "50", "50", NULL);

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	snprintf(pid_text, sizeof(pid_text), "%d", (int)fx->pid);
}

/* A live view on a terminal of our own. */
static struct terminal_view *open_view(void)
{
	return terminal_view_open(80, PROGRAM, "census", "--every", "100ms", "--pid",
				  pid_text, NULL);
}

HI_TEST_SCENARIO(series_view, keys_sort_pause_and_quit_and_the_last_table_stays)
{
	const char *stays;
	struct terminal_view *v;

	start_service();
	v = open_view();
	terminal_view_await(v, "(leaked)");
	terminal_view_await(v, "s sorts (by bytes)");
	terminal_view_press(v, "s");
	terminal_view_await(v, "s sorts (by objects)");
	terminal_view_press(v, "p");
	terminal_view_await(v, "p continues (paused)");
	terminal_view_press(v, "p");
	terminal_view_await(v, "p pauses");
	terminal_view_press(v, "q");
	stays = terminal_view_end(v);
	HI_ASSERT_MSG(strstr(stays, "struct session"), "%s", stays);
	HI_ASSERT_MSG(strstr(stays, "(leaked)"), "%s", stays);
	HI_ASSERT_MSG(strstr(stays, "heapinspect leaks --pid"), "%s", stays);
	HI_ASSERT_MSG(!strstr(stays, "\033[H"), "%s", stays);
}

HI_TEST_SCENARIO(series_view, signals_restore_the_terminal)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGQUIT, SIGHUP};

	start_service();
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		struct terminal_view *v = open_view();

		terminal_view_await(v, "p pauses");
		kill(v->pid, numbers[i]);
		HI_ASSERT_MSG(strstr(terminal_view_end(v), "Next:"), "signal %d",
			      numbers[i]);
	}
}

HI_TEST_SCENARIO(series_view, a_reader_that_goes_is_no_error)
{
	static const char *const commands[] = {
		"census --every 50ms --json", "census --every 50ms", "leaks --json --all",
		"query 'SELECT * FROM objects' --all --format csv", "census --help"};
	char line[512];

	start_service();
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		struct hi_command *c;

		snprintf(line, sizeof(line),
			 "{ %s %s -q --pid %s; echo status $? >&2; } | head -n 1",
			 PROGRAM, commands[i], pid_text);
		c = hi_command_run(0, "sh", "-c", line, NULL);
		HI_ASSERT_MSG(!strcmp(c->err, "status 141\n") ||
				      !strcmp(c->err, "status 0\n"),
			      "%s: %s", commands[i], c->err);
	}
}

static uint64_t value_of_band(const struct hi_hp_series *hp, size_t sample,
			      const char *band)
{
	for (size_t k = hp->starts[sample]; k < hp->starts[sample + 1]; k++)
		if (!strcmp(hp->bands[hp->points[k].band], band))
			return hp->points[k].value;
	return 0;
}

HI_TEST_SCENARIO(series_view, leaks_are_a_band_and_the_restriction_is_in_the_head)
{
	const char *file = snapshot_path(snapshot_directory(), "x.hp");
	struct hi_hp_series *hp;
	struct hi_error err;
	struct hi_command *c;

	start_service();
	c = hi_heapinspect("census", "--every", "100ms", "--for", "50ms", "--hp", file,
			   "--under", "pages", "--root", "pages=page_cache", "--pid",
			   pid_text);
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	HI_ASSERT_MSG(!strncmp(c->out, "Only what is under pages\n", 25), "%s", c->out);
	HI_ASSERT_OK(hi_hp_read(file, &hp, &err), &err);
	HI_ASSERT_EQ(LEAKED, value_of_band(hp, 0, "(leaked)"));
	HI_ASSERT_MSG(strstr(hp->job, "under pages"), "%s", hp->job);
	hi_hp_series_destroy(hp);
}

HI_TEST_SCENARIO(series_view, leaks_of_a_file_are_a_band_of_its_profile_and_picture)
{
	char *in = snapshot_directory();
	const char *file = snapshot_path(in, "x.hisnap"),
		   *path = snapshot_path(in, "x.hp");
	struct hi_hp_series *hp;
	struct hi_error err;
	struct hi_command *c;

	start_service();
	c = hi_heapinspect("snap", "-q", "--every", "100ms", "--for", "50ms", "-o", file,
			   "--pid", pid_text);
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	c = hi_heapinspect("export", file, "-f", "hp", "-o", path);
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	HI_ASSERT_OK(hi_hp_read(path, &hp, &err), &err);
	HI_ASSERT_EQ(LEAKED, value_of_band(hp, 0, "(leaked)"));
	hi_hp_series_destroy(hp);
	c = hi_heapinspect("graph", file);
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	HI_ASSERT_MSG(strstr(c->out, ">(leaked)<"), "%s", c->out);
}

HI_TEST_SCENARIO(series_view, the_axis_is_the_clock_on_the_wall)
{
	struct hi_command *c;

	start_service();
	c = hi_heapinspect("census", "--every", "100ms", "--for", "50ms", "--json",
			   "--pid", pid_text);
	HI_ASSERT_MSG(strstr(c->out, "\"axis\": \"wall\""), "%s", c->out);
}

HI_TEST_SCENARIO(series_view, retainers_wait_for_their_type)
{
	struct hi_command *c;

	start_service();
	c = hi_heapinspect("retainers", "--retainer", "struct session_table", "--every",
			   "100ms", "--for", "50ms", "--pid", pid_text);
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	HI_ASSERT_MSG(strstr(c->err, "waits for one"), "%s", c->err);
	c = hi_heapinspect("retainers", "--retainer", "struct session_table", "--pid",
			   pid_text);
	HI_ASSERT_EQ(2, c->exit_code);
	/* The name of no type is a mistake. */
	c = hi_heapinspect("retainers", "--retainer", "struct sesion", "--every", "100ms",
			   "--for", "50ms", "--pid", pid_text);
	HI_ASSERT_EQ(2, c->exit_code);
}
