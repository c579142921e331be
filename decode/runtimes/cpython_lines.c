/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables of lines. Source: Objects/lnotab_notes.txt (up to 3.9, and 3.10),
 * Objects/locations.md (from 3.11 on).
 */
#include <limits.h>

#include "decode/runtimes/cpython_rows.h"

enum {
	CODE_NONE = 15, /* kinds of locations */
	CODE_LONG = 14,
	CODE_NO_COLUMNS = 13,
	CODE_ONE_LINE_0 = 10,
	NO_LINE = -128,
};

/* Tables are hostile. */
static int as_lines(int64_t lines)
{
	return lines > INT_MAX || lines <= INT_MIN ? INT_MIN : (int)lines;
}

/* Pairs: bytes of code, then lines. */
int hi_py_lnotab_line(const uint8_t *table, size_t size, int64_t at)
{
	int64_t start = 0, line = 0;

	for (size_t i = 0; i + 1 < size; i += 2) {
		start += table[i];
		if (start > at)
			break;
		line += (int8_t)table[i + 1];
	}
	return as_lines(line);
}

/* Pairs: a range of code and how much its line is behind the one before. */
int hi_py_pairs_line(const uint8_t *table, size_t size, int64_t at)
{
	int64_t end = 0, line = 0;

	for (size_t i = 0; i + 1 < size; i += 2) {
		int delta = (int8_t)table[i + 1];

		end += table[i];
		line += delta == NO_LINE ? 0 : delta;
		if (at < end)
			return delta == NO_LINE ? INT_MIN : as_lines(line);
	}
	return INT_MIN;
}

struct line_table {
	const uint8_t *at, *end;
};

static uint32_t read_varint(struct line_table *t)
{
	uint32_t value = 0, shift = 0;

	while (t->at < t->end) {
		uint8_t byte = *t->at++;

		value |= shift < 30 ? (uint32_t)(byte & 63) << shift : 0;
		shift += 6;
		if (!(byte & 64))
			break;
	}
	return value;
}

static int read_svarint(struct line_table *t)
{
	uint32_t value = read_varint(t);

	return value & 1 ? -(int)(value >> 1) : (int)(value >> 1);
}

/* Lines from here to the next entry's. */
static int line_delta(struct line_table *t, unsigned kind)
{
	if (kind == CODE_LONG || kind == CODE_NO_COLUMNS)
		return read_svarint(t);
	return kind >= CODE_ONE_LINE_0 && kind < CODE_NO_COLUMNS
		       ? (int)kind - CODE_ONE_LINE_0
		       : 0;
}

int hi_py_locations_line(const uint8_t *table, size_t size, int64_t at)
{
	struct line_table t = {table, table};
	int64_t end = 0, line = 0;

	/* An empty table may be none. */
	if (size)
		t.end += size;
	while (t.at < t.end) {
		uint8_t header = *t.at++;
		unsigned kind = header >> 3 & 15;

		line += line_delta(&t, kind);
		end += 2 * ((header & 7) + 1);
		if (at < end)
			return kind == CODE_NONE ? INT_MIN : as_lines(line);
		while (t.at < t.end && !(*t.at & 128))
			t.at++; /* columns: entries begin with the high bit */
	}
	return INT_MIN;
}
