/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows of the tables of layouts, for cpython_layout.c and cpython_builtins.c. */
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
#define CONSERVATIVE(offset, name)                                                       \
	{                                                                                \
		offset, HI_PY_CONSERVATIVE, name                                         \
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

extern const struct hi_py_layout hi_py_layout_3_8, hi_py_layout_3_9, hi_py_layout_3_10,
	hi_py_layout_3_11, hi_py_layout_3_12, hi_py_layout_3_13, hi_py_layout_3_14;

/* Frames that are objects, up to 3.10 (cpython_frames_old.c), and records of the
 * interpreter (cpython_frames_new.c). */
bool hi_py_old_frame_at(struct hi_runtime_cursor *c, uint64_t addr,
			struct hi_py_frame *ret);
/* Returns the address of the name of local i of a code object; 0: none. */
uint64_t hi_py_old_local(struct hi_runtime_cursor *c, uint64_t code, uint32_t i);
bool hi_py_new_frame_at(struct hi_runtime_cursor *c, uint64_t addr,
			struct hi_py_frame *ret);
/* The same from 3.11 on. */
uint64_t hi_py_new_local(struct hi_runtime_cursor *c, uint64_t code, uint32_t i);
/* Tables of lines (cpython_lines.c): lines from the first one to `at`, bytes into the
 * code; INT_MIN: none. */
int hi_py_lnotab_line(const uint8_t *table, size_t size, int64_t at);
int hi_py_pairs_line(const uint8_t *table, size_t size, int64_t at);
int hi_py_locations_line(const uint8_t *table, size_t size, int64_t at);
/* Keys (cpython_tables.c). */
bool hi_py_sized_keys(struct hi_runtime_cursor *c, uint64_t addr, struct hi_py_keys *ret);
bool hi_py_log2_keys(struct hi_runtime_cursor *c, uint64_t addr, struct hi_py_keys *ret);
/* Visits attributes before an object, or after it (cpython_managed.c). */
void hi_py_visit_two_words(struct hi_py_visit *v, const struct hi_py_object *o);
void hi_py_visit_tagged_word(struct hi_py_visit *v, const struct hi_py_object *o);
void hi_py_visit_inline(struct hi_py_visit *v, const struct hi_py_object *o);
uint64_t hi_py_inline_size(struct hi_runtime_cursor *c, const struct hi_py_object *o);

#endif
