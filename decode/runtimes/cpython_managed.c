/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Attributes of instances that have no dict of their own: the values in an array, the
 * names in keys that the class has. Source: Objects/dictobject.c, pycore_object.h,
 * pycore_dict.h, 3.11 to 3.14.
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

/* A dict that was made of them later has them too (hi_py_layout.dict_has_inline). */
void hi_py_visit_inline(struct hi_py_visit *v, const struct hi_py_object *o)
{
	struct hi_py_reader *r = &v->c->reader;
	uint64_t values = inline_values(o), dict = hi_py_word(r, o->addr - DICT);
	struct hi_py_keys k;
	uint8_t header[ITEMS];

	visit_own_dict(v, dict);
	if (dict && v->c->py->layout->dict_has_inline)
		return;
	if (v->fn && values && hi_py_read(r, values, header, sizeof(header)) &&
	    header[VALID] && cached_keys(v->c, o, &k)) {
		if (k.n > header[CAPACITY])
			k.n = header[CAPACITY];
		hi_py_visit_values(v, &k, values + ITEMS, HI_LABEL_ATTRIBUTE);
	}
}

uint64_t hi_py_inline_room(struct hi_runtime_cursor *c, uint64_t dict, uint64_t values)
{
	const struct hi_objects *objects = c->py->base.objects;
	hi_node id = objects ? hi_objects_find(objects, values, NULL) : HI_NODE_NONE;
	struct hi_py_object o;
	uint64_t from, n;
	uint8_t capacity;

	if (id == HI_NODE_NONE ||
	    !hi_py_object_in(c, hi_objects_address(objects, id),
			     hi_objects_usable(objects, id), &o) ||
	    inline_values(&o) != values || !o.type->is_managed ||
	    hi_py_word(&c->reader, o.addr - DICT) != dict ||
	    !hi_py_read(&c->reader, values + CAPACITY, &capacity, 1))
		return 0;
	from = values - o.addr + ITEMS;
	n = o.room > from ? (o.room - from) / HI_PY_PTR : 0;
	return n < capacity ? n : capacity;
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
