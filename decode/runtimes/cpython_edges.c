/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What an object refers to, as its tp_traverse would report it, and what that leaves out
 * because it cannot be in a cycle (strings, code), with a name for each. Sources: the
 * tp_traverse and tp_dealloc of each type, CPython 3.8 to 3.14.
 */
#include <string.h>

#include "decode/runtimes/cpython.h"

enum {
	BATCH = 64,
	LIST_ITEMS = 24, /* PyListObject.ob_item */
	LRU_NEXT = 24,	 /* lru_cache_object, lru_list_elem */
	LRU_CACHE = 72,
	DEQUE_LEFT = 24, /* dequeobject; a block is leftlink, 64 items, rightlink */
	DEQUE_RIGHT = 32,
	DEQUE_LEFT_INDEX = 40,
	DEQUE_RIGHT_INDEX = 48,
	DEQUE_MAX_FREE = 16,
	DEQUE_BLOCK_ITEMS = 64,
	DEQUE_BLOCK_DATA = 8,
	DEQUE_BLOCK_NEXT = 520,
	BYTEARRAY_BYTES = 32,
	ARRAY_ITEMS = 24,
	STATE_COMPACT = 1 << 5, /* PyASCIIObject.state: interned 2, kind 3 bits, … */
	STATE_ASCII = 1 << 6,
	FRAME_EXECUTING = 0,
	FRAME_CLEARED = 4,
	EXCEPTION_DICT = 16,
};

static bool emit_object_edge(struct hi_py_visit *v, const struct hi_runtime_edge *edge)
{
	if (v->stopped || !edge->to || !v->fn)
		return !v->stopped;
	v->stopped = !v->fn(v->arg, edge);
	return !v->stopped;
}

bool hi_py_emit(struct hi_py_visit *v, uint64_t to, enum hi_grade grade,
		enum hi_edge_label label, const char *name, uint64_t value)
{
	return emit_object_edge(
		v, &(struct hi_runtime_edge){.to = to,
					     .grade = grade,
					     .label = label,
					     .name = name,
					     .value = value,
					     .owned = grade == HI_GRADE_EXACT &&
						      !v->is_hidden});
}

void hi_py_emit_memory(struct hi_py_visit *v, uint64_t to, enum hi_py_buffer what,
		       const char *name)
{
	if (!to)
		return;
	if (v->memory)
		v->used += v->memory(v->arg, to, what);
	hi_py_emit(v, to, HI_GRADE_EXACT, HI_LABEL_FIELD, name, 0);
}

static void visit_pointer_array(struct hi_py_visit *v, uint64_t items, uint64_t n)
{
	uint64_t words[BATCH];

	for (uint64_t from = 0; from < n; from += BATCH) {
		uint64_t now = n - from < BATCH ? n - from : BATCH;

		if (!hi_py_read(&v->c->reader, items + from * 8, words, now * 8))
			return;
		for (uint64_t i = 0; i < now; i++)
			if (!hi_py_emit(v, words[i], HI_GRADE_EXACT, HI_LABEL_INDEX, NULL,
					from + i))
				return;
	}
}

/* How many of n references, from an offset on, lie in the object's own block. */
static uint64_t bound_own(struct hi_py_visit *v, const struct hi_py_object *o,
			  uint64_t from, uint64_t n)
{
	uint64_t room = o->room > from ? (o->room - from) / HI_PY_PTR : 0;

	v->is_cut |= n > room;
	return n < room ? n : room;
}

static void visit_list(struct hi_py_visit *v, const struct hi_py_object *o)
{
	uint64_t items = hi_py_word(&v->c->reader, o->addr + LIST_ITEMS);
	int64_t n = (int64_t)hi_py_word(&v->c->reader, o->addr + HI_PY_SIZE);

	hi_py_emit_memory(v, items, HI_PY_BUFFER_LIST_ITEMS, "<items>");
	if (v->fn && n > 0)
		visit_pointer_array(v, items,
				    hi_py_bound(v, items, 0, (uint64_t)n, HI_PY_PTR));
}

/* Structures like os.stat_result: more items than ob_size, up to basicsize (3.8), as
 * many as the type has members, or those for which basicsize has room (3.13). */
static void visit_tuple(struct hi_py_visit *v, const struct hi_py_object *o)
{
	uint32_t items = v->c->py->layout->tuple_items;
	uint64_t n = o->size > 0 ? (uint64_t)o->size : 0;
	uint64_t hidden = (o->type->basicsize - items) / 8;

	if (o->type->dictoffset == 0 && v->c->py->layout->tuple_hides_more)
		n += hidden;
	else if (o->type->dictoffset == 0 && hidden > n)
		n = hidden;
	if (o->type->n_hidden > n)
		n = o->type->n_hidden;
	if (v->fn)
		visit_pointer_array(v, o->addr + items, bound_own(v, o, items, n));
}

static void visit_items(struct hi_py_visit *v, const struct hi_py_object *o)
{
	uint64_t first = o->type->basicsize;

	if (v->fn && o->size > 0)
		visit_pointer_array(v, o->addr + first,
				    bound_own(v, o, first, (uint64_t)o->size));
}

static void visit_deque_block(struct hi_py_visit *v, uint64_t block, uint64_t from,
			      uint64_t to, uint64_t *index)
{
	for (uint64_t i = from; i < to && i < DEQUE_BLOCK_ITEMS; i++)
		if (!hi_py_emit(
			    v,
			    hi_py_word(&v->c->reader, block + DEQUE_BLOCK_DATA + i * 8),
			    HI_GRADE_EXACT, HI_LABEL_INDEX, NULL, (*index)++))
			return;
}

static void visit_free_blocks(struct hi_py_visit *v, const struct hi_py_object *o)
{
	const struct hi_py_layout *l = v->c->py->layout;
	struct hi_py_reader *r = &v->c->reader;
	uint64_t n = l->deque_n_free ? hi_py_word(r, o->addr + l->deque_n_free) : 0;

	for (uint64_t i = 0; i < n && i < DEQUE_MAX_FREE; i++)
		hi_py_emit_memory(v, hi_py_word(r, o->addr + l->deque_free + i * 8),
				  HI_PY_BUFFER_DEQUE_BLOCK, "<free block>");
}

/* True: a whole block is there, and it is not one of an earlier object. */
static bool is_deque_block(struct hi_py_visit *v, struct hi_py_chain *chain,
			   uint64_t block)
{
	if (!hi_py_is_cycle(chain, block))
		return hi_py_bound(v, block, 0, 1, DEQUE_BLOCK_NEXT + HI_PY_PTR);
	v->is_cut = true;
	return false;
}

static void visit_deque(struct hi_py_visit *v, const struct hi_py_object *o)
{
	struct hi_py_reader *r = &v->c->reader;
	uint64_t block = hi_py_word(r, o->addr + DEQUE_LEFT), index = 0;
	uint64_t right = hi_py_word(r, o->addr + DEQUE_RIGHT);
	uint64_t from = hi_py_word(r, o->addr + DEQUE_LEFT_INDEX);
	uint64_t to = hi_py_word(r, o->addr + DEQUE_RIGHT_INDEX) + 1;
	int64_t size = (int64_t)hi_py_word(r, o->addr + HI_PY_SIZE);
	struct hi_py_chain chain = {};

	/* As many blocks as the items need, and two. */
	for (int64_t i = 0; block && i <= size / DEQUE_BLOCK_ITEMS + 1 && !v->stopped &&
			    is_deque_block(v, &chain, block);
	     i++) {
		hi_py_emit_memory(v, block, HI_PY_BUFFER_DEQUE_BLOCK, "<block>");
		if (v->fn)
			visit_deque_block(v, block, from,
					  block == right ? to : DEQUE_BLOCK_ITEMS,
					  &index);
		if (block == right || !hi_py_u64(r, block + DEQUE_BLOCK_NEXT, &block))
			break;
		from = 0;
	}
	visit_free_blocks(v, o);
}

/* True: a link is there, and it is not one of an earlier object. */
static bool is_link(struct hi_py_visit *v, struct hi_py_chain *chain, uint64_t link)
{
	struct hi_py_object o;
	uint64_t share = v->share ? v->share : v->c->py->share;

	if (!hi_py_is_cycle(chain, link) && hi_py_object_at(v->c, link, &o) &&
	    o.type->family == HI_PY_LINK && v->used < share) {
		v->used += o.type->basicsize;
		return true;
	}
	v->is_cut = true;
	return false;
}

/* The list owns its links; they own key and result. */
static void visit_lru_cache(struct hi_py_visit *v, const struct hi_py_object *o)
{
	struct hi_py_reader *r = &v->c->reader;
	uint64_t cache = hi_py_word(r, o->addr + LRU_CACHE);
	uint64_t n = hi_py_word(r, cache + v->c->py->layout->dict_used);
	uint64_t link = hi_py_word(r, o->addr + LRU_NEXT);
	struct hi_py_chain chain = {};

	for (uint64_t i = 0;
	     link && link != o->addr && i < n && !v->stopped && is_link(v, &chain, link);
	     i++) {
		hi_py_emit(v, link, HI_GRADE_EXACT, HI_LABEL_INDEX, NULL, i);
		link = hi_py_word(r, link + LRU_NEXT);
	}
}

/* A frame that lies in an object has its slots in that one's block. */
static void visit_own_frame(struct hi_py_visit *v, const struct hi_py_object *o,
			    struct hi_py_frame *frame)
{
	uint64_t at = frame->slots - o->addr;

	frame->room = at < o->room ? o->room - at : 0;
	hi_py_visit_frame(v, frame, false);
}

static void visit_generator(struct hi_py_visit *v, const struct hi_py_object *o)
{
	const struct hi_py_layout *l = v->c->py->layout;
	struct hi_py_frame frame;
	int8_t state;

	if (v->fn && hi_py_read(&v->c->reader, o->addr + l->gen_state, &state, 1) &&
	    state < FRAME_CLEARED && l->frame_at(v->c, o->addr + l->gen_frame, &frame)) {
		if (state == FRAME_EXECUTING)
			frame.stacktop = -1; /* one of the thread's */
		visit_own_frame(v, o, &frame);
	}
}

static void visit_frame_object(struct hi_py_visit *v, const struct hi_py_object *o)
{
	const struct hi_py_layout *l = v->c->py->layout;
	uint64_t own = o->addr + l->frameobj_data;
	struct hi_py_frame frame;

	if (!v->fn)
		return;
	if (!l->frameobj_frame) {
		if (l->frame_at(v->c, o->addr, &frame))
			visit_own_frame(v, o, &frame);
	} else if (hi_py_word(&v->c->reader, o->addr + l->frameobj_frame) == own &&
		   l->frame_at(v->c, own, &frame) && frame.of_object) {
		visit_own_frame(v, o, &frame);
	}
}

/* Its name is in a block of its own where C code made it so. A class statement has it
 * inside of a str, and later versions keep a copy for the class. */
static bool has_own_name(struct hi_runtime_cursor *c, uint64_t name)
{
	const struct hi_objects *objects = c->py->base.objects;
	uint64_t offset = 0;

	return objects && hi_objects_find(objects, name, &offset) != HI_NODE_NONE &&
	       (!offset || (c->py->has_marks && hi_py_is_marked(&c->reader, name)));
}

static void visit_type(struct hi_py_visit *v, const struct hi_py_object *o)
{
	const struct hi_py_layout *l = v->c->py->layout;
	struct hi_py_reader *r = &v->c->reader;
	uint64_t flags = hi_py_word(r, o->addr + l->type_flags);
	uint64_t name = hi_py_word(r, o->addr + l->type_name);

	if ((flags & HI_PY_HEAPTYPE) && l->heap_tpname)
		name = hi_py_word(r, o->addr + l->heap_tpname);
	if (has_own_name(v->c, name))
		hi_py_emit_memory(v, name, HI_PY_BUFFER_TYPE_NAME, "<name>");
	if (!(flags & HI_PY_HEAPTYPE))
		return;
	hi_py_emit_memory(v, hi_py_word(r, o->addr + l->heap_cached_keys),
			  HI_PY_BUFFER_DICT_KEYS, "<cached keys>");
	hi_py_emit_memory(v, hi_py_word(r, o->addr + l->type_doc), HI_PY_BUFFER_TYPE_NAME,
			  "<doc>");
}

static void visit_str(struct hi_py_visit *v, const struct hi_py_object *o)
{
	const struct hi_py_layout *l = v->c->py->layout;
	struct hi_py_reader *r = &v->c->reader;
	uint32_t state = hi_py_u32(r, o->addr + l->str_state);
	uint64_t wstr = l->str_wstr ? hi_py_word(r, o->addr + l->str_wstr) : 0;

	/* Where characters are as wide as a wchar_t, it is the string's own data. */
	if (wstr - o->addr >= o->room)
		hi_py_emit_memory(v, wstr, HI_PY_BUFFER_STR_DATA, "<wstr>");
	if ((state & STATE_COMPACT) && (state & STATE_ASCII))
		return;
	hi_py_emit_memory(v, hi_py_word(r, o->addr + l->str_utf8), HI_PY_BUFFER_STR_DATA,
			  "<utf8>");
	if (!(state & STATE_COMPACT))
		hi_py_emit_memory(v, hi_py_word(r, o->addr + l->str_any),
				  HI_PY_BUFFER_STR_DATA, "<data>");
}

static void visit_time(struct hi_py_visit *v, const struct hi_py_object *o)
{
	uint32_t zone = hi_py_time_zone(v->c, o);

	if (zone)
		hi_py_emit(v, hi_py_word(&v->c->reader, o->addr + zone), HI_GRADE_EXACT,
			   HI_LABEL_FIELD, "tzinfo", 0);
}

static void visit_family(struct hi_py_visit *v, const struct hi_py_object *o)
{
	switch (o->type->family) {
	case HI_PY_DICT:
		hi_py_visit_dict(v, o);
		break;
	case HI_PY_ODICT:
		hi_py_visit_odict(v, o);
		break;
	case HI_PY_LIST:
		visit_list(v, o);
		break;
	case HI_PY_TUPLE:
		visit_tuple(v, o);
		break;
	case HI_PY_ITEMS:
		visit_items(v, o);
		break;
	case HI_PY_SET:
		hi_py_visit_set(v, o);
		break;
	case HI_PY_DEQUE:
		visit_deque(v, o);
		break;
	case HI_PY_LRU_CACHE:
		visit_lru_cache(v, o);
		break;
	case HI_PY_GENERATOR:
		visit_generator(v, o);
		break;
	case HI_PY_FRAME:
		visit_frame_object(v, o);
		break;
	case HI_PY_TYPE_OBJECT:
		visit_type(v, o);
		break;
	case HI_PY_STR:
		visit_str(v, o);
		break;
	case HI_PY_TIME:
	case HI_PY_DATETIME:
		visit_time(v, o);
		break;
	case HI_PY_BYTEARRAY:
		hi_py_emit_memory(v, hi_py_word(&v->c->reader, o->addr + BYTEARRAY_BYTES),
				  HI_PY_BUFFER_BYTES, "<bytes>");
		break;
	case HI_PY_ARRAY:
		hi_py_emit_memory(v, hi_py_word(&v->c->reader, o->addr + ARRAY_ITEMS),
				  HI_PY_BUFFER_BYTES, "<items>");
		break;
	case HI_PY_NDARRAY:
		hi_py_visit_ndarray(v, o);
		break;
	case HI_PY_VOID:
		hi_py_visit_void(v, o);
		break;
	case HI_PY_DTYPE_1:
		hi_py_visit_dtype(v, o);
		break;
	case HI_PY_DTYPE_2:
	case HI_PY_PLAIN:
	case HI_PY_LINK:
	case HI_PY_OPAQUE:
	case HI_PY_OBJECT:
	case HI_PY_CODE:
	case HI_PY_INT:
	case HI_PY_BYTES:
	case HI_PY_FAMILIES:
		break;
	}
}

static enum hi_py_buffer buffer_of(const struct hi_py_type *t, enum hi_py_field_kind kind)
{
	if (t->family == HI_PY_NDARRAY)
		return HI_PY_BUFFER_NDARRAY_SHAPE;
	if (t->family == HI_PY_DTYPE_1)
		return HI_PY_BUFFER_DTYPE;
	if (t->family != HI_PY_CODE)
		return HI_PY_BUFFER_MODULE_STATE;
	return kind == HI_PY_WORDS ? HI_PY_BUFFER_CODE_CACHE : HI_PY_BUFFER_CODE_LINES;
}

/* The members of a class lie after it. */
static bool lies_inside(const struct hi_py_object *o, uint64_t to)
{
	return to - o->addr < (o->room ? o->room : o->type->basicsize);
}

static void visit_fields(struct hi_py_visit *v, const struct hi_py_object *o)
{
	static const enum hi_grade grades[] = {
		[HI_PY_STRONG] = HI_GRADE_EXACT,
		[HI_PY_DECLARED] = HI_GRADE_EXACT,
		[HI_PY_WEAK] = HI_GRADE_WEAK,
		[HI_PY_CONSERVATIVE] = HI_GRADE_CONSERVATIVE,
		[HI_PY_MEMORY] = HI_GRADE_EXACT,
		[HI_PY_WORDS] = HI_GRADE_EXACT,
		[HI_PY_POINTER] = HI_GRADE_EXACT};

	for (uint32_t i = 0; i < o->type->n_fields && !v->stopped; i++) {
		const struct hi_py_field *f = &o->type->fields[i];
		bool is_memory = f->kind == HI_PY_MEMORY || f->kind == HI_PY_WORDS;
		uint64_t to;

		if (is_memory || v->fn) {
			to = hi_py_word(&v->c->reader, o->addr + f->offset);
			if (f->kind == HI_PY_POINTER && lies_inside(o, to))
				continue;
			if (is_memory)
				hi_py_emit_memory(v, to, buffer_of(o->type, f->kind),
						  f->name);
			else
				emit_object_edge(
					v, &(struct hi_runtime_edge){
						   .to = to,
						   .grade = grades[f->kind],
						   .label = f->name ? HI_LABEL_FIELD
								    : HI_LABEL_OFFSET,
						   .name = f->name,
						   .value = f->offset,
						   .owned = f->kind == HI_PY_STRONG});
		}
	}
}

/* The dict of an object whose items are counted: behind the last one. */
static void visit_late_dict(struct hi_py_visit *v, const struct hi_py_object *o)
{
	uint64_t n = o->size < 0 ? 0 - (uint64_t)o->size : (uint64_t)o->size;
	uint64_t size = (o->type->basicsize + n * o->type->itemsize + 7) & ~UINT64_C(7);
	uint64_t at = size + (uint64_t)o->type->dictoffset;

	if (n < UINT32_MAX && bound_own(v, o, at, 1))
		hi_py_emit(v, hi_py_word(&v->c->reader, o->addr + at), HI_GRADE_EXACT,
			   HI_LABEL_FIELD, "__dict__", 0);
}

void hi_py_visit(struct hi_py_visit *v, const struct hi_py_object *o)
{
	visit_family(v, o);
	visit_fields(v, o);
	if (o->type->is_managed)
		v->c->py->layout->visit_managed(v, o);
	if (!v->fn)
		return;
	if (o->type->dictoffset < 0 && !o->type->is_managed)
		visit_late_dict(v, o);
	if (o->type->is_heap)
		hi_py_emit(v, o->type->addr, HI_GRADE_EXACT, HI_LABEL_FIELD, "__class__",
			   0);
}

/* What hangs on an object in a free list: the next one, in a word that depends on its
 * type. */
static void visit_freed(struct hi_py_visit *v, const struct hi_py_object *o)
{
	const struct hi_py_layout *l = v->c->py->layout;
	uint64_t next = 0;

	if (hi_table_get(&v->c->py->freed, o->addr, &next)) {
		hi_py_emit(v, hi_py_word(&v->c->reader, o->addr), HI_GRADE_EXACT,
			   HI_LABEL_FIELD, "<next free>", 0);
		return;
	}
	if (o->type->family == HI_PY_TUPLE)
		next = l->tuple_items;
	else if (o->type->family == HI_PY_FRAME && !l->frameobj_frame)
		next = l->frame_previous;
	for (uint32_t i = 0; i < o->type->n_fields && !next; i++) {
		const struct hi_py_field *f = &o->type->fields[i];

		if (f->name &&
		    (strcmp(f->name, "__self__") == 0 ||
		     (f->offset == EXCEPTION_DICT && strcmp(f->name, "__dict__") == 0)))
			next = f->offset;
	}
	if (next)
		hi_py_emit(v, hi_py_word(&v->c->reader, o->addr + next), HI_GRADE_EXACT,
			   HI_LABEL_FIELD, "<next free>", 0);
	if (!o->type->is_heap)
		return;
	/* Free lists of modules: the type is let go with the memory, and a field has the
	 * next one (FutureIter_dealloc in Modules/_asynciomodule.c, 3.12). */
	visit_fields(v, o);
	hi_py_emit(v, o->type->addr, HI_GRADE_EXACT, HI_LABEL_FIELD, "__class__", 0);
}

/* Nodes of OrderedDict, tables and the like are reported by their owners. */
void hi_py_edges(struct hi_runtime_cursor *c, uint64_t addr, uint64_t size, uint32_t type,
		 hi_runtime_edge_fn *fn, void *arg)
{
	struct hi_py_visit v = {.c = c, .fn = fn, .arg = arg};
	struct hi_py_object o;

	if (type == HI_PY_BUFFER_DICT_KEYS) {
		hi_py_skip_marks(c, &addr, &size);
		hi_py_visit_keys(&v, addr, size);
	} else if (type >= HI_PY_BUFFERS && hi_py_object_in(c, addr, size, &o)) {
		if (o.refcnt)
			hi_py_visit(&v, &o);
		else
			visit_freed(&v, &o);
	}
	c->n_cut += v.is_cut;
}

uint64_t hi_py_cut(const struct hi_runtime_cursor *c)
{
	return c->n_cut;
}

bool hi_py_counted(struct hi_runtime_cursor *c, uint64_t addr, uint64_t size,
		   uint32_t type, uint64_t *ret)
{
	struct hi_py_object o;

	if (type < HI_PY_BUFFERS || !hi_py_object_in(c, addr, size, &o) || !o.refcnt ||
	    (c->py->layout->immortal && (uint32_t)o.refcnt >> 31) ||
	    hi_py_is_static_class(c, &o))
		return false;
	*ret = o.refcnt;
	return true;
}
