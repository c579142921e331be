/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include <wchar.h>

#include "report/escape.h"
#include "report/render/text_internal.h"

size_t hi_text_character(const struct hi_text_style *style, const char *text,
			 unsigned *columns)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t want = s[0] < 0xc0 ? 1 : s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
	uint32_t cp;
	int w;

	*columns = 1;
	if (want == 1 || !style->utf8)
		return 1;
	cp = s[0] & (0x7fu >> want);
	for (size_t i = 1; i < want; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 1;
		cp = cp << 6 | (s[i] & 0x3f);
	}
	w = wcwidth((wchar_t)cp);
	/* Unknown to the locale: most terminals show one column. */
	*columns = w >= 0 ? (unsigned)w : 1;
	return want;
}

size_t hi_text_prefix(const struct hi_text_style *style, const char *text,
		      unsigned columns, unsigned *taken_ret)
{
	unsigned taken = 0, one;
	size_t i = 0;

	while (text[i]) {
		size_t n = hi_text_character(style, text + i, &one);

		if (taken + one > columns)
			break;
		taken += one;
		i += n;
	}
	if (taken_ret)
		*taken_ret = taken;
	return i;
}

unsigned hi_text_columns(const struct hi_text_style *style, const char *text)
{
	unsigned taken;

	hi_text_prefix(style, text, UINT32_MAX - 4, &taken);
	return taken;
}

const char *hi_text_plain(const struct hi_text_style *style, struct hi_arena *arena,
			  const char *text)
{
	static const struct {
		const char *from, *to;
	} characters[] = {{"…", "..."}, {"≥", ">="}, {"≤", "<="}, {"·", "-"},
			  {"→", "->"},	{"×", "x"},  {"±", "+-"}};
	enum { CHARACTERS = sizeof(characters) / sizeof(characters[0]) };
	char *copy, *end;
	size_t n = strlen(text);

	for (size_t i = 0; !style->utf8 && i < n; i++)
		if ((unsigned char)text[i] > 0x7e)
			goto convert;
	return text;
convert:
	copy = end = hi_arena_alloc(arena, n * 4 + 1);
	if (!copy)
		return NULL;
	while (*text) {
		size_t k = 0;

		while (k < CHARACTERS &&
		       strncmp(text, characters[k].from, strlen(characters[k].from)) != 0)
			k++;
		if (k < CHARACTERS) {
			end = stpcpy(end, characters[k].to);
			text += strlen(characters[k].from);
		} else {
			char one[2] = {*text++, 0};

			end += hi_escape_ascii(end, 5, one);
		}
	}
	return copy;
}

/* Where the last `columns` columns of text begin. */
static const char *suffix_of_columns(const struct hi_text_style *style, const char *text,
				     unsigned columns)
{
	unsigned all = hi_text_columns(style, text), one;

	while (*text && all > columns) {
		text += hi_text_character(style, text, &one);
		all -= one;
	}
	/* Not in front of a combining character that belongs to the cut. */
	while (*text) {
		size_t n = hi_text_character(style, text, &one);

		if (one)
			break;
		text += n;
	}
	return text;
}

const char *hi_text_fit(const struct hi_text_style *style, struct hi_arena *arena,
			const char *text, unsigned columns)
{
	const char *dots = style->utf8 ? "…" : "...", *tail;
	unsigned dots_columns = style->utf8 ? 1 : 3, head, room;
	size_t n;
	char *out;

	text = hi_text_plain(style, arena, text);
	if (!text || hi_text_columns(style, text) <= columns)
		return text;
	if (columns <= dots_columns + 1)
		return "";
	tail = hi_text_fit_arguments(style, arena, text, columns);
	if (tail)
		return tail;
	room = columns - dots_columns;
	head = (room + 1) / 2;
	n = hi_text_prefix(style, text, head, &head);
	tail = suffix_of_columns(style, text, room - head);
	out = hi_arena_alloc(arena, n + strlen(dots) + strlen(tail) + 1);
	if (!out)
		return NULL;
	memcpy(out, text, n);
	strcpy(stpcpy(out + n, dots), tail);
	return out;
}

void hi_text_color(const struct hi_text_style *style, char what)
{
	if (!style->color)
		return;
	switch (what) {
	case 'b':
		fputs("\033[1m", style->out);
		break;
	case 'd':
		fputs("\033[2m", style->out);
		break;
	case 'y':
		fputs("\033[33m", style->out);
		break;
	case 'c':
		fputs("\033[36m", style->out);
		break;
	default:
		fputs("\033[0m", style->out);
	}
}
