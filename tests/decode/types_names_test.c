/* SPDX-License-Identifier: BSD-2-Clause */
/* Names that types are found by: templates with their arguments, typedefs that are
 * types of their own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/fixture.h"
#include "tests/support/inspected.h"
#include "decode/modules/demangle.h"

static struct hi_error err;

static const struct hi_type *find(struct inspected *p, const char *name)
{
	hi_type_id id = 0;

	HI_ASSERT_OK(hi_types_find(p->types, name, &id, &err), &err);
	return hi_type_get(p->types, id);
}

static const struct hi_type *member_type(struct inspected *p, const struct hi_type *type,
					 const char *name)
{
	for (uint32_t i = 0; i < type->n_members; i++)
		if (strcmp(type->members[i].name, name) == 0)
			return hi_type_get(p->types, type->members[i].type);
	hi_test_fail(__FILE__, __LINE__, "%s has no member %s", type->name, name);
}

static const struct hi_type *target(struct inspected *p, const struct hi_type *type)
{
	return hi_type_get(p->types, type->target);
}

static struct truths *open_fixture(const char *name, struct inspected **ret)
{
	struct hi_fixture *fx = hi_fixture_start(name, NULL);
	struct truths *truths = truths_read(fx);

	*ret = inspected_open(fx->pid, NULL);
	return truths;
}

static void check_sizes(struct inspected *p, const struct truths *truths)
{
	HI_ASSERT(truths->count > 0);
	for (size_t i = 0; i < truths->count; i++) {
		const struct truth *t = &truths->items[i];

		if (strcmp(t->kind, "type") == 0)
			HI_ASSERT_EQ(strtoull(t->part[1], NULL, 10),
				     find(p, t->part[0])->size);
	}
}

/* ---- templates ---- */

HI_TEST_SCENARIO(types, templates_are_found_however_their_spaces_are_set)
{
	struct inspected *p;

	check_sizes(p, open_fixture("types_templates", &p));
	HI_ASSERT_EQ(find(p, "ns::Wrap<ns::Wrap<ns::Foo*> >")->id,
		     find(p, "ns::Wrap< ns::Wrap<ns::Foo *>>")->id);
	HI_ASSERT_EQ(find(p, "ns::Wrap<ns::Wrap<ns::Foo*> > *")->id,
		     hi_types_pointer_to(p->types,
					 find(p, "ns::Wrap<ns::Wrap<ns::Foo *>>")->id));
	/* A space between two words does count. */
	HI_ASSERT_STATUS(HI_NOT_FOUND,
			 hi_types_find(p->types,
				       "std::_Rb_tree_node<std::pair<intconst, ns::Foo>>",
				       &(hi_type_id){0}, NULL));
}

/* The same text whether it is reached by its name, a member, a pointer or an array. */
HI_TEST_SCENARIO(types, a_template_has_one_readable_name)
{
	struct inspected *p;
	const struct hi_type *outer, *inner;

	open_fixture("types_templates", &p);
	outer = find(p, "ns::Wrap<ns::Wrap<ns::Foo*>>");
	inner = member_type(p, outer, "value");
	HI_ASSERT_EQ(find(p, "ns::Wrap<ns::Foo *>")->id, inner->id);
	HI_ASSERT_EQ(outer->id, target(p, member_type(p, outer, "next"))->id);
	HI_ASSERT_EQ(outer->args[0].type ? inner->id : 0,
		     hi_type_get(p->types, outer->args[0].type)->id);
	HI_ASSERT(strncmp(member_type(p, outer, "next")->name, outer->name,
			  strlen(outer->name)) == 0);
}

static const struct hi_type *type_argument(struct inspected *p,
					   const struct hi_type *type, uint32_t i,
					   const char *parameter)
{
	HI_ASSERT_MSG(i < type->n_args, "%s has %u arguments", type->name, type->n_args);
	HI_ASSERT_STREQ(parameter, type->args[i].name);
	HI_ASSERT(type->args[i].type != 0);
	return hi_type_get(p->types, type->args[i].type);
}

static int64_t value_argument(const struct hi_type *type, uint32_t i,
			      const char *parameter)
{
	HI_ASSERT_MSG(i < type->n_args, "%s has %u arguments", type->name, type->n_args);
	HI_ASSERT_STREQ(parameter, type->args[i].name);
	HI_ASSERT_EQ(0, type->args[i].type);
	return type->args[i].value;
}

HI_TEST_SCENARIO(types, arguments_of_templates_are_read)
{
	const struct hi_type *values, *wrap;
	struct inspected *p;

	open_fixture("types_templates", &p);
	values = find(p, "ns::Values<long unsigned int, -7, true, 'x'>");
	HI_ASSERT_EQ(4, values->n_args);
	HI_ASSERT_STREQ("long unsigned int", type_argument(p, values, 0, "T")->name);
	HI_ASSERT_EQ(-7, value_argument(values, 1, "N"));
	HI_ASSERT_EQ(1, value_argument(values, 2, "Flag"));
	HI_ASSERT_EQ('x', value_argument(values, 3, "C"));
	HI_ASSERT_EQ(-5, value_argument(find(p, "ns::Coloured<(ns::Colour)-5>"), 0, "C"));
	wrap = type_argument(p, find(p, "ns::Wrap<ns::Foo*>"), 0, "T");
	HI_ASSERT_EQ(HI_KIND_POINTER, wrap->kind);
	HI_ASSERT_EQ(find(p, "ns::Foo")->id, target(p, wrap)->id);
	HI_ASSERT_EQ(0, find(p, "ns::Foo")->n_args);
}

HI_TEST_SCENARIO(types, packs_of_arguments_are_written_out)
{
	const struct hi_type *pack, *numbers;
	struct inspected *p;

	open_fixture("types_templates", &p);
	pack = find(p, "ns::Pack<int, ns::Foo, char const*, ns::Wrap<int>*>");
	HI_ASSERT_EQ(4, pack->n_args);
	HI_ASSERT_STREQ("int", type_argument(p, pack, 0, "Ts")->name);
	HI_ASSERT_EQ(find(p, "ns::Foo")->id, type_argument(p, pack, 1, "Ts")->id);
	HI_ASSERT_EQ(HI_KIND_POINTER, type_argument(p, pack, 2, "Ts")->kind);
	for (uint32_t i = 0; i < pack->n_args; i++)
		HI_ASSERT(pack->args[i].of_pack);
	numbers = find(p, "ns::Numbers<1, -2, 3000000>");
	HI_ASSERT_EQ(3, numbers->n_args);
	HI_ASSERT_EQ(1, value_argument(numbers, 0, "Ns"));
	HI_ASSERT_EQ(-2, value_argument(numbers, 1, "Ns"));
	HI_ASSERT_EQ(3000000, value_argument(numbers, 2, "Ns"));
	HI_ASSERT_EQ(0, find(p, "ns::Pack<>")->n_args);
}

HI_TEST_SCENARIO(types, containers_say_their_elements_by_argument)
{
	const struct hi_type *map, *tuple;
	struct hi_variable var;
	struct inspected *p;

	open_fixture("types_templates", &p);
	map = find(p, "std::map<int, ns::Foo, std::less<int>, "
		      "std::allocator<std::pair<int const, ns::Foo>>>");
	HI_ASSERT_EQ(4, map->n_args);
	HI_ASSERT_STREQ("int", type_argument(p, map, 0, "_Key")->name);
	HI_ASSERT_EQ(find(p, "ns::Foo")->id, type_argument(p, map, 1, "_Tp")->id);
	HI_ASSERT_OK(hi_types_variable_named(p->types, "ns::tuple", &var, &err), &err);
	/* GCC says them of the base class only. */
	tuple = hi_type_get(p->types, var.type);
	tuple = hi_type_get(p->types, tuple->members[0].type);
	HI_ASSERT_EQ(4, tuple->n_args);
	HI_ASSERT_EQ(0, value_argument(tuple, 0, "_Idx"));
	HI_ASSERT_EQ(find(p, "ns::Foo")->id, type_argument(p, tuple, 2, "_Elements")->id);
}

HI_TEST_SCENARIO(types, a_type_names_the_module_that_says_it)
{
	struct inspected *p;

	open_fixture("types_templates", &p);
	HI_ASSERT_STREQ("types_templates", find(p, "ns::Foo")->module);
	HI_ASSERT_STREQ("types_templates", find(p, "ns::Foo *")->module);
	HI_ASSERT_STREQ("types_templates", find(p, "int")->module);
	HI_ASSERT_STREQ("", hi_type_get(p->types, 0)->module);
	HI_ASSERT_STREQ("", find(p, "void")->module);
}

/* ---- mangled names ---- */

HI_TEST(types, names_of_rust_and_cxx_are_demangled)
{
	static const struct {
		const char *mangled, *plain;
	} names[] = {
		{"_RNvNtNtCs1234_3std2io5stdio8INSTANCE", "std::io::stdio::INSTANCE"},
		{"_RINvNtC3std3mem8align_ofjE", "std::mem::align_of::<usize>"},
		{"_ZN4core3ops8function5FnMut8call_mut17h0123456789abcdefE",
		 "core::ops::function::FnMut::call_mut"},
		{"_ZN2ns3Box5countE", "ns::Box::count"},
		{"_ZN2ns1fEi", "ns::f(int)"},
	};
	char text[256], small[8];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		HI_ASSERT_MSG(hi_demangle(names[i].mangled, text, sizeof(text)), "%s",
			      names[i].mangled);
		HI_ASSERT_STREQ(names[i].plain, text);
		HI_ASSERT(!hi_demangle(names[i].mangled, small, sizeof(small)));
	}
	HI_ASSERT(!hi_demangle("main", text, sizeof(text)));
	HI_ASSERT(!hi_demangle("_Ruby", text, sizeof(text)));
}

/* A<B<int, int>, B<S1, S1>, B<S2, S2>, ...>::g: each argument is twice as long as the one
 * before, 2 to the power of 30 bytes in all. */
HI_TEST(types, a_name_without_an_end_is_refused)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char mangled[512] = "_ZN1AI1BIiiE", text[4096];
	size_t n = strlen(mangled);

	for (unsigned i = 1; i <= 30; i++)
		n += (size_t)snprintf(mangled + n, sizeof(mangled) - n, "S0_IS%c_S%c_E",
				      digits[i], digits[i]);
	snprintf(mangled + n, sizeof(mangled) - n, "E1gEv");
	HI_ASSERT(!hi_demangle(mangled, text, sizeof(text)));
	HI_ASSERT(!hi_demangle_name(mangled, text, sizeof(text)));
	HI_ASSERT(hi_demangle_name("_ZN2ns1fEi", text, sizeof(text)));
	HI_ASSERT_STREQ("ns::f", text);
}

/* ---- typedefs ---- */

struct expected {
	const char *member, *name;
	enum hi_type_kind kind;
};

static void check_members(struct inspected *p, const struct expected *expected, size_t n)
{
	const struct hi_type *holder = find(p, "struct holder");

	for (size_t i = 0; i < n; i++) {
		const struct hi_type *of = member_type(p, holder, expected[i].member);

		HI_ASSERT_MSG(strcmp(expected[i].name, of->name) == 0 &&
				      of->kind == expected[i].kind,
			      "%s is %s, kind %d", expected[i].member, of->name,
			      (int)of->kind);
	}
}

HI_TEST_SCENARIO(types, typedefs_are_looked_through_unless_kept)
{
	static const struct expected expected[] = {
		{"text", "char *", HI_KIND_POINTER},
		{"list", "char **", HI_KIND_POINTER},
		{"row", "char *[4]", HI_KIND_ARRAY},
		{"any", "void *", HI_KIND_POINTER},
		{"thing", "struct thing", HI_KIND_STRUCT},
		{"small", "untagged", HI_KIND_STRUCT},
		{"bytes", "unsigned char [24]", HI_KIND_ARRAY},
	};
	struct inspected *p;

	check_sizes(p, open_fixture("types_kept", &p));
	check_members(p, expected, sizeof(expected) / sizeof(expected[0]));
}

HI_TEST_SCENARIO(types, a_kept_typedef_is_a_type_of_its_own_wherever_it_stands)
{
	static const struct expected expected[] = {
		{"plain", "char *", HI_KIND_POINTER},
		{"text", "sds", HI_KIND_POINTER},
		{"frozen", "sds", HI_KIND_POINTER},
		{"other", "sds", HI_KIND_POINTER},
		{"list", "sds *", HI_KIND_POINTER},
		{"row", "sds [4]", HI_KIND_ARRAY},
		{"frozen_list", "sds *", HI_KIND_POINTER},
		{"any", "handle", HI_KIND_POINTER},
		{"thing", "thing_t", HI_KIND_STRUCT},
		{"things", "thing_t *", HI_KIND_POINTER},
		{"by_tag", "struct thing *", HI_KIND_POINTER},
		{"ref", "thing_ref", HI_KIND_POINTER},
		{"small", "untagged", HI_KIND_STRUCT},
		{"smalls", "untagged *", HI_KIND_POINTER},
		{"bytes", "block", HI_KIND_ARRAY},
		{"blocks", "block *", HI_KIND_POINTER},
	};
	static const char *const kept[] = {"sds",      "handle", "thing_t", "thing_ref",
					   "untagged", "block",	 "nobody"};
	struct hi_fixture *fx = hi_fixture_start("types_kept", NULL);
	struct truths *truths = truths_read(fx);
	struct inspected *p = inspected_open(fx->pid, NULL);
	const struct hi_type *holder, *thing, *tag;
	struct hi_variable var;

	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		HI_ASSERT_OK(hi_types_keep_typedef(p->types, kept[i], &err), &err);
	check_sizes(p, truths);
	check_members(p, expected, sizeof(expected) / sizeof(expected[0]));
	holder = find(p, "struct holder");
	HI_ASSERT_EQ(find(p, "sds")->id, member_type(p, holder, "text")->id);
	HI_ASSERT_EQ(find(p, "sds")->id, member_type(p, holder, "frozen")->id);
	HI_ASSERT_EQ(find(p, "sds")->id, target(p, member_type(p, holder, "list"))->id);
	HI_ASSERT_EQ(find(p, "sds")->id, target(p, member_type(p, holder, "row"))->id);
	HI_ASSERT_EQ(find(p, "sds *")->id, member_type(p, holder, "list")->id);
	HI_ASSERT_EQ(find(p, "block *")->id, member_type(p, holder, "blocks")->id);
	HI_ASSERT_EQ(find(p, "thing_t *")->id, member_type(p, holder, "things")->id);
	HI_ASSERT_EQ(find(p, "untagged *")->id, member_type(p, holder, "smalls")->id);
	HI_ASSERT_STREQ("char", target(p, find(p, "sds"))->name);
	HI_ASSERT_EQ(member_type(p, holder, "plain")->target, find(p, "sds")->target);
	HI_ASSERT_STREQ("sds", member_type(p, find(p, "untagged"), "text")->name);
	/* The same members, but another type than what it stands for. */
	thing = find(p, "thing_t");
	tag = find(p, "struct thing");
	HI_ASSERT(thing->id != tag->id && thing->layout_hash != tag->layout_hash);
	HI_ASSERT_EQ(tag->n_members, thing->n_members);
	HI_ASSERT_EQ(tag->size, thing->size);
	HI_ASSERT_EQ(tag->id, target(p, find(p, "thing_ref"))->id);
	HI_ASSERT_OK(hi_types_variable_named(p->types, "global_text", &var, &err), &err);
	HI_ASSERT_STREQ("sds", hi_type_get(p->types, var.type)->name);
	HI_ASSERT_EQ(0, hi_types_stats(p->types).broken);
}
