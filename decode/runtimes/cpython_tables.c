/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables of dicts, sets and instances. Source: Objects/dictobject.c, setobject.c,
 * odictobject.c, pycore_dict.h. A torn table (its counts do not fit, a part is
 * unreadable) is read as far as it is consistent.
 *
 * Note [Hidden dicts]
 *
 * The collector may know every dict but those that hold nothing that it knows. A dict
 * that does, and is in none of its lists, was taken out by C code, so that the collector
 * does not see that the references of its values are not counted: cffi keeps each type
 * once, for as long as others refer to it. They are no deficit.
 */
#include <string.h>

#include "decode/runtimes/cpython_rows.h"

enum {
	KEYS_GENERAL = 0, /* dk_kind */
	KEYS_UNICODE = 1,
	KEYS_SPLIT = 2,
	MAX_LOG2 = 40,
	BATCH = 64,
	VALUES_EMBEDDED = 2, /* struct _dictvalues: capacity, size, embedded, valid */
	SET_MASK = 32,	     /* PySetObject; an entry is key, hash */
	SET_TABLE = 40,
	SET_SMALL = 64,
	SET_SMALL_ENTRIES = 8,
	SET_ENTRY = 16,
	ODICT_FIRST = 48, /* PyODictObject; a node is key, hash, next, prev */
	ODICT_FAST_NODES = 64,
	ODICT_NEXT = 16,
	ODICT_NODE = 32,
};

bool hi_py_log2_keys(struct hi_runtime_cursor *c, uint64_t addr, struct hi_py_keys *ret)
{
	const struct hi_py_layout *l = c->py->layout;
	unsigned log2_size, log2_index, kind;
	uint8_t header[64];
	int64_t n;

	if (!addr || addr % 8 || !hi_py_read(&c->reader, addr, header, l->keys_indices))
		return false;
	memcpy(&n, header + l->keys_nentries, 8);
	log2_size = header[l->keys_log2_size];
	log2_index = header[l->keys_log2_index];
	kind = header[l->keys_kind];
	if (log2_size > MAX_LOG2 || log2_index > MAX_LOG2 + 3 || kind > KEYS_SPLIT ||
	    n < 0 || (uint64_t)n > UINT64_C(1) << log2_size)
		return false;
	*ret = (struct hi_py_keys){.addr = addr,
				   .entries = addr + l->keys_indices +
					      (UINT64_C(1) << log2_index),
				   .n = (uint64_t)n,
				   .unicode = kind != KEYS_GENERAL,
				   .shared = kind == KEYS_SPLIT};
	return true;
}

/* Its indices are as wide as its size needs. It has no flag for shared keys. */
bool hi_py_sized_keys(struct hi_runtime_cursor *c, uint64_t addr, struct hi_py_keys *ret)
{
	const struct hi_py_layout *l = c->py->layout;
	uint64_t size, n, width;
	uint8_t header[64];

	if (!addr || addr % 8 || !hi_py_read(&c->reader, addr, header, l->keys_indices))
		return false;
	memcpy(&size, header + l->keys_size, 8);
	memcpy(&n, header + l->keys_nentries, 8);
	if (size == 0 || size > UINT64_C(1) << MAX_LOG2 || (size & (size - 1)) ||
	    n > size)
		return false;
	width = size <= UINT8_MAX    ? 1
		: size <= UINT16_MAX ? 2
		: size <= UINT32_MAX ? 4
				     : 8;
	*ret = (struct hi_py_keys){
		.addr = addr, .entries = addr + l->keys_indices + size * width, .n = n};
	return true;
}

/* A few entries at once as (key, value). */
static uint64_t read_entries(struct hi_runtime_cursor *c, const struct hi_py_keys *k,
			     uint64_t from, uint64_t pairs[BATCH][2])
{
	unsigned words = k->unicode ? 2 : 3;
	uint64_t raw[BATCH * 3], n = k->n - from < BATCH ? k->n - from : BATCH;

	while (n &&
	       !hi_py_read(&c->reader, k->entries + from * words * 8, raw, n * words * 8))
		n /= 2; /* what is readable of a torn table */
	for (uint64_t i = 0; i < n; i++) {
		pairs[i][0] = raw[i * words + words - 2];
		pairs[i][1] = raw[i * words + words - 1];
	}
	return n;
}

/* Interned strings are not counted by the dict of them, but those that never die. */
static enum hi_grade grade_of_key(struct hi_py_visit *v, uint64_t key, bool interned)
{
	uint32_t refcnt;

	if (!interned)
		return HI_GRADE_EXACT;
	refcnt = v->c->py->layout->immortal ? hi_py_u32(&v->c->reader, key) : 0;
	return refcnt >> 31 ? HI_GRADE_EXACT : HI_GRADE_WEAK;
}

/* In none of the collector's lists. While that one runs, nobody knows. */
static bool is_untracked(struct hi_runtime_cursor *c, const struct hi_py_object *o)
{
	uint64_t next;

	return !c->py->base.collecting && (o->type->flags & HI_PY_HAVE_GC) &&
	       hi_py_u64(&c->reader, o->addr - HI_PY_GC_HEAD, &next) &&
	       !(next & ~c->py->layout->gc_next_flags);
}

static void visit_combined(struct hi_py_visit *v, const struct hi_py_keys *k,
			   bool interned, bool hidden)
{
	uint64_t pairs[BATCH][2], n;

	for (uint64_t from = 0; from < k->n; from += n) {
		n = read_entries(v->c, k, from, pairs);
		if (n == 0)
			return;
		for (uint64_t i = 0; i < n; i++) {
			enum hi_grade grade;

			if (!pairs[i][1])
				continue;
			grade = grade_of_key(v, pairs[i][0], interned);
			hi_py_emit(v, pairs[i][0], grade, HI_LABEL_FIELD, "<key>", 0);
			v->is_hidden = hidden;
			hi_py_emit(v, pairs[i][1], grade, HI_LABEL_KEY, NULL,
				   pairs[i][0]);
			v->is_hidden = false;
			if (v->stopped)
				return;
		}
	}
}

void hi_py_visit_values(struct hi_py_visit *v, const struct hi_py_keys *k,
			uint64_t values, enum hi_edge_label label)
{
	uint64_t pairs[BATCH][2], items[BATCH], n;

	for (uint64_t from = 0; from < k->n; from += n) {
		n = read_entries(v->c, k, from, pairs);
		if (n == 0 || !hi_py_read(&v->c->reader, values + from * 8, items, n * 8))
			return;
		for (uint64_t i = 0; i < n; i++)
			if (items[i] && !hi_py_emit(v, items[i], HI_GRADE_EXACT, label,
						    NULL, pairs[i][0]))
				return;
	}
}

static unsigned entry_size(const struct hi_py_keys *k)
{
	return (k->unicode ? 2 : 3) * HI_PY_PTR;
}

/* Entries that lie in the block of the keys. */
static void bound_keys(struct hi_py_visit *v, struct hi_py_keys *k)
{
	k->n = hi_py_bound(v, k->addr, k->entries - k->addr, k->n, entry_size(k));
}

/* What shared keys own. Keys of one dict have a value with each, which is reported for
 * that dict. */
void hi_py_visit_keys(struct hi_py_visit *v, uint64_t addr, uint64_t size)
{
	uint64_t pairs[BATCH][2], n;
	struct hi_py_keys k;

	if (!v->c->py->layout->read_keys(v->c, addr, &k) || (k.unicode && !k.shared) ||
	    k.entries - addr >= size)
		return;
	if (k.n > (size - (k.entries - addr)) / entry_size(&k))
		k.n = (size - (k.entries - addr)) / entry_size(&k);
	for (uint64_t from = 0; from < k.n; from += n) {
		n = read_entries(v->c, &k, from, pairs);
		if (n == 0)
			return;
		for (uint64_t i = 0; i < n; i++)
			if (pairs[i][0] && !pairs[i][1])
				hi_py_emit(v, pairs[i][0], HI_GRADE_EXACT, HI_LABEL_INDEX,
					   NULL, from + i);
	}
}

bool hi_py_is_interned(const struct hi_py *py, uint64_t dict)
{
	for (size_t i = 0; i < py->interpreters.count; i++)
		if (py->interpreters.items[i].interned == dict)
			return true;
	return false;
}

/* Values inside of an object. */
static bool is_embedded(struct hi_runtime_cursor *c, uint64_t values)
{
	uint8_t header[8];

	return c->py->layout->values_items && values &&
	       hi_py_read(&c->reader, values, header, sizeof(header)) &&
	       header[VALUES_EMBEDDED];
}

static void visit_embedded(struct hi_py_visit *v, uint64_t dict, uint64_t values,
			   struct hi_py_keys *k)
{
	uint64_t room = hi_py_inline_room(v->c, dict, values);

	v->is_cut |= k->n > room;
	if (k->n > room)
		k->n = room;
	hi_py_visit_values(v, k, values + v->c->py->layout->values_items, HI_LABEL_KEY);
}

void hi_py_visit_dict(struct hi_py_visit *v, const struct hi_py_object *o)
{
	const struct hi_py_layout *l = v->c->py->layout;
	uint64_t keys = hi_py_word(&v->c->reader, o->addr + l->dict_keys);
	uint64_t values = hi_py_word(&v->c->reader, o->addr + l->dict_values);
	bool embedded = is_embedded(v->c, values);
	struct hi_py_keys k;

	hi_py_emit_memory(v, keys, HI_PY_BUFFER_DICT_KEYS, "<keys>");
	/* Beside values they are names alone, which many dicts share. */
	if (values)
		v->used = 0;
	if (!embedded)
		hi_py_emit_memory(v, values, HI_PY_BUFFER_VALUES, "<values>");
	if (!v->fn || (embedded && !l->dict_has_inline) || !l->read_keys(v->c, keys, &k))
		return;
	if (embedded) {
		visit_embedded(v, o->addr, values, &k);
	} else if (values) {
		k.n = hi_py_bound(v, values, l->values_items, k.n, HI_PY_PTR);
		hi_py_visit_values(v, &k, values + l->values_items, HI_LABEL_KEY);
	} else if (!k.shared) {
		bound_keys(v, &k);
		visit_combined(v, &k, hi_py_is_interned(v->c->py, o->addr),
			       is_untracked(v->c, o));
	}
}

void hi_py_dict_items(struct hi_runtime_cursor *c, uint64_t dict, uint64_t max,
		      hi_py_item_fn *fn, void *arg)
{
	const struct hi_py_layout *l = c->py->layout;
	uint64_t values = hi_py_word(&c->reader, dict + l->dict_values);
	struct hi_py_visit v = {.c = c};
	uint64_t pairs[BATCH][2], n;
	struct hi_py_keys k;

	if (!dict || !l->read_keys(c, hi_py_word(&c->reader, dict + l->dict_keys), &k))
		return;
	bound_keys(&v, &k);
	for (uint64_t from = 0; from < k.n && from < max; from += n) {
		n = read_entries(c, &k, from, pairs);
		if (n == 0)
			return;
		for (uint64_t i = 0; i < n; i++) {
			if (values)
				pairs[i][1] =
					hi_py_word(&c->reader, values + l->values_items +
								       (from + i) * 8);
			if (pairs[i][1] && !fn(arg, pairs[i][0], pairs[i][1]))
				return;
		}
	}
}

void hi_py_visit_odict(struct hi_py_visit *v, const struct hi_py_object *o)
{
	struct hi_py_reader *r = &v->c->reader;
	uint64_t used = hi_py_word(r, o->addr + v->c->py->layout->dict_used);
	uint64_t node = hi_py_word(r, o->addr + ODICT_FIRST);

	struct hi_py_chain chain = {};

	hi_py_visit_dict(v, o);
	hi_py_emit_memory(v, hi_py_word(r, o->addr + ODICT_FAST_NODES),
			  HI_PY_BUFFER_ODICT_TABLE, "<fast nodes>");
	/* As many nodes as there are items: the list may be torn. */
	for (uint64_t i = 0; node && i < used && !v->stopped; i++) {
		if (hi_py_is_cycle(&chain, node) ||
		    !hi_py_bound(v, node, 0, 1, ODICT_NODE)) {
			v->is_cut = true;
			return;
		}
		hi_py_emit_memory(v, node, HI_PY_BUFFER_ODICT_NODE, "<node>");
		if (v->fn)
			hi_py_emit(v, hi_py_word(r, node), HI_GRADE_EXACT, HI_LABEL_FIELD,
				   "<key>", 0);
		if (!hi_py_u64(r, node + ODICT_NEXT, &node))
			return;
	}
}

/* A small one has its table inside. */
static uint64_t bound_set(struct hi_py_visit *v, const struct hi_py_object *o,
			  uint64_t table, uint64_t n)
{
	if (table != o->addr + SET_SMALL)
		return hi_py_bound(v, table, 0, n, SET_ENTRY);
	v->is_cut |= n > SET_SMALL_ENTRIES;
	return n < SET_SMALL_ENTRIES ? n : SET_SMALL_ENTRIES;
}

void hi_py_visit_set(struct hi_py_visit *v, const struct hi_py_object *o)
{
	struct hi_py_reader *r = &v->c->reader;
	uint64_t mask = hi_py_word(r, o->addr + SET_MASK), n = 0, size;
	uint64_t table = hi_py_word(r, o->addr + SET_TABLE), raw[2 * BATCH];

	if (table != o->addr + SET_SMALL)
		hi_py_emit_memory(v, table, HI_PY_BUFFER_SET_TABLE, "<table>");
	if (!v->fn)
		return;
	if (mask >= UINT64_C(1) << MAX_LOG2 || (mask & (mask + 1))) {
		v->is_cut = true;
		return;
	}
	size = bound_set(v, o, table, mask + 1);
	for (uint64_t from = 0; from < size; from += n) {
		n = size - from < BATCH ? size - from : BATCH;
		if (!hi_py_read(r, table + from * SET_ENTRY, raw, n * SET_ENTRY))
			return;
		for (uint64_t i = 0; i < n; i++)
			if (raw[2 * i] && !hi_py_emit(v, raw[2 * i], HI_GRADE_EXACT,
						      HI_LABEL_FIELD, "<element>", 0))
				return;
	}
}
