/* SPDX-License-Identifier: BSD-2-Clause */
/* Damaged cores give a clear word. That they answer as the process: same_answers_test.c.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/fixture.h"
#include "tests/support/json.h"
#include "tests/support/temporary.h"

/* gcore of a fixture; the path of the core (static). */
static const char *core_of(struct hi_fixture *fx, const char *in)
{
	static char path[128];
	char prefix[96], pid[16];
	struct hi_command *c;

	snprintf(prefix, sizeof(prefix), "%s/core", in);
	snprintf(pid, sizeof(pid), "%d", (int)fx->pid);
	c = hi_command_run(0, "gcore", "-o", prefix, pid, NULL);
	HI_ASSERT_MSG(c->exit_code == 0, "gcore: %s", c->err);
	snprintf(path, sizeof(path), "%s.%s", prefix, pid);
	return path;
}

HI_TEST_SCENARIO(core, truncated_anywhere_is_refused_or_counted_never_a_crash)
{
	struct hi_fixture *fx = hi_fixture_start("leak_shapes", "acyclic", "4", NULL);
	char *in = temporary_directory(), command[512];
	const char *path;
	struct stat st;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	path = core_of(fx, in);
	HI_ASSERT(stat(path, &st) == 0);
	for (int i = 0; i < 24; i++) {
		long long size = i < 8 ? i * 24 : st.st_size * i / 25;
		struct hi_command *c;

		snprintf(command, sizeof(command), "head -c %lld '%s' > '%s/cut'", size,
			 path, in);
		HI_ASSERT_EQ(0, hi_command_run(0, "sh", "-c", command, NULL)->exit_code);
		snprintf(command, sizeof(command), "%s/cut", in);
		c = hi_heapinspect("--json", "--core", command);
		HI_ASSERT_MSG(c->exit_code == 0 || c->exit_code == 2 || c->exit_code == 3,
			      "size %lld: exit %d: %s", size, c->exit_code, c->err);
		if (c->exit_code == 0) {
			json_t *doc = doc_of(c);

			HI_ASSERT(!doc_bool(doc, "snapshot.complete"));
		} else {
			HI_ASSERT_MSG(strchr(c->err, '\n') == c->err + strlen(c->err) - 1,
				      "not one line: %s", c->err);
		}
	}
}

HI_TEST_SCENARIO(core, with_random_damage_never_crashes)
{
	struct hi_fixture *fx = hi_fixture_start("leak_shapes", "acyclic", "4", NULL);
	char *in = temporary_directory(), damaged[160];
	const char *path;
	struct stat st;
	unsigned seed = 12345;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	path = core_of(fx, in);
	HI_ASSERT(stat(path, &st) == 0);
	snprintf(damaged, sizeof(damaged), "%s/damaged", in);
	for (int i = 0; i < 30; i++) {
		struct hi_command *c;
		int fd;

		HI_ASSERT_EQ(0, hi_command_run(0, "cp", path, damaged, NULL)->exit_code);
		fd = open(damaged, O_WRONLY);
		/* The first pages have headers and notes, the rest is the heap. */
		for (int k = 0; k < 200; k++) {
			long long limit = k % 2 ? st.st_size : 8192;
			unsigned char byte = (unsigned char)rand_r(&seed);

			HI_ASSERT(pwrite(fd, &byte, 1, rand_r(&seed) % limit) == 1);
		}
		close(fd);
		c = hi_heapinspect("--json", "--core", damaged);
		HI_ASSERT_MSG(c->exit_code == 0 || c->exit_code == 2 || c->exit_code == 3,
			      "exit %d: %s", c->exit_code, c->err);
	}
}

HI_TEST_SCENARIO(core, without_its_executable_still_gives_the_heap)
{
	struct hi_fixture *fx;
	char *in = temporary_directory(), copy[128];
	const char *path;
	json_t *with, *without;

	snprintf(copy, sizeof(copy), "%s/program", in);
	HI_ASSERT_EQ(0, hi_command_run(0, "cp", HI_FIXTURE_DIR "/leak_shapes", copy, NULL)
				->exit_code);
	fx = hi_fixture_start(copy, "acyclic", "8", NULL);
	hi_fixture_read_until(fx, "ready", NULL, NULL);
	path = core_of(fx, in);
	unlink(copy);
	without = doc_of(hi_heapinspect("--json", "--all", "--core", path));
	with = doc_of(hi_heapinspect("--json", "--all", "--core", path, "--exe",
				     HI_FIXTURE_DIR "/leak_shapes"));
	/* Types are gone, blocks are not: the sum of live and leaked is the same. */
	HI_ASSERT_EQ(doc_number(with, "objects.live") + doc_number(with, "objects.leak"),
		     doc_number(without, "objects.live") +
			     doc_number(without, "objects.leak"));
}
