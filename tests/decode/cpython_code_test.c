/* SPDX-License-Identifier: BSD-2-Clause */
/* Copies of code objects, on memory that the test draws: CPython 3.11. */
#include <string.h>

#include "attach/mock.h"
#include "base/cleanup.h"
#include "decode/runtimes/cpython_code.h"
#include "harness.h"

enum {
	CODE = 0x10000,
	TYPE = 0x20000,
	NAME = 0x30000,
	OTHER_NAME = 0x31000,
	FILE_NAME = 0x32000,
	LINES = 0x33000,
	FIRST_LINE = 40,
};

HI_DEFINE_GUARD(struct hi_memory *, hi_memory_destroy)

static const struct hi_python_walk walk = {
	.code_type = TYPE,
	.minor = 11,
	.code_first_line = 72,
	.code_filename = 112,
	.code_qualname = 128,
	.code_lines = 136,
	.code_instructions = 184,
	.code_size = 184,
};

static void put_at(struct hi_memory *mock, uint64_t addr, const void *bytes, size_t size)
{
	memcpy(hi_memory_mock_at(mock, addr), bytes, size);
}

static void put_word(struct hi_memory *mock, uint64_t addr, uint64_t word)
{
	put_at(mock, addr, &word, sizeof(word));
}

/* A compact str of ASCII; length may be a lie. */
static void put_str(struct hi_memory *mock, uint64_t addr, const char *text,
		    uint64_t length)
{
	const uint32_t state = 1 << 2 | 1 << 5 | 1 << 6;

	put_word(mock, addr + 16, length);
	put_at(mock, addr + 32, &state, sizeof(state));
	put_at(mock, addr + 48, text, strlen(text));
}

static struct hi_memory *draw_code(void)
{
	/* Two entries of one unit each without columns: lines + 0, then + 5. */
	static const uint8_t lines[] = {0x80 | 13 << 3, 0, 0x80 | 13 << 3, 10};
	struct hi_memory *mock = NULL;
	struct hi_error err;

	HI_ASSERT_OK(hi_memory_create_mock(&mock, &err), &err);
	for (uint64_t at = CODE; at <= LINES; at += 0x1000)
		HI_ASSERT_OK(hi_memory_mock_add(mock, at, NULL, 0x1000, &err), &err);
	put_word(mock, CODE + 8, TYPE);
	put_word(mock, CODE + 72, FIRST_LINE);
	put_word(mock, CODE + 112, FILE_NAME);
	put_word(mock, CODE + 128, NAME);
	put_word(mock, CODE + 136, LINES);
	put_str(mock, NAME, "Session.load", 12);
	put_str(mock, OTHER_NAME, "other", 5);
	put_str(mock, FILE_NAME, "/srv/app.py", 11);
	put_word(mock, LINES + 16, sizeof(lines));
	put_at(mock, LINES + 32, lines, sizeof(lines));
	return mock;
}

static uint64_t check_of_code(struct hi_memory *mock)
{
	struct hi_python_lines lines;
	uint64_t name;

	memcpy(&lines, hi_memory_mock_at(mock, LINES + HI_PYTHON_LINES_AT),
	       sizeof(lines));
	memcpy(&name, hi_memory_mock_at(mock, CODE + 128), sizeof(name));
	return hi_python_check(FIRST_LINE, FILE_NAME, name, &lines);
}

/* The frame of a stack that has a native frame on each side. */
static uint64_t take_frame(struct hi_python_codes *codes, uint64_t at, uint64_t check)
{
	struct hi_event_stack stack = {
		.n = 4, .frames = {0x400000, hi_python_frame(CODE, at), check, 0x500000}};
	struct hi_error err;

	HI_ASSERT_OK(hi_python_codes_take(codes, &stack, &err), &err);
	HI_ASSERT_EQ(3, stack.n);
	HI_ASSERT_EQ(0x400000, stack.frames[0]);
	HI_ASSERT_EQ(0x500000, stack.frames[2]);
	HI_ASSERT(hi_python_is_frame(stack.frames[1]));
	return stack.frames[1];
}

static void check_row(struct hi_python_codes *codes, uint64_t frame, const char *function,
		      const char *file, unsigned line)
{
	struct hi_frame_row row;

	hi_python_codes_row(codes, frame, &row);
	HI_ASSERT_STREQ(function, row.function);
	HI_ASSERT_STREQ(file, row.file);
	HI_ASSERT_EQ(line, row.line);
	HI_ASSERT_EQ(HI_FRAME_SCRIPT, row.flags);
}

static const char gone[] = "(Python code that is gone)";

HI_TEST(cpython_code, a_frame_has_the_function_and_the_line)
{
	HI_GUARD(hi_memory_destroy) struct hi_memory *mock = draw_code();
	HI_GUARD(hi_python_codes_destroy) struct hi_python_codes *codes = NULL;
	struct hi_error err;
	uint64_t check = check_of_code(mock);

	HI_ASSERT_OK(hi_python_codes_create(mock, &walk, &codes, &err), &err);
	check_row(codes, take_frame(codes, 0, check), "Session.load", "/srv/app.py",
		  FIRST_LINE);
	check_row(codes, take_frame(codes, 1, check), "Session.load", "/srv/app.py",
		  FIRST_LINE + 5);
	/* Behind the table, and behind what a frame can say. */
	check_row(codes, take_frame(codes, 9, check), "Session.load", "/srv/app.py", 0);
	check_row(codes, take_frame(codes, UINT64_MAX, check), "Session.load",
		  "/srv/app.py", 0);
}

HI_TEST(cpython_code, other_code_at_its_address_is_another_frame)
{
	HI_GUARD(hi_memory_destroy) struct hi_memory *mock = draw_code();
	HI_GUARD(hi_python_codes_destroy) struct hi_python_codes *codes = NULL;
	struct hi_error err;
	uint64_t before = check_of_code(mock), first, second, late;

	HI_ASSERT_OK(hi_python_codes_create(mock, &walk, &codes, &err), &err);
	first = take_frame(codes, 0, before);
	put_word(mock, CODE + 128, OTHER_NAME);
	second = take_frame(codes, 0, check_of_code(mock));
	HI_ASSERT(first != second);
	check_row(codes, first, "Session.load", "/srv/app.py", FIRST_LINE);
	check_row(codes, second, "other", "/srv/app.py", FIRST_LINE);
	/* What was copied stays; what was not is not taken for what is there. */
	HI_ASSERT_EQ(first, take_frame(codes, 0, before));
	late = take_frame(codes, 0, before + 1);
	check_row(codes, late, gone, "", 0);
	put_word(mock, CODE + 8, TYPE + 8);
	check_row(codes, take_frame(codes, 0, before + 2), gone, "", 0);
}

HI_TEST(cpython_code, wild_lengths_are_cut_and_bad_addresses_are_empty)
{
	HI_GUARD(hi_memory_destroy) struct hi_memory *mock = draw_code();
	HI_GUARD(hi_python_codes_destroy) struct hi_python_codes *codes = NULL;
	struct hi_frame_row row;
	struct hi_error err;

	put_word(mock, NAME + 16, UINT64_MAX);
	put_word(mock, CODE + 112, FILE_NAME);
	put_word(mock, LINES + 16, UINT64_MAX);
	HI_ASSERT_OK(hi_python_codes_create(mock, &walk, &codes, &err), &err);
	hi_python_codes_row(codes, take_frame(codes, 0, check_of_code(mock)), &row);
	HI_ASSERT_MSG(strncmp(row.function, "Session.load", 12) == 0, "%s", row.function);
	HI_ASSERT(strlen(row.function) < 300);
	HI_ASSERT_EQ(0, row.line);
	put_word(mock, CODE + 128, 8);
	hi_python_codes_row(codes, take_frame(codes, 0, check_of_code(mock)), &row);
	HI_ASSERT_STREQ("(Python code without a name)", row.function);
	/* A stack that ends within a frame. */
	struct hi_event_stack stack = {.n = 1, .frames = {hi_python_frame(CODE, 0)}};
	HI_ASSERT_OK(hi_python_codes_take(codes, &stack, &err), &err);
	HI_ASSERT_EQ(1, stack.n);
}
