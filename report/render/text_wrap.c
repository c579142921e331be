/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines of texts that are too wide: they end at a blank or between the parts of a name,
 * and inside of a word only where it has none.
 */
#include <ctype.h>
#include <string.h>

#include "report/render/text_internal.h"

/* Behind "a::", but not behind "…::". */
static bool is_behind_namespace(const char *text, size_t i)
{
	return i > 2 && text[i - 1] == ':' && text[i - 2] == ':' && text[i - 3] != '.' &&
	       !((unsigned char)text[i - 3] & 0x80);
}

/* How well a line ends in front of a character. */
enum end_rank { NO_END, IN_WORD, BETWEEN_PARTS };

bool hi_text_may_end_at_blank(const char *text, size_t i)
{
	return text[i] == ' ' &&
	       !(i > 0 && isdigit((unsigned char)text[i - 1]) &&
		 (isupper((unsigned char)text[i + 1]) || text[i + 1] == '%'));
}

/* i > 0, and text[i] is not its end. */
static enum end_rank rank_line_end(const char *text, size_t i)
{
	char before = text[i - 1], after = text[i];

	if (after == ' ' || before == ' ')
		return hi_text_may_end_at_blank(text, after == ' ' ? i : i - 1)
			       ? BETWEEN_PARTS
			       : NO_END;
	if (before == ',')
		return isdigit((unsigned char)after) ? NO_END : BETWEEN_PARTS;
	if (before == '-' && after == '>')
		return NO_END;
	if (before == '<' || before == '/' || (after == '-' && text[i + 1] == '>') ||
	    (after == '\\' && text[i + 1] == 'x' && before != '\\') ||
	    is_behind_namespace(text, i))
		return BETWEEN_PARTS;
	if (strchr("_-)]};|@=&*", before) ||
	    (islower((unsigned char)before) && isupper((unsigned char)after)))
		return IN_WORD;
	return strchr("([{.+", after) && !isdigit((unsigned char)before) ? IN_WORD
									 : NO_END;
}

/* In front of an escape ("\x1b") that stands on both sides of i. */
static size_t step_before_escape(const char *text, size_t i)
{
	for (size_t back = 1; back <= 3 && back < i; back++)
		if (text[i - back] == '\\' && text[i - back + 1] == 'x')
			return i - back;
	return i;
}

/* At least one character. */
static size_t count_fitting_bytes(const struct hi_text_style *style, const char *text,
				  unsigned columns)
{
	size_t n = hi_text_prefix(style, text, columns, NULL);

	/* The widest character takes two columns. */
	if (n == 0)
		n = hi_text_prefix(style, text, 2, NULL);
	return n ? n : *text != 0;
}

/* text does not fit; its first n bytes do. */
static size_t choose_line_end(const char *text, size_t n)
{
	size_t last[] = {[IN_WORD] = 0, [BETWEEN_PARTS] = 0};

	for (size_t i = 1; i <= n && text[i]; i++)
		last[rank_line_end(text, i)] = i;
	if (last[BETWEEN_PARTS] > n / 3)
		return last[BETWEEN_PARTS];
	if (last[IN_WORD] > n / 3)
		return last[IN_WORD];
	return last[BETWEEN_PARTS] ? last[BETWEEN_PARTS] : step_before_escape(text, n);
}

struct hi_text_line hi_text_next_line(const struct hi_text_style *style, const char *text,
				      unsigned columns)
{
	size_t n = count_fitting_bytes(style, text, columns);
	struct hi_text_line line = {.next = text[n] ? choose_line_end(text, n) : n};

	line.bytes = line.next;
	while (text[line.next] == ' ')
		line.next++;
	while (line.bytes > 0 && text[line.bytes - 1] == ' ')
		line.bytes--;
	for (size_t i = 0; i < line.bytes;) {
		unsigned one;

		i += hi_text_character(style, text + i, &one);
		line.columns += one;
	}
	return line;
}

unsigned hi_text_widest_part(const struct hi_text_style *style, const char *text)
{
	unsigned widest = 0, part = 0, one;

	for (size_t i = 0; text[i];) {
		if (i > 0 && rank_line_end(text, i) == BETWEEN_PARTS)
			part = 0;
		i += hi_text_character(style, text + i, &one);
		part += one;
		if (part > widest)
			widest = part;
	}
	return widest;
}
