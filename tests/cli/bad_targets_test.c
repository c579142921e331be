/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Targets that cannot or must not be inspected, and targets that go away: one
 * clear line, the exit code of the documentation, and the target runs on.
 */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/child.h"
#include "tests/support/command.h"
#include "tests/support/fixture.h"
#include "tests/support/stopping.h"

static struct hi_command *inspect(pid_t pid)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", (int)pid);
	return hi_heapinspect("--pid", text);
}

static void check_refused(struct hi_command *c, int exit_code, const char *word)
{
	HI_ASSERT_MSG(c->exit_code == exit_code, "exit %d: %s", c->exit_code, c->err);
	HI_ASSERT_MSG(strstr(c->err, word), "no \"%s\" in: %s", word, c->err);
	HI_ASSERT_MSG(strchr(c->err, '\n') == c->err + strlen(c->err) - 1,
		      "not one line: %s", c->err);
	HI_ASSERT_EQ(0, c->out_size);
}

static pid_t forked(void)
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	HI_ASSERT(pid >= 0);
	if (pid == 0)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	else
		hi_child_kill_after(pid);
	return pid;
}

HI_TEST_SCENARIO(bad_target, no_such_process)
{
	check_refused(inspect(4194303), 3, "no process 4194303");
}

HI_TEST_SCENARIO(bad_target, a_zombie)
{
	pid_t pid = forked();

	if (pid == 0)
		_exit(0);
	while (hi_process_state(pid) != 'Z')
		usleep(1000);
	check_refused(inspect(pid), 3, "zombie");
}

HI_TEST_SCENARIO(bad_target, a_kernel_thread)
{
	if (hi_process_state(2) == 0 || hi_process_status(2, "VmRSS") >= 0)
		HI_SKIP("no kernel thread is visible here");
	check_refused(inspect(2), 3, "kernel thread");
}

HI_TEST_SCENARIO(bad_target, already_traced)
{
	pid_t pid = forked();

	if (pid == 0) {
		for (;;)
			pause();
	}
	HI_ASSERT(ptrace(PTRACE_SEIZE, pid, 0, 0) == 0);
	check_refused(inspect(pid), 3, "traced");
	HI_ASSERT(kill(pid, 0) == 0);
}

/* The smallest 32-bit program: pause() for ever. */
HI_TEST_SCENARIO(bad_target, a_32_bit_program)
{
	static const unsigned char program[] = {
		0x7f, 'E', 'L', 'F', 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 3, 0, 1, 0,
		0, 0, 0x54, 0x80, 0x04, 0x08, 52, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 52, 0,
		32, 0, 1, 0, 0, 0, 0, 0, 0, 0,
		/* PT_LOAD, R+X, the whole file at 0x08048000 */
		1, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 4, 8, 0, 0x80, 4, 8, 0x60, 0, 0, 0, 0x60,
		0, 0, 0, 5, 0, 0, 0, 0, 0x10, 0, 0,
		/* mov $29,%eax (pause); int $0x80; jmp back */
		0xb8, 29, 0, 0, 0, 0xcd, 0x80, 0xeb, 0xf7, 0, 0, 0};
	char path[] = "/tmp/heapinspect-elf32-XXXXXX";
	int fd = mkstemp(path);
	pid_t pid;

	HI_ASSERT(fd >= 0 && write(fd, program, sizeof(program)) == sizeof(program));
	fchmod(fd, 0755);
	close(fd);
	pid = forked();
	if (pid == 0) {
		execl(path, path, NULL);
		_exit(1);
	}
	for (int i = 0; i < 1000 && !strchr("SZ", hi_process_state(pid)); i++)
		usleep(10000);
	unlink(path);
	if (hi_process_state(pid) != 'S')
		HI_SKIP("this kernel does not run 32-bit programs");
	check_refused(inspect(pid), 3, "32-bit");
	hi_test_expect_free(pid, "S");
}

HI_TEST_SCENARIO(bad_target, killed_at_any_moment_gives_a_clear_word)
{
	for (int i = 0; i < 40; i++) {
		struct hi_fixture *fx =
			hi_fixture_start("leaky_service", "20000", "5000", NULL);
		struct hi_command *c;
		pid_t killer;

		hi_fixture_read_until(fx, "ready", NULL, NULL);
		fflush(NULL);
		killer = fork();
		if (killer == 0) {
			usleep((useconds_t)(i * 1500));
			kill(fx->pid, SIGKILL);
			_exit(0);
		}
		c = inspect(fx->pid);
		waitpid(killer, NULL, 0);
		HI_ASSERT_MSG(c->exit_code == 0 || c->exit_code == 3, "exit %d: %s",
			      c->exit_code, c->err);
		HI_ASSERT(c->exit_code == 0 || c->out_size == 0);
		hi_fixture_end(fx);
	}
}

HI_TEST_SCENARIO(bad_target, a_static_program_without_glibc_malloc_shows_what_is_known)
{
	struct hi_command *c;
	pid_t pid = forked();

	if (pid == 0) {
		/* A shell has glibc malloc; the smallest thing without one is a
		 * process whose only code is its own. */
		execl(HI_FIXTURE_DIR "/no_malloc", "no_malloc", NULL);
		_exit(1);
	}
	hi_fixture_await_program(pid, "no_malloc");
	c = inspect(pid);
	HI_ASSERT_MSG(c->exit_code == 0, "exit %d: %s", c->exit_code, c->err);
	HI_ASSERT_MSG(strstr(c->out, "no heap") || strstr(c->out, "no known allocator"),
		      "%s", c->out);
	HI_ASSERT(hi_process_state(pid) != 0);
}

HI_TEST_SCENARIO(bad_target,
		 overwritten_heap_metadata_is_reported_and_the_rest_still_shown)
{
	struct hi_fixture *fx = hi_fixture_start("overwritten_heap", NULL);
	struct hi_command *c;
	char line[128];

	HI_ASSERT(hi_fixture_line(fx, line, sizeof(line))); /* "damaged 0x…" */
	hi_fixture_read_until(fx, "ready", NULL, NULL);
	c = inspect(fx->pid);
	HI_ASSERT_MSG(c->exit_code == 0, "exit %d: %s", c->exit_code, c->err);
	HI_ASSERT_MSG(strstr(c->out, strchr(line, ' ') + 1) ||
			      strstr(c->err, strchr(line, ' ') + 1),
		      "%s is not named in:\n%s%s", line, c->out, c->err);
	hi_test_expect_free(fx->pid, "S");
}

HI_TEST_SCENARIO(bad_target, is_in_the_same_state_afterwards)
{
	struct hi_fixture *fx = hi_fixture_start("leak_shapes", "acyclic", "1", NULL);

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	for (int i = 0; i < 5; i++)
		HI_ASSERT_EQ(0, inspect(fx->pid)->exit_code);
	hi_test_expect_free(fx->pid, "S");
	kill(fx->pid, SIGSTOP);
	while (hi_process_state(fx->pid) != 'T')
		usleep(1000);
	HI_ASSERT_EQ(0, inspect(fx->pid)->exit_code);
	hi_test_expect_free(fx->pid, "T");
	kill(fx->pid, SIGCONT);
	HI_ASSERT_EQ(0, hi_fixture_end(fx));
}
