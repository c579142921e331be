/* SPDX-License-Identifier: BSD-2-Clause */
/* Allocation wrappers that put a header in front of each block: fixtures/alloc_header.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/command.h"
#include "tests/support/fixture.h"

static char pid_text[16];

struct truth {
	struct {
		char type[32];
		long count;
	} rows[4];
	size_t n;
};

static void read_truth(const char *line, void *arg)
{
	struct truth *truth = arg;
	char name[24];
	long count;

	if (sscanf(line, "struct %23s %ld", name, &count) != 2 || truth->n == 4)
		return;
	snprintf(truth->rows[truth->n].type, sizeof(truth->rows[0].type), "struct %s",
		 name);
	truth->rows[truth->n++].count = count;
}

static struct truth start_fixture(const char *mode, const char *bytes)
{
	struct hi_fixture *fx = hi_fixture_start("alloc_header", mode, bytes, NULL);
	struct truth truth = {};

	hi_fixture_read_until(fx, "ready", read_truth, &truth);
	HI_ASSERT_EQ(2, truth.n);
	snprintf(pid_text, sizeof(pid_text), "%d", (int)fx->pid);
	return truth;
}

/* The number on the second line of CSV. */
static long query_count(const char *hints, const char *sql)
{
	struct hi_command *c =
		hints ? hi_heapinspect("query", "--pid", pid_text, "--hints", hints,
				       "--format", "csv", sql)
		      : hi_heapinspect("query", "--pid", pid_text, "--format", "csv",
				       sql);
	const char *line = strchr(c->out, '\n');

	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	HI_ASSERT_MSG(line, "no row in: %s", c->out);
	return strtol(line + 1, NULL, 10);
}

static void check_types(const struct truth *truth, const char *hints)
{
	char sql[200];

	for (size_t i = 0; i < truth->n; i++) {
		snprintf(sql, sizeof(sql),
			 "SELECT count(*) FROM objects WHERE type = '%s' AND state = "
			 "'live'",
			 truth->rows[i].type);
		HI_ASSERT_EQ(truth->rows[i].count, query_count(hints, sql));
	}
	HI_ASSERT_EQ(0, query_count(hints,
				    "SELECT count(*) FROM objects WHERE state = 'leak'"));
}

HI_TEST_SCENARIO(alloc_header, a_size_in_the_header_gives_the_objects_their_types)
{
	static const char *const bytes[] = {"8", "16", "64", "96", "128"};

	for (size_t i = 0; i < sizeof(bytes) / sizeof(*bytes); i++) {
		struct truth truth = start_fixture("size", bytes[i]);

		check_types(&truth, NULL);
		truth = start_fixture("total", bytes[i]);
		check_types(&truth, NULL);
	}
}

HI_TEST_SCENARIO(alloc_header, names_in_blocks_with_headers_are_text)
{
	struct truth truth = start_fixture("size", "8");

	HI_ASSERT(query_count(NULL, "SELECT count(*) FROM objects WHERE type = 'char []' "
				    "AND usable = 40") >= truth.rows[1].count);
}

HI_TEST_SCENARIO(alloc_header, many_blocks_show_a_header_without_a_size)
{
	struct truth truth = start_fixture("magic", "16");

	check_types(&truth, NULL);
}

HI_TEST_SCENARIO(alloc_header, a_hint_gives_the_length_of_the_header)
{
	char path[] = "/tmp/hi-header-XXXXXX";
	int fd = mkstemp(path);
	struct truth truth = start_fixture("magic", "16");

	HI_ASSERT(fd >= 0 && dprintf(fd, "hints own\nheader 16;\n") > 0);
	close(fd);
	check_types(&truth, path);
	unlink(path);
}

HI_TEST_SCENARIO(alloc_header, objects_that_headers_refer_to_are_not_leaked)
{
	struct truth truth = start_fixture("list", NULL);

	check_types(&truth, NULL);
}
