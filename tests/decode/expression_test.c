/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Expressions over a struct of this test's own memory: what the compiler makes of
 * the same text is the truth.
 */
#include <stddef.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/expression_sample.h"

#define g sample_room.s
#define p sample_pointer
#define packed sample_packed

static void check(const char *text, uint64_t truth)
{
	uint64_t value = sample_value(text);

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

	sample_start();
	C(this->c); C(this->uc); C(this->s); C(this->us); C(this->n); C(this->u);
	C(this->l); C(this->ul); C(this->ch); C(this->truth); C(this->color);
	C(this->c + this->uc); C(this->uc - this->us); C(this->us * this->uc % 1000);
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

	sample_start();
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

	sample_start();
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

	sample_start();
	C(this->f1); C(this->f2); C(this->f3); C(this->f4); C(this->f5); C(this->f6);
	C(this->f1 + this->f2); C(this->f2 < 0); C(this->f3 << 4); C(this->f4 >> 8); C(this->f5 - 1);
	C(this->f2 * this->f1); C(~this->f1); C(-this->f1); C(this->f6 + 16); C(-this->f6);
	C(this->f1 == 6 && this->f2 == -9); C(!this->f2); C(this->f5 < this->f6); C((char)this->f3);
	C(sizeof(this->f1 + 0)); C(packed.low); C(packed.wide); C(packed.deep); C(packed.last);
	C(packed.wide - 1); C(packed.deep < 0); C(packed.last * 2);
}

HI_TEST(expression, pointers_arrays_and_members)
{
	struct sample *this = &g;

	sample_start();
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

	sample_start();
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

/* ---- what C has no words for ---- */

HI_TEST(expression, names_of_other_places)
{
	sample_start();
	check("$", (uintptr_t)&sample_chain[4]);
	check("((struct inner *)$)->tag", 4000);
	check("((inner *)$)->tag", 4000);
	check("u32($)", 4);
	check("u8($ + 4) + u16($) + u64(&ul)", 0xfc + 4 + g.ul);
	check("none == NULL && ptr != nullptr && true && !false", 1);
	check("i", 2);
	check("arr[i].y", 8);
	check("this->arr[i - 1].x", 4);
	check("i - 3 < 0", 1);
	check("ctx + 1", 1235);
	check("owner->tag", 5000);
	check("owner == &ptr[5]", 1);
	check("GREEN * 2 + RED", 10);
	check("MINUS < 0", 1);
	check("ns::total", 9);
	check("::ns::total", 9);
	check("ns::total<8", 0);
	check("ns::derived<int, (char)60>::count", 5);
	check("ns::derived<int, (char)60>::count<u", 1);
	check("sizeof(ns::derived<int, (char)60>)", 32);
	check("((ns::derived<int, (char)60> *)raw)->own", 2);
	check("(twice) == fn", 1);
	check("usable(ptr)", sizeof(sample_chain));
	check("usable(ptr + 1)", 0);
	check("align4(uc) + align8(us + 1)", 252 + 65008);
	check("align8(ptr) == ptr", 1);
	check("where.deep + where.own", 4 + 1);
	check("&where == (int *)raw + 2", 1);
	check("(i)", 2);
	check("(n) - 1", (uint64_t)-8);
	check("(n < u && u > 3)", 0);
	check("(uc < us > 0)", 1);
}

HI_TEST(expression, members_of_bases_are_members)
{
	static const struct {
		const char *text;
		int index;
	} truth[] = {{"left", 1}, {"deep", 2}, {"this->deep", 2}, {"own", 6}};

	sample_start();
	sample_input.self = (uintptr_t)sample_table;
	for (size_t i = 0; i < sizeof(truth) / sizeof(truth[0]); i++)
		HI_ASSERT_EQ(
			sample_table[truth[i].index],
			sample_run(sample_compile(truth[i].text, sample_derived, false),
				   truth[i].text));
}

HI_TEST(expression, an_lvalue_is_an_address_and_may_be_known_without_memory)
{
	static const struct {
		const char *text;
		uint64_t offset, stride;
	} fixed[] = {
		{"n", offsetof(struct sample, n), 0},
		{"in.next", offsetof(struct sample, in.next), 0},
		{"anon_c", offsetof(struct sample, anon_c), 0},
		{"arr[2]", offsetof(struct sample, arr[2]), 0},
		{"arr[i].next", offsetof(struct sample, arr[0].next),
		 sizeof(struct inner)},
		{"grid[1][i]", offsetof(struct sample, grid[1]), 4},
		{"grid[i][3]", offsetof(struct sample, grid[0][3]), 16},
		{"grid[2 - i][i]", offsetof(struct sample, grid[2]), -12ull},
		{"flex[i + 3]", offsetof(struct sample, flex[3]), 4},
		{"*(&this->in + 1 - 1)", offsetof(struct sample, in), 0},
		{"*(char *)(this + 1)", sizeof(struct sample), 0},
		{"(*this).arr[2 * i].x", offsetof(struct sample, arr),
		 2 * sizeof(struct inner)},
		{"*this", 0, 0},
	};
	static const char *const moving[] = {
		"ptr->x",     "text[i]", "*pp", "g.n", "arr[n].x", "*(struct inner *)$",
		"flex[i * i]"};
	uint64_t offset, stride;

	sample_start();
	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++) {
		const struct hi_code *code =
			sample_compile(fixed[i].text, sample_type, true);

		HI_ASSERT_MSG(hi_code_is_static(code, &offset, &stride), "%s",
			      fixed[i].text);
		HI_ASSERT_EQ(fixed[i].offset, offset);
		HI_ASSERT_EQ(fixed[i].stride, stride);
		HI_ASSERT_EQ((uintptr_t)&g + offset + 2 * stride,
			     sample_run(code, fixed[i].text));
	}
	for (size_t i = 0; i < sizeof(moving) / sizeof(moving[0]); i++)
		HI_ASSERT_MSG(
			!hi_code_is_static(sample_compile(moving[i], sample_type, true),
					   &offset, &stride),
			"%s", moving[i]);
	HI_ASSERT(!hi_code_is_static(sample_compile("n", sample_type, false), &offset,
				     &stride));
}

HI_TEST(expression, types_of_results)
{
	static const struct {
		const char *text, *type;
		bool lvalue;
	} truth[] = {
		{"ptr", "struct inner *", false},
		{"ptr", "struct inner *", true},
		{"*ptr", "struct inner", true},
		{"&in", "struct inner *", false},
		{"&ptr", "struct inner * *", false},
		{"arr", "struct inner *", false},
		{"arr", "array", true},
		{"(struct inner **)raw", "struct inner * *", false},
		{"(const char *)raw", "char *", false},
		{"*(char **)raw", "char *", true},
		{"ptr + 3", "struct inner *", false},
		{"truth ? ptr : 0", "struct inner *", false},
		{"us", "short unsigned int", false},
		{"us + 1", "", false},
		{"ptr - ptr", "", false},
		{"ctx", "", false},
		{"$", "void *", false},
		{"owner", "struct inner *", false},
		{"*this", "struct sample", true},
	};

	sample_start();
	for (size_t i = 0; i < sizeof(truth) / sizeof(truth[0]); i++) {
		const struct hi_code *code =
			sample_compile(truth[i].text, sample_type, truth[i].lvalue);

		HI_ASSERT_MSG(strcmp(sample_source.type(NULL, hi_code_type(code))->name,
				     truth[i].type) == 0,
			      "%s has the type %s", truth[i].text,
			      sample_source.type(NULL, hi_code_type(code))->name);
	}
}

HI_TEST(expression, constants_and_context_are_known)
{
	uint64_t unused;
	uint64_t value = 0;

	sample_start();
	HI_ASSERT(hi_code_is_constant(
		sample_compile("sizeof(arr) / 2 + GREEN", sample_type, false), &value));
	HI_ASSERT_EQ(sizeof(g.arr) / 2 + 5, value);
	HI_ASSERT(!hi_code_is_constant(sample_compile("n * 0 + 1", sample_type, false),
				       &value));
	HI_ASSERT_EQ(1u << 3 | 1u << 7,
		     hi_code_context_keys(
			     sample_compile("ctx ? owner->x : 0", sample_type, false)));
	HI_ASSERT_EQ(0, hi_code_context_keys(
				sample_compile("sizeof(owner)", sample_type, false)));
	sample_input.context = NULL;
	HI_ASSERT(!hi_code_run(sample_compile("ctx", sample_type, false), &sample_input,
			       &unused));
	sample_input.usable = NULL;
	HI_ASSERT_EQ(0, sample_value("usable(ptr)"));
}

HI_TEST(expression, unreadable_operands_and_division_by_zero_give_no_value)
{
	static const char *const texts[] = {
		"none->x",     "hidden == 0 || *(char *)hidden",
		"n / (c + 5)", "u % (uc - 250)",
		"1 / 0",       "1 % (RED * 2)",
		"u8(3)",       "*(int *)0",
		"ptr[6].x",    "n / RED",
	};
	uint64_t value = 1;

	sample_start();
	g.hidden = (struct opaque *)16;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		HI_ASSERT_MSG(!hi_code_run(sample_compile(texts[i], sample_type, false),
					   &sample_input, &value),
			      "%s", texts[i]);
	HI_ASSERT_EQ(1, value);
	check("RED ? n / RED : 3", 3);
	g.l = INT64_MIN;
	check("l / -1", (uint64_t)INT64_MIN);
	check("l % -1", 0);
	check("1 << 64", 0);
	check("l >> 100", (uint64_t)-1);
}
