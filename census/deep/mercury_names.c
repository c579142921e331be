/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of functions and places of call sites, as Mercury has them. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "census/deep/mercury_format.h"

static const struct {
	const char *name, *shown;
} specials[] = {{"__Unify__", "Unify"},
		{"__Compare__", "Compare"},
		{"__CompareRep__", "CompareRep"},
		{"__Index__", "Index"}};
enum { SPECIALS = sizeof(specials) / sizeof(*specials) };

static bool append_shown(struct hi_mercury_text *to, const char *text)
{
	return hi_vector_append(to, text, strlen(text));
}

static bool append_number(struct hi_mercury_text *to, const char *before, uint32_t n)
{
	char text[16];

	snprintf(text, sizeof(text), "%" PRIu32, n);
	return append_shown(to, before) && append_shown(to, text);
}

static bool is_piece(struct hi_mercury_piece piece, const char *text)
{
	return piece.n == strlen(text) && memcmp(piece.at, text, piece.n) == 0;
}

static bool cut_prefix(struct hi_mercury_piece *piece, const char *text)
{
	size_t n = strlen(text);

	if (piece->n < n || memcmp(piece->at, text, n) != 0)
		return false;
	piece->at += n;
	piece->n -= n;
	return true;
}

/* Cuts it off. */
static bool cut_suffix(struct hi_mercury_piece *piece, const char *text)
{
	size_t n = strlen(text);

	if (piece->n < n || memcmp(piece->at + piece->n - n, text, n) != 0)
		return false;
	piece->n -= n;
	return true;
}

/* Cuts a number off the end, which would be printed in the same way. */
static bool cut_number(struct hi_mercury_piece *piece, uint32_t *ret)
{
	uint64_t value = 0, unit = 1;
	size_t n = 0;

	while (n < piece->n && n < 10) {
		unsigned digit = (unsigned char)piece->at[piece->n - n - 1] - '0';

		if (digit > 9)
			break;
		value += digit * unit;
		unit *= 10;
		n++;
	}
	if (!n || value > UINT32_MAX || (n > 1 && piece->at[piece->n - n] == '0'))
		return false;
	piece->n -= n;
	*ret = (uint32_t)value;
	return true;
}

/* ---- names of functions ---- */

static bool append_special(const struct hi_mercury_label *l, struct hi_mercury_text *ret)
{
	const char *shown = NULL;

	for (int i = 0; i < SPECIALS; i++)
		if (is_piece(l->name, specials[i].name))
			shown = specials[i].shown;
	return (shown ? append_shown(ret, shown)
		      : hi_vector_append(ret, l->name.at, l->name.n)) &&
	       append_shown(ret, " for ") &&
	       hi_vector_append(ret, l->type_module.at, l->type_module.n) &&
	       (!l->type_module.n || append_shown(ret, ".")) &&
	       hi_vector_append(ret, l->type.at, l->type.n) &&
	       append_number(ret, "/", l->arity) &&
	       (!l->mode || append_number(ret, " mode ", l->mode));
}

bool hi_mercury_name(const struct hi_mercury_label *label, struct hi_mercury_text *ret)
{
	bool is_function = label->kind == HI_MERCURY_FUNCTION;

	if (label->kind == HI_MERCURY_SPECIAL)
		return append_special(label, ret);
	if (!hi_vector_append(ret, label->name.at, label->name.n))
		return false;
	if (!is_function && !label->arity && !label->mode)
		return true;
	return append_number(ret, "/", label->arity) &&
	       append_number(ret, is_function ? "+1-" : "-", label->mode);
}

static void split_type(struct hi_mercury_piece whole, struct hi_mercury_label *ret)
{
	const char *dot = memrchr(whole.at, '.', whole.n);

	ret->type = whole;
	if (!dot || dot == whole.at)
		return;
	ret->type_module = (struct hi_mercury_piece){whole.at, (size_t)(dot - whole.at)};
	ret->type.at = dot + 1;
	ret->type.n = whole.n - ret->type_module.n - 1;
}

static bool parse_special(const char *name, struct hi_mercury_label *ret)
{
	struct hi_mercury_piece rest = {name, strlen(name)}, whole;
	struct hi_mercury_label l = {.kind = HI_MERCURY_SPECIAL};
	const char *raw = NULL;

	for (int i = 0; !raw && i < SPECIALS; i++) {
		struct hi_mercury_piece p = rest;

		if (cut_prefix(&p, specials[i].shown) && cut_prefix(&p, " for ")) {
			raw = specials[i].name;
			rest = p;
		}
	}
	if (!raw)
		return false;
	whole = rest;
	if (!cut_number(&rest, &l.mode) || !l.mode || !cut_suffix(&rest, " mode ")) {
		l.mode = 0;
		rest = whole;
	}
	if (!cut_number(&rest, &l.arity) || !cut_suffix(&rest, "/"))
		return false;
	l.name = (struct hi_mercury_piece){raw, strlen(raw)};
	split_type(rest, &l);
	*ret = l;
	return true;
}

struct hi_mercury_label hi_mercury_label(const char *name)
{
	struct hi_mercury_piece whole = {name, strlen(name)}, rest = whole;
	struct hi_mercury_label l = {};

	if (parse_special(name, &l))
		return l;
	l = (struct hi_mercury_label){.name = whole};
	if (!cut_number(&rest, &l.mode) || !cut_suffix(&rest, "-"))
		return (struct hi_mercury_label){.name = whole};
	if (cut_suffix(&rest, "+1"))
		l.kind = HI_MERCURY_FUNCTION;
	if (!cut_number(&rest, &l.arity) || !cut_suffix(&rest, "/") || !rest.n ||
	    (l.kind == HI_MERCURY_PREDICATE && !l.arity && !l.mode))
		return (struct hi_mercury_label){.name = whole};
	l.name = rest;
	return l;
}

/* ---- places ---- */

/* Parses n digits of the given base, without leading zeros, up to INT64_MAX. */
static bool parse_offset(const char *text, size_t n, unsigned base, uint64_t *ret)
{
	uint64_t value = 0;

	if (!n || (n > 1 && *text == '0'))
		return false;
	for (size_t i = 0; i < n; i++) {
		unsigned digit = (unsigned char)text[i] - '0';

		if (base == 16 && text[i] >= 'a' && text[i] <= 'f')
			digit = (unsigned)(text[i] - 'a') + 10;
		if (digit >= base || value > INT64_MAX / base)
			return false;
		value = value * base + digit;
	}
	*ret = value;
	return value <= INT64_MAX;
}

bool hi_mercury_place(struct hi_mercury_piece goal_path, struct hi_mercury_text *ret)
{
	struct hi_mercury_piece p = goal_path;
	uint64_t offset;
	char text[32];

	if (!cut_prefix(&p, "c0;c") || !cut_suffix(&p, ";") ||
	    !parse_offset(p.at, p.n, 10, &offset))
		return hi_vector_append(ret, goal_path.at, goal_path.n);
	snprintf(text, sizeof(text), "+0x%" PRIx64, offset);
	return append_shown(ret, text);
}

static bool is_decimal(const char *text, size_t n)
{
	uint64_t unused;

	return parse_offset(text, n, 10, &unused);
}

/* A step of a goal path, without its semicolon. */
static bool is_step(const char *text, size_t n)
{
	const char *dash;

	if (n == 1)
		return strchr("?te~qr=a", *text) != NULL;
	if (strchr("cdo", *text))
		return is_decimal(text + 1, n - 1);
	if (*text == 'q')
		return n == 2 && text[1] == '!';
	dash = *text == 's' ? memchr(text, '-', n) : NULL;
	if (!dash || !is_decimal(text + 1, (size_t)(dash - text) - 1))
		return false;
	n -= (size_t)(dash + 1 - text);
	return (n == 2 && memcmp(dash + 1, "na", 2) == 0) || is_decimal(dash + 1, n);
}

static bool is_goal_path(const char *text)
{
	while (*text) {
		const char *end = strchr(text, ';');

		if (!end || end == text || !is_step(text, (size_t)(end - text)))
			return false;
		text = end + 1;
	}
	return true;
}

bool hi_mercury_goal_path(const char *place, struct hi_mercury_text *ret)
{
	uint64_t offset;
	char text[40];

	if (strncmp(place, "+0x", 3) == 0 &&
	    parse_offset(place + 3, strlen(place + 3), 16, &offset)) {
		snprintf(text, sizeof(text), "c0;c%" PRIu64 ";", offset);
		return append_shown(ret, text);
	}
	return !is_goal_path(place) || append_shown(ret, place);
}
