/* SPDX-License-Identifier: BSD-2-Clause */
/* The expression evaluator on literal expressions (DWARF 5, 2.5, 2.6 and D.1). */
#include "decode/frames/locexpr.h"

#include <dwarf.h>
#include <stdlib.h>

#include "tests/harness.h"
#include "tests/support/random.h"
#include "tests/support/tiny_dwarf.h"

/* The frame that the expressions see. */
enum { CFA = 0x7000, FRAME_BASE = 0x6000, BIAS = 0x400000, RAX = 0x1234 };

static bool test_register(void *arg, uint64_t regno, uint64_t *ret)
{
	(void)arg;
	*ret = RAX + regno * 0x10000;
	return regno <= 16 && regno != 1; /* rdx is not known */
}

/* Memory [0x1000, 0x2000): each byte is the low byte of its address. */
static bool test_read(void *arg, uint64_t addr, void *buf, size_t size)
{
	uint8_t *bytes = buf;

	(void)arg;
	for (size_t i = 0; i < size; i++) {
		if (addr + i < 0x1000 || addr + i >= 0x2000)
			return false;
		bytes[i] = (uint8_t)(addr + i);
	}
	return true;
}

static bool test_frame_base(void *arg, uint64_t *ret)
{
	(void)arg;
	*ret = FRAME_BASE;
	return true;
}

static bool test_cfa(void *arg, uint64_t *ret)
{
	(void)arg;
	*ret = CFA;
	return true;
}

static bool test_tls(void *arg, uint64_t offset, uint64_t *ret)
{
	(void)arg;
	*ret = 0x9000 + offset;
	return true;
}

static bool test_entry(void *arg, uint64_t regno, uint64_t *ret)
{
	(void)arg;
	*ret = 0xe000 + regno;
	return regno == 5;
}

static struct hi_loc_env test_env(Dwarf_Attribute *attr)
{
	return (struct hi_loc_env){.reg = test_register,
				   .read = test_read,
				   .frame_base = test_frame_base,
				   .cfa = test_cfa,
				   .tls = test_tls,
				   .entry_reg = test_entry,
				   .bias = BIAS,
				   .attr = attr};
}

static enum hi_status eval(const uint8_t *bytes, size_t n, struct hi_loc *ret)
{
	static struct hi_tiny_dwarf tiny;
	enum hi_status status = HI_BAD_DATA;
	struct hi_loc_env env = test_env(&tiny.location);
	struct hi_error err;
	Dwarf_Op *ops;
	size_t n_ops;

	hi_tiny_dwarf_open(&tiny, bytes, n);
	if (dwarf_getlocation(&tiny.location, &ops, &n_ops) == 0)
		status = hi_loc_eval(ops, n_ops, &env, ret, &err);
	hi_tiny_dwarf_close(&tiny);
	return status;
}

#define BYTES(...)                                                                       \
	((const uint8_t[]){__VA_ARGS__}), sizeof((const uint8_t[]){__VA_ARGS__})

static void expect(enum hi_loc_kind kind, uint64_t value, const uint8_t *bytes, size_t n)
{
	struct hi_loc loc;

	HI_ASSERT_STATUS(HI_OK, eval(bytes, n, &loc));
	HI_ASSERT_EQ(1, loc.n_pieces);
	HI_ASSERT_EQ(0, loc.pieces[0].bit_size);
	HI_ASSERT_EQ(kind, loc.pieces[0].kind);
	HI_ASSERT_EQ(value, loc.pieces[0].value);
}
#define EXPECT_ADDRESS(value, ...) expect(HI_LOC_MEMORY, value, BYTES(__VA_ARGS__))
#define EXPECT_VALUE(value, ...)                                                         \
	expect(HI_LOC_VALUE, (uint64_t)(value), BYTES(__VA_ARGS__, DW_OP_stack_value))
#define EXPECT_STATUS(status, ...)                                                       \
	do {                                                                             \
		struct hi_loc loc_;                                                      \
		HI_ASSERT_STATUS(status, eval(BYTES(__VA_ARGS__), &loc_));               \
	} while (0)

HI_TEST(locexpr, places_in_memory)
{
	EXPECT_ADDRESS(FRAME_BASE - 8, DW_OP_fbreg, 0x78);
	EXPECT_ADDRESS(RAX + 16, DW_OP_breg0, 16);
	EXPECT_ADDRESS(RAX + 0x30000 - 1, DW_OP_bregx, 3, 0x7f);
	EXPECT_ADDRESS(CFA - 24, DW_OP_call_frame_cfa, DW_OP_const1s, 0xe8, DW_OP_plus);
	EXPECT_ADDRESS(BIAS + 0x1020, DW_OP_addr, 0x20, 0x10, 0, 0, 0, 0, 0, 0);
	EXPECT_ADDRESS(0x9004, DW_OP_lit4, DW_OP_form_tls_address);
	EXPECT_ADDRESS(0x9004, DW_OP_lit4, DW_OP_GNU_push_tls_address);
	/* through a pointer, as variable-length arrays are */
	EXPECT_ADDRESS(0x0706050403020100, DW_OP_const2u, 0x00, 0x10, DW_OP_deref);
	EXPECT_ADDRESS(0x1110, DW_OP_const2u, 0x10, 0x10, DW_OP_deref_size, 2);
}

HI_TEST(locexpr, registers_and_values)
{
	expect(HI_LOC_REGISTER, 3, BYTES(DW_OP_reg3));
	expect(HI_LOC_REGISTER, 33, BYTES(DW_OP_regx, 33));
	EXPECT_VALUE(RAX + 1, DW_OP_breg0, 1);
	EXPECT_VALUE(0xe005, DW_OP_entry_value, 1, DW_OP_reg5);
	EXPECT_VALUE(0xe005, DW_OP_GNU_entry_value, 1, DW_OP_reg5);
	expect(HI_LOC_GONE, 0, BYTES(DW_OP_implicit_pointer, 12, 0, 0, 0, 0));
}

HI_TEST(locexpr, constants_keep_their_sign)
{
	EXPECT_VALUE(200, DW_OP_const1u, 200);
	EXPECT_VALUE(-56, DW_OP_const1s, 200);
	EXPECT_VALUE(0xfffe, DW_OP_const2u, 0xfe, 0xff);
	EXPECT_VALUE(-2, DW_OP_const2s, 0xfe, 0xff);
	EXPECT_VALUE(0xfffffffe, DW_OP_const4u, 0xfe, 0xff, 0xff, 0xff);
	EXPECT_VALUE(-2, DW_OP_const4s, 0xfe, 0xff, 0xff, 0xff);
	EXPECT_VALUE(300, DW_OP_constu, 0xac, 0x02);
	EXPECT_VALUE(-128, DW_OP_consts, 0x80, 0x7f);
}

HI_TEST(locexpr, arithmetic)
{
	EXPECT_VALUE(7, DW_OP_lit10, DW_OP_lit3, DW_OP_minus);
	EXPECT_VALUE(-7, DW_OP_lit3, DW_OP_lit10, DW_OP_minus);
	EXPECT_VALUE(-3, DW_OP_lit10, DW_OP_neg, DW_OP_lit3, DW_OP_div);
	EXPECT_VALUE(1, DW_OP_lit10, DW_OP_lit3, DW_OP_mod);
	EXPECT_VALUE(30, DW_OP_lit10, DW_OP_lit3, DW_OP_mul);
	EXPECT_VALUE(2, DW_OP_lit10, DW_OP_lit3, DW_OP_and);
	EXPECT_VALUE(11, DW_OP_lit10, DW_OP_lit3, DW_OP_or);
	EXPECT_VALUE(9, DW_OP_lit10, DW_OP_lit3, DW_OP_xor);
	EXPECT_VALUE(80, DW_OP_lit10, DW_OP_lit3, DW_OP_shl);
	EXPECT_VALUE(~0ull >> 4, DW_OP_lit0, DW_OP_not, DW_OP_lit4, DW_OP_shr);
	EXPECT_VALUE(-1, DW_OP_lit0, DW_OP_not, DW_OP_lit4, DW_OP_shra);
	EXPECT_VALUE(0, DW_OP_lit1, DW_OP_const1u, 64, DW_OP_shl);
	EXPECT_VALUE(5, DW_OP_lit5, DW_OP_neg, DW_OP_abs);
	EXPECT_VALUE(133, DW_OP_lit5, DW_OP_plus_uconst, 0x80, 0x01);
	/* the smallest number by -1 must not trap */
	EXPECT_VALUE(1ull << 63, DW_OP_lit1, DW_OP_lit31, DW_OP_shl, DW_OP_lit31,
		     DW_OP_shl, DW_OP_lit1, DW_OP_shl, DW_OP_lit1, DW_OP_neg, DW_OP_div);
}

HI_TEST(locexpr, comparisons_are_signed)
{
	EXPECT_VALUE(1, DW_OP_lit1, DW_OP_neg, DW_OP_lit1, DW_OP_lt);
	EXPECT_VALUE(0, DW_OP_lit1, DW_OP_neg, DW_OP_lit1, DW_OP_ge);
	EXPECT_VALUE(1, DW_OP_lit2, DW_OP_lit2, DW_OP_le);
	EXPECT_VALUE(0, DW_OP_lit2, DW_OP_lit2, DW_OP_gt);
	EXPECT_VALUE(1, DW_OP_lit2, DW_OP_lit2, DW_OP_eq);
	EXPECT_VALUE(0, DW_OP_lit2, DW_OP_lit2, DW_OP_ne);
}

/* D.1.2: the stack is 17 29 1000 with 17 on top. */
#define EXAMPLE DW_OP_const2u, 0xe8, 0x03, DW_OP_lit29, DW_OP_lit17

HI_TEST(locexpr, stack_operations_as_in_the_standards_examples)
{
	EXPECT_VALUE(17, EXAMPLE, DW_OP_dup);
	EXPECT_VALUE(29, EXAMPLE, DW_OP_drop);
	EXPECT_VALUE(1000, EXAMPLE, DW_OP_pick, 2);
	EXPECT_VALUE(29, EXAMPLE, DW_OP_over);
	EXPECT_VALUE(29, EXAMPLE, DW_OP_swap);
	EXPECT_VALUE(17, EXAMPLE, DW_OP_swap, DW_OP_drop);
	EXPECT_VALUE(29, EXAMPLE, DW_OP_rot);
	EXPECT_VALUE(1000, EXAMPLE, DW_OP_rot, DW_OP_drop);
	EXPECT_VALUE(17, EXAMPLE, DW_OP_rot, DW_OP_drop, DW_OP_drop);
}

HI_TEST(locexpr, branches)
{
	EXPECT_VALUE(2, DW_OP_lit1, DW_OP_bra, 4, 0, DW_OP_lit1, DW_OP_skip, 1, 0,
		     DW_OP_lit2);
	EXPECT_VALUE(1, DW_OP_lit0, DW_OP_bra, 4, 0, DW_OP_lit1, DW_OP_skip, 1, 0,
		     DW_OP_lit2);
	/* 5! by a loop: n, product */
	EXPECT_VALUE(120, DW_OP_lit1, DW_OP_lit5,	  /* 0: product n */
		     DW_OP_dup, DW_OP_rot, DW_OP_mul,	  /* 2: n product*n */
		     DW_OP_swap, DW_OP_lit1, DW_OP_minus, /* 5: product n-1 */
		     DW_OP_dup, DW_OP_bra, 0xf6, 0xff,	  /* 8: to 2 */
		     DW_OP_drop);
}

HI_TEST(locexpr, typed_values)
{
	EXPECT_VALUE(-1, DW_OP_lit0, DW_OP_not, DW_OP_convert, HI_TINY_INT32);
	EXPECT_VALUE(0xff, DW_OP_lit0, DW_OP_not, DW_OP_convert, HI_TINY_UINT8);
	EXPECT_VALUE(0x34, DW_OP_regval_type, 0, HI_TINY_UINT8);
	EXPECT_VALUE(0x03020100, DW_OP_const2u, 0, 0x10, DW_OP_deref_type, 4,
		     HI_TINY_INT32);
	EXPECT_VALUE(-2, DW_OP_const_type, HI_TINY_INT32, 4, 0xfe, 0xff, 0xff, 0xff);
	/* unsigned division: 0xfe / 2 */
	EXPECT_VALUE(0x7f, DW_OP_const1u, 0xfe, DW_OP_convert, HI_TINY_UINT8, DW_OP_lit2,
		     DW_OP_convert, HI_TINY_UINT8, DW_OP_div);
	EXPECT_STATUS(HI_UNSUPPORTED, DW_OP_lit0, DW_OP_convert, HI_TINY_DOUBLE,
		      DW_OP_stack_value);
}

HI_TEST(locexpr, pieces_of_different_kinds)
{
	struct hi_loc loc;

	HI_ASSERT_STATUS(HI_OK, eval(BYTES(DW_OP_reg3, DW_OP_piece, 8, DW_OP_fbreg, 8,
					   DW_OP_piece, 4, DW_OP_piece, 2, DW_OP_lit9,
					   DW_OP_stack_value, DW_OP_bit_piece, 16, 3),
				     &loc));
	HI_ASSERT_EQ(4, loc.n_pieces);
	HI_ASSERT_EQ(HI_LOC_REGISTER, loc.pieces[0].kind);
	HI_ASSERT_EQ(64, loc.pieces[0].bit_size);
	HI_ASSERT_EQ(HI_LOC_MEMORY, loc.pieces[1].kind);
	HI_ASSERT_EQ(FRAME_BASE + 8, loc.pieces[1].value);
	HI_ASSERT_EQ(HI_LOC_GONE, loc.pieces[2].kind);
	HI_ASSERT_EQ(HI_LOC_VALUE, loc.pieces[3].kind);
	HI_ASSERT_EQ(9, loc.pieces[3].value);
	HI_ASSERT_EQ(16, loc.pieces[3].bit_size);
	HI_ASSERT_EQ(3, loc.pieces[3].bit_offset);
}

HI_TEST(locexpr, an_implicit_value_is_its_bytes)
{
	static const uint8_t bytes[] = {DW_OP_implicit_value, 3, 7, 8, 9};
	static struct hi_tiny_dwarf tiny;
	struct hi_loc_env env = test_env(&tiny.location);
	struct hi_error err;
	struct hi_loc loc;
	Dwarf_Op *ops;
	size_t n_ops;

	hi_tiny_dwarf_open(&tiny, bytes, sizeof(bytes));
	HI_ASSERT_EQ(0, dwarf_getlocation(&tiny.location, &ops, &n_ops));
	HI_ASSERT_OK(hi_loc_eval(ops, n_ops, &env, &loc, &err), &err);
	HI_ASSERT_EQ(HI_LOC_BYTES, loc.pieces[0].kind);
	HI_ASSERT_EQ(3, loc.pieces[0].n_bytes);
	HI_ASSERT(memcmp(loc.pieces[0].bytes, bytes + 2, 3) == 0);
	hi_tiny_dwarf_close(&tiny);
}

HI_TEST(locexpr, unknown_values_have_their_own_status)
{
	EXPECT_STATUS(HI_NOT_FOUND, DW_OP_breg1, 0);
	EXPECT_STATUS(HI_NOT_FOUND, DW_OP_breg17, 0);
	EXPECT_STATUS(HI_NOT_FOUND, DW_OP_entry_value, 1, DW_OP_reg4, DW_OP_stack_value);
	EXPECT_STATUS(HI_FAULT, DW_OP_lit0, DW_OP_deref);
	EXPECT_STATUS(HI_FAULT, DW_OP_const2u, 0xfc, 0x1f, DW_OP_deref);
	EXPECT_STATUS(HI_UNSUPPORTED, DW_OP_push_object_address);
}

HI_TEST(locexpr, malformed_expressions_are_refused)
{
	EXPECT_STATUS(HI_BAD_DATA, DW_OP_plus);
	EXPECT_STATUS(HI_BAD_DATA, DW_OP_lit1, DW_OP_plus);
	EXPECT_STATUS(HI_BAD_DATA, DW_OP_drop);
	EXPECT_STATUS(HI_BAD_DATA, DW_OP_lit1, DW_OP_lit2, DW_OP_rot);
	EXPECT_STATUS(HI_BAD_DATA, DW_OP_lit1, DW_OP_pick, 1);
	EXPECT_STATUS(HI_BAD_DATA, DW_OP_lit1, DW_OP_lit0, DW_OP_div);
	EXPECT_STATUS(HI_BAD_DATA, DW_OP_lit1, DW_OP_lit0, DW_OP_mod);
	EXPECT_STATUS(HI_BAD_DATA, DW_OP_stack_value);
	EXPECT_STATUS(HI_BAD_DATA, DW_OP_const2u, 0, 0x10, DW_OP_deref_size, 9);
	EXPECT_STATUS(HI_BAD_DATA, DW_OP_reg1, DW_OP_lit1);
	EXPECT_STATUS(HI_BAD_DATA, DW_OP_reg1, DW_OP_piece, 4, DW_OP_reg1);
	EXPECT_STATUS(HI_BAD_DATA, DW_OP_reg1, DW_OP_piece, 0);
	EXPECT_STATUS(HI_BAD_DATA, DW_OP_skip, 1, 0, DW_OP_const2u, 0, 0, DW_OP_lit1);
	EXPECT_STATUS(HI_BAD_DATA, DW_OP_lit1, DW_OP_skip, 0xfb, 0xff);
	EXPECT_STATUS(HI_BAD_DATA, 0xff);
}

HI_TEST(locexpr, endless_expressions_end)
{
	EXPECT_STATUS(HI_LIMIT, DW_OP_skip, 0xfd, 0xff);
	EXPECT_STATUS(HI_LIMIT, DW_OP_lit1, DW_OP_skip, 0xfc, 0xff);
	EXPECT_STATUS(HI_LIMIT, DW_OP_lit1, DW_OP_bra, 0xfc, 0xff);
}

/* xorshift64*: the same bytes in every run. */
HI_TEST(locexpr, random_bytes_neither_crash_nor_hang)
{
	static const uint8_t usual[] = {
		DW_OP_lit1, DW_OP_breg0, DW_OP_fbreg, DW_OP_deref,  DW_OP_bra,
		DW_OP_skip, DW_OP_dup,	 DW_OP_plus,  DW_OP_div,    DW_OP_piece,
		DW_OP_pick, DW_OP_shl,	 DW_OP_reg0,  DW_OP_convert};
	uint64_t seed = 1;
	int fine = 0;

	for (int i = 0; i < 20000; i++) {
		uint8_t bytes[40];
		size_t n = next_random(&seed) % sizeof(bytes);
		struct hi_loc loc;

		for (size_t k = 0; k < n; k++) {
			uint64_t r = next_random(&seed);

			bytes[k] =
				r & 0x100 ? usual[r % sizeof(usual)] : (uint8_t)(r >> 16);
		}
		fine += eval(bytes, n, &loc) == HI_OK;
	}
	HI_ASSERT(fine > 100);
}

/* Operations as libdw never makes them: wild operands, no attribute to look into. */
HI_TEST(locexpr, random_operations_neither_crash_nor_hang)
{
	struct hi_loc_env env = test_env(NULL);
	uint64_t seed = 2;
	int fine = 0;

	for (int i = 0; i < 200000; i++) {
		Dwarf_Op ops[16];
		size_t n = next_random(&seed) % 16;
		struct hi_loc loc;

		for (size_t k = 0; k < n; k++) {
			uint64_t r = next_random(&seed);

			ops[k] = (Dwarf_Op){.atom = (uint8_t)r,
					    .number = r & 0x100 ? r >> 60 : r,
					    .number2 = next_random(&seed),
					    .offset = r & 0x200 ? k : r >> 32};
		}
		fine += hi_loc_eval(ops, n, &env, &loc, NULL) == HI_OK;
	}
	HI_ASSERT(fine > 100);
}
