/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions that take pointers to records, and the registers in which they get them: by
 * the calling convention (psABI x86-64 3.2.3), whatever compiles them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/live/symbols.h"
#include "session/live/use_evidence.h"
#include "tests/harness.h"
#include "tests/support/workshop.h"

static const char source[] =
	"struct node { long v; }; union both { long l; double d; };\n"
	"typedef struct { long w; } plain; typedef const plain *plain_pointer;\n"
	"struct pair { long a, b; }; struct big { long x[10]; };\n"
	"volatile long sum;\n"
	"#define OUT __attribute__((noinline))\n"
	"OUT void first(struct node *n) { sum += n->v; }\n"
	"OUT void mixed(int a, double b, const struct node *n, float c, union both *u)\n"
	"{ sum += a + (long)b + n->v + (long)c + u->l; }\n"
	"OUT void named(plain_pointer p) { sum += p->w; }\n"
	"OUT void by_value(struct pair p, struct node *n) { sum += p.a + p.b + n->v; }\n"
	"OUT struct big large(struct node *n)\n"
	"{ struct big b = {{n->v}}; sum++; return b; }\n"
	"OUT void many(int a, int b, int c, int d, int e, struct node *f,\n"
	"	struct node *g) { sum += a + b + c + d + e + f->v + g->v; }\n"
	"OUT void number(long a, char *b, void *c, struct node **d)\n"
	"{ sum += a + *b + (c != 0) + (*d)->v; }\n"
	"static OUT long cloned(union both *c, long b, struct node *a)\n"
	"{ return b > 3 ? a->v * b + sum : c->l + sum; }\n"
	"OUT void calls(struct node *n, union both *o) { sum += cloned(o, 2, n) + 1; }\n"
	"OUT void calls_again(struct node *n, union both *o) { sum += cloned(o, 2, n); "
	"}\n";

/* By the integer register: the name of the type, or NULL. */
struct expected {
	const char *name;
	const char *types[HI_BPF_USE_REGISTERS];
	bool may_be_missing; /* where it is not certain */
};

static const struct expected expected[] = {
	{"first", {"struct node"}, false},
	{"mixed", {NULL, "struct node", "union both"}, false},
	{"named", {"plain"}, false},
	{"by_value", {NULL, NULL, "struct node"}, true},
	/* The address of the result comes first. */
	{"large", {NULL, "struct node"}, false},
	/* The last one is on the stack. */
	{"many", {NULL, NULL, NULL, NULL, NULL, "struct node"}, false},
	{"cloned", {"union both", NULL, "struct node"}, true},
	{"calls", {"struct node", "union both"}, false},
	{"calls_again", {"struct node", "union both"}, false},
};
/* clang takes the arguments away that the function does not need, and keeps its name. */
static const struct expected shortened = {"cloned", {"union both"}, true};

static const struct hi_use_functions *read_functions(const char *compile)
{
	struct hi_use_functions *functions = NULL;
	struct hi_target *target = NULL;
	struct hi_error err;

	workshop_open();
	workshop_write("passing.c", source);
	workshop_write("main.c", workshop_main);
	workshop_run("%s -c passing.c && cc -c main.c && cc -o passing passing.o main.o",
		     compile);
	HI_ASSERT_OK(hi_target_open(workshop_start("passing"), &target, &err), &err);
	hi_test_defer(hi_target_close, target);
	HI_ASSERT_OK(hi_symbols_use_functions(target, false, &functions, &err), &err);
	hi_test_defer(free, functions);
	return functions;
}

static const struct hi_use_function *find_use_function(const struct hi_use_functions *f,
						       const char *name)
{
	const struct hi_use_function *found = NULL;

	for (uint32_t i = 0; i < f->count; i++)
		if (strcmp(f->items[i].name, name) == 0) {
			HI_ASSERT(!found);
			found = &f->items[i];
		}
	return found;
}

static void expect_function(const struct hi_use_functions *f, const struct expected *e,
			    const char *compile)
{
	const struct hi_use_function *found = find_use_function(f, e->name);

	if (!found && e->may_be_missing)
		return;
	HI_ASSERT_MSG(found, "%s: no %s", compile, e->name);
	for (unsigned i = 0; i < HI_BPF_USE_REGISTERS; i++) {
		bool has = found->registers >> i & 1;

		HI_ASSERT_MSG(has == (e->types[i] != NULL), "%s: %s, register %u",
			      compile, e->name, i);
		if (has)
			HI_ASSERT_MSG(
				strcmp(f->type_names[found->types[i]], e->types[i]) == 0,
				"%s: %s, register %u: %s", compile, e->name, i,
				f->type_names[found->types[i]]);
	}
}

static void expect_functions(const char *compile)
{
	const struct hi_use_functions *f = read_functions(compile);
	bool is_shortened = strstr(compile, "clang") && !strstr(compile, "-O0");

	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		expect_function(f,
				is_shortened && strcmp(expected[i].name, "cloned") == 0
					? &shortened
					: &expected[i],
				compile);
	HI_ASSERT(!find_use_function(f, "number"));
	for (uint32_t i = 0; i < f->count; i++)
		HI_ASSERT_MSG(!strstr(f->items[i].name, "cloned."), "%s: %s", compile,
			      f->items[i].name);
}

HI_TEST(use_functions, take_objects_in_the_registers_of_the_calling_convention)
{
	static const char *const compilers[] = {
		"cc -g -O0",	"cc -g -O1",	"cc -g -O2", "cc -g -O3",
		"clang -g -O0", "clang -g -O2", "cc -g -Og", "cc -gdwarf-4 -g -O2"};

	for (size_t i = 0; i < sizeof(compilers) / sizeof(compilers[0]); i++)
		expect_functions(compilers[i]);
}

HI_TEST(use_functions, are_not_known_without_debug_information)
{
	const struct hi_use_functions *f = read_functions("cc -O2");

	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		HI_ASSERT(!find_use_function(f, expected[i].name));
	HI_ASSERT(f->n_with_dwarf < f->n_modules);
}

HI_TEST(use_functions, are_refused_where_no_file_has_debug_information)
{
	struct hi_use_evidence *evidence = NULL;
	struct hi_error err = {};
	enum hi_status status;

	workshop_open();
	workshop_write("main.c", workshop_main);
	workshop_run("cc -static -s -o alone main.c");
	status = hi_use_evidence_open(workshop_start("alone"), false, &evidence, &err);
	HI_ASSERT_STATUS(HI_NOT_FOUND, status);
	HI_ASSERT_MSG(strstr(err.text, "has debug information (DWARF)"), "%s", err.text);
}
