/* SPDX-License-Identifier: BSD-2-Clause */
/* C types as expressions see them, and names of types in casts and sizeof. */
#include "decode/expressions/expression_internal.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

/* ---- C's own types ---- */

enum builtin {
	B_NONE,
	B_VOID,
	B_BOOL,
	B_CHAR,
	B_SCHAR,
	B_UCHAR,
	B_SHORT,
	B_USHORT,
	B_INT,
	B_UINT,
	B_LONG,
	B_ULONG,
	B_LLONG,
	B_ULLONG,
	B_FLOAT,
	B_DOUBLE,
	B_COUNT,
};

/* The names that gcc and clang write into debug information. */
static const struct {
	const char *names[2];
	uint8_t size;
	bool is_signed;
} builtins[B_COUNT] = {
	[B_VOID] = {{"void", NULL}, 0, false},
	[B_BOOL] = {{"_Bool", "bool"}, 1, false},
	[B_CHAR] = {{"char", NULL}, 1, true},
	[B_SCHAR] = {{"signed char", NULL}, 1, true},
	[B_UCHAR] = {{"unsigned char", NULL}, 1, false},
	[B_SHORT] = {{"short int", "short"}, 2, true},
	[B_USHORT] = {{"short unsigned int", "unsigned short"}, 2, false},
	[B_INT] = {{"int", NULL}, 4, true},
	[B_UINT] = {{"unsigned int", NULL}, 4, false},
	[B_LONG] = {{"long int", "long"}, 8, true},
	[B_ULONG] = {{"long unsigned int", "unsigned long"}, 8, false},
	[B_LLONG] = {{"long long int", "long long"}, 8, true},
	[B_ULLONG] = {{"long long unsigned int", "unsigned long long"}, 8, false},
	[B_FLOAT] = {{"float", NULL}, 4, false},
	[B_DOUBLE] = {{"double", NULL}, 8, false},
};

/* Typedefs that every C programmer expects, where the target has none. */
static const struct {
	const char *name;
	enum builtin type;
} typedefs[] = {
	{"int8_t", B_SCHAR},	{"uint8_t", B_UCHAR},  {"int16_t", B_SHORT},
	{"uint16_t", B_USHORT}, {"int32_t", B_INT},    {"uint32_t", B_UINT},
	{"int64_t", B_LONG},	{"uint64_t", B_ULONG}, {"intptr_t", B_LONG},
	{"uintptr_t", B_ULONG}, {"size_t", B_ULONG},   {"ssize_t", B_LONG},
	{"ptrdiff_t", B_LONG},
};

static struct hi_ctype builtin_type(enum builtin b)
{
	struct hi_ctype type = hi_ctype_integer(builtins[b].size, builtins[b].is_signed);

	type.builtin = (uint8_t)b;
	type.is_bool = b == B_BOOL;
	if (b == B_VOID)
		type.kind = HI_KIND_VOID;
	if (b == B_FLOAT || b == B_DOUBLE)
		type.kind = HI_KIND_FLOAT;
	return type;
}

/* ---- types ---- */

struct hi_ctype hi_ctype_integer(unsigned size, bool is_signed)
{
	return (struct hi_ctype){
		.kind = HI_KIND_INTEGER, .size = (uint8_t)size, .is_signed = is_signed};
}

struct hi_ctype hi_ctype_of(struct hi_parser *p, hi_type_id id)
{
	const struct hi_type *type = p->scope->source->type(p->scope->source->arg, id);
	struct hi_ctype ret = {.kind = type->kind, .type = type};

	switch (type->kind) {
	case HI_KIND_INTEGER:
	case HI_KIND_CHAR:
	case HI_KIND_ADDRESS:
		ret.kind = HI_KIND_INTEGER;
		if (type->size > 8 || type->size == 0)
			ret.kind = HI_KIND_UNKNOWN; /* __int128, and nonsense */
		ret.size = (uint8_t)type->size;
		ret.is_signed = type->is_signed;
		ret.is_bool = type->size == 1 && (strcmp(type->name, "_Bool") == 0 ||
						  strcmp(type->name, "bool") == 0);
		break;
	case HI_KIND_POINTER:
		if (type->size > 8 || type->size == 0)
			ret.kind = HI_KIND_UNKNOWN;
		break;
	case HI_KIND_UNKNOWN:
	case HI_KIND_VOID:
	case HI_KIND_FLOAT:
	case HI_KIND_FUNCTION:
	case HI_KIND_STRUCT:
	case HI_KIND_UNION:
	case HI_KIND_ARRAY:
	case HI_KIND_DECLARATION:
		break;
	}
	return ret;
}

struct hi_ctype hi_ctype_pointer_to(struct hi_parser *p, struct hi_ctype to)
{
	static const struct hi_ctype unknown;
	struct hi_ctype *copy = hi_arena_alloc(&p->scratch, sizeof(*copy));

	if (!copy)
		p->no_memory = true;
	else
		*copy = to;
	return (struct hi_ctype){.kind = HI_KIND_POINTER, .to = copy ? copy : &unknown};
}

struct hi_ctype hi_ctype_target(struct hi_parser *p, const struct hi_ctype *type)
{
	return type->to ? *type->to : hi_ctype_of(p, type->type ? type->type->target : 0);
}

bool hi_ctype_is_reference(const struct hi_ctype *type)
{
	size_t n = type->kind == HI_KIND_POINTER && type->type ? strlen(type->type->name)
							       : 0;

	return n > 0 && type->type->name[n - 1] == '&';
}

uint64_t hi_ctype_size(const struct hi_ctype *type)
{
	if (type->kind == HI_KIND_INTEGER)
		return type->size;
	if (type->type)
		return type->type->size;
	if (type->kind == HI_KIND_POINTER)
		return 8;
	return builtins[type->builtin].size;
}

static hi_type_id builtin_id(struct hi_parser *p, unsigned builtin)
{
	const struct hi_expression_source *source = p->scope->source;
	hi_type_id id = 0;

	for (unsigned i = 0; i < 2 && !id && source->type_named; i++)
		if (builtins[builtin].names[i])
			id = source->type_named(source->arg, builtins[builtin].names[i]);
	return id;
}

hi_type_id hi_ctype_id(struct hi_parser *p, const struct hi_ctype *type)
{
	const struct hi_expression_source *source = p->scope->source;
	const struct hi_ctype *t = type;
	unsigned stars = 0;
	hi_type_id id;

	for (; !t->type && t->kind == HI_KIND_POINTER && t->to; t = t->to)
		stars++;
	id = t->type ? t->type->id : builtin_id(p, t->builtin);
	while (id && stars-- > 0)
		id = source->pointer_to ? source->pointer_to(source->arg, id) : 0;
	return id;
}

const char *hi_ctype_name(struct hi_parser *p, const struct hi_ctype *type,
			  char out[HI_CTYPE_NAME])
{
	const struct hi_ctype *t = type;
	unsigned stars = 0;
	const char *name;
	size_t n;

	(void)p;
	for (; !t->type && t->kind == HI_KIND_POINTER && t->to; t = t->to)
		stars++;
	if (t->type)
		name = t->type->name[0] ? t->type->name : "a type without name";
	else if (t->builtin)
		name = builtins[t->builtin].names[t->builtin > B_SHORT &&
						  builtins[t->builtin].names[1]];
	else if (t->kind == HI_KIND_INTEGER)
		name = t->size == 8 ? t->is_signed ? "long" : "unsigned long"
				    : (t->is_signed ? "int" : "unsigned int");
	else
		name = t->kind == HI_KIND_FUNCTION ? "function" : "unknown type";
	n = hi_text_escape(out, HI_CTYPE_NAME - 6, name, strlen(name));
	snprintf(out + n, HI_CTYPE_NAME - n, "%s%.*s", stars ? " " : "",
		 stars < 4 ? (int)stars : 4, "****");
	return out;
}

/* ---- names of types ---- */

/* What stands between "(" and ")". */
struct type_name {
	size_t start, end; /* of the name, keyword included; no qualifiers */
	bool keyword;	   /* struct, class, union, enum */
	bool qualified;	   /* const, volatile: it can be nothing but a type */
	bool nested;	   /* with template arguments */
	enum builtin builtin;
	unsigned stars;
};

static bool is_qualifier(const struct hi_parser *p)
{
	return hi_expr_is_word(p, "const") || hi_expr_is_word(p, "volatile") ||
	       hi_expr_is_word(p, "restrict");
}

static bool skip_qualifiers(struct hi_parser *p, struct type_name *t)
{
	while (is_qualifier(p)) {
		t->qualified = true;
		if (!hi_expr_next(p))
			return false;
	}
	return true;
}

/* "unsigned long int" in any order. */
struct words {
	unsigned longs, shorts, chars, ints, is_unsigned, is_signed, others;
	enum builtin other;
};

static bool take_type_keyword(const struct hi_parser *p, struct words *w)
{
	static const struct {
		const char *word;
		enum builtin type;
	} others[] = {{"void", B_VOID},
		      {"_Bool", B_BOOL},
		      {"bool", B_BOOL},
		      {"float", B_FLOAT},
		      {"double", B_DOUBLE}};

	if (hi_expr_is_word(p, "long"))
		return ++w->longs;
	if (hi_expr_is_word(p, "short"))
		return ++w->shorts;
	if (hi_expr_is_word(p, "char"))
		return ++w->chars;
	if (hi_expr_is_word(p, "int"))
		return ++w->ints;
	if (hi_expr_is_word(p, "unsigned"))
		return ++w->is_unsigned;
	if (hi_expr_is_word(p, "signed"))
		return ++w->is_signed;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (hi_expr_is_word(p, others[i].word)) {
			w->other = others[i].type;
			return ++w->others;
		}
	return false;
}

static enum builtin type_of_words(const struct words *w)
{
	unsigned sizes = w->longs + w->shorts + w->chars;
	unsigned signs = w->is_unsigned + w->is_signed;

	if (w->others)
		return w->others == 1 && !sizes && !signs && !w->ints ? w->other : B_NONE;
	if (w->ints > 1 || signs > 1 || (w->chars && (sizes > 1 || w->ints)) ||
	    w->longs > 2 || w->shorts > 1 || (w->longs && w->shorts))
		return B_NONE;
	if (w->chars)
		return w->is_unsigned ? B_UCHAR : w->is_signed ? B_SCHAR : B_CHAR;
	if (w->shorts)
		return w->is_unsigned ? B_USHORT : B_SHORT;
	if (w->longs)
		return (w->longs == 2 ? B_LLONG : B_LONG) + w->is_unsigned;
	return w->is_unsigned ? B_UINT : B_INT;
}

static bool scan_type_keywords(struct hi_parser *p, struct type_name *t, bool *found_ret)
{
	struct words words = {};

	*found_ret = false;
	t->start = p->token.column;
	while (take_type_keyword(p, &words) || is_qualifier(p)) {
		*found_ret = true;
		t->end = p->token.column + p->token.length;
		if (!hi_expr_next(p))
			return false;
	}
	if (!*found_ret)
		return true;
	t->builtin = type_of_words(&words);
	return t->builtin != B_NONE ||
	       hi_expr_fail(p, t->start, "not a C type: '%.*s'", (int)(t->end - t->start),
			    p->text + t->start);
}

static bool scan_name(struct hi_parser *p, struct type_name *t)
{
	static const char *const keywords[] = {"struct", "class", "union", "enum",
					       "typename"};

	t->start = p->token.column;
	for (size_t i = 0; i < sizeof(keywords) / sizeof(keywords[0]); i++)
		if (hi_expr_is_word(p, keywords[i])) {
			t->keyword = true;
			if (!hi_expr_next(p))
				return false;
			if (i == 4)
				t->start = p->token.column;
			break;
		}
	t->end = hi_expr_name_end(p, p->token.column, true);
	if (t->end == p->token.column) {
		t->end = t->start; /* no name */
		return true;
	}
	t->nested = memchr(p->text + p->token.column, '<', t->end - p->token.column);
	return hi_expr_seek(p, t->end);
}

static bool scan_stars(struct hi_parser *p, struct type_name *t)
{
	for (;;) {
		if (!skip_qualifiers(p, t))
			return false;
		if (!hi_expr_is(p, HI_MARK('*', 0)))
			return true;
		t->stars++;
		if (!hi_expr_next(p))
			return false;
	}
}

/* *found_ret: it has the shape of a type and ends in ")". */
static bool scan_type(struct hi_parser *p, struct type_name *t, bool *found_ret)
{
	bool words = false;

	*found_ret = false;
	if (!skip_qualifiers(p, t) || !scan_type_keywords(p, t, &words))
		return false;
	if (!words && !scan_name(p, t))
		return false;
	if (t->end == t->start)
		return !t->keyword || hi_expr_unexpected(p, "the name of a type");
	if (!scan_stars(p, t))
		return false;
	*found_ret = hi_expr_is(p, HI_MARK(')', 0));
	if (!*found_ret && (t->keyword || t->qualified || t->builtin != B_NONE))
		return hi_expr_unexpected(p, "')' behind a type");
	return true;
}

/* A plain name in parentheses may be a variable or a member. */
static bool is_value(struct hi_parser *p, const char *name, size_t length)
{
	const struct hi_scope *scope = p->scope;
	struct hi_found_member found;

	if (strcmp(name, "this") == 0 ||
	    ((scope->allowed & HI_ALLOW_INDEX) && strcmp(name, "i") == 0))
		return true;
	if (scope->self &&
	    hi_expr_member(p, hi_ctype_of(p, scope->self).type, name, length, &found))
		return true;
	return scope->source->name &&
	       scope->source->name(scope->source->arg, name).kind != HI_NAME_NONE;
}

static bool find_typedef(const char *name, struct hi_ctype *ret)
{
	for (size_t i = 0; i < sizeof(typedefs) / sizeof(typedefs[0]); i++)
		if (strcmp(name, typedefs[i].name) == 0) {
			*ret = builtin_type(typedefs[i].type);
			return true;
		}
	return false;
}

static bool find_named_type(struct hi_parser *p, const struct type_name *t,
			    const char *name, struct hi_ctype *ret, bool *found_ret)
{
	const struct hi_expression_source *source = p->scope->source;
	bool sure = t->stars || t->keyword || t->qualified || t->nested;
	hi_type_id id;
	char shown[100];

	*found_ret = sure || !is_value(p, name, t->end - t->start);
	if (!*found_ret)
		return true;
	id = source->type_named ? source->type_named(source->arg, name) : 0;
	if (id)
		*ret = hi_ctype_of(p, id);
	else if (!find_typedef(name, ret))
		*found_ret = false;
	if (*found_ret || !sure)
		return true;
	hi_text_escape(shown, sizeof(shown), name, t->end - t->start);
	return hi_expr_fail(p, t->start, "no type has the name '%s'", shown);
}

bool hi_expr_type(struct hi_parser *p, size_t at, struct hi_ctype *ret, bool *found_ret)
{
	struct hi_token before = p->token;
	struct type_name t = {};
	char *name;

	*found_ret = false;
	if (!hi_expr_seek(p, at) || !scan_type(p, &t, found_ret))
		return false;
	if (*found_ret && t.builtin != B_NONE) {
		*ret = builtin_type(t.builtin);
	} else if (*found_ret) {
		name = hi_expr_copy(p, t.start, t.end);
		if (!name || !find_named_type(p, &t, name, ret, found_ret))
			return false;
	}
	if (!*found_ret) {
		p->token = before;
		return true;
	}
	while (t.stars-- > 0)
		*ret = hi_ctype_pointer_to(p, *ret);
	return hi_expr_next(p);
}
