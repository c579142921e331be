/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A streaming JSON writer: only the nesting is kept in memory. The output is always valid
 * UTF-8 and valid JSON: text is escaped by hi_text_escape() first, so that a byte that is
 * not UTF-8 becomes the four characters \xNN. Errors of the stream are sticky in the
 * FILE; check ferror() at the end.
 *
 * `key` is the name of the member inside an object, and NULL inside an array or for the
 * document itself.
 */
#ifndef HI_REPORT_JSON_WRITER_H
#define HI_REPORT_JSON_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { HI_JSON_DEPTH = 24 };

struct hi_json {
	FILE *out;
	unsigned depth;
	bool filled[HI_JSON_DEPTH]; /* has a member already */
	bool array[HI_JSON_DEPTH];
	bool line[HI_JSON_DEPTH]; /* its members share one line: it is a row */
	bool one_line; /* set by the caller after hi_json_init: the whole document is */
	bool failed;   /* nested too deep or out of memory; the stream is no JSON */
};

/* Makes a writer to out, which stays the caller's. Nothing is written yet. */
void hi_json_init(struct hi_json *json, FILE *out);
/* Begins an object; hi_json_end() closes it. */
void hi_json_object(struct hi_json *json, const char *key);
/* Begins an array; hi_json_end() closes it. */
void hi_json_array(struct hi_json *json, const char *key);
/* Closes the innermost object or array. */
void hi_json_end(struct hi_json *json);
/* Writes text, which may be hostile; NULL becomes null. At most 64 KiB of it. */
void hi_json_text(struct hi_json *json, const char *key, const char *text);
/* Writes text that is escaped already (values of fields): backslashes stay single. */
void hi_json_escaped(struct hi_json *json, const char *key, const char *text);
/* Writes a number; UINT64_MAX (unknown) becomes null. */
void hi_json_number(struct hi_json *json, const char *key, uint64_t number);
/* Writes a signed number. */
void hi_json_signed(struct hi_json *json, const char *key, int64_t number);
/* Writes a number; infinity and NaN become null. */
void hi_json_real(struct hi_json *json, const char *key, double number);
/* Writes true or false. */
void hi_json_bool(struct hi_json *json, const char *key, bool value);
/* Writes null. */
void hi_json_null(struct hi_json *json, const char *key);
/* Writes an address as a string, "0x55…"; 0 (unknown) becomes null. */
void hi_json_address(struct hi_json *json, const char *key, uint64_t address);
/* Returns NULL for "", which is null in JSON: unknown. */
static inline const char *hi_known(const char *text)
{
	return text && *text ? text : NULL;
}
/* Ends the document with a newline. Returns whether everything was closed and nothing
 * failed. */
bool hi_json_finish(struct hi_json *json);

#endif
