/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Words that an input has written over an image of a mock (attach/mock.h), and puts back.
 * A record of an input is eleven bytes: where (2), how (1), a value (8).
 */
#ifndef HI_FUZZ_WORDS_H
#define HI_FUZZ_WORDS_H

#include "attach/image.h"

enum { WORDS_RECORD = 11, WORDS_RECORDS = 64, WORDS_RANGES = 64 };

/* Places where words are written, in the order of the numbers that inputs have. */
struct words {
	struct hi_memory *memory;
	struct words_range {
		uint64_t start, end;
	} ranges[WORDS_RANGES];
	size_t n_ranges;
	struct {
		uint64_t addr, value;
	} before[WORDS_RECORDS];
	size_t n_written;
};

void words_add_range(struct words *words, uint64_t start, uint64_t end);
/* Writes the records of data[0, size), at most WORDS_RECORDS. */
void words_write(struct words *words, const uint8_t *data, size_t size);
/* Puts back what was there. */
void words_restore(struct words *words);

#endif
