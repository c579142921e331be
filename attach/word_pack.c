/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/word_pack.h"

#include <stdint.h>
#include <string.h>

/*
 * Note [Packed words]
 *
 * Both sides keep two small tables of the words that came before: by a hash of the word, and
 * by a hash of all but its lower 16 bits. A word has a tag of two bits:
 *
 *	ZERO	nothing more
 *	SAME	the index (a byte) of the first table, which has it
 *	NEAR	the index of the second table, which has its upper part, and the lower one
 *	RAW	the word
 *
 * The tags come first, then all indices, all lower parts, all words; before them how many
 * indices and lower parts there are. The packing loop branches by tag: objects of one type
 * follow each other in a heap, so that branches are foretold well, and a loop that writes
 * everything for every word and moves on by what it has takes half as long again.
 */
enum tag { ZERO, SAME, NEAR, RAW };

enum { WORD = 8, WORDS = HI_WORD_PACK_MOST / WORD, ENTRIES = 256, LOW_BITS = 16 };

struct tables {
	uint64_t same[ENTRIES], near[ENTRIES];
};

struct header {
	uint32_t n_indices, n_low;
};

static unsigned hash_word(uint64_t word)
{
	return (unsigned)(word * 0x9e3779b97f4a7c15 >> 56);
}

/* The ends of the streams; apart from these, so that they stay in registers. */
struct ends {
	size_t indices, low, raw;
};

/* A block without its tags. */
struct streams {
	uint64_t raw[WORDS];
	uint16_t low[WORDS];
	uint8_t indices[WORDS];
};

static inline __attribute__((always_inline)) enum tag
pack_word(struct tables *t, struct streams *s, struct ends *n, uint64_t word)
{
	unsigned same = hash_word(word), near = hash_word(word >> LOW_BITS);
	uint64_t before = t->near[near];

	t->near[near] = word;
	if (!word) {
		t->same[same] = word;
		return ZERO;
	}
	if (t->same[same] == word) {
		s->indices[n->indices++] = (uint8_t)same;
		return SAME;
	}
	t->same[same] = word;
	if ((before ^ word) >> LOW_BITS == 0) {
		s->indices[n->indices++] = (uint8_t)near;
		s->low[n->low++] = (uint16_t)word;
		return NEAR;
	}
	s->raw[n->raw++] = word;
	return RAW;
}

static unsigned char *append_bytes(unsigned char *to, const void *from, size_t n)
{
	memcpy(to, from, n);
	return to + n;
}

size_t hi_word_pack(const void *from, size_t size, unsigned char *to)
{
	struct tables tables = {};
	struct streams s;
	struct ends n = {};
	struct header header;
	unsigned char *at = to + sizeof(header);

	for (size_t i = 0; i < size / WORD; i += 4) {
		uint64_t words[4];
		unsigned tags = 0;

		memcpy(words, (const char *)from + i * WORD, sizeof(words));
#pragma GCC unroll 4
		for (unsigned k = 0; k < 4; k++)
			tags |= (unsigned)pack_word(&tables, &s, &n, words[k]) << 2 * k;
		*at++ = (unsigned char)tags;
	}
	header = (struct header){(uint32_t)n.indices, (uint32_t)n.low};
	memcpy(to, &header, sizeof(header));
	at = append_bytes(at, s.indices, n.indices);
	at = append_bytes(at, s.low, n.low * sizeof(*s.low));
	at = append_bytes(at, s.raw, n.raw * sizeof(*s.raw));
	return (size_t)(at - to);
}

/* The rest of each stream. */
struct reader {
	const unsigned char *indices, *low, *raw;
	const unsigned char *indices_end, *low_end, *end;
};

static bool unpack_word(struct tables *t, struct reader *r, unsigned tag, uint64_t *ret)
{
	uint64_t word = 0;
	uint16_t low;

	if (tag == RAW) {
		if (r->end - r->raw < WORD)
			return false;
		memcpy(&word, r->raw, WORD);
		r->raw += WORD;
	} else if (tag != ZERO) {
		if (r->indices == r->indices_end)
			return false;
		word = (tag == SAME ? t->same : t->near)[*r->indices++];
	}
	if (tag == NEAR) {
		if (r->low_end - r->low < (ptrdiff_t)sizeof(low))
			return false;
		memcpy(&low, r->low, sizeof(low));
		r->low += sizeof(low);
		word = word >> LOW_BITS << LOW_BITS | low;
	}
	t->same[hash_word(word)] = word;
	t->near[hash_word(word >> LOW_BITS)] = word;
	*ret = word;
	return true;
}

/* False: the streams would not fit into n bytes. */
static bool open_streams(const unsigned char *from, size_t n, size_t size,
			 struct reader *ret)
{
	size_t tags = size / WORD / 4;
	struct header header;

	if (n < sizeof(header) + tags)
		return false;
	memcpy(&header, from, sizeof(header));
	n -= sizeof(header) + tags;
	if (header.n_indices > n || header.n_low > (n - header.n_indices) / 2)
		return false;
	ret->indices = from + sizeof(header) + tags;
	ret->indices_end = ret->low = ret->indices + header.n_indices;
	ret->low_end = ret->raw = ret->low + header.n_low * sizeof(uint16_t);
	ret->end = ret->indices + n;
	return true;
}

bool hi_word_unpack(const unsigned char *from, size_t n, void *to, size_t size)
{
	const unsigned char *tags = from + sizeof(struct header);
	struct tables tables = {};
	struct reader r;

	if (!open_streams(from, n, size, &r))
		return false;
	for (size_t i = 0; i < size / WORD; i++) {
		unsigned tag = tags[i / 4] >> i % 4 * 2 & 3;
		uint64_t word;

		if (!unpack_word(&tables, &r, tag, &word))
			return false;
		memcpy((char *)to + i * WORD, &word, WORD);
	}
	return true;
}
