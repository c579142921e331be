/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Values, arrays and strings one after another in a block of bytes, for another process
 * of this very program: structures are copied as they are. Each begins at a multiple of
 * 8. The reader takes them out in the same order; a block that is too short is an error,
 * and all else in it is trusted. Internal to attach/.
 */
#ifndef HI_ATTACH_FLAT_H
#define HI_ATTACH_FLAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zero-initialised is empty; freed by hi_vector_free(). */
struct hi_flat {
	unsigned char *items;
	size_t count, capacity;
	bool is_short; /* memory ran out: something is missing */
};

struct hi_flat_reader {
	const unsigned char *at; /* aligned to 8 */
	size_t left;
	bool is_short; /* it ended too early: what was read last is missing */
};

/* Appends size bytes. */
void hi_flat_put(struct hi_flat *flat, const void *bytes, size_t size);
/* Appends n items and their number. */
void hi_flat_put_array(struct hi_flat *flat, const void *items, size_t n, size_t size);
/* Appends text; NULL counts as "". */
void hi_flat_put_text(struct hi_flat *flat, const char *text);

/* Copies the next size bytes to ret; zeros where the block is too short. */
void hi_flat_get(struct hi_flat_reader *reader, void *ret, size_t size);
/* The next size bytes, inside of the block; NULL where that is too short. */
const void *hi_flat_get_bytes(struct hi_flat_reader *reader, size_t size);
/* The next array: *n_ret items inside of the block; none where that is too short. */
const void *hi_flat_get_array(struct hi_flat_reader *reader, size_t *n_ret, size_t size);
/* A copy of it from hi_alloc. NULL: out of memory. */
void *hi_flat_copy_array(struct hi_flat_reader *reader, size_t *n_ret, size_t size);
/* The next text, inside of the block; "" where that is too short. */
const char *hi_flat_get_text(struct hi_flat_reader *reader);

#endif
