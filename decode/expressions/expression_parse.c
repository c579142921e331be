/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The grammar, by recursive descent. It recurses over the text only, and no
 * deeper than HI_EXPR_DEPTH_MAX.
 */
#include "decode/expressions/expression_internal.h"

#include <string.h>

#include "base/text.h"

/* NOLINTBEGIN(misc-no-recursion) */

static bool parse_unary(struct hi_parser *p, struct hi_value *v);

static bool enter_nesting(struct hi_parser *p)
{
	if (p->depth == HI_EXPR_DEPTH_MAX)
		return hi_expr_fail(p, p->token.column, "nested deeper than %d",
				    HI_EXPR_DEPTH_MAX);
	p->depth++;
	return true;
}

static bool is_mark(const struct hi_parser *p, char mark)
{
	return hi_expr_is(p, HI_MARK(mark, 0));
}

/* ---- names ---- */

static bool known_name(struct hi_parser *p, const struct hi_name *name,
		       struct hi_value *v)
{
	switch (name->kind) {
	case HI_NAME_CONSTANT:
		v->type = hi_ctype_integer(
			(int64_t)name->value == (int32_t)name->value ? 4 : 8, true);
		v->node = hi_node_leaf(p, HI_OP_CONST, name->value);
		return true;
	case HI_NAME_CONTEXT:
		v->type = name->type ? hi_ctype_of(p, name->type)
				     : hi_ctype_integer(8, false);
		v->node = hi_node_leaf(p, HI_OP_CONTEXT, name->value % HI_CONTEXT_KEYS);
		return hi_value_load(p, v, true);
	case HI_NAME_VARIABLE:
		v->type = name->type ? hi_ctype_of(p, name->type)
				     : hi_ctype_integer(8, false);
		v->node = hi_node_leaf(p, HI_OP_CONST, name->value);
		v->is_lvalue = true;
		return true;
	case HI_NAME_FUNCTION:
		v->type = (struct hi_ctype){.kind = HI_KIND_FUNCTION};
		v->node = hi_node_leaf(p, HI_OP_CONST, name->value);
		return true;
	case HI_NAME_NONE:
		break;
	}
	return false;
}

static const struct hi_type *self_type(struct hi_parser *p)
{
	return p->scope->self ? hi_ctype_of(p, p->scope->self).type : NULL;
}

static bool is_name_of_type(struct hi_parser *p, size_t at, size_t end)
{
	const struct hi_expression_source *source = p->scope->source;
	char *copy = source->type_named ? hi_expr_copy(p, at, end) : NULL;

	return copy && source->type_named(source->arg, copy);
}

static bool fail_unknown_name(struct hi_parser *p, size_t at, size_t end)
{
	const struct hi_type *self = self_type(p);
	char near[HI_NEAREST], shown[80], name[HI_CTYPE_NAME];
	struct hi_ctype type = hi_ctype_of(p, p->scope->self);

	hi_text_escape(shown, sizeof(shown), p->text + at, end - at);
	if (is_name_of_type(p, at, end)) {
		(void)hi_expr_fail(p, at, "%s is a type: name a variable or an address",
				   shown);
	} else if (!self || self->n_members == 0) {
		(void)hi_expr_fail(
			p, at, "no variable, function or type '%s'%s", shown,
			hi_expr_near_variable(p, p->text + at, end - at, near));
	} else {
		hi_ctype_name(p, &type, name);
		(void)hi_expr_fail(
			p, at, "no variable, function or type '%s'; %s has %s", shown,
			name, hi_expr_nearest(p, self, p->text + at, end - at, near));
	}
	if (p->status == HI_BAD_DATA)
		p->status = HI_NOT_FOUND;
	if (p->err)
		p->err->status = p->status;
	return false;
}

/* A name of the source: text[at .. end). *found_ret. */
static bool look_up(struct hi_parser *p, size_t at, size_t end, struct hi_value *v,
		    bool *found_ret)
{
	const struct hi_expression_source *source = p->scope->source;
	struct hi_name name = {};
	char *copy = hi_expr_copy(p, at, end);

	if (!copy)
		return false;
	if (source->name)
		name = source->name(source->arg, copy);
	*found_ret = name.kind != HI_NAME_NONE;
	return !*found_ret || (known_name(p, &name, v) && hi_expr_seek(p, end));
}

/* A name with "::", which may have template arguments. */
static bool parse_qualified(struct hi_parser *p, struct hi_value *v, bool *found_ret)
{
	size_t at = p->token.column;
	size_t plain = hi_expr_name_end(p, at, false);
	size_t end = hi_expr_name_end(p, at, true);

	*found_ret = false;
	/* "a < b > ::c" may be a name, or not. */
	if (end != plain && p->text[end - 1] != '>' && !look_up(p, at, end, v, found_ret))
		return false;
	if (*found_ret || !memchr(p->text + at, ':', plain - at))
		return true;
	if (!look_up(p, at, plain, v, found_ret))
		return false;
	return *found_ret || fail_unknown_name(p, at, plain);
}

/* Constants of macros and C++, unless the target has such a name. */
static bool c_constant(struct hi_parser *p, struct hi_value *v)
{
	bool truth = hi_expr_is_word(p, "true");

	v->type = hi_ctype_integer(4, true);
	v->node = hi_node_leaf(p, HI_OP_CONST, truth);
	return truth || hi_expr_is_word(p, "false") || hi_expr_is_word(p, "NULL") ||
	       hi_expr_is_word(p, "nullptr");
}

static bool parse_expression_name(struct hi_parser *p, struct hi_value *v)
{
	struct hi_token t = p->token;
	const struct hi_scope *scope = p->scope;
	const struct hi_type *self = self_type(p);
	struct hi_found_member found;
	bool known = false;
	int64_t constant;

	if (!parse_qualified(p, v, &known) || known)
		return known;
	if (hi_expr_is_word(p, "this") && self) {
		v->type = hi_ctype_pointer_to(p, hi_ctype_of(p, scope->self));
		v->node = hi_node_leaf(p, HI_OP_SELF, 0);
	} else if (hi_expr_is_word(p, "i") && (scope->allowed & HI_ALLOW_INDEX)) {
		v->type = hi_ctype_integer(8, true);
		v->node = hi_node_leaf(p, HI_OP_INDEX, 0);
	} else if (hi_expr_member(p, self, p->text + t.column, t.length, &found)) {
		if (found.ambiguous)
			return hi_expr_fail(p, t.column,
					    "'%.*s' is in more than one base class",
					    (int)t.length, p->text + t.column);
		hi_value_of_member(p, hi_node_leaf(p, HI_OP_SELF, 0), &found, v);
	} else if (hi_expr_constant(p, self, p->text + t.column, t.length, &constant)) {
		v->type = hi_ctype_integer(8, true);
		v->node = hi_node_leaf(p, HI_OP_CONST, (uint64_t)constant);
	} else {
		if (!look_up(p, t.column, t.column + t.length, v, &known))
			return false;
		if (known)
			return true;
		if (!c_constant(p, v))
			return fail_unknown_name(p, t.column, t.column + t.length);
	}
	return hi_expr_next(p);
}

/* ---- functions ---- */

enum function { F_NONE, F_ALIGN, F_LOAD, F_USABLE };

static enum function function_named(const struct hi_parser *p, unsigned *n_ret)
{
	static const struct {
		const char *name;
		enum function function;
		unsigned n;
	} functions[] = {
		{"align4", F_ALIGN, 4}, {"align8", F_ALIGN, 8},	 {"align16", F_ALIGN, 16},
		{"u8", F_LOAD, 1},	{"u16", F_LOAD, 2},	 {"u32", F_LOAD, 4},
		{"u64", F_LOAD, 8},	{"usable", F_USABLE, 0},
	};

	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (hi_expr_is_word(p, functions[i].name)) {
			*n_ret = functions[i].n;
			return functions[i].function;
		}
	return F_NONE;
}

static bool apply_function(struct hi_parser *p, enum function function, unsigned n,
			   struct hi_value *v)
{
	if (!hi_value_load(p, v, false))
		return false;
	switch ((unsigned)function) {
	case F_ALIGN:
		v->node = hi_node_binary_imm(p, HI_OP_ADD, v->node, n - 1);
		v->node = hi_node_binary_imm(p, HI_OP_AND, v->node, ~(uint64_t)(n - 1));
		if (v->type.kind == HI_KIND_INTEGER)
			v->type = hi_ctype_integer(8, v->type.is_signed);
		break;
	case F_LOAD:
		v->node = hi_node_load(p, v->node, 0, n * 8, false);
		v->type = hi_ctype_integer(n, false);
		break;
	default:
		v->node = hi_node_usable(p, v->node);
		v->type = hi_ctype_integer(8, false);
		break;
	}
	v->bit_size = 0;
	return true;
}

/* text[at] behind a name is "(": only functions of this language can be called. */
static bool parse_call(struct hi_parser *p, struct hi_value *v)
{
	unsigned n = 0;
	enum function function = function_named(p, &n);

	if (function == F_NONE)
		return hi_expr_fail(p, p->token.column,
				    "'%.*s' cannot be called; align4, align8, u8, u16, "
				    "u32, u64 and usable can",
				    p->token.length > 60 ? 60 : (int)p->token.length,
				    p->text + p->token.column);
	return hi_expr_next(p) && hi_expr_next(p) && hi_expr_parse(p, v) &&
	       hi_expr_expect(p, HI_MARK(')', 0), "')'") &&
	       apply_function(p, function, n, v);
}

static bool is_call(const struct hi_parser *p)
{
	size_t i = p->token.column + p->token.length;

	while (i < p->length && (p->text[i] == ' ' || p->text[i] == '\t'))
		i++;
	return i < p->length && p->text[i] == '(';
}

/* ---- operands ---- */

static bool parse_dollar(struct hi_parser *p, struct hi_value *v)
{
	const struct hi_scope *scope = p->scope;

	if (!(scope->allowed & HI_ALLOW_DOLLAR))
		return hi_expr_fail(p, p->token.column, "'$' is not available here");
	v->type = scope->dollar
			  ? hi_ctype_of(p, scope->dollar)
			  : hi_ctype_pointer_to(p, (struct hi_ctype){.kind = HI_KIND_VOID,
								     .builtin = 1});
	v->node = hi_node_leaf(p, HI_OP_DOLLAR, 0);
	return hi_value_load(p, v, true) && hi_expr_next(p);
}

static bool parse_primary(struct hi_parser *p, struct hi_value *v)
{
	const struct hi_token *t = &p->token;

	*v = (struct hi_value){.column = t->column};
	if (t->kind == HI_TOKEN_NUMBER) {
		v->type = hi_ctype_integer(t->size, t->is_signed);
		v->node = hi_node_leaf(p, HI_OP_CONST, t->number);
		return hi_expr_next(p);
	}
	if (t->kind == HI_TOKEN_NAME)
		return is_call(p) ? parse_call(p, v) : parse_expression_name(p, v);
	if (is_mark(p, '$'))
		return parse_dollar(p, v);
	if (hi_expr_is(p, HI_MARK(':', ':')))
		return hi_expr_next(p) &&
		       (p->token.kind == HI_TOKEN_NAME ? parse_expression_name(p, v)
						       : hi_expr_unexpected(p, "a name"));
	if (!is_mark(p, '('))
		return hi_expr_unexpected(p, "a name, a number or '('");
	if (!hi_expr_next(p) || !hi_expr_parse(p, v) ||
	    !hi_expr_expect(p, HI_MARK(')', 0), "')' or an operator"))
		return false;
	return true;
}

static bool parse_index(struct hi_parser *p, struct hi_value *v)
{
	struct hi_value index;

	return hi_expr_next(p) && hi_expr_parse(p, &index) &&
	       hi_expr_expect(p, HI_MARK(']', 0), "']' or an operator") &&
	       hi_value_index(p, v, &index);
}

static bool parse_postfix(struct hi_parser *p, struct hi_value *v)
{
	if (!parse_primary(p, v))
		return false;
	for (;;) {
		bool arrow = hi_expr_is(p, HI_MARK('-', '>'));
		struct hi_token name;

		if (is_mark(p, '[')) {
			if (!parse_index(p, v))
				return false;
			continue;
		}
		if (!arrow && !is_mark(p, '.'))
			return true;
		if (!hi_expr_next(p))
			return false;
		name = p->token;
		if (name.kind != HI_TOKEN_NAME)
			return hi_expr_unexpected(p, "the name of a member");
		if (!hi_expr_next(p) ||
		    !hi_value_member(p, v, arrow, name.column, name.length))
			return false;
	}
}

static bool parse_sizeof(struct hi_parser *p, struct hi_value *v)
{
	size_t column = p->token.column, at;
	bool is_type = false;
	uint64_t size = 0;

	if (!hi_expr_next(p))
		return false;
	at = p->token.column;
	*v = (struct hi_value){.column = at + 1};
	if (is_mark(p, '(') && !hi_expr_type(p, at + 1, &v->type, &is_type))
		return false;
	if (!is_type && !parse_unary(p, v))
		return false;
	if (!hi_value_size(p, v, &size))
		return false;
	*v = (struct hi_value){.node = hi_node_leaf(p, HI_OP_CONST, size),
			       .type = hi_ctype_integer(8, false),
			       .column = column};
	return true;
}

static bool parse_prefix(struct hi_parser *p, struct hi_value *v)
{
	struct hi_token operator= p->token;
	struct hi_ctype type;
	bool is_type = false;

	if (operator.kind == HI_TOKEN_MARK && operator.length == 1 &&
	    memchr("!-+~*&", (int)operator.mark, 6)) {
		if (!hi_expr_next(p) || !parse_unary(p, v) ||
		    !hi_value_unary(p, &operator, v))
			return false;
		v->column = operator.column;
		return true;
	}
	if (hi_expr_is_word(p, "sizeof"))
		return parse_sizeof(p, v);
	if (is_mark(p, '(') && !hi_expr_type(p, operator.column + 1, &type, &is_type))
		return false;
	if (!is_type)
		return parse_postfix(p, v);
	if (!parse_unary(p, v) || !hi_value_cast(p, &type, v))
		return false;
	v->column = operator.column;
	return true;
}

static bool parse_unary(struct hi_parser *p, struct hi_value *v)
{
	bool good;

	if (!enter_nesting(p))
		return false;
	good = parse_prefix(p, v);
	p->depth--;
	return good;
}

/* ---- operators ---- */

static unsigned precedence_of_token(const struct hi_token *t)
{
	if (t->kind != HI_TOKEN_MARK)
		return 0;
	switch (t->mark) {
	case HI_MARK('*', 0):
	case HI_MARK('/', 0):
	case HI_MARK('%', 0):
		return 10;
	case HI_MARK('+', 0):
	case HI_MARK('-', 0):
		return 9;
	case HI_MARK('<', '<'):
	case HI_MARK('>', '>'):
		return 8;
	case HI_MARK('<', 0):
	case HI_MARK('>', 0):
	case HI_MARK('<', '='):
	case HI_MARK('>', '='):
		return 7;
	case HI_MARK('=', '='):
	case HI_MARK('!', '='):
		return 6;
	case HI_MARK('&', 0):
		return 5;
	case HI_MARK('^', 0):
		return 4;
	case HI_MARK('|', 0):
		return 3;
	case HI_MARK('&', '&'):
		return 2;
	case HI_MARK('|', '|'):
		return 1;
	default:
		return 0;
	}
}

/* Operators that bind at least as tightly as `least`; all are left-associative. */
static bool parse_binary(struct hi_parser *p, unsigned least, struct hi_value *v)
{
	if (!parse_unary(p, v))
		return false;
	for (;;) {
		struct hi_token operator= p->token;
		unsigned level = precedence_of_token(&operator);
		struct hi_value right;

		if (level == 0 || level < least)
			return true;
		if (!hi_expr_next(p) || !parse_binary(p, level + 1, &right) ||
		    !hi_value_binary(p, &operator, v, &right))
			return false;
		if (p->no_memory || p->too_deep)
			return true; /* hi_code_compile reports it */
	}
}

bool hi_expr_parse(struct hi_parser *p, struct hi_value *ret)
{
	struct hi_value b, c;
	bool good;

	if (!parse_binary(p, 1, ret))
		return false;
	if (!is_mark(p, '?'))
		return true;
	if (!hi_expr_next(p) || !enter_nesting(p))
		return false;
	good = hi_expr_parse(p, &b) &&
	       hi_expr_expect(p, HI_MARK(':', 0), "':' or an operator") &&
	       hi_expr_parse(p, &c) && hi_value_choose(p, ret, &b, &c);
	p->depth--;
	return good;
}

/* NOLINTEND(misc-no-recursion) */
