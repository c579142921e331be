/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/exports/parquet_writer.h"

#include <assert.h>
#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/alloc.h"
#include "base/vector.h"
#include "report/exports/thrift.h"

/* As many rows as DuckDB has in a group; a page of less than 2 GiB, by far. */
enum { GROUP_ROWS = 122880, GROUP_BYTES = 64 << 20, LEVEL = 1 };

/* parquet.thrift */
enum { TYPE_INT64 = 2, TYPE_BYTE_ARRAY = 6 };
enum { REPETITION_OPTIONAL = 1 };
enum { CONVERTED_UTF8 = 0, CONVERTED_UINT_64 = 14 };
enum { LOGICAL_STRING = 1, LOGICAL_INTEGER = 10 };
enum { ENCODING_PLAIN = 0, ENCODING_RLE = 3 };
enum { CODEC_UNCOMPRESSED = 0, CODEC_ZSTD = 6 };
enum { PAGE_DATA = 0 };

static const char magic[4] = {'P', 'A', 'R', '1'};

struct bytes HI_VECTOR(uint8_t);

struct column {
	const char *name;
	enum hi_parquet_kind kind;
	struct bytes values;  /* of this group: those that are there */
	struct bytes present; /* a bit for each row, the lowest first */
};

/* A column's page in a group. */
struct chunk {
	uint64_t offset, whole, packed; /* sizes with the header of the page */
};

struct hi_parquet {
	FILE *out;
	uint64_t at; /* bytes written */
	struct hi_parquet_options options;
	struct HI_VECTOR(struct column) columns;
	struct HI_VECTOR(struct chunk) chunks; /* group after group */
	struct HI_VECTOR(uint32_t) groups;     /* rows of each */
	uint64_t rows, group_bytes;
	uint32_t group_rows;
	size_t cell; /* column of the next one */
	struct bytes page, packed;
	struct hi_thrift header;
	bool failed; /* out of memory */
};

static void write_parquet_bytes(struct hi_parquet *p, const void *data, size_t size)
{
	fwrite(data, 1, size, p->out);
	p->at += size;
}

enum hi_status hi_parquet_create(FILE *out, const struct hi_parquet_options *options,
				 struct hi_parquet **ret, struct hi_error *err)
{
	struct hi_parquet *p = hi_calloc(1, sizeof(*p));

	if (!p)
		return hi_fail_memory(err, "parquet");
	p->out = out;
	if (options)
		p->options = *options;
	if (!p->options.group_rows)
		p->options.group_rows = GROUP_ROWS;
	if (!p->options.group_bytes)
		p->options.group_bytes = GROUP_BYTES;
	if (!p->options.end_bytes)
		p->options.end_bytes = INT32_MAX;
	write_parquet_bytes(p, magic, sizeof(magic));
	*ret = p;
	return HI_OK;
}

void hi_parquet_destroy(struct hi_parquet *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->columns.count; i++) {
		hi_vector_free(&p->columns.items[i].values);
		hi_vector_free(&p->columns.items[i].present);
	}
	hi_vector_free(&p->columns);
	hi_vector_free(&p->chunks);
	hi_vector_free(&p->groups);
	hi_vector_free(&p->page);
	hi_vector_free(&p->packed);
	hi_thrift_free(&p->header);
	free(p);
}

enum hi_status hi_parquet_column(struct hi_parquet *p, const char *name,
				 enum hi_parquet_kind kind, struct hi_error *err)
{
	struct column column = {.name = name, .kind = kind};

	assert(!p->rows && !p->group_rows);
	return hi_vector_push(&p->columns, column) ? HI_OK
						   : hi_fail_memory(err, "parquet");
}

/* ---- cells ---- */

/* The column of the next cell, which is there or not. */
static struct column *begin_cell(struct hi_parquet *p, bool is_there)
{
	struct column *c = &p->columns.items[p->cell++];

	assert(p->cell <= p->columns.count);
	if (p->group_rows % 8 == 0 && !hi_vector_push(&c->present, 0))
		p->failed = true;
	if (is_there && !p->failed)
		c->present.items[p->group_rows / 8] |= (uint8_t)(1 << p->group_rows % 8);
	return c;
}

static void add_parquet_value(struct hi_parquet *p, struct column *c, const void *data,
			      size_t size)
{
	p->failed = p->failed || !hi_vector_append(&c->values, data, size);
	p->group_bytes += size;
}

void hi_parquet_number(struct hi_parquet *p, uint64_t value)
{
	struct column *c = begin_cell(p, true);
	uint64_t little = htole64(value);

	assert(c->kind == HI_PARQUET_NUMBER);
	add_parquet_value(p, c, &little, sizeof(little));
}

void hi_parquet_text(struct hi_parquet *p, const char *text)
{
	struct column *c = begin_cell(p, true);
	size_t size = strnlen(text, INT32_MAX);
	uint32_t little = htole32((uint32_t)size);

	assert(c->kind == HI_PARQUET_TEXT);
	add_parquet_value(p, c, &little, sizeof(little));
	add_parquet_value(p, c, text, size);
}

void hi_parquet_null(struct hi_parquet *p)
{
	(void)begin_cell(p, false);
}

/* ---- a group ---- */

/* Levels of definition: one run of bits, packed; its length first. */
static bool append_levels(struct hi_parquet *p, const struct column *c)
{
	uint64_t head = (uint64_t)c->present.count << 1 | 1;
	uint8_t run[10];
	size_t n = 0;
	uint32_t little;

	for (; head >= 0x80; head >>= 7)
		run[n++] = (uint8_t)(head | 0x80);
	run[n++] = (uint8_t)head;
	little = htole32((uint32_t)(n + c->present.count));
	return hi_vector_append(&p->page, &little, sizeof(little)) &&
	       hi_vector_append(&p->page, run, n) &&
	       hi_vector_append(&p->page, c->present.items, c->present.count);
}

static bool pack_parquet_page(struct hi_parquet *p)
{
	size_t room = ZSTD_compressBound(p->page.count), n;

	p->packed.count = 0;
	if (p->options.uncompressed)
		return hi_vector_append(&p->packed, p->page.items, p->page.count);
	if (!hi_vector_reserve(&p->packed, room))
		return false;
	n = ZSTD_compress(p->packed.items, room, p->page.items, p->page.count, LEVEL);
	p->packed.count = n;
	return !ZSTD_isError(n);
}

static void make_page_header(struct hi_parquet *p)
{
	struct hi_thrift *t = &p->header;

	hi_thrift_clear(t);
	hi_thrift_i32(t, 1, PAGE_DATA);
	hi_thrift_i32(t, 2, (int32_t)p->page.count);
	hi_thrift_i32(t, 3, (int32_t)p->packed.count);
	hi_thrift_begin(t, 5);
	hi_thrift_i32(t, 1, (int32_t)p->group_rows);
	hi_thrift_i32(t, 2, ENCODING_PLAIN);
	hi_thrift_i32(t, 3, ENCODING_RLE);
	hi_thrift_i32(t, 4, ENCODING_RLE);
	hi_thrift_end(t);
	hi_thrift_end(t);
}

static bool put_column_chunk(struct hi_parquet *p, struct column *c)
{
	struct chunk chunk = {.offset = p->at};

	p->page.count = 0;
	if (!append_levels(p, c) ||
	    !hi_vector_append(&p->page, c->values.items, c->values.count) ||
	    !pack_parquet_page(p))
		return false;
	make_page_header(p);
	if (p->header.failed)
		return false;
	write_parquet_bytes(p, p->header.bytes.items, p->header.bytes.count);
	write_parquet_bytes(p, p->packed.items, p->packed.count);
	chunk.whole = p->header.bytes.count + p->page.count;
	chunk.packed = p->at - chunk.offset;
	c->values.count = c->present.count = 0;
	return hi_vector_push(&p->chunks, chunk);
}

static enum hi_status put_row_group(struct hi_parquet *p, struct hi_error *err)
{
	if (!p->group_rows)
		return HI_OK;
	for (size_t i = 0; i < p->columns.count; i++)
		if (!put_column_chunk(p, &p->columns.items[i]))
			return hi_fail_memory(err, "parquet");
	if (!hi_vector_push(&p->groups, p->group_rows))
		return hi_fail_memory(err, "parquet");
	p->rows += p->group_rows;
	p->group_rows = 0;
	p->group_bytes = 0;
	return HI_OK;
}

enum hi_status hi_parquet_end_row(struct hi_parquet *p, struct hi_error *err)
{
	assert(p->cell == p->columns.count);
	p->cell = 0;
	if (p->failed)
		return hi_fail_memory(err, "parquet");
	p->group_rows++;
	if (p->group_rows >= p->options.group_rows ||
	    p->group_bytes >= p->options.group_bytes)
		return put_row_group(p, err);
	return HI_OK;
}

/* ---- the end of the file ---- */

static int32_t physical_type_of_column(const struct column *c)
{
	return c->kind == HI_PARQUET_NUMBER ? TYPE_INT64 : TYPE_BYTE_ARRAY;
}

static void make_schema(struct hi_parquet *p)
{
	struct hi_thrift *t = &p->header;

	hi_thrift_list(t, 2, HI_THRIFT_STRUCT, (uint32_t)p->columns.count + 1);
	hi_thrift_begin(t, 0);
	hi_thrift_text(t, 4, "schema");
	hi_thrift_i32(t, 5, (int32_t)p->columns.count);
	hi_thrift_end(t);
	for (size_t i = 0; i < p->columns.count; i++) {
		const struct column *c = &p->columns.items[i];
		bool is_number = c->kind == HI_PARQUET_NUMBER;

		hi_thrift_begin(t, 0);
		hi_thrift_i32(t, 1, physical_type_of_column(c));
		hi_thrift_i32(t, 3, REPETITION_OPTIONAL);
		hi_thrift_text(t, 4, c->name);
		hi_thrift_i32(t, 6, is_number ? CONVERTED_UINT_64 : CONVERTED_UTF8);
		hi_thrift_begin(t, 10);
		hi_thrift_begin(t, is_number ? LOGICAL_INTEGER : LOGICAL_STRING);
		if (is_number) {
			hi_thrift_i8(t, 1, 64);
			hi_thrift_bool(t, 2, false);
		}
		hi_thrift_end(t);
		hi_thrift_end(t);
		hi_thrift_end(t);
	}
}

static void make_chunk(struct hi_thrift *t, const struct column *c,
		       const struct chunk *chunk, uint32_t rows, int32_t codec)
{
	hi_thrift_begin(t, 0);
	hi_thrift_i64(t, 2, (int64_t)chunk->offset);
	hi_thrift_begin(t, 3);
	hi_thrift_i32(t, 1, physical_type_of_column(c));
	hi_thrift_list(t, 2, HI_THRIFT_I32, 2);
	hi_thrift_i32(t, 0, ENCODING_PLAIN);
	hi_thrift_i32(t, 0, ENCODING_RLE);
	hi_thrift_list(t, 3, HI_THRIFT_BINARY, 1);
	hi_thrift_text(t, 0, c->name);
	hi_thrift_i32(t, 4, codec);
	hi_thrift_i64(t, 5, rows);
	hi_thrift_i64(t, 6, (int64_t)chunk->whole);
	hi_thrift_i64(t, 7, (int64_t)chunk->packed);
	hi_thrift_i64(t, 9, (int64_t)chunk->offset);
	hi_thrift_end(t);
	hi_thrift_end(t);
}

static void make_groups(struct hi_parquet *p)
{
	struct hi_thrift *t = &p->header;
	const struct chunk *chunk = p->chunks.items;

	hi_thrift_list(t, 4, HI_THRIFT_STRUCT, (uint32_t)p->groups.count);
	for (size_t i = 0; i < p->groups.count; i++) {
		uint64_t whole = 0;

		hi_thrift_begin(t, 0);
		hi_thrift_list(t, 1, HI_THRIFT_STRUCT, (uint32_t)p->columns.count);
		for (size_t k = 0; k < p->columns.count; k++, chunk++) {
			make_chunk(t, &p->columns.items[k], chunk, p->groups.items[i],
				   p->options.uncompressed ? CODEC_UNCOMPRESSED
							   : CODEC_ZSTD);
			whole += chunk->whole;
		}
		hi_thrift_i64(t, 2, (int64_t)whole);
		hi_thrift_i64(t, 3, p->groups.items[i]);
		hi_thrift_end(t);
	}
}

static void make_footer(struct hi_parquet *p,
			const struct hi_parquet_property *properties, size_t n)
{
	struct hi_thrift *t = &p->header;

	hi_thrift_clear(t);
	hi_thrift_i32(t, 1, 1);
	make_schema(p);
	hi_thrift_i64(t, 3, (int64_t)p->rows);
	make_groups(p);
	hi_thrift_list(t, 5, HI_THRIFT_STRUCT, (uint32_t)n);
	for (size_t i = 0; i < n; i++) {
		hi_thrift_begin(t, 0);
		hi_thrift_text(t, 1, properties[i].key);
		hi_thrift_text(t, 2, properties[i].value);
		hi_thrift_end(t);
	}
	hi_thrift_text(t, 6, "heapinspect version " HI_VERSION);
	hi_thrift_end(t);
}

enum hi_status hi_parquet_finish(struct hi_parquet *p,
				 const struct hi_parquet_property *properties, size_t n,
				 struct hi_error *err)
{
	enum hi_status status = put_row_group(p, err);
	uint32_t little;

	if (status != HI_OK)
		return status;
	make_footer(p, properties, n);
	if (p->header.failed)
		return hi_fail_memory(err, "parquet");
	if (p->header.bytes.count > p->options.end_bytes)
		return hi_fail(err, HI_LIMIT, 0,
			       "parquet: the file would have more groups of rows than "
			       "its end can list");
	write_parquet_bytes(p, p->header.bytes.items, p->header.bytes.count);
	little = htole32((uint32_t)p->header.bytes.count);
	write_parquet_bytes(p, &little, sizeof(little));
	write_parquet_bytes(p, magic, sizeof(magic));
	return HI_OK;
}
