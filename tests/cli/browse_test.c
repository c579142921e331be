/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * heapinspect browse on a terminal of our own. After ^L the whole screen is written, so
 * that its texts can be awaited; what it has at each size is in
 * tests/report/browse_test.c.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/child.h"
#include "tests/support/command.h"
#include "tests/support/fixture.h"
#include "tests/support/snapshots.h"
#include "tests/support/temporary.h"
#include "tests/support/terminal_view.h"

#define PROGRAM HI_BINARY_DIR "/heapinspect"
#define CTRL_L "\f"
#define KEYS_80 "enter opens  left back  s C n sort  / search"
#define KEYS_120 "r referrers  p path  d tree  t types  ? help"
#define KEYS_40 "enter left s C n i r p d t ? help"

static char pid_text[16];

static struct hi_fixture *start_heap(void)
{
	struct hi_fixture *fx = hi_fixture_start("bench_heap", "3000", NULL);

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	snprintf(pid_text, sizeof(pid_text), "%d", (int)fx->pid);
	HI_ASSERT_EQ(0, setenv("LC_ALL", "C.UTF-8", 1));
	return fx;
}

static struct terminal_view *open_browser(unsigned columns)
{
	return terminal_view_open(columns, PROGRAM, "browse", "--pid", pid_text, NULL);
}

static void await_after(struct terminal_view *v, const char *key, const char *text)
{
	terminal_view_press(v, key);
	terminal_view_press(v, CTRL_L);
	terminal_view_await(v, text);
}

/* Also: its terminal is as it was. */
static int wait_status_of(struct terminal_view *v)
{
	int status = 0;

	(void)terminal_view_end(v);
	HI_ASSERT_EQ(v->pid, waitpid(v->pid, &status, 0));
	v->pid = 0;
	return status;
}

static void quit(struct terminal_view *v)
{
	int status;

	terminal_view_press(v, "q");
	status = wait_status_of(v);
	HI_ASSERT_MSG(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%x", status);
}

static void resize(struct terminal_view *v, unsigned columns, unsigned lines)
{
	struct winsize size = {.ws_row = (unsigned short)lines,
			       .ws_col = (unsigned short)columns};

	HI_ASSERT_EQ(0, ioctl(v->terminal, TIOCSWINSZ, &size));
}

static void browse_everything(struct terminal_view *v)
{
	terminal_view_await(v, KEYS_80);
	await_after(v, "j", "Dominator tree");
	await_after(v, "k", "+  root ");
	await_after(v, "\n", "Dominator tree: root");
	await_after(v, "i", "leads to");
	await_after(v, "q", "Dominator tree: root");
	await_after(v, "t", "+  struct item ");
	await_after(v, "l", "Objects of struct");
	await_after(v, "p", "by step");
	await_after(v, "h", "Objects of struct");
	await_after(v, "r", "Referrers of struct");
	await_after(v, "d", "+  table");
	await_after(v, "n", "by name");
	await_after(v, "?", "the row above, below");
	await_after(v, "q", KEYS_80);
	quit(v);
}

HI_TEST_SCENARIO(browse_command, keys_browse_a_process_that_runs_on)
{
	struct hi_fixture *fx = start_heap();

	browse_everything(open_browser(80));
	HI_ASSERT_EQ('S', hi_process_state(fx->pid));
	HI_ASSERT_EQ(0, hi_process_status(fx->pid, "TracerPid"));
}

HI_TEST_SCENARIO(browse_command, keys_browse_in_one_process)
{
	start_heap();
	browse_everything(terminal_view_open(80, PROGRAM, "browse", "--no-sandbox",
					     "--pid", pid_text, NULL));
}

HI_TEST_SCENARIO(browse_command, a_snapshot_file_is_browsed_the_same_way)
{
	const char *file = snapshot_path(temporary_directory(), "x.hisnap");
	struct hi_command *c;

	start_heap();
	c = hi_heapinspect("snap", "--pid", pid_text, "--with-contents", "-o", file);
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	browse_everything(terminal_view_open(80, PROGRAM, "browse", file, NULL));
}

HI_TEST_SCENARIO(browse_command, arrows_move_in_either_mode_of_the_terminal)
{
	struct terminal_view *v;

	start_heap();
	v = open_browser(80);
	terminal_view_await(v, KEYS_80);
	HI_ASSERT_EQ(3, write(v->terminal, "\033OB", 3));
	await_after(v, CTRL_L, "2/5, by bytes");
	HI_ASSERT_EQ(3, write(v->terminal, "\033[B", 3));
	await_after(v, CTRL_L, "3/5, by bytes");
	quit(v);
}

HI_TEST_SCENARIO(browse_command, a_resize_draws_again_down_to_the_smallest_size)
{
	struct terminal_view *v;

	start_heap();
	v = open_browser(120);
	terminal_view_await(v, KEYS_120);
	resize(v, 80, 24);
	terminal_view_await(v, KEYS_80);
	resize(v, 40, 10);
	terminal_view_await(v, KEYS_40);
	resize(v, 30, 5);
	terminal_view_await(v, "needs 40 columns, 10 lines");
	resize(v, 3, 1);
	resize(v, 120, 30);
	terminal_view_await(v, KEYS_120);
	quit(v);
}

/* ---- its end ---- */

HI_TEST_SCENARIO(browse_command, signals_restore_the_terminal)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGQUIT, SIGHUP};
	int status;

	start_heap();
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		struct terminal_view *v = open_browser(80);

		terminal_view_await(v, KEYS_80);
		kill(v->pid, numbers[i]);
		status = wait_status_of(v);
		HI_ASSERT_MSG(WIFSIGNALED(status) && WTERMSIG(status) == numbers[i],
			      "signal %d: %x", numbers[i], status);
	}
}

HI_TEST_SCENARIO(browse_command, control_c_restores_the_terminal)
{
	struct terminal_view *v;
	int status;

	start_heap();
	v = open_browser(80);
	terminal_view_await(v, KEYS_80);
	terminal_view_press(v, "\003");
	status = wait_status_of(v);
	HI_ASSERT_MSG(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT, "%x", status);
}

HI_TEST_SCENARIO(browse_command, a_decoder_that_dies_leaves_the_terminal_as_it_was)
{
#ifdef __SANITIZE_ADDRESS__ /* it catches the other one, and writes to the terminal */
	static const int numbers[] = {SIGKILL};
#else
	static const int numbers[] = {SIGKILL, SIGSEGV};
#endif
	int status;

	start_heap();
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		struct terminal_view *v = open_browser(80);

		terminal_view_await(v, KEYS_80);
		/* A decoder of root is nobody's process; of others it is theirs. */
		HI_ASSERT_EQ(0, kill(hi_child_first(v->pid), numbers[i]));
		status = wait_status_of(v);
		HI_ASSERT_MSG(strstr(v->text, "the decoder process was killed"), "%s",
			      v->text);
		HI_ASSERT_MSG(WIFEXITED(status) && WEXITSTATUS(status) == 2, "%x",
			      status);
	}
}

/* ---- where it cannot be ---- */

HI_TEST_SCENARIO(browse_command, without_a_terminal_it_names_retained)
{
	struct hi_command *c;

	start_heap();
	c = hi_heapinspect("browse", "--pid", pid_text);
	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT_MSG(strstr(c->err, "no terminal") &&
			      strstr(c->err, "heapinspect retained"),
		      "%s", c->err);
	HI_ASSERT_STREQ("", c->out);
}

static void check_refusal(struct terminal_view *v, const char *why)
{
	struct termios after;
	int status = 0;

	terminal_view_await(v, why);
	HI_ASSERT_EQ(v->pid, waitpid(v->pid, &status, 0));
	v->pid = 0;
	HI_ASSERT_MSG(WIFEXITED(status) && WEXITSTATUS(status) == 2, "%x", status);
	HI_ASSERT_EQ(0, tcgetattr(v->other, &after));
	HI_ASSERT_EQ(v->before.c_lflag, after.c_lflag);
}

HI_TEST_SCENARIO(browse_command, an_unknown_terminal_is_an_error)
{
	start_heap();
	check_refusal(terminal_view_open(80, "/usr/bin/env", "TERM=no-such-terminal",
					 PROGRAM, "browse", "--pid", pid_text, NULL),
		      "no-such-terminal");
	check_refusal(terminal_view_open(80, "/usr/bin/env", "TERM=dumb", PROGRAM,
					 "browse", "--pid", pid_text, NULL),
		      "no terminal");
	check_refusal(
		terminal_view_open(80, PROGRAM, "browse", "/no/such/file.hisnap", NULL),
		"/no/such/file.hisnap");
}

HI_TEST_SCENARIO(browse_command, options_of_reports_are_refused)
{
	static const char *const options[] = {"--json", "--top=3", "--all", "-ox"};

	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++) {
		struct hi_command *c = hi_heapinspect("browse", options[i], "--pid", "1");

		HI_ASSERT_EQ(2, c->exit_code);
		HI_ASSERT_MSG(!strstr(c->err, "no terminal"), "%s", c->err);
	}
	check_refusal(terminal_view_open(80, PROGRAM, "browse", "--", "/bin/true", NULL),
		      "not with -- PROGRAM");
}

/* ---- hostile names ---- */

static bool has_bytes(const struct terminal_view *v, const char *bytes)
{
	return memmem(v->text, v->used, bytes, strlen(bytes));
}

static void check_nothing_hostile(const struct terminal_view *v)
{
	static const char *const hostile[] = {"\033]0;owned", "\033[31m", "\a",
					      "\x9b",	      "\xff",	  "\xe2\x80\xae"};

	for (size_t i = 0; i < sizeof(hostile) / sizeof(*hostile); i++)
		HI_ASSERT_MSG(!has_bytes(v, hostile[i]), "%zu: %s", i, v->text);
}

HI_TEST_SCENARIO(browse_command, strings_of_a_process_do_not_reach_the_terminal)
{
	static const char *const keys[] = {"\n", "i", "q", "j", "i", "q", "t",
					   "\n", "i", "q", "r", "p", "d", "?"};
	struct hi_fixture *fx = hi_fixture_start("hostile_names", NULL);
	struct terminal_view *v;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	snprintf(pid_text, sizeof(pid_text), "%d", (int)fx->pid);
	HI_ASSERT_EQ(0, setenv("LC_ALL", "C.UTF-8", 1));
	v = open_browser(120);
	terminal_view_await(v, KEYS_120);
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		check_nothing_hostile(v);
		terminal_view_press(v, keys[i]);
		terminal_view_press(v, CTRL_L);
		terminal_view_await(v, "pid");
	}
	check_nothing_hostile(v);
	terminal_view_press(v, "q");
	quit(v);
}

/* ---- other users ---- */

HI_TEST_ROOT(browse_command, a_user_browses_their_own_process_and_file)
{
	char *dir = temporary_directory(), program[64], heap[64], file[64];
	struct hi_fixture *fx;

	if (geteuid() != 0)
		HI_SKIP("needs root to become another user");
	HI_ASSERT(chmod(dir, 01777) == 0);
	HI_ASSERT_EQ(0, hi_command_run(0, "cp", PROGRAM, HI_FIXTURE_DIR "/bench_heap",
				       dir, NULL)
				->exit_code);
	snprintf(program, sizeof(program), "%s/heapinspect", dir);
	snprintf(heap, sizeof(heap), "%s/bench_heap", dir);
	snprintf(file, sizeof(file), "%s/x.hisnap", dir);
	fx = hi_fixture_start("/usr/bin/setpriv", "--reuid=65534", "--regid=65534",
			      "--clear-groups", heap, "3000", NULL);
	hi_fixture_read_until(fx, "ready", NULL, NULL);
	snprintf(pid_text, sizeof(pid_text), "%d", (int)fx->pid);
	HI_ASSERT_EQ(0, setenv("LC_ALL", "C.UTF-8", 1));
	browse_everything(terminal_view_open(80, "/usr/bin/setpriv", "--reuid=65534",
					     "--regid=65534", "--clear-groups", program,
					     "browse", "--pid", pid_text, NULL));
	HI_ASSERT_EQ(0, hi_command_run(65534, program, "snap", "--pid", pid_text,
				       "--with-contents", "-o", file, NULL)
				->exit_code);
	browse_everything(terminal_view_open(80, "/usr/bin/setpriv", "--reuid=65534",
					     "--regid=65534", "--clear-groups", program,
					     "browse", file, NULL));
}
