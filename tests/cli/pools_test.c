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
	unsigned long nodes; /* bytes */
};

static void read_row(const char *line, void *arg)
{
	struct truth *truth = arg;
	char name[24];
	long count;

	if (sscanf(line, "nodes %lu", &truth->nodes) == 1)
		return;
	if (truth->n == 4 || (sscanf(line, "struct %23s %ld", name, &count) != 2 &&
			      sscanf(line, "%23s %ld", name, &count) != 2))
		return;
	snprintf(truth->rows[truth->n].type, sizeof(truth->rows[0].type), "%s%s",
		 strncmp(line, "struct ", 7) == 0 ? "struct " : "", name);
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

/* pid: set to the process. */
static struct truth check_pools(const char *program, const char *mode, char pid[16])
{
	struct hi_fixture *fx = hi_fixture_start(program, mode, NULL);
	struct truth truth = {};
	char condition[80];

	hi_fixture_read_until(fx, "ready", read_row, &truth);
	HI_ASSERT(truth.n >= 2);
	snprintf(pid, 16, "%d", (int)fx->pid);
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
	return truth;
}

HI_TEST_SCENARIO(pools, objects_in_blocks_that_are_cut_up_have_their_types)
{
	char pid[16];

	check_pools("pool_shapes", "obstack", pid);
	check_pools("pool_shapes", "slices", pid);
	check_pools("pool_shapes", "buckets", pid);
}

HI_TEST_SCENARIO(pools, objects_after_headers_have_their_types)
{
	char pid[16];

	check_pools("pool_shapes", "mixed", pid);
	check_pools("pool_shapes", "collected", pid);
}

/* The kernel maps the nodes beside static data of threads and of libraries. All of them
 * are named as what is not decoded, since the rest of a node may hold anything. */
HI_TEST_SCENARIO(pools, objects_in_small_mapped_pools_have_their_types)
{
	char pid[16], name[64];
	struct truth truth = check_pools("mapped_pools", NULL, pid);
	struct hi_command *c = hi_heapinspect("summary", "--pid", pid, "--json");

	snprintf(name, sizeof(name), "APR's pools (%.1f KiB)",
		 (double)truth.nodes / 1024);
	HI_ASSERT_MSG(truth.nodes && strstr(c->out, name), "no \"%s\" in %.2000s", name,
		      c->out);
	HI_ASSERT_MSG(strstr(c->out, "\"known\": \"part\""), "%.2000s", c->out);
}

/* They are no heap: nothing is unknown, and they belong to those who lead to them. */
HI_TEST_SCENARIO(pools, objects_in_static_arrays_of_bytes_have_their_types_and_owners)
{
	char pid[16];
	struct hi_command *c;

	check_pools("static_pools", NULL, pid);
	c = hi_heapinspect("summary", "--pid", pid, "--json");
	HI_ASSERT_MSG(strstr(c->out, "\"known\": \"all\""), "%.2000s", c->out);
	HI_ASSERT_EQ(200, count_objects(pid, "type = 'load' AND idom IN (SELECT id FROM "
					     "objects WHERE type = 'item')"));
}
