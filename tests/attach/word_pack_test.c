/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory that is packed by words (attach/word_pack.h) is the same when it is unpacked. */
#include "tests/harness.h"

#include <string.h>

#include "attach/word_pack.h"
#include "tests/support/random.h"

enum { MOST = HI_WORD_PACK_MOST };

struct packs {
	unsigned char plain[MOST], packed[HI_WORD_PACK_ROOM + 64], again[MOST + 8];
};

static struct packs pack_area;

/* Words of `kinds` kinds: zeros, few values, addresses, bytes. */
static void draw_words(uint64_t *state, size_t size, unsigned kinds)
{
	for (size_t i = 0; i < size; i += 8) {
		uint64_t word = next_random(state), kind = next_random(state) % kinds;

		if (kind == 0)
			word = 0;
		else if (kind == 1)
			word = word % 5 * 0x123456789;
		else if (kind == 2)
			word = 0x7f0000000000 + word % 1000000;
		memcpy(pack_area.plain + i, &word, 8);
	}
}

static size_t check_packed(size_t size)
{
	struct packs *p = &pack_area;
	size_t n;

	memset(p->packed, 0xab, sizeof(p->packed));
	memset(p->again, 0xcd, sizeof(p->again));
	n = hi_word_pack(p->plain, size, p->packed);
	HI_ASSERT(n <= HI_WORD_PACK_ROOM);
	for (size_t i = HI_WORD_PACK_ROOM; i < sizeof(p->packed); i++)
		HI_ASSERT_EQ(0xab, p->packed[i]);
	HI_ASSERT(hi_word_unpack(p->packed, n, p->again, size));
	HI_ASSERT(memcmp(p->plain, p->again, size) == 0);
	HI_ASSERT_EQ(0xcd, p->again[size]);
	return n;
}

HI_TEST(word_pack, any_words_come_back)
{
	uint64_t state = 1;

	for (unsigned round = 0; round < 400; round++) {
		size_t size = (next_random(&state) % (MOST / 32) + 1) * 32;

		draw_words(&state, size, 1 + round % 4);
		check_packed(size);
	}
}

HI_TEST(word_pack, zeros_and_what_was_there_take_little)
{
	uint64_t state = 1;

	memset(pack_area.plain, 0, MOST);
	HI_ASSERT(check_packed(MOST) <= MOST / 32 + 8);
	memset(pack_area.plain, 7, MOST);
	HI_ASSERT(check_packed(MOST) <= MOST / 6);
	draw_words(&state, MOST, 3);
	HI_ASSERT(check_packed(MOST) < MOST / 2);
}

/* Damage is found, or gives other bytes: nothing is read or written beyond. */
HI_TEST(word_pack, damaged_bytes_are_no_danger)
{
	struct packs *p = &pack_area;
	uint64_t state = 3;
	size_t n;

	draw_words(&state, MOST, 4);
	n = check_packed(MOST);
	for (size_t cut = 0; cut < n; cut += 97)
		HI_ASSERT(!hi_word_unpack(p->packed, cut, p->again, MOST));
	for (unsigned round = 0; round < 200; round++) {
		uint8_t *damaged = &p->packed[next_random(&state) % n];

		*damaged = (uint8_t)(*damaged ^ 1u << next_random(&state) % 8);
		(void)hi_word_unpack(p->packed, n, p->again, MOST);
		HI_ASSERT_EQ(0xcd, p->again[MOST]);
	}
}
