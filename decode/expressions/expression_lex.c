/* SPDX-License-Identifier: BSD-2-Clause */
/* Tokens of C expressions. The text need not end in NUL. */
#include "decode/expressions/expression_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

bool hi_expr_fail(struct hi_parser *p, size_t column, const char *fmt, ...)
{
	char text[sizeof(p->err->text)];
	va_list ap;

	if (p->status != HI_OK)
		return false;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	p->error_column = column;
	p->status = hi_fail(p->err, HI_BAD_DATA, 0, "%s", text);
	return false;
}

bool hi_expr_fail_memory(struct hi_parser *p)
{
	if (p->status == HI_OK)
		p->status = hi_fail_memory(p->err, "expression");
	return false;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
	       is_digit(c);
}

static char char_at(const struct hi_parser *p, size_t i)
{
	return i < p->length ? p->text[i] : '\0';
}

static size_t skip_space(const struct hi_parser *p, size_t i)
{
	while (char_at(p, i) == ' ' || char_at(p, i) == '\t' || char_at(p, i) == '\n' ||
	       char_at(p, i) == '\r')
		i++;
	return i;
}

static int digit_value(char c)
{
	if (is_digit(c))
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

/* Suffixes u and l; the smallest type of C that holds the number. */
static bool number_type(struct hi_parser *p, struct hi_token *t, bool decimal)
{
	size_t end = t->column + t->length;
	unsigned u = 0, l = 0;

	for (; is_name(char_at(p, end)); end++) {
		char c = char_at(p, end) | 0x20;

		u += c == 'u';
		l += c == 'l';
		if ((c != 'u' && c != 'l') || u > 1 || l > 2)
			return hi_expr_fail(p, end, "no digit or suffix of a number");
	}
	if (char_at(p, end) == '.')
		return hi_expr_fail(p, t->column, "floating-point numbers are unknown");
	t->length = end - t->column;
	t->size = l || t->number > (u || !decimal ? UINT32_MAX : INT32_MAX) ? 8 : 4;
	t->is_signed =
		!u && t->number <= (uint64_t)(t->size == 4 ? INT32_MAX : INT64_MAX);
	return true;
}

static bool lex_number(struct hi_parser *p, struct hi_token *t)
{
	size_t i = t->column;
	unsigned base = 10, digits = 0;

	t->kind = HI_TOKEN_NUMBER;
	if (char_at(p, i) == '0') {
		char c = char_at(p, i + 1) | 0x20;

		base = c == 'x' ? 16 : c == 'b' ? 2 : 8;
		if (base != 8)
			i += 2;
	}
	for (; digit_value(char_at(p, i)) < (base == 16 ? 16 : 10); i++, digits++) {
		unsigned digit = (unsigned)digit_value(char_at(p, i));

		if (digit >= base)
			return hi_expr_fail(p, i, "no digit of a number to the base %u",
					    base);
		if (__builtin_mul_overflow(t->number, base, &t->number) ||
		    __builtin_add_overflow(t->number, digit, &t->number))
			return hi_expr_fail(p, t->column,
					    "the number needs more than 64 bits");
	}
	if (digits == 0)
		return hi_expr_fail(p, i, "a digit is missing");
	t->length = i - t->column;
	return number_type(p, t, base == 10);
}

/* The byte behind a backslash at *i; moves *i behind it. */
static bool lex_escape(struct hi_parser *p, size_t *i, unsigned *ret)
{
	static const char names[] = "abfnrtv\\'\"?", bytes[] = "\a\b\f\n\r\t\v\\'\"?";
	const char *name;
	unsigned n = 0, digits = 0;

	if (char_at(p, *i) == 'x') {
		for (++*i; digit_value(char_at(p, *i)) < 16; ++*i, digits++)
			n = (n << 4 | (unsigned)digit_value(char_at(p, *i))) & 0xfff;
		*ret = n;
		return (digits > 0 && n < 256) ||
		       hi_expr_fail(p, *i, "\\x needs one or two hex digits");
	}
	for (; digits < 3 && char_at(p, *i) >= '0' && char_at(p, *i) <= '7';
	     ++*i, digits++)
		n = n * 8 + (unsigned)digit_value(char_at(p, *i));
	*ret = n;
	if (digits > 0)
		return n < 256 || hi_expr_fail(p, *i, "no byte: \\%o", n);
	name = char_at(p, *i) ? strchr(names, char_at(p, *i)) : NULL;
	if (!name)
		return hi_expr_fail(p, *i, "not an escape sequence of C");
	*ret = (unsigned char)bytes[name - names];
	++*i;
	return true;
}

static bool lex_character(struct hi_parser *p, struct hi_token *t)
{
	size_t i = t->column + 1;
	unsigned byte = (unsigned char)char_at(p, i);

	if (i >= p->length || byte == '\'' || byte < ' ')
		return hi_expr_fail(p, i, "a character is missing behind '");
	i++;
	if (byte == '\\' && !lex_escape(p, &i, &byte))
		return false;
	if (char_at(p, i) != '\'')
		return hi_expr_fail(p, i, "expected ' behind one character");
	*t = (struct hi_token){.kind = HI_TOKEN_NUMBER,
			       .column = t->column,
			       .length = i + 1 - t->column,
			       .number = (uint64_t)(int64_t)(int8_t)byte,
			       .size = 4,
			       .is_signed = true};
	return true;
}

static bool lex_mark(struct hi_parser *p, struct hi_token *t)
{
	static const char pairs[] = "-><<>><=>===!=&&||::++--+=-=*=/=%=&=|=^=";
	char a = char_at(p, t->column), b = char_at(p, t->column + 1);
	char shown[8];

	t->kind = HI_TOKEN_MARK;
	t->length = 2;
	t->mark = HI_MARK(a, b);
	for (size_t i = 0; i + 1 < sizeof(pairs); i += 2)
		if (a == pairs[i] && b == pairs[i + 1])
			return true;
	t->length = 1;
	t->mark = HI_MARK(a, 0);
	if (a && strchr("()[]{}.,;*&-+~!/%<>^|?:=$", a))
		return true;
	hi_text_escape(shown, sizeof(shown), &a, 1);
	return hi_expr_fail(p, t->column, "unexpected character '%s'", shown);
}

bool hi_expr_seek(struct hi_parser *p, size_t from)
{
	struct hi_token t = {.column = skip_space(p, from)};
	char c = char_at(p, t.column);

	if (t.column >= p->length) {
		p->token = t;
		return true;
	}
	if (is_digit(c)) {
		if (!lex_number(p, &t))
			return false;
	} else if (is_name(c)) {
		t.kind = HI_TOKEN_NAME;
		while (is_name(char_at(p, t.column + t.length)))
			t.length++;
	} else if (c == '\'' ? !lex_character(p, &t) : !lex_mark(p, &t)) {
		return false;
	}
	p->token = t;
	return true;
}

bool hi_expr_next(struct hi_parser *p)
{
	return hi_expr_seek(p, p->token.column + p->token.length);
}

bool hi_expr_unexpected(struct hi_parser *p, const char *expected)
{
	const struct hi_token *t = &p->token;
	char shown[40];

	if (t->kind == HI_TOKEN_END)
		return hi_expr_fail(p, t->column,
				    "expected %s, found the end of the expression",
				    expected);
	if (t->kind == HI_TOKEN_MARK &&
	    (t->mark == HI_MARK('=', 0) ||
	     (t->length == 2 && p->text[t->column + 1] == '=' &&
	      !memchr("<>=!", p->text[t->column], 4))))
		return hi_expr_fail(p, t->column,
				    "assignment is not possible; '==' compares");
	hi_text_escape(shown, sizeof(shown), p->text + t->column, t->length);
	return hi_expr_fail(p, t->column, "expected %s, found '%s'", expected, shown);
}

bool hi_expr_expect(struct hi_parser *p, uint32_t mark, const char *spelling)
{
	if (!hi_expr_is(p, mark))
		return hi_expr_unexpected(p, spelling);
	return hi_expr_next(p);
}

bool hi_expr_is_word(const struct hi_parser *p, const char *word)
{
	size_t n = strlen(word);

	return p->token.kind == HI_TOKEN_NAME && p->token.length == n &&
	       memcmp(p->text + p->token.column, word, n) == 0;
}

static char closing_bracket(char c)
{
	switch (c) {
	case '<':
		return '>';
	case '(':
		return ')';
	case '[':
		return ']';
	case '{':
		return '}';
	default:
		return '\0';
	}
}

/* Behind the bracket that closes the one at i; 0: there is none. */
static size_t skip_brackets(const struct hi_parser *p, size_t i)
{
	char open[HI_EXPR_DEPTH_MAX];
	unsigned depth = 0;

	for (; i < p->length; i++) {
		char c = p->text[i];

		if (closing_bracket(c)) {
			if (depth == HI_EXPR_DEPTH_MAX)
				return 0;
			open[depth++] = closing_bracket(c);
		} else if (c == '>' || c == ')' || c == ']' || c == '}') {
			if (depth == 0 || c != open[depth - 1])
				return 0;
			if (--depth == 0)
				return i + 1;
		}
	}
	return 0;
}

size_t hi_expr_name_end(const struct hi_parser *p, size_t from, bool with_args)
{
	static const char anonymous[] = "(anonymous namespace)";
	size_t i = from, end, n = sizeof(anonymous) - 1;

	for (;;) {
		size_t start = i;

		if (with_args && p->length - i >= n &&
		    memcmp(p->text + i, anonymous, n) == 0)
			i += n;
		if (with_args && char_at(p, i) == '{')
			i = skip_brackets(p, i) ? skip_brackets(p, i) : i;
		if (i == start && !is_digit(char_at(p, i)))
			while (is_name(char_at(p, i)))
				i++;
		if (i == start)
			return start;
		if (with_args && char_at(p, i) == '<') {
			end = skip_brackets(p, i);
			i = end ? end : i;
		}
		if (char_at(p, i) != ':' || char_at(p, i + 1) != ':')
			return i;
		i += 2;
	}
}

char *hi_expr_copy(struct hi_parser *p, size_t from, size_t end)
{
	char *copy = hi_arena_alloc(&p->scratch, end - from + 1);

	if (!copy) {
		hi_expr_fail_memory(p);
		return NULL;
	}
	return memcpy(copy, p->text + from, end - from);
}
