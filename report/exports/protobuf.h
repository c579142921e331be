/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The wire format of Protocol Buffers, as much of it as a profile needs: fields that
 * are numbers, bytes, messages or packed numbers. A message is built in memory, so only
 * small ones should be; a large message is the sequence of its fields' bytes, which the
 * caller writes one after the other.
 *
 * Source: protobuf.dev, "Encoding".
 */
#ifndef HI_REPORT_EXPORTS_PROTOBUF_H
#define HI_REPORT_EXPORTS_PROTOBUF_H

#include <stdint.h>

#include "base/vector.h"

/* No message may have more bytes (the same page, "Total size"). */
#define HI_PROTOBUF_MAX ((uint64_t)INT32_MAX)

/* Zero-initialised is empty. */
struct hi_protobuf {
	struct hi_protobuf_bytes HI_VECTOR(uint8_t) bytes;
	bool failed; /* out of memory: the bytes are of no use */
};

/* A number of 0 and a text of "" are what a field is without being written: they are
 * left out here. */
void hi_protobuf_number(struct hi_protobuf *message, uint32_t field, uint64_t value);
/* Always written: an item of a repeated field. */
void hi_protobuf_bytes(struct hi_protobuf *message, uint32_t field, const void *data,
		       size_t size);
/* Writes n numbers as one packed field, also if n is 0. */
void hi_protobuf_packed(struct hi_protobuf *message, uint32_t field,
			const uint64_t *values, size_t n);
/* The fields of `inner`, which is empty afterwards, as a field of `message`. */
void hi_protobuf_message(struct hi_protobuf *message, uint32_t field,
			 struct hi_protobuf *inner);
void hi_protobuf_clear(struct hi_protobuf *message); /* empty, memory stays */
void hi_protobuf_free(struct hi_protobuf *message);

#endif
