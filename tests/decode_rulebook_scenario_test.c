/* SPDX-License-Identifier: BSD-2-Clause */
/* Shipped hints against programs as compilers build them. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "decode/typing/rulebook.h"
#include "tests/harness.h"
#include "tests/support/file_types.h"

static struct hi_error err;

static void destroy_book(void *book)
{
	hi_rulebook_destroy(book);
}

static struct hi_rulebook *shipped_for(struct inspected *p, const char *exe_name)
{
	struct hi_rulebook *book = NULL;

	HI_ASSERT_OK(hi_rulebook_create(p->types, p->modules, &book, &err), &err);
	hi_test_defer(destroy_book, book);
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
	HI_ASSERT_OK(hi_types_each_record(p->types, 1, UINT64_MAX, ask, &a, NULL, &err),
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
