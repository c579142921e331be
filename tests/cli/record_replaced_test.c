/* SPDX-License-Identifier: BSD-2-Clause */
/* Recordings of a program that loads a library in the place of another: no frame of one
 * has a name of the other. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "tests/harness.h"
#include "tests/support/fixture.h"
#include "tests/support/recording_run.h"
#include "tests/support/workshop.h"

enum { TRIES = 10 };

static void load(struct hi_fixture *fx, const char *library, char *at)
{
	char line[512];

	snprintf(line, sizeof(line), "load " HI_FIXTURE_DIR "/%s", library);
	hi_fixture_tell(fx, line);
	HI_ASSERT(hi_fixture_line(fx, line, sizeof(line)));
	HI_ASSERT_EQ(1, sscanf(line, "done %31s", at));
}

static void unload(struct hi_fixture *fx)
{
	hi_fixture_tell(fx, "unload");
	hi_fixture_read_until(fx, "done", NULL, NULL);
}

static bool are_in_one_page(const char *a, const char *b)
{
	return strlen(a) == strlen(b) && strncmp(a, b, strlen(a) - 3) == 0;
}

static void stand_still(pid_t recorder)
{
	kill(recorder, SIGSTOP);
	HI_ASSERT_EQ(recorder, waitpid(recorder, NULL, WUNTRACED));
}

/* The recorder looks at what is mapped now and then, but not from the end of the first to
 * the first allocation of the other. */
static void load_one_after_the_other(struct hi_fixture *fx,
				     const struct recording_run *run)
{
	char first[32], other[32], line[64];

	load(fx, "libcalled_late.so", first);
	recording_await_code(run, "libcalled_late.so");
	stand_still(run->pid);
	unload(fx);
	load(fx, "libcalled_other.so", other);
	kill(run->pid, SIGCONT);
	if (!are_in_one_page(first, other))
		HI_SKIP("the libraries have places of their own");
	recording_await_code(run, "libcalled_other.so");
	hi_fixture_tell(fx, "again");
	HI_ASSERT(hi_fixture_line(fx, line, sizeof(line)));
}

static struct hi_command *record_libraries(const char *file)
{
	struct hi_fixture *fx = hi_fixture_start("replaced_library", NULL);
	struct recording_run run;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	run = recording_start(fx->pid, "-o", file, NULL);
	load_one_after_the_other(fx, &run);
	return recording_end(&run, SIGINT);
}

/* The functions from which keep_block() was called, by the order of the allocations. */
static const char callers[] =
	"SELECT coalesce(f.function, 'gone') FROM allocations a "
	"JOIN context_frames k ON k.context = a.context AND k.function = 'keep_block' "
	"JOIN context_frames f ON f.context = a.context AND f.depth = k.depth + 1 "
	"ORDER BY a.born_ns";

static const char *callers_in(const char *file)
{
	struct hi_command *c = record_libraries(file);

	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	c = hi_heapinspect("query", "--format", "csv", callers, file);
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	return c->out;
}

/* The recorder had not seen yet that the other library was there when that allocated
 * first. Where it saw the first one right before that allocated, and never again, it does
 * not know of that either. */
HI_TEST_ROOT(record_replaced, gives_no_name_of_a_library_to_another_one)
{
	const char *found = "\ngone\ngone\ncall_again\n";
	char file[256];

	snprintf(file, sizeof(file), "%s/app.hirec", workshop_open());
	for (int i = 0; i < TRIES && strstr(found, "\ngone\ngone\ncall_again\n"); i++)
		found = callers_in(file);
	HI_ASSERT_MSG(strstr(found, "\ncall_back\ngone\ncall_again\n"), "%s", found);
}
