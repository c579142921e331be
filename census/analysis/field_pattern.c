/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/analysis/field_pattern.h"

#include <string.h>

struct pattern_out {
	char *text;
	size_t size, length;
};

static void add_to_pattern(struct pattern_out *out, const char *text, size_t n)
{
	for (size_t i = 0; i < n && out->length + 1 < out->size; i++)
		out->text[out->length++] = text[i];
	out->text[out->length] = 0;
}

static bool is_member_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_' || c == '$' || (unsigned char)c >= 128;
}

/* "[" of an index or the key of a map, "{" of the key of a set. */
static bool begins_index(char c)
{
	return c == '[' || c == '{';
}

/* After the bracket that closes the one at text; a string inside may have brackets. */
static const char *skip_index(const char *text)
{
	char open = *text, close = open == '{' ? '}' : ']';
	unsigned depth = 0;
	char quote = 0;

	for (; *text; text++) {
		if (quote) {
			if (*text == '\\' && text[1])
				text++;
			else if (*text == quote)
				quote = 0;
		} else if (*text == '"' || *text == '\'') {
			quote = *text;
		} else if (*text == open) {
			depth++;
		} else if (*text == close && --depth == 0) {
			return text + 1;
		}
	}
	return text;
}

/* "_M_impl", "__table_"; "__dict__" is no such name. */
static bool is_library_member(const char *name, size_t n)
{
	if (n >= 3 && memcmp(name, "_M_", 3) == 0)
		return true;
	return n > 2 && memcmp(name, "__", 2) == 0 &&
	       !(n > 4 && memcmp(name + n - 2, "__", 2) == 0);
}

/* 2 for "->", 1 for ".", 0 where no member begins. */
static size_t measure_arrow(const char *text)
{
	size_t n = text[0] == '-' && text[1] == '>' ? 2 : text[0] == '.' ? 1 : 0;

	return n && is_member_char(text[n]) ? n : 0;
}

static size_t shorten_field(const char *text, bool keep_indices, char *out_text,
			    size_t size)
{
	struct pattern_out out = {.text = out_text, .size = size};
	bool through = false; /* a pointer, whose member was left out */

	out_text[0] = 0;
	while (*text) {
		size_t arrow = measure_arrow(text), n = 0;

		if (begins_index(*text)) {
			const char *end = skip_index(text);

			add_to_pattern(&out,
				       keep_indices   ? text
				       : *text == '{' ? "{}"
						      : "[]",
				       keep_indices ? (size_t)(end - text) : 2);
			text = end;
			continue;
		}
		if (!arrow) {
			add_to_pattern(&out, text++, 1);
			continue;
		}
		while (is_member_char(text[arrow + n]))
			n++;
		through |= arrow == 2;
		if (!is_library_member(text + arrow, n)) {
			add_to_pattern(&out, through ? "->" : ".", through ? 2 : 1);
			add_to_pattern(&out, text + arrow, n);
			through = false;
		}
		text += arrow + n;
	}
	return out.length;
}

size_t hi_field_pattern(const char *text, char *out, size_t size)
{
	return shorten_field(text, false, out, size);
}

size_t hi_field_clean(const char *text, char *out, size_t size)
{
	return shorten_field(text, true, out, size);
}

bool hi_field_is_link(const char *text)
{
	return *text && !strpbrk(text, "[{<");
}

/* The length of "<element>" or "<key>" at text, which stand for indices; else 0. */
static size_t measure_element(const char *text)
{
	static const char *const elements[] = {".<element>", "<element>", ".<key>",
					       "<key>"};

	for (size_t i = 0; i < sizeof(elements) / sizeof(*elements); i++)
		if (strncmp(text, elements[i], strlen(elements[i])) == 0)
			return strlen(elements[i]);
	return 0;
}

bool hi_field_is_part(const char *text)
{
	return (text[0] == '<' || (text[0] == '.' && text[1] == '<')) &&
	       !measure_element(text);
}

size_t hi_field_stem(const char *pattern)
{
	size_t n = strlen(pattern);

	while (n > 2 && (memcmp(pattern + n - 2, "[]", 2) == 0 ||
			 memcmp(pattern + n - 2, "{}", 2) == 0))
		n -= 2;
	return n;
}

size_t hi_field_container(const char *text)
{
	const char *at = text, *end = text;

	while (*at) {
		size_t n = measure_element(at);

		if (n || *at == '[')
			at = n ? at + n : skip_index(at);
		else
			end = ++at;
	}
	return (size_t)(end - text);
}

size_t hi_field_without_index(const char *text)
{
	const char *at = text, *end = text;

	while (*at) {
		size_t n = measure_element(at);

		if (n || *at == '[') {
			end = at;
			at = n ? at + n : skip_index(at);
			if (!*at)
				return (size_t)(end - text);
		} else {
			at++;
		}
	}
	return (size_t)(at - text);
}

bool hi_field_join(const char *text, const char *other, char *out, size_t size)
{
	size_t used = 0;

	while (*text || *other) {
		const char *end = *text == '[' ? skip_index(text) : text + 1;
		const char *other_end = *other == '[' ? skip_index(other) : other + 1;
		size_t n = (size_t)(end - text);
		bool same =
			(size_t)(other_end - other) == n && memcmp(text, other, n) == 0;

		if (*text != *other || used + (n < 3 ? 3 : n) >= size)
			return false;
		memcpy(out + used, same ? text : "[*]", same ? n : 3);
		used += same ? n : 3;
		text = end;
		other = other_end;
	}
	out[used] = 0;
	return size > 0;
}

bool hi_field_is_offset(const char *text)
{
	return strncmp(text, " +0x", 4) == 0 &&
	       !text[4 + strspn(text + 4, "0123456789abcdef")];
}
