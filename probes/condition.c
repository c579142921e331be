/* SPDX-License-Identifier: BSD-2-Clause */
#include "probes/condition.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

enum { NAME_MAX_BYTES = 256, STARS_MAX = 4, PARAMETERS_MAX = 64 };

/* An lvalue while it is read: where it is, and what is there. */
struct value {
	uint8_t argument; /* HI_BPF_NO_REGISTER: start */
	uint64_t start;
	int64_t offset[HI_BPF_LOADS];
	unsigned n_loads;	    /* that lead to the object's value */
	const struct hi_type *type; /* NULL: a number of `size` bytes */
	uint8_t size;
	bool is_signed;
};

struct parser {
	struct hi_target_code *code;
	const char *text, *at;
	uint64_t entry;
	struct hi_condition *out;
	struct hi_parameter parameters[PARAMETERS_MAX];
	size_t n_parameters;
	bool have_parameters;
	struct hi_error *err;
};

static enum hi_status fail_condition(const struct parser *p, const char *at,
				     const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static enum hi_status fail_condition(const struct parser *p, const char *at,
				     const char *fmt, ...)
{
	char why[150], shown[60];
	va_list args;

	va_start(args, fmt);
	vsnprintf(why, sizeof(why), fmt, args);
	va_end(args);
	hi_text_escape(shown, sizeof(shown), at, strlen(at));
	return hi_fail(p->err, HI_USAGE, 0, "condition, column %zu (%s): %s",
		       (size_t)(at - p->text) + 1, *shown ? shown : "its end", why);
}

static void skip_blanks(struct parser *p)
{
	while (isspace((unsigned char)*p->at))
		p->at++;
}

static bool take_token(struct parser *p, const char *word)
{
	skip_blanks(p);
	if (strncmp(p->at, word, strlen(word)) != 0)
		return false;
	p->at += strlen(word);
	return true;
}

/* ---- numbers ---- */

static bool at_number(struct parser *p)
{
	skip_blanks(p);
	return isdigit((unsigned char)*p->at) || *p->at == '\'' ||
	       (*p->at == '-' && isdigit((unsigned char)p->at[1]));
}

static bool is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static bool take_condition_word(struct parser *p, const char *word)
{
	skip_blanks(p);
	if (strncmp(p->at, word, strlen(word)) != 0 || is_name_char(p->at[strlen(word)]))
		return false;
	p->at += strlen(word);
	return true;
}

static bool take_constant_word(struct parser *p, int64_t *ret)
{
	*ret = 0;
	if (take_condition_word(p, "NULL") || take_condition_word(p, "nullptr") ||
	    take_condition_word(p, "false"))
		return true;
	*ret = 1;
	return take_condition_word(p, "true");
}

/* HI_NOT_FOUND: there is no number here. */
static enum hi_status take_condition_number(struct parser *p, int64_t *ret)
{
	const char *start;
	bool negative;
	char *end;
	uint64_t n;

	if (take_constant_word(p, ret))
		return HI_OK;
	if (!at_number(p))
		return HI_NOT_FOUND;
	start = p->at;
	if (*start == '\'') {
		if (!start[1] || start[1] == '\\' || start[2] != '\'')
			return fail_condition(p, start, "a character is expected");
		*ret = start[1];
		p->at += 3;
		return HI_OK;
	}
	negative = *start == '-';
	errno = 0;
	n = strtoull(start + negative, &end, 0);
	while (*end == 'u' || *end == 'U' || *end == 'l' || *end == 'L')
		end++;
	if (is_name_char(*end) || *end == '.')
		return fail_condition(p, start, "not a whole number");
	if (errno == ERANGE || (negative && n > 1ull << 63))
		return fail_condition(p, start, "too large a number");
	p->at = end;
	*ret = (int64_t)(negative ? 0 - n : n);
	return HI_OK;
}

/* ---- types ---- */

static void set_type(struct parser *p, struct value *v, hi_type_id id)
{
	v->type = p->code->types ? hi_type_get(p->code->types, id) : NULL;
	if (v->type && v->type->kind == HI_KIND_UNKNOWN)
		v->type = NULL;
	if (!v->type)
		return;
	v->size = v->type->size <= 8 ? (uint8_t)v->type->size : 0;
	v->is_signed = v->type->is_signed;
}

static bool is_struct_or_union(const struct hi_type *type)
{
	return type->kind == HI_KIND_STRUCT || type->kind == HI_KIND_UNION;
}

/* One step through the pointer that v is; what it points to is at its offset 0. */
static enum hi_status follow_pointer(struct parser *p, const char *at, struct value *v)
{
	if (!v->type || v->type->kind != HI_KIND_POINTER)
		return fail_condition(p, at, "not a pointer to a type that is known");
	if (v->n_loads == HI_BPF_LOADS)
		return fail_condition(p, at, "more than %d steps through memory",
				      HI_BPF_LOADS);
	v->offset[v->n_loads++] = 0;
	set_type(p, v, v->type->target);
	if (!v->type)
		return fail_condition(p, at, "what it points to is not known");
	return HI_OK;
}

/* NOLINTBEGIN(misc-no-recursion): find_member counts its depth. */
static const struct hi_member *find_member(struct parser *p, const struct hi_type *type,
					   const char *name, uint64_t *offset_ret,
					   unsigned depth)
{
	for (uint32_t i = 0; i < type->n_members; i++) {
		const struct hi_member *m = &type->members[i], *inner;
		const struct hi_type *mt;

		*offset_ret = m->offset;
		if (strcmp(m->name, name) == 0)
			return m;
		if (depth == 0 || (m->name[0] && !m->is_base))
			continue;
		mt = hi_type_get(p->code->types, m->type);
		inner = is_struct_or_union(mt)
				? find_member(p, mt, name, offset_ret, depth - 1)
				: NULL;
		if (inner) {
			*offset_ret += m->offset;
			return inner;
		}
	}
	return NULL;
}

static enum hi_status take_variable_name(struct parser *p, char *out)
{
	size_t n = 0;

	skip_blanks(p);
	if (!isalpha((unsigned char)*p->at) && *p->at != '_')
		return fail_condition(p, p->at, "a name is expected");
	while (is_name_char(*p->at) || strncmp(p->at, "::", 2) == 0 ||
	       strncmp(p->at, "()::", 4) == 0) {
		size_t step = *p->at == '(' ? 4 : *p->at == ':' ? 2 : 1;

		if (n + step >= NAME_MAX_BYTES)
			return fail_condition(p, p->at, "too long a name");
		memcpy(out + n, p->at, step);
		n += step;
		p->at += step;
	}
	out[n] = '\0';
	return HI_OK;
}

static enum hi_status take_member(struct parser *p, struct value *v)
{
	const struct hi_member *member;
	char name[NAME_MAX_BYTES];
	const char *at = p->at;
	enum hi_status status = take_variable_name(p, name);
	uint64_t offset = 0;

	if (status != HI_OK)
		return status;
	if (!v->type || !is_struct_or_union(v->type))
		return fail_condition(p, at, "not a member of a struct that is known");
	if (v->n_loads == 0)
		return fail_condition(p, at, "a struct passed by value");
	member = find_member(p, v->type, name, &offset, 4);
	if (!member)
		return fail_condition(p, at, "%.60s has no member %.50s", v->type->name,
				      name);
	if (member->bit_size)
		return fail_condition(p, at, "%.50s is a bit-field", name);
	v->offset[v->n_loads - 1] += (int64_t)offset;
	set_type(p, v, member->type);
	if (!v->type)
		return fail_condition(p, at, "the type of %.50s is not known", name);
	return HI_OK;
}

/* ---- names ---- */

static enum hi_status load_parameters(struct parser *p, const char *at)
{
	struct hi_module *module;
	enum hi_status status;

	if (p->have_parameters)
		return HI_OK;
	p->have_parameters = true;
	if (p->entry == 0)
		return HI_OK;
	status = hi_target_code_types(p->code, p->err);
	if (status != HI_OK)
		return status;
	module = hi_modules_at(p->code->modules, p->entry);
	if (!module)
		return fail_condition(p, at, "no module has this function");
	status = hi_function_parameters(p->code->types, module, p->entry, p->parameters,
					PARAMETERS_MAX, &p->n_parameters, NULL);
	return status == HI_NOT_FOUND ? HI_OK : status;
}

static enum hi_status use_parameter(struct parser *p, const char *at, size_t i,
				    struct value *v)
{
	const struct hi_parameter *parameter = &p->parameters[i];

	if (parameter->argument < 0)
		return fail_condition(
			p, at,
			"the argument %.50s is in none of the six registers for integers "
			"and pointers, or its location is unknown",
			parameter->name);
	v->argument = (uint8_t)parameter->argument;
	v->size = 8;
	v->is_signed = true;
	set_type(p, v, parameter->type);
	return HI_OK;
}

/* The n-th parameter, from 0, if the debug information has it, else the n-th register. */
static enum hi_status use_argument(struct parser *p, const char *at, size_t n,
				   struct value *v)
{
	enum hi_status status;

	if (p->entry == 0)
		return fail_condition(p, at, "only functions have arguments");
	status = load_parameters(p, at);
	if (status != HI_OK)
		return status;
	if (n < p->n_parameters)
		return use_parameter(p, at, n, v);
	if (p->n_parameters > 0)
		return fail_condition(p, at, "the function has %zu arguments",
				      p->n_parameters);
	v->argument = (uint8_t)n;
	v->size = 8;
	v->is_signed = true;
	return HI_OK;
}

static enum hi_status take_dollar(struct parser *p, struct value *v)
{
	const char *at = p->at;

	p->at += strncmp(p->at, "$arg", 4) == 0 ? 4 : 1;
	if (*p->at < '1' || *p->at > '6' || is_name_char(p->at[1]))
		return fail_condition(p, at, "$1 to $6 are the arguments");
	return use_argument(p, at, (size_t)(*p->at++ - '1'), v);
}

/* "arg1" to "arg6", as some debuggers have it; where nothing has that name. */
static bool is_argument_name(const char *name)
{
	return strncmp(name, "arg", 3) == 0 && name[3] >= '1' && name[3] <= '6' &&
	       name[4] == '\0';
}

static enum hi_status no_such_name(const struct parser *p, const char *at,
				   const char *name)
{
	char names[72] = "";
	size_t used = 0;

	if (p->entry == 0)
		return fail_condition(p, at, "no variable %.60s", name);
	if (p->n_parameters == 0)
		return fail_condition(
			p, at,
			"no variable %.50s, and no debug information that names "
			"arguments: $1 is the first",
			name);
	for (size_t i = 0; i < p->n_parameters && used < sizeof(names); i++)
		used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%.24s",
					 i ? ", " : "", p->parameters[i].name);
	return fail_condition(p, at,
			      "no argument and no variable %.30s: there is %s ($1 first)",
			      name, names);
}

static enum hi_status use_variable(struct parser *p, const char *at, const char *name,
				   struct value *v)
{
	struct hi_variable variable;
	enum hi_status status = hi_target_code_types(p->code, p->err);

	if (status != HI_OK)
		return status;
	status = hi_types_variable_named(p->code->types, name, &variable, p->err);
	if (status == HI_NOT_FOUND && p->entry && is_argument_name(name))
		return use_argument(p, at, (size_t)(name[3] - '1'), v);
	if (status == HI_NOT_FOUND)
		return no_such_name(p, at, name);
	if (status != HI_OK)
		return status;
	if (variable.is_tls)
		return fail_condition(p, at, "%.60s is thread-local", name);
	v->argument = HI_BPF_NO_REGISTER;
	v->start = variable.address;
	v->offset[0] = 0;
	v->n_loads = 1;
	v->size = variable.size <= 8 ? (uint8_t)variable.size : 0;
	v->is_signed = true;
	set_type(p, v, variable.type);
	return HI_OK;
}

static enum hi_status take_primary(struct parser *p, struct value *v)
{
	char name[NAME_MAX_BYTES];
	const char *at;
	enum hi_status status;

	skip_blanks(p);
	at = p->at;
	*v = (struct value){.argument = HI_BPF_NO_REGISTER};
	if (*at == '$')
		return take_dollar(p, v);
	status = take_variable_name(p, name);
	if (status == HI_OK)
		status = load_parameters(p, at);
	if (status != HI_OK)
		return status;
	for (size_t i = 0; i < p->n_parameters; i++)
		if (strcmp(p->parameters[i].name, name) == 0)
			return use_parameter(p, at, i, v);
	return use_variable(p, at, name, v);
}

static enum hi_status take_value(struct parser *p, struct value *v)
{
	enum hi_status status;
	unsigned stars = 0;
	const char *at;

	for (skip_blanks(p), at = p->at; take_token(p, "*"); stars++)
		if (stars == STARS_MAX)
			return fail_condition(p, at, "too many *");
	status = take_primary(p, v);
	while (status == HI_OK) {
		const char *step = p->at;

		if (take_token(p, "->")) {
			status = follow_pointer(p, step, v);
			if (status == HI_OK)
				status = take_member(p, v);
		} else if (take_token(p, ".")) {
			status = take_member(p, v);
		} else {
			break;
		}
	}
	for (; stars > 0 && status == HI_OK; stars--)
		status = follow_pointer(p, at, v);
	return status;
}

/* ---- comparisons ---- */

static const struct {
	char text[3];
	uint8_t op, mirrored;
} operators[] = {
	{"==", HI_BPF_EQUAL, HI_BPF_EQUAL},
	{"!=", HI_BPF_UNEQUAL, HI_BPF_UNEQUAL},
	{"<=", HI_BPF_LESS_EQUAL, HI_BPF_GREATER_EQUAL},
	{">=", HI_BPF_GREATER_EQUAL, HI_BPF_LESS_EQUAL},
	{"<", HI_BPF_LESS, HI_BPF_GREATER},
	{">", HI_BPF_GREATER, HI_BPF_LESS},
};

static enum hi_status take_operator(struct parser *p, bool mirrored, uint8_t *ret)
{
	for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++)
		if (take_token(p, operators[i].text)) {
			*ret = mirrored ? operators[i].mirrored : operators[i].op;
			return HI_OK;
		}
	return fail_condition(p, p->at, "one of == != < <= > >= is expected");
}

static enum hi_status check_comparable(const struct parser *p, const char *at,
				       const struct value *v)
{
	const struct hi_type *type = v->type;

	if (type && (type->kind == HI_KIND_FLOAT || is_struct_or_union(type) ||
		     type->kind == HI_KIND_ARRAY))
		return fail_condition(p, at, "a %.60s cannot be compared with a number",
				      type->name);
	if (v->size != 1 && v->size != 2 && v->size != 4 && v->size != 8)
		return fail_condition(p, at, "its size is not known");
	return HI_OK;
}

/* As in C: what is smaller than int is promoted to it; -1 compared with an unsigned is
 * the largest one. */
static void set_number(struct hi_bpf_term *term, int64_t number)
{
	term->number = number;
	term->compares_signed = term->is_signed || term->size < 4;
	if (number < 0 && !term->is_signed && term->size == 4)
		term->number = (uint32_t)number;
}

static enum hi_status take_term(struct parser *p)
{
	struct hi_bpf_term *term = &p->out->terms[p->out->n_terms];
	struct value v = {};
	enum hi_status status;
	int64_t number = 0;
	const char *at;
	bool mirrored;

	skip_blanks(p);
	if (p->out->n_terms == HI_BPF_TERMS)
		return fail_condition(p, p->at, "more than %d comparisons", HI_BPF_TERMS);
	status = take_condition_number(p, &number);
	mirrored = status == HI_OK;
	if (status != HI_OK && status != HI_NOT_FOUND)
		return status;
	if (mirrored && (status = take_operator(p, true, &term->op)) != HI_OK)
		return status;
	skip_blanks(p);
	at = p->at;
	status = take_value(p, &v);
	if (status == HI_OK)
		status = check_comparable(p, at, &v);
	if (status == HI_OK && !mirrored)
		status = take_operator(p, false, &term->op);
	if (status == HI_OK && !mirrored)
		status = take_condition_number(p, &number);
	if (status == HI_NOT_FOUND)
		return fail_condition(p, p->at, "a number is expected");
	if (status != HI_OK)
		return status;
	term->start = v.start;
	memcpy(term->offset, v.offset, sizeof(term->offset));
	term->argument = v.argument;
	term->n_loads = (uint8_t)v.n_loads;
	term->size = v.size;
	term->is_signed = v.is_signed;
	set_number(term, number);
	if (v.argument != HI_BPF_NO_REGISTER)
		p->out->kept |= 1u << v.argument;
	p->out->n_terms++;
	return HI_OK;
}

enum hi_status hi_condition_compile(struct hi_target_code *code, const char *text,
				    uint64_t entry, struct hi_condition *ret,
				    struct hi_error *err)
{
	struct hi_condition made = {};
	struct parser p = {.code = code,
			   .text = text,
			   .at = text,
			   .entry = entry,
			   .out = &made,
			   .err = err};
	enum hi_status status;

	do {
		status = take_term(&p);
		if (status != HI_OK)
			return status;
	} while (take_token(&p, "&&"));
	skip_blanks(&p);
	if (*p.at)
		return fail_condition(&p, p.at, "&& or the end is expected");
	*ret = made;
	return HI_OK;
}

bool hi_conditions_equal(const struct hi_condition *a, const struct hi_condition *b)
{
	return a->kept == b->kept && a->n_terms == b->n_terms &&
	       memcmp(a->terms, b->terms, a->n_terms * sizeof(a->terms[0])) == 0;
}
/* NOLINTEND(misc-no-recursion) */
