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

#include "report/heap_profile/hp_reader.h"
#include "tests/harness.h"
#include "tests/support/snapshots.h"
#include "tests/support/targets.h"
#include "tests/support/terminal_view.h"

#define PROGRAM HI_BINARY_DIR "/heapinspect"

/* What it leaks, with the 8 bytes of each chunk: 300 requests of 48 bytes, 1000 jobs of
 * 16, 120 nodes of 24. */
enum { LEAKED = 300 * 64 + 1000 * 32 + 120 * 32, WAIT_MS = 300000 };

/* A live view on a terminal of our own. */
static struct terminal_view *open_view(const struct target *t)
{
	return terminal_view_open(80, PROGRAM, "census", "--every", "100ms", "--pid",
				  t->pid, NULL);
}

static void
check_keys_sort_pause_and_quit_and_the_last_table_stays(const struct target *t)
{
	const char *stays;
	struct terminal_view *v;

	v = open_view(t);
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

static void check_signals_restore_the_terminal(const struct target *t)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGQUIT, SIGHUP};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		struct terminal_view *v = open_view(t);

		terminal_view_await(v, "p pauses");
		kill(v->pid, numbers[i]);
		HI_ASSERT_MSG(strstr(terminal_view_end(v), "Next:"), "signal %d",
			      numbers[i]);
	}
}

static void check_a_reader_that_goes_is_no_error(const struct target *t)
{
	static const char *const commands[] = {
		"census --every 50ms --json", "census --every 50ms", "leaks --json --all",
		"query 'SELECT * FROM objects' --all --format csv", "census --help"};
	char line[512];

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		struct hi_command *c;

		snprintf(line, sizeof(line),
			 "{ %s %s -q --pid %s; echo status $? >&2; } | head -n 1",
			 PROGRAM, commands[i], t->pid);
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

static void
check_leaks_are_a_band_and_the_restriction_is_in_the_head(const struct target *t)
{
	const char *file = snapshot_path(snapshot_directory(), "x.hp");
	struct hi_hp_series *hp;
	struct hi_error err;
	struct hi_command *c;

	c = target_run(t, "census", "--every", "100ms", "--for", "50ms", "--hp", file,
		       "--under", "pages", "--root", "pages=page_cache");
	HI_ASSERT_MSG(!strncmp(c->out, "Only what is under pages\n", 25), "%s", c->out);
	HI_ASSERT_OK(hi_hp_read(file, &hp, &err), &err);
	HI_ASSERT_EQ(LEAKED, value_of_band(hp, 0, "(leaked)"));
	HI_ASSERT_MSG(strstr(hp->job, "under pages"), "%s", hp->job);
	hi_hp_series_destroy(hp);
}

static void
check_leaks_of_a_file_are_a_band_of_its_profile_and_picture(const struct target *t)
{
	char *in = snapshot_directory();
	const char *file = snapshot_path(in, "x.hisnap"),
		   *path = snapshot_path(in, "x.hp");
	struct hi_hp_series *hp;
	struct hi_error err;
	struct hi_command *c;

	target_run(t, "snap", "-q", "--every", "100ms", "--for", "50ms", "-o", file);
	c = hi_heapinspect("export", file, "-f", "hp", "-o", path);
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	HI_ASSERT_OK(hi_hp_read(path, &hp, &err), &err);
	HI_ASSERT_EQ(LEAKED, value_of_band(hp, 0, "(leaked)"));
	hi_hp_series_destroy(hp);
	c = hi_heapinspect("graph", file);
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	HI_ASSERT_MSG(strstr(c->out, ">(leaked)<"), "%s", c->out);
}

static void check_the_axis_is_the_clock_on_the_wall(const struct target *t)
{
	struct hi_command *c =
		target_run(t, "census", "--every", "100ms", "--for", "50ms", "--json");

	HI_ASSERT_MSG(strstr(c->out, "\"axis\": \"wall\""), "%s", c->out);
}

static void check_retainers_wait_for_their_type(const struct target *t)
{
	struct hi_command *c =
		target_run(t, "retainers", "--retainer", "struct session_table",
			   "--every", "100ms", "--for", "50ms");

	HI_ASSERT_MSG(strstr(c->err, "waits for one"), "%s", c->err);
	c = hi_heapinspect("retainers", "--retainer", "struct session_table", "--pid",
			   t->pid);
	HI_ASSERT_EQ(2, c->exit_code);
	/* The name of no type is a mistake. */
	c = hi_heapinspect("retainers", "--retainer", "struct sesion", "--every", "100ms",
			   "--for", "50ms", "--pid", t->pid);
	HI_ASSERT_EQ(2, c->exit_code);
}

HI_TEST_SCENARIO(series_view, output_on_a_terminal)
{
	struct target *t = target_start("leaky_service", "50", "50", NULL);

	check_keys_sort_pause_and_quit_and_the_last_table_stays(t);
	check_signals_restore_the_terminal(t);
}

HI_TEST_SCENARIO(series_view, output_for_readers_and_files)
{
	struct target *t = target_start("leaky_service", "50", "50", NULL);

	check_a_reader_that_goes_is_no_error(t);
	check_leaks_are_a_band_and_the_restriction_is_in_the_head(t);
	check_leaks_of_a_file_are_a_band_of_its_profile_and_picture(t);
	check_the_axis_is_the_clock_on_the_wall(t);
	check_retainers_wait_for_their_type(t);
}
