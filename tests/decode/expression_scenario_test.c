/* SPDX-License-Identifier: BSD-2-Clause */
/* Expressions over running programs, which print what is right. */
#include <stdlib.h>
#include <string.h>

#include "decode/expressions/expression_names.h"
#include "tests/harness.h"
#include "tests/support/fixture.h"
#include "tests/support/inspected.h"

static struct hi_error err;
static struct hi_arena arena;

static void free_arena(void *arg)
{
	(void)arg;
	hi_arena_free(&arena);
}

static bool read_target(void *arg, uint64_t addr, void *buf, size_t size)
{
	return hi_modules_read(arg, addr, buf, size, NULL) == HI_OK;
}

static void check(const struct hi_scope *scope, struct hi_code_input *input,
		  const char *text, const char *truth)
{
	const struct hi_code *code = NULL;
	uint64_t value = 0;
	size_t column = 0;

	HI_ASSERT_MSG(hi_code_compile(text, strlen(text), scope, false, &arena, &code,
				      &column, &err) == HI_OK,
		      "%s: column %zu: %s", text, column, err.text);
	HI_ASSERT_MSG(hi_code_run(code, input, &value), "%s: unreadable", text);
	HI_ASSERT_MSG(value == strtoull(truth, NULL, 10), "%s: %lld, truth %s", text,
		      (long long)value, truth);
}

static void check_fixture(const char *name, size_t least)
{
	struct hi_fixture *fx = hi_fixture_start(name, NULL);
	const struct truths *truths = truths_read(fx);
	struct inspected *p = inspected_open(fx->pid, NULL);
	struct hi_expression_names names = {p->types, p->modules};
	struct hi_expression_source source = hi_expression_source_of(&names);
	size_t checked = 0;

	hi_test_defer(free_arena, NULL);
	for (size_t i = 0; i < truths->count; i++) {
		const struct truth *t = &truths->items[i];
		struct hi_code_input input = {.arg = p->modules, .read = read_target};
		struct hi_scope scope = {.source = &source};

		if (strcmp(t->kind, "value") == 0) {
			check(&scope, &input, t->part[0], t->part[1]);
		} else {
			HI_ASSERT_STREQ("inside", t->kind);
			HI_ASSERT_OK(
				hi_types_find(p->types, t->part[0], &scope.self, &err),
				&err);
			input.self = strtoull(t->part[1], NULL, 0);
			check(&scope, &input, t->part[2], t->part[3]);
		}
		checked++;
	}
	HI_ASSERT_MSG(checked >= least, "only %zu expressions", checked);
}

HI_TEST_SCENARIO(expression_programs, values_in_c_equal_the_programs_own)
{
	check_fixture("expressions_c", 40);
}

HI_TEST_SCENARIO(expression_programs, values_in_strict_dwarf_4_equal_the_programs_own)
{
	check_fixture("expressions_c_dwarf4", 40);
}

HI_TEST_SCENARIO(expression_programs, values_in_classes_equal_the_programs_own)
{
	check_fixture("expressions_cc", 20);
}
