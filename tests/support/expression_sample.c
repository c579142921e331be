/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/expression_sample.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"

enum { MAX_TYPES = 128, MAX_MEMBERS = 256 };

static struct hi_type types[MAX_TYPES];
static struct hi_member members[MAX_MEMBERS];
static uint32_t n_types, n_members;
hi_type_id sample_type, sample_inner, sample_derived, sample_void;
static hi_type_id t_int, t_root_ref, t_packed;

union sample_room sample_room;
#define g sample_room.s
struct inner sample_chain[6];
static struct inner *spot = &sample_chain[2];
struct sample *sample_pointer = &g;
static char letters[] = "hello";
struct packed sample_packed = {77, 0x9abcdef01234567, -0x0123456789abcde, -3};
int sample_table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
static int *where = &sample_table[2]; /* a reference, as compilers make it */

int twice(int x)
{
	return 2 * x;
}

static hi_type_id draw(struct hi_type type)
{
	HI_ASSERT(n_types < MAX_TYPES);
	type.id = n_types;
	type.file = type.module = "";
	types[n_types] = type;
	return n_types++;
}

static hi_type_id draw_scalar(enum hi_type_kind kind, const char *name, uint64_t size,
			      bool is_signed)
{
	return draw((struct hi_type){
		.kind = kind, .name = name, .size = size, .is_signed = is_signed});
}

static hi_type_id draw_pointer(void *arg, hi_type_id to)
{
	char name[100];

	(void)arg;
	for (hi_type_id id = 1; id < n_types; id++)
		if (types[id].kind == HI_KIND_POINTER && types[id].target == to)
			return id;
	snprintf(name, sizeof(name), "%s *", types[to].name);
	return draw((struct hi_type){
		.kind = HI_KIND_POINTER, .name = strdup(name), .size = 8, .target = to});
}

static hi_type_id draw_array(hi_type_id of, uint64_t count)
{
	return draw((struct hi_type){.kind = HI_KIND_ARRAY,
				     .name = "array",
				     .size = count * types[of].size,
				     .target = of,
				     .count = count,
				     .flexible = count == 0});
}

/* Members that follow belong to it. */
static hi_type_id draw_record(enum hi_type_kind kind, const char *name, uint64_t size)
{
	return draw((struct hi_type){.kind = kind,
				     .name = name,
				     .size = size,
				     .members = &members[n_members]});
}

static void member_at(hi_type_id record, struct hi_member member)
{
	HI_ASSERT(n_members < MAX_MEMBERS);
	members[n_members++] = member;
	types[record].n_members++;
}

#define MEMBER(record, type_name, field, of)                                             \
	member_at(record, (struct hi_member){.name = #field,                             \
					     .offset = offsetof(type_name, field),       \
					     .type = of})

/* Where the compiler has put a bit-field: the bits that are set when it is -1. */
static void bit_field(hi_type_id record, const char *name, hi_type_id of,
		      const void *object, size_t size)
{
	const unsigned char *bytes = object;
	size_t first = SIZE_MAX, count = 0;

	for (size_t i = 0; i < size * 8; i++)
		if (bytes[i / 8] >> i % 8 & 1) {
			first = first == SIZE_MAX ? i : first;
			count++;
		}
	member_at(record, (struct hi_member){.name = name,
					     .offset = first / 8,
					     .bit_offset = first % 8,
					     .bit_size = (uint16_t)count,
					     .type = of});
}

#define BITS(record, type_name, field, of)                                               \
	do {                                                                             \
		type_name hi_bits_;                                                      \
		memset(&hi_bits_, 0, sizeof(hi_bits_));                                  \
		hi_bits_.field = -1;                                                     \
		bit_field(record, #field, of, &hi_bits_, sizeof(hi_bits_));              \
	} while (0)

static void draw_inner(hi_type_id t_short)
{
	sample_inner = draw_record(HI_KIND_STRUCT, "struct inner", sizeof(struct inner));
	MEMBER(sample_inner, struct inner, x, t_int);
	MEMBER(sample_inner, struct inner, y, t_int);
	MEMBER(sample_inner, struct inner, tag, t_short);
	MEMBER(sample_inner, struct inner, next, n_types); /* drawn right behind */
	draw_pointer(NULL, sample_inner);
}

static hi_type_id draw_number(hi_type_id t_long, hi_type_id t_unsigned, hi_type_id t_char)
{
	hi_type_id text = draw_array(t_char, 8);
	hi_type_id id = draw_record(HI_KIND_UNION, "union number", sizeof(union number));

	MEMBER(id, union number, wide, t_long);
	MEMBER(id, union number, low, t_unsigned);
	MEMBER(id, union number, text, text);
	return id;
}

static void draw_anonymous(hi_type_id t_unsigned, hi_type_id *outer_ret)
{
	hi_type_id in = draw_record(HI_KIND_UNION, "union {...}", 4);

	member_at(in, (struct hi_member){.name = "anon_b", .type = t_unsigned});
	member_at(in, (struct hi_member){.name = "anon_c", .type = t_int});
	*outer_ret = draw_record(HI_KIND_STRUCT, "struct {...}", 8);
	member_at(*outer_ret, (struct hi_member){.name = "anon_a", .type = t_int});
	member_at(*outer_ret, (struct hi_member){.name = "", .offset = 4, .type = in});
}

static void draw_sample(void)
{
	hi_type_id schar = draw_scalar(HI_KIND_CHAR, "signed char", 1, true);
	hi_type_id uchar = draw_scalar(HI_KIND_CHAR, "unsigned char", 1, false);
	hi_type_id chr = draw_scalar(HI_KIND_CHAR, "char", 1, true);
	hi_type_id sht = draw_scalar(HI_KIND_INTEGER, "short int", 2, true);
	hi_type_id ushort = draw_scalar(HI_KIND_INTEGER, "short unsigned int", 2, false);
	hi_type_id uint = draw_scalar(HI_KIND_INTEGER, "unsigned int", 4, false);
	hi_type_id lng = draw_scalar(HI_KIND_INTEGER, "long int", 8, true);
	hi_type_id ulng = draw_scalar(HI_KIND_INTEGER, "long unsigned int", 8, false);
	hi_type_id boolean = draw_scalar(HI_KIND_INTEGER, "_Bool", 1, false);
	hi_type_id dbl = draw_scalar(HI_KIND_FLOAT, "double", 8, false);
	hi_type_id color = draw_scalar(HI_KIND_INTEGER, "enum color", 4, false);
	hi_type_id address = draw_scalar(HI_KIND_ADDRESS, "uintptr_t", 8, false);
	hi_type_id opaque = draw_scalar(HI_KIND_DECLARATION, "struct opaque", 0, false);
	hi_type_id function = draw_scalar(HI_KIND_FUNCTION, "function", 0, false);
	hi_type_id row, grid, arr, number, anonymous, bytes, triple, triples, flex, t;

	draw_inner(sht);
	number = draw_number(lng, uint, chr);
	draw_anonymous(uint, &anonymous);
	row = draw_array(t_int, 4);
	grid = draw_array(row, 3);
	arr = draw_array(sample_inner, 4);
	bytes = draw_array(chr, 3);
	triple = draw_record(HI_KIND_STRUCT, "struct triple", 3);
	member_at(triple, (struct hi_member){.name = "bytes", .type = bytes});
	triples = draw_array(triple, 5);
	flex = draw_array(uint, 0);
	t = sample_type =
		draw_record(HI_KIND_STRUCT, "struct sample", sizeof(struct sample));
	MEMBER(t, struct sample, c, schar);
	MEMBER(t, struct sample, uc, uchar);
	MEMBER(t, struct sample, s, sht);
	MEMBER(t, struct sample, us, ushort);
	MEMBER(t, struct sample, n, t_int);
	MEMBER(t, struct sample, u, uint);
	MEMBER(t, struct sample, l, lng);
	MEMBER(t, struct sample, ul, ulng);
	MEMBER(t, struct sample, ch, chr);
	MEMBER(t, struct sample, truth, boolean);
	BITS(t, struct sample, f1, uint);
	BITS(t, struct sample, f2, t_int);
	BITS(t, struct sample, f3, uint);
	BITS(t, struct sample, f4, ulng);
	BITS(t, struct sample, f5, lng);
	BITS(t, struct sample, f6, uint);
	MEMBER(t, struct sample, in, sample_inner);
	MEMBER(t, struct sample, arr, arr);
	MEMBER(t, struct sample, ptr, draw_pointer(NULL, sample_inner));
	MEMBER(t, struct sample, pp,
	       draw_pointer(NULL, draw_pointer(NULL, sample_inner)));
	MEMBER(t, struct sample, grid, grid);
	MEMBER(t, struct sample, text, draw_pointer(NULL, chr));
	MEMBER(t, struct sample, raw, draw_pointer(NULL, sample_void));
	MEMBER(t, struct sample, num, number);
	MEMBER(t, struct sample, anon_a, anonymous);
	members[n_members - 1].name = "";
	MEMBER(t, struct sample, fn, draw_pointer(NULL, function));
	MEMBER(t, struct sample, real, dbl);
	MEMBER(t, struct sample, color, color);
	MEMBER(t, struct sample, none, draw_pointer(NULL, sample_inner));
	MEMBER(t, struct sample, tagged, address);
	MEMBER(t, struct sample, hidden, draw_pointer(NULL, opaque));
	MEMBER(t, struct sample, triples, triples);
	MEMBER(t, struct sample, self, t_int);
	MEMBER(t, struct sample, flex, flex);
}

/* class derived : base1, base2, where base2 : root; both have "twin". */
static void draw_classes(void)
{
	hi_type_id root = draw_record(HI_KIND_STRUCT, "root", 8), base1, base2;

	member_at(root, (struct hi_member){.name = "deep", .type = t_int});
	member_at(root, (struct hi_member){.name = "own", .offset = 4, .type = t_int});
	base1 = draw_record(HI_KIND_STRUCT, "base1", 8);
	member_at(base1, (struct hi_member){.name = "twin", .type = t_int});
	member_at(base1, (struct hi_member){.name = "left", .offset = 4, .type = t_int});
	base2 = draw_record(HI_KIND_STRUCT, "base2", 16);
	member_at(base2, (struct hi_member){.name = "", .type = root, .is_base = true});
	member_at(base2, (struct hi_member){.name = "twin", .offset = 8, .type = t_int});
	sample_derived = draw_record(HI_KIND_STRUCT, "ns::derived<int, (char)60>", 32);
	member_at(sample_derived,
		  (struct hi_member){.name = "", .type = base1, .is_base = true});
	member_at(sample_derived,
		  (struct hi_member){
			  .name = "", .offset = 8, .type = base2, .is_base = true});
	member_at(sample_derived,
		  (struct hi_member){.name = "own", .offset = 24, .type = t_int});
	t_root_ref = draw((struct hi_type){
		.kind = HI_KIND_POINTER, .name = "root &", .size = 8, .target = root});
}

static void draw_packed(void)
{
	hi_type_id lng = draw_scalar(HI_KIND_INTEGER, "long int", 8, true);
	hi_type_id ulng = draw_scalar(HI_KIND_INTEGER, "long unsigned int", 8, false);

	t_packed = draw_record(HI_KIND_STRUCT, "struct packed", sizeof(struct packed));
	BITS(t_packed, struct packed, low, ulng);
	BITS(t_packed, struct packed, wide, ulng);
	BITS(t_packed, struct packed, deep, lng);
	BITS(t_packed, struct packed, last, lng);
}

static void draw_all(void)
{
	if (n_types > 0)
		return;
	draw((struct hi_type){.name = ""});
	sample_void = draw_scalar(HI_KIND_VOID, "void", 0, false);
	t_int = draw_scalar(HI_KIND_INTEGER, "int", 4, true);
	draw_sample();
	draw_classes();
	draw_packed();
}

static const struct hi_type *get_type(void *arg, hi_type_id id)
{
	(void)arg;
	return &types[id < n_types ? id : 0];
}

static hi_type_id type_named(void *arg, const char *name)
{
	(void)arg;
	for (hi_type_id id = 1; id < n_types; id++)
		if (strcmp(types[id].name, name) == 0 ||
		    (strncmp(types[id].name, "struct ", 7) == 0 &&
		     strcmp(types[id].name + 7, name) == 0))
			return id;
	return 0;
}

static struct hi_name name_of(void *arg, const char *name)
{
	const struct {
		const char *name;
		struct hi_name is;
	} names[] = {
		{"g", {HI_NAME_VARIABLE, (uintptr_t)&g, sample_type}},
		{"p",
		 {HI_NAME_VARIABLE, (uintptr_t)&sample_pointer,
		  draw_pointer(NULL, sample_type)}},
		{"twice", {HI_NAME_FUNCTION, (uintptr_t)&twice, 0}},
		{"RED", {HI_NAME_CONSTANT, RED, 0}},
		{"GREEN", {HI_NAME_CONSTANT, GREEN, 0}},
		{"MINUS", {HI_NAME_CONSTANT, -3ull, 0}},
		{"ns::derived<int, (char)60>::count",
		 {HI_NAME_VARIABLE, (uintptr_t)&sample_table[4], t_int}},
		{"ns::total", {HI_NAME_VARIABLE, (uintptr_t)&sample_table[5], t_int}},
		{"packed", {HI_NAME_VARIABLE, (uintptr_t)&sample_packed, t_packed}},
		{"where", {HI_NAME_VARIABLE, (uintptr_t)&where, t_root_ref}},
		{"ctx", {HI_NAME_CONTEXT, 3, 0}},
		{"owner", {HI_NAME_CONTEXT, 7, draw_pointer(NULL, sample_inner)}},
	};

	(void)arg;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i].name) == 0)
			return names[i].is;
	return (struct hi_name){};
}

const struct hi_expression_source sample_source = {.type = get_type,
						   .type_named = type_named,
						   .pointer_to = draw_pointer,
						   .name = name_of};

static bool inside(uint64_t addr, size_t size, const void *object, size_t object_size)
{
	uint64_t start = (uintptr_t)object;

	return addr >= start && addr - start <= object_size &&
	       size <= object_size - (addr - start);
}

/* Our own memory, but only what was given away. */
static bool read_own(void *arg, uint64_t addr, void *buf, size_t size)
{
	(void)arg;
	if (!inside(addr, size, &sample_room, sizeof(sample_room)) &&
	    !inside(addr, size, sample_chain, sizeof(sample_chain)) &&
	    !inside(addr, size, &spot, sizeof(spot)) &&
	    !inside(addr, size, &sample_pointer, sizeof(sample_pointer)) &&
	    !inside(addr, size, letters, sizeof(letters)) &&
	    !inside(addr, size, &sample_packed, sizeof(sample_packed)) &&
	    !inside(addr, size, &where, sizeof(where)) &&
	    !inside(addr, size, sample_table, sizeof(sample_table)))
		return false;
	/* NOLINTNEXTLINE(performance-no-int-to-ptr) */
	memcpy(buf, (const void *)(uintptr_t)addr, size);
	return true;
}

static uint64_t usable_own(void *arg, uint64_t addr)
{
	(void)arg;
	return addr == (uintptr_t)sample_chain ? sizeof(sample_chain) : 0;
}

static void fill(void)
{
	draw_all();
	g = (struct sample){
		.c = -5,
		.uc = 250,
		.s = -300,
		.us = 65000,
		.n = -7,
		.u = 4000000000u,
		.l = -123456789012,
		.ul = 0xfedcba9876543210,
		.ch = -1,
		.truth = 1,
		.f1 = 6,
		.f2 = -9,
		.f3 = 0xabcdef,
		.f4 = 0xfedcba9876,
		.f5 = -4000000000,
		.f6 = 0xfffffff0,
		.in = {11, -22, 33, &sample_chain[1]},
		.arr = {{1, 2, 3, NULL},
			{4, 5, 6, sample_chain},
			{7, 8, 9, NULL},
			{10, 11, 12, NULL}},
		.ptr = sample_chain,
		.pp = &spot,
		.grid = {{0, 1, 2, 3}, {10, 11, 12, 13}, {20, 21, 22, 23}},
		.text = letters,
		.raw = sample_table,
		.num = {.wide = -2},
		.anon_a = 77,
		.anon_b = 0x80000001,
		.fn = twice,
		.real = 1.5,
		.color = BLUE,
		.none = NULL,
		.tagged = (uintptr_t)&sample_chain[3] | 3,
		.triples = {{"ab"}, {"cd"}, {"ef"}, {"gh"}, {"ij"}},
		.self = 99,
	};
	for (unsigned i = 0; i < 8; i++)
		g.flex[i] = 100 + i;
	for (int i = 0; i < 6; i++)
		sample_chain[i] = (struct inner){i, -i, (short)(i * 1000),
						 &sample_chain[(i + 1) % 6]};
}

static struct hi_error err;
struct hi_arena sample_arena;
static uint64_t context[HI_CONTEXT_WORDS];
struct hi_code_input sample_input = {
	.read = read_own, .usable = usable_own, .context = context};

static void free_arena(void *arg)
{
	(void)arg;
	hi_arena_free(&sample_arena);
}

struct hi_scope sample_scope(hi_type_id self)
{
	return (struct hi_scope){.source = &sample_source,
				 .self = self,
				 .allowed = HI_ALLOW_DOLLAR | HI_ALLOW_INDEX};
}

void sample_start(void)
{
	fill();
	hi_test_defer(free_arena, NULL);
	sample_input.usable = usable_own;
	sample_input.context = context;
	sample_input.self = (uintptr_t)&g;
	sample_input.dollar = (uintptr_t)&sample_chain[4];
	sample_input.index = 2;
	memset(context, 0, sizeof(context));
	hi_context_set(context, 3, 1234);
	hi_context_set(context, 7, (uintptr_t)&sample_chain[5]);
}

const struct hi_code *sample_compile(const char *text, hi_type_id self, bool lvalue)
{
	struct hi_scope scope = sample_scope(self);
	const struct hi_code *code = NULL;
	size_t column = 0;
	enum hi_status status = hi_code_compile(text, strlen(text), &scope, lvalue,
						&sample_arena, &code, &column, &err);

	HI_ASSERT_MSG(status == HI_OK, "%s: column %zu: %s", text, column, err.text);
	return code;
}

uint64_t sample_run(const struct hi_code *code, const char *text)
{
	uint64_t value = 0;

	HI_ASSERT_MSG(hi_code_run(code, &sample_input, &value), "%s: unreadable", text);
	return value;
}

uint64_t sample_value(const char *text)
{
	return sample_run(sample_compile(text, sample_type, false), text);
}
