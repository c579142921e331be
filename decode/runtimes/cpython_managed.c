/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Attributes of instances that have no dict of their own: the values in an array, the
 * names in keys that the class has. Source: Objects/dictobject.c, pycore_object.h,
 * pycore_dict.h, 3.11 to 3.13.
 */
#include "decode/runtimes/cpython.h"
#include "decode/runtimes/cpython_rows.h"

enum {
	VALUES = 32,  /* in front of an object: the array (3.11), */
	DICT = 24,    /* the dict, or one of both (3.12) */
	CAPACITY = 0, /* struct _dictvalues of 3.13 */
	VALID = 3,
	ITEMS = 8,
};

static bool cached_keys(struct hi_runtime_cursor *c, const struct hi_py_object *o,
			struct hi_py_keys *ret)
{
	const struct hi_py_layout *l = c->py->layout;

	return l->read_keys(
		c, hi_py_word(&c->reader, o->type->addr + l->heap_cached_keys), ret);
}

static void visit_values_array(struct hi_py_visit *v, const struct hi_py_object *o,
			       uint64_t values)
{
	struct hi_py_keys k;

	hi_py_emit_memory(v, values, HI_PY_BUFFER_VALUES, "<values>");
	if (!v->fn || !values || !cached_keys(v->c, o, &k))
		return;
	k.n = hi_py_bound(v, values, 0, k.n, HI_PY_PTR);
	hi_py_visit_values(v, &k, values, HI_LABEL_ATTRIBUTE);
}

static void visit_own_dict(struct hi_py_visit *v, uint64_t dict)
{
	hi_py_emit(v, dict, HI_GRADE_EXACT, HI_LABEL_FIELD, "__dict__", 0);
}

void hi_py_visit_two_words(struct hi_py_visit *v, const struct hi_py_object *o)
{
	struct hi_py_reader *r = &v->c->reader;

	visit_own_dict(v, hi_py_word(r, o->addr - DICT));
	visit_values_array(v, o, hi_py_word(r, o->addr - VALUES));
}

/* Odd: the array, less one. */
void hi_py_visit_tagged_word(struct hi_py_visit *v, const struct hi_py_object *o)
{
	uint64_t word = hi_py_word(&v->c->reader, o->addr - DICT);

	if (word & 1)
		visit_values_array(v, o, word + 1);
	else
		visit_own_dict(v, word);
}

static uint64_t inline_values(const struct hi_py_object *o)
{
	return o->type->flags & HI_PY_INLINE_VALUES ? o->addr + o->type->basicsize : 0;
}

/* A dict that was made of them later has them too; they are reported for the object. */
void hi_py_visit_inline(struct hi_py_visit *v, const struct hi_py_object *o)
{
	struct hi_py_reader *r = &v->c->reader;
	uint64_t values = inline_values(o);
	struct hi_py_keys k;
	uint8_t header[ITEMS];

	visit_own_dict(v, hi_py_word(r, o->addr - DICT));
	if (v->fn && values && hi_py_read(r, values, header, sizeof(header)) &&
	    header[VALID] && cached_keys(v->c, o, &k)) {
		if (k.n > header[CAPACITY])
			k.n = header[CAPACITY];
		hi_py_visit_values(v, &k, values + ITEMS, HI_LABEL_ATTRIBUTE);
	}
}

/* Header, values, and one byte for the order of each. */
uint64_t hi_py_inline_size(struct hi_runtime_cursor *c, const struct hi_py_object *o)
{
	uint64_t values = inline_values(o);
	uint8_t n;

	if (!values || !hi_py_read(&c->reader, values + CAPACITY, &n, 1))
		return 0;
	return ITEMS + n * UINT64_C(8) + ((n + UINT64_C(7)) & ~UINT64_C(7));
}
