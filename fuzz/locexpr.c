/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DWARF expressions of any bytes, as a variable has them, evaluated over a frame that is
 * drawn. The first byte says what is known of the frame.
 */
#include <stdlib.h>
#include <string.h>

#include "decode/frames/locexpr.h"
#include "tests/support/tiny_dwarf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 2000, MOST_OPS = 4096 };
static unsigned known;

static bool read_register(void *arg, uint64_t regno, uint64_t *ret)
{
	(void)arg;
	*ret = regno * 0x10000;
	return regno <= 16 && (known & 1 || regno & 1);
}

static bool read_memory(void *arg, uint64_t addr, void *buf, size_t size)
{
	uint8_t *bytes = buf;

	(void)arg;
	if (size > 8)
		abort();
	for (size_t i = 0; i < size; i++)
		bytes[i] = (uint8_t)(addr + i);
	return known & 2 && addr % 16 < 12;
}

static bool give_place(void *arg, uint64_t *ret)
{
	(void)arg;
	*ret = 0x7000;
	return known & 4;
}

static bool give_of_number(void *arg, uint64_t number, uint64_t *ret)
{
	(void)arg;
	*ret = 0x9000 + number;
	return known & 8;
}

static void check_location(const struct hi_loc *loc)
{
	if (loc->n_pieces < 1 || loc->n_pieces > HI_LOC_PIECES_MAX)
		abort();
	for (size_t i = 0; i < loc->n_pieces; i++) {
		const struct hi_loc_piece *piece = &loc->pieces[i];
		void *copy;

		if (piece->kind > HI_LOC_BYTES)
			abort();
		if (piece->kind != HI_LOC_BYTES)
			continue;
		/* They can be read. */
		copy = malloc(piece->n_bytes + 1);
		if (copy && piece->n_bytes)
			memcpy(copy, piece->bytes, piece->n_bytes);
		free(copy);
	}
}

static void evaluate(const Dwarf_Op *ops, size_t n, Dwarf_Attribute *attr)
{
	struct hi_loc_env env = {.reg = read_register,
				 .read = read_memory,
				 .frame_base = give_place,
				 .cfa = give_place,
				 .tls = give_of_number,
				 .entry_reg = give_of_number,
				 .bias = 0x400000,
				 .attr = known & 16 ? attr : NULL};
	struct hi_error err;
	struct hi_loc loc;
	uint64_t value;

	if (hi_loc_eval(ops, n, &env, &loc, &err) == HI_OK)
		check_location(&loc);
	(void)!hi_loc_eval_value(ops, n, &env, &value, &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct hi_tiny_dwarf tiny;
	Dwarf_Op *ops = NULL;
	size_t n = 0;

	if (size < 1 || size > MOST)
		return 0;
	known = data[0];
	hi_tiny_dwarf_open(&tiny, data + 1, size - 1);
	if (dwarf_getlocation(&tiny.location, &ops, &n) == 0 && n <= MOST_OPS)
		evaluate(ops, n, &tiny.location);
	hi_tiny_dwarf_close(&tiny);
	return 0;
}
