/* SPDX-License-Identifier: BSD-2-Clause */
/* Every record of a program: each one once, all that pahole knows of. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "tests/harness.h"
#include "tests/support/command.h"
#include "tests/support/fixture.h"
#include "tests/support/inspected.h"

static struct hi_error err;

struct listing {
	struct HI_VECTOR(const struct hi_type *) types;
	size_t stop_after; /* 0: never */
};

static bool take(const struct hi_type *type, void *arg)
{
	struct listing *listing = arg;

	HI_ASSERT(hi_vector_push(&listing->types, type));
	return listing->types.count != listing->stop_after;
}

static void listing_free(struct listing *listing)
{
	hi_vector_free(&listing->types);
	free(listing);
}

static struct listing *list(struct inspected *p, uint64_t min_size)
{
	struct listing *listing = calloc(1, sizeof(*listing));
	uint32_t skipped = 77;

	HI_ASSERT(listing);
	hi_test_defer(listing_free, listing);
	HI_ASSERT_OK(hi_types_each_record(p->types, min_size, NULL, UINT64_MAX, take,
					  listing, &skipped, &err),
		     &err);
	HI_ASSERT_EQ(0, skipped);
	return listing;
}

static const struct hi_type *named(const struct listing *listing, const char *name)
{
	const struct hi_type *found = NULL;

	for (size_t i = 0; i < listing->types.count; i++)
		if (strcmp(listing->types.items[i]->name, name) == 0) {
			HI_ASSERT_MSG(!found, "%s is there twice", name);
			found = listing->types.items[i];
		}
	return found;
}

static struct inspected *open_fixture(const char *name)
{
	struct hi_fixture *fx = hi_fixture_start(name, NULL);

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	return inspected_open(fx->pid, NULL);
}

HI_TEST_SCENARIO(types_each, every_complete_record_is_there_once)
{
	struct inspected *p = open_fixture("types_c");
	struct listing *listing = list(p, 1);

	for (size_t i = 0; i < listing->types.count; i++) {
		const struct hi_type *type = listing->types.items[i];

		HI_ASSERT(type->kind == HI_KIND_STRUCT || type->kind == HI_KIND_UNION);
		HI_ASSERT(type->size >= 1 && hi_type_get(p->types, type->id) == type);
		for (size_t k = 0; k < i; k++)
			HI_ASSERT_MSG(listing->types.items[k]->id != type->id, "%s twice",
				      type->name);
	}
	HI_ASSERT(named(listing, "struct everything") && named(listing, "point"));
	HI_ASSERT(named(listing, "struct node") && named(listing, "union value"));
	HI_ASSERT(!named(listing, "struct opaque")); /* declared only */
	HI_ASSERT(!named(listing, "struct {...}"));
}

HI_TEST_SCENARIO(types_each, small_records_are_left_out)
{
	struct inspected *p = open_fixture("types_c");
	struct listing *all = list(p, 1), *large = list(p, 32);
	size_t expected = 0;

	for (size_t i = 0; i < all->types.count; i++)
		expected += all->types.items[i]->size >= 32;
	HI_ASSERT(expected > 0 && expected < all->types.count);
	HI_ASSERT_EQ(expected, large->types.count);
	for (size_t i = 0; i < large->types.count; i++)
		HI_ASSERT(large->types.items[i]->size >= 32);
}

static uint64_t wanted_low, wanted_high;

static bool is_between(uint64_t size, void *arg)
{
	(void)arg;
	return size >= wanted_low && size < wanted_high;
}

/* Asked for in two parts, or all at once by somebody else: the same records, in the same
 * order. */
HI_TEST_SCENARIO(types_each, records_of_some_sizes_are_those_among_all)
{
	struct inspected *p = open_fixture("types_c"), *q = open_fixture("types_c");
	struct listing *all = list(p, 1);
	static const uint64_t bounds[][2] = {{16, 32}, {1, 64}};

	for (size_t part = 0; part < 2; part++) {
		struct listing *some = calloc(1, sizeof(*some));
		size_t n = 0;

		HI_ASSERT(some);
		hi_test_defer(listing_free, some);
		wanted_low = bounds[part][0];
		wanted_high = bounds[part][1];
		HI_ASSERT_OK(hi_types_each_record(q->types, 1, is_between, UINT64_MAX,
						  take, some, NULL, &err),
			     &err);
		for (size_t i = 0; i < all->types.count; i++) {
			const struct hi_type *type = all->types.items[i];

			if (type->size < wanted_low || type->size >= wanted_high)
				continue;
			HI_ASSERT(n < some->types.count);
			HI_ASSERT_STREQ(type->name, some->types.items[n]->name);
			HI_ASSERT_EQ(type->size, some->types.items[n++]->size);
		}
		HI_ASSERT(n > 5 && n < all->types.count);
		HI_ASSERT_EQ(n, some->types.count);
	}
}

/* Whatever was read before. */
HI_TEST_SCENARIO(types_each, the_order_depends_on_the_debug_information_only)
{
	struct hi_fixture *fx = hi_fixture_start("types_templates", NULL);
	struct inspected *p, *q;
	struct listing *a, *b;
	hi_type_id id;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	p = inspected_open(fx->pid, NULL);
	q = inspected_open(fx->pid, NULL);
	HI_ASSERT_OK(hi_types_find(q->types, "ns::Wrap<ns::Foo*> *", &id, &err), &err);
	HI_ASSERT_OK(hi_types_find(q->types, "ns::Foo", &id, &err), &err);
	a = list(p, 1);
	b = list(q, 1);
	HI_ASSERT(a->types.count > 100);
	HI_ASSERT_EQ(a->types.count, b->types.count);
	for (size_t i = 0; i < a->types.count; i++) {
		HI_ASSERT_STREQ(a->types.items[i]->name, b->types.items[i]->name);
		HI_ASSERT(a->types.items[i]->layout_hash ==
			  b->types.items[i]->layout_hash);
	}
}

HI_TEST_SCENARIO(types_each, a_kept_typedef_of_a_record_is_there_too)
{
	struct hi_fixture *fx = hi_fixture_start("types_kept", NULL);
	struct listing *listing;
	struct inspected *p;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	p = inspected_open(fx->pid, NULL);
	HI_ASSERT_OK(hi_types_keep_typedef(p->types, "thing_t", &err), &err);
	listing = list(p, 1);
	HI_ASSERT(named(listing, "thing_t") && named(listing, "struct thing"));
	HI_ASSERT(named(listing, "untagged") && !named(listing, "sds"));
}

HI_TEST_SCENARIO(types_each, a_module_with_too_much_debug_information_is_counted)
{
	struct inspected *p = open_fixture("types_c");
	struct listing listing = {};
	uint32_t skipped = 0;

	HI_ASSERT_OK(hi_types_each_record(p->types, 1, NULL, 100, take, &listing,
					  &skipped, &err),
		     &err);
	HI_ASSERT_EQ(0, listing.types.count);
	HI_ASSERT(skipped >= 1);
	HI_ASSERT_EQ(0, hi_types_stats(p->types).bytes_dwarf); /* nothing was opened */
}

HI_TEST_SCENARIO(types_each, false_stops)
{
	struct inspected *p = open_fixture("types_c");
	struct listing *listing = calloc(1, sizeof(*listing));

	HI_ASSERT(listing);
	hi_test_defer(listing_free, listing);
	listing->stop_after = 3;
	HI_ASSERT_OK(hi_types_each_record(p->types, 1, NULL, UINT64_MAX, take, listing,
					  NULL, &err),
		     &err);
	HI_ASSERT_EQ(3, listing->types.count);
}

/* "name<tab>size<tab>holes" a line: every named struct and class of a file. */
static void check_against_pahole(struct inspected *p, const char *path)
{
	struct hi_command *c = hi_command_run(0, "pahole", "--sizes", path, NULL);
	struct listing *listing = list(p, 1);
	size_t checked = 0, missing = 0;
	char *line, *next;

	HI_ASSERT_MSG(c->exit_code == 0, "pahole: %s", c->err);
	for (line = c->out; *line; line = next) {
		char *tab = strchr(line, '\t');
		size_t size;
		bool found = false;

		next = strchrnul(line, '\n');
		if (*next)
			*next++ = '\0';
		if (!tab || tab == line)
			continue;
		*tab = '\0';
		size = strtoull(tab + 1, NULL, 10);
		if (size == 0)
			continue;
		for (size_t i = 0; i < listing->types.count && !found; i++) {
			const char *name = listing->types.items[i]->name;

			name += strncmp(name, "struct ", 7) == 0  ? 7
				: strncmp(name, "union ", 6) == 0 ? 6
								  : 0;
			found = listing->types.items[i]->size == size &&
				strcmp(name, line) == 0;
		}
		checked++;
		missing += !found;
		if (!found)
			fprintf(stderr, "not there: %s, %zu\n", line, size);
	}
	HI_ASSERT(checked >= 4);
	HI_ASSERT_EQ(0, missing);
}

HI_TEST_SCENARIO(types_each, pahole_knows_no_struct_that_is_not_there)
{
	check_against_pahole(open_fixture("types_c"), HI_FIXTURE_DIR "/types_c");
	check_against_pahole(open_fixture("typing_c"), HI_FIXTURE_DIR "/typing_c");
}
