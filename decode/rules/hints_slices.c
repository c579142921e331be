/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where an expression and a type's name end. Outside of brackets operands and
 * operators of C alternate: a word where an operator has to be is the next word of
 * the statement. Inside of brackets only brackets and quotes matter here.
 */
#include "decode/rules/hints_internal.h"

#include <ctype.h>
#include <string.h>

enum state {
	OPERAND,  /* one has to come */
	OPERATOR, /* … or the end */
	EITHER,	  /* behind `(…)`: a cast, or an expression */
};

struct slice {
	struct hi_hints_parser *p;
	char open[HINTS_DEPTH_MAX];
	const char *where[HINTS_DEPTH_MAX]; /* of the bracket */
	unsigned depth, ternaries;
	enum state state;
	bool called; /* the bracket follows a name: a call, sizeof */
	bool done;
};

static bool word_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static bool open_bracket(struct slice *s)
{
	if (s->depth == HINTS_DEPTH_MAX)
		return hi_hints_wrong(s->p, s->p->p, "brackets are nested too deeply");
	s->where[s->depth] = s->p->p;
	s->open[s->depth++] = *s->p->p++;
	return true;
}

static char closing_bracket_of(char open)
{
	return open == '(' ? ')' : open == '[' ? ']' : open == '<' ? '>' : '}';
}

static bool close_bracket(struct slice *s)
{
	const char want[] = {'\'', closing_bracket_of(s->open[s->depth - 1]), '\'', '\0'};

	if (*s->p->p != want[1])
		return hi_hints_expected(s->p, want);
	s->depth--;
	s->p->p++;
	return true;
}

static bool fail_unclosed(struct slice *s)
{
	const char want[] = {'\'', closing_bracket_of(s->open[s->depth - 1]), '\'', '\0'};

	return hi_hints_expected(s->p, want);
}

/* 'c', '\n', "…": to behind the closing quote. */
static bool skip_quoted(struct hi_hints_parser *p)
{
	const char *start = p->p;
	char quote = *p->p++;

	while (p->p < p->end && *p->p != quote && *p->p != '\n')
		p->p += *p->p == '\\' && p->end - p->p > 1 && p->p[1] != '\n' ? 2 : 1;
	if (p->p >= p->end || *p->p != quote) {
		p->p = start;
		return hi_hints_wrong(p, start,
				      "expected a closing quote before the line's end");
	}
	p->p++;
	return true;
}

static bool is_inside_brackets(struct slice *s)
{
	char c = *s->p->p;

	if (c == '(' || c == '[')
		return open_bracket(s);
	if (c == ')' || c == ']') {
		if (!close_bracket(s))
			return false;
		if (s->depth == 0)
			s->state = s->called ? OPERATOR : EITHER;
		return true;
	}
	if (c == ';' || c == '{' || c == '}')
		return fail_unclosed(s);
	if (c == '\'' || c == '"')
		return skip_quoted(s->p);
	s->p->p++;
	return true;
}

static struct hi_text_piece take_slice_word(struct hi_hints_parser *p)
{
	const char *start = p->p;

	while (p->p < p->end &&
	       (word_char(*p->p) || (p->end - p->p > 2 && p->p[0] == ':' &&
				     p->p[1] == ':' && word_char(p->p[2]) && p->p++)))
		p->p++;
	return (struct hi_text_piece){start, (uint32_t)(p->p - start)};
}

static bool skip_operand(struct slice *s)
{
	struct hi_hints_parser *p = s->p;
	struct hi_text_piece word;
	char c = *p->p;

	if (c == '(') {
		s->called = false;
		return open_bracket(s);
	}
	if (c == '\'') {
		s->state = OPERATOR;
		return skip_quoted(p);
	}
	if (word_char(c) || c == '$') {
		p->p += c == '$';
		word = take_slice_word(p);
		if (word.length != 6 || memcmp(word.at, "sizeof", 6) != 0)
			s->state = OPERATOR;
		else
			s->state = hi_hints_at(p, '(') ? OPERATOR : OPERAND;
		return true;
	}
	if (!strchr("*&-+~!", c))
		return hi_hints_expected(p, "an expression");
	p->p++;
	return true;
}

/* Bytes of the operator here; 0: there is none. */
static unsigned operator_length(const struct slice *s)
{
	static const char *const two[] = {"<<", ">>", "<=", ">=", "==", "!=", "&&", "||"};
	const char *p = s->p->p;

	for (size_t i = 0; s->p->end - p >= 2 && i < sizeof(two) / sizeof(two[0]); i++)
		if (memcmp(p, two[i], 2) == 0)
			return 2;
	return *p && strchr("*/%+-<>&^|", *p) ? 1 : 0;
}

static bool operator_or_end(struct slice *s, bool after_blank)
{
	struct hi_hints_parser *p = s->p;
	bool arrow = p->end - p->p >= 2 && p->p[0] == '-' && p->p[1] == '>';
	bool dots = p->end - p->p >= 2 && p->p[0] == '.' && p->p[1] == '.';
	bool name_before = word_char(p->p[-1]);

	if (arrow && after_blank) {
		s->done = true;
	} else if (arrow || (*p->p == '.' && !dots)) {
		p->p += arrow ? 2 : 1;
		hi_hints_blanks(p);
		if (p->p == p->end || !word_char(*p->p))
			return hi_hints_expected(p, "a member's name");
		take_slice_word(p);
		s->state = OPERATOR;
	} else if (*p->p == '[' || (*p->p == '(' && name_before)) {
		s->called = true;
		return open_bracket(s);
	} else if (*p->p == '?' || (*p->p == ':' && s->ternaries)) {
		s->ternaries += *p->p == '?' ? 1 : -1;
		p->p++;
		s->state = OPERAND;
	} else if (operator_length(s)) {
		p->p += operator_length(s);
		s->state = OPERAND;
	} else {
		s->done = true;
	}
	return true;
}

/* Behind `(…)`: an operand makes it a cast, unless the word is the statement's. */
static bool is_cast(const struct slice *s)
{
	const char *p = s->p->p, *end = p;

	if (*p == '$' || *p == '\'' || *p == '(' || *p == '~' ||
	    (*p == '!' && s->p->end - p > 1 && p[1] != '='))
		return true;
	while (end < s->p->end && word_char(*end))
		end++;
	return end > p &&
	       !hi_hints_is_operator_word((struct hi_text_piece){p, (uint32_t)(end - p)});
}

static bool step_slice(struct slice *s, bool after_blank)
{
	if (s->depth)
		return is_inside_brackets(s);
	if (s->state == OPERAND || (s->state == EITHER && is_cast(s)))
		return skip_operand(s);
	return operator_or_end(s, after_blank);
}

static struct hi_text_piece trim_piece(const char *start, const char *end)
{
	while (end > start && isspace((unsigned char)end[-1]))
		end--;
	return (struct hi_text_piece){start, (uint32_t)(end - start)};
}

bool hi_hints_expression(struct hi_hints_parser *p, struct hi_text_piece *ret)
{
	struct slice s = {.p = p};
	const char *start;

	hi_hints_blanks(p);
	start = p->p;
	while (!p->failed && !s.done) {
		const char *before = p->p;

		hi_hints_blanks(p);
		if (p->p == p->end)
			break;
		if (!step_slice(&s, p->p > before))
			return false;
	}
	if (p->failed)
		return false;
	if (s.depth)
		return fail_unclosed(&s);
	if (s.state == OPERAND)
		return hi_hints_expected(p, "an expression");
	if (s.ternaries)
		return hi_hints_expected(p, "':' of '?'");
	*ret = trim_piece(start, p->p);
	return true;
}

/* ---- types ---- */

static bool type_ends(struct slice *s, const char *start)
{
	static const char *const words[] = {"only", "node"};
	const char *p = s->p->p, *end = p;
	struct hi_text_piece word;

	if (s->depth)
		return false;
	if (word_char(*p)) {
		if (p == start || word_char(p[-1]) || p[-1] == ':' || p[-1] == '$')
			return false;
		while (end < s->p->end && word_char(*end))
			end++;
		word = (struct hi_text_piece){p, (uint32_t)(end - p)};
		for (size_t i = 0; i < 2; i++)
			if (word.length == 4 && memcmp(p, words[i], 4) == 0)
				return true;
		return hi_hints_is_operator_word(word);
	}
	if (*p == ':')
		return s->p->end - p < 2 || (p[1] != ':' && (p == start || p[-1] != ':'));
	if (*p == '{')
		return p == start || p[-1] != ':';
	return !strchr("*&$<( \t\r\n", *p);
}

static bool type_step(struct slice *s)
{
	char c = *s->p->p;
	bool arrow = c == '>' && s->p->p[-1] == '-';

	if (c == '<' || c == '(' || c == '{' || (c == '[' && s->depth))
		return open_bracket(s);
	if (s->depth && !arrow && (c == '>' || c == ')' || c == '}' || c == ']'))
		return close_bracket(s);
	if (c == ';' && s->depth && s->open[s->depth - 1] != '[')
		return fail_unclosed(s);
	s->p->p++;
	return true;
}

bool hi_hints_type(struct hi_hints_parser *p, struct hi_text_piece *ret)
{
	struct slice s = {.p = p};
	const char *start;

	hi_hints_blanks(p);
	start = p->p;
	while (!p->failed && p->p < p->end && !type_ends(&s, start))
		if (!type_step(&s))
			return false;
	if (p->failed)
		return false;
	if (s.depth)
		return fail_unclosed(&s);
	*ret = trim_piece(start, p->p);
	return ret->length ? true : hi_hints_expected(p, "a type");
}
