/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/exports/protobuf.h"

#include <string.h>

enum { VARINT = 0, LENGTH_DELIMITED = 2 }; /* wire types */

static size_t varint_size(uint64_t value)
{
	size_t size = 1;

	while (value >>= 7)
		size++;
	return size;
}

static void put_protobuf_bytes(struct hi_protobuf *m, const void *data, size_t size)
{
	m->failed =
		m->failed || !hi_vector_append(&m->bytes, (const uint8_t *)data, size);
}

static void put_protobuf_varint(struct hi_protobuf *m, uint64_t value)
{
	uint8_t bytes[10];
	size_t n = 0;

	for (; value >= 0x80; value >>= 7)
		bytes[n++] = (uint8_t)(value | 0x80);
	bytes[n++] = (uint8_t)value;
	put_protobuf_bytes(m, bytes, n);
}

static void put_protobuf_tag(struct hi_protobuf *m, uint32_t field, uint32_t wire)
{
	put_protobuf_varint(m, (uint64_t)field << 3 | wire);
}

void hi_protobuf_number(struct hi_protobuf *message, uint32_t field, uint64_t value)
{
	if (!value)
		return;
	put_protobuf_tag(message, field, VARINT);
	put_protobuf_varint(message, value);
}

void hi_protobuf_bytes(struct hi_protobuf *message, uint32_t field, const void *data,
		       size_t size)
{
	put_protobuf_tag(message, field, LENGTH_DELIMITED);
	put_protobuf_varint(message, size);
	put_protobuf_bytes(message, data, size);
}
void hi_protobuf_packed(struct hi_protobuf *message, uint32_t field,
			const uint64_t *values, size_t n)
{
	size_t size = 0;

	for (size_t i = 0; i < n; i++)
		size += varint_size(values[i]);
	put_protobuf_tag(message, field, LENGTH_DELIMITED);
	put_protobuf_varint(message, size);
	for (size_t i = 0; i < n; i++)
		put_protobuf_varint(message, values[i]);
}

void hi_protobuf_message(struct hi_protobuf *message, uint32_t field,
			 struct hi_protobuf *inner)
{
	hi_protobuf_bytes(message, field, inner->bytes.items, inner->bytes.count);
	message->failed |= inner->failed;
	hi_protobuf_clear(inner);
}

void hi_protobuf_clear(struct hi_protobuf *message)
{
	message->bytes.count = 0;
}

void hi_protobuf_free(struct hi_protobuf *message)
{
	hi_vector_free(&message->bytes);
}
