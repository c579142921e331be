/* SPDX-License-Identifier: BSD-2-Clause */
/* --name: one process of a name, or a list of them, or near names. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/command.h"
#include "tests/support/fixture.h"
#include "tests/support/snapshots.h"

/* A copy of a fixture that runs under a name that no other process has. */
static struct hi_fixture *start_named(const char *directory, const char *name)
{
	char path[512], source[] = HI_FIXTURE_DIR "/brief_life", line[64];
	char wait[] = "wait", status[] = "0", *argv[] = {path, wait, status, NULL};
	struct hi_fixture *fx;
	struct hi_command *c;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	if (access(path, X_OK) != 0) {
		c = hi_command_run(0, "/bin/cp", source, path, NULL);
		HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	}
	fx = hi_fixture_startv(path, argv);
	HI_ASSERT(hi_fixture_line(fx, line, sizeof(line)));
	return fx;
}

static void expect_pid(const char *name, pid_t pid)
{
	struct hi_command *c = hi_heapinspect("--name", name, "--json");
	char text[32];

	HI_ASSERT_MSG(c->exit_code == 0, "exit %d: %s", c->exit_code, c->err);
	snprintf(text, sizeof(text), "pid %d was paused", (int)pid);
	HI_ASSERT_MSG(strstr(c->err, text), "%s in %s", text, c->err);
}

static const char *expect_refused(const char *name, const char *word)
{
	struct hi_command *c = hi_heapinspect("leaks", "--name", name);

	HI_ASSERT_MSG(c->exit_code == 2, "exit %d: %s", c->exit_code, c->err);
	HI_ASSERT_MSG(strstr(c->err, word), "%s: %s", word, c->err);
	HI_ASSERT_STREQ("", c->out);
	return c->err;
}

HI_TEST_SCENARIO(by_name, the_one_process_is_the_target)
{
	const char *directory = snapshot_directory();
	char name[64], longer[64];

	snprintf(name, sizeof(name), "o n\033e%d", (int)getpid());
	expect_pid(name, start_named(directory, name)->pid);
	/* Longer than what the kernel keeps as comm. */
	snprintf(longer, sizeof(longer), "a-name-of-many-letters-%d", (int)getpid());
	expect_pid(longer, start_named(directory, longer)->pid);
}

HI_TEST_SCENARIO(by_name, several_processes_are_listed)
{
	const char *directory = snapshot_directory();
	char name[64], pid[32];
	const char *err;
	struct hi_fixture *first, *second;

	snprintf(name, sizeof(name), "two\n%d", (int)getpid());
	first = start_named(directory, name);
	second = start_named(directory, name);
	err = expect_refused(name, "2 processes");
	snprintf(pid, sizeof(pid), " %d ", (int)first->pid);
	HI_ASSERT_MSG(strstr(err, pid), "%s", err);
	snprintf(pid, sizeof(pid), " %d ", (int)second->pid);
	HI_ASSERT_MSG(strstr(err, pid), "%s", err);
	HI_ASSERT_MSG(strstr(err, "two\\x0a") || strstr(err, "two\\n"), "%s", err);
}

HI_TEST_SCENARIO(by_name, unknown_name_gets_near_names)
{
	char name[64], near[64];

	snprintf(name, sizeof(name), "lonely%d", (int)getpid());
	snprintf(near, sizeof(near), "lonelx%d", (int)getpid());
	(void)start_named(snapshot_directory(), name);
	HI_ASSERT(strstr(expect_refused(near, "no process has this name"), name));
	/* Never the inspector itself. */
	(void)expect_refused("", "empty");
}

HI_TEST_SCENARIO(by_name, a_script_is_known_by_its_own_name)
{
	const char *path = snapshot_path(snapshot_directory(), "script");
	char name[64], script[600], line[64];
	char python[] = "/usr/bin/python3", *argv[] = {python, script, NULL};
	struct hi_fixture *fx;
	FILE *file;

	if (access(argv[0], X_OK) != 0)
		HI_SKIP("no /usr/bin/python3");
	snprintf(name, sizeof(name), "service%d.py", (int)getpid());
	snprintf(script, sizeof(script), "%s-%s", path, name);
	file = fopen(script, "we");
	HI_ASSERT(file);
	fputs("import sys\nprint('ready', flush=True)\nsys.stdin.read()\n", file);
	fclose(file);
	fx = hi_fixture_startv(argv[0], argv);
	HI_ASSERT(hi_fixture_line(fx, line, sizeof(line)));
	expect_pid(strrchr(script, '/') + 1, fx->pid);
}
