/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Expressions over a struct of this test's own memory: what the compiler makes of
 * the same text is the truth.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "decode/debuginfo/expression.h"
#include "tests/harness.h"

/* ---- the struct, and the types that describe it ---- */

enum color { RED, GREEN = 5, BLUE = 200 };
struct opaque;
struct inner {
	int x, y;
	short tag;
	struct inner *next;
};
union number {
	int64_t wide;
	uint32_t low;
	char text[8];
};
struct triple {
	char bytes[3];
};
struct sample {
	signed char c;
	unsigned char uc;
	short s;
	unsigned short us;
	int n;
	unsigned u;
	long l;
	unsigned long ul;
	char ch;
	_Bool truth;
	unsigned f1 : 3;
	int f2 : 5;
	unsigned f3 : 24;
	unsigned long f4 : 40;
	long f5 : 33;
	unsigned f6 : 32;
	struct inner in, arr[4];
	struct inner *ptr, **pp;
	int grid[3][4];
	char *text;
	void *raw;
	union number num;
	struct {
		int anon_a;
		union {
			unsigned anon_b;
			int anon_c;
		};
	};
	int (*fn)(int);
	double real;
	enum color color;
	struct inner *none;
	uintptr_t tagged;
	struct opaque *hidden;
	struct triple triples[5];
	int self; /* a member may have any name */
	unsigned flex[];
};

enum { MAX_TYPES = 128, MAX_MEMBERS = 256 };

static struct hi_type types[MAX_TYPES];
static struct hi_member members[MAX_MEMBERS];
static uint32_t n_types, n_members;
static hi_type_id t_sample, t_inner, t_void, t_int, t_derived, t_packed, t_ref;

static union {
	struct sample s;
	char bytes[sizeof(struct sample) + 64];
} room;
#define g room.s
static struct inner chain[6], *spot = &chain[2];
static struct sample *p = &g;
static char letters[] = "hello";
static int table[8] = {3, 1, 4, 1, 5, 9, 2, 6};

static int twice(int x)
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
	t_inner = draw_record(HI_KIND_STRUCT, "struct inner", sizeof(struct inner));
	MEMBER(t_inner, struct inner, x, t_int);
	MEMBER(t_inner, struct inner, y, t_int);
	MEMBER(t_inner, struct inner, tag, t_short);
	MEMBER(t_inner, struct inner, next, n_types); /* drawn right behind */
	draw_pointer(NULL, t_inner);
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
	arr = draw_array(t_inner, 4);
	bytes = draw_array(chr, 3);
	triple = draw_record(HI_KIND_STRUCT, "struct triple", 3);
	member_at(triple, (struct hi_member){.name = "bytes", .type = bytes});
	triples = draw_array(triple, 5);
	flex = draw_array(uint, 0);
	t = t_sample =
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
	MEMBER(t, struct sample, in, t_inner);
	MEMBER(t, struct sample, arr, arr);
	MEMBER(t, struct sample, ptr, draw_pointer(NULL, t_inner));
	MEMBER(t, struct sample, pp, draw_pointer(NULL, draw_pointer(NULL, t_inner)));
	MEMBER(t, struct sample, grid, grid);
	MEMBER(t, struct sample, text, draw_pointer(NULL, chr));
	MEMBER(t, struct sample, raw, draw_pointer(NULL, t_void));
	MEMBER(t, struct sample, num, number);
	MEMBER(t, struct sample, anon_a, anonymous);
	members[n_members - 1].name = "";
	MEMBER(t, struct sample, fn, draw_pointer(NULL, function));
	MEMBER(t, struct sample, real, dbl);
	MEMBER(t, struct sample, color, color);
	MEMBER(t, struct sample, none, draw_pointer(NULL, t_inner));
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
	t_derived = draw_record(HI_KIND_STRUCT, "ns::derived<int, (char)60>", 32);
	member_at(t_derived,
		  (struct hi_member){.name = "", .type = base1, .is_base = true});
	member_at(t_derived,
		  (struct hi_member){
			  .name = "", .offset = 8, .type = base2, .is_base = true});
	member_at(t_derived,
		  (struct hi_member){.name = "own", .offset = 24, .type = t_int});
	t_ref = draw((struct hi_type){
		.kind = HI_KIND_POINTER, .name = "root &", .size = 8, .target = root});
	t_packed = draw_record(HI_KIND_STRUCT, "struct packed", 10);
}

static void draw_all(void)
{
	if (n_types > 0)
		return;
	draw((struct hi_type){.name = ""});
	t_void = draw_scalar(HI_KIND_VOID, "void", 0, false);
	t_int = draw_scalar(HI_KIND_INTEGER, "int", 4, true);
	draw_sample();
	draw_classes();
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
		{"g", {HI_NAME_VARIABLE, (uintptr_t)&g, t_sample}},
		{"p", {HI_NAME_VARIABLE, (uintptr_t)&p, draw_pointer(NULL, t_sample)}},
		{"twice", {HI_NAME_FUNCTION, (uintptr_t)&twice, 0}},
		{"RED", {HI_NAME_CONSTANT, RED, 0}},
		{"GREEN", {HI_NAME_CONSTANT, GREEN, 0}},
		{"MINUS", {HI_NAME_CONSTANT, -3ull, 0}},
		{"ns::derived<int, (char)60>::count",
		 {HI_NAME_VARIABLE, (uintptr_t)&table[4], t_int}},
		{"ns::total", {HI_NAME_VARIABLE, (uintptr_t)&table[5], t_int}},
		{"ctx", {HI_NAME_CONTEXT, 3, 0}},
		{"owner", {HI_NAME_CONTEXT, 7, draw_pointer(NULL, t_inner)}},
	};

	(void)arg;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i].name) == 0)
			return names[i].is;
	return (struct hi_name){};
}

static const struct hi_expression_source source = {.type = get_type,
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
	if (!inside(addr, size, &room, sizeof(room)) &&
	    !inside(addr, size, chain, sizeof(chain)) &&
	    !inside(addr, size, &spot, sizeof(spot)) &&
	    !inside(addr, size, &p, sizeof(p)) &&
	    !inside(addr, size, letters, sizeof(letters)) &&
	    !inside(addr, size, table, sizeof(table)))
		return false;
	/* NOLINTNEXTLINE(performance-no-int-to-ptr) */
	memcpy(buf, (const void *)(uintptr_t)addr, size);
	return true;
}

static uint64_t usable_own(void *arg, uint64_t addr)
{
	(void)arg;
	return addr == (uintptr_t)chain ? sizeof(chain) : 0;
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
		.in = {11, -22, 33, &chain[1]},
		.arr = {{1, 2, 3, NULL},
			{4, 5, 6, chain},
			{7, 8, 9, NULL},
			{10, 11, 12, NULL}},
		.ptr = chain,
		.pp = &spot,
		.grid = {{0, 1, 2, 3}, {10, 11, 12, 13}, {20, 21, 22, 23}},
		.text = letters,
		.raw = table,
		.num = {.wide = -2},
		.anon_a = 77,
		.anon_b = 0x80000001,
		.fn = twice,
		.real = 1.5,
		.color = BLUE,
		.none = NULL,
		.tagged = (uintptr_t)&chain[3] | 3,
		.triples = {{"ab"}, {"cd"}, {"ef"}, {"gh"}, {"ij"}},
		.self = 99,
	};
	for (unsigned i = 0; i < 8; i++)
		g.flex[i] = 100 + i;
	for (int i = 0; i < 6; i++)
		chain[i] = (struct inner){i, -i, (short)(i * 1000), &chain[(i + 1) % 6]};
}

static struct hi_error err;
static struct hi_arena arena;
static uint64_t context[HI_CONTEXT_KEYS];
static struct hi_code_input input = {
	.read = read_own, .usable = usable_own, .context = context};

static void free_arena(void *arg)
{
	(void)arg;
	hi_arena_free(&arena);
}

static struct hi_scope scope_of(hi_type_id self)
{
	return (struct hi_scope){
		.source = &source, .self = self, .has_dollar = true, .has_index = true};
}

static void start(void)
{
	fill();
	hi_test_defer(free_arena, NULL);
	input.self = (uintptr_t)&g;
	input.dollar = (uintptr_t)&chain[4];
	input.index = 2;
	memset(context, 0, sizeof(context));
	context[3] = 1234;
	context[7] = (uintptr_t)&chain[5];
}

static const struct hi_code *compile_as(const char *text, hi_type_id self, bool lvalue)
{
	struct hi_scope scope = scope_of(self);
	const struct hi_code *code = NULL;
	size_t column = 0;
	enum hi_status status = hi_code_compile(text, strlen(text), &scope, lvalue,
						&arena, &code, &column, &err);

	HI_ASSERT_MSG(status == HI_OK, "%s: column %zu: %s", text, column, err.text);
	return code;
}

static uint64_t run(const struct hi_code *code, const char *text)
{
	uint64_t value = 0;

	HI_ASSERT_MSG(hi_code_run(code, &input, &value), "%s: unreadable", text);
	return value;
}

static uint64_t value_of(const char *text)
{
	return run(compile_as(text, t_sample, false), text);
}

static void check(const char *text, uint64_t truth)
{
	uint64_t value = value_of(text);

	HI_ASSERT_MSG(value == truth,
		      "%s: %lld (0x%llx), the compiler says %lld (0x%llx)", text,
		      (long long)value, (unsigned long long)value, (long long)truth,
		      (unsigned long long)truth);
}

/* Members without "this->" mean the same. */
static void check_bare(const char *text, uint64_t truth)
{
	char bare[300];
	const char *at = text, *found;
	size_t used = 0;

	while ((found = strstr(at, "this->"))) {
		memcpy(bare + used, at, (size_t)(found - at));
		used += (size_t)(found - at);
		at = found + 6;
	}
	strcpy(bare + used, at);
	check(text, truth);
	check(bare, truth);
}

/* ---- the compiler is the truth ---- */

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wparentheses"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wpointer-arith"
#pragma GCC diagnostic ignored "-Wlogical-op"
#pragma GCC diagnostic ignored "-Wduplicated-branches"
#pragma GCC diagnostic ignored "-Wbool-compare"
#pragma GCC diagnostic ignored "-Wbool-operation"
#pragma GCC diagnostic ignored "-Wtype-limits"
#pragma GCC diagnostic ignored "-Wint-in-bool-context"

/* NOLINTBEGIN */
/* clang-format off */
#define C(expression) check_bare(#expression, (uint64_t)(expression))

HI_TEST(expression, integers_are_promoted_and_converted_as_in_c)
{
	struct sample *this = &g;

	start();
	C(this->c); C(this->uc); C(this->s); C(this->us); C(this->n); C(this->u);
	C(this->l); C(this->ul); C(this->ch); C(this->truth); C(this->color);
	C(this->c + this->uc); C(this->uc - this->us); C(this->us * this->us % 1000);
	C(this->u + this->u); C(this->u * 3); C(this->u - 4000000001u); C(this->n + this->u);
	C(-this->u); C(~this->u); C(~this->uc); C(-this->uc); C(-this->c); C(~this->ul);
	C(this->l * 2); C(this->ul + this->n); C(this->ul / 7); C(this->l / 7); C(this->l % 7);
	C(this->n / 2); C(this->n % 2); C(this->n / this->u); C(this->n % this->u);
	C(this->u / -7); C(this->n >> 1); C(this->u >> 1); C(this->l >> 3); C(this->ul >> 3);
	C(this->uc << 4); C(this->u << 4); C(this->ul << 4); C(this->c >> 1); C(this->c & 0xff);
	C(this->c & 0xffffffff); C(this->c & 0xffffffffffu); C(this->c | this->uc);
	C(this->u ^ this->n); C(this->ul ^ this->n); C(this->n & ~3); C(this->ul & ~3);
	C(this->ul & ~3u); C(!this->n); C(!this->none); C(!!this->u); C(+this->c); C(- -this->n);
	C(1 + 2 * 3 - 4 / 2 % 3); C((1 + 2) * 3); C(0x1f + 017 + 'c' + '\n' + '\x41' + '\0' + '\'');
	C(0xffffffff + 1); C(4294967295 + 1); C(2147483648 - 1); C(1ull << 40); C(1L << 33);
	C(0xffffffffffffffff); C(-1 >> 1); C(-1u >> 1); C(-7 / 2); C(-7 % 2); C(7u - 8u);
	C('\xff'); C(10 - 3 - 2); C(100 / 5 / 2); C(1 << 2 << 3); C(2 + 3 << 1); C(1 | 6 & 3 ^ 5);
	C(this->truth + this->truth); C(~this->truth); C(this->color - 201); C(this->color - 201 < 0);
	C((this->u + 1) + (this->u + 2)); C((this->u + this->u) / 2); C(-(this->u + this->u) >> 3);
	C(this->us - 65001 < 0); C((this->uc + this->uc) >> 1); C(this->num.wide + this->num.low);
}

HI_TEST(expression, comparisons_have_the_operands_sign)
{
	struct sample *this = &g;

	start();
	C(this->n < 0); C(this->n < this->u); C(this->n > this->u); C(this->n <= -7); C(this->n >= -7);
	C(this->c < this->uc); C(this->c < this->u); C(this->s < this->us); C(this->l < this->ul);
	C(this->l < this->u); C(this->n < this->ul); C(this->u > -1); C(this->uc > -1);
	C(this->ul > -1); C(this->n == -7); C(this->n != -7); C(this->n == 4294967289u);
	C(this->u == -294967296); C(this->u == -294967296L); C(-1 < 1u); C(-1 < 1); C(-1L < 1u);
	C(-1 < 1ul); C(this->f1 - 7 < 0); C(this->f6 - 1 < 0); C(this->f6 > -1); C(this->f1 > -1);
	C(1 < 2 == 1); C(1 == 1 == 1); C(3 > 2 > 1); C(this->ptr < this->ptr + 1); C(this->ptr == this->arr[1].next);
	C(this->none == 0); C(this->ptr != 0); C(this->ch == -1); C(this->ch == 0xff); C(this->ch < 0);
}

HI_TEST(expression, logic_and_choice)
{
	struct sample *this = &g;

	start();
	C(this->n && this->u); C(this->n && 0); C(this->none || this->ptr); C(this->none && this->none->x);
	C(this->ptr && this->ptr->x == 0); C(0 || 2); C(2 && 3); C(!this->none && this->n);
	C(!this->none || this->none->x); C(this->none ? this->none->x : this->n);
	C(this->n ? this->u : this->n); C(this->truth ? this->n : this->u); C(this->truth ? -1 : 1u);
	C(this->truth ? -1 : 1ul); C(this->none ? 1 : this->truth ? 2 : 3); C(1 ? 2 : 0 ? 3 : 4);
	C(this->truth ? this->ptr : 0); C((this->truth ? this->ptr + 1 : this->none)->x);
	C(this->n < 0 && this->u > 5 || this->none->x); C(0 && 1 || 1); C(1 || 0 && 0);
	C((this->n && this->u) + (this->n || this->none)); C(this->truth ? this->uc : this->c);
	C(this->none ? this->uc : this->c); C(this->f1 ? this->f2 : this->f3);
}

HI_TEST(expression, bit_fields)
{
	struct sample *this = &g;

	start();
	C(this->f1); C(this->f2); C(this->f3); C(this->f4); C(this->f5); C(this->f6);
	C(this->f1 + this->f2); C(this->f2 < 0); C(this->f3 << 4); C(this->f4 >> 8); C(this->f5 - 1);
	C(this->f2 * this->f1); C(~this->f1); C(-this->f1); C(this->f6 + 16); C(-this->f6);
	C(this->f1 == 6 && this->f2 == -9); C(!this->f2); C(this->f5 < this->f6); C((char)this->f3);
	C(sizeof(this->f1 + 0));
}

HI_TEST(expression, pointers_arrays_and_members)
{
	struct sample *this = &g;

	start();
	C(this->in.x); C(this->in.y); C(this->in.tag); C(this->in.next->x); C(this->in.next->next->tag);
	C(this->arr[2].y); C(this->arr[1].next->tag); C(this->arr->x); C((*this->arr).y); C(*this->grid[1]);
	C(this->grid[2][3]); C(*(*(this->grid + 1) + 2)); C(**this->grid); C(&this->grid[2] - &this->grid[0]);
	C(&this->grid[1][1] - &this->grid[0][0]); C(this->ptr); C(this->ptr + 1); C(1 + this->ptr);
	C(this->ptr - 1); C(this->ptr + this->n); C(this->ptr - this->n); C(this->ptr + this->u);
	C(&this->ptr[3]); C(this->ptr[3].x); C((this->ptr + 3)->tag); C((*this->pp)->x); C(**(int **)this->pp);
	C(*this->pp - this->ptr); C(&this->ptr[5] - this->ptr); C(this->ptr - &this->ptr[5]);
	C(this->text[1]); C(*this->text); C(*(this->text + 4)); C(this->text + 1); C(this->raw); C(this->raw + 5);
	C((int *)this->raw + 2); C(((int *)this->raw)[5]); C(*(short *)this->raw); C(*((int *)this->raw + 7));
	C(this->num.wide); C(this->num.low); C(this->num.text[0]); C(this->num.text); C(this->anon_a);
	C(this->anon_b); C(this->anon_c); C(this->anon_c < 0); C(this->fn); C(this->fn == twice);
	C(this->fn == &twice); C(&twice); C(twice); C(*twice); C(&this->in); C(&this->in.tag); C(&this->arr);
	C(this->arr + 1); C(&this->arr + 1); C(&this->arr[3].next); C(this->triples[3].bytes[1]);
	C(&this->triples[4] - &this->triples[1]); C(this->triples + 2); C(this->flex[3]); C(&this->flex[3]);
	C(this->flex); C(*this->flex + 1); C(this->self); C(g.in.x); C(p->in.x); C((*p).in.y); C(&g); C(&p->n);
	C(&p); C(p); C(*p->pp == p->ptr + 2); C((&p->in)->x); C((&*p)->n); C(*&p->n); C((*this).n);
	C((&*this)->u); C(this == p); C(this->ptr->next->next->next->x); C(this->ptr[this->arr[1].x].x);
	C(this->text[this->uc - 249] == 'e'); C(&this->text[2] - this->text);
	C((void *)&this->n - (void *)this); C((long)&this->n - (long)this);
	C(this->hidden); C(!this->hidden);
}

HI_TEST(expression, casts_and_sizeof)
{
	struct sample *this = &g;

	start();
	C((char)this->u); C((unsigned char)this->n); C((short)this->us); C((unsigned short)this->s);
	C((int)this->u); C((unsigned)this->n); C((unsigned int)this->l); C((int)this->l); C((long)this->u);
	C((unsigned long)this->n); C((unsigned long)this->u); C((long)(int)this->u); C((_Bool)this->u);
	C((_Bool)this->none); C((uint8_t)this->n); C((int8_t)this->uc); C((uint64_t)this->c);
	C((size_t)this->c); C((int)'\xff'); C((unsigned char)'\xff'); C((long)this->ptr & 7);
	C((this->tagged & ~3ul) == (unsigned long)(this->ptr + 3)); C(((struct inner *)(this->tagged & ~3))->x);
	C((struct inner *)(this->tagged & -4)); C(((struct inner *)this->raw)->y);
	C((*(struct inner **)this->pp)->tag); C((struct inner **)this->pp + 1);
	C((const struct inner *)this->ptr + 1); C((struct inner const *const *)this->pp + 1);
	C((unsigned long)this->ptr + 1); C((char *)this->ptr + 1); C((int)this->c + 1);
	C(-(unsigned char)this->n); C((unsigned char)this->n + 1); C((char)(this->n + 300) << 2);
	C(sizeof(int)); C(sizeof(struct inner)); C(sizeof(struct sample)); C(sizeof this->arr);
	C(sizeof(this->arr) / sizeof(this->arr[0])); C(sizeof this->arr[0].next); C(sizeof *this->ptr);
	C(sizeof(char)); C(sizeof(unsigned long)); C(sizeof(void *)); C(sizeof(struct inner **));
	C(sizeof 'c'); C(sizeof 1L); C(sizeof this->c); C(sizeof +this->c); C(sizeof(this->c + 1L));
	C(sizeof this->grid[0]); C(sizeof(union number)); C(sizeof(this->none->next->tag)); C(sizeof(long) * 2);
	C(sizeof(int) - 5 > 0); C(sizeof this->text[0] + 1); C(-sizeof(int)); C(sizeof(unsigned char *) + 1);
	C((long long)this->n); C((unsigned long long)this->n); C((long int)this->n); C((short int)this->n);
}
#pragma GCC diagnostic pop
/* clang-format on */
/* NOLINTEND */
