/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/allocators/tcmalloc.h"

enum { BLOCK = 16 };

/* A piece of a module's data that lies in this process's memory. */
typedef bool data_piece_fn(struct hi_window *w, uint64_t addr, size_t size, void *arg);

static bool scan_held_range(struct hi_window *w, uint64_t addr, uint64_t end,
			    data_piece_fn *fn, void *arg)
{
	addr = (addr + 7) & ~7ull;
	while (addr < end && end - addr >= 8) {
		size_t size;

		if (!hi_window_at(w, addr, 8)) {
			addr = (addr + 4096) & ~4095ull;
			continue;
		}
		size = w->end < end ? w->end - addr : end - addr;
		size &= ~(size_t)7;
		if (!fn(w, addr, size, arg))
			return false;
		addr += size;
	}
	return true;
}

static void scan_module_data(const struct hi_image *image,
			     const struct hi_tcmalloc_data *data, data_piece_fn *fn,
			     void *arg)
{
	struct hi_window w = {.memory = image->memory};
	bool goes_on = true;

	for (size_t i = 0; i < data->n_ranges && goes_on; i++) {
		uint64_t start, end = data->ranges[i].start;

		while (goes_on && !data->ranges[i].relro &&
		       hi_image_next_held(image, end, data->ranges[i].end, &start, &end))
			goes_on = scan_held_range(&w, start, end, fn, arg);
	}
	hi_window_free(&w);
}

struct word_scan {
	hi_tcmalloc_word_fn *fn;
	void *arg;
};

static bool scan_piece_words(struct hi_window *w, uint64_t addr, size_t size, void *arg)
{
	const struct word_scan *s = arg;
	const uint8_t *p = w->host + (addr - w->start);

	for (size_t i = 0; i < size; i += 8) {
		uint64_t word;

		memcpy(&word, p + i, 8);
		if (word && !s->fn(addr + i, word, s->arg))
			return false;
	}
	return true;
}

void hi_tcmalloc_scan_words(const struct hi_image *image,
			    const struct hi_tcmalloc_data *data, hi_tcmalloc_word_fn *fn,
			    void *arg)
{
	struct word_scan s = {fn, arg};

	scan_module_data(image, data, scan_piece_words, &s);
}

struct pair_scan {
	hi_tcmalloc_pair_fn *fn;
	void *arg;
	uint32_t last; /* of the piece before */
};

/* Is one of these 16 numbers an 8? Without branches: most data has none. */
static bool has_eight(const uint8_t *p)
{
	uint32_t words[BLOCK], found = 0;

	memcpy(words, p, sizeof(words));
	for (unsigned i = 0; i < BLOCK; i++)
		found |= words[i] == 8;
	return found;
}

static bool scan_piece_pairs(struct hi_window *w, uint64_t addr, size_t size, void *arg)
{
	struct pair_scan *s = arg;
	const uint8_t *p = w->host + (addr - w->start);

	for (size_t i = 0; i < size; i += 4) {
		uint32_t word;

		if (i % (BLOCK * 4) == 0 && i + BLOCK * 4 < size && !has_eight(p + i)) {
			i += BLOCK * 4 - 4;
			memcpy(&s->last, p + i, 4);
			continue;
		}
		memcpy(&word, p + i, 4);
		if (word == 8 && s->last == 0 && !s->fn(addr + i - 4, s->arg))
			return false;
		s->last = word;
	}
	return true;
}

void hi_tcmalloc_scan_pairs(const struct hi_image *image,
			    const struct hi_tcmalloc_data *data, hi_tcmalloc_pair_fn *fn,
			    void *arg)
{
	struct pair_scan s = {fn, arg, 1};

	scan_module_data(image, data, scan_piece_pairs, &s);
}
