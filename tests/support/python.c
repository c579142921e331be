/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/python.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/json.h"
#include "tests/support/schema.h"
#include "tests/support/stopping.h"
#include "tests/support/snapshots.h"

enum { MOST_WORDS = 16 };

static void keep_line(const char *line, void *arg)
{
	struct python *p = arg;

	if (p->n_lines < sizeof(p->lines) / sizeof(p->lines[0]))
		snprintf(p->lines[p->n_lines++], sizeof(p->lines[0]), "%s", line);
}

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

struct python *python_start(const char *environment, const char *name,
			    const char *argument1, const char *argument2)
{
	struct python *p = calloc(1, sizeof(*p));
	char path[400];

	HI_ASSERT(p);
	hi_test_defer(free, p);
	snprintf(path, sizeof(path), HI_SOURCE_DIR "/fixtures/python/%s.py", name);
	p->fx = hi_fixture_start("/usr/bin/env", "PYTHONPATH=" HI_FIXTURE_DIR "/python",
				 "PYTHONDONTWRITEBYTECODE=1",
				 environment ? environment : "PYTHONUTF8=1", PYTHON, path,
				 argument1, argument2, (char *)NULL);
	hi_fixture_read_until(p->fx, "ready", keep_line, p);
	let_it_settle(p->fx->pid);
	snprintf(p->pid, sizeof(p->pid), "%d", (int)p->fx->pid);
	return p;
}

const char *python_said(const struct python *p, const char *key, unsigned n)
{
	size_t length = strlen(key);

	for (size_t i = 0; i < p->n_lines; i++) {
		const char *at = p->lines[i];

		if (strncmp(at, key, length) != 0 || at[length] != ' ')
			continue;
		at += length + 1;
		for (; n && strchr(at, ' '); n--)
			at = strchr(at, ' ') + 1;
		if (!n)
			return at;
	}
	hi_test_fail(__FILE__, __LINE__, "it never said %s", key);
}

uint64_t python_address(const struct python *p, const char *key)
{
	return strtoull(python_said(p, key, 0), NULL, 16);
}

static const char *schema_of(json_t *doc)
{
	const char *name = python_text(doc, "schema");

	return strstr(name, "/summary/")      ? "summary.v1.json"
	       : strstr(name, "/snapshots/")  ? "snapshots.v1.json"
	       : strstr(name, "/safepoints/") ? "safepoints.v1.json"
					      : "rows.v1.json";
}

static json_t *ask(const char *const *words, const char *option, const char *target)
{
	char *argv[MOST_WORDS + 5] = {(char *)(uintptr_t)(HI_BINARY_DIR "/heapinspect")};
	json_t *doc;
	size_t n = 1;

	for (size_t i = 0; words[i] && i < MOST_WORDS; i++)
		argv[n++] = (char *)(uintptr_t)words[i];
	argv[n++] = (char *)(uintptr_t) "--json";
	if (option)
		argv[n++] = (char *)(uintptr_t)option;
	argv[n] = (char *)(uintptr_t)target;
	doc = doc_of(hi_command_runv(0, argv));
	hi_check_schema_of(doc, schema_of(doc));
	return doc;
}

json_t *python_ask(const struct python *p, const char *const *words)
{
	return ask(words, "--pid", p->pid);
}

json_t *python_ask_file(const char *file, const char *const *words)
{
	return ask(words, NULL, file);
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
	json_t *value = json_object_get(object, key);

	HI_ASSERT_MSG(json_is_integer(value), "no number %s", key);
	return json_integer_value(value);
}
