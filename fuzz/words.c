/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz/words.h"

#include <stdlib.h>
#include <string.h>

#include "attach/mock.h"

void words_add_range(struct words *words, uint64_t start, uint64_t end)
{
	if (words->n_ranges == WORDS_RANGES)
		abort();
	words->ranges[words->n_ranges++] = (struct words_range){start, end};
}

static uint64_t address_of(const struct words *words, uint64_t word)
{
	for (size_t i = 0; i < words->n_ranges; i++) {
		uint64_t n = (words->ranges[i].end - words->ranges[i].start) / 8;

		if (word < n)
			return words->ranges[i].start + word * 8;
		word -= n;
	}
	return words->ranges[0].start;
}

static uint64_t get_word(struct words *words, uint64_t addr)
{
	uint64_t value = 0;
	void *at = hi_memory_mock_at(words->memory, addr);

	if (at)
		memcpy(&value, at, sizeof(value));
	return value;
}

static void set_word(struct words *words, uint64_t addr, uint64_t value)
{
	void *at = hi_memory_mock_at(words->memory, addr);

	if (at)
		memcpy(at, &value, sizeof(value));
}

/* The value as it is, an address, a small number, one bit, or another word. */
static uint64_t make_value(struct words *words, uint64_t addr, uint8_t how,
			   uint64_t value)
{
	switch (how % 5) {
	case 0:
		return value;
	case 1:
		return address_of(words, value & UINT16_MAX) + (how & 0x80 ? 8 : 0);
	case 2:
		return value & 0x3ffff;
	case 3:
		return get_word(words, addr) ^ UINT64_C(1) << value % 64;
	default:
		return get_word(words, address_of(words, value & UINT16_MAX));
	}
}

void words_write(struct words *words, const uint8_t *data, size_t size)
{
	words->n_written = 0;
	for (size_t at = 0; at + WORDS_RECORD <= size && words->n_written < WORDS_RECORDS;
	     at += WORDS_RECORD) {
		uint16_t where;
		uint64_t value, addr;

		memcpy(&where, data + at, sizeof(where));
		memcpy(&value, data + at + 3, sizeof(value));
		addr = address_of(words, where);
		words->before[words->n_written].addr = addr;
		words->before[words->n_written++].value = get_word(words, addr);
		set_word(words, addr, make_value(words, addr, data[at + 2], value));
	}
}

void words_restore(struct words *words)
{
	while (words->n_written) {
		words->n_written--;
		set_word(words, words->before[words->n_written].addr,
			 words->before[words->n_written].value);
	}
}
