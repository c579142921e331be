/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What instances of a type hold, as a list of fields: those of the builtin that the chain
 * of bases ends in, the slots of every class on the way, members that a type of C lists,
 * members of its structure by debug information, and where nothing describes it, each of
 * its words as a conservative reference.
 */
#include <stdlib.h>
#include <string.h>

#include "decode/runtimes/cpython.h"

enum {
	MEMBER_SIZE = 40, /* struct PyMemberDef: name, int type, offset, flags, doc */
	MEMBER_TYPE = 8,
	MEMBER_OFFSET = 16,
	T_OBJECT = 6, /* structmember.h */
	T_OBJECT_EX = 16,
	MAX_NAME = 200,
	MAX_MEMBERS = 256, /* of one type of C */
	OBJECT_SIZE = 16,
};

static bool has_field(const struct hi_py_field_list *f, uint32_t offset)
{
	for (uint32_t i = 0; i < f->n; i++)
		if (f->items[i].offset == offset)
			return true;
	return false;
}

void hi_py_add_field(struct hi_py_field_list *f, uint32_t offset,
		     enum hi_py_field_kind kind, const char *name)
{
	if (f->n < HI_PY_MAX_FIELDS && !has_field(f, offset))
		f->items[f->n++] = (struct hi_py_field){
			.offset = offset, .kind = kind, .name = name};
}

const char *hi_py_keep_text(struct hi_py *py, const char *text)
{
	const char *kept = hi_arena_strdup(&py->arena, text);

	if (!kept)
		py->no_memory = true;
	return kept ? kept : "";
}

static const char *member_name(struct hi_runtime_cursor *c, uint64_t addr)
{
	char text[64];

	for (size_t i = 0; i < sizeof(text); i++) {
		if (i + 1 == sizeof(text) ||
		    hi_modules_read(c->py->modules, addr + i, &text[i], 1, NULL) != HI_OK)
			text[i] = 0;
		if (!text[i])
			break;
	}
	return hi_py_keep_text(c->py, text);
}

/* Members that are objects, of one class; false: they are nowhere. */
static void add_slot_members(struct hi_runtime_cursor *c, uint64_t members, uint64_t max,
			     uint64_t basicsize, struct hi_py_field_list *f)
{
	for (uint64_t i = 0; i < max; i++) {
		uint8_t m[MEMBER_SIZE];
		uint64_t name, offset;
		uint32_t type;

		if (hi_modules_read(c->py->modules, members + i * MEMBER_SIZE, m,
				    sizeof(m), NULL) != HI_OK)
			return;
		memcpy(&name, m, 8);
		memcpy(&type, m + MEMBER_TYPE, 4);
		memcpy(&offset, m + MEMBER_OFFSET, 8);
		if (!name)
			return;
		if ((type == T_OBJECT || type == T_OBJECT_EX) && offset >= OBJECT_SIZE &&
		    offset % 8 == 0 && offset + 8 <= basicsize)
			hi_py_add_field(f, (uint32_t)offset,
					type == T_OBJECT_EX ? HI_PY_STRONG
							    : HI_PY_DECLARED,
					member_name(c, name));
	}
}

/* Objects/structseq.c: every item behind the visible ones has a member. */
uint16_t hi_py_hidden_items(struct hi_runtime_cursor *c, const struct hi_py_type *t)
{
	uint64_t members = hi_py_word(&c->reader, t->addr + c->py->layout->type_members);
	uint64_t n = 0;

	for (uint64_t i = 0; members && i < MAX_MEMBERS; i++) {
		uint64_t member[3]; /* name, type, offset */

		if (hi_modules_read(c->py->modules, members + i * MEMBER_SIZE, member,
				    sizeof(member), NULL) != HI_OK ||
		    !member[0])
			break;
		if ((uint32_t)member[1] == T_OBJECT && member[2] >= t->basicsize &&
		    member[2] < t->basicsize + MAX_MEMBERS * sizeof(uint64_t))
			n = (member[2] - t->basicsize) / 8 + 1 > n
				    ? (member[2] - t->basicsize) / 8 + 1
				    : n;
	}
	return (uint16_t)n;
}

/* Slots made by a class statement lie behind their class, and its words up to
 * them, the dict and the weak references are all that it adds to its base. */
static bool is_python_class(struct hi_runtime_cursor *c, const struct hi_py_type *t,
			    uint64_t base_size)
{
	const struct hi_py_layout *l = c->py->layout;
	uint64_t members = hi_py_word(&c->reader, t->addr + l->type_members);
	uint64_t weaklist = hi_py_word(&c->reader, t->addr + l->type_weaklist);
	uint64_t size = (t->basicsize - base_size + 7) / 8, n = 0;

	if (!t->is_heap || t->basicsize < base_size)
		return false;
	n += (int64_t)weaklist >= (int64_t)base_size; /* < 0: in front of it */
	n += t->dictoffset < 0 ? !t->is_managed : (uint64_t)t->dictoffset >= base_size;
	for (uint64_t i = 0; members && i < size; i++) {
		uint64_t member[3]; /* name, type, offset */

		if (!hi_py_read(&c->reader, members + i * MEMBER_SIZE, member,
				sizeof(member)) ||
		    !member[0])
			break;
		n += (uint32_t)member[1] == T_OBJECT_EX && member[2] >= base_size;
	}
	return n >= size;
}

static void add_conservative_words(const struct hi_py_type *t, uint64_t from,
				   uint64_t weaklist, struct hi_py_field_list *f)
{
	for (uint64_t o = (from + 7) & ~(uint64_t)7; o + 8 <= t->basicsize; o += 8)
		if (o != weaklist)
			hi_py_add_field(f, (uint32_t)o, HI_PY_CONSERVATIVE, NULL);
}

void hi_py_collect_fields(struct hi_runtime_cursor *c, struct hi_py_type *t,
			  struct hi_py_field_list *f)
{
	const struct hi_py_layout *l = c->py->layout;
	struct hi_py_type at = *t;
	const struct hi_py_builtin *b = NULL;
	uint64_t unknown_from = UINT64_MAX;
	char name[MAX_NAME];

	for (int depth = 0; depth < HI_PY_MAX_BASES; depth++) {
		struct hi_py_type base;

		if (hi_py_type_name(c, at.addr, name, sizeof(name)))
			b = hi_py_builtin_of(c->py, name, at.basicsize);
		if (at.basicsize > t->basicsize)
			b = NULL; /* a base has no more than what is made of it */
		if (b && at.is_heap && !strchr(name, '.'))
			b = NULL; /* a class of the program with a builtin's name */
		if (b || at.basicsize > t->basicsize)
			break;
		add_slot_members(c, hi_py_word(&c->reader, at.addr + l->type_members),
				 MAX_MEMBERS, at.basicsize, f);
		if (at.dictoffset > 0)
			hi_py_add_field(f, (uint32_t)at.dictoffset, HI_PY_STRONG,
					"__dict__");
		if (!at.base || !hi_py_is_type(c, at.base) ||
		    !hi_py_read_type(c, at.base, &base))
			break;
		if (at.basicsize > base.basicsize &&
		    !is_python_class(c, &at, base.basicsize) &&
		    !hi_py_describe(c, &at, base.basicsize, f) &&
		    base.basicsize < unknown_from)
			unknown_from = base.basicsize;
		at = base;
	}
	for (const struct hi_py_field *x = b ? b->fields : NULL;
	     x && x->kind != HI_PY_FIELD_END; x++)
		hi_py_add_field(f, x->offset, x->kind, x->name);
	t->family = b ? b->family : HI_PY_OPAQUE;
	t->exact = b && at.addr == t->addr;
	if (t->family == HI_PY_OBJECT && unknown_from != UINT64_MAX)
		t->family = HI_PY_OPAQUE;
	if (!b)
		unknown_from = OBJECT_SIZE;
	if (unknown_from != UINT64_MAX || (b && b->family == HI_PY_OPAQUE))
		add_conservative_words(
			t, b && b->family == HI_PY_OPAQUE ? OBJECT_SIZE : unknown_from,
			hi_py_word(&c->reader, t->addr + l->type_weaklist), f);
}

static int compare_field_offsets(const void *a, const void *b)
{
	const struct hi_py_field *x = a, *y = b;

	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

bool hi_py_keep_fields(struct hi_py *py, struct hi_py_type *t, struct hi_py_field_list *f)
{
	struct hi_py_field *copy = hi_arena_alloc(&py->arena, (f->n + 1) * sizeof(*copy));

	if (!copy)
		return false;
	if (f->n)
		qsort(f->items, f->n, sizeof(f->items[0]), compare_field_offsets);
	memcpy(copy, f->items, f->n * sizeof(*copy));
	t->fields = copy;
	t->n_fields = f->n;
	return true;
}
