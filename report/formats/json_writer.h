/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A streaming JSON writer: nothing is held in memory but the nesting. Output
 * is always valid UTF-8 and valid JSON: text is made harmless by
 * hi_text_escape first, so a byte that is no UTF-8 becomes the four characters
 * \xNN. Errors of the stream are sticky in the FILE; ask ferror() at the end.
 *
 * `key` is the member's name inside an object and NULL inside an array or for
 * the document itself.
 */
#ifndef HI_REPORT_FORMATS_JSON_WRITER_H
#define HI_REPORT_FORMATS_JSON_WRITER_H

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

void hi_json_init(struct hi_json *json, FILE *out);
void hi_json_object(struct hi_json *json, const char *key);
void hi_json_array(struct hi_json *json, const char *key);
void hi_json_end(struct hi_json *json);
/* Text of the target or of ours; NULL becomes null. At most 64 KiB of it. */
void hi_json_text(struct hi_json *json, const char *key, const char *text);
/* Text that is escaped already (field values): backslashes stay single. */
void hi_json_escaped(struct hi_json *json, const char *key, const char *text);
/* UINT64_MAX (unknown) becomes null. */
void hi_json_number(struct hi_json *json, const char *key, uint64_t number);
void hi_json_signed(struct hi_json *json, const char *key, int64_t number);
/* Infinity and no number become null. */
void hi_json_real(struct hi_json *json, const char *key, double number);
void hi_json_bool(struct hi_json *json, const char *key, bool value);
void hi_json_null(struct hi_json *json, const char *key);
/* "0x55…"; 0 (unknown) becomes null. */
void hi_json_address(struct hi_json *json, const char *key, uint64_t address);
/* All is closed and nothing failed; writes the last newline. */
bool hi_json_finish(struct hi_json *json);

#endif
