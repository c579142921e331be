/* SPDX-License-Identifier: BSD-2-Clause */
/* Escapes text for output; see also hi_text_escape (base/text.h). */
#ifndef HI_REPORT_ESCAPE_H
#define HI_REPORT_ESCAPE_H

#include <stddef.h>

/*
 * The same as hi_text_escape(), but backslashes stay as they are: for text that was
 * escaped already (field values from decode). Control bytes are escaped even if it was
 * not.
 */
size_t hi_escape_again(char *out, size_t out_size, const char *text, size_t n);

/* Every byte over 0x7e becomes \xNN: for terminals without UTF-8. text is
 * escaped already. Returns strlen(out); cut where out is full. */
size_t hi_escape_ascii(char *out, size_t out_size, const char *text);

#endif
