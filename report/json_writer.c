/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/json_writer.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "report/escape.h"

enum { TEXT_MAX = 64 << 10 };

void hi_json_init(struct hi_json *json, FILE *out)
{
	*json = (struct hi_json){.out = out};
}

static void write_string(struct hi_json *json, const char *text)
{
	putc('"', json->out);
	for (const char *s = text; *s; s++) {
		if (*s == '"' || *s == '\\')
			putc('\\', json->out);
		putc(*s, json->out);
	}
	putc('"', json->out);
}

/* The comma, the line and the key in front of a value. */
static void begin_value(struct hi_json *json, const char *key)
{
	if (json->depth > 0 && json->depth <= HI_JSON_DEPTH) {
		if (json->filled[json->depth - 1])
			putc(',', json->out);
		if (!json->line[json->depth - 1])
			fprintf(json->out, "\n%*s", (int)json->depth * 2, "");
		else if (json->filled[json->depth - 1])
			putc(' ', json->out);
		json->filled[json->depth - 1] = true;
	}
	if (key) {
		write_string(json, key);
		fputs(": ", json->out);
	}
}

static void open_container(struct hi_json *json, const char *key, bool array)
{
	begin_value(json, key);
	putc(array ? '[' : '{', json->out);
	if (json->depth < HI_JSON_DEPTH) {
		json->filled[json->depth] = false;
		json->array[json->depth] = array;
		/* An object in an array is a row: all of it is one line. */
		json->line[json->depth] =
			json->one_line ||
			(json->depth > 0 && (json->line[json->depth - 1] ||
					     (!array && json->array[json->depth - 1])));
	} else {
		json->failed = true;
	}
	json->depth++;
}

void hi_json_object(struct hi_json *json, const char *key)
{
	open_container(json, key, false);
}

void hi_json_array(struct hi_json *json, const char *key)
{
	open_container(json, key, true);
}

void hi_json_end(struct hi_json *json)
{
	bool array = false;

	if (json->depth == 0) {
		json->failed = true;
		return;
	}
	json->depth--;
	if (json->depth < HI_JSON_DEPTH) {
		array = json->array[json->depth];
		if (json->filled[json->depth] && !json->line[json->depth])
			fprintf(json->out, "\n%*s", (int)json->depth * 2, "");
	}
	putc(array ? ']' : '}', json->out);
}

static void write_escaped(struct hi_json *json, const char *key, const char *text,
			  size_t (*escape)(char *, size_t, const char *, size_t))
{
	char small[512];
	HI_GUARD(free) char *large = NULL;
	char *out = small;
	size_t n, size;

	if (!text) {
		hi_json_null(json, key);
		return;
	}
	n = strnlen(text, TEXT_MAX);
	size = n * 4 + 8;
	if (size > sizeof(small)) {
		out = large = hi_alloc(size);
		if (!out) {
			json->failed = true;
			return;
		}
	} else {
		size = sizeof(small);
	}
	escape(out, size, text, n);
	begin_value(json, key);
	write_string(json, out);
}

void hi_json_text(struct hi_json *json, const char *key, const char *text)
{
	write_escaped(json, key, text, hi_text_escape);
}

void hi_json_escaped(struct hi_json *json, const char *key, const char *text)
{
	write_escaped(json, key, text, hi_escape_again);
}

void hi_json_number(struct hi_json *json, const char *key, uint64_t number)
{
	if (number == UINT64_MAX) {
		hi_json_null(json, key);
		return;
	}
	begin_value(json, key);
	fprintf(json->out, "%" PRIu64, number);
}

void hi_json_signed(struct hi_json *json, const char *key, int64_t number)
{
	begin_value(json, key);
	fprintf(json->out, "%" PRId64, number);
}

void hi_json_real(struct hi_json *json, const char *key, double number)
{
	if (!isfinite(number)) {
		hi_json_null(json, key);
		return;
	}
	begin_value(json, key);
	fprintf(json->out, "%.15g", number);
}

void hi_json_bool(struct hi_json *json, const char *key, bool value)
{
	begin_value(json, key);
	fputs(value ? "true" : "false", json->out);
}

void hi_json_null(struct hi_json *json, const char *key)
{
	begin_value(json, key);
	fputs("null", json->out);
}

void hi_json_address(struct hi_json *json, const char *key, uint64_t address)
{
	if (address == 0) {
		hi_json_null(json, key);
		return;
	}
	begin_value(json, key);
	fprintf(json->out, "\"0x%" PRIx64 "\"", address);
}

bool hi_json_finish(struct hi_json *json)
{
	putc('\n', json->out);
	return json->depth == 0 && !json->failed && !ferror(json->out);
}
