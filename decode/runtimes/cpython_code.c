/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/runtimes/cpython_code.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "decode/runtimes/cpython_rows.h"

enum {
	NAME_CHARS = 256,
	FILE_CHARS = 1024,
	LINES_MAX = 1 << 18, /* bytes of one table */
	CODES_MAX = 1 << 16,
	BYTES_MAX = 64 << 20, /* of all copies */
	STATE_KIND_SHIFT = 2,
	STATE_COMPACT = 1 << 5,
	STATE_ASCII = 1 << 6,
	BYTES_SIZE = 16, /* PyBytesObject: ob_size, ob_sval */
	BYTES_DATA = 32,
	STR_HEADER = 80,
};

/* n items, `kind` bytes each. */
struct code_text {
	uint8_t *bytes;
	uint32_t n, kind;
};

struct python_code {
	uint64_t addr, check;
	struct code_text name, file, lines;
	int32_t first_line;
};

struct hi_python_codes {
	struct hi_memory *memory;
	struct hi_python_walk walk;
	const struct hi_py_layout *layout;
	struct hi_table by_key; /* address and check, mixed -> its number */
	struct HI_VECTOR(struct python_code) all; /* [0]: gone */
	uint64_t bytes;
	char name[NAME_CHARS * 4 + 1], file[FILE_CHARS * 4 + 1]; /* of the last row */
};

enum hi_status hi_python_codes_create(struct hi_memory *memory,
				      const struct hi_python_walk *walk,
				      struct hi_python_codes **ret, struct hi_error *err)
{
	HI_GUARD(hi_python_codes_destroy)
	struct hi_python_codes *codes = hi_calloc(1, sizeof(*codes));

	if (!codes)
		return hi_fail_memory(err, "code of Python");
	codes->memory = memory;
	codes->walk = *walk;
	codes->layout = hi_py_layout_of_minor(walk->minor);
	if (!hi_vector_push(&codes->all, (struct python_code){}))
		return hi_fail_memory(err, "code of Python");
	if (!codes->layout)
		return hi_fail(err, HI_UNSUPPORTED, 0, "no such version of CPython");
	*ret = hi_take(codes);
	return HI_OK;
}

static void free_code_parts(struct python_code *code)
{
	free(code->name.bytes);
	free(code->file.bytes);
	free(code->lines.bytes);
}

void hi_python_codes_destroy(struct hi_python_codes *codes)
{
	if (!codes)
		return;
	for (size_t i = 0; i < codes->all.count; i++)
		free_code_parts(&codes->all.items[i]);
	hi_vector_free(&codes->all);
	hi_table_free(&codes->by_key);
	free(codes);
}

/* ---- copying ---- */

static bool read_code_bytes(const struct hi_python_codes *codes, uint64_t addr, void *buf,
			    size_t size)
{
	return hi_memory_read(codes->memory, addr, buf, size, NULL) == HI_OK;
}

static uint64_t word_in(const uint8_t *raw, uint32_t offset)
{
	uint64_t word;

	memcpy(&word, raw + offset, sizeof(word));
	return word;
}

static uint32_t half_in(const uint8_t *raw, uint32_t offset)
{
	uint32_t half;

	memcpy(&half, raw + offset, sizeof(half));
	return half;
}

/* n and kind have their bounds. What cannot be read is empty. */
static bool copy_code_text(struct hi_python_codes *codes, uint64_t addr, uint32_t n,
			   uint32_t kind, struct code_text *ret)
{
	size_t size = (size_t)n * kind;

	if (!size || size > BYTES_MAX - codes->bytes)
		return true;
	ret->bytes = hi_alloc(size);
	if (!ret->bytes)
		return false;
	if (!read_code_bytes(codes, addr, ret->bytes, size))
		return true;
	codes->bytes += size;
	ret->n = n;
	ret->kind = kind;
	return true;
}

/* At most max characters of a str. False: no memory. */
static bool copy_code_str(struct hi_python_codes *codes, uint64_t addr, uint32_t max,
			  struct code_text *ret)
{
	const struct hi_py_layout *l = codes->layout;
	uint8_t raw[STR_HEADER] = {};
	uint32_t state, kind;
	uint64_t length, data;

	if (l->str_size > sizeof(raw) || !read_code_bytes(codes, addr, raw, l->str_size))
		return true;
	length = word_in(raw, l->str_length);
	state = half_in(raw, l->str_state);
	kind = state >> STATE_KIND_SHIFT & 7;
	if (kind != 1 && kind != 2 && kind != 4)
		return true;
	data = state & STATE_ASCII ? addr + l->str_ascii_data
				   : addr + l->str_compact_data;
	if (!(state & STATE_COMPACT))
		data = word_in(raw, l->str_any);
	return copy_code_text(codes, data, length < max ? (uint32_t)length : max, kind,
			      ret);
}

static bool copy_code_lines(struct hi_python_codes *codes, uint64_t addr,
			    struct code_text *ret)
{
	uint64_t size = 0;

	if (!read_code_bytes(codes, addr + BYTES_SIZE, &size, sizeof(size)) ||
	    size > LINES_MAX)
		return true;
	return copy_code_text(codes, addr + BYTES_DATA, (uint32_t)size, 1, ret);
}

/* What is at the address now: its bytes and its check. False: no code object. */
static bool read_python_code(const struct hi_python_codes *codes, uint64_t addr,
			     uint8_t *raw, uint64_t *check_ret)
{
	const struct hi_python_walk *w = &codes->walk;
	struct hi_python_lines lines;

	if (!read_code_bytes(codes, addr, raw, w->code_size) ||
	    word_in(raw, HI_PY_TYPE) != w->code_type)
		return false;
	if (!read_code_bytes(codes, word_in(raw, w->code_lines) + HI_PYTHON_LINES_AT,
			     &lines, sizeof(lines)))
		lines = (struct hi_python_lines){};
	*check_ret = hi_python_check(half_in(raw, w->code_first_line),
				     word_in(raw, w->code_filename),
				     word_in(raw, w->code_qualname), &lines);
	return true;
}

static bool copy_code_parts(struct hi_python_codes *codes, const uint8_t *raw,
			    struct python_code *ret)
{
	const struct hi_python_walk *w = &codes->walk;

	ret->first_line = (int32_t)half_in(raw, w->code_first_line);
	return copy_code_str(codes, word_in(raw, w->code_qualname), NAME_CHARS,
			     &ret->name) &&
	       copy_code_str(codes, word_in(raw, w->code_filename), FILE_CHARS,
			     &ret->file) &&
	       copy_code_lines(codes, word_in(raw, w->code_lines), &ret->lines);
}

/* Adds a copy of it. *number_ret 0: it was freed meanwhile. False: no memory. */
static bool copy_python_code(struct hi_python_codes *codes, uint64_t key,
			     const uint8_t *raw, struct python_code *code,
			     uint64_t *number_ret)
{
	uint8_t again[HI_PYTHON_CODE_MAX];
	uint64_t check;

	*number_ret = 0;
	if (codes->all.count >= CODES_MAX)
		return true;
	if (!copy_code_parts(codes, raw, code))
		return false;
	if (!read_python_code(codes, code->addr, again, &check) || check != code->check) {
		free_code_parts(code);
		return true;
	}
	if (!hi_vector_push(&codes->all, *code) ||
	    !hi_table_put(&codes->by_key, key, codes->all.count - 1))
		return false;
	*number_ret = codes->all.count - 1;
	return true;
}

/* The number of the frame's code; 0: another one, or none, is there by now. */
static enum hi_status number_code(struct hi_python_codes *codes, uint64_t frame,
				  uint64_t check, uint64_t *number_ret,
				  struct hi_error *err)
{
	struct python_code code = {.addr = hi_python_code_of(frame)};
	uint64_t key = hi_python_mix(code.addr, check);
	uint8_t raw[HI_PYTHON_CODE_MAX];

	*number_ret = 0;
	if (hi_table_get(&codes->by_key, key, number_ret) ||
	    !read_python_code(codes, code.addr, raw, &code.check) || code.check != check)
		return HI_OK;
	return copy_python_code(codes, key, raw, &code, number_ret)
		       ? HI_OK
		       : hi_fail_memory(err, "code of Python");
}

enum hi_status hi_python_codes_take(struct hi_python_codes *codes,
				    struct hi_event_stack *stack, struct hi_error *err)
{
	enum hi_status status = HI_OK;
	uint16_t n = 0;

	for (uint16_t i = 0; i < stack->n && status == HI_OK; i++) {
		uint64_t frame = stack->frames[i], number;

		if (hi_python_is_frame(frame)) {
			status = number_code(codes, frame,
					     i + 1 < stack->n ? stack->frames[i + 1] : 0,
					     &number, err);
			frame = HI_PYTHON_FRAME | number << HI_PYTHON_AT_BITS |
				hi_python_at_of(frame);
			i++;
		}
		stack->frames[n++] = frame;
	}
	stack->n = n;
	return status;
}

/* ---- decoding ---- */

/* out has room for 4 bytes a character, and the 0. */
static void decode_code_text(const struct code_text *text, char *out)
{
	size_t n = 0;

	for (uint32_t i = 0; i < text->n; i++) {
		uint32_t ch = 0;

		memcpy(&ch, text->bytes + (size_t)i * text->kind, text->kind);
		n += ch ? hi_py_put_utf8(out + n, ch) : 0;
	}
	out[n] = '\0';
}

/* 0: not known. */
static uint32_t line_of_code(const struct hi_python_codes *codes,
			     const struct python_code *code, uint32_t at)
{
	int64_t more;

	if (at == HI_PYTHON_AT_UNKNOWN)
		return 0;
	more = codes->layout->line(code->lines.bytes, code->lines.n, (int64_t)at * 2);
	more += more == INT_MIN ? 0 : code->first_line;
	return more > 0 && more <= INT_MAX ? (uint32_t)more : 0;
}

void hi_python_codes_row(struct hi_python_codes *codes, uint64_t frame,
			 struct hi_frame_row *ret)
{
	uint64_t number = (frame & ~HI_PYTHON_FRAME) >> HI_PYTHON_AT_BITS;
	const struct python_code *code;

	*ret = (struct hi_frame_row){.module = "python",
				     .function = "(Python code that is gone)",
				     .file = "",
				     .flags = HI_FRAME_SCRIPT};
	if (number == 0 || number >= codes->all.count)
		return;
	code = &codes->all.items[number];
	decode_code_text(&code->name, codes->name);
	decode_code_text(&code->file, codes->file);
	ret->function = *codes->name ? codes->name : "(Python code without a name)";
	ret->file = codes->file;
	ret->line = line_of_code(codes, code, hi_python_at_of(frame));
}
