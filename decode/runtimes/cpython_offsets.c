/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A layout out of what the interpreter says of itself: from 3.13 on _PyRuntime begins
 * with offsets for debuggers (_Py_DebugOffsets in Include/internal/pycore_runtime.h,
 * since 3.14 in pycore_debug_offsets.h). A patch release or a build's options may change
 * what the table of the minor version has. The offsets name some members of each
 * structure; what lies between moves with what is named in front of it. Layouts made here
 * must pass the layout check (cpython_probe.c), as any.
 */
#include <stddef.h>
#include <string.h>

#include "decode/runtimes/cpython.h"

enum {
	FIRST_MINOR = 13,
	MINORS = 2,
	MAX_OFFSET = 1 << 20, /* of a member of a structure */
	MAX_STATE = 1 << 24,
	MAX_ROWS = 96,
	/* dict_traverse() of 3.13.5 does, that of 3.13.0 does not. */
	DICT_HAS_INLINE = 0x030d05,
};

enum record {
	RUNTIME,
	INTERPRETER,
	THREAD,
	COLLECTOR,
	FRAME,
	CODE,
	OBJECT, /* of any type */
};

/* Words of a layout that are said, and where, in 3.13, 3.14; 0: it is not said. */
static const struct said {
	enum record record;
	size_t field;
	uint16_t at[MINORS];
} said[] = {
#define SAID(record, field, ...)                                                         \
	{                                                                                \
		record, offsetof(struct hi_py_layout, field),                            \
		{                                                                        \
			__VA_ARGS__                                                      \
		}                                                                        \
	}
	SAID(RUNTIME, runtime_finalizing, 32, 32),
	SAID(RUNTIME, runtime_interpreters_head, 40, 40),
	SAID(INTERPRETER, interp_id, 56, 56),
	SAID(INTERPRETER, interp_next, 64, 64),
	SAID(INTERPRETER, interp_threads, 72, 72),
	SAID(INTERPRETER, interp_gc, 80, 88),
	SAID(INTERPRETER, interp_modules, 88, 96),
	SAID(INTERPRETER, interp_sysdict, 96, 104),
	SAID(THREAD, thread_next, 168, 192),
	SAID(THREAD, thread_interp, 176, 200),
	SAID(THREAD, thread_frame, 184, 208),
	SAID(THREAD, thread_pthread, 192, 216),
	SAID(THREAD, thread_native_id, 200, 224),
	SAID(THREAD, thread_stack_chunk, 208, 232),
	SAID(FRAME, frame_previous, 232, 256),
	SAID(FRAME, frame_code, 240, 264),
	SAID(FRAME, frame_instr, 248, 272),
	SAID(FRAME, frame_localsplus, 256, 280),
	SAID(FRAME, frame_owner, 264, 288),
	SAID(FRAME, frame_stacktop, 0, 296),
	SAID(CODE, code_filename, 280, 320),
	SAID(CODE, code_qualname, 296, 336),
	SAID(CODE, code_linetable, 304, 344),
	SAID(CODE, code_firstlineno, 312, 352),
	SAID(CODE, code_names, 328, 368),
	SAID(CODE, code_instructions, 344, 384),
	SAID(OBJECT, type_name, 376, 424),
	SAID(OBJECT, type_flags, 392, 440),
	SAID(OBJECT, tuple_items, 408, 456),
	SAID(OBJECT, dict_keys, 456, 536),
	SAID(OBJECT, dict_values, 464, 544),
	SAID(OBJECT, str_state, 544, 624),
	SAID(OBJECT, str_length, 552, 632),
	SAID(OBJECT, str_ascii_data, 560, 640),
	SAID(COLLECTOR, gc_size, 568, 648),
	SAID(COLLECTOR, gc_collecting, 576, 656),
#undef SAID
};

/* Fields that are not said, or only in some versions, each in one of the structures. */
static const struct {
	enum record record;
	size_t field;
} unsaid[] = {
#define UNSAID(record, field)                                                            \
	{                                                                                \
		record, offsetof(struct hi_py_layout, field)                             \
	}
	UNSAID(RUNTIME, runtime_core_initialized),
	UNSAID(RUNTIME, runtime_initialized),
	UNSAID(RUNTIME, runtime_interpreters_main),
	UNSAID(RUNTIME, runtime_tss),
	UNSAID(RUNTIME, runtime_allocators),
	UNSAID(INTERPRETER, interp_runtime),
	UNSAID(INTERPRETER, interp_interned),
	UNSAID(INTERPRETER, interp_obmalloc),
	UNSAID(INTERPRETER, type_cache),
	UNSAID(FRAME, frame_func),
	UNSAID(FRAME, frame_locals),
	UNSAID(FRAME, frame_object),
	UNSAID(FRAME, frame_stacktop), /* in 3.13 */
	UNSAID(THREAD, thread_state),
	UNSAID(CODE, code_stacksize),
	UNSAID(CODE, code_nlocalsplus),
	UNSAID(CODE, code_first_traceable),
#undef UNSAID
};

/* Offsets that this program takes for granted of objects, and where they are said. */
static const struct {
	uint16_t at[MINORS];
	uint64_t value;
} fixed[] = {
	{{352, 400}, 16},	  /* sizeof(PyObject) */
	{{360, 408}, HI_PY_TYPE}, /* ob_type */
	{{416, 464}, HI_PY_SIZE}, /* PyTupleObject.ob_size */
	{{432, 480}, 24},	  /* PyListObject.ob_item */
	{{440, 488}, HI_PY_SIZE}, /* its ob_size */
	{{480, 560}, 16},	  /* PyFloatObject.ob_fval */
	{{496, 576}, 16},	  /* PyLongObject.lv_tag */
	{{504, 584}, 24},	  /* its ob_digit */
	{{520, 600}, HI_PY_SIZE}, /* PyBytesObject.ob_size */
	{{528, 608}, 32},	  /* its ob_sval */
	{{0, 512}, 40},		  /* PySetObject.table */
	{{0, 520}, 32},		  /* its mask */
};

enum { /* the same in all versions */
       VERSION = 1,
       RUNTIME_STATE = 3, /* its size */
       INTERPRETER_STATE = 6,
};

struct move {
	const uint64_t *words;
	const struct hi_py_layout *from;
	struct hi_py_layout *to;
	unsigned column;
	bool with_end; /* what is behind the last that is said of an interpreter */
};

static uint32_t *layout_word(const struct hi_py_layout *l, size_t field)
{
	return (uint32_t *)((uintptr_t)l + field);
}

static bool take_said_words(struct move *m)
{
	for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++) {
		uint64_t at = said[i].at[m->column];

		if (!at)
			continue;
		if (m->words[at / 8] >= MAX_OFFSET)
			return false;
		*layout_word(m->to, said[i].field) = (uint32_t)m->words[at / 8];
	}
	return true;
}

static bool is_said(const struct move *m, size_t field)
{
	for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++)
		if (said[i].field == field)
			return said[i].at[m->column];
	return false;
}

static bool objects_are_known(const struct move *m)
{
	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
		if (fixed[i].at[m->column] &&
		    m->words[fixed[i].at[m->column] / 8] != fixed[i].value)
			return false;
	return true;
}

/* How far the end of an interpreter's state has moved. */
static int64_t end_shift(const struct move *m)
{
	return (int64_t)m->to->interp_size - m->from->interp_size;
}

/* How far what the table has at `offset` has moved: as the nearest that is said and lies
 * in front of it, or as the first of all. */
static int64_t shift_of(const struct move *m, enum record record, uint32_t offset)
{
	uint32_t nearest = UINT32_MAX, last = 0;
	int64_t shift = 0;

	for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++) {
		uint32_t at = *layout_word(m->from, said[i].field);
		bool is_nearer =
			nearest == UINT32_MAX ||
			(nearest > offset ? at < nearest : at <= offset && at > nearest);

		if (said[i].record != record || !said[i].at[m->column] ||
		    said[i].field == offsetof(struct hi_py_layout, gc_size))
			continue;
		last = at > last ? at : last;
		if (!is_nearer)
			continue;
		nearest = at;
		shift = (int64_t)*layout_word(m->to, said[i].field) - at;
	}
	return record == INTERPRETER && offset > last && m->with_end ? end_shift(m)
								     : shift;
}

static uint32_t shift_offset(const struct move *m, enum record record, uint32_t offset)
{
	int64_t to = (int64_t)offset + shift_of(m, record, offset);

	return offset && to > 0 && to < MAX_STATE ? (uint32_t)to : offset;
}

/* ---- sizes ---- */

/* The main interpreter is the last member of the runtime's state. */
static bool take_said_sizes(struct move *m)
{
	uint64_t runtime = m->words[RUNTIME_STATE], interp = m->words[INTERPRETER_STATE];

	if (runtime >= MAX_STATE || interp >= runtime || interp <= m->to->interp_modules)
		return false;
	m->to->runtime_size = (uint32_t)runtime;
	m->to->interp_size = (uint32_t)interp;
	m->to->runtime_words_end = (uint32_t)(runtime - interp);
	return m->to->runtime_words_end > m->to->runtime_interpreters_head;
}

static bool shift_words(struct move *m)
{
	if (!take_said_words(m) || !objects_are_known(m) || !take_said_sizes(m))
		return false;
	for (size_t i = 0; i < sizeof(unsaid) / sizeof(unsaid[0]); i++) {
		uint32_t *word = layout_word(m->to, unsaid[i].field);

		if (!is_said(m, unsaid[i].field))
			*word = shift_offset(m, unsaid[i].record, *word);
	}
	return true;
}

static bool begin_move(struct move *m)
{
	uint64_t version = m->words[VERSION];

	if (m->from->minor < FIRST_MINOR || m->from->minor >= FIRST_MINOR + MINORS ||
	    memcmp(m->words, "xdebugpy", 8) != 0 || version >> 24 != 3 ||
	    (version >> 16 & 255) != m->from->minor)
		return false;
	m->column = m->from->minor - FIRST_MINOR;
	*m->to = *m->from;
	m->to->dict_has_inline |= version >> 8 >= DICT_HAS_INLINE;
	return true;
}

/* ---- tables of an interpreter and of a thread ---- */

static void *copy_layout_rows(struct hi_py *py, const void *from, size_t n, size_t size)
{
	void *to = hi_arena_alloc(&py->arena, (n + 1) * size);

	if (to && n)
		memcpy(to, from, (n + 1) * size);
	py->no_memory |= !to;
	return to;
}

static const struct hi_py_field *shift_fields(struct hi_py *py, const struct move *m,
					      enum record record,
					      const struct hi_py_field *from)
{
	struct hi_py_field *to;
	size_t n = 0;

	while (n < MAX_ROWS && from[n].kind != HI_PY_FIELD_END)
		n++;
	to = copy_layout_rows(py, from, n, sizeof(*to));
	for (size_t i = 0; to && i < n; i++)
		to[i].offset = shift_offset(m, record, to[i].offset);
	if (to)
		to[n].kind = HI_PY_FIELD_END;
	return to;
}

static const struct hi_py_free_list *shift_free_lists(struct hi_py *py,
						      const struct move *m)
{
	const struct hi_py_free_list *from = m->from->free_lists;
	struct hi_py_free_list *to;
	size_t n = 0;

	while (n < MAX_ROWS && from[n].n)
		n++;
	to = copy_layout_rows(py, from, n, sizeof(*to));
	for (size_t i = 0; to && i < n; i++) {
		to[i].lists = shift_offset(m, INTERPRETER, to[i].lists);
		to[i].count = shift_offset(m, INTERPRETER, to[i].count);
	}
	if (to)
		to[n] = (struct hi_py_free_list){};
	return to;
}

static const struct hi_py_array *shift_arrays(struct hi_py *py, const struct move *m)
{
	const struct hi_py_array *from = m->from->arrays;
	struct hi_py_array *to;
	size_t n = 0;

	while (from && n < MAX_ROWS && from[n].n)
		n++;
	to = copy_layout_rows(py, from, n, sizeof(*to));
	for (size_t i = 0; to && i < n; i++)
		to[i].first = shift_offset(m, INTERPRETER, to[i].first);
	if (to)
		to[n] = (struct hi_py_array){};
	return to;
}

static const struct hi_py_skip *shift_skips(struct hi_py *py, const struct move *m)
{
	uint32_t n = m->from->n_interp_skip;
	struct hi_py_skip *to =
		hi_arena_alloc(&py->arena, (n + 1) * sizeof(*m->from->interp_skip));

	py->no_memory |= !to;
	for (uint32_t i = 0; to && i < n; i++) {
		to[i] = m->from->interp_skip[i];
		to[i].to =
			shift_offset(m, INTERPRETER, to[i].from) + to[i].to - to[i].from;
		to[i].from = shift_offset(m, INTERPRETER, to[i].from);
	}
	return to;
}

static bool shift_tables(struct hi_py *py, struct move *m)
{
	m->to->interp_fields = shift_fields(py, m, INTERPRETER, m->from->interp_fields);
	m->to->thread_fields = shift_fields(py, m, THREAD, m->from->thread_fields);
	m->to->free_lists = shift_free_lists(py, m);
	m->to->arrays = shift_arrays(py, m);
	m->to->interp_skip = shift_skips(py, m);
	return !py->no_memory;
}

/* Then there are no two ways to move what lies in front of it. */
static bool end_moves_alike(struct move *m)
{
	struct move other = *m;

	other.with_end = false;
	return end_shift(m) == shift_of(&other, INTERPRETER, m->from->interp_size);
}

/* ---- for other files ---- */

bool hi_py_apply_offsets(const uint64_t *words, const struct hi_py_layout *from,
			 struct hi_py_layout *ret)
{
	struct move m = {.words = words, .from = from, .to = ret};

	return begin_move(&m) && shift_words(&m);
}

const struct hi_py_layout *
hi_py_layout_of_offsets(struct hi_py *py, const struct hi_py_layout *from, bool with_end)
{
	struct move m = {.from = from, .with_end = with_end};
	uint64_t words[HI_PY_OFFSETS_WORDS];

	if (!hi_py_read(&py->reader, py->runtime, words, sizeof(words)))
		return NULL;
	m.words = words;
	m.to = hi_arena_alloc(&py->arena, sizeof(*m.to));
	py->no_memory |= !m.to;
	if (!m.to || !begin_move(&m) || !shift_words(&m) ||
	    (py->runtime_size && py->runtime_size != m.to->runtime_size) ||
	    (with_end && end_moves_alike(&m)) || !shift_tables(py, &m))
		return NULL;
	return m.to;
}
