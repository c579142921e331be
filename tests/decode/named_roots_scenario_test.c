/* SPDX-License-Identifier: BSD-2-Clause */
/* Roots by expressions, over a program that prints where each one leads. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/roots/named_roots.h"
#include "tests/harness.h"
#include "tests/support/fixture.h"
#include "tests/support/typed_process.h"

enum { MAX_LINES = 200 };

struct claim {
	char kind[16], expression[200], rest[400];
};
static struct claims {
	struct claim items[MAX_LINES];
	size_t count;
} claims;

static void keep_line(const char *line, void *arg)
{
	const char *blank = strchr(line, ' '), *bar = strchr(line, '|');
	struct claim *c = &claims.items[claims.count];

	(void)arg;
	/* The last bar but those of the rest: expressions have none. */
	if (!blank || !bar || claims.count == MAX_LINES)
		return;
	claims.count++;
	snprintf(c->kind, sizeof(c->kind), "%.*s", (int)(blank - line), line);
	snprintf(c->expression, sizeof(c->expression), "%.*s", (int)(bar - blank - 1),
		 blank + 1);
	snprintf(c->rest, sizeof(c->rest), "%s", bar + 1);
}

static struct typed_process *open_fixture(void)
{
	struct hi_fixture *fx = hi_fixture_start("root_names", NULL);
	struct hi_typing_options options = {};

	claims.count = 0;
	hi_fixture_read_until(fx, "ready", keep_line, NULL);
	return typed_process_open(fx->pid, &options);
}

static void starts_as_text(const struct typed_process *p, const struct hi_named_root *r,
			   char *out, size_t size)
{
	size_t used = 0;

	out[0] = '\0';
	for (size_t i = 0; i < r->n_starts && used < size; i++)
		used += (size_t)snprintf(out + used, size - used, "0x%llx ",
					 (unsigned long long)hi_objects_address(
						 p->graph->objects, r->starts[i]));
}

static const struct hi_named_root *evaluate(const struct typed_process *p,
					    const char *expression)
{
	struct hi_root_text text = {.name = "it", .expression = expression};
	struct hi_named_roots *roots = NULL;
	size_t wrong = 0, column = 0;
	struct hi_error err = {};

	HI_ASSERT_MSG(hi_named_roots_open(p->image, p->modules, p->types, &text, 1,
					  &roots, &wrong, &column, &err) == HI_OK,
		      "%s: column %zu: %s", expression, column, err.text);
	hi_test_defer(hi_named_roots_close, roots);
	HI_ASSERT_OK(hi_named_roots_find(roots, p->typing, p->graph, &err), &err);
	return &roots->items[0];
}

static size_t check_all(const char *kind, const struct typed_process *p,
			void (*check)(const struct typed_process *, const struct claim *))
{
	size_t n = 0;

	for (size_t i = 0; i < claims.count; i++)
		if (strcmp(claims.items[i].kind, kind) == 0) {
			check(p, &claims.items[i]);
			n++;
		}
	return n;
}

static void check_starts(const struct typed_process *p, const struct claim *c)
{
	const struct hi_named_root *r = evaluate(p, c->expression);
	char text[400];

	starts_as_text(p, r, text, sizeof(text));
	HI_ASSERT_MSG(strcmp(text, c->rest) == 0, "%s: [%s], truth [%s] (%s)",
		      c->expression, text, c->rest, r->warning ? r->warning : "");
	HI_ASSERT(r->warning == NULL);
}

static void check_none(const struct typed_process *p, const struct claim *c)
{
	const struct hi_named_root *r = evaluate(p, c->expression);

	HI_ASSERT_MSG(r->n_starts == 0, "%s leads somewhere", c->expression);
	HI_ASSERT_MSG(r->warning && strstr(r->warning, c->rest), "%s: %s, not %s",
		      c->expression, r->warning ? r->warning : "nothing", c->rest);
}

static void check_wrong(const struct typed_process *p, const struct claim *c)
{
	struct hi_root_text texts[2] = {{.name = "good", .expression = "server"},
					{.name = "bad", .expression = c->expression}};
	struct hi_named_roots *roots = NULL;
	size_t wrong = 9, column = 99;
	struct hi_error err = {};
	char *word;
	unsigned long truth = strtoul(c->rest, &word, 10);
	enum hi_status status = hi_named_roots_open(p->image, p->modules, p->types, texts,
						    2, &roots, &wrong, &column, &err);

	if (status == HI_OK)
		hi_named_roots_close(roots);
	HI_ASSERT_MSG(status == HI_USAGE, "%s: status %d", c->expression, (int)status);
	HI_ASSERT_EQ(1, wrong);
	HI_ASSERT_MSG(column == truth, "%s: column %zu, truth %lu: %s", c->expression,
		      column, truth, err.text);
	HI_ASSERT_MSG(strstr(err.text, word + 1) != NULL, "%s: no \"%s\" in: %s",
		      c->expression, word + 1, err.text);
}

HI_TEST_SCENARIO(named_roots, roots_lead_where_the_program_says)
{
	const struct typed_process *p = open_fixture();

	HI_ASSERT(check_all("start", p, check_starts) >= 40);
}

/* One frame has it, whichever libc's own frames are below. */
HI_TEST_SCENARIO(named_roots, a_variable_is_in_one_frame)
{
	const struct typed_process *p = open_fixture();
	unsigned found = 0;

	for (unsigned frame = 0; frame < 8; frame++) {
		char expression[60];
		struct hi_root_text text = {.name = "it", .expression = expression};
		struct hi_named_roots *roots = NULL;
		size_t wrong, column;
		struct hi_error err = {};

		snprintf(expression, sizeof(expression), "thread:2/frame:%u/local->next",
			 frame);
		if (hi_named_roots_open(p->image, p->modules, p->types, &text, 1, &roots,
					&wrong, &column, &err) != HI_OK) {
			HI_ASSERT(strstr(err.text, "no such frame") ||
				  strstr(err.text, "no variable, function or type"));
			continue;
		}
		hi_named_roots_close(roots);
		found++;
	}
	HI_ASSERT_EQ(1, found);
}

HI_TEST_SCENARIO(named_roots, null_and_unreadable_roots_are_explained)
{
	const struct typed_process *p = open_fixture();

	HI_ASSERT(check_all("none", p, check_none) >= 9);
}

HI_TEST_SCENARIO(named_roots, errors_name_their_column)
{
	const struct typed_process *p = open_fixture();

	HI_ASSERT(check_all("wrong", p, check_wrong) >= 14);
}

HI_TEST(named_roots, names_end_at_the_first_equals_sign)
{
	size_t n = 0;
	const char *why = NULL;

	HI_ASSERT(hi_root_text_split("a=b == c", &n, &why));
	HI_ASSERT_EQ(1, n);
	HI_ASSERT(hi_root_text_split("db-0.keys=x", &n, &why));
	HI_ASSERT_EQ(9, n);
	HI_ASSERT(!hi_root_text_split("server", &n, &why) && strstr(why, "NAME=EXPR"));
	HI_ASSERT(!hi_root_text_split("=x", &n, &why) && strstr(why, "name is missing"));
	HI_ASSERT(!hi_root_text_split("a=", &n, &why) && strstr(why, "expression is"));
	HI_ASSERT(!hi_root_text_split("a=  ", &n, &why));
	HI_ASSERT(!hi_root_text_split("a b=c", &n, &why) && strstr(why, "blanks"));
	HI_ASSERT(!hi_root_text_split("a,b=c", &n, &why));
	HI_ASSERT(!hi_root_text_split("a\x1b=c", &n, &why));
	HI_ASSERT(!hi_root_text_split("LEAK=c", &n, &why) && strstr(why, "NOROOT"));
	HI_ASSERT(hi_root_text_split("LEAKS=c", &n, &why));
}
