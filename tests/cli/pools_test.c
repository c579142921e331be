/* SPDX-License-Identifier: BSD-2-Clause */
/* Objects in pools have their types, and nothing of them is leaked: the numbers that
 * fixtures/pool_shapes.c and mapped_pools.c print. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/command.h"
#include "tests/support/fixture.h"

struct truth {
	struct {
		char type[32];
		long count;
	} rows[4];
	size_t n;
};

static void read_row(const char *line, void *arg)
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

static long count_objects(const char *pid, const char *condition)
{
	char sql[160];
	struct hi_command *c;
	const char *line;

	snprintf(sql, sizeof(sql), "SELECT count(*) FROM objects WHERE %s", condition);
	c = hi_heapinspect("query", "--pid", pid, "--format", "csv", sql);
	line = strchr(c->out, '\n');
	HI_ASSERT_MSG(c->exit_code == 0 && line, "%s", c->err);
	return strtol(line + 1, NULL, 10);
}

static void check_pools(const char *program, const char *mode)
{
	struct hi_fixture *fx = hi_fixture_start(program, mode, NULL);
	struct truth truth = {};
	char pid[16], condition[80];

	hi_fixture_read_until(fx, "ready", read_row, &truth);
	HI_ASSERT(truth.n >= 2);
	snprintf(pid, sizeof(pid), "%d", (int)fx->pid);
	for (size_t i = 0; i < truth.n; i++) {
		long n;

		snprintf(condition, sizeof(condition), "type = '%s' AND state = 'live'",
			 truth.rows[i].type);
		n = count_objects(pid, condition);
		HI_ASSERT_MSG(n == truth.rows[i].count, "%s: %ld of %ld %s",
			      mode ? mode : program, n, truth.rows[i].count,
			      truth.rows[i].type);
	}
	HI_ASSERT_EQ(0, count_objects(pid, "reachable = 0"));
}

HI_TEST_SCENARIO(pools, objects_in_blocks_that_are_cut_up_have_their_types)
{
	check_pools("pool_shapes", "obstack");
	check_pools("pool_shapes", "slices");
	check_pools("pool_shapes", "buckets");
}

HI_TEST_SCENARIO(pools, objects_after_headers_have_their_types)
{
	check_pools("pool_shapes", "mixed");
	check_pools("pool_shapes", "collected");
}

/* The kernel maps the nodes beside static data of threads and of libraries. */
HI_TEST_SCENARIO(pools, objects_in_small_mapped_pools_have_their_types)
{
	check_pools("mapped_pools", NULL);
}
