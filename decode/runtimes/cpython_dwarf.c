/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A layout out of debug information: the interpreter's own structures, which a patch
 * release or a build's options may change. Structures of objects are the same in all
 * releases of a minor version, and stay as in the table, as does what the debug
 * information does not have. Both must pass the layout check (cpython_probe.c).
 */
#include <stddef.h>
#include <string.h>

#include "decode/runtimes/cpython_rows.h"

enum {
	MAX_NAMES = 3,
	MAX_COMPONENT = 64,
	MAX_ROWS = 64,
};

/* The structures, each found by way of another: other structures may have the same
 * names. */
enum record {
	RUNTIME,
	INTERPRETER,
	THREAD,
	COLLECTOR,
	ALLOCATOR,
	CFRAME,
	FRAME,
	RECORDS,
};
static const struct {
	enum record record, of;
	const char *path; /* a member, or what it points to */
} ways[] = {
	{INTERPRETER, RUNTIME, "interpreters.head"},
	{THREAD, INTERPRETER, "threads.head"},
	{THREAD, INTERPRETER, "tstate_head"},
	{COLLECTOR, INTERPRETER, "gc"},
	{COLLECTOR, RUNTIME, "gc"},
	{ALLOCATOR, INTERPRETER, "obmalloc"},
	{CFRAME, THREAD, "cframe"},
	{FRAME, CFRAME, "current_frame"},
	{FRAME, THREAD, "current_frame"},
	{FRAME, THREAD, "frame"},
};

/* A word of the layout, and what it is called in the structure: the first that there
 * is. */
struct row {
	size_t field;
	enum record record;
	const char *paths[MAX_NAMES];
};
#define ROW(field, record, ...)                                                          \
	{                                                                                \
		offsetof(struct hi_py_layout, field), record,                            \
		{                                                                        \
			__VA_ARGS__                                                      \
		}                                                                        \
	}
static const struct row rows[] = {
	ROW(runtime_core_initialized, RUNTIME, "core_initialized"),
	ROW(runtime_initialized, RUNTIME, "initialized"),
	ROW(runtime_finalizing, RUNTIME, "_finalizing", "finalizing"),
	ROW(runtime_interpreters_head, RUNTIME, "interpreters.head"),
	ROW(runtime_interpreters_main, RUNTIME, "interpreters.main"),
	ROW(runtime_gc, RUNTIME, "gc"),
	ROW(interp_next, INTERPRETER, "next"),
	ROW(interp_threads, INTERPRETER, "threads.head", "tstate_head"),
	ROW(interp_runtime, INTERPRETER, "runtime"),
	ROW(interp_id, INTERPRETER, "id"),
	ROW(interp_gc, INTERPRETER, "gc"),
	ROW(interp_modules, INTERPRETER, "imports.modules", "modules"),
	ROW(interp_sysdict, INTERPRETER, "sysdict"),
	ROW(interp_interned, INTERPRETER, "cached_objects.interned_strings"),
	ROW(interp_obmalloc, INTERPRETER, "obmalloc"),
	ROW(type_cache, INTERPRETER, "types.type_cache", "type_cache"),
	ROW(obmalloc_arenas, ALLOCATOR, "mgmt.arenas"),
	ROW(obmalloc_n_arenas, ALLOCATOR, "mgmt.maxarenas"),
	ROW(gc_generations, COLLECTOR, "generations"),
	ROW(gc_permanent, COLLECTOR, "permanent_generation"),
	ROW(gc_collecting, COLLECTOR, "collecting"),
	ROW(gc_enabled, COLLECTOR, "enabled"),
	ROW(thread_next, THREAD, "next"),
	ROW(thread_interp, THREAD, "interp"),
	ROW(thread_cframe, THREAD, "cframe"),
	ROW(thread_frame, THREAD, "current_frame", "frame"),
	ROW(thread_native_id, THREAD, "native_thread_id"),
	ROW(thread_id, THREAD, "thread_id"),
	ROW(thread_state, THREAD, "state"),
	ROW(thread_stack_chunk, THREAD, "datastack_chunk"),
	ROW(cframe_current, CFRAME, "current_frame"),
	ROW(frame_func, FRAME, "f_funcobj", "f_func"),
	ROW(frame_locals, FRAME, "f_locals"),
	ROW(frame_code, FRAME, "f_executable", "f_code"),
	ROW(frame_object, FRAME, "frame_obj"),
	ROW(frame_previous, FRAME, "previous", "f_back"),
	ROW(frame_instr, FRAME, "instr_ptr", "prev_instr", "f_lasti"),
	ROW(frame_stacktop, FRAME, "stacktop", "f_stacktop", "stackpointer"),
	ROW(frame_owner, FRAME, "owner"),
	ROW(frame_localsplus, FRAME, "localsplus", "f_localsplus"),
	ROW(frame_stackdepth, FRAME, "f_stackdepth"),
	ROW(frame_values, FRAME, "f_valuestack"),
};

/* ---- the way to a member ---- */

struct location {
	uint64_t offset, size;
	uint64_t n, stride; /* of the array on the way; 1, 0 */
	const struct hi_type *type;
};

static const struct hi_member *member_of(const struct hi_type *type, const char *name,
					 size_t n)
{
	for (uint32_t i = 0; i < type->n_members; i++)
		if (strlen(type->members[i].name) == n &&
		    memcmp(type->members[i].name, name, n) == 0)
			return &type->members[i];
	return NULL;
}

/* "a.b[].c": into a and its b, into the first element of that. */
static bool find_member_path(struct hi_types *types, const struct hi_type *type,
			     const char *path, struct location *ret)
{
	*ret = (struct location){.n = 1};
	while (*path) {
		size_t n = strcspn(path, ".[");
		const struct hi_member *m = member_of(type, path, n);

		if (!m)
			return false;
		ret->offset += m->offset;
		type = hi_type_get(types, m->type);
		path += n;
		if (*path == '[') {
			if (type->kind != HI_KIND_ARRAY)
				return false;
			ret->n = type->count;
			type = hi_type_get(types, type->target);
			ret->stride = type->size;
			path += 2;
		}
		path += *path == '.';
	}
	ret->size = type->size;
	ret->type = type;
	return ret->offset < UINT32_MAX;
}

/* The structure of _PyRuntime, of the size of its symbol. */
static bool find_state_records(const struct hi_py *py, struct hi_types *types,
			       const struct hi_type *records[RECORDS])
{
	struct location location;
	hi_type_id id;

	if (hi_types_find(types, "struct pyruntimestate", &id, NULL) != HI_OK)
		return false;
	records[RUNTIME] = hi_type_get(types, id);
	if (records[RUNTIME]->size != py->runtime_size)
		return false;
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		const struct hi_type *of = records[ways[i].of];

		if (!of || records[ways[i].record] ||
		    !find_member_path(types, of, ways[i].path, &location))
			continue;
		if (location.type->kind == HI_KIND_POINTER)
			location.type = hi_type_get(types, location.type->target);
		if (location.type->kind == HI_KIND_STRUCT && location.type->size &&
		    location.type->size < UINT32_MAX)
			records[ways[i].record] = location.type;
	}
	return records[INTERPRETER] && records[THREAD] && records[COLLECTOR];
}

/* ---- the tables of a layout ---- */

static struct hi_py_field *move_fields(struct hi_py *py, struct hi_types *types,
				       const struct hi_type *record,
				       const struct hi_py_field *from)
{
	struct hi_py_field *to = hi_arena_alloc(&py->arena, MAX_ROWS * sizeof(*to));
	struct location location;
	size_t n = 0;

	if (!to)
		return NULL;
	for (; from->kind != HI_PY_FIELD_END && n + 1 < MAX_ROWS; from++) {
		if (!find_member_path(types, record, from->name, &location))
			continue;
		to[n] = *from;
		to[n++].offset = (uint32_t)location.offset;
	}
	to[n] = (struct hi_py_field){.kind = HI_PY_FIELD_END};
	return to;
}

static struct hi_py_free_list *move_free_lists(struct hi_py *py, struct hi_types *types,
					       const struct hi_type *record,
					       const struct hi_py_free_list *from)
{
	struct hi_py_free_list *to = hi_arena_alloc(&py->arena, MAX_ROWS * sizeof(*to));
	struct location location, count = {};
	size_t n = 0;

	if (!to)
		return NULL;
	for (; from->n && n + 1 < MAX_ROWS; from++) {
		if (!find_member_path(types, record, from->path, &location) ||
		    (from->count_path &&
		     !find_member_path(types, record, from->count_path, &count)))
			continue;
		to[n] = *from;
		to[n].lists = (uint32_t)location.offset;
		to[n].n = from->stride ? (uint32_t)location.n
				       : (uint32_t)(location.size / 8);
		to[n].stride = from->stride ? (uint32_t)location.stride : 0;
		to[n++].count = from->count_path ? (uint32_t)count.offset : 0;
	}
	to[n] = (struct hi_py_free_list){};
	return to;
}

static struct hi_py_array *move_arrays(struct hi_py *py, struct hi_types *types,
				       const struct hi_type *record,
				       const struct hi_py_array *from)
{
	struct hi_py_array *to = hi_arena_alloc(&py->arena, MAX_ROWS * sizeof(*to));
	struct location location;
	size_t n = 0;

	if (!to)
		return NULL;
	for (; from && from->n && n + 1 < MAX_ROWS; from++)
		if (find_member_path(types, record, from->what, &location) &&
		    location.stride < UINT32_MAX && location.n <= from->n * 16u)
			to[n++] = (struct hi_py_array){
				(uint32_t)location.offset, (uint32_t)location.n,
				(uint32_t)location.stride, from->what};
	to[n] = (struct hi_py_array){};
	return to;
}

static bool move_skips(struct hi_py *py, struct hi_types *types,
		       const struct hi_type *record, struct hi_py_layout *l)
{
	struct hi_py_skip *to = hi_arena_alloc(&py->arena, MAX_ROWS * sizeof(*to));
	struct location location;
	uint32_t n = 0;

	for (uint32_t i = 0; to && i < l->n_interp_skip && n < MAX_ROWS; i++)
		if (find_member_path(types, record, l->interp_skip[i].path, &location))
			to[n++] = (struct hi_py_skip){
				(uint32_t)location.offset,
				(uint32_t)(location.offset + location.size),
				l->interp_skip[i].path};
	l->interp_skip = to;
	l->n_interp_skip = n;
	return to;
}

static void move_plain_offsets(struct hi_types *types,
			       const struct hi_type *records[RECORDS],
			       struct hi_py_layout *l)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint32_t *word = (uint32_t *)((char *)l + rows[i].field);
		const struct hi_type *record = records[rows[i].record];
		struct location location;

		for (int k = 0; record && k < MAX_NAMES && rows[i].paths[k]; k++)
			if (find_member_path(types, record, rows[i].paths[k],
					     &location)) {
				*word = (uint32_t)location.offset;
				break;
			}
	}
}

static void move_sizes(struct hi_types *types, const struct hi_type *records[RECORDS],
		       struct hi_py_layout *l)
{
	struct location location;

	l->runtime_size = (uint32_t)records[RUNTIME]->size;
	l->interp_size = (uint32_t)records[INTERPRETER]->size;
	/* There is more behind it (3.13). */
	l->thread_size = find_member_path(types, records[INTERPRETER], "_initial_thread",
					  &location)
				 ? (uint32_t)location.size
				 : (uint32_t)records[THREAD]->size;
	l->runtime_words_end =
		find_member_path(types, records[RUNTIME], "_main_interpreter", &location)
			? (uint32_t)location.offset
			: l->runtime_size;
	if (find_member_path(types, records[INTERPRETER], "obmalloc", &location))
		l->obmalloc_is_pointer = location.type->kind == HI_KIND_POINTER;
}

static bool move_tables(struct hi_py *py, struct hi_types *types,
			const struct hi_type *records[RECORDS], struct hi_py_layout *l)
{
	const struct hi_type *interp = records[INTERPRETER];

	if (l->runtime_fields)
		l->runtime_fields =
			move_fields(py, types, records[RUNTIME], l->runtime_fields);
	l->interp_fields = move_fields(py, types, interp, l->interp_fields);
	l->thread_fields = move_fields(py, types, records[THREAD], l->thread_fields);
	l->free_lists = move_free_lists(py, types, interp, l->free_lists);
	l->arrays = move_arrays(py, types, interp, l->arrays);
	return l->interp_fields && l->thread_fields && l->free_lists && l->arrays &&
	       move_skips(py, types, interp, l);
}

const struct hi_py_layout *hi_py_layout_of_dwarf(struct hi_py *py, struct hi_types *types)
{
	const struct hi_type *records[RECORDS] = {};
	struct hi_py_layout *l;

	if (!find_state_records(py, types, records))
		return NULL;
	l = hi_arena_alloc(&py->arena, sizeof(*l));
	if (!l) {
		py->no_memory = true;
		return NULL;
	}
	*l = *py->layout;
	move_plain_offsets(types, records, l);
	move_sizes(types, records, l);
	if (!move_tables(py, types, records, l))
		py->no_memory = true;
	return py->no_memory ? NULL : l;
}
