/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Type objects, read once, by address. A type object's own type is a type, and so
 * on up to PyType_Type. What instances hold: cpython_fields.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "decode/runtimes/cpython.h"

enum {
	MAX_METATYPES = 8,
	MAX_MAKING = 8, /* a class, its metaclass, the classes of their names */
	MAX_BASICSIZE = 1 << 16,
	MAX_NAME = 200,
	OBJECT_SIZE = 16,
};

void hi_py_cursor_init(struct hi_runtime_cursor *c, struct hi_py *py)
{
	memset(c, 0, sizeof(*c));
	c->py = py;
	c->reader.memory = py->image->memory;
	c->reader.modules = py->modules;
}

bool hi_py_read_slow(struct hi_py_reader *r, uint64_t addr, void *buf, size_t size)
{
	size_t avail = 0;
	const uint8_t *host = hi_memory_view(r->memory, addr, &avail);

	if (!host || avail < size)
		return (r->modules ? hi_modules_read(r->modules, addr, buf, size, NULL)
				   : hi_memory_read(r->memory, addr, buf, size, NULL)) ==
		       HI_OK;
	r->windows[r->next] = (struct hi_py_window){addr, addr + avail, host};
	r->next = (r->next + 1) % 4;
	memcpy(buf, host, size);
	return true;
}

/* ---- names ---- */

uint32_t hi_py_name_type(struct hi_py *py, const struct hi_runtime_type *type)
{
	uint64_t key = hi_hash_key(type->name), index;
	struct hi_runtime_type copy = *type;

	/* Equal hashes of other names: the next key. */
	for (; hi_table_get(&py->by_name, key, &index); key++)
		if (strcmp(py->types.items[index].name, type->name) == 0) {
			py->types.items[index].fronts_differ |=
				py->types.items[index].front != type->front;
			return (uint32_t)index;
		}
	index = py->types.count;
	copy.name = hi_arena_strdup(&py->arena, type->name);
	copy.module = hi_arena_strdup(&py->arena, type->module ? type->module : "");
	if (!copy.name || !copy.module || !hi_vector_push(&py->types, copy) ||
	    !hi_table_put(&py->by_name, key, index)) {
		py->no_memory = true;
		return 0;
	}
	py->base.types = py->types.items;
	py->base.n_types = (uint32_t)py->types.count;
	return (uint32_t)index;
}

bool hi_py_name_buffers(struct hi_py *py)
{
	static const struct {
		const char *name;
		bool words;
		enum hi_type_class klass;
	} buffers[HI_PY_BUFFER_NDARRAY_DATA] = {
		[HI_PY_BUFFER_NONE] = {""},
		[HI_PY_BUFFER_DICT_KEYS] = {"dict keys", false, HI_TYPE_RECORD},
		[HI_PY_BUFFER_VALUES] = {"instance values", false, HI_TYPE_POINTER_ARRAY},
		[HI_PY_BUFFER_LIST_ITEMS] = {"list items", false, HI_TYPE_POINTER_ARRAY},
		[HI_PY_BUFFER_SET_TABLE] = {"set table", false, HI_TYPE_RECORD},
		[HI_PY_BUFFER_DEQUE_BLOCK] = {"deque block", false, HI_TYPE_RECORD},
		[HI_PY_BUFFER_ODICT_NODE] = {"OrderedDict node", false, HI_TYPE_RECORD},
		[HI_PY_BUFFER_ODICT_TABLE] = {"OrderedDict table", false,
					      HI_TYPE_POINTER_ARRAY},
		[HI_PY_BUFFER_STR_DATA] = {"str data", false, HI_TYPE_STRING},
		[HI_PY_BUFFER_BYTES] = {"buffer data", false, HI_TYPE_SCALAR},
		[HI_PY_BUFFER_CODE_LINES] = {"code lines", false, HI_TYPE_SCALAR},
		[HI_PY_BUFFER_CODE_CACHE] = {"code cache", true, HI_TYPE_RECORD},
		[HI_PY_BUFFER_TYPE_NAME] = {"type text", false, HI_TYPE_STRING},
		[HI_PY_BUFFER_MODULE_STATE] = {"module state", true, HI_TYPE_RECORD},
		[HI_PY_BUFFER_INTERPRETER] = {"PyInterpreterState", false,
					      HI_TYPE_RECORD},
		[HI_PY_BUFFER_THREAD] = {"PyThreadState", false, HI_TYPE_RECORD},
		[HI_PY_BUFFER_FREE_FLOAT] = {"float (free list)", false, HI_TYPE_RECORD},
		[HI_PY_BUFFER_FREE_KEYS] = {"dict keys (free list)", false,
					    HI_TYPE_RECORD},
		[HI_PY_BUFFER_FREE_WRITER] = {"str writer (free list)", false,
					      HI_TYPE_RECORD},
		[HI_PY_BUFFER_ARENAS] = {"pymalloc arenas", false, HI_TYPE_RECORD},
		[HI_PY_BUFFER_NDARRAY_SHAPE] = {"ndarray shape", false, HI_TYPE_SCALAR},
		[HI_PY_BUFFER_DTYPE] = {"dtype data", false, HI_TYPE_RECORD},
	};

	for (size_t i = 0; i < HI_PY_BUFFER_NDARRAY_DATA; i++)
		if (hi_py_name_type(py, &(struct hi_runtime_type){
						.name = buffers[i].name,
						.klass = buffers[i].klass,
						.words = buffers[i].words}) != i)
			return false;
	return hi_py_name_ndarray_buffers(py);
}

/* "module.Qualified.name" of a class made by Python or a spec. */
static bool heap_name(struct hi_runtime_cursor *c, uint64_t addr, char *module,
		      char *name, size_t size)
{
	const struct hi_py_layout *l = c->py->layout;
	char qualname[MAX_NAME];

	if (!hi_py_str(c, hi_py_word(&c->reader, addr + l->heap_qualname), qualname,
		       sizeof(qualname)))
		return false;
	if (*module && strcmp(module, "builtins") != 0)
		snprintf(name, size, "%s.%s", module, qualname);
	else
		snprintf(name, size, "%s", qualname);
	return true;
}

struct module_of {
	struct hi_runtime_cursor *c;
	char *out;
	size_t size;
};

static bool find_module(void *arg, uint64_t key, uint64_t value)
{
	struct module_of *m = arg;
	char text[32];

	if (!hi_py_str(m->c, key, text, sizeof(text)) || strcmp(text, "__module__") != 0)
		return true;
	if (!hi_py_str(m->c, value, m->out, m->size))
		m->out[0] = 0;
	return false;
}

static void read_type_object_name(struct hi_runtime_cursor *c, struct hi_py_type *t,
				  char *module, size_t module_size, char *name,
				  size_t size)
{
	const struct hi_py_layout *l = c->py->layout;
	struct module_of m = {c, module, module_size};
	uint64_t tp_name = hi_py_word(&c->reader, t->addr + l->type_name);
	char text[MAX_NAME] = "";
	char *dot;

	module[0] = 0;
	if (t->is_heap)
		hi_py_dict_items(c, hi_py_word(&c->reader, t->addr + l->type_dict), 256,
				 find_module, &m);
	if (t->is_heap && heap_name(c, t->addr, module, name, size))
		return;
	if (hi_modules_read(c->py->modules, tp_name, text, 1, NULL) == HI_OK)
		for (size_t i = 0; i + 1 < sizeof(text); i++)
			if (hi_modules_read(c->py->modules, tp_name + i, &text[i], 1,
					    NULL) != HI_OK ||
			    !text[i]) {
				text[i] = 0;
				break;
			}
	text[sizeof(text) - 1] = 0;
	snprintf(name, size, "%s", *text ? text : "(type without a name)");
	dot = strrchr(text, '.');
	snprintf(module, module_size, "%.*s", dot ? (int)(dot - text) : 8,
		 dot ? text : "builtins");
}

/* ---- is it a type? ---- */

const struct hi_py_builtin *hi_py_builtin_of(struct hi_py *py, const char *name,
					     uint64_t basicsize)
{
	for (const struct hi_py_builtin *b = hi_py_builtins; b->name; b++)
		if (b->basicsize == basicsize && hi_py_has_builtin(py->layout, b) &&
		    strcmp(b->name, name) == 0)
			return b;
	return NULL;
}

bool hi_py_type_name(struct hi_runtime_cursor *c, uint64_t type, char *out, size_t size)
{
	uint64_t at = hi_py_word(&c->reader, type + c->py->layout->type_name);

	for (size_t i = 0; i < size; i++) {
		if (hi_modules_read(c->py->modules, at + i, &out[i], 1, NULL) != HI_OK)
			return false;
		if (!out[i])
			return true;
	}
	return false;
}

static bool is_code(struct hi_runtime_cursor *c, uint64_t addr)
{
	const struct hi_mapping *m =
		addr ? hi_image_mapping_at(c->py->image, addr) : NULL;

	return m && (m->prot & HI_PROT_EXEC);
}

/* Types of C that were never given to PyType_Ready(): of the interpreter up to 3.9, of
 * f2py. Instances are freed by a function all the same. */
static bool is_used_unready(struct hi_runtime_cursor *c, const struct hi_py_type *t)
{
	char name[MAX_NAME];

	return !(t->flags & HI_PY_HEAPTYPE) && hi_modules_at(c->py->modules, t->addr) &&
	       hi_py_type_name(c, t->addr, name, sizeof(name)) && *name &&
	       (is_code(c, hi_py_word(&c->reader, t->addr + HI_PY_TYPE_DEALLOC)) ||
		hi_py_builtin_of(c->py, name, t->basicsize));
}

bool hi_py_read_type(struct hi_runtime_cursor *c, uint64_t addr, struct hi_py_type *t)
{
	const struct hi_py_layout *l = c->py->layout;
	struct hi_py_reader *r = &c->reader;
	uint64_t weak;

	*t = (struct hi_py_type){.addr = addr};
	if (addr % 8 || !hi_py_u64(r, addr + l->type_flags, &t->flags) ||
	    !hi_py_u64(r, addr + l->type_basicsize, &t->basicsize) ||
	    !hi_py_u64(r, addr + l->type_itemsize, &t->itemsize) ||
	    !hi_py_u64(r, addr + l->type_base, &t->base) ||
	    !hi_py_u64(r, addr + l->type_weaklist, &weak) ||
	    !hi_py_u64(r, addr + l->type_dictoffset, (uint64_t *)&t->dictoffset))
		return false;
	t->is_heap = t->flags & HI_PY_HEAPTYPE;
	t->has_weaklist = weak != 0;
	t->presize = (uint16_t)((t->flags & HI_PY_HAVE_GC ? HI_PY_GC_HEAD : 0) +
				(t->flags & l->preheader_flags ? l->managed_size : 0));
	/* Only what the collector knows has such a dict. */
	t->is_managed = l->visit_managed && (t->flags & HI_PY_MANAGED_DICT) &&
			(t->flags & HI_PY_HAVE_GC);
	return t->basicsize >= OBJECT_SIZE && t->basicsize < MAX_BASICSIZE &&
	       t->itemsize < MAX_BASICSIZE &&
	       ((t->flags & HI_PY_READY) || is_used_unready(c, t));
}

static bool reads_class_flag(struct hi_runtime_cursor *c, uint64_t addr)
{
	uint64_t flags;

	return addr % 8 == 0 &&
	       hi_py_u64(&c->reader, addr + c->py->layout->type_flags, &flags) &&
	       (flags & HI_PY_TYPE_SUBCLASS);
}

/* By the bases of a class, or by its class and that one's class. The first chain does not
 * end at "type" in a class that was never made ready, the second one where a program has
 * made a class its own class. */
static bool is_metaclass(struct hi_runtime_cursor *c, uint64_t addr, uint32_t link,
			 int max)
{
	for (int i = 0; i < max; i++) {
		if (addr == c->py->type_type)
			return true;
		if (!reads_class_flag(c, addr))
			return false;
		addr = hi_py_word(&c->reader, addr + link);
	}
	return false;
}

bool hi_py_is_type(struct hi_runtime_cursor *c, uint64_t addr)
{
	uint64_t class;

	if (addr % 8 || !hi_py_u64(&c->reader, addr + HI_PY_TYPE, &class))
		return false;
	return class == c->py->type_type ||
	       is_metaclass(c, class, c->py->layout->type_base, HI_PY_MAX_BASES) ||
	       is_metaclass(c, class, HI_PY_TYPE, MAX_METATYPES);
}

/* ---- the table ---- */

static enum hi_type_class class_of_type_object(const struct hi_py_type *t)
{
	switch (t->family) {
	case HI_PY_STR:
	case HI_PY_BYTES:
		return HI_TYPE_STRING;
	case HI_PY_INT:
		return HI_TYPE_SCALAR;
	default:
		return HI_TYPE_RECORD;
	}
}

/* Under the lock. */
static struct hi_py_type *make_type(struct hi_runtime_cursor *c, uint64_t addr)
{
	struct hi_py *py = c->py;
	char name[2 * MAX_NAME + 2], module[MAX_NAME];
	struct hi_py_field_list *fields;
	struct hi_py_type *t;

	if (py->all.count >= HI_PY_MAX_TYPES)
		return NULL;
	t = hi_arena_alloc(&py->arena, sizeof(*t));
	fields = hi_calloc(1, sizeof(*fields));
	if (!t || !fields || !hi_py_read_type(c, addr, t)) {
		py->no_memory |= !t || !fields;
		free(fields);
		return NULL;
	}
	hi_py_collect_fields(c, t, fields);
	if (t->family == HI_PY_TUPLE && !t->exact)
		t->n_hidden = hi_py_hidden_items(c, t);
	read_type_object_name(c, t, module, sizeof(module), name, sizeof(name));
	t->type = hi_py_name_type(
		py,
		&(struct hi_runtime_type){
			.name = name,
			.module = module,
			.size = t->itemsize ? 0 : t->basicsize,
			.klass = class_of_type_object(t),
			.front = (uint8_t)t->presize,
			.unseen = !(t->flags & HI_PY_HAVE_GC) && t->family != HI_PY_LINK,
			.uncollectable = hi_py_word(&c->reader, addr + HI_PY_TYPE_DEL)});
	if (!hi_py_keep_fields(py, t, fields) || !hi_vector_push(&py->all, t))
		py->no_memory = true;
	free(fields);
	return py->no_memory ? NULL : t;
}

static const struct hi_py_type *find_type_object(struct hi_runtime_cursor *c,
						 uint64_t addr)
{
	struct hi_py *py = c->py;
	const struct hi_py_type *t = NULL;
	uint64_t index;
	bool known, is;

	pthread_mutex_lock(&py->lock);
	known = hi_table_get(&py->by_addr, addr, &index);
	if (known && index)
		t = py->all.items[index - 1];
	pthread_mutex_unlock(&py->lock);
	if (known)
		return t;
	is = hi_py_is_type(c, addr);
	pthread_mutex_lock(&py->lock);
	known = hi_table_get(&py->by_addr, addr, &index);
	if (known && index)
		t = py->all.items[index - 1];
	/* Its name is a str, whose type is needed meanwhile: a hostile one may be
	 * this type, which is none until it is made. */
	if (!known && is && py->making < MAX_MAKING) {
		py->making++;
		is = hi_table_put(&py->by_addr, addr, 0);
		t = is ? make_type(c, addr) : NULL;
		if (!is || (t && !hi_table_put(&py->by_addr, addr, py->all.count)))
			py->no_memory = true;
		py->making--;
	}
	pthread_mutex_unlock(&py->lock);
	return t;
}

const struct hi_py_type *hi_py_type_at(struct hi_runtime_cursor *c, uint64_t addr)
{
	size_t slot =
		(size_t)((addr >> 4) * 0x9e3779b97f4a7c15ull >> 55) % HI_PY_TYPE_CACHE;

	if (addr < 4096 || addr % 8)
		return NULL;
	if (c->cache[slot].addr == addr)
		return c->cache[slot].type;
	c->cache[slot].type = find_type_object(c, addr);
	c->cache[slot].addr = addr;
	return c->cache[slot].type;
}

uint32_t hi_py_freed_type(struct hi_py *py, const struct hi_py_type *type)
{
	uint64_t index = 0;
	struct hi_py_type *t;
	char name[2 * MAX_NAME + 20];

	pthread_mutex_lock(&py->lock);
	(void)hi_table_get(&py->by_addr, type->addr, &index);
	t = index ? py->all.items[index - 1] : NULL;
	if (t && !t->freed_type) {
		snprintf(name, sizeof(name), "%s (free list)",
			 py->types.items[t->type].name);
		t->freed_type = hi_py_name_type(
			py, &(struct hi_runtime_type){
				    .name = name,
				    .module = py->types.items[t->type].module,
				    .klass = HI_TYPE_RECORD});
	}
	pthread_mutex_unlock(&py->lock);
	return t ? t->freed_type : 0;
}
