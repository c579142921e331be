/* SPDX-License-Identifier: BSD-2-Clause */
/* Layouts, variables and vtables against what the program itself prints, in every
 * form that compilers write DWARF in. */
#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/fixture.h"
#include "tests/support/inspected.h"

static struct hi_error err;

static const struct hi_type *find(struct inspected *p, const char *name)
{
	hi_type_id id = 0;

	HI_ASSERT_OK(hi_types_find(p->types, name, &id, &err), &err);
	return hi_type_get(p->types, id);
}

static uint64_t number(const char *text)
{
	return strtoull(text, NULL, 0);
}

static const struct hi_member *member(const struct hi_type *type, const char *name)
{
	for (uint32_t i = 0; i < type->n_members; i++)
		if (strcmp(type->members[i].name, name) == 0)
			return &type->members[i];
	hi_test_fail(__FILE__, __LINE__, "%s has no member %s", type->name, name);
}

static void check_member(struct inspected *p, const struct truth *t)
{
	const struct hi_type *type = find(p, t->part[0]);
	const struct hi_member *m = member(type, t->part[1]);
	const struct hi_type *of = hi_type_get(p->types, m->type);

	HI_ASSERT_MSG(m->offset == number(t->part[2]), "%s.%s at %llu, truth %s",
		      t->part[0], t->part[1], (unsigned long long)m->offset, t->part[2]);
	/* A reference's storage is a pointer. */
	HI_ASSERT_MSG(of->size == number(t->part[3]), "%s.%s: %s of %llu bytes, truth %s",
		      t->part[0], t->part[1], of->name, (unsigned long long)of->size,
		      t->part[3]);
}

static void check_base(struct inspected *p, const struct truth *t)
{
	const struct hi_type *type = find(p, t->part[0]);

	for (uint32_t i = 0; i < type->n_members; i++) {
		const struct hi_member *m = &type->members[i];

		if (m->is_base &&
		    strcmp(hi_type_get(p->types, m->type)->name, t->part[1]) == 0) {
			HI_ASSERT_EQ(number(t->part[2]), m->offset);
			return;
		}
	}
	hi_test_fail(__FILE__, __LINE__, "%s has no base %s", t->part[0], t->part[1]);
}

/* Last part of "ns::f()::name" or the whole. */
static bool ends_in(const char *full, const char *name)
{
	size_t n = strlen(full), m = strlen(name);

	return n >= m && strcmp(full + n - m, name) == 0 &&
	       (n == m || full[n - m - 1] == ':');
}

static void check_variable(struct inspected *p, const struct truth *t)
{
	uint64_t addr = number(t->part[1]), size = number(t->part[2]);
	struct hi_variable var;

	HI_ASSERT_OK(hi_types_variable_at(p->types, addr + size - 1, &var, &err), &err);
	HI_ASSERT_MSG(ends_in(var.name, t->part[0]), "%s is called %s", t->part[0],
		      var.name);
	HI_ASSERT_EQ(addr, var.address);
	HI_ASSERT_EQ(size, var.size);
	HI_ASSERT(var.type != 0 && hi_type_get(p->types, var.type)->size == size);
	HI_ASSERT_MSG(strstr(var.file, "types_c"), "%s is in \"%s\"", var.name, var.file);
	/* And by its full name. */
	HI_ASSERT_OK(hi_types_variable_named(p->types, var.name, &var, &err), &err);
	HI_ASSERT_EQ(addr, var.address);
}

static void check_object(struct inspected *p, const struct truth *t, bool stripped)
{
	const char *name = "";
	hi_type_id type = 0;
	uint64_t vptr = 0;
	int64_t top = 0;

	HI_ASSERT_OK(
		hi_memory_read_u64(p->image->memory, number(t->part[1]), &vptr, &err),
		&err);
	HI_ASSERT_OK(hi_types_of_vtable(p->types, vptr, &type, &name, &top, &err), &err);
	HI_ASSERT_STREQ(t->part[0], name);
	HI_ASSERT_EQ(strtoll(t->part[2], NULL, 10), top);
	if (stripped) {
		HI_ASSERT_EQ(0, type);
		return;
	}
	HI_ASSERT_MSG(type != 0, "no type for %s", name);
	HI_ASSERT_EQ(HI_KIND_STRUCT, hi_type_get(p->types, type)->kind);
	HI_ASSERT(hi_type_get(p->types, type)->has_vtable);
	/* Not every word of a vtable is where objects point to. */
	HI_ASSERT_STATUS(HI_NOT_FOUND, hi_types_of_vtable(p->types, vptr + 8, &type,
							  &name, &top, NULL));
}

struct tls_search {
	const struct truths *truths;
	size_t found;
};

static bool check_tls(const struct hi_variable *var, uint64_t offset, void *arg)
{
	struct tls_search *search = arg;

	for (size_t i = 0; i < search->truths->count; i++) {
		const struct truth *t = &search->truths->items[i];

		if (strcmp(t->kind, "tls") != 0 || strcmp(t->part[0], var->name) != 0)
			continue;
		HI_ASSERT_EQ(number(t->part[1]), offset);
		HI_ASSERT(var->is_tls && var->type != 0);
		search->found++;
	}
	return true;
}

static void check_hidden(struct inspected *p, const struct truth *t)
{
	const struct hi_type *type = find(p, "struct everything"), *outer, *inner;

	/* struct { long hidden; union { int as_int; void *as_ptr; }; } */
	for (uint32_t i = 0; i < type->n_members; i++) {
		const struct hi_member *m = &type->members[i];

		if (m->name[0] != '\0')
			continue;
		HI_ASSERT_EQ(number(t->part[0]), m->offset);
		outer = hi_type_get(p->types, m->type);
		HI_ASSERT_EQ(2, outer->n_members);
		HI_ASSERT_STREQ("hidden", outer->members[0].name);
		HI_ASSERT_EQ(number(t->part[1]), m->offset + outer->members[1].offset);
		inner = hi_type_get(p->types, outer->members[1].type);
		HI_ASSERT_EQ(HI_KIND_UNION, inner->kind);
		HI_ASSERT_STREQ("as_ptr", inner->members[1].name);
		return;
	}
	hi_test_fail(__FILE__, __LINE__, "no anonymous member");
}

static size_t count_kind(const struct truths *truths, const char *kind)
{
	size_t n = 0;

	for (size_t i = 0; i < truths->count; i++)
		n += strcmp(truths->items[i].kind, kind) == 0;
	return n;
}

static struct inspected *check_all(const char *fixture, bool stripped)
{
	struct hi_fixture *fx = hi_fixture_start(fixture, NULL);
	struct truths *truths = truths_read(fx);
	struct inspected *p = inspected_open(fx->pid, NULL);
	struct tls_search search = {truths, 0};

	for (size_t i = 0; i < truths->count; i++) {
		const struct truth *t = &truths->items[i];

		if (strcmp(t->kind, "object") == 0)
			check_object(p, t, stripped);
		if (stripped)
			continue;
		if (strcmp(t->kind, "type") == 0)
			HI_ASSERT_MSG(find(p, t->part[0])->size == number(t->part[1]),
				      "%s has %llu bytes, truth %s", t->part[0],
				      (unsigned long long)find(p, t->part[0])->size,
				      t->part[1]);
		else if (strcmp(t->kind, "member") == 0)
			check_member(p, t);
		else if (strcmp(t->kind, "base") == 0)
			check_base(p, t);
		else if (strcmp(t->kind, "variable") == 0)
			check_variable(p, t);
		else if (strcmp(t->kind, "hidden") == 0)
			check_hidden(p, t);
	}
	if (!stripped) {
		HI_ASSERT_OK(hi_types_tls_variables(p->types,
						    hi_modules_executable(p->modules),
						    check_tls, &search, &err),
			     &err);
		HI_ASSERT_EQ(count_kind(truths, "tls"), search.found);
		HI_ASSERT_EQ(0, hi_types_stats(p->types).broken);
	}
	return p;
}

HI_TEST_SCENARIO(types, c_layouts_and_variables_in_dwarf_5_equal_the_programs_own)
{
	check_all("types_c", false);
}

HI_TEST_SCENARIO(types, c_layouts_and_variables_in_dwarf_4_equal_the_programs_own)
{
	check_all("types_c_dwarf4", false);
}

HI_TEST_SCENARIO(types, c_layouts_in_type_units_equal_the_programs_own)
{
	check_all("types_c_sections", false);
}

HI_TEST_SCENARIO(types, c_layouts_in_split_files_equal_the_programs_own)
{
	check_all("types_c_split", false);
	check_all("types_c_split4", false);
}

HI_TEST_SCENARIO(types, c_layouts_in_compressed_sections_equal_the_programs_own)
{
	check_all("types_c_compressed", false);
}

HI_TEST_SCENARIO(types, classes_and_vtables_in_dwarf_5_equal_the_programs_own)
{
	check_all("types_cc", false);
}

HI_TEST_SCENARIO(types, classes_and_vtables_in_dwarf_4_equal_the_programs_own)
{
	check_all("types_cc_dwarf4", false);
}

HI_TEST_SCENARIO(types, classes_in_type_units_equal_the_programs_own)
{
	check_all("types_cc_sections", false);
}

HI_TEST_SCENARIO(types, classes_in_split_files_equal_the_programs_own)
{
	check_all("types_cc_split", false);
}

/* Each type unit of a split file is in a section of its own. */
HI_TEST_SCENARIO(types, classes_in_type_units_of_split_files_equal_the_programs_own)
{
	check_all("types_cc_split_units", false);
	check_all("types_cc_split_units4", false);
}

HI_TEST_SCENARIO(types, vtables_of_a_stripped_program_still_give_the_names_of_classes)
{
	check_all("types_cc_stripped", true);
}

HI_TEST_SCENARIO(types, kinds_and_names_of_members_are_those_of_the_source)
{
	static const struct {
		const char *member, *name;
		enum hi_type_kind kind;
	} expected[] = {
		{"c", "char", HI_KIND_CHAR},
		{"sc", "signed char", HI_KIND_CHAR},
		{"uc", "unsigned char", HI_KIND_CHAR},
		{"flag", "_Bool", HI_KIND_INTEGER},
		{"i", "int", HI_KIND_INTEGER},
		{"f", "float", HI_KIND_FLOAT},
		{"ld", "long double", HI_KIND_FLOAT},
		{"address", "uintptr_t", HI_KIND_ADDRESS},
		{"signed_address", "intptr_t", HI_KIND_ADDRESS},
		{"size", "long unsigned int", HI_KIND_INTEGER},
		{"colour", "enum colour", HI_KIND_INTEGER},
		{"on", "toggle", HI_KIND_INTEGER},
		{"where", "point", HI_KIND_STRUCT},
		{"at", "point *", HI_KIND_POINTER},
		{"frozen", "point", HI_KIND_STRUCT},
		{"fn", "function *", HI_KIND_POINTER},
		{"value", "union value", HI_KIND_UNION},
		{"opaque", "struct opaque *", HI_KIND_POINTER},
		{"first", "struct node", HI_KIND_STRUCT},
		{"head", "struct node *", HI_KIND_POINTER},
		{"matrix", "int [3][5]", HI_KIND_ARRAY},
		{"table", "struct node [4]", HI_KIND_ARRAY},
		{"slots", "struct node *[2][2]", HI_KIND_ARRAY},
		{"any", "void *", HI_KIND_POINTER},
		{"rows", "int (*)[4]", HI_KIND_POINTER},
		{"atomic", "int", HI_KIND_INTEGER},
	};
	struct inspected *p = check_all("types_c", false);
	const struct hi_type *type = find(p, "everything");

	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		const struct hi_type *of =
			hi_type_get(p->types, member(type, expected[i].member)->type);

		HI_ASSERT_STREQ(expected[i].name, of->name);
		HI_ASSERT_MSG(of->kind == expected[i].kind, "%s: kind %d, expected %d",
			      expected[i].member, (int)of->kind, (int)expected[i].kind);
	}
	/* Two ways to one type end at one id, and T * is found from T. */
	HI_ASSERT_EQ(hi_type_get(p->types, member(type, "where")->type)->id,
		     hi_type_get(p->types, member(type, "frozen")->type)->id);
	HI_ASSERT_EQ(hi_type_get(p->types, member(type, "head")->type)->id,
		     hi_types_pointer_to(p->types, find(p, "struct node")->id));
	HI_ASSERT_EQ(find(p, "struct node")->id,
		     hi_type_get(p->types, find(p, "struct node *")->target)->id);
	HI_ASSERT_EQ(
		HI_KIND_DECLARATION,
		hi_type_get(p->types,
			    hi_type_get(p->types, member(type, "opaque")->type)->target)
			->kind);
}

HI_TEST_SCENARIO(types, bit_fields_flexible_and_empty_arrays_are_told_apart)
{
	struct inspected *p = check_all("types_c_dwarf4", false);
	const struct hi_type *bits = find(p, "struct bits");
	const struct hi_type *items, *tail;

	HI_ASSERT_EQ(3, member(bits, "a")->bit_size);
	HI_ASSERT_EQ(0, member(bits, "a")->offset);
	HI_ASSERT_EQ(11, member(bits, "b")->bit_size);
	HI_ASSERT_EQ(1, member(bits, "c")->offset); /* bits 14 to 53 */
	HI_ASSERT_EQ(6, member(bits, "d")->offset); /* bits 54 and 55 */
	HI_ASSERT_EQ(0, member(bits, "a")->bit_offset);
	HI_ASSERT_EQ(3, member(bits, "b")->bit_offset);
	HI_ASSERT_EQ(6, member(bits, "c")->bit_offset);
	HI_ASSERT_EQ(6, member(bits, "d")->bit_offset);
	HI_ASSERT(hi_type_get(p->types, member(bits, "d")->type)->is_signed);
	HI_ASSERT(!hi_type_get(p->types, member(bits, "a")->type)->is_signed);
	HI_ASSERT_EQ(0, member(bits, "after")->bit_size);
	items = hi_type_get(p->types, member(find(p, "struct flexible"), "items")->type);
	HI_ASSERT(items->flexible && items->count == 0 && items->size == 0);
	HI_ASSERT_STREQ("struct node *", hi_type_get(p->types, items->target)->name);
	tail = hi_type_get(p->types, member(find(p, "struct zero"), "tail")->type);
	HI_ASSERT(tail->flexible && tail->count == 0);
}

HI_TEST_SCENARIO(types, members_that_the_compiler_made_are_marked)
{
	struct inspected *p = check_all("types_cc", false);
	const struct hi_type *derived = find(p, "ns::Derived");
	const struct hi_type *base = find(p, "ns::Base");
	const struct hi_type *diamond = find(p, "ns::Diamond");
	const struct hi_type *ref = hi_type_get(p->types, member(derived, "ref")->type);

	HI_ASSERT(base->has_vtable && derived->has_vtable);
	HI_ASSERT(base->members[0].is_vptr && base->members[0].offset == 0);
	HI_ASSERT(!find(p, "plain")->has_vtable);
	HI_ASSERT_EQ(HI_KIND_POINTER, ref->kind);
	HI_ASSERT_EQ(base->id, hi_type_get(p->types, ref->target)->id);
	for (uint32_t i = 0; i < diamond->n_members; i++)
		HI_ASSERT(diamond->members[i].is_virtual ==
			  (strstr(hi_type_get(p->types, diamond->members[i].type)->name,
				  "VirtualBase") != NULL));
	/* Static members are no part of an object. */
	for (uint32_t i = 0; i < find(p, "ns::Other")->n_members; i++)
		HI_ASSERT(strcmp(find(p, "ns::Other")->members[i].name, "shared") != 0);
}

/* Does a member of the type, not one of its bases, cover the word at offset? */
static bool has_own_word(struct hi_types *types, const struct hi_type *type,
			 uint64_t offset)
{
	for (uint32_t i = 0; i < type->n_members; i++) {
		const struct hi_member *m = &type->members[i];

		if (!m->is_base && offset >= m->offset &&
		    offset + 8 <= m->offset + hi_type_get(types, m->type)->size)
			return true;
	}
	return false;
}

/* The offset of a virtual base of this name in an object of the type; 0: none. */
static uint64_t virtual_base_at(struct hi_types *types, const struct hi_type *type,
				const char *name)
{
	for (uint32_t i = 0; i < type->n_members; i++)
		if (type->members[i].is_virtual &&
		    strcmp(hi_type_get(types, type->members[i].type)->name, name) == 0)
			return type->members[i].offset;
	return 0;
}

/* Left is {vptr, l, VirtualBase: {vptr, v}}; Diamond is {Left, Right, d, VirtualBase}, as
 * the casts of the fixture show. */
HI_TEST_SCENARIO(types, virtual_bases_lie_where_the_program_finds_them)
{
	struct inspected *p = check_all("types_cc", false);
	const struct hi_type *left = find(p, "ns::Left");
	const struct hi_type *diamond = find(p, "ns::Diamond");

	HI_ASSERT_EQ(32, left->size);
	HI_ASSERT_EQ(16, virtual_base_at(p->types, left, "ns::VirtualBase"));
	HI_ASSERT_EQ(48, diamond->size);
	HI_ASSERT_EQ(32, virtual_base_at(p->types, diamond, "ns::VirtualBase"));
	/* As a base, Left is without it. */
	HI_ASSERT(!diamond->members[0].is_virtual);
	HI_ASSERT_EQ(12, hi_type_get(p->types, diamond->members[0].type)->size);
	HI_ASSERT(!has_own_word(p->types, find(p, "ns::Derived"), 16));
}

HI_TEST_SCENARIO(types, undefined_types_are_not_found)
{
	struct inspected *p = check_all("types_c", false);
	struct hi_variable var;
	hi_type_id id;

	HI_ASSERT_STATUS(HI_NOT_FOUND,
			 hi_types_find(p->types, "struct nobody", &id, &err));
	HI_ASSERT_STATUS(HI_NOT_FOUND,
			 hi_types_find(p->types, "union everything", &id, &err));
	HI_ASSERT_STATUS(HI_NOT_FOUND,
			 hi_types_variable_named(p->types, "nobody", &var, &err));
	HI_ASSERT_STATUS(HI_NOT_FOUND, hi_types_variable_at(p->types, 8, &var, &err));
	HI_ASSERT_EQ(HI_KIND_UNKNOWN, hi_type_get(p->types, 0)->kind);
	HI_ASSERT_EQ(HI_KIND_UNKNOWN, hi_type_get(p->types, 123456789)->kind);
}
