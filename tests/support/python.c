/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/python.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/schema.h"
#include "tests/support/stopping.h"
#include "tests/support/snapshots.h"

/* Whoever has said "ready" is still deep in the calls that said it, where stacks
 * have the most words of the past: until it waits for us, or is of those that
 * never wait. */
static void let_it_settle(pid_t pid)
{
	for (int i = 0, asleep = 0; i < 100 && asleep < 3; i++) {
		hi_test_sleep_us(10000);
		asleep = hi_process_state(pid) == 'S' ? asleep + 1 : 0;
	}
}

struct target *python_start(const char *environment, const char *name,
			    const char *argument1, const char *argument2)
{
	struct target *t;
	char path[400];

	snprintf(path, sizeof(path), HI_SOURCE_DIR "/fixtures/python/%s.py", name);
	t = target_start("/usr/bin/env", "PYTHONPATH=" HI_FIXTURE_DIR "/python",
			 "PYTHONDONTWRITEBYTECODE=1",
			 environment ? environment : "PYTHONUTF8=1", PYTHON, path,
			 argument1, argument2, (char *)NULL);
	let_it_settle(t->fx->pid);
	return t;
}

static const char *schema_of(json_t *doc)
{
	const char *name = doc_text(doc, "schema");

	return strstr(name, "/summary/")      ? "summary.v1.json"
	       : strstr(name, "/snapshots/")  ? "snapshots.v1.json"
	       : strstr(name, "/safepoints/") ? "safepoints.v1.json"
					      : "rows.v1.json";
}

static json_t *check_schema(json_t *doc)
{
	hi_check_schema_of(doc, schema_of(doc));
	return doc;
}

json_t *python_ask_words(const struct target *t, const char *const *words)
{
	return check_schema(target_ask_words(t, words));
}

json_t *python_ask_file_words(const char *file, const char *const *words)
{
	return check_schema(
		doc_of(hi_heapinspect_words(words, TARGET_WORDS("--json", file))));
}

long long python_count(const json_t *census, const char *type)
{
	json_t *row = doc_find_row(doc_at(census, "rows"), "type", type);

	return row ? doc_number(row, "count") : 0;
}

json_t *python_row(json_t *rows, const char *key, const char *text)
{
	for (size_t i = 0; i < json_array_size(rows); i++)
		if (strcmp(python_text(json_array_get(rows, i), key), text) == 0)
			return json_array_get(rows, i);
	return NULL;
}

const char *python_text(json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

long long python_number(json_t *object, const char *key)
{
	return doc_number(object, "%s", key);
}
