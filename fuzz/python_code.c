/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Code objects of CPython of any bytes: copied out of a process that runs, by one with
 * rights, and read later. The first byte is the version, the next three say where in the
 * code a frame is and how long its tables and names are called; the rest is the table of
 * lines, then the name.
 */
#include <stdlib.h>
#include <string.h>

#include "attach/mock.h"
#include "decode/runtimes/cpython_code.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	CODE = 0x10000,
	TYPE = 0x20000,
	NAME = 0x30000,
	LINES = 0x31000,
	ROOM = 0x1000,
	HEAD = 12,
	VERSIONS = 7, /* 3.8 to 3.14 */
};

static void expect(bool holds)
{
	if (!holds)
		abort();
}

static void put_word(struct hi_memory *mock, uint64_t addr, uint64_t word)
{
	memcpy(hi_memory_mock_at(mock, addr), &word, sizeof(word));
}

static uint64_t get_long(const uint8_t *data)
{
	uint64_t ret;

	memcpy(&ret, data, sizeof(ret));
	return ret;
}

/* A str that begins with `state` and has `length`, which may be lies. */
static void put_name(struct hi_memory *mock, const uint8_t *text, size_t n,
		     uint8_t length, uint8_t state)
{
	const uint32_t word = state;

	put_word(mock, NAME + 16, length & 0x80 ? UINT64_MAX - length : length);
	memcpy(hi_memory_mock_at(mock, NAME + 32), &word, sizeof(word));
	memcpy(hi_memory_mock_at(mock, NAME + 48), text, n < 512 ? n : 512);
}

static struct hi_memory *draw_code(const uint8_t *data, size_t size)
{
	static const uint64_t parts[] = {CODE, NAME, LINES};
	size_t n = size - HEAD < 1024 ? size - HEAD : 1024;
	struct hi_memory *mock = NULL;

	expect(hi_memory_create_mock(&mock, NULL) == HI_OK);
	for (size_t i = 0; i < 3; i++)
		expect(hi_memory_mock_add(mock, parts[i], NULL, ROOM, NULL) == HI_OK);
	put_word(mock, CODE + 8, TYPE);
	put_word(mock, CODE + 72, data[9]);
	put_word(mock, CODE + 112, NAME);
	put_word(mock, CODE + 128, data[1] & 1 ? NAME : get_long(data + 1));
	put_word(mock, CODE + 136, LINES);
	put_name(mock, data + HEAD, size - HEAD, data[10], data[11]);
	put_word(mock, LINES + 16, data[1] & 2 ? get_long(data + 1) : n);
	memcpy(hi_memory_mock_at(mock, LINES + 32), data + HEAD, n);
	return mock;
}

static void read_rows(struct hi_python_codes *codes, struct hi_memory *mock)
{
	struct hi_python_lines lines;
	struct hi_event_stack stack = {};
	struct hi_frame_row row;
	uint64_t first, name;

	memcpy(&lines, hi_memory_mock_at(mock, LINES + HI_PYTHON_LINES_AT),
	       sizeof(lines));
	memcpy(&first, hi_memory_mock_at(mock, CODE + 72), sizeof(first));
	memcpy(&name, hi_memory_mock_at(mock, CODE + 128), sizeof(name));
	for (unsigned at = 0; at < 60; at += 2) {
		stack.frames[at] = hi_python_frame(CODE, at * at);
		stack.frames[at + 1] =
			hi_python_check((uint32_t)first, NAME, name, &lines);
	}
	stack.n = 60;
	if (hi_python_codes_take(codes, &stack, NULL) != HI_OK)
		return;
	expect(stack.n <= 60);
	for (unsigned i = 0; i < stack.n; i++) {
		if (!hi_python_is_frame(stack.frames[i]))
			continue;
		hi_python_codes_row(codes, stack.frames[i], &row);
		expect(row.function && row.file && strlen(row.function) < 100000);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hi_python_walk walk = {.code_type = TYPE,
				      .code_first_line = 72,
				      .code_filename = 112,
				      .code_qualname = 128,
				      .code_lines = 136,
				      .code_instructions = 184,
				      .code_size = 184};
	struct hi_python_codes *codes = NULL;
	struct hi_memory *mock;

	if (size < HEAD)
		return 0;
	walk.minor = 8 + data[0] % VERSIONS;
	mock = draw_code(data, size);
	if (hi_python_codes_create(mock, &walk, &codes, NULL) == HI_OK)
		read_rows(codes, mock);
	hi_python_codes_destroy(codes);
	hi_memory_destroy(mock);
	return 0;
}
