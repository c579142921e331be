/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows of the tables of layouts, for cpython_layout_*.c and cpython_builtins.c. */
#ifndef HI_RUNTIMES_CPYTHON_ROWS_H
#define HI_RUNTIMES_CPYTHON_ROWS_H

#include "decode/runtimes/cpython.h"

#define STRONG(offset, name)                                                             \
	{                                                                                \
		offset, HI_PY_STRONG, name                                               \
	}
#define WEAK(offset, name)                                                               \
	{                                                                                \
		offset, HI_PY_WEAK, name                                                 \
	}
#define GUESS(offset, name)                                                              \
	{                                                                                \
		offset, HI_PY_GUESS, name                                                \
	}
#define MEMORY(offset, name)                                                             \
	{                                                                                \
		offset, HI_PY_MEMORY, name                                               \
	}
#define WORDS(offset, name)                                                              \
	{                                                                                \
		offset, HI_PY_WORDS, name                                                \
	}
#define POINTER(offset, name)                                                            \
	{                                                                                \
		offset, HI_PY_POINTER, name                                              \
	}
#define END                                                                              \
	{                                                                                \
		0, HI_PY_FIELD_END, NULL                                                 \
	}
#define FIELDS(...)                                                                      \
	(const struct hi_py_field[])                                                     \
	{                                                                                \
		__VA_ARGS__, END                                                         \
	}

/* PyTypeObject, and what all versions have at the same places. */
#define TYPE_OFFSETS                                                                     \
	.type_doc = 176, .type_name = 24, .type_basicsize = 32, .type_itemsize = 40,     \
	.type_flags = 168, .type_weaklist = 208, .type_members = 240, .type_base = 256,  \
	.type_dict = 264, .type_dictoffset = 288, .type_mro = 344, .dict_used = 16,      \
	.dict_keys = 32, .dict_values = 40, .str_length = 16, .str_state = 32
/* struct _gc_runtime_state, the same in all. */
#define COLLECTOR_OFFSETS                                                                \
	.gc_generations = 24, .gc_generation_size = 24, .gc_n_generations = 3,           \
	.gc_permanent = 104, .gc_collecting = 200, .gc_enabled = 12, .gc_threshold = 16, \
	.gc_count = 20, .gc_size = 240
/* pymalloc, without a radix tree (up to 3.9) and with one. */
#define POOL_OFFSETS                                                                     \
	.pool_header = 48, .arena_object_size = 48, .alignment = 16, .small_max = 512
#define SMALL_ARENAS POOL_OFFSETS, .arena_size = 256 << 10, .pool_size = 4 << 10
#define LARGE_ARENAS POOL_OFFSETS, .arena_size = 1 << 20, .pool_size = 16 << 10
/* PyUnicodeObject up to 3.11, and without wstr. */
#define STR_WITH_WSTR                                                                    \
	.str_wstr = 40, .str_ascii_data = 48, .str_utf8 = 56, .str_compact_data = 72,    \
	.str_any = 72, .str_size = 80
#define STR_OFFSETS                                                                      \
	.str_ascii_data = 40, .str_utf8 = 48, .str_compact_data = 56, .str_any = 56,     \
	.str_size = 64
/* Keys of a dict up to 3.10, and later. */
#define KEYS_WITH_SIZE .keys_size = 8, .keys_nentries = 32, .keys_indices = 40
#define KEYS_WITH_LOG2                                                                   \
	.keys_log2_size = 8, .keys_log2_index = 9, .keys_kind = 10, .keys_nentries = 24, \
	.keys_indices = 32
/* PyCodeObject up to 3.10. */
#define CODE_WITH_LNOTAB                                                                 \
	.code_stacksize = 32, .code_firstlineno = 40, .code_nlocalsplus = 28,            \
	.code_names = 72, .code_cellvars = 88, .code_freevars = 80,                      \
	.code_filename = 104, .code_qualname = 112, .code_linetable = 120

extern const struct hi_py_layout hi_py_layout_3_8, hi_py_layout_3_9, hi_py_layout_3_10,
	hi_py_layout_3_11, hi_py_layout_3_12, hi_py_layout_3_13;

/* Frames that are objects, up to 3.10 (cpython_frames_old.c), and records of the
 * interpreter (cpython_frames_new.c). */
bool hi_py_old_frame_at(struct hi_runtime_cursor *c, uint64_t addr,
			struct hi_py_frame *ret);
uint64_t hi_py_old_local(struct hi_runtime_cursor *c, uint64_t code, uint32_t i);
bool hi_py_new_frame_at(struct hi_runtime_cursor *c, uint64_t addr,
			struct hi_py_frame *ret);
uint64_t hi_py_new_local(struct hi_runtime_cursor *c, uint64_t code, uint32_t i);
/* Tables of lines (cpython_lines.c): lines from the first one to `at`, bytes into the
 * code; INT_MIN: none. */
int hi_py_lnotab_line(const uint8_t *table, size_t size, int64_t at);
int hi_py_pairs_line(const uint8_t *table, size_t size, int64_t at);
int hi_py_locations_line(const uint8_t *table, size_t size, int64_t at);
/* Keys (cpython_tables.c). */
bool hi_py_sized_keys(struct hi_runtime_cursor *c, uint64_t addr, struct hi_py_keys *ret);
bool hi_py_log2_keys(struct hi_runtime_cursor *c, uint64_t addr, struct hi_py_keys *ret);
/* Attributes in front of an object, or behind it (cpython_managed.c). */
void hi_py_visit_two_words(struct hi_py_visit *v, const struct hi_py_object *o);
void hi_py_visit_tagged_word(struct hi_py_visit *v, const struct hi_py_object *o);
void hi_py_visit_inline(struct hi_py_visit *v, const struct hi_py_object *o);
uint64_t hi_py_inline_size(struct hi_runtime_cursor *c, const struct hi_py_object *o);

#endif
