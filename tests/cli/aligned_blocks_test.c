/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Blocks with an alignment, whose address mimalloc does not note:
 * fixtures/aligned_blocks.c says which are in its list and which are leaked.
 */
#include <string.h>

#include "tests/cli/summary.h"
#include "tests/support/fixture.h"

struct aligned_truth {
	long long items, leaked;
	char pid[16];
};

static void take_aligned_line(const char *line, void *arg)
{
	struct aligned_truth *t = arg;

	t->items += strncmp(line, "item ", 5) == 0;
	t->leaked += strncmp(line, "leaked ", 7) == 0;
}

static void start_aligned(struct aligned_truth *t, const char *preload)
{
	char env[] = "env", path[] = HI_FIXTURE_DIR "/aligned_blocks", variable[128];
	char *argv[] = {env, variable, path, NULL};
	struct hi_fixture *fx;

	snprintf(variable, sizeof(variable), "LD_PRELOAD=%s", preload);
	fx = hi_fixture_startv("/usr/bin/env", argv);
	hi_fixture_read_until(fx, "ready", take_aligned_line, t);
	snprintf(t->pid, sizeof(t->pid), "%d", fx->pid);
	HI_ASSERT(t->items == 500 && t->leaked == 40);
}

static json_t *parse_aligned(struct hi_command *c)
{
	json_t *doc = json_loads(c->out, 0, NULL);

	HI_ASSERT_MSG(c->exit_code == 0 && doc, "%s", c->err);
	return doc;
}

static long long count_in_census(json_t *doc, const char *type)
{
	size_t i;
	json_t *row;

	json_array_foreach(
		json_object_get(doc, "rows"), i,
		row) if (strcmp(json_string_value(json_object_get(row, "type")), type) ==
			 0) return json_integer_value(json_object_get(row, "count"));
	return 0;
}

static void compare_aligned(const char *preload)
{
	struct aligned_truth t = {};
	json_t *census, *doc, *leaks;

	start_aligned(&t, preload);
	census = parse_aligned(hi_heapinspect("census", "--json", "--pid", t.pid));
	HI_ASSERT_EQ(t.items, count_in_census(census, "struct aligned_item"));
	HI_ASSERT_EQ(t.items, count_in_census(census, "struct plain_item"));
	json_decref(census);
	doc = parse_aligned(hi_heapinspect("leaks", "--json", "--pid", t.pid));
	leaks = json_object_get(doc, "leaks");
	HI_ASSERT_EQ(2 * t.leaked, json_integer_value(json_object_get(leaks, "objects")));
	HI_ASSERT_EQ(0, json_integer_value(json_object_get(leaks, "likely_objects")));
	json_decref(doc);
}

HI_TEST_SCENARIO(aligned_blocks, glibc_has_their_types_and_leaks)
{
	compare_aligned("");
}

HI_TEST_SCENARIO(aligned_blocks, mimalloc_has_their_types_and_leaks)
{
	compare_aligned("libmimalloc.so.2.0");
}
