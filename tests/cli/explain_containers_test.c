/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * explain shows containers as the program's words for them: one field with the number of
 * elements that fixtures/containers_counts.cc says it put in.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "tests/harness.h"
#include "tests/support/fixture.h"
#include "tests/support/json.h"
#include "tests/support/snapshots.h"

enum {
	LINES = 64,
	KINDS_OF_CONTAINERS = 20,
	STRINGS = 2,
	DAMAGED = 3,
	SHOWN_OF_TEXT = 32
};

struct told {
	char kind, field[32], text[80];
};
struct telling {
	struct hi_fixture *fx;
	char pid[16], holder[24];
	struct told lines[LINES];
	size_t n;
};

static void keep_told(const char *line, void *arg)
{
	struct telling *t = arg;
	struct told *told = &t->lines[t->n];

	if (line[0] == 'H')
		HI_ASSERT_EQ(1, sscanf(line + 2, "%23s", t->holder));
	if (!strchr("NTD", line[0]) || t->n == LINES)
		return;
	told->kind = line[0];
	HI_ASSERT(sscanf(line + 2, "%31s %79[^\n]", told->field, told->text) >= 1);
	t->n++;
}

static struct telling start_telling(const char *fixture)
{
	struct telling t = {.fx = hi_fixture_start(fixture, NULL)};

	hi_fixture_read_until(t.fx, "ready", keep_told, &t);
	snprintf(t.pid, sizeof(t.pid), "%d", (int)t.fx->pid);
	return t;
}

/* As explain is to show it. */
static const char *value_of_told(const struct told *told)
{
	static char value[128];
	char number[32];
	unsigned long n = strtoul(told->text, NULL, 10);

	if (told->kind == 'D')
		return "claims 1,152,921,504,606,846,976 elements";
	if (told->kind == 'N')
		snprintf(value, sizeof(value), "%s element%s", hi_text_count(number, n),
			 n == 1 ? "" : "s");
	else
		snprintf(value, sizeof(value), "\"%.*s%s\"", SHOWN_OF_TEXT, told->text,
			 strlen(told->text) > SHOWN_OF_TEXT ? "…" : "");
	return value;
}

static size_t check_told(const struct telling *t, json_t *fields, char kind)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++) {
		const struct told *told = &t->lines[i];
		json_t *row;

		if (told->kind != kind)
			continue;
		n++;
		row = doc_find_row(fields, "path", told->field);
		HI_ASSERT_MSG(row, "no field %s", told->field);
		HI_ASSERT_STREQ(value_of_told(told), doc_text(row, "value"));
	}
	return n;
}

/* No field is a member of the library: it is the only one of its name. */
static void check_no_internals(json_t *fields)
{
	for (size_t i = 0; i < json_array_size(fields); i++) {
		const char *path = doc_text(json_array_get(fields, i), "path");

		HI_ASSERT_MSG(strncmp(path, "shared.", 7) == 0 ||
				      (!strstr(path, "_M_") && !strstr(path, "__")),
			      "%s", path);
	}
}

static void check_holder(const struct telling *t, struct hi_command *c)
{
	json_t *fields = doc_at(doc_of(c), "rows.0.fields");

	HI_ASSERT_EQ(KINDS_OF_CONTAINERS, check_told(t, fields, 'N'));
	HI_ASSERT_EQ(STRINGS, check_told(t, fields, 'T'));
	HI_ASSERT_EQ(DAMAGED, check_told(t, fields, 'D'));
	check_no_internals(fields);
	HI_ASSERT_STREQ("int", doc_text(doc_find_row(fields, "path", "one"), "to_type"));
	HI_ASSERT(doc_text(doc_find_row(fields, "path", "shared"), "to_type"));
}

static struct hi_command *explain_holder(const struct telling *t, const char *option,
					 const char *target)
{
	return option ? hi_heapinspect("explain", t->holder, "--all", "--json", option,
				       target)
		      : hi_heapinspect("explain", t->holder, "--all", "--json", target);
}

static void check_fixture(const char *fixture)
{
	struct telling t = start_telling(fixture);

	check_holder(&t, explain_holder(&t, "--pid", t.pid));
}

HI_TEST_SCENARIO(explain_containers, containers_of_libstdcxx_have_their_counts)
{
	check_fixture("containers_counts");
}

HI_TEST_SCENARIO(explain_containers, containers_of_libcxx_have_their_counts)
{
	check_fixture("containers_counts_libcxx");
}

HI_TEST_SCENARIO(explain_containers, containers_of_clang_programs_have_their_counts)
{
	check_fixture("containers_counts_clang");
}

HI_TEST_SCENARIO(explain_containers, a_file_with_contents_has_the_counts_of_the_core)
{
	char *in = snapshot_directory();
	struct telling t = start_telling("containers_counts");
	const char *core = snapshot_core(t.fx, in);
	const char *file = snapshot_of_core(core, in, "a.hisnap", "--with-contents");
	struct hi_command *stored = explain_holder(&t, NULL, file);
	json_t *a = doc_at(doc_of(explain_holder(&t, "--core", core)), "rows.0.fields");

	check_holder(&t, stored);
	HI_ASSERT(json_equal(a, doc_at(doc_of(stored), "rows.0.fields")));
}

HI_TEST_SCENARIO(explain_containers, redacted_strings_are_left_out)
{
	struct telling t = start_telling("containers_counts");
	struct hi_command *c = hi_heapinspect("explain", t.holder, "--all", "--json",
					      "--redact", "--pid", t.pid);
	json_t *fields = doc_at(doc_of(c), "rows.0.fields");

	HI_ASSERT_STREQ("\"…\"",
			doc_text(doc_find_row(fields, "path", "brief"), "value"));
	HI_ASSERT_STREQ("1,234 elements",
			doc_text(doc_find_row(fields, "path", "numbers"), "value"));
	HI_ASSERT(!strstr(c->out, "short\""));
}
