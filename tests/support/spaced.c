/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/spaced.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/schema.h"
#include "tests/support/workshop.h"

enum { WORDS_OF_ALLOC = 24 };

struct spaced spaced_sum(struct spaced a, struct spaced b)
{
	return (struct spaced){a.number + b.number, a.size + b.size,
			       a.overhead + b.overhead};
}

struct spaced spaced_times(struct spaced a, long long n)
{
	return (struct spaced){a.number * n, a.size * n, a.overhead * n};
}

void spaced_check(struct spaced expected, struct spaced actual)
{
	HI_ASSERT_MSG(expected.number == actual.number && expected.size == actual.size &&
			      expected.overhead == actual.overhead,
		      "%lld/%lld/%lld, not %lld/%lld/%lld", actual.number, actual.size,
		      actual.overhead, expected.number, expected.size, expected.overhead);
}

/* ---- documents ---- */

static struct spaced read_spaced(json_t *amount)
{
	HI_ASSERT(amount != NULL);
	return (struct spaced){json_integer_value(json_object_get(amount, "number")),
			       json_integer_value(json_object_get(amount, "size")),
			       json_integer_value(json_object_get(amount, "overhead"))};
}

struct spaced spaced_amount(json_t *row, const char *key)
{
	return read_spaced(json_object_get(row, key));
}

/* There are no ages behind the last that has some. */
struct spaced spaced_at_age(json_t *row, size_t age)
{
	if (age >= json_array_size(json_object_get(row, "ages")))
		return (struct spaced){};
	return read_spaced(json_array_get(json_object_get(row, "ages"), age));
}

static json_t *find_spaced(json_t *list, const char *name)
{
	json_t *item;
	size_t i;

	json_array_foreach(list, i, item)
	{
		const char *found = json_string_value(json_object_get(item, "name"));

		if (found && strcmp(found, name) == 0)
			return item;
	}
	return NULL;
}

bool spaced_has(json_t *list, const char *name)
{
	return find_spaced(list, name) != NULL;
}

json_t *spaced_named(json_t *list, const char *name)
{
	json_t *found = find_spaced(list, name);

	HI_ASSERT_MSG(found != NULL, "there is no %s", name);
	return found;
}

json_t *spaced_function(json_t *doc, const char *name)
{
	return spaced_named(json_object_get(doc, "functions"), name);
}

json_t *spaced_total(json_t *doc)
{
	return json_object_get(doc, "total");
}

/* Of functions and of their types, at each age. */
static void check_spaced_sum(json_t *whole, json_t *parts)
{
	size_t n = json_array_size(json_object_get(whole, "ages")), i;
	json_t *part;

	for (size_t age = 0; age < n; age++) {
		struct spaced sum = {};

		json_array_foreach(parts, i, part) sum =
			spaced_sum(sum, spaced_at_age(part, age));
		spaced_check(spaced_at_age(whole, age), sum);
	}
}

static void check_spaced_periods(json_t *doc)
{
	struct spaced born = {};
	json_t *census;
	size_t i;

	json_array_foreach(json_object_get(doc, "censuses"), i, census) born =
		spaced_sum(born, spaced_amount(census, "born"));
	spaced_check(born, spaced_at_age(spaced_total(doc), 0));
}

static void free_spaced_document(void *doc)
{
	json_decref(doc);
}

json_t *spaced_columns(const struct hi_command *c)
{
	json_error_t error;
	json_t *doc;

	HI_ASSERT_MSG(c->exit_code == 0, "exit %d: %s", c->exit_code, c->err);
	hi_check_schema(c, "alloc.v1.json");
	doc = json_loads(c->out, JSON_REJECT_DUPLICATES, &error);
	HI_ASSERT_MSG(doc != NULL, "%s in %s", error.text, c->out);
	hi_test_defer(free_spaced_document, doc);
	return doc;
}

json_t *spaced_document(const struct hi_command *c)
{
	json_t *doc = spaced_columns(c), *function;
	size_t i;

	check_spaced_sum(spaced_total(doc), json_object_get(doc, "functions"));
	json_array_foreach(json_object_get(doc, "functions"), i, function)
		check_spaced_sum(function, json_object_get(function, "types"));
	check_spaced_periods(doc);
	return doc;
}

json_t *spaced_read(const char *file, ...)
{
	const char *words[WORDS_OF_ALLOC] = {HI_BINARY_DIR "/heapinspect", "alloc", file,
					     "--json", "--all"};
	size_t n = 5;
	va_list ap;

	va_start(ap, file);
	while ((words[n] = va_arg(ap, const char *)))
		HI_ASSERT(++n < WORDS_OF_ALLOC);
	va_end(ap);
	return spaced_document(hi_command_runv(0, (char *const *)(uintptr_t)words));
}

/* ---- the fixture ---- */

struct hi_fixture *spaced_start(void)
{
	struct hi_fixture *fx = hi_fixture_start("space_lives", NULL);

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	return fx;
}

struct spaced spaced_tell(struct hi_fixture *fx, const char *command)
{
	char answer[256];
	struct spaced s;

	hi_fixture_tell(fx, command);
	HI_ASSERT(hi_fixture_line(fx, answer, sizeof(answer)));
	HI_ASSERT_EQ(3,
		     sscanf(answer, "%lld %lld %lld", &s.number, &s.size, &s.overhead));
	return s;
}

const char *spaced_file(void)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/app.hirec", workshop_open());
	return path;
}

const struct hi_command *spaced_end(struct recording_run *run)
{
	struct hi_command *c = recording_end(run, SIGINT);

	HI_ASSERT_MSG(c->exit_code == 0, "exit %d: %s", c->exit_code, c->err);
	return c;
}

struct hi_command *spaced_mark(const struct hi_fixture *fx, const char *text)
{
	char pid[16];
	struct hi_command *c;

	snprintf(pid, sizeof(pid), "%d", (int)fx->pid);
	c = hi_heapinspect("mark", pid, text);
	HI_ASSERT_MSG(c->exit_code == 0, "exit %d: %s", c->exit_code, c->err);
	return c;
}
