/* SPDX-License-Identifier: BSD-2-Clause */
/* A process that is recorded is not traced: debuggers may attach, and its end is seen. */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "tests/harness.h"
#include "tests/support/fixture.h"
#include "tests/support/json.h"
#include "tests/support/recorded_sites.h"
#include "tests/support/recording_run.h"
#include "tests/support/snapshots.h"

#define PROGRAM HI_FIXTURE_DIR "/brief_life"

enum { LOST = 30, HELD = 8 };

/* As gdb -p does, for an instant. */
static void trace_thread(pid_t tid)
{
	int status;

	HI_ASSERT_EQ(0, ptrace(PTRACE_SEIZE, tid, 0, 0));
	HI_ASSERT_EQ(0, ptrace(PTRACE_INTERRUPT, tid, 0, 0));
	HI_ASSERT_EQ(tid, waitpid(tid, &status, __WALL));
	HI_ASSERT_EQ(0, ptrace(PTRACE_DETACH, tid, 0, 0));
}

static void trace_all_threads(pid_t pid)
{
	struct dirent *entry;
	char path[64];
	DIR *dir;
	int n = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	HI_ASSERT(dir);
	while ((entry = readdir(dir)))
		if (entry->d_name[0] != '.' && ++n)
			trace_thread((pid_t)atoi(entry->d_name));
	closedir(dir);
	HI_ASSERT(n > 0);
}

/* begun: it says so after its first census, for which it stops the target. */
static void check_threads_are_free_beside(const char *command, const char *begun)
{
	static const char *const words[] = {"--sample", "all", "--every", "5s", NULL};
	struct hi_fixture *fx = sites_start();
	struct recording_run run = recording_start_as(command, begun, fx->pid, words);

	HI_ASSERT_EQ(0, hi_process_status(fx->pid, "TracerPid"));
	trace_all_threads(fx->pid);
	HI_ASSERT_EQ(0, recording_end(&run, SIGINT)->exit_code);
	HI_ASSERT_EQ(0, hi_fixture_end(fx));
}

HI_TEST_ROOT(record_untraced, debuggers_attach_beside_a_space_profile)
{
	check_threads_are_free_beside("alloc", "of the recording are live");
}

HI_TEST_ROOT(record_untraced, debuggers_attach_beside_biographies)
{
	check_threads_are_free_beside("bio", "the first period begins");
}

/* The exit that is seen is that of the process, not of what was traced. */
HI_TEST_ROOT(record_untraced, debuggers_attach_beside_a_recording_which_sees_the_exit)
{
	struct hi_fixture *fx = sites_start();
	struct recording_run run = recording_start(fx->pid, "--json", NULL);
	json_t *rows;

	HI_ASSERT_EQ(0, hi_process_status(fx->pid, "TracerPid"));
	trace_all_threads(fx->pid);
	sites_tell(fx, "go");
	trace_all_threads(fx->pid);
	hi_fixture_tell(fx, "quit");
	rows = doc_at(doc_of(recording_end(&run, 0)), "rows");
	HI_ASSERT_EQ(NODES,
		     doc_number(doc_row(rows, "site.function", "make_node"), "objects"));
}

/* Their last registers and stacks are in the image, though they are gone by then. */
HI_TEST_ROOT(record_untraced, stacks_of_all_threads_are_roots_at_the_end)
{
	const char *file = snapshot_path(snapshot_directory(), "threads.hirec");
	struct hi_command *c =
		hi_heapinspect("record", "-o", file, "--", PROGRAM, "threads", "3");
	json_t *doc;

	HI_ASSERT_MSG(c->exit_code == 3, "exit %d: %s", c->exit_code, c->err);
	HI_ASSERT_MSG(strstr(c->err, "its memory was kept"), "%s", c->err);
	doc = doc_of(hi_heapinspect("summary", "--json", "--all", file));
	HI_ASSERT_EQ(LOST, doc_number(doc, "objects.leak"));
	HI_ASSERT_EQ(HELD,
		     doc_sum_of(doc_at(doc, "types"), "type", "struct held", "count"));
}

/* Pages that it fills when they are touched could not be told from zeros. */
HI_TEST_ROOT(record_untraced,
	     a_process_that_fills_pages_itself_is_traced_and_that_is_said)
{
	struct hi_fixture *fx = hi_fixture_start("held_page", NULL);
	struct recording_run run;
	struct hi_command *c;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	run = recording_start(fx->pid, NULL);
	HI_ASSERT(hi_process_status(fx->pid, "TracerPid") > 0);
	c = recording_end(&run, SIGINT);
	HI_ASSERT_MSG(strstr(c->err, "its threads stay traced"), "%s", c->err);
	HI_ASSERT_MSG(strstr(c->err, "it fills pages itself"), "%s", c->err);
}
