/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Objects of CPython with any words: the sample of tests/support/mock_python.h, of one
 * version after the other, with words written over it as the input says. All that is
 * asked of objects is asked. The first byte is the version, then there are records of
 * eleven bytes: where (2), how (1), a value (8).
 */
#include <stdlib.h>
#include <string.h>

#include "tests/support/mock_python.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LAYOUTS = 6, RECORD = 11, MAX_EDGES = 1 << 20 };

static uint64_t address_of(const struct mock_python *m, uint64_t word)
{
	for (size_t i = 0; i < 3; i++) {
		if (word < m->segments[i].size / 8)
			return m->segments[i].start + word * 8;
		word -= m->segments[i].size / 8;
	}
	return m->segments[0].start + word % (m->segments[0].size / 8) * 8;
}

static void write_word(struct mock_python *m, const uint8_t *record)
{
	uint16_t where;
	uint64_t value, addr;

	memcpy(&where, record, sizeof(where));
	memcpy(&value, record + 3, sizeof(value));
	addr = address_of(m, where);
	switch (record[2] % 5) {
	case 0:
		break;
	case 1:
		value = address_of(m, value & UINT16_MAX);
		break;
	case 2:
		value &= 4095;
		break;
	case 3:
		value = mock_python_get(m, addr) ^ UINT64_C(1) << value % 64;
		break;
	default:
		value = mock_python_get(m, address_of(m, value & UINT16_MAX));
		break;
	}
	mock_python_set(m, addr, value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct mock_python *worlds[LAYOUTS];
	struct mock_python *m;

	if (size < 1)
		return 0;
	if (!worlds[data[0] % LAYOUTS])
		worlds[data[0] % LAYOUTS] =
			mock_python_create(hi_py_layouts[data[0] % LAYOUTS]);
	m = worlds[data[0] % LAYOUTS];
	m->has_views = m->with_labels = true;
	for (size_t at = 1; at + RECORD <= size && at < 64 * RECORD; at += RECORD)
		write_word(m, data + at);
	mock_python_read(m);
	if (m->n_edges > MAX_EDGES)
		abort();
	mock_python_restore(m);
	return 0;
}
