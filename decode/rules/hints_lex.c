/* SPDX-License-Identifier: BSD-2-Clause */
/* Words, punctuation and messages of hints. */
#include "decode/rules/hints_internal.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_name_character(char c)
{
	return is_letter(c) || (c >= '0' && c <= '9');
}

struct hi_text_position hi_hints_position(const struct hi_hints *hints, const char *at)
{
	struct hi_text_position place = {1, 1};

	for (const char *p = hints->text; p < at && p < hints->text + hints->size; p++) {
		place.column++;
		if (*p == '\n') {
			place.line++;
			place.column = 1;
		}
	}
	return place;
}

static bool fail_at_place(struct hi_hints_parser *p, const char *at, const char *what,
			  const char *found)
{
	struct hi_text_position place = hi_hints_position(p->hints, at);
	char file[64];

	if (p->failed)
		return false;
	p->failed = true;
	hi_text_escape(file, sizeof(file), p->hints->file, strlen(p->hints->file));
	p->status = hi_fail(p->err, HI_BAD_DATA, 0, "%s:%u:%u: %s%s", file, place.line,
			    place.column, what, found);
	return false;
}

bool hi_hints_wrong(struct hi_hints_parser *p, const char *at, const char *what)
{
	return fail_at_place(p, at, what, "");
}

bool hi_hints_no_memory(struct hi_hints_parser *p)
{
	if (!p->failed)
		p->status = hi_fail_memory(p->err, "hints");
	p->failed = true;
	return false;
}

bool hi_hints_expected(struct hi_hints_parser *p, const char *what)
{
	char text[100], found[64], word[40];
	size_t n = 0;

	hi_hints_blanks(p);
	while (n < 24 && p->p + n < p->end && is_name_character(p->p[n]))
		n++;
	if (n == 0 && p->p < p->end)
		n = 1;
	hi_text_escape(word, sizeof(word), p->p, n);
	snprintf(text, sizeof(text), "expected %s", what);
	if (n)
		snprintf(found, sizeof(found), ", found '%s'", word);
	else
		snprintf(found, sizeof(found), ", found the end");
	return fail_at_place(p, p->p, text, found);
}

void hi_hints_blanks(struct hi_hints_parser *p)
{
	while (p->p < p->end &&
	       (*p->p == ' ' || *p->p == '\t' || *p->p == '\n' || *p->p == '\r'))
		p->p++;
}

bool hi_hints_at(struct hi_hints_parser *p, char c)
{
	hi_hints_blanks(p);
	return !p->failed && p->p < p->end && *p->p == c;
}

bool hi_hints_at_word(struct hi_hints_parser *p, const char *word)
{
	size_t n = strlen(word);

	hi_hints_blanks(p);
	return !p->failed && (size_t)(p->end - p->p) >= n && memcmp(p->p, word, n) == 0 &&
	       (p->p + n == p->end || !is_name_character(p->p[n]));
}

bool hi_hints_at_arrow(struct hi_hints_parser *p)
{
	hi_hints_blanks(p);
	return !p->failed && p->end - p->p >= 2 && p->p[0] == '-' && p->p[1] == '>';
}

bool hi_hints_take(struct hi_hints_parser *p, char c)
{
	if (!hi_hints_at(p, c))
		return false;
	p->p++;
	return true;
}

bool hi_hints_take_word(struct hi_hints_parser *p, const char *word)
{
	if (!hi_hints_at_word(p, word))
		return false;
	p->p += strlen(word);
	return true;
}

bool hi_hints_take_text(struct hi_hints_parser *p, const char *text)
{
	size_t n = strlen(text);

	hi_hints_blanks(p);
	if (p->failed || (size_t)(p->end - p->p) < n || memcmp(p->p, text, n) != 0)
		return false;
	p->p += n;
	return true;
}

bool hi_hints_need(struct hi_hints_parser *p, char c)
{
	const char what[] = {'\'', c, '\'', '\0'};

	return hi_hints_take(p, c) || hi_hints_expected(p, what);
}

bool hi_hints_need_word(struct hi_hints_parser *p, const char *word)
{
	char what[32];

	if (hi_hints_take_word(p, word))
		return true;
	snprintf(what, sizeof(what), "'%s'", word);
	return hi_hints_expected(p, what);
}

bool hi_hints_name(struct hi_hints_parser *p, const char *what, struct hi_text_piece *ret)
{
	const char *start;

	hi_hints_blanks(p);
	start = p->p;
	if (p->failed || p->p == p->end || !is_letter(*p->p))
		return hi_hints_expected(p, what);
	while (p->p < p->end && is_name_character(*p->p))
		p->p++;
	*ret = (struct hi_text_piece){start, (uint32_t)(p->p - start)};
	return true;
}

bool hi_hints_string(struct hi_hints_parser *p, struct hi_text_piece *ret)
{
	const char *start;

	if (!hi_hints_take(p, '"'))
		return hi_hints_expected(p, "a string in quotes");
	start = p->p;
	while (p->p < p->end && *p->p != '"' && *p->p != '\n')
		p->p++;
	if (p->p == p->end || *p->p == '\n')
		return hi_hints_wrong(p, start - 1,
				      "expected '\"' before the line's end");
	if (p->p == start)
		return hi_hints_wrong(p, start, "expected text between the quotes");
	*ret = (struct hi_text_piece){start, (uint32_t)(p->p - start)};
	p->p++;
	return true;
}

bool hi_hints_label(struct hi_hints_parser *p, const char *what,
		    struct hi_text_piece *ret)
{
	const char *start;

	if (hi_hints_at(p, '"'))
		return hi_hints_string(p, ret);
	start = p->p;
	while (!p->failed && p->p < p->end && !strchr(" \t\r\n;,{}\"", *p->p))
		p->p++;
	if (p->failed || p->p == start)
		return hi_hints_expected(p, what);
	*ret = (struct hi_text_piece){start, (uint32_t)(p->p - start)};
	return true;
}

bool hi_hints_is_operator_word(struct hi_text_piece word)
{
	static const char *const words[] = {"if",   "switch", "for",  "mask", "weak",
					    "each", "until",  "pool", "of",   "back",
					    "in",   "with",   "full", "ring", "down",
					    "only", "lead",   "as",   "part"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strlen(words[i]) == word.length &&
		    memcmp(words[i], word.at, word.length) == 0)
			return true;
	return false;
}

bool hi_hints_keep_(struct hi_hints_parser *p, const void *items, size_t count,
		    size_t size, void *ret, uint32_t *n_ret)
{
	void *copy = hi_arena_alloc(p->arena, count * size);

	if (!copy)
		return hi_hints_no_memory(p);
	if (count)
		memcpy(copy, items, count * size);
	*(void **)ret = copy;
	*n_ret = (uint32_t)count;
	return true;
}
