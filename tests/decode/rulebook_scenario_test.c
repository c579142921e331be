/* SPDX-License-Identifier: BSD-2-Clause */
/* Shipped hints against programs as compilers build them. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "decode/rules/rulebook.h"
#include "tests/harness.h"
#include "tests/support/file_types.h"
#include "tests/support/workshop.h"

static struct hi_error err;

static struct hi_rulebook *shipped_for(struct inspected *p, const char *exe_name)
{
	struct hi_rulebook *book = NULL;

	HI_ASSERT_OK(hi_rulebook_create(p->types, p->modules, &book, &err), &err);
	hi_test_defer(hi_rulebook_destroy, book);
	HI_ASSERT_OK(hi_rulebook_add_shipped(book, exe_name, &err), &err);
	return book;
}

struct asked {
	struct hi_rule_source source;
	unsigned records, ruled;
};

static bool ask(const struct hi_type *type, void *arg)
{
	struct asked *a = arg;

	a->records++;
	a->ruled += a->source.rules(a->source.arg, type->id) != NULL;
	return true;
}

/* Every record of a program is asked about; what the hints say of those that they
 * know must fit. */
static void check_fits(const char *fixture)
{
	char path[300];
	struct inspected *p;
	struct hi_rulebook *book;
	struct asked a = {};
	const char *const *warnings;
	size_t n;

	snprintf(path, sizeof(path), "%s/%s", HI_FIXTURE_DIR, fixture);
	p = inspected_file(path);
	book = shipped_for(p, fixture);
	a.source = hi_rulebook_source(book);
	HI_ASSERT_OK(
		hi_types_each_record(p->types, 1, NULL, UINT64_MAX, ask, &a, NULL, &err),
		&err);
	n = hi_rulebook_warnings(book, &warnings);
	for (size_t i = 0; i < n && i < 20; i++)
		hi_test_note("%s: %s", fixture, warnings[i]);
	hi_test_note("%s: %u records, %u with rules, %zu warnings", fixture, a.records,
		     a.ruled, n);
	HI_ASSERT_EQ(0, n);
	HI_ASSERT(a.ruled > 0);
}

HI_TEST_SCENARIO(rulebook, containers_of_libstdcxx_have_the_members_that_hints_name)
{
	check_fits("containers_sequences");
	check_fits("containers_strings");
	check_fits("containers_cow");
	check_fits("containers_trees");
	check_fits("containers_hashes");
	check_fits("containers_pointers");
	check_fits("containers_values");
}

HI_TEST_SCENARIO(rulebook, containers_of_libcxx_have_the_members_that_hints_name)
{
	check_fits("containers_sequences_libcxx");
	check_fits("containers_strings_libcxx");
	check_fits("containers_trees_libcxx");
	check_fits("containers_hashes_libcxx");
	check_fits("containers_pointers_libcxx");
	check_fits("containers_values_libcxx");
}

/* ---- functions' names ---- */

static const char any_source[] =
	"struct big { long a[4]; };\n"
	"template <class T> struct manager { static int handle(int op, T *t); };\n"
	"template <class T> int manager<T>::handle(int op, T *) { return op; }\n"
	"template struct manager<big>;\n"
	"template struct manager<long>;\n"
	"int other(int op) { return op; }\n"
	"struct any { int (*manage)(int); void *object; } global;\n"
	"big b;\n"
	"int main() { return other(0) + (int)b.a[0]; }\n";

static uint64_t address_of(struct inspected *p, const char *symbol)
{
	uint64_t addr = 0, size;

	HI_ASSERT_OK(hi_modules_symbol(p->modules, NULL, symbol, &addr, &size, &err),
		     &err);
	return addr;
}

HI_TEST_SCENARIO(rulebook, the_name_of_a_function_tells_the_type)
{
	static const char text[] =
		"hints x\nrecord any {\n"
		"\tobject -> symbol manage \"manager<$T>::handle\": $T[2];\n"
		"\tobject -> any;\n}\n";
	char path[300];
	struct inspected *p;
	struct hi_rulebook *book = NULL;
	struct hi_rule_source source;
	const struct hi_rules *rules;
	const struct hi_rule_target *symbol, *target;
	hi_type_id any, big;

	snprintf(path, sizeof(path), "%s/any", workshop_open());
	workshop_write("any.cc", any_source);
	workshop_run("c++ -g -o any any.cc");
	p = inspected_file(path);
	HI_ASSERT_OK(hi_rulebook_create(p->types, p->modules, &book, &err), &err);
	hi_test_defer(hi_rulebook_destroy, book);
	HI_ASSERT_OK(hi_rulebook_add(book, "x", text, strlen(text), &err), &err);
	source = hi_rulebook_source(book);
	HI_ASSERT_OK(hi_types_find(p->types, "any", &any, &err), &err);
	HI_ASSERT_OK(hi_types_find(p->types, "big", &big, &err), &err);
	rules = source.rules(source.arg, any);
	HI_ASSERT(rules && rules->n == 1);
	HI_ASSERT_EQ(2, rules->items[0].n_cases);
	symbol = &rules->items[0].cases[0].target;
	HI_ASSERT_EQ(HI_TARGET_SYMBOL, symbol->kind);
	target = source.of_symbol(source.arg, symbol,
				  address_of(p, "_ZN7managerI3bigE6handleEiPS0_"));
	HI_ASSERT(target && target->kind == HI_TARGET_TYPE && target->to);
	HI_ASSERT_EQ(big, target->type);
	target = source.of_symbol(source.arg, symbol,
				  address_of(p, "_ZN7managerIlE6handleEiPl"));
	HI_ASSERT(target && target->kind == HI_TARGET_TYPE);
	HI_ASSERT_EQ(8, hi_type_get(p->types, target->type)->size);
	HI_ASSERT(!source.of_symbol(source.arg, symbol, address_of(p, "_Z5otheri")));
	/* Not the beginning of a function; nowhere. */
	HI_ASSERT(!source.of_symbol(source.arg, symbol, address_of(p, "main") + 1));
	HI_ASSERT(!source.of_symbol(source.arg, symbol, 0));
	HI_ASSERT(!source.of_symbol(source.arg, symbol, UINT64_MAX));
}

/* ---- threads ---- */

struct asker {
	struct inspected *p;
	struct hi_rule_source source;
	const struct hi_type *types[1024];
	unsigned n;
	const struct hi_rules *_Atomic found[1024];
	_Atomic unsigned differ;
};

static bool collect(const struct hi_type *type, void *arg)
{
	struct asker *a = arg;

	a->types[a->n++] = type;
	return a->n < 1024;
}

static void *ask_all(void *arg)
{
	struct asker *a = arg;

	for (unsigned i = 0; i < a->n; i++) {
		const struct hi_rules *none = NULL,
				      *rules = a->source.rules(a->source.arg,
							       a->types[i]->id);

		if (!atomic_compare_exchange_strong(&a->found[i], &none, rules) &&
		    none != rules)
			a->differ++;
	}
	return NULL;
}

HI_TEST_SCENARIO(rulebook, threads_are_told_the_same)
{
	static struct asker a;
	pthread_t threads[8];
	struct hi_rulebook *book;
	unsigned ruled = 0;

	memset(&a, 0, sizeof(a));
	a.p = inspected_file(HI_FIXTURE_DIR "/containers_hashes");
	book = shipped_for(a.p, "x");
	a.source = hi_rulebook_source(book);
	HI_ASSERT_OK(hi_types_each_record(a.p->types, 1, NULL, UINT64_MAX, collect, &a,
					  NULL, &err),
		     &err);
	for (unsigned i = 0; i < 8; i++)
		HI_ASSERT_EQ(0, pthread_create(&threads[i], NULL, ask_all, &a));
	for (unsigned i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
	for (unsigned i = 0; i < a.n; i++)
		ruled += a.found[i] != NULL;
	HI_ASSERT_EQ(0, a.differ);
	HI_ASSERT(ruled > 10);
}
