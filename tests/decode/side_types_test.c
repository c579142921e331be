/* SPDX-License-Identifier: BSD-2-Clause */
/* Types of a library that has none of its own, out of a file beside the hints. */
#include <stdio.h>
#include <string.h>

#include "decode/rules/rulebook.h"
#include "tests/harness.h"
#include "tests/support/file_types.h"
#include "tests/support/workshop.h"

static struct hi_error err;

/* A program that only knows that `struct lib` exists, and what it has of its own. */
static struct inspected *program(char *dir_ret)
{
	char path[300];

	strcpy(dir_ret, workshop_open());
	workshop_write("prog.c", "struct lib;\n"
				 "struct holder { long n; struct lib *lib; } holder;\n"
				 "struct twice { long a; } twice;\n"
				 "int main(void) { return holder.n + twice.a; }\n");
	workshop_write("side.c",
		       "struct lib { int n; char pad[20]; struct lib **items; } lib;\n"
		       "struct twice { char b[40]; } twice;\n"
		       "long holder = 5;\n");
	workshop_run("cc -g -o prog prog.c && cc -g -shared -fPIC -o side.so side.c && "
		     "cc -g -c -o side.o side.c && cc -shared -o bare.so side.c");
	snprintf(path, sizeof(path), "%s/prog", dir_ret);
	return inspected_file(path);
}

static struct hi_rulebook *book_of(struct inspected *p)
{
	struct hi_rulebook *book = NULL;

	HI_ASSERT_OK(hi_rulebook_create(p->types, p->modules, &book, &err), &err);
	hi_test_defer(hi_rulebook_destroy, book);
	return book;
}

HI_TEST_SCENARIO(side_types, a_declared_type_is_defined_by_the_file_beside_the_hints)
{
	static const char text[] = "hints x\ntypes side.so;\n"
				   "record lib { items -> lib *[n]; }\n"
				   "record twice { a -> lib; }\n";
	char dir[256], path[300];
	struct inspected *p = program(dir);
	struct hi_rulebook *book = book_of(p);
	struct hi_rule_source source;
	const struct hi_rules *rules;
	const char *const *warnings;
	struct hi_variable var;
	hi_type_id holder, twice;

	snprintf(path, sizeof(path), "%s/x.hints", dir);
	HI_ASSERT_OK(hi_rulebook_add(book, path, text, strlen(text), &err), &err);
	source = hi_rulebook_source(book);
	HI_ASSERT_OK(hi_types_find(p->types, "struct holder", &holder, &err), &err);
	rules = source.rules(
		source.arg,
		hi_type_get(p->types, hi_type_get(p->types, holder)->members[1].type)
			->target);
	HI_ASSERT(rules && rules->n == 1);
	HI_ASSERT_EQ(24, rules->items[0].offset);
	HI_ASSERT_EQ(32, hi_type_get(p->types, rules->type)->size);
	/* The program's own come first, and nothing of the file is in memory. */
	HI_ASSERT_OK(hi_types_find(p->types, "twice", &twice, &err), &err);
	HI_ASSERT_EQ(8, hi_type_get(p->types, twice)->size);
	HI_ASSERT(source.rules(source.arg, twice));
	HI_ASSERT_EQ(0, hi_rulebook_warnings(book, &warnings));
	HI_ASSERT_OK(hi_types_variable_named(p->types, "holder", &var, &err), &err);
	HI_ASSERT_EQ(holder, hi_type_get(p->types, var.type)->id);
	HI_ASSERT_STATUS(HI_NOT_FOUND,
			 hi_types_variable_named(p->types, "lib", &var, &err));
}

static void check_error(struct hi_rulebook *book, const char *dir, const char *file,
			enum hi_status status, const char *text)
{
	char hints[400], path[300], want[700];

	snprintf(hints, sizeof(hints), "hints x\n  types %s;\n", file);
	snprintf(path, sizeof(path), "%s/x.hints", dir);
	snprintf(want, sizeof(want), "x.hints:2:9: %s/%s: %s", dir, file, text);
	HI_ASSERT_STATUS(status, hi_rulebook_add(book, path, hints, strlen(hints), &err));
	HI_ASSERT_STREQ(want, err.text);
}

HI_TEST_SCENARIO(side_types, files_that_are_none_are_errors_with_their_place)
{
	char dir[256];
	struct inspected *p = program(dir);
	struct hi_rulebook *book = book_of(p);
	hi_type_id id;

	check_error(book, dir, "none.so", HI_NOT_FOUND, "cannot be opened");
	check_error(book, dir, "side.o", HI_UNSUPPORTED, "link it first (cc -shared)");
	check_error(book, dir, "bare.so", HI_BAD_DATA, "no debug information");
	check_error(book, dir, "side.c", HI_BAD_DATA, "no debug information");
	/* As if nobody had tried. */
	HI_ASSERT_OK(hi_types_find(p->types, "holder", &id, &err), &err);
	HI_ASSERT_STATUS(HI_NOT_FOUND, hi_types_find(p->types, "nonsense", &id, &err));
	for (unsigned i = 0; i < 8; i++) {
		char path[300];

		snprintf(path, sizeof(path), "%s/side.so", dir);
		HI_ASSERT_OK(hi_types_add_file(p->types, path, &err), &err);
	}
	HI_ASSERT_STATUS(HI_LIMIT, hi_types_add_file(p->types, "side.so", &err));
}
