/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What each block holds. An object's second word is its type, behind what its type
 * puts in front of it; its size must be what the allocator gave such a block for.
 * A block that is part of an object (a dict's keys) is named by its owner, whatever
 * its bytes look like.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "decode/runtimes/cpython.h"

enum {
	OBJECT_SIZE = 16,
	INT_SIGN = 3, /* of a tag */
	INT_NEGATIVE = 2,
	STATE_KIND_SHIFT = 2,
	STATE_COMPACT = 1 << 5,
	STATE_ASCII = 1 << 6,
	TIME_HAS_ZONE = 24, /* PyDateTime_Time, PyDateTime_DateTime */
	TIME_ZONE = 32,
	DATETIME_ZONE = 40,
	SLACK = 32,
	MAPPED = 128 << 10, /* from here on blocks may be whole pages */
	MAPPED_SLACK = 8192,
	MAX_FREE_LIST = 4096,
	LARGE_REFCNT = 1 << 20,
	CHUNK = 1 << 14,
	MAX_WORKERS = 64,
	MIN_SHARE = 512, /* bytes of tables for each object */
};

/* An int has a tag of its sign beside the number of its digits, from 3.12 on. */
static int64_t n_items(struct hi_runtime_cursor *c, uint64_t addr,
		       const struct hi_py_type *type)
{
	uint64_t word = hi_py_word(&c->reader, addr + HI_PY_SIZE);

	if (type->family != HI_PY_INT || !c->py->layout->int_tag_bits)
		return (int64_t)word;
	return (int64_t)(word >> c->py->layout->int_tag_bits) *
	       ((word & INT_SIGN) == INT_NEGATIVE ? -1 : 1);
}

/* An object in a free list may have the next one in the place of the count. */
static uint64_t read_count(struct hi_runtime_cursor *c, uint64_t addr, uint64_t word)
{
	uint64_t unused, count = hi_py_refcnt(c->py->layout, word);

	return count >= LARGE_REFCNT && hi_table_get(&c->py->freed, addr, &unused)
		       ? 0
		       : count;
}

bool hi_py_object_at(struct hi_runtime_cursor *c, uint64_t addr, struct hi_py_object *ret)
{
	uint64_t head[2], count;

	if (addr % 8 || !hi_py_read(&c->reader, addr, head, sizeof(head)))
		return false;
	count = read_count(c, addr, head[0]);
	if (count >= HI_PY_MAX_REFCNT)
		return false;
	ret->type = hi_py_type_at(c, head[1]);
	if (!ret->type)
		return false;
	ret->addr = addr;
	ret->room = 0;
	ret->refcnt = count;
	ret->size = ret->type->itemsize ? n_items(c, addr, ret->type) : 0;
	return true;
}

static uint64_t str_size(struct hi_runtime_cursor *c, const struct hi_py_object *o)
{
	const struct hi_py_layout *l = c->py->layout;
	uint64_t length = hi_py_word(&c->reader, o->addr + l->str_length);
	uint32_t state = hi_py_u32(&c->reader, o->addr + l->str_state);
	uint32_t kind = state >> STATE_KIND_SHIFT & 7;

	if (!(state & STATE_COMPACT) || !o->type->exact)
		return o->type->presize + o->type->basicsize;
	if (length >= UINT64_C(1) << 40 || (kind != 1 && kind != 2 && kind != 4))
		return UINT64_MAX / 2;
	return state & STATE_ASCII ? l->str_ascii_data + length + 1
				   : l->str_compact_data + (length + 1) * kind;
}

/* datetime.h: without one it is allocated without the last word. Subclasses of Python
 * have the word, unused. */
uint32_t hi_py_time_zone(struct hi_runtime_cursor *c, const struct hi_py_object *o)
{
	uint8_t has = 0;

	if (!hi_py_read(&c->reader, o->addr + TIME_HAS_ZONE, &has, 1) || !has)
		return 0;
	return o->type->family == HI_PY_TIME ? TIME_ZONE : DATETIME_ZONE;
}

static uint64_t tail_size(struct hi_runtime_cursor *c, const struct hi_py_object *o)
{
	return c->py->layout->tail_size ? c->py->layout->tail_size(c, o) : 0;
}

/* Bytes that it asked its allocator for, what is in front included; 0: any. */
static uint64_t object_size_of(struct hi_runtime_cursor *c, const struct hi_py_object *o)
{
	uint64_t n = o->size < 0 ? 0 - (uint64_t)o->size : (uint64_t)o->size;

	switch (o->type->family) {
	case HI_PY_GENERATOR: /* as many items as their code needs */
	case HI_PY_FRAME:
		return 0;
	case HI_PY_STR:
		return str_size(c, o) + tail_size(c, o);
	case HI_PY_TIME:
	case HI_PY_DATETIME:
		return o->type->presize + o->type->basicsize + tail_size(c, o) -
		       (o->type->exact && !hi_py_time_zone(c, o) ? HI_PY_PTR : 0);
	default:
		break;
	}
	if (n >= UINT64_C(1) << 40)
		return UINT64_MAX / 2;
	if (n < o->type->n_hidden)
		n = o->type->n_hidden;
	return o->type->presize + o->type->basicsize + n * o->type->itemsize +
	       tail_size(c, o);
}

/* Blocks are rounded up, and shrink only when a quarter is saved. */
static bool size_fits_block(uint64_t need, uint64_t size)
{
	return need <= size && (size - need < SLACK || need >= size - size / 4 ||
				(size >= MAPPED && size - need < MAPPED_SLACK));
}

static bool object_fits(struct hi_runtime_cursor *c, const struct hi_py_object *o,
			uint64_t size)
{
	uint64_t need = object_size_of(c, o);

	if (need == 0)
		return o->type->presize + o->type->basicsize <= size;
	/* PyType_GenericAlloc adds an item. */
	return size_fits_block(need, size) ||
	       (o->type->itemsize && size_fits_block(need + o->type->itemsize, size));
}

/* The next one in the collector's list, in words of which some bits are flags. */
static uint64_t next_tracked(struct hi_runtime_cursor *c, const uint64_t *head)
{
	return head[0] & ~c->py->layout->gc_next_flags;
}

/* In the collector's list, or in none. The head of a list may be aligned by 4 bytes only
 * (3.13.5). */
static bool is_gc_head(struct hi_runtime_cursor *c, const uint64_t *head)
{
	uint64_t next = next_tracked(c, head);

	return head[0] == 0 || (next % 4 == 0 && next >= 4096);
}

/* The list leads to it and back. */
static bool is_linked_back(struct hi_runtime_cursor *c, uint64_t addr, uint64_t next)
{
	uint64_t back;

	return next && hi_py_u64(&c->reader, next + HI_PY_PTR, &back) &&
	       (back & ~(uint64_t)HI_PY_GC_PREV_FLAGS) == addr;
}

/* A reference count that may be an address: values of an instance begin like an object
 * where one of them is False and the next a class. The collector's list decides, unless
 * the collector runs. */
static bool is_in_list(struct hi_runtime_cursor *c, uint64_t addr, const uint64_t *head,
		       uint64_t refcnt)
{
	uint64_t next = next_tracked(c, head);

	if (refcnt < LARGE_REFCNT || c->py->base.collecting)
		return true;
	if (!next)
		return !(head[1] & ~(uint64_t)HI_PY_GC_PREV_FLAGS);
	return is_linked_back(c, addr, next);
}

bool hi_py_is_marked(struct hi_py_reader *r, uint64_t addr)
{
	static const uint8_t forbidden[7] = {0xfd, 0xfd, 0xfd, 0xfd, 0xfd, 0xfd, 0xfd};
	uint8_t mark[8];

	/* Begins with the allocator's letter; what stands after a block does not. */
	return hi_py_read(r, addr - sizeof(mark), mark, sizeof(mark)) &&
	       (mark[0] == 'r' || mark[0] == 'm' || mark[0] == 'o') &&
	       memcmp(mark + 1, forbidden, sizeof(forbidden)) == 0;
}

void hi_py_skip_marks(struct hi_runtime_cursor *c, uint64_t *block, uint64_t *size)
{
	while (c->py->has_marks && *size >= HI_PY_DEBUG_FRONT + HI_PY_DEBUG_BACK &&
	       hi_py_is_marked(&c->reader, *block + HI_PY_DEBUG_FRONT)) {
		*block += HI_PY_DEBUG_FRONT;
		*size -= HI_PY_DEBUG_FRONT + HI_PY_DEBUG_BACK;
	}
}

/* A class of C that lies in a block: NumPy copies those of its dtypes. The collector
 * knows classes that Python made alone. */
bool hi_py_is_static_class(struct hi_runtime_cursor *c, const struct hi_py_object *o)
{
	uint64_t flags;

	return o->type->family == HI_PY_TYPE_OBJECT &&
	       hi_py_u64(&c->reader, o->addr + c->py->layout->type_flags, &flags) &&
	       (flags & HI_PY_READY) && !(flags & HI_PY_HEAPTYPE);
}

bool hi_py_object_in(struct hi_runtime_cursor *c, uint64_t block, uint64_t size,
		     struct hi_py_object *ret)
{
	static const uint8_t in_front[] = {HI_PY_GC_HEAD, 32, 0};
	uint64_t words[6] = {};
	size_t have;

	hi_py_skip_marks(c, &block, &size);
	have = size < sizeof(words) ? (size_t)size & ~(size_t)7 : sizeof(words);
	if (size < OBJECT_SIZE || !hi_py_read(&c->reader, block, words, have))
		return false;
	for (size_t i = 0; i < sizeof(in_front); i++) {
		unsigned at = in_front[i] / 8;
		uint64_t count;

		if (in_front[i] + (uint64_t)OBJECT_SIZE > size || words[at + 1] < 4096 ||
		    words[at + 1] % 8)
			continue;
		count = read_count(c, block + in_front[i], words[at]);
		if (count >= HI_PY_MAX_REFCNT)
			continue;
		if (at && (!is_gc_head(c, &words[at - 2]) ||
			   !is_in_list(c, block + in_front[i] - HI_PY_GC_HEAD,
				       &words[at - 2], count)))
			continue;
		if (!hi_py_object_at(c, block + in_front[i], ret))
			continue;
		if (in_front[i] == 0 && hi_py_is_static_class(c, ret) &&
		    size_fits_block(ret->type->basicsize, size)) {
			ret->room = size;
			return true;
		}
		if ((unsigned)ret->type->presize == in_front[i] &&
		    object_fits(c, ret, size)) {
			ret->room = size - in_front[i];
			return true;
		}
	}
	return false;
}

/* ---- all blocks ---- */

struct typing {
	struct hi_py *py;
	const struct hi_objects *objects;
	hi_runtime_type_fn *fn;
	void *arg;
	struct hi_runtime_cursor *cursors[MAX_WORKERS];
	struct wanted { /* of tables: bytes, and by how many objects */
		uint64_t used, owners;
	} wanted[MAX_WORKERS];
};

struct typing_cursor {
	struct typing *t;
	struct hi_runtime_cursor *c;
};

/* No bytes of a buffer can make the collector's list lead to it. */
static bool is_tracked_object(struct typing *t, struct hi_runtime_cursor *c, hi_node id)
{
	struct hi_py_object o;
	uint64_t head[2];

	return hi_py_object_in(c, hi_objects_address(t->objects, id),
			       hi_objects_usable(t->objects, id), &o) &&
	       o.refcnt && (o.type->flags & HI_PY_HAVE_GC) &&
	       hi_py_read(&c->reader, o.addr - HI_PY_GC_HEAD, head, sizeof(head)) &&
	       is_linked_back(c, o.addr - HI_PY_GC_HEAD, next_tracked(c, head));
}

/* A text that fills its block, and so no object: that begins with a number. */
static bool is_text(struct hi_runtime_cursor *c, uint64_t addr, uint64_t size)
{
	uint8_t bytes[128];
	uint64_t at = 0, now = 0;

	hi_py_skip_marks(c, &addr, &size);
	for (; at < size; at += now) {
		const uint8_t *end;

		now = size - at < sizeof(bytes) ? size - at : sizeof(bytes);
		if (!hi_py_read(&c->reader, addr + at, bytes, now))
			return false;
		end = memchr(bytes, 0, now);
		if (end)
			return size_fits_block(at + (uint64_t)(end - bytes) + 1, size);
	}
	return false;
}

static bool can_be_buffer(const struct typing_cursor *at, hi_node id,
			  enum hi_py_buffer what)
{
	return what == HI_PY_BUFFER_TYPE_NAME
		       ? is_text(at->c, hi_objects_address(at->t->objects, id),
				 hi_objects_usable(at->t->objects, id))
		       : !is_tracked_object(at->t, at->c, id);
}

/* Members of a chain are counted when it is followed. An object whose words somebody has
 * overwritten may lead to another object instead. */
static uint64_t type_owned_buffer(void *arg, uint64_t addr, enum hi_py_buffer what)
{
	const struct typing_cursor *at = arg;
	struct typing *t = at->t;
	hi_node id = hi_objects_find(t->objects, addr, NULL);

	if (id == HI_NODE_NONE || !can_be_buffer(at, id, what))
		return 0;
	t->fn(t->arg, id, what, true);
	return what == HI_PY_BUFFER_DEQUE_BLOCK || what == HI_PY_BUFFER_ODICT_NODE
		       ? 0
		       : hi_objects_usable(t->objects, id);
}

static bool has_memory(const struct hi_py_type *type)
{
	switch (type->family) {
	case HI_PY_DICT:
	case HI_PY_ODICT:
	case HI_PY_LIST:
	case HI_PY_SET:
	case HI_PY_TYPE_OBJECT:
	case HI_PY_CODE:
	case HI_PY_DEQUE:
	case HI_PY_STR:
	case HI_PY_BYTEARRAY:
	case HI_PY_ARRAY:
	case HI_PY_LRU_CACHE:
	case HI_PY_NDARRAY:
	case HI_PY_VOID:
		return true;
	default:
		break;
	}
	if (type->is_managed)
		return true;
	for (uint32_t i = 0; i < type->n_fields; i++)
		if (type->fields[i].kind == HI_PY_MEMORY ||
		    type->fields[i].kind == HI_PY_WORDS)
			return true;
	return false;
}

static void visit_owner(struct typing *t, struct hi_runtime_cursor *c,
			const struct hi_py_object *o, struct wanted *w)
{
	struct typing_cursor at = {t, c};
	struct hi_py_visit v = {.c = c, .arg = &at, .memory = type_owned_buffer};

	/* More than there is: it will not be read. */
	if (w->used > c->py->budget)
		v.share = MIN_SHARE;
	hi_py_visit(&v, o);
	w->used += v.used;
	w->owners += v.used != 0;
}

/* Others of its type have something in front. */
static void note_front(struct typing *t, const struct hi_py_type *type)
{
	pthread_mutex_lock(&t->py->lock);
	t->py->types.items[type->type].fronts_differ = true;
	pthread_mutex_unlock(&t->py->lock);
}

static void type_block(struct typing *t, struct hi_runtime_cursor *c, struct wanted *w,
		       hi_node id)
{
	uint64_t block = hi_objects_address(t->objects, id);
	struct hi_py_object o;

	if (!hi_py_object_in(c, block, hi_objects_usable(t->objects, id), &o))
		return;
	if (o.type->presize && o.addr < block + t->py->base.marks + o.type->presize)
		note_front(t, o.type);
	if (o.refcnt == 0) {
		t->fn(t->arg, id, hi_py_freed_type(t->py, o.type), false);
		return;
	}
	t->fn(t->arg, id,
	      o.type->family == HI_PY_NDARRAY ? hi_py_ndarray_type(c, &o) : o.type->type,
	      false);
	if (has_memory(o.type))
		visit_owner(t, c, &o, w);
}

static void type_chunk(void *arg, size_t task, unsigned worker)
{
	struct typing *t = arg;
	hi_node first = (hi_node)task * CHUNK, end = first + CHUNK;

	if (end > t->objects->count || end < first)
		end = t->objects->count;
	for (hi_node id = first; id < end; id++)
		if (!(t->objects->flags[id] & HI_OBJECT_INTERNAL))
			type_block(t, t->cursors[worker], &t->wanted[worker], id);
}

uint64_t hi_py_next_free(struct hi_py_reader *r, const struct hi_py_free_list *f,
			 uint64_t addr)
{
	if (f->first_word)
		return hi_py_word(r, addr);
	return f->link ? hi_py_word(r, addr + f->link) : 0;
}

/* Memory that a free list keeps and that is no object any more; or objects that a
 * cursor would not know otherwise. */
static void take_free_list(struct typing_cursor *own, const struct hi_py_free_list *f,
			   uint64_t at)
{
	enum hi_py_buffer what = f->buffer ? (enum hi_py_buffer)f->buffer
				 : f->link ? HI_PY_BUFFER_FREE_FLOAT
					   : HI_PY_BUFFER_FREE_KEYS;
	struct hi_py_chain chain = {};

	for (int k = 0; at && k < MAX_FREE_LIST && !hi_py_is_cycle(&chain, at); k++) {
		if (f->is_memory)
			type_owned_buffer(own, at, what);
		else if (!hi_table_put(&own->t->py->freed, at, 0))
			own->t->py->no_memory = true;
		at = hi_py_next_free(&own->t->py->reader, f, at);
	}
}

static void take_free_lists(struct typing_cursor *own, uint64_t interp)
{
	const struct hi_py *py = own->t->py;
	struct hi_py_reader *r = &own->t->py->reader;

	for (const struct hi_py_free_list *f = py->layout->free_lists; f->n; f++) {
		uint32_t n = f->count ? hi_py_u32(r, interp + f->count) : f->n;
		uint32_t stride = f->stride ? f->stride : HI_PY_PTR;

		if (!f->is_memory && !f->first_word)
			continue;
		for (uint32_t i = 0; i < n && i < f->n; i++)
			take_free_list(own, f,
				       hi_py_word(r, interp + f->lists + i * stride));
	}
}

static void type_own_memory(struct typing *t)
{
	struct typing_cursor own = {t, t->cursors[0]};

	/* The first thread of an interpreter lies inside it: the later word counts. */
	for (size_t i = 0; i < t->py->threads.count; i++)
		type_owned_buffer(&own, t->py->threads.items[i], HI_PY_BUFFER_THREAD);
	for (size_t i = 0; i < t->py->interpreters.count; i++) {
		uint64_t addr = t->py->interpreters.items[i].addr;

		take_free_lists(&own, addr);
		type_owned_buffer(&own, addr, HI_PY_BUFFER_INTERPRETER);
	}
	for (size_t i = 0; i < t->py->arena_tables.count; i++)
		type_owned_buffer(&own, t->py->arena_tables.items[i],
				  HI_PY_BUFFER_ARENAS);
}

static struct wanted type_all(struct typing *t, unsigned threads)
{
	struct wanted sum = {};

	memset(t->wanted, 0, sizeof(t->wanted));
	hi_parallel(threads, ((size_t)t->objects->count + CHUNK - 1) / CHUNK, type_chunk,
		    t);
	for (unsigned i = 0; i < threads; i++) {
		sum.used += t->wanted[i].used;
		sum.owners += t->wanted[i].owners;
	}
	return sum;
}

/* See Note [Tables and their blocks] in cpython_bounds.c. */
static void type_and_bound(struct typing *t, unsigned threads)
{
	struct hi_py *py = t->py;
	struct wanted all;

	py->share = py->budget;
	all = type_all(t, threads);
	if (all.used <= py->budget)
		return;
	py->share = py->budget / all.owners;
	if (py->share < MIN_SHARE)
		py->share = MIN_SHARE;
}

enum hi_status hi_py_type_of(struct hi_runtime *runtime, const struct hi_objects *objects,
			     unsigned threads, hi_runtime_type_fn *fn, void *arg,
			     struct hi_error *err)
{
	struct hi_py *py = (struct hi_py *)runtime;
	struct typing t = {.py = py, .objects = objects, .fn = fn, .arg = arg};
	bool ok = true;

	py->base.objects = objects;
	threads = threads < MAX_WORKERS ? threads : MAX_WORKERS;
	for (unsigned i = 0; i < threads; i++) {
		t.cursors[i] = hi_runtime_cursor(runtime);
		ok &= t.cursors[i] != NULL;
	}
	if (ok) {
		type_own_memory(&t);
		type_and_bound(&t, threads);
	}
	for (unsigned i = 0; i < threads; i++)
		hi_runtime_cursor_free(runtime, t.cursors[i]);
	return ok && !py->no_memory ? HI_OK : hi_fail_memory(err, "types of the runtime");
}
