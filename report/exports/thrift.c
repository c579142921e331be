/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/exports/thrift.h"

#include <assert.h>
#include <string.h>

enum { SHORT_LIST = 15, SHORT_DELTA = 15 };

static void put_thrift_bytes(struct hi_thrift *t, const void *data, size_t size)
{
	t->failed =
		t->failed || !hi_vector_append(&t->bytes, (const uint8_t *)data, size);
}

static void put_byte(struct hi_thrift *t, unsigned byte)
{
	uint8_t value = (uint8_t)byte;

	put_thrift_bytes(t, &value, 1);
}

static void put_thrift_varint(struct hi_thrift *t, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		put_byte(t, (unsigned)(value & 0x7f) | 0x80);
	put_byte(t, (unsigned)value);
}

static void put_zigzag(struct hi_thrift *t, int64_t value)
{
	put_thrift_varint(t, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

/* The type and how far the field is from the one before; an item of a list has none. */
static void put_thrift_field(struct hi_thrift *t, uint16_t field,
			     enum hi_thrift_type type)
{
	unsigned delta = (unsigned)field - t->last[t->depth];

	if (!field)
		return;
	assert(field > t->last[t->depth]);
	t->last[t->depth] = field;
	if (delta <= SHORT_DELTA) {
		put_byte(t, delta << 4 | type);
		return;
	}
	put_byte(t, type);
	put_zigzag(t, field);
}

void hi_thrift_bool(struct hi_thrift *t, uint16_t field, bool value)
{
	assert(field); /* no lists of them */
	put_thrift_field(t, field, value ? HI_THRIFT_BOOL_TRUE : HI_THRIFT_BOOL_FALSE);
}

void hi_thrift_i8(struct hi_thrift *t, uint16_t field, int8_t value)
{
	put_thrift_field(t, field, HI_THRIFT_I8);
	put_byte(t, (uint8_t)value);
}

void hi_thrift_i32(struct hi_thrift *t, uint16_t field, int32_t value)
{
	put_thrift_field(t, field, HI_THRIFT_I32);
	put_zigzag(t, value);
}

void hi_thrift_i64(struct hi_thrift *t, uint16_t field, int64_t value)
{
	put_thrift_field(t, field, HI_THRIFT_I64);
	put_zigzag(t, value);
}

void hi_thrift_text(struct hi_thrift *t, uint16_t field, const char *text)
{
	put_thrift_field(t, field, HI_THRIFT_BINARY);
	put_thrift_varint(t, strlen(text));
	put_thrift_bytes(t, text, strlen(text));
}

void hi_thrift_list(struct hi_thrift *t, uint16_t field, enum hi_thrift_type type,
		    uint32_t n)
{
	put_thrift_field(t, field, HI_THRIFT_LIST);
	put_byte(t, (n < SHORT_LIST ? n : SHORT_LIST) << 4 | type);
	if (n >= SHORT_LIST)
		put_thrift_varint(t, n);
}

void hi_thrift_begin(struct hi_thrift *t, uint16_t field)
{
	put_thrift_field(t, field, HI_THRIFT_STRUCT);
	assert(t->depth + 1 < HI_THRIFT_DEPTH);
	t->last[++t->depth] = 0;
}

void hi_thrift_end(struct hi_thrift *t)
{
	put_byte(t, 0);
	if (t->depth)
		t->depth--;
}

void hi_thrift_clear(struct hi_thrift *t)
{
	t->bytes.count = 0;
	t->depth = 0;
	t->last[0] = 0;
}

void hi_thrift_free(struct hi_thrift *t)
{
	hi_vector_free(&t->bytes);
}
