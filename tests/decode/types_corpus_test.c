/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Small images made by hand (tests/corpus): what is right is read right, what is
 * wrong ends in unknown types that are counted, and changed at random they end too.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/file_types.h"
#include "tests/support/victim.h"
#include "tests/support/workshop.h"

static struct hi_error err;

#define ALT_ID "0x0123456789abcdef0123456789abcdef01234567"

/* Assembles corpus/SOURCE.s into the workshop; its path. */
static const char *image(const char *dir, const char *source, const char *ld_options)
{
	static char path[512];

	workshop_run("sed 's|@DIR@|%s|' " HI_SOURCE_DIR "/tests/corpus/%s.s >%s.s && "
		     "as -I " HI_SOURCE_DIR "/tests/corpus -o %s.o %s.s && "
		     "ld %s -o %s %s.o",
		     dir, source, source, source, source, ld_options, source, source);
	snprintf(path, sizeof(path), "%s/%s", dir, source);
	return path;
}

static struct inspected *open_image(const char *source)
{
	return inspected_file(image(workshop_open(), source, ""));
}

static const struct hi_type *find(struct inspected *p, const char *name)
{
	hi_type_id id = 0;

	HI_ASSERT_OK(hi_types_find(p->types, name, &id, &err), &err);
	return hi_type_get(p->types, id);
}

static const struct hi_member *member(const struct hi_type *type, const char *name)
{
	for (uint32_t i = 0; i < type->n_members; i++)
		if (strcmp(type->members[i].name, name) == 0)
			return &type->members[i];
	hi_test_fail(__FILE__, __LINE__, "%s has no member %s", type->name, name);
}

static const struct hi_type *of_member(struct inspected *p, const struct hi_type *type,
				       const char *name)
{
	return hi_type_get(p->types, member(type, name)->type);
}

static uint64_t broken(const struct inspected *p)
{
	return hi_types_stats(p->types).broken;
}

static void check_typical(struct inspected *p)
{
	const struct hi_type *node = find(p, "struct node"), *list;

	HI_ASSERT_EQ(48, node->size);
	HI_ASSERT_EQ(4, node->n_members);
	HI_ASSERT_EQ(12, member(node, "text")->offset);
	HI_ASSERT_EQ(24, of_member(p, node, "text")->count);
	HI_ASSERT_EQ(node->id, of_member(p, node, "next")->target);
	HI_ASSERT_EQ(HI_KIND_UNION, of_member(p, node, "both")->kind);
	list = find(p, "struct list");
	HI_ASSERT_EQ(of_member(p, node, "next")->id, of_member(p, list, "head")->id);
	HI_ASSERT_EQ(HI_KIND_DECLARATION,
		     hi_type_get(p->types, of_member(p, list, "o")->target)->kind);
	HI_ASSERT_EQ(0, broken(p));
}

HI_TEST_SCENARIO(types_corpus, typical_dwarf_of_a_c_compiler_is_read)
{
	check_typical(open_image("dwarf4"));
	check_typical(open_image("dwarf5"));
	check_typical(inspected_file(
		image(workshop_open(), "dwarf5", "--compress-debug-sections=zlib")));
}

HI_TEST_SCENARIO(types_corpus, split_units_are_read)
{
	const char *dir = workshop_open();
	struct inspected *p;

	image(dir, "split_dwo", "-r");
	p = inspected_file(image(dir, "split", ""));
	check_typical(p);
	HI_ASSERT(!strstr(hi_modules_get(p->modules, 0)->note, "split"));
}

HI_TEST_SCENARIO(types_corpus, split_units_that_are_missing_are_said)
{
	struct inspected *p = open_image("split");

	HI_ASSERT_STATUS(HI_NOT_FOUND,
			 hi_types_find(p->types, "struct node", &(hi_type_id){0}, NULL));
	HI_ASSERT(strstr(hi_modules_get(p->modules, 0)->note,
			 "1 split debug files (.dwo) were not found"));
}

HI_TEST_SCENARIO(types_corpus, files_shared_by_dwz_are_read)
{
	const char *dir = workshop_open();
	const struct hi_type *user;
	struct inspected *p;

	image(dir, "dwz_alt", "--build-id=" ALT_ID);
	p = inspected_file(image(dir, "dwz", ""));
	user = find(p, "struct user");
	HI_ASSERT_EQ(16, user->size);
	HI_ASSERT_STREQ("struct shared", of_member(p, user, "it")->name);
	HI_ASSERT_EQ(8, of_member(p, user, "it")->size);
	HI_ASSERT_EQ(8, find(p, "struct own")->size);
	HI_ASSERT_EQ(0, broken(p));
	HI_ASSERT(!strstr(hi_modules_get(p->modules, 0)->note, "dwz"));
}

/* One with another build-id is not the file. */
HI_TEST_SCENARIO(types_corpus, files_shared_by_dwz_that_are_missing_are_said)
{
	const char *dir = workshop_open();
	const struct hi_type *user;
	struct inspected *p;

	image(dir, "dwz_alt", "--build-id=0x00");
	p = inspected_file(image(dir, "dwz", ""));
	user = find(p, "struct user");
	HI_ASSERT_EQ(HI_KIND_INTEGER, of_member(p, user, "n")->kind);
	HI_ASSERT_EQ(HI_KIND_UNKNOWN, of_member(p, user, "it")->kind);
	HI_ASSERT(strstr(hi_modules_get(p->modules, 0)->note, "dwz"));
	HI_ASSERT(broken(p) > 0);
}

HI_TEST_SCENARIO(types_corpus, typedefs_in_circles_are_unknown_and_counted)
{
	struct inspected *p = open_image("cycles");
	const struct hi_type *holder = find(p, "struct holder");

	HI_ASSERT_EQ(5, holder->n_members);
	HI_ASSERT_EQ(HI_KIND_UNKNOWN, of_member(p, holder, "one")->kind);
	HI_ASSERT_EQ(HI_KIND_UNKNOWN, of_member(p, holder, "self")->kind);
	HI_ASSERT_EQ(HI_KIND_UNKNOWN, of_member(p, holder, "frozen")->kind);
	HI_ASSERT_EQ(HI_KIND_POINTER, of_member(p, holder, "to_one")->kind);
	HI_ASSERT_EQ(HI_KIND_POINTER, of_member(p, holder, "around")->kind);
	HI_ASSERT(broken(p) >= 3);
	HI_ASSERT_EQ(HI_KIND_UNKNOWN,
		     hi_type_get(p->types, of_member(p, holder, "to_one")->target)->kind);
}

/* The members stand there; what has to be finite to be known is unknown. */
HI_TEST_SCENARIO(types_corpus, records_in_themselves_end)
{
	struct inspected *p = open_image("itself");
	const struct hi_type *a;

	HI_ASSERT_EQ(8, find(p, "matryoshka")->size);
	HI_ASSERT_EQ(80, find(p, "crowd")->size);
	HI_ASSERT_EQ(80, of_member(p, find(p, "crowd"), "all")->size);
	HI_ASSERT_EQ(16, find(p, "ouroboros")->size);
	a = find(p, "a");
	HI_ASSERT_EQ(8, a->size);
	HI_ASSERT_EQ(1, a->n_members);
	HI_ASSERT(broken(p) >= 2);
}

HI_TEST_SCENARIO(types_corpus, sizes_that_cannot_be_are_unknown_and_counted)
{
	struct inspected *p = open_image("sizes");
	const struct hi_type *small = find(p, "struct small");
	hi_type_id id = 0;

	HI_ASSERT_EQ(8, small->size);
	for (uint32_t i = 0; i < small->n_members; i++)
		HI_ASSERT(small->members[i].offset <= 8 &&
			  hi_type_get(p->types, small->members[i].type)->size <=
				  1ull << 40);
	HI_ASSERT_EQ(HI_KIND_UNKNOWN, of_member(p, small, "wide")->kind);
	HI_ASSERT_EQ(HI_KIND_UNKNOWN, of_member(p, small, "endless")->kind);
	HI_ASSERT_EQ(HI_KIND_UNKNOWN, of_member(p, small, "larger")->kind);
	HI_ASSERT_STATUS(HI_NOT_FOUND, hi_types_find(p->types, "struct huge", &id, NULL));
	HI_ASSERT(broken(p) >= 4);
}

HI_TEST_SCENARIO(types_corpus, types_before_an_unknown_form_are_read)
{
	struct inspected *p = open_image("form");

	HI_ASSERT_EQ(8, find(p, "struct before")->size);
	HI_ASSERT_STATUS(HI_NOT_FOUND,
			 hi_types_find(p->types, "struct odd", &(hi_type_id){0}, NULL));
	HI_ASSERT(broken(p) >= 1);
}

HI_TEST_SCENARIO(types_corpus, variants_of_rust_overlap)
{
	struct inspected *p = open_image("rust");
	const struct hi_type *node = find(p, "app::Node"), *shape, *option, *tuple, *some;

	shape = find(p, "app::Shape");
	HI_ASSERT_EQ(HI_KIND_UNION, shape->kind);
	HI_ASSERT_EQ(3, shape->n_members); /* the tag and two variants */
	HI_ASSERT_EQ(0, member(shape, "Owner")->offset);
	HI_ASSERT_EQ(16, member(of_member(p, shape, "Owner"), "node")->offset);
	HI_ASSERT_EQ(node->id,
		     of_member(p, of_member(p, shape, "Owner"), "node")->target);
	option = of_member(p, node, "next");
	HI_ASSERT_STREQ("core::option::Option<alloc::boxed::Box<app::Node, "
			"alloc::alloc::Global>>",
			option->name);
	HI_ASSERT_EQ(option->id, find(p, option->name)->id);
	some = of_member(p, option, "Some");
	HI_ASSERT_EQ(node->id, of_member(p, some, "__0")->target);
	HI_ASSERT_EQ(1, some->n_args);
	tuple = of_member(p, node, "pair");
	HI_ASSERT_STREQ("(u8, alloc::boxed::Box<app::Node, alloc::alloc::Global>)",
			tuple->name);
	HI_ASSERT_EQ(8, member(tuple, "__0")->offset);
	HI_ASSERT_EQ(node->id, of_member(p, tuple, "__1")->target);
	/* A pointer to it is the same type, made or read. */
	HI_ASSERT_EQ(hi_types_pointer_to(p->types, node->id),
		     of_member(p, tuple, "__1")->id);
	HI_ASSERT_EQ(0, broken(p));
}

HI_TEST_SCENARIO(types_corpus, templates_have_their_arguments)
{
	struct inspected *p = open_image("templates");
	const struct hi_type *pair = find(p, "ns::Pair<int,ns::Wrap<ns::node *>>");

	HI_ASSERT_EQ(5, pair->n_args);
	HI_ASSERT_STREQ("int", hi_type_get(p->types, pair->args[0].type)->name);
	HI_ASSERT_EQ(find(p, "ns::Wrap<ns::node *>")->id,
		     hi_type_get(p->types, pair->args[1].type)->id);
	HI_ASSERT(pair->args[2].type == 0 && pair->args[2].value == -12345678901);
	HI_ASSERT(!pair->args[2].of_pack && pair->args[3].of_pack);
	HI_ASSERT_STREQ("Rest", pair->args[4].name);
	HI_ASSERT_EQ(find(p, "ns::node")->id,
		     hi_type_get(p->types, pair->args[4].type)->id);
}

/* ---- changed at random ---- */

static void survive(const char *path, uint64_t min_types, uint64_t variants)
{
	struct victim victim;

	victim_load(&victim, path);
	victim.min_types = min_types;
	victim_debug(&victim);
	victim_survive(&victim, variants);
}

static void survive_all(uint64_t variants)
{
	static const char *const sources[] = {"dwarf4", "dwarf5",    "cycles",
					      "itself", "sizes",     "form",
					      "rust",	"templates", "dwz"};
	const char *dir = workshop_open();

	image(dir, "dwz_alt", "--build-id=" ALT_ID);
	image(dir, "split_dwo", "-r");
	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++)
		survive(image(dir, sources[i], ""), 2, variants);
	survive(image(dir, "split", ""), 4, variants);
	survive(image(dir, "dwarf5", "--compress-debug-sections=zlib"), 4, variants);
}

HI_TEST_SCENARIO(types_corpus, changed_images_never_crash_or_hang)
{
	survive_all(1500);
}

HI_TEST_SLOW(types_corpus, many_changed_images_never_crash_or_hang)
{
	survive_all(8000);
}
