/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/alloc.h"
#include "base/bits.h"
#include "census/biography/biography_internal.h"

/* On failure some columns are longer than the capacity, which is fine. */
static bool grow_columns(struct hi_bio_columns *o, uint32_t capacity)
{
	uint64_t *seen;

#define GROW_COLUMN(type, name)                                                          \
	{                                                                                \
		type *column = hi_realloc_array(o->name, capacity, sizeof(type));        \
		if (!column)                                                             \
			return false;                                                    \
		o->name = column;                                                        \
	}
	HI_BIO_OBJECT_COLUMNS(GROW_COLUMN)
#undef GROW_COLUMN
	seen = hi_realloc_array(o->seen, hi_bits_size(capacity), 1);
	if (!seen)
		return false;
	memset((char *)seen + hi_bits_size(o->capacity), 0,
	       hi_bits_size(capacity) - hi_bits_size(o->capacity));
	o->seen = seen;
	o->capacity = capacity;
	return true;
}

static uint32_t next_capacity(uint32_t capacity)
{
	if (!capacity)
		return 1024;
	return capacity < UINT32_MAX / 2 ? 2 * capacity : UINT32_MAX;
}

uint32_t hi_bio_columns_take(struct hi_bio_columns *o)
{
	uint32_t number = o->first_free;

	if (number != HI_BIO_NONE) {
		o->first_free = o->group[number];
	} else {
		if (o->count == HI_BIO_NONE ||
		    (o->count == o->capacity &&
		     !grow_columns(o, next_capacity(o->capacity))))
			return HI_BIO_NONE;
		number = o->count++;
	}
#define CLEAR_COLUMN(type, name) o->name[number] = 0;
	HI_BIO_OBJECT_COLUMNS(CLEAR_COLUMN)
#undef CLEAR_COLUMN
	o->seen[number / 64] &= ~(1ull << (number % 64));
	o->living++;
	return number;
}

void hi_bio_columns_give_back(struct hi_bio_columns *o, uint32_t number)
{
	o->flags[number] = 0;
	o->group[number] = o->first_free;
	o->first_free = number;
	o->living--;
}

size_t hi_bio_columns_memory(const struct hi_bio_columns *o)
{
	size_t each = 0;

#define ADD_COLUMN(type, name) each += sizeof(type);
	HI_BIO_OBJECT_COLUMNS(ADD_COLUMN)
#undef ADD_COLUMN
	return each * o->capacity + hi_bits_size(o->capacity);
}

void hi_bio_columns_free(struct hi_bio_columns *o)
{
#define FREE_COLUMN(type, name) free(o->name);
	HI_BIO_OBJECT_COLUMNS(FREE_COLUMN)
#undef FREE_COLUMN
	free(o->seen);
}
