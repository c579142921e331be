/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text for people. Every string that comes from the target goes through hi_text_escape()
 * before it is written to a terminal or a file.
 */
#ifndef HI_BASE_TEXT_H
#define HI_BASE_TEXT_H

#include <stddef.h>
#include <stdint.h>

/*
 * Copies text (n bytes, need not end in NUL) into out, a string of fewer than
 * out_size bytes: control bytes, DEL, backslash and bytes that are no valid
 * UTF-8 become \n, \t, \\ or \xNN; C1 controls and bidirectional overrides are
 * escaped too. Cut with "..." when it does not fit. Returns strlen(out).
 */
size_t hi_text_escape(char *out, size_t out_size, const char *text, size_t n);

/* "512 B", "1.5 KiB", "12.0 MiB"; out needs 24 bytes. Returns out. */
char *hi_text_bytes(char out[24], uint64_t bytes);
/* "1,234,567"; out needs 32 bytes. Returns out. */
char *hi_text_count(char out[32], uint64_t count);
/* The last component of path: what follows its last '/'; a part of path. */
const char *hi_base_name(const char *path);
/* "850 ns", "12.3 us", "4.56 ms", "1.20 s"; out needs 24 bytes. Returns out. */
char *hi_text_duration(char out[24], uint64_t ns);

/* Returns "" for NULL, else text. */
static inline const char *hi_text_or_empty(const char *text)
{
	return text ? text : "";
}
/* Returns the name of a C or C++ type without a leading "struct ", "class ", "union " or
 * "enum ". */
const char *hi_type_bare(const char *name);

#endif
