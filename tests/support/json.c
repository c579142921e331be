/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/json.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"

enum { PATH_SIZE = 256 };

/* ---- documents ---- */

static void free_document(void *doc)
{
	json_decref(doc);
}

static json_t *keep_document(json_t *doc, const json_error_t *error, const char *text)
{
	HI_ASSERT_MSG(doc != NULL, "no JSON: %s, line %d: %.300s", error->text,
		      error->line, text);
	hi_test_defer(free_document, doc);
	return doc;
}

json_t *doc_parse(const char *text)
{
	json_error_t error;
	json_t *doc = json_loads(text, JSON_REJECT_DUPLICATES, &error);

	return keep_document(doc, &error, text);
}

json_t *doc_read(const char *path)
{
	json_error_t error;
	json_t *doc = json_load_file(path, JSON_REJECT_DUPLICATES, &error);

	return keep_document(doc, &error, path);
}

json_t *doc_of_exit(const struct hi_command *c, int exit_code)
{
	HI_ASSERT_MSG(c->exit_code == exit_code, "exit %d: %s", c->exit_code, c->err);
	return doc_parse(c->out);
}

json_t *doc_of(const struct hi_command *c)
{
	return doc_of_exit(c, 0);
}

json_t *doc_lines(const char *text)
{
	json_t *lines = json_array();

	hi_test_defer(free_document, lines);
	while (*text) {
		size_t size = strcspn(text, "\n");
		json_error_t error;
		json_t *doc = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);

		HI_ASSERT_MSG(doc != NULL, "no JSON: %s: %.300s", error.text, text);
		json_array_append_new(lines, doc);
		text += size + (text[size] == '\n');
	}
	return lines;
}

/* ---- values ---- */

/* Goes one step down; NULL: there is nothing of this name. */
static json_t *step_down(const json_t *value, const char *name)
{
	char *end;
	size_t i;

	if (!json_is_array(value))
		return json_object_get(value, name);
	i = strtoul(name, &end, 10);
	return *name && !*end ? json_array_get(value, i) : NULL;
}

static json_t *walk_down(const json_t *doc, const char *path)
{
	char names[PATH_SIZE], *rest = names, *name;

	snprintf(names, sizeof(names), "%s", path);
	while (doc && *path && (name = strsep(&rest, ".")))
		doc = step_down(doc, name);
	return (json_t *)(uintptr_t)doc;
}

struct place {
	char path[PATH_SIZE];
	json_t *value; /* NULL: there is none */
};

__attribute__((format(printf, 2, 0))) static struct place
find_place(const json_t *doc, const char *path, va_list words)
{
	struct place p;

	HI_ASSERT(vsnprintf(p.path, sizeof(p.path), path, words) < PATH_SIZE);
	p.value = walk_down(doc, p.path);
	return p;
}

#define FIND_PLACE(doc, path)                                                            \
	({                                                                               \
		va_list words_;                                                          \
		struct place place_;                                                     \
                                                                                         \
		va_start(words_, path);                                                  \
		place_ = find_place(doc, path, words_);                                  \
		va_end(words_);                                                          \
		place_;                                                                  \
	})

static void need_value(const json_t *doc, const struct place *p, bool is_wanted,
		       const char *wanted)
{
	char *text, shown[400];

	if (is_wanted)
		return;
	text = doc ? json_dumps(doc, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
	snprintf(shown, sizeof(shown), "%s", text ? text : "nothing");
	free(text);
	hi_test_fail(__FILE__, __LINE__, "no %s at \"%s\" of %s", wanted, p->path, shown);
}

json_t *doc_find(const json_t *doc, const char *path, ...)
{
	return FIND_PLACE(doc, path).value;
}

json_t *doc_at(const json_t *doc, const char *path, ...)
{
	struct place p = FIND_PLACE(doc, path);

	need_value(doc, &p, p.value, "value");
	return p.value;
}

long long doc_number(const json_t *doc, const char *path, ...)
{
	struct place p = FIND_PLACE(doc, path);

	need_value(doc, &p, json_is_integer(p.value), "integer");
	return json_integer_value(p.value);
}

double doc_real(const json_t *doc, const char *path, ...)
{
	struct place p = FIND_PLACE(doc, path);

	need_value(doc, &p, json_is_number(p.value), "number");
	return json_number_value(p.value);
}

const char *doc_text(const json_t *doc, const char *path, ...)
{
	struct place p = FIND_PLACE(doc, path);

	need_value(doc, &p, json_is_string(p.value), "text");
	return json_string_value(p.value);
}

bool doc_bool(const json_t *doc, const char *path, ...)
{
	struct place p = FIND_PLACE(doc, path);

	need_value(doc, &p, json_is_boolean(p.value), "true or false");
	return json_is_true(p.value);
}

bool doc_is_null(const json_t *doc, const char *path, ...)
{
	struct place p = FIND_PLACE(doc, path);

	need_value(doc, &p, p.value, "value");
	return json_is_null(p.value);
}

size_t doc_size(const json_t *doc, const char *path, ...)
{
	struct place p = FIND_PLACE(doc, path);

	need_value(doc, &p, json_is_array(p.value), "array");
	return json_array_size(p.value);
}

/* ---- rows ---- */

json_t *doc_item(const json_t *rows, size_t i)
{
	HI_ASSERT_MSG(json_is_array(rows), "%s is no array",
		      rows ? "what is looked through" : "nothing");
	return json_array_get(rows, i);
}

static bool has_text(const json_t *row, const char *key, const char *value)
{
	const char *text = json_string_value(walk_down(row, key));

	return text && strcmp(text, value) == 0;
}

json_t *doc_find_row(const json_t *rows, const char *key, const char *value)
{
	bool has_key = json_array_size(rows) == 0;
	json_t *row;

	doc_each (row, rows) {
		if (has_text(row, key, value))
			return row;
		has_key |= walk_down(row, key) != NULL;
	}
	HI_ASSERT_MSG(has_key, "no row has \"%s\"", key);
	return NULL;
}

json_t *doc_row(const json_t *rows, const char *key, const char *value)
{
	json_t *row = doc_find_row(rows, key, value);
	struct place p;

	snprintf(p.path, sizeof(p.path), "%s = %s", key, value);
	need_value(rows, &p, row, "row");
	return row;
}

long long doc_sum(const json_t *rows, const char *number)
{
	long long sum = 0;
	json_t *row;

	doc_each (row, rows)
		sum += doc_number(row, "%s", number);
	return sum;
}

long long doc_sum_of(const json_t *rows, const char *key, const char *value,
		     const char *number)
{
	long long sum = 0;
	json_t *row;

	if (!doc_find_row(rows, key, value))
		return 0;
	doc_each (row, rows) {
		if (has_text(row, key, value))
			sum += doc_number(row, "%s", number);
	}
	return sum;
}
