/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/roots/named_roots.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "decode/roots/named_roots_internal.h"

enum { NAME_MAX_LENGTH = 200 };

/* ---- the text ---- */

static bool is_reserved(const char *name, size_t n)
{
	static const char *const words[] = {"NOROOT", "LEAK", "MANY", "SYSTEM"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strlen(words[i]) == n && strncmp(words[i], name, n) == 0)
			return true;
	return false;
}

bool hi_root_text_split(const char *text, size_t *name_length_ret, const char **why_ret)
{
	const char *equals = strchr(text, '=');
	size_t n = equals ? (size_t)(equals - text) : 0;

	*why_ret = "";
	if (!equals)
		*why_ret = "not NAME=EXPRESSION";
	else if (n == 0)
		*why_ret = "the name is missing before '='";
	else if (!equals[1 + strspn(equals + 1, " \t")])
		*why_ret = "the expression is missing behind '='";
	else if (n > NAME_MAX_LENGTH)
		*why_ret = "the name is longer than 200 bytes";
	else if (is_reserved(text, n))
		*why_ret = "NOROOT, LEAK, MANY and SYSTEM cannot be names of roots";
	for (size_t i = 0; i < n && !**why_ret; i++)
		if ((unsigned char)text[i] <= ' ' || text[i] == 0x7f || text[i] == ',')
			*why_ret = "a name must not contain blanks, commas or control "
				   "characters";
	*name_length_ret = n;
	return !**why_ret;
}

/* ---- what an expression is ---- */

static enum hi_status wrong_type(const struct hi_type *type, struct hi_error *err)
{
	return hi_fail(err, HI_USAGE, 0,
		       "this is %.80s, not a pointer, record or array; cast it to a "
		       "pointer if it holds an address",
		       type->name && *type->name ? type->name : "a number");
}

/* 64 bits somewhere; or a symbol without a type, whose words may be pointers. */
static void judge_untyped(struct hi_types *types, struct hi_root_code *code)
{
	struct hi_variable var;
	uint64_t addr;

	code->target = 0;
	code->value = HI_ROOT_WORD;
	if (hi_code_is_constant(code->code, &addr) &&
	    hi_types_variable_at(types, addr, &var, NULL) == HI_OK && !var.type &&
	    var.address == addr && var.size > sizeof(uint64_t)) {
		code->value = HI_ROOT_PLACE;
		code->size = var.size;
	}
}

/* By the type of what has an address. */
static enum hi_status judge_lvalue(struct hi_types *types, struct hi_root_code *code,
				   struct hi_error *err)
{
	hi_type_id id = hi_code_type(code->code);
	const struct hi_type *type = hi_type_get(types, id);

	code->target = type->id;
	switch (type->kind) {
	case HI_KIND_POINTER:
	case HI_KIND_ADDRESS:
		code->value = HI_ROOT_WORD;
		code->target = type->kind == HI_KIND_POINTER ? type->target : 0;
		return HI_OK;
	case HI_KIND_UNKNOWN:
		judge_untyped(types, code);
		return HI_OK;
	case HI_KIND_STRUCT:
	case HI_KIND_UNION:
	case HI_KIND_ARRAY:
	case HI_KIND_DECLARATION:
	case HI_KIND_VOID:
		code->value = HI_ROOT_PLACE;
		return HI_OK;
	case HI_KIND_INTEGER:
	case HI_KIND_CHAR:
	case HI_KIND_FLOAT:
	case HI_KIND_FUNCTION:
		break;
	}
	return wrong_type(type, err);
}

static enum hi_status judge_value(struct hi_types *types, struct hi_root_code *code,
				  struct hi_error *err)
{
	const struct hi_type *type = hi_type_get(types, hi_code_type(code->code));
	uint64_t constant;

	code->value = HI_ROOT_POINTER;
	code->target = type->kind == HI_KIND_POINTER ? type->target : 0;
	if (type->kind == HI_KIND_POINTER || type->kind == HI_KIND_ADDRESS ||
	    hi_code_is_constant(code->code, &constant))
		return HI_OK;
	return wrong_type(type, err);
}

enum hi_status hi_root_compile(const char *text, const struct hi_scope *scope,
			       struct hi_types *types, struct hi_arena *arena,
			       struct hi_root_code *ret, size_t *column_ret,
			       struct hi_error *err)
{
	size_t n = strlen(text), column = 0;
	enum hi_status status;

	*column_ret = 0;
	if (hi_code_compile(text, n, scope, true, arena, &ret->code, NULL, NULL) == HI_OK)
		return judge_lvalue(types, ret, err);
	status = hi_code_compile(text, n, scope, false, arena, &ret->code, &column, err);
	if (status == HI_OK)
		return judge_value(types, ret, err);
	*column_ret = column;
	return status;
}

/* At c->text + at. */
static enum hi_status compile_rest(struct hi_root_compiling *c, size_t at,
				   struct hi_root_code *code, struct hi_error *err)
{
	struct hi_expression_source source = hi_root_source(c);
	const struct hi_scope scope = {.source = &source};
	enum hi_status status = hi_root_compile(c->text + at, &scope, c->p->types,
						&c->p->arena, code, &c->column, err);

	c->column += at;
	return status;
}

/* Where a name is unknown, the local variables that there are. */
static enum hi_status add_locals(const struct hi_root_compiling *c, enum hi_status status,
				 struct hi_error *err)
{
	struct hi_error before = *err;
	char names[sizeof(err->text)] = "";

	if (status == HI_NOT_FOUND)
		hi_root_list_locals(c, names, sizeof(names));
	return hi_fail(err, HI_USAGE, 0, "%s%s", before.text, names);
}

/* `map[3]`, `object->vector[0]`, `map[Color::red]` have no meaning in C; the name that
 * they begin with is known. */
static bool may_be_path(const struct hi_root_compiling *c,
			const struct hi_root_text *text, enum hi_status status)
{
	const char *element = strchr(text->expression, '[');

	return text->or_path && element && strchr(element, ']') &&
	       (status == HI_BAD_DATA ||
		(status == HI_NOT_FOUND &&
		 c->column > (size_t)(element - text->expression)));
}

static enum hi_status take_as_path(struct hi_named_roots_private *p,
				   struct hi_named_root *root, struct hi_error *err)
{
	root->is_path = true;
	root->type = "";
	root->warning = hi_arena_strdup(&p->arena, err->text);
	return root->warning ? HI_OK : hi_fail_memory(err, "roots");
}

static enum hi_status compile_named_root(struct hi_named_roots_private *p,
					 struct hi_named_root *root,
					 struct hi_root_code *code, size_t *column_ret,
					 struct hi_error *err)
{
	struct hi_root_compiling c = {.p = p, .text = root->text.expression};
	const struct hi_type *type;
	size_t at = 0;
	enum hi_status status = hi_root_prefix(&c, &at, err);

	if (status == HI_OK)
		status = compile_rest(&c, at, code, err);
	*column_ret = c.column;
	if (status == HI_NO_MEMORY || c.no_memory)
		return hi_fail_memory(err, "roots");
	if (may_be_path(&c, &root->text, status))
		return take_as_path(p, root, err);
	if (status != HI_OK)
		return add_locals(&c, status, err);
	type = hi_type_get(p->types, hi_code_type(code->code));
	root->type = type->name && type->kind != HI_KIND_UNKNOWN ? type->name : "";
	return HI_OK;
}

/* ---- open and close ---- */

HI_DEFINE_GUARD(struct hi_named_roots *, hi_named_roots_close)

static enum hi_status create_named_roots(const struct hi_image *image,
					 struct hi_modules *modules,
					 struct hi_types *types, size_t n,
					 struct hi_named_roots **ret,
					 struct hi_error *err)
{
	HI_GUARD(hi_named_roots_close)
	struct hi_named_roots *roots = hi_calloc(1, sizeof(*roots));
	struct hi_named_roots_private *p = roots ? hi_calloc(1, sizeof(*p)) : NULL;

	if (!p)
		return hi_fail_memory(err, "roots");
	roots->priv = p;
	p->image = image;
	p->modules = modules;
	p->types = types;
	p->names = (struct hi_expression_names){types, modules};
	p->source = hi_expression_source_of(&p->names);
	p->stacks = hi_calloc(image->n_threads + 1, sizeof(struct hi_stack *));
	p->codes = hi_calloc(n + 1, sizeof(*p->codes));
	roots->items = hi_calloc(n + 1, sizeof(*roots->items));
	if (!p->stacks || !p->codes || !roots->items)
		return hi_fail_memory(err, "roots");
	*ret = hi_take(roots);
	return HI_OK;
}

enum hi_status hi_named_roots_open(const struct hi_image *image,
				   struct hi_modules *modules, struct hi_types *types,
				   const struct hi_root_text *texts, size_t n,
				   struct hi_named_roots **ret, size_t *wrong_ret,
				   size_t *column_ret, struct hi_error *err)
{
	HI_GUARD(hi_named_roots_close) struct hi_named_roots *roots = NULL;
	enum hi_status status;

	*wrong_ret = *column_ret = 0;
	if (!types)
		return hi_fail(err, HI_UNSUPPORTED, 0,
			       "no types could be read, so names cannot be resolved");
	status = create_named_roots(image, modules, types, n, &roots, err);
	for (size_t i = 0; roots && i < n && status == HI_OK; i++) {
		roots->items[i].text = texts[i];
		roots->count++;
		*wrong_ret = i;
		status = compile_named_root(roots->priv, &roots->items[i],
					    &roots->priv->codes[i], column_ret, err);
	}
	if (status == HI_OK)
		*ret = hi_take(roots);
	return status;
}

void hi_named_roots_close(struct hi_named_roots *roots)
{
	struct hi_named_roots_private *p = roots ? roots->priv : NULL;

	if (!roots)
		return;
	for (size_t i = 0; roots->items && i < roots->count; i++)
		free(roots->items[i].starts);
	free(roots->items);
	for (size_t i = 0; p && p->stacks && i < p->image->n_threads; i++)
		hi_stack_destroy(p->stacks[i]);
	if (p) {
		free((void *)p->stacks);
		free(p->codes);
		hi_vector_free(&p->values);
		hi_arena_free(&p->arena);
	}
	free(p);
	free(roots);
}

const char *hi_named_roots_name(void *arg, uint32_t number)
{
	const struct hi_named_roots *roots = arg;

	return number && number <= roots->count ? roots->items[number - 1].text.name
						: "?";
}
