/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The C structure behind a type of an extension, by debug information: the type's own
 * functions take a pointer to it, or make one of the PyObject * that they take. The
 * structure is the one with the size of an instance that begins with an object.
 */
#include <string.h>

#include "decode/types/function_types.h"
#include "decode/runtimes/cpython.h"

enum {
	SELVES = 8, /* parameters and locals that are looked at in one function */
	METHODS = 4,
	METHOD_SIZE = 32, /* struct PyMethodDef: name, function, flags, doc */
	METHOD_FUNCTION = 8,
	TYPE_METHODS = 232, /* PyTypeObject.tp_methods */
	MAX_DEPTH = 4,
	MAX_ELEMENTS = 64, /* of an array in it */
};

/* Functions of a type whose first parameter is an instance. */
static const uint16_t functions[] = {
	48,  /* tp_dealloc */
	184, /* tp_traverse */
	192, /* tp_clear */
	296, /* tp_init */
	88,  /* tp_repr */
	224, /* tp_iternext */
	128, /* tp_call */
};

/* An object is first in it, at any depth: ob_base. */
static bool begins_with_object(struct hi_types *types, const struct hi_type *type)
{
	for (int i = 0; i < MAX_DEPTH; i++) {
		if (type->kind != HI_KIND_STRUCT || !type->n_members ||
		    type->members[0].offset != 0)
			return false;
		if (strcmp(type->name, "struct _object") == 0)
			return true;
		type = hi_type_get(types, type->members[0].type);
	}
	return false;
}

static const struct hi_type *instance_of(struct hi_types *types, hi_type_id pointer,
					 uint64_t size)
{
	const struct hi_type *type = hi_type_get(types, pointer);

	if (type->kind != HI_KIND_POINTER)
		return NULL;
	type = hi_type_get(types, type->target);
	return type->kind == HI_KIND_STRUCT && type->size == size &&
			       begins_with_object(types, type)
		       ? type
		       : NULL;
}

/* The type that the first parameter of a function, or one of its variables, points to. */
static const struct hi_type *is_named_by(struct hi_py *py, uint64_t function,
					 uint64_t size)
{
	struct hi_module *module = function ? hi_modules_at(py->modules, function) : NULL;
	struct hi_parameter selves[SELVES];
	const struct hi_type *type = NULL;
	size_t n;

	if (!module || hi_function_parameters(py->dwarf, module, function, selves, 1, &n,
					      NULL) != HI_OK)
		return NULL;
	if (n)
		type = instance_of(py->dwarf, selves[0].type, size);
	if (type || hi_function_locals(py->dwarf, module, function, selves, SELVES, &n,
				       NULL) != HI_OK)
		return type;
	for (size_t i = 0; i < n && !type; i++)
		type = instance_of(py->dwarf, selves[i].type, size);
	return type;
}

static const struct hi_type *find_structure(struct hi_runtime_cursor *c,
					    const struct hi_py_type *t)
{
	uint64_t methods = hi_py_word(&c->reader, t->addr + TYPE_METHODS);
	const struct hi_type *type = NULL;
	uint64_t words[2];

	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]) && !type; i++)
		type = is_named_by(c->py, hi_py_word(&c->reader, t->addr + functions[i]),
				   t->basicsize);
	for (int i = 0; i < METHODS && methods && !type; i++) {
		if (hi_modules_read(c->py->modules, methods + (uint64_t)i * METHOD_SIZE,
				    words, sizeof(words), NULL) != HI_OK ||
		    !words[0])
			break;
		type = is_named_by(c->py, words[METHOD_FUNCTION / 8], t->basicsize);
	}
	return type;
}

/* ---- its members ---- */

struct describing {
	struct hi_py *py;
	struct hi_py_field_list *fields;
	uint64_t from, end, weaklist;
};

static void add_word_field(struct describing *d, uint64_t offset,
			   enum hi_py_field_kind kind, const char *name)
{
	if (offset % 8 == 0 && offset >= d->from && offset + 8 <= d->end &&
	    offset != d->weaklist)
		hi_py_add_field(d->fields, (uint32_t)offset, kind,
				name && *name ? hi_py_keep_text(d->py, name) : NULL);
}

static enum hi_py_field_kind pointer_kind(struct hi_types *types,
					  const struct hi_type *pointee)
{
	switch (pointee->kind) {
	case HI_KIND_FUNCTION:
		return HI_PY_FIELD_END;
	case HI_KIND_VOID:
	case HI_KIND_UNKNOWN:
		return HI_PY_CONSERVATIVE;
	default:
		return begins_with_object(types, pointee) ? HI_PY_DECLARED
							  : HI_PY_POINTER;
	}
}

/* Pointers are references, but to functions. void *, unions, and numbers as wide as an
 * address are conservative references. */
static bool add_scalar(struct describing *d, const struct hi_type *type, uint64_t offset,
		       const char *name)
{
	enum hi_py_field_kind kind;

	switch (type->kind) {
	case HI_KIND_POINTER:
		kind = pointer_kind(d->py->dwarf,
				    hi_type_get(d->py->dwarf, type->target));
		if (kind != HI_PY_FIELD_END)
			add_word_field(d, offset, kind, name);
		return true;
	case HI_KIND_ADDRESS:
		add_word_field(d, offset, HI_PY_CONSERVATIVE, name);
		return true;
	case HI_KIND_UNION:
	case HI_KIND_UNKNOWN:
	case HI_KIND_DECLARATION:
		for (uint64_t at = 0; at + 8 <= type->size; at += 8)
			add_word_field(d, offset + at, HI_PY_CONSERVATIVE, name);
		return true;
	case HI_KIND_STRUCT:
	case HI_KIND_ARRAY:
		return false;
	default:
		return true;
	}
}

/* Structures in it down to MAX_DEPTH, arrays up to MAX_ELEMENTS; what is beyond is
 * conservative. */
struct pending {
	const struct hi_type *type;
	uint64_t offset;
	const char *name;
	int depth;
};

static void push_pending_member(struct pending *stack, size_t *n, struct pending item)
{
	if (*n < HI_PY_MAX_FIELDS)
		stack[(*n)++] = item;
}

static void add_member_parts(struct describing *d, const struct hi_type *type)
{
	struct pending stack[HI_PY_MAX_FIELDS];
	size_t n = 0;

	push_pending_member(stack, &n, (struct pending){.type = type});
	while (n) {
		struct pending p = stack[--n];

		if (add_scalar(d, p.type, p.offset, p.name))
			continue;
		if (p.depth == MAX_DEPTH ||
		    (p.type->kind == HI_KIND_ARRAY && p.type->count > MAX_ELEMENTS)) {
			for (uint64_t at = 0; at + 8 <= p.type->size; at += 8)
				add_word_field(d, p.offset + at, HI_PY_CONSERVATIVE,
					       p.name);
			continue;
		}
		for (uint64_t i = 0; p.type->kind == HI_KIND_ARRAY && i < p.type->count;
		     i++) {
			const struct hi_type *element =
				hi_type_get(d->py->dwarf, p.type->target);

			push_pending_member(stack, &n,
					    (struct pending){element,
							     p.offset + i * element->size,
							     p.name, p.depth + 1});
		}
		for (uint32_t i = 0;
		     p.type->kind == HI_KIND_STRUCT && i < p.type->n_members; i++) {
			const struct hi_member *m = &p.type->members[i];

			push_pending_member(
				stack, &n,
				(struct pending){hi_type_get(d->py->dwarf, m->type),
						 p.offset + m->offset, m->name,
						 p.depth + 1});
		}
	}
}

bool hi_py_describe(struct hi_runtime_cursor *c, const struct hi_py_type *t,
		    uint64_t from, struct hi_py_field_list *fields)
{
	const struct hi_type *type = c->py->dwarf ? find_structure(c, t) : NULL;
	struct describing d = {
		.py = c->py,
		.fields = fields,
		.from = from,
		.end = t->basicsize,
		.weaklist =
			hi_py_word(&c->reader, t->addr + c->py->layout->type_weaklist)};

	if (type)
		add_member_parts(&d, type);
	return type;
}
