/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Paths through containers are the expressions of the program: the fixture prints them
 * with the addresses that they have.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/fixture.h"
#include "tests/support/json.h"
#include "tests/support/snapshots.h"

enum { LINES = 64 };

struct truth {
	char address[24], expression[200];
};

struct story {
	struct hi_fixture *fx;
	char pid[16];
	struct truth lines[LINES];
	size_t n;
};

static void keep_truth(const char *line, void *arg)
{
	struct story *s = arg;
	struct truth *t = &s->lines[s->n];

	if ((line[0] != 'P' && line[0] != 'H') || s->n == LINES)
		return;
	HI_ASSERT_EQ(2, sscanf(line + 2, "%23s %199[^\n]", t->address, t->expression));
	s->n++;
}

static struct story start_story(const char *fixture, const char *argument)
{
	struct story s = {.fx = hi_fixture_start(fixture, argument, NULL)};

	hi_fixture_read_until(s.fx, "ready", keep_truth, &s);
	snprintf(s.pid, sizeof(s.pid), "%d", (int)s.fx->pid);
	return s;
}

static bool has_path(json_t *doc, const char *expression)
{
	return doc_find_row(doc_at(doc, "rows"), "path", expression) != NULL;
}

static void check_line(const struct truth *t, const char *option, const char *target)
{
	struct hi_command *c = option ? hi_heapinspect("paths", t->address, "-k", "20",
						       "--json", option, target)
				      : hi_heapinspect("paths", t->address, "-k", "20",
						       "--json", target);

	HI_ASSERT_MSG(has_path(doc_of(c), t->expression), "%s %s: %s\n%.3000s",
		      option ? option : "", target, t->expression, c->out);
}

/* One of them in the process, all in a snapshot of it. */
static void check_expressions(const char *fixture)
{
	char *in = snapshot_directory();
	struct story s = start_story(fixture, NULL);
	const char *file = snapshot_path(in, "paths.hisnap");
	struct hi_command *c = hi_heapinspect("snap", "--pid", s.pid, "-o", file);

	HI_ASSERT_MSG(c->exit_code == 0 && s.n > 20, "%s", c->err);
	check_line(&s.lines[0], "--pid", s.pid);
	for (size_t i = 0; i < s.n; i++)
		check_line(&s.lines[i], NULL, file);
}

HI_TEST_SCENARIO(container_paths, paths_are_expressions_of_the_program)
{
	check_expressions("containers_paths");
}

HI_TEST_SCENARIO(container_paths, paths_of_optimised_programs_are_valid)
{
	check_expressions("containers_paths_o2");
}

HI_TEST_SCENARIO(container_paths, paths_through_libcxx_are_valid)
{
	check_expressions("containers_paths_libcxx");
}

HI_TEST_SCENARIO(container_paths, paths_of_clang_programs_are_valid)
{
	check_expressions("containers_paths_clang");
}

static char *plain_rows(struct hi_command *c)
{
	char *text = json_dumps(doc_at(doc_of(c), "rows"), JSON_COMPACT);

	HI_ASSERT(text);
	hi_test_defer(free, text);
	return text;
}

HI_TEST_SCENARIO(container_paths, paths_of_a_snapshot_are_those_of_the_core)
{
	char *in = snapshot_directory();
	struct story s = start_story("containers_paths", NULL);
	const char *core = snapshot_core(s.fx, in);
	const char *file = snapshot_of_core(core, in, "paths.hisnap", NULL);

	for (size_t i = 0; i < s.n; i += 4) {
		struct hi_command *live = hi_heapinspect(
			"paths", s.lines[i].address, "-k", "8", "--json", "--core", core);
		struct hi_command *stored = hi_heapinspect("paths", s.lines[i].address,
							   "-k", "8", "--json", file);

		HI_ASSERT_STREQ(plain_rows(live), plain_rows(stored));
	}
}

/* Is the address, as the fixture printed it, in the block of the row? */
static bool is_in_block(json_t *row, const char *address)
{
	uint64_t block = strtoull(doc_text(row, "block"), NULL, 16);
	uint64_t at = strtoull(address, NULL, 16);

	return at >= block && at - block < (uint64_t)doc_number(row, "usable");
}

/* Paths are what explain takes, of a file as well. */
HI_TEST_SCENARIO(container_paths, explain_takes_a_path_and_shows_its_object)
{
	char *in = snapshot_directory();
	struct story s = start_story("containers_paths", NULL);
	const char *file = snapshot_path(in, "paths.hisnap");
	struct hi_command *c = hi_heapinspect("snap", "--pid", s.pid, "-o", file);
	size_t n_keys = 0;

	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	for (size_t i = 0; i < s.n && n_keys < 8; i++) {
		if (!strstr(s.lines[i].expression, "[\""))
			continue;
		c = hi_heapinspect("explain", s.lines[i].expression, "--json", file);
		HI_ASSERT_MSG(is_in_block(doc_item(doc_at(doc_of(c), "rows"), 0),
					  s.lines[i].address),
			      "%s", s.lines[i].expression);
		n_keys++;
	}
	HI_ASSERT(n_keys > 2);
}

static void expect_explained(const struct truth *t, const char *option,
			     const char *target)
{
	struct hi_command *c =
		hi_heapinspect("explain", t->expression, "--json", option, target);

	HI_ASSERT_MSG(c->exit_code == 0, "%s: %s", t->expression, c->err);
	/* [*]: some element. */
	HI_ASSERT_MSG(
		strstr(t->expression, "[*]") ||
			is_in_block(doc_item(doc_at(doc_of(c), "rows"), 0), t->address),
		"%s", t->expression);
}

/* `vector[0]` and `map[3]` are no expressions of C: they are paths, and in a file all are
 * paths. */
HI_TEST_SCENARIO(container_paths, explain_takes_paths_with_elements_of_containers)
{
	char *in = snapshot_directory();
	struct story s = start_story("containers_paths", NULL);
	const char *core = snapshot_core(s.fx, in);
	size_t n = 0;

	for (size_t i = 0; i < s.n; i++) {
		if (!strchr(s.lines[i].expression, '['))
			continue;
		expect_explained(&s.lines[i], "--core", core);
		n++;
	}
	HI_ASSERT(n > 10);
}

/* Texts in quotes are keys. */
static void check_no_keys(const struct story *s, const char *out, const char *address)
{
	HI_ASSERT_MSG(!strstr(out, "idx:") && !strstr(out, "outer") &&
			      !strstr(out, "too long") && !strstr(out, "a literal"),
		      "%s %s: %s", s->pid, address, out);
}

HI_TEST_SCENARIO(container_paths, redacted_paths_have_no_keys)
{
	char *in = snapshot_directory();
	struct story s = start_story("containers_paths", NULL);
	const char *file = snapshot_path(in, "redacted.hisnap");
	struct hi_command *c;

	c = hi_heapinspect("snap", "--redact", "--pid", s.pid, "-o", file);
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	for (size_t i = 0; i < s.n; i++) {
		c = hi_heapinspect("paths", s.lines[i].address, "-k", "20", file);
		check_no_keys(&s, c->out, s.lines[i].address);
	}
	c = hi_heapinspect("paths", s.lines[2].address, "--json", "--redact", "--pid",
			   s.pid, "-k", "20");
	HI_ASSERT_MSG(has_path(doc_of(c), "service->index[\"…\"]->one"), "%s", c->out);
	c = hi_heapinspect("paths", s.lines[4].address, "--json", "--redact", "--pid",
			   s.pid, "-k", "20");
	HI_ASSERT_MSG(has_path(doc_of(c), "service->numbers[…]"), "%s", c->out);
	c = hi_heapinspect("paths", s.lines[4].address, "--redact", file);
	HI_ASSERT(c->exit_code == 2 && strstr(c->err, "snap --redact"));
}

/* Keys that lead nowhere, strings of 2^60 bytes, a chain that goes round. */
static void check_hostile(const char *fixture)
{
	struct story s = start_story(fixture, "hostile");

	HI_ASSERT_EQ(4, s.n);
	for (size_t i = 0; i < s.n; i++)
		check_line(&s.lines[i], "--pid", s.pid);
}

HI_TEST_SCENARIO(container_paths, paths_end_in_damaged_containers)
{
	check_hostile("containers_paths");
	check_hostile("containers_paths_libcxx");
}
