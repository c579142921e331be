/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/spaced.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/json.h"
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

struct spaced spaced_of(json_t *amount)
{
	return (struct spaced){doc_number(amount, "number"), doc_number(amount, "size"),
			       doc_number(amount, "overhead")};
}

struct spaced spaced_amount(json_t *row, const char *key)
{
	return spaced_of(doc_at(row, "%s", key));
}

/* There are no ages behind the last that has some. */
struct spaced spaced_at_age(json_t *row, size_t age)
{
	if (age > 0 && age >= doc_size(row, "ages"))
		return (struct spaced){};
	return spaced_of(doc_at(row, "ages.%zu", age));
}

bool spaced_has(json_t *list, const char *name)
{
	return doc_find_row(list, "name", name) != NULL;
}

json_t *spaced_named(json_t *list, const char *name)
{
	return doc_row(list, "name", name);
}

json_t *spaced_function(json_t *doc, const char *name)
{
	return doc_row(doc_at(doc, "functions"), "name", name);
}

json_t *spaced_total(json_t *doc)
{
	return doc_at(doc, "total");
}

/* Of functions and of their types, at each age. */
static void check_spaced_sum(json_t *whole, json_t *parts)
{
	size_t n = doc_size(whole, "ages");
	json_t *part;

	for (size_t age = 0; age < n; age++) {
		struct spaced sum = {};

		doc_each (part, parts)
			sum = spaced_sum(sum, spaced_at_age(part, age));
		spaced_check(spaced_at_age(whole, age), sum);
	}
}

static void check_spaced_periods(json_t *doc)
{
	struct spaced born = {};
	json_t *census;

	doc_each (census, doc_at(doc, "censuses"))
		born = spaced_sum(born, spaced_amount(census, "born"));
	spaced_check(born, spaced_at_age(spaced_total(doc), 0));
}

json_t *spaced_columns(const struct hi_command *c)
{
	return doc_checked(c, "alloc.v1.json");
}

json_t *spaced_document(const struct hi_command *c)
{
	json_t *doc = spaced_columns(c), *function;

	check_spaced_sum(spaced_total(doc), doc_at(doc, "functions"));
	doc_each (function, doc_at(doc, "functions"))
		check_spaced_sum(function, doc_at(function, "types"));
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
