/* SPDX-License-Identifier: BSD-2-Clause */
/* What `heapinspect --json` says of a process, for tests of whole services. */
#ifndef HI_TESTS_CLI_SUMMARY_H
#define HI_TESTS_CLI_SUMMARY_H

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/command.h"

static inline void free_json(void *json)
{
	json_decref(json);
}

/* option may be NULL. */
static inline json_t *summary_with(pid_t pid, const char *option)
{
	char text[16];
	struct hi_command *c;
	json_t *doc;

	snprintf(text, sizeof(text), "%d", (int)pid);
	c = hi_heapinspect("--json", "--all", "--max-pause=30s", "--pid", text, option);
	HI_ASSERT_MSG(c->exit_code == 0, "exit %d: %s", c->exit_code, c->err);
	doc = json_loads(c->out, 0, NULL);
	HI_ASSERT_MSG(doc, "no JSON: %.200s", c->out);
	hi_test_defer(free_json, doc);
	return doc;
}

static inline long long number(json_t *doc, const char *object, const char *key)
{
	return json_integer_value(json_object_get(json_object_get(doc, object), key));
}

/* A type has a row for each kind of evidence. key: "count", "shallow". */
static inline long long sum_of_type(json_t *doc, const char *type, const char *key)
{
	long long sum = 0;
	json_t *row;
	size_t i;

	json_array_foreach(
		json_object_get(doc, "types"), i,
		row) if (!strcmp(json_string_value(json_object_get(row, "type")), type))
		sum += json_integer_value(json_object_get(row, key));
	return sum;
}

static inline long long count_of_type(json_t *doc, const char *type)
{
	return sum_of_type(doc, type, "count");
}

static inline bool has_root(json_t *doc, const char *name)
{
	json_t *row;
	size_t i;

	json_array_foreach(
		json_object_get(doc, "roots"), i,
		row) if (!strcmp(json_string_value(json_object_get(row, "name")),
				 name)) return true;
	return false;
}

/* The terms of the ledger add up to RSS, unknown included. */
static inline void check_ledger(json_t *doc)
{
	json_t *ledger = json_object_get(doc, "ledger");
	long long rss = json_integer_value(json_object_get(ledger, "rss"));
	long long sum = 0;
	json_t *row;
	size_t i;

	HI_ASSERT(rss > 0);
	json_array_foreach(json_object_get(ledger, "rows"), i,
			   row) if (json_integer_value(json_object_get(row, "level")) ==
				    0) sum +=
		json_integer_value(json_object_get(row, "resident"));
	sum += json_integer_value(json_object_get(ledger, "unknown"));
	HI_ASSERT_EQ(rss, sum);
}

/* Share of the live bytes that have a type, exactly or by less, and that a field
 * names beyond that; in thousandths. */
static inline long long per_mille_typed(json_t *doc)
{
	return (number(doc, "typed", "exact") + number(doc, "typed", "inferred")) * 1000 /
	       number(doc, "bytes", "live");
}
static inline long long per_mille_named(json_t *doc)
{
	return 1000 -
	       number(doc, "typed", "unnamed") * 1000 / number(doc, "bytes", "live");
}

#endif
