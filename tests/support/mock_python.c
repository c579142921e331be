/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/mock_python.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define HEAP 0x7f0000000000ull
#define TYPES 0x7e0000000000ull
#define STACK 0x7d0000000000ull

enum {
	HEAP_SIZE = 64 << 10,
	TYPES_SIZE = 128 << 10,
	STACK_SIZE = 16 << 10,
	TYPE_BYTES = 1024,
	GAP = 64, /* bytes behind a block that are no block */
	TABLE = 64,
	LIST_ITEMS = 24,
	ONE_REFERENCE = 1,
};

/* ---- memory ---- */

static uint8_t *host_of(struct mock_python *m, uint64_t addr, size_t *avail_ret)
{
	for (size_t i = 0; i < 3; i++) {
		struct mock_python_segment *s = &m->segments[i];

		if (addr >= s->start && addr - s->start < s->size) {
			*avail_ret = s->size - (addr - s->start);
			return s->bytes + (addr - s->start);
		}
	}
	return NULL;
}

static enum hi_status read_mock(struct hi_memory *memory, uint64_t addr, void *buf,
				size_t size, struct hi_error *err)
{
	struct mock_python *m = (struct mock_python *)memory;
	size_t avail = 0;
	const uint8_t *host = host_of(m, addr, &avail);

	m->n_reads++;
	if (!host || avail < size)
		return hi_fail(err, HI_FAULT, addr, "not there");
	memcpy(buf, host, size);
	return HI_OK;
}

static const void *view_mock(struct hi_memory *memory, uint64_t addr, size_t *avail_ret)
{
	struct mock_python *m = (struct mock_python *)memory;

	return m->has_views ? host_of(m, addr, avail_ret) : NULL;
}

static void keep_mock(struct hi_memory *memory)
{
	(void)memory; /* mock_python_destroy() frees it */
}

static const struct hi_memory_ops ops = {.name = "mock python",
					 .read = read_mock,
					 .view = view_mock,
					 .destroy = keep_mock};

uint64_t mock_python_get(struct mock_python *m, uint64_t addr)
{
	size_t avail = 0;
	const uint8_t *host = host_of(m, addr, &avail);
	uint64_t word = 0;

	if (host && avail >= sizeof(word))
		memcpy(&word, host, sizeof(word));
	return word;
}

static void set_bytes(struct mock_python *m, uint64_t addr, const void *bytes,
		      size_t size)
{
	size_t avail = 0;
	uint8_t *host = host_of(m, addr, &avail);

	if (host && avail >= size)
		memcpy(host, bytes, size);
}

void mock_python_set(struct mock_python *m, uint64_t addr, uint64_t word)
{
	set_bytes(m, addr, &word, sizeof(word));
}

static void set_u32(struct mock_python *m, uint64_t addr, uint32_t word)
{
	set_bytes(m, addr, &word, sizeof(word));
}

static void add_segment(struct mock_python *m, size_t i, uint64_t start, uint64_t size,
			uint64_t word)
{
	struct hi_mapping mapping = {.start = start,
				     .end = start + size,
				     .prot = HI_PROT_READ | HI_PROT_WRITE,
				     .kind = HI_MAPPING_ANONYMOUS,
				     .path = "",
				     .held = true,
				     .resident = size,
				     .copied = size};

	m->segments[i] =
		(struct mock_python_segment){start, size, malloc(size), malloc(size)};
	for (uint64_t at = 0; at < size; at += 8)
		mock_python_set(m, start + at, word);
	(void)hi_image_add_mapping(m->image, &mapping, NULL);
}

/* ---- blocks and types ---- */

static uint64_t add_block(struct mock_python *m, uint64_t size)
{
	uint64_t addr = m->heap_next;

	size = (size + 15) & ~UINT64_C(15);
	if (m->n_blocks == MOCK_PYTHON_BLOCKS || addr + size + GAP > HEAP + HEAP_SIZE)
		abort(); /* the sample is larger than its memory */
	m->blocks[m->n_blocks++] = (struct mock_python_block){.addr = addr, .size = size};
	for (uint64_t at = 0; at < size; at += 8)
		mock_python_set(m, addr + at, 0);
	m->heap_next = addr + size + GAP;
	return addr;
}

static const struct hi_py_builtin *builtin(const struct mock_python *m, const char *name)
{
	const struct hi_py_builtin *b = hi_py_builtins;

	while (b->name && (!hi_py_has_builtin(m->layout, b) || strcmp(b->name, name)))
		b++;
	return b->name ? b : NULL;
}

static void write_type(struct mock_python *m, uint64_t addr, const char *name,
		       uint64_t basicsize, uint64_t itemsize, uint64_t flags)
{
	const struct hi_py_layout *l = m->layout;

	for (uint64_t at = 0; at < l->type_basic; at += 8)
		mock_python_set(m, addr + at, 0);
	mock_python_set(m, addr, ONE_REFERENCE);
	mock_python_set(m, addr + HI_PY_TYPE, TYPES);
	set_bytes(m, m->types_next, name, strlen(name) + 1);
	mock_python_set(m, addr + l->type_name, m->types_next);
	m->types_next += (strlen(name) + 8) & ~UINT64_C(7);
	mock_python_set(m, addr + l->type_basicsize, basicsize);
	mock_python_set(m, addr + l->type_itemsize, itemsize);
	mock_python_set(m, addr + l->type_flags, flags | HI_PY_READY);
}

static uint64_t add_type(struct mock_python *m, const char *name, uint64_t itemsize,
			 uint64_t flags)
{
	const struct hi_py_builtin *b = builtin(m, name);
	uint64_t addr = m->types_next;

	if (!b || m->n_types == MOCK_PYTHON_TYPES)
		return 0;
	m->types_next += TYPE_BYTES;
	write_type(m, addr, name, b->basicsize, itemsize, flags);
	m->types[m->n_types++] = (struct mock_python_type){name, addr};
	return addr;
}

static uint64_t type_of(const struct mock_python *m, const char *name)
{
	for (size_t i = 0; i < m->n_types; i++)
		if (strcmp(m->types[i].name, name) == 0)
			return m->types[i].addr;
	return 0;
}

/* An object with `more` bytes behind its fixed part; its address, 0: this version has no
 * such type. */
static uint64_t add_object(struct mock_python *m, const char *name, uint64_t more)
{
	const struct hi_py_layout *l = m->layout;
	uint64_t type = type_of(m, name), in_front, addr;

	if (!type)
		return 0;
	in_front = mock_python_get(m, type + l->type_flags) & HI_PY_HAVE_GC
			   ? HI_PY_GC_HEAD
			   : 0;
	addr = in_front +
	       add_block(m,
			 in_front + mock_python_get(m, type + l->type_basicsize) + more);
	mock_python_set(m, addr, ONE_REFERENCE);
	mock_python_set(m, addr + HI_PY_TYPE, type);
	return addr;
}

static void add_types(struct mock_python *m)
{
	static const struct {
		const char *name;
		uint64_t itemsize, flags;
	} types[] = {{"object", 0, 0},
		     {"list", 0, HI_PY_HAVE_GC},
		     {"tuple", 8, HI_PY_HAVE_GC},
		     {"dict", 0, HI_PY_HAVE_GC},
		     {"collections.OrderedDict", 0, HI_PY_HAVE_GC},
		     {"set", 0, HI_PY_HAVE_GC},
		     {"str", 0, 0},
		     {"bytes", 1, 0},
		     {"bytearray", 0, 0},
		     {"array.array", 0, 0},
		     {"int", 4, 0},
		     {"collections.deque", 0, HI_PY_HAVE_GC},
		     {"functools._lru_cache_wrapper", 0, HI_PY_HAVE_GC},
		     {"functools._lru_list_elem", 0, HI_PY_HAVE_GC},
		     {"code", 0, 0},
		     {"frame", 8, HI_PY_HAVE_GC},
		     {"generator", 0, HI_PY_HAVE_GC},
		     {"hamt_bitmap_node", 8, HI_PY_HAVE_GC},
		     {"hamt_array_node", 0, HI_PY_HAVE_GC},
		     {"memoryview", 8, HI_PY_HAVE_GC},
		     {"datetime.datetime", 0, 0},
		     {"module", 0, HI_PY_HAVE_GC},
		     {"function", 0, HI_PY_HAVE_GC},
		     {"cell", 0, HI_PY_HAVE_GC}};
	uint64_t type = m->types_next;

	m->types_next += TYPE_BYTES;
	write_type(m, type, "type", m->layout->type_basic, 40,
		   HI_PY_HAVE_GC | HI_PY_TYPE_SUBCLASS);
	m->types[m->n_types++] = (struct mock_python_type){"type", type};
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		(void)add_type(m, types[i].name, types[i].itemsize, types[i].flags);
}

/* ---- the sample ---- */

static uint64_t add_str(struct mock_python *m)
{
	uint64_t o = add_object(m, "str", 0);
	uint64_t data = add_block(m, TABLE);

	mock_python_set(m, o + m->layout->str_length, 7);
	set_u32(m, o + m->layout->str_state, 1 << 2); /* kind 1, data elsewhere */
	mock_python_set(m, o + m->layout->str_any, data);
	return o;
}

/* Four keys, with values or without. */
static uint64_t add_keys(struct mock_python *m, uint64_t key, uint64_t value)
{
	const struct hi_py_layout *l = m->layout;
	unsigned words = l->keys_size ? 3 : 2;
	uint64_t keys = add_block(m, l->keys_indices + 8 + 5 * words * 8u);

	mock_python_set(m, keys, ONE_REFERENCE);
	if (l->keys_size)
		mock_python_set(m, keys + l->keys_size, 8);
	else
		mock_python_set(m, keys + 8, 3 | 3 << 8 | (value ? 1 : 2) << 16);
	mock_python_set(m, keys + l->keys_nentries, 4);
	for (uint64_t i = 0; i < 4; i++) {
		uint64_t entry = keys + l->keys_indices + 8 + i * words * 8;

		mock_python_set(m, entry + (words - 2) * 8, key);
		mock_python_set(m, entry + (words - 1) * 8, value);
	}
	return keys;
}

static uint64_t add_values(struct mock_python *m, uint64_t first, uint64_t value)
{
	uint64_t values = add_block(m, first + 4 * 8);

	for (uint64_t i = 0; i < 4; i++)
		mock_python_set(m, values + first + i * 8, value);
	return values + first;
}

static void add_dicts(struct mock_python *m, uint64_t key)
{
	const struct hi_py_layout *l = m->layout;
	uint64_t o = add_object(m, "dict", 0);

	mock_python_set(m, o + l->dict_used, 4);
	mock_python_set(m, o + l->dict_keys, add_keys(m, key, key));
	o = add_object(m, "dict", 0);
	mock_python_set(m, o + l->dict_used, 4);
	mock_python_set(m, o + l->dict_keys, add_keys(m, key, 0));
	mock_python_set(m, o + l->dict_values,
			add_values(m, l->values_items, key) - l->values_items);
}

static void add_odict(struct mock_python *m, uint64_t key)
{
	const struct hi_py_layout *l = m->layout;
	uint64_t o = add_object(m, "collections.OrderedDict", 0);
	uint64_t nodes[] = {add_block(m, 32), add_block(m, 32)};

	mock_python_set(m, o + l->dict_used, 2);
	mock_python_set(m, o + l->dict_keys, add_keys(m, key, key));
	mock_python_set(m, o + 48, nodes[0]);
	mock_python_set(m, o + 64, add_block(m, TABLE));
	for (int i = 0; i < 2; i++) {
		mock_python_set(m, nodes[i], key);
		mock_python_set(m, nodes[i] + (i ? 24 : 16), nodes[!i]);
	}
}

static void add_sequences(struct mock_python *m, uint64_t item)
{
	uint64_t o = add_object(m, "list", 0), items = add_block(m, 4 * 8), table;

	mock_python_set(m, o + HI_PY_SIZE, 4);
	mock_python_set(m, o + LIST_ITEMS, items);
	for (uint64_t i = 0; i < 4; i++)
		mock_python_set(m, items + i * 8, item);
	o = add_object(m, "tuple", 4 * 8);
	mock_python_set(m, o + HI_PY_SIZE, 4);
	for (uint64_t i = 0; i < 4; i++)
		mock_python_set(m, o + m->layout->tuple_items + i * 8, item);
	o = add_object(m, "set", 0); /* its table beside it */
	table = add_block(m, 16 * 16);
	mock_python_set(m, o + 32, 15);
	mock_python_set(m, o + 40, table);
	for (uint64_t i = 0; i < 16; i += 4)
		mock_python_set(m, table + i * 16, item);
	o = add_object(m, "set", 0); /* its table inside */
	mock_python_set(m, o + 32, 7);
	mock_python_set(m, o + 40, o + 64);
	mock_python_set(m, o + 64, item);
}

static void add_deque(struct mock_python *m, uint64_t item)
{
	uint64_t o = add_object(m, "collections.deque", 0);
	uint64_t blocks[] = {add_block(m, 528), add_block(m, 528)};

	mock_python_set(m, o + HI_PY_SIZE, 4);
	mock_python_set(m, o + 24, blocks[0]);
	mock_python_set(m, o + 32, blocks[1]);
	mock_python_set(m, o + 40, 62);
	mock_python_set(m, o + 48, 1);
	mock_python_set(m, blocks[0] + 520, blocks[1]);
	mock_python_set(m, blocks[1], blocks[0]);
	for (uint64_t i = 0; i < 64; i++) {
		mock_python_set(m, blocks[0] + 8 + i * 8, item);
		mock_python_set(m, blocks[1] + 8 + i * 8, item);
	}
	if (m->layout->deque_n_free) {
		mock_python_set(m, o + m->layout->deque_n_free, 1);
		mock_python_set(m, o + m->layout->deque_free, add_block(m, 528));
	}
}

static void add_lru_cache(struct mock_python *m, uint64_t key)
{
	uint64_t o = add_object(m, "functools._lru_cache_wrapper", 0);
	uint64_t cache = add_object(m, "dict", 0), before = o;

	mock_python_set(m, cache + m->layout->dict_used, 3);
	mock_python_set(m, cache + m->layout->dict_keys, add_keys(m, key, key));
	mock_python_set(m, o + 72, cache);
	for (int i = 0; i < 3; i++) {
		uint64_t link = add_object(m, "functools._lru_list_elem", 0);

		mock_python_set(m, before + 24, link);
		mock_python_set(m, link + 16, before);
		mock_python_set(m, link + 40, key);
		before = link;
	}
	mock_python_set(m, before + 24, o);
	mock_python_set(m, o + 16, before);
}

static void add_buffers(struct mock_python *m)
{
	uint64_t o = add_object(m, "bytearray", 0);

	mock_python_set(m, o + HI_PY_SIZE, 40);
	mock_python_set(m, o + 32, add_block(m, TABLE));
	o = add_object(m, "array.array", 0);
	mock_python_set(m, o + HI_PY_SIZE, 8);
	mock_python_set(m, o + 24, add_block(m, TABLE));
	o = add_object(m, "bytes", 20);
	mock_python_set(m, o + HI_PY_SIZE, 20);
}

static void add_nodes(struct mock_python *m, uint64_t item)
{
	uint64_t o = add_object(m, "hamt_bitmap_node", 4 * 8);

	mock_python_set(m, o + HI_PY_SIZE, 4);
	for (uint64_t i = 0; i < 4; i++)
		mock_python_set(m, o + 32 + i * 8, item);
	o = add_object(m, "hamt_array_node", 0);
	for (uint64_t i = 0; i < 32; i++)
		mock_python_set(m, o + 24 + i * 8, item);
	o = add_object(m, "memoryview", 3 * 8);
	mock_python_set(m, o + HI_PY_SIZE, 3);
	o = add_object(m, "datetime.datetime", 0);
	mock_python_set(m, o + 24, 1); /* has a time zone */
	mock_python_set(m, o + 40, item);
	o = add_object(m, "cell", 0);
	mock_python_set(m, o + 16, item);
}

/* ---- code and frames ---- */

static uint64_t add_code(struct mock_python *m, uint64_t name)
{
	const struct hi_py_layout *l = m->layout;
	uint64_t o = add_object(m, "code", 16), names = add_object(m, "tuple", 2 * 8);
	uint64_t lines = add_object(m, "bytes", 20);

	mock_python_set(m, names + HI_PY_SIZE, 2);
	mock_python_set(m, names + l->tuple_items, name);
	mock_python_set(m, names + l->tuple_items + 8, name);
	mock_python_set(m, lines + HI_PY_SIZE, 20);
	mock_python_set(m, o + l->code_names, names);
	mock_python_set(m, o + l->code_linetable, lines);
	mock_python_set(m, o + l->code_qualname, name);
	mock_python_set(m, o + l->code_filename, name);
	set_u32(m, o + l->code_nlocalsplus, 2);
	set_u32(m, o + l->code_stacksize, 2);
	return o;
}

/* Two locals, and two slots of a stack. */
static void fill_frame(struct mock_python *m, uint64_t frame, uint64_t code,
		       uint8_t owner, uint64_t item)
{
	const struct hi_py_layout *l = m->layout;

	for (uint64_t at = 0; at < l->frame_localsplus; at += 8)
		mock_python_set(m, frame + at, 0);
	mock_python_set(m, frame + l->frame_code, code);
	mock_python_set(m, frame + l->frame_instr, code + l->code_instructions);
	if (l->frame_stack_refs)
		mock_python_set(m, frame + l->frame_stacktop,
				frame + l->frame_localsplus + 3 * 8);
	else
		set_u32(m, frame + l->frame_stacktop, 3);
	set_bytes(m, frame + l->frame_owner, &owner, 1);
	for (uint64_t i = 0; i < 4; i++)
		mock_python_set(m, frame + l->frame_localsplus + i * 8, item);
}

static void add_old_frame(struct mock_python *m, uint64_t code, uint64_t item)
{
	const struct hi_py_layout *l = m->layout;
	uint64_t o = add_object(m, "frame", 4 * 8);

	mock_python_set(m, o + HI_PY_SIZE, 4);
	mock_python_set(m, o + l->frame_code, code);
	if (l->frame_stackdepth)
		set_u32(m, o + l->frame_stackdepth, 1);
	else
		mock_python_set(m, o + l->frame_stacktop,
				o + l->frame_localsplus + 3 * 8);
	for (uint64_t i = 0; i < 4; i++)
		mock_python_set(m, o + l->frame_localsplus + i * 8, item);
	m->frame = o;
}

static void add_frames(struct mock_python *m, uint64_t item)
{
	const struct hi_py_layout *l = m->layout;
	uint64_t code = add_code(m, item), o;

	if (!l->gen_frame) {
		add_old_frame(m, code, item);
		return;
	}
	o = add_object(m, "generator", 4 * 8);
	fill_frame(m, o + l->gen_frame, code, 1, item);
	o = add_object(m, "frame", l->frame_localsplus + 4 * 8);
	fill_frame(m, o + l->frameobj_data, code, 2, item);
	mock_python_set(m, o + l->frameobj_frame, o + l->frameobj_data);
	m->frame = STACK + 64;
	fill_frame(m, m->frame, code, 0, item);
	fill_frame(m, m->frame + 256, code, 0, item);
	mock_python_set(m, m->frame + l->frame_previous, m->frame + 256);
}

/* With values behind it, by the keys of its class. */
static uint64_t add_inline_instance(struct mock_python *m, uint64_t type, uint64_t item)
{
	uint64_t o = 32 + add_block(m, 32 + 16 + 8 + 4 * 8 + 8);

	mock_python_set(m, o, ONE_REFERENCE);
	mock_python_set(m, o + HI_PY_TYPE, type);
	mock_python_set(m, o + 16, 4 | 4 << 8 | 1 << 16 | 1 << 24);
	for (uint64_t i = 0; i < 4; i++)
		mock_python_set(m, o + 24 + i * 8, item);
	return o;
}

static void add_inline_instances(struct mock_python *m, uint64_t type, uint64_t item)
{
	const struct hi_py_layout *l = m->layout;
	uint64_t o = add_inline_instance(m, type, item), dict = add_object(m, "dict", 0);

	/* The other one has a dict that was made of them later. */
	o = add_inline_instance(m, type, item);
	mock_python_set(m, o - 24, dict);
	mock_python_set(m, dict + l->dict_used, 4);
	mock_python_set(m, dict + l->dict_keys,
			mock_python_get(m, type + l->heap_cached_keys));
	mock_python_set(m, dict + l->dict_values, o + 16);
}

/* A class whose instances have attributes by its keys. */
static void add_instance(struct mock_python *m, uint64_t item)
{
	const struct hi_py_layout *l = m->layout;
	uint64_t type = add_object(m, "type", 0), o, values;
	uint64_t flags = HI_PY_HEAPTYPE | HI_PY_HAVE_GC | HI_PY_MANAGED_DICT |
			 (l->tail_size ? HI_PY_INLINE_VALUES : 0);

	write_type(m, type, "Instance", 16, 0, flags);
	mock_python_set(m, type + l->type_base, type_of(m, "object"));
	mock_python_set(m, type + l->heap_qualname, item);
	mock_python_set(m, type + l->heap_cached_keys, add_keys(m, item, 0));
	if (l->tail_size)
		add_inline_instances(m, type, item);
	if (!l->visit_managed || l->tail_size)
		return;
	o = 32 + add_block(m, 32 + 16);
	mock_python_set(m, o, ONE_REFERENCE);
	mock_python_set(m, o + HI_PY_TYPE, type);
	values = add_values(m, 16, item);
	if (l->minor == 11)
		mock_python_set(m, o - 32, values);
	else
		mock_python_set(m, o - 24, values - 1);
}

/* The table is of a list, too. */
static void add_empty_lists(struct mock_python *m, uint64_t item)
{
	uint64_t o = add_object(m, "list", 0);

	m->table = add_block(m, MOCK_PYTHON_TABLE);
	mock_python_set(m, o + HI_PY_SIZE, 1);
	mock_python_set(m, o + LIST_ITEMS, m->table);
	for (uint64_t at = 0; at < MOCK_PYTHON_TABLE; at += 8)
		mock_python_set(m, m->table + at, item);
	for (int i = 0; i < MOCK_PYTHON_LISTS; i++) {
		o = add_object(m, "list", 0);
		if (i == 0)
			m->lists = o;
	}
}

void mock_python_share_table(struct mock_python *m)
{
	for (size_t i = 0; i < m->n_blocks; i++) {
		uint64_t o = m->blocks[i].addr + HI_PY_GC_HEAD;

		if (o < m->lists || mock_python_get(m, o + HI_PY_TYPE) !=
					    mock_python_get(m, m->lists + HI_PY_TYPE))
			continue;
		mock_python_set(m, o + HI_PY_SIZE, MOCK_PYTHON_TABLE / 8);
		mock_python_set(m, o + LIST_ITEMS, m->table);
	}
}

static void add_sample(struct mock_python *m)
{
	uint64_t item, tuple;

	m->victim = add_object(m, "object", 0);
	item = add_str(m);
	add_sequences(m, item);
	add_dicts(m, item);
	add_odict(m, item);
	add_deque(m, item);
	add_lru_cache(m, item);
	add_buffers(m);
	add_nodes(m, item);
	add_frames(m, item);
	add_instance(m, item);
	add_empty_lists(m, item);
	tuple = add_object(m, "tuple", 8 * 8);
	mock_python_set(m, tuple + HI_PY_SIZE, 8);
	m->other = tuple + m->layout->tuple_items;
	for (uint64_t i = 0; i < 8; i++)
		mock_python_set(m, m->other + i * 8, m->victim);
}

/* ---- the runtime ---- */

static void open_runtime(struct mock_python *m)
{
	pthread_mutexattr_t attributes;
	struct hi_py *py = calloc(1, sizeof(*py));

	hi_runtime_release(m->py ? &m->py->base : NULL);
	m->py = py;
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&py->lock, &attributes);
	pthread_mutexattr_destroy(&attributes);
	py->base.ops = &hi_runtime_cpython;
	py->image = m->image;
	py->modules = m->modules;
	py->layout = m->layout;
	py->type_type = TYPES;
	py->reader.memory = &m->memory;
	for (size_t i = 0; i < 3; i++)
		py->held += m->segments[i].size;
	py->budget = py->share = 2 * py->held;
	(void)hi_py_name_buffers(py);
	(void)hi_vector_push(&py->own, ((struct hi_range){STACK, STACK + STACK_SIZE}));
	/* Its thread state is at the end of the stack. */
	(void)hi_vector_push(&py->threads, m->thread);
	if (m->interpreter)
		(void)hi_vector_push(&py->interpreters, ((struct hi_py_interpreter){
								.addr = m->interpreter}));
}

static void add_thread(struct mock_python *m)
{
	const struct hi_py_layout *l = m->layout;
	uint64_t thread = STACK + STACK_SIZE - 1024;

	m->thread = thread;
	for (uint64_t at = thread; at < STACK + STACK_SIZE; at += 8)
		mock_python_set(m, at, 0);
	if (l->thread_frame)
		mock_python_set(m, thread + l->thread_frame, m->frame);
	else
		mock_python_set(m, thread + l->thread_cframe, thread + 512);
	mock_python_set(m, thread + 512 + l->cframe_current, m->frame);
}

static void seal_objects(struct mock_python *m)
{
	struct hi_objects_builder *b = NULL;
	unsigned region = 0;

	if (hi_objects_builder_create(&b, NULL) != HI_OK ||
	    hi_objects_builder_region(b, HEAP, HEAP + HEAP_SIZE, 4, &region, NULL) !=
		    HI_OK)
		abort();
	for (size_t i = 0; i < m->n_blocks; i++)
		if (hi_objects_builder_add(b, region, m->blocks[i].addr,
					   m->blocks[i].size, 0, NULL) != HI_OK)
			abort();
	if (hi_objects_seal(b, &m->objects, NULL) != HI_OK)
		abort();
}

struct mock_python *mock_python_create(const struct hi_py_layout *layout)
{
	struct mock_python *m = calloc(1, sizeof(*m));
	struct hi_modules_options options = {.cache_dir = ""};

	m->memory.ops = &ops;
	m->layout = layout;
	m->heap_next = HEAP;
	m->types_next = TYPES;
	if (hi_image_create_mock(&m->memory, &m->image, NULL) != HI_OK ||
	    hi_modules_open(m->image, &options, &m->modules, NULL) != HI_OK)
		abort();
	/* The first block is the victim: an object behind no collector's head. */
	add_segment(m, 0, HEAP, HEAP_SIZE, HEAP);
	add_segment(m, 1, TYPES, TYPES_SIZE, 0);
	add_segment(m, 2, STACK, STACK_SIZE, HEAP);
	add_types(m);
	add_sample(m);
	add_thread(m);
	seal_objects(m);
	for (size_t i = 0; i < 3; i++)
		memcpy(m->segments[i].saved, m->segments[i].bytes, m->segments[i].size);
	return m;
}

void mock_python_restore(struct mock_python *m)
{
	for (size_t i = 0; i < 3; i++)
		memcpy(m->segments[i].bytes, m->segments[i].saved, m->segments[i].size);
}

void mock_python_destroy(struct mock_python *m)
{
	hi_runtime_release(m->py ? &m->py->base : NULL);
	hi_objects_destroy(m->objects);
	hi_modules_close(m->modules);
	hi_image_destroy(m->image);
	for (size_t i = 0; i < 3; i++) {
		free(m->segments[i].bytes);
		free(m->segments[i].saved);
	}
	free(m);
}

struct mock_python_block *mock_python_block_at(struct mock_python *m, uint64_t addr)
{
	for (size_t i = 0; i < m->n_blocks; i++)
		if (addr >= m->blocks[i].addr &&
		    addr - m->blocks[i].addr < m->blocks[i].size)
			return &m->blocks[i];
	return NULL;
}

/* ---- reading ---- */

static void keep_type(void *arg, hi_node block, uint32_t type, bool firm)
{
	struct mock_python *m = arg;

	if (firm || !m->blocks[block].type)
		m->blocks[block].type = type;
}

struct reading {
	struct mock_python *m;
	struct hi_runtime_cursor *c;
	uint64_t from;
};

static bool count_edge(void *arg, const struct hi_runtime_edge *edge)
{
	struct reading *r = arg;
	struct mock_python *m = r->m;
	bool is_own = m->other - r->from < 64; /* the tuple of victims */
	char text[64];

	m->n_edges++;
	if (edge->to == m->victim && edge->grade == HI_GRADE_EXACT && !is_own)
		m->n_exact_to_victim++;
	if (m->with_labels && r->c)
		(void)m->py->base.ops->label(r->c, edge, text, sizeof(text));
	return true;
}

static bool count_root(void *arg, const struct hi_runtime_root *root)
{
	for (size_t i = 0; i < root->n_edges; i++)
		count_edge(arg, &root->edges[i]);
	return true;
}

static void read_block(struct reading *r, const struct mock_python_block *b)
{
	const struct hi_runtime_ops *runtime = r->m->py->base.ops;
	struct hi_runtime_facts facts;

	r->from = b->addr;
	runtime->edges(r->c, b->addr, b->size, b->type, count_edge, r);
	if (r->m->with_labels)
		(void)runtime->facts(r->c, b->addr, b->size, b->type, &facts);
}

void mock_python_read(struct mock_python *m)
{
	struct reading r = {.m = m};

	open_runtime(m);
	m->n_reads = m->n_edges = m->n_exact_to_victim = 0;
	for (size_t i = 0; i < m->n_blocks; i++)
		m->blocks[i].type = 0;
	r.c = hi_runtime_cursor(&m->py->base);
	if (!r.c ||
	    hi_runtime_type_of(&m->py->base, m->objects, 1, keep_type, m, NULL) != HI_OK)
		abort();
	for (size_t i = 0; i < m->n_blocks; i++)
		if (m->blocks[i].type)
			read_block(&r, &m->blocks[i]);
	m->py->base.n_cut = m->py->base.ops->cut(r.c);
	r.from = 0;
	(void)hi_py_frame_roots(m->py, r.c, count_root, &r, NULL);
	hi_runtime_cursor_free(&m->py->base, r.c);
}
