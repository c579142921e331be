/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Thrift's compact protocol, as much of it as Parquet's headers need, built in memory:
 *
 *	hi_thrift_i32(&t, 1, 7);	// field 1 of the outermost struct
 *	hi_thrift_list(&t, 2, HI_THRIFT_STRUCT, 1);
 *	hi_thrift_begin(&t, 0);		// its item
 *	hi_thrift_end(&t);
 *	hi_thrift_end(&t);		// the outermost struct
 *
 * Fields come in increasing order. An item of a list has the field 0.
 *
 * Source: apache/thrift, doc/specs/thrift-compact-protocol.md.
 */
#ifndef HI_REPORT_EXPORTS_THRIFT_H
#define HI_REPORT_EXPORTS_THRIFT_H

#include <stdint.h>

#include "base/vector.h"

enum hi_thrift_type {
	HI_THRIFT_BOOL_TRUE = 1,
	HI_THRIFT_BOOL_FALSE = 2,
	HI_THRIFT_I8 = 3,
	HI_THRIFT_I32 = 5,
	HI_THRIFT_I64 = 6,
	HI_THRIFT_BINARY = 8,
	HI_THRIFT_LIST = 9,
	HI_THRIFT_STRUCT = 12,
};
enum { HI_THRIFT_DEPTH = 8 };

/* Zero-initialised is the outermost struct, open. */
struct hi_thrift {
	struct hi_thrift_bytes HI_VECTOR(uint8_t) bytes;
	unsigned depth;
	uint16_t last[HI_THRIFT_DEPTH]; /* field */
	bool failed;			/* out of memory: the bytes are of no use */
};

/* Adds a field of this type, or an item of a list (field 0). Memory errors set
 * t->failed. */
void hi_thrift_bool(struct hi_thrift *t, uint16_t field, bool value);
/* The same for 1 byte. */
void hi_thrift_i8(struct hi_thrift *t, uint16_t field, int8_t value);
/* The same for 4 bytes, signed. */
void hi_thrift_i32(struct hi_thrift *t, uint16_t field, int32_t value);
/* The same for 8 bytes, signed. */
void hi_thrift_i64(struct hi_thrift *t, uint16_t field, int64_t value);
/* The same for a string, without its NUL. */
void hi_thrift_text(struct hi_thrift *t, uint16_t field, const char *text);
/* n items of this type follow. */
void hi_thrift_list(struct hi_thrift *t, uint16_t field, enum hi_thrift_type type,
		    uint32_t n);
void hi_thrift_begin(struct hi_thrift *t, uint16_t field); /* a struct */
/* Ends the innermost struct. */
void hi_thrift_end(struct hi_thrift *t);
/* Empty again, memory stays. */
void hi_thrift_clear(struct hi_thrift *t);
/* Frees the bytes. */
void hi_thrift_free(struct hi_thrift *t);

#endif
