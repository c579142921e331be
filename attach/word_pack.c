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
 * indices and lower parts there are. The packing loop has no branches: what a word does
 * not have is written, too, and overwritten by the next one.
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

/* A block without its tags; each with room for one more. */
struct streams {
	size_t n_indices, n_low, n_raw;
	uint64_t raw[WORDS + 1];
	uint16_t low[WORDS + 1];
	uint8_t indices[WORDS + 1];
};

static inline unsigned pack_word(struct tables *t, struct streams *s, uint64_t word)
{
	unsigned same = hash_word(word), near = hash_word(word >> LOW_BITS);
	bool is_same = t->same[same] == word;
	bool is_near = t->near[near] >> LOW_BITS == word >> LOW_BITS;
	unsigned tag = !word ? ZERO : is_same ? SAME : is_near ? NEAR : RAW;

	s->indices[s->n_indices] = (uint8_t)(is_same ? same : near);
	s->low[s->n_low] = (uint16_t)word;
	s->raw[s->n_raw] = word;
	s->n_indices += tag == SAME || tag == NEAR;
	s->n_low += tag == NEAR;
	s->n_raw += tag == RAW;
	t->same[same] = word;
	t->near[near] = word;
	return tag;
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
	struct header header;
	unsigned char *at = to + sizeof(header);

	s.n_indices = s.n_low = s.n_raw = 0;
	for (size_t i = 0; i < size / WORD; i += 4) {
		uint64_t words[4];
		unsigned tags = 0;

		memcpy(words, (const char *)from + i * WORD, sizeof(words));
		for (unsigned k = 0; k < 4; k++)
			tags |= pack_word(&tables, &s, words[k]) << 2 * k;
		*at++ = (unsigned char)tags;
	}
	header = (struct header){(uint32_t)s.n_indices, (uint32_t)s.n_low};
	memcpy(to, &header, sizeof(header));
	at = append_bytes(at, s.indices, s.n_indices);
	at = append_bytes(at, s.low, s.n_low * sizeof(*s.low));
	at = append_bytes(at, s.raw, s.n_raw * sizeof(*s.raw));
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
