/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/escape.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

size_t hi_escape_again(char *out, size_t out_size, const char *text, size_t n)
{
	size_t used = 0, i = 0;

	if (out_size == 0)
		return 0;
	out[0] = 0;
	while (i < n) {
		const char *slash = memchr(text + i, '\\', n - i);
		size_t piece = slash ? (size_t)(slash - (text + i)) : n - i;

		used += hi_text_escape(out + used, out_size - used, text + i, piece);
		i += piece;
		if (slash) {
			if (used + 2 > out_size)
				break;
			out[used++] = '\\';
			out[used] = 0;
			i++;
		}
	}
	return used;
}

size_t hi_escape_ascii(char *out, size_t out_size, const char *text)
{
	size_t used = 0;

	if (out_size == 0)
		return 0;
	for (const unsigned char *s = (const unsigned char *)text; *s; s++) {
		size_t need = *s < 0x7f ? 1 : 4;

		if (used + need >= out_size)
			break;
		if (need == 1)
			out[used] = (char)*s;
		else
			snprintf(out + used, out_size - used, "\\x%02x", *s);
		used += need;
	}
	out[used] = 0;
	return used;
}
