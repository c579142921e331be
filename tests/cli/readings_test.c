/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The two readings of a heap: by types, where numbers and dead tails keep
 * nothing alive, and --conservative, where every word does. fixtures/mixed_heap
 * leaks 1,000 blocks whose addresses stand only in a uint64_t[], and 1,000 that
 * only the dead tail of a vector has.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/command.h"
#include "tests/support/fixture.h"

enum { IN_NUMBERS = 1000, IN_TAIL = 1000 };

static void free_json(void *json)
{
	json_decref(json);
}

static json_t *run(const char *pid, const char *reading)
{
	const struct hi_command *c =
		hi_heapinspect("--pid", pid, "--json", "--quiet", reading);
	json_error_t error;
	json_t *doc;

	HI_ASSERT_MSG(c->exit_code == 0, "exit %d: %s", c->exit_code, c->err);
	doc = json_loads(c->out, 0, &error);
	HI_ASSERT_MSG(doc != NULL, "%s", error.text);
	hi_test_defer(free_json, doc);
	return doc;
}

static long long number_at(json_t *doc, const char *object, const char *key)
{
	return json_integer_value(json_object_get(json_object_get(doc, object), key));
}

HI_TEST_SCENARIO(readings, what_words_keep_alive_is_told_beside_what_types_say)
{
	struct hi_fixture *fx = hi_fixture_start("mixed_heap", "/dev/null", NULL);
	json_t *by_types, *by_words;
	char pid[16], line[1200];

	do
		HI_ASSERT(hi_fixture_line(fx, line, sizeof(line)));
	while (strncmp(line, "ready", 5) != 0);
	snprintf(pid, sizeof(pid), "%d", (int)fx->pid);
	by_types = run(pid, "--no-hints");
	by_words = run(pid, "--conservative");
	HI_ASSERT(!json_object_get(by_types, "by_types"));
	HI_ASSERT_EQ(number_at(by_types, "objects", "leak") +
			     number_at(by_types, "objects", "likely"),
		     number_at(by_words, "by_types", "leak_objects"));
	HI_ASSERT_EQ(number_at(by_types, "bytes", "leak") +
			     number_at(by_types, "bytes", "likely"),
		     number_at(by_words, "by_types", "leak"));
	/* What words keep alive is what is likely leaked by types. */
	HI_ASSERT_EQ(number_at(by_types, "objects", "leak"),
		     number_at(by_words, "objects", "leak"));
	HI_ASSERT_EQ(IN_NUMBERS + IN_TAIL, number_at(by_types, "objects", "likely"));
	HI_ASSERT_EQ(0, number_at(by_words, "objects", "likely"));
}
