/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/text.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Length of the valid UTF-8 sequence at s (n > 0 bytes left), its code point
 * in *cp; 0 when it is none. */
static size_t measure_utf8_sequence(const unsigned char *s, size_t n, uint32_t *cp)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t want = s[0] < 0x80 ? 1 : s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;

	if (want == 1) {
		*cp = s[0];
		return 1;
	}
	if (s[0] < 0xc2 || s[0] > 0xf4 || want > n)
		return 0;
	*cp = s[0] & (0x7fu >> want);
	for (size_t i = 1; i < want; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		*cp = *cp << 6 | (s[i] & 0x3f);
	}
	if (*cp < least[want] || *cp > 0x10ffff || (*cp >= 0xd800 && *cp < 0xe000))
		return 0;
	return want;
}

static bool is_harmless(uint32_t cp)
{
	if (cp < 0x20 || cp == 0x7f || cp == '\\' || (cp >= 0x80 && cp < 0xa0))
		return false;
	/* Line separators and bidirectional controls reorder the text that is shown. */
	return !((cp >= 0x200b && cp <= 0x200f) || (cp >= 0x2028 && cp <= 0x202e) ||
		 (cp >= 0x2066 && cp <= 0x2069) || cp == 0xfeff);
}

static size_t escape_one(char piece[8], unsigned char c)
{
	const char *plain = "\n\t\r\\", *letter = "ntr\\";
	const char *found = c ? strchr(plain, c) : NULL;

	if (found)
		return (size_t)sprintf(piece, "\\%c", letter[found - plain]);
	return (size_t)sprintf(piece, "\\x%02x", c);
}

size_t hi_text_escape(char *out, size_t out_size, const char *text, size_t n)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t used = 0, cut = 0, i = 0;

	if (out_size == 0)
		return 0;
	while (i < n) {
		char piece[8];
		uint32_t cp = 0;
		size_t len = measure_utf8_sequence(s + i, n - i, &cp);
		size_t piece_len;

		if (len && is_harmless(cp)) {
			memcpy(piece, s + i, len);
			piece_len = len;
			i += len;
		} else {
			piece_len = escape_one(piece, s[i]);
			i++;
		}
		if (used + piece_len >= out_size)
			goto truncate;
		memcpy(out + used, piece, piece_len);
		used += piece_len;
		if (used + 3 < out_size)
			cut = used; /* the last whole piece that leaves room for "..." */
	}
	out[used] = 0;
	return used;
truncate:
	if (out_size < 4) {
		out[0] = 0;
		return 0;
	}
	memcpy(out + cut, "...", 4);
	return cut + 3;
}

char *hi_text_bytes(char out[24], uint64_t bytes)
{
	static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	double value = (double)bytes / 1024;
	unsigned unit = 0;

	if (bytes < 1024) {
		snprintf(out, 24, "%u B", (unsigned)bytes);
		return out;
	}
	while (value >= 1023.95 && unit < 5) {
		value /= 1024;
		unit++;
	}
	snprintf(out, 24, "%.1f %s", value, units[unit]);
	return out;
}

char *hi_text_count(char out[32], uint64_t count)
{
	char digits[24];
	size_t n = (size_t)snprintf(digits, sizeof(digits), "%llu",
				    (unsigned long long)count);
	size_t used = 0;

	for (size_t i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			out[used++] = ',';
		out[used++] = digits[i];
	}
	out[used] = 0;
	return out;
}

char *hi_text_duration(char out[24], uint64_t ns)
{
	if (ns < 1000)
		snprintf(out, 24, "%u ns", (unsigned)ns);
	else if (ns < 1000000)
		snprintf(out, 24, "%.1f us", (double)ns / 1e3);
	else if (ns < 1000000000)
		snprintf(out, 24, "%.2f ms", (double)ns / 1e6);
	else
		snprintf(out, 24, "%.2f s", (double)ns / 1e9);
	return out;
}

const char *hi_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

const char *hi_type_bare(const char *name)
{
	static const char *const keywords[] = {"struct ", "class ", "union ", "enum "};

	for (size_t i = 0; i < 4; i++)
		if (strncmp(name, keywords[i], strlen(keywords[i])) == 0)
			return name + strlen(keywords[i]);
	return name;
}
