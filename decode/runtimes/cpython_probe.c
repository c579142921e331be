/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds CPython and checks its layout: instance sizes of the builtins, the ring of
 * interpreters and threads, every list of the collector, the arenas with all of their
 * pools.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "decode/runtimes/cpython.h"

enum {
	MIN_CHUNK = 4096, /* of a thread's stack of frames */
	MAX_CHUNK = 1 << 30,
	SPARE = 1 << 20,
};

static void py_release(struct hi_runtime *runtime)
{
	struct hi_py *py = (struct hi_py *)runtime;

	hi_vector_free(&py->interpreters);
	hi_vector_free(&py->threads);
	hi_vector_free(&py->arenas);
	hi_vector_free(&py->arena_tables);
	hi_vector_free(&py->areas);
	hi_vector_free(&py->own);
	hi_vector_free(&py->internals);
	hi_vector_free(&py->types);
	hi_vector_free(&py->all);
	hi_table_free(&py->by_addr);
	hi_table_free(&py->by_name);
	hi_table_free(&py->freed);
	hi_arena_free(&py->arena);
	pthread_mutex_destroy(&py->lock);
	free(py);
}

static void py_destroy(struct hi_py *py)
{
	if (py)
		py_release(&py->base);
}
HI_DEFINE_GUARD(struct hi_py *, py_destroy)

static struct hi_runtime_cursor *py_cursor(struct hi_runtime *runtime)
{
	struct hi_runtime_cursor *c = hi_alloc(sizeof(*c));

	if (c)
		hi_py_cursor_init(c, (struct hi_py *)runtime);
	return c;
}

static void py_cursor_free(struct hi_runtime_cursor *c)
{
	free(c);
}
HI_DEFINE_GUARD(struct hi_runtime_cursor *, py_cursor_free)

/* ---- its state ---- */

static enum hi_status check_runtime_state(struct hi_py *py, struct hi_error *err)
{
	const struct hi_py_layout *l = py->layout;
	uint32_t core = 0, done = 0;
	uint64_t finalizing = 0;

	if (!hi_py_read(&py->reader, py->runtime + l->runtime_core_initialized, &core,
			4) ||
	    !hi_py_read(&py->reader, py->runtime + l->runtime_initialized, &done, 4) ||
	    !hi_py_u64(&py->reader, py->runtime + l->runtime_finalizing, &finalizing))
		return hi_fail(err, HI_BAD_DATA, py->runtime,
			       "CPython: _PyRuntime is unreadable");
	if (core > 1 || done > 1)
		return hi_fail(err, HI_BAD_DATA, py->runtime,
			       "CPython %s: _PyRuntime does not match the layout of 3.%u",
			       py->base.version, l->minor);
	if (!core && !done && !finalizing && !hi_py_has_interpreter(py, l))
		return hi_fail(err, HI_NOT_FOUND, py->runtime,
			       "CPython %s was never initialised in this process",
			       py->base.version);
	if (finalizing)
		return hi_fail(err, HI_UNSUPPORTED, py->runtime,
			       "CPython %s is finalising: its objects are not decoded",
			       py->base.version);
	if (!core || !done)
		return hi_fail(
			err, HI_UNSUPPORTED, py->runtime,
			"CPython %s is still starting: its objects are not decoded",
			py->base.version);
	return HI_OK;
}

static enum hi_status find_threads(struct hi_py *py, uint64_t interp,
				   struct hi_error *err)
{
	const struct hi_py_layout *l = py->layout;
	uint64_t at = hi_py_word(&py->reader, interp + l->interp_threads);

	for (int i = 0; at; i++) {
		if (i >= HI_PY_MAX_THREADS ||
		    hi_py_word(&py->reader, at + l->thread_interp) != interp)
			return hi_fail(err, HI_BAD_DATA, at,
				       "CPython: the list of threads is inconsistent");
		if (!hi_vector_push(&py->threads, at))
			return hi_fail_memory(err, "threads");
		at = hi_py_word(&py->reader, at + l->thread_next);
	}
	return HI_OK;
}

/* 3.8 has one, which the first interpreter stands for. */
static uint64_t gc_of(const struct hi_py *py, uint64_t interp)
{
	const struct hi_py_layout *l = py->layout;

	if (l->interp_gc)
		return interp + l->interp_gc;
	return py->interpreters.count ? 0 : py->runtime + l->runtime_gc;
}

static enum hi_status find_interpreters(struct hi_py *py, struct hi_error *err)
{
	const struct hi_py_layout *l = py->layout;
	struct hi_py_reader *r = &py->reader;
	uint64_t at = hi_py_word(r, py->runtime + l->runtime_interpreters_head);
	enum hi_status status = HI_OK;

	for (int i = 0; at && status == HI_OK; i++) {
		struct hi_py_interpreter in = {
			.addr = at,
			.id = (int64_t)hi_py_word(r, at + l->interp_id),
			.gc = gc_of(py, at)};

		in.collecting = in.gc && hi_py_u32(r, in.gc + l->gc_collecting);
		if (i >= HI_PY_MAX_INTERPRETERS ||
		    (l->interp_runtime &&
		     hi_py_word(r, at + l->interp_runtime) != py->runtime))
			return hi_fail(
				err, HI_BAD_DATA, at,
				"CPython: the list of interpreters is inconsistent");
		if (!hi_vector_push(&py->interpreters, in))
			return hi_fail_memory(err, "interpreters");
		status = find_threads(py, at, err);
		at = hi_py_word(r, at + l->interp_next);
	}
	if (status == HI_OK && !py->interpreters.count)
		return hi_fail(err, HI_UNSUPPORTED, py->runtime,
			       "CPython %s has no interpreter", py->base.version);
	return status;
}

/* ---- what is no root ---- */

static bool add_own_range(struct hi_py *py, uint64_t start, uint64_t size)
{
	return hi_vector_push(&py->own, ((struct hi_range){start, start + size}));
}

static int compare_own_ranges(const void *a, const void *b)
{
	const struct hi_range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* Of Parser/pegen.c, since 3.9: a pointer into the parser's arena, which is freed. */
static const char *const dangling_variables[] = {"_PyPegen_dummy_name()::cache", NULL};

/* Of Objects/obmalloc.c, where debug information or a symbol table has them. */
static enum hi_status find_internals(struct hi_py *py, struct hi_error *err)
{
	static const char *const names[] = {"arena_map_root", "arenas", "usedpools",
					    "unused_arena_objects", "usable_arenas"};
	uint64_t addr, size;
	char lto[64]; /* as a link-time optimiser calls it */

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(lto, sizeof(lto), "%s.lto_priv.0", names[i]);
		if (hi_modules_symbol(py->modules, py->module, names[i], &addr, &size,
				      NULL) != HI_OK &&
		    hi_modules_symbol(py->modules, py->module, lto, &addr, &size, NULL) !=
			    HI_OK)
			continue;
		if (!hi_vector_push(&py->internals, addr))
			return hi_fail_memory(err, "variables of the runtime");
	}
	py->base.internals = py->internals.items;
	py->base.n_internals = py->internals.count;
	py->base.dangling = dangling_variables;
	return HI_OK;
}

/* The state, which roots() reports word by word, and the stacks of frames. Those of
 * interpreters and threads that lie in blocks are blocks without edges. */
static enum hi_status find_own(struct hi_py *py, struct hi_error *err)
{
	const struct hi_py_layout *l = py->layout;
	bool ok = add_own_range(py, py->runtime,
				py->runtime_size ? py->runtime_size : l->runtime_size);
	uint64_t left = py->held / MIN_CHUNK + 1; /* each has pages of its own */

	for (size_t i = 0; i < py->threads.count && ok && l->thread_stack_chunk; i++) {
		uint64_t chunk = hi_py_word(&py->reader,
					    py->threads.items[i] + l->thread_stack_chunk);

		for (; chunk && ok; left--) {
			uint64_t size = hi_py_word(&py->reader, chunk + l->chunk_size);

			if (size > MAX_CHUNK || !left)
				return hi_fail(
					err, HI_BAD_DATA, chunk,
					"CPython: a stack of frames is inconsistent");
			ok = add_own_range(py, chunk, size);
			chunk = hi_py_word(&py->reader, chunk + l->chunk_previous);
		}
	}
	if (!ok)
		return hi_fail_memory(err, "areas of the runtime");
	return find_internals(py, err);
}

static void sort_own(struct hi_py *py)
{
	qsort(py->own.items, py->own.count, sizeof(*py->own.items), compare_own_ranges);
	py->base.own = py->own.items;
	py->base.n_own = py->own.count;
}

/* ---- the layout check ---- */

static const struct hi_py_builtin *builtin_of(const struct hi_py_layout *l,
					      const char *name)
{
	const struct hi_py_builtin *b = hi_py_builtins;

	while (b->name && (!hi_py_has_builtin(l, b) || strcmp(b->name, name) != 0))
		b++;
	return b->name ? b : NULL;
}

/* tp_basicsize of builtins whose types are exported. */
static enum hi_status check_builtins(struct hi_py *py, struct hi_error *err)
{
	static const struct {
		const char *symbol, *name;
	} known[] = {
		{"PyType_Type", "type"},
		{"PyDict_Type", "dict"},
		{"PyList_Type", "list"},
		{"PyTuple_Type", "tuple"},
		{"PySet_Type", "set"},
		{"PyUnicode_Type", "str"},
		{"PyBytes_Type", "bytes"},
		{"PyLong_Type", "int"},
		{"PyModule_Type", "module"},
		{"PyFunction_Type", "function"},
		{"PyCode_Type", "code"},
		{"PyGen_Type", "generator"},
		{"PyFrame_Type", "frame"},
		{"PyCell_Type", "cell"},
		{"PyMethod_Type", "method"},
		{"PyProperty_Type", "property"},
		{"PyTraceBack_Type", "traceback"},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		const struct hi_py_builtin *b = builtin_of(py->layout, known[i].name);
		uint64_t addr, size, basic;

		if (!b || hi_modules_symbol(py->modules, py->module, known[i].symbol,
					    &addr, &size, NULL) != HI_OK)
			continue;
		basic = hi_py_word(&py->reader, addr + py->layout->type_basicsize);
		if (basic != b->basicsize)
			return hi_fail(err, HI_BAD_DATA, addr,
				       "CPython %s: a %s has %" PRIu64
				       " bytes, not the %u of a release build",
				       py->base.version, b->name, basic, b->basicsize);
	}
	return HI_OK;
}

static enum hi_status py_self_check(struct hi_runtime *runtime, struct hi_error *err)
{
	struct hi_py *py = (struct hi_py *)runtime;
	HI_GUARD(py_cursor_free) struct hi_runtime_cursor *c = py_cursor(runtime);
	enum hi_status status;

	if (!c)
		return hi_fail_memory(err, "runtime");
	status = check_builtins(py, err);
	if (status == HI_OK)
		status = hi_py_check_collector(py, c, err);
	if (status == HI_OK && py->no_memory)
		status = hi_fail_memory(err, "runtime");
	return status;
}

/* ---- the proof of what nothing describes ---- */

static bool list_closes(struct hi_py *py, uint64_t head)
{
	uint64_t no_flags = ~py->layout->gc_next_flags, links[2], next = 0, before = 0;
	struct hi_py_reader *r = &py->reader;

	return hi_py_read(r, head, links, sizeof(links)) &&
	       hi_py_u64(r, (links[0] & no_flags) + HI_PY_PTR, &before) &&
	       (before & ~(uint64_t)HI_PY_GC_PREV_FLAGS) == head &&
	       hi_py_u64(r, links[1], &next) && (next & no_flags) == head;
}

static bool generations_are_at(struct hi_py *py, uint64_t gc, uint32_t offset)
{
	for (uint32_t g = 0; g < py->layout->gc_n_generations; g++)
		if (!list_closes(py,
				 gc + offset +
					 (uint64_t)g * py->layout->gc_generation_size))
			return false;
	return true;
}

/* Releases differ in how a head of a list is aligned, by 8 or (3.13.5) by 4 bytes,
 * and so in where the lists begin: behind three or four words of 4 bytes. */
static enum hi_status settle_generations(struct hi_py *py, struct hi_error *err)
{
	enum { SMALLER = 4 };
	const struct hi_py_layout *l = py->layout;
	uint64_t gc = py->interpreters.items[0].gc;
	struct hi_py_layout *settled;

	if (generations_are_at(py, gc, l->gc_generations) ||
	    !generations_are_at(py, gc, l->gc_generations - SMALLER))
		return HI_OK;
	settled = hi_arena_alloc(&py->arena, sizeof(*settled));
	if (!settled)
		return hi_fail_memory(err, "layout of the runtime");
	*settled = *l;
	settled->gc_generations -= SMALLER;
	py->layout = settled;
	return HI_OK;
}

static bool is_dict_or_none(struct hi_runtime_cursor *c, uint64_t addr)
{
	struct hi_py_object o;

	return !addr ||
	       (hi_py_object_at(c, addr, &o) && o.type->flags & HI_PY_DICT_SUBCLASS);
}

/* Fields of the main interpreter hold objects, or nothing. A few may be damaged, or in
 * the making; where no layout fits whole, one of the two dicts. */
static enum hi_status check_state_fields(struct hi_py *py, struct hi_runtime_cursor *c,
					 bool is_lenient, struct hi_error *err)
{
	enum { WRONG_ONE_OF = 4 };
	const struct hi_py_layout *l = py->layout;
	uint64_t state = py->interpreters.items[0].addr;
	unsigned n = 0, wrong = 0, dicts;

	for (const struct hi_py_field *f = l->interp_fields; f->kind != HI_PY_FIELD_END;
	     f++) {
		uint64_t word = hi_py_word(&py->reader, state + f->offset);
		struct hi_py_object o;

		n += word != 0;
		wrong += word && !hi_py_object_at(c, word, &o);
	}
	dicts = is_dict_or_none(c, hi_py_word(&py->reader, state + l->interp_modules)) +
		is_dict_or_none(c, hi_py_word(&py->reader, state + l->interp_sysdict));
	if (wrong * WRONG_ONE_OF <= n && dicts + is_lenient >= 2)
		return HI_OK;
	return hi_fail(err, HI_BAD_DATA, state,
		       "CPython %s: the state of an interpreter does not match the "
		       "layout of 3.%u",
		       py->base.version, l->minor);
}

/* ---- the probe ---- */

/* True: a debug allocator puts marks around each block. The dict of modules has them or
 * not. */
static void find_marks(struct hi_py *py)
{
	uint64_t modules = hi_py_word(&py->reader, py->interpreters.items[0].addr +
							   py->layout->interp_modules);

	py->has_marks = hi_py_is_marked(&py->reader, modules - HI_PY_GC_HEAD);
	py->base.marks = py->has_marks ? HI_PY_DEBUG_FRONT : 0;
}

static enum hi_status open_by_layout(struct hi_py *py, struct hi_runtime_cursor *c,
				     bool is_lenient, struct hi_error *err)
{
	enum hi_status status = check_runtime_state(py, err);

	py->interpreters.count = py->threads.count = py->own.count = 0;
	py->internals.count = 0;
	py->arenas.count = py->arena_tables.count = py->areas.count = 0;
	if (status == HI_OK)
		status = find_interpreters(py, err);
	if (status == HI_OK)
		status = settle_generations(py, err);
	if (status == HI_OK)
		status = check_state_fields(py, c, is_lenient, err);
	if (status == HI_OK)
		status = find_own(py, err);
	if (status == HI_OK) {
		find_marks(py);
		status = hi_py_find_arenas(py, err);
	}
	/* PYTHONMALLOC=malloc: all of it is in the allocator's blocks. */
	if (status == HI_NOT_FOUND)
		status = HI_OK;
	if (status != HI_OK)
		return status;
	hi_py_find_interned(py, c);
	if (!hi_py_own_frozen(py, c))
		return hi_fail_memory(err, "areas of the runtime");
	sort_own(py);
	return HI_OK;
}

/* Layouts that the image may prove, the most certain ones first. */
enum { MAX_LAYOUTS = 4 };
struct candidate {
	const struct hi_py_layout *layout; /* NULL: there is none */
	bool of_dwarf, of_offsets;
};

static void list_layouts(struct hi_py *py, struct hi_types *types,
			 struct candidate ret[MAX_LAYOUTS])
{
	const struct hi_py_layout *table = py->layout;
	const struct hi_py_layout *said = hi_py_layout_of_offsets(py, table, false);

	ret[1] = (struct candidate){.layout = said, .of_offsets = true};
	ret[2] = (struct candidate){.layout = hi_py_layout_of_offsets(py, table, true),
				    .of_offsets = true};
	ret[3].layout = table;
	if (said)
		py->layout = said;
	if (types)
		ret[0] = (struct candidate){.layout = hi_py_layout_of_dwarf(py, types),
					    .of_dwarf = true};
}

/* Reports what the first of them fails with. */
static enum hi_status open_by_one(struct hi_py *py, struct hi_runtime_cursor *c,
				  const struct candidate candidates[MAX_LAYOUTS],
				  bool is_lenient, struct hi_error *err)
{
	enum hi_status status = HI_BAD_DATA, first = HI_OK;
	struct hi_error another;

	for (size_t i = 0; i < MAX_LAYOUTS && status == HI_BAD_DATA; i++) {
		if (!candidates[i].layout)
			continue;
		py->layout = candidates[i].layout;
		py->of_dwarf = candidates[i].of_dwarf;
		py->of_offsets = candidates[i].of_offsets;
		status = open_by_layout(py, c, is_lenient,
					first == HI_OK ? err : &another);
		first = first == HI_OK ? status : first;
	}
	return status == HI_OK ? HI_OK : first;
}

static enum hi_status open_runtime(struct hi_py *py, struct hi_types *types,
				   struct hi_error *err)
{
	HI_GUARD(py_cursor_free)
	struct hi_runtime_cursor *c = py_cursor(&py->base);
	struct candidate candidates[MAX_LAYOUTS] = {};
	enum hi_status status;

	if (!c || !hi_py_name_buffers(py))
		return hi_fail_memory(err, "runtime");
	status = hi_py_find_layout(py, err);
	if (status != HI_OK)
		return status;
	list_layouts(py, types, candidates);
	if (py->no_memory)
		return hi_fail_memory(err, "layout of the runtime");
	status = open_by_one(py, c, candidates, false, err);
	return status == HI_BAD_DATA ? open_by_one(py, c, candidates, true, err) : status;
}

/* Making a type needs others. */
static void init_lock(pthread_mutex_t *lock)
{
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(lock, &attributes);
	pthread_mutexattr_destroy(&attributes);
}

/* Without _PyRuntime (3.7) it is an older one, or none. */
static enum hi_status refuse_old(struct hi_modules *modules, struct hi_error *err)
{
	uint64_t addr, size;

	if (hi_modules_symbol(modules, NULL, "Py_GetVersion", &addr, &size, NULL) ==
	    HI_OK)
		return hi_fail(err, HI_UNSUPPORTED, addr,
			       "a CPython older than 3.7: its objects are not decoded; "
			       "their memory is read like that of a C program");
	return hi_fail(err, HI_NOT_FOUND, 0, "no CPython in this process");
}

static enum hi_status py_probe(const struct hi_image *image, struct hi_modules *modules,
			       struct hi_types *types, struct hi_runtime **ret,
			       struct hi_error *err)
{
	HI_GUARD(py_destroy) struct hi_py *py = NULL;
	uint64_t addr, type, size, type_size;
	enum hi_status status;

	if (hi_modules_symbol(modules, NULL, "_PyRuntime", &addr, &size, NULL) != HI_OK ||
	    hi_modules_symbol(modules, NULL, "PyType_Type", &type, &type_size, NULL) !=
		    HI_OK)
		return refuse_old(modules, err);
	py = hi_calloc(1, sizeof(*py));
	if (!py)
		return hi_fail_memory(err, "runtime");
	init_lock(&py->lock);
	py->base.ops = &hi_runtime_cpython;
	py->image = image;
	py->modules = modules;
	py->runtime = addr;
	py->runtime_size = size;
	py->type_type = type;
	py->reader.memory = image->memory;
	py->reader.modules = py->modules;
	py->held = hi_image_held_bytes(image);
	py->budget = py->share = 2 * py->held + SPARE;
	py->dwarf = types;
	py->module = hi_modules_at(modules, addr);
	if (!py->module)
		return hi_fail(err, HI_NOT_FOUND, addr, "_PyRuntime is in no module");
	status = open_runtime(py, types, err);
	if (status == HI_OK)
		*ret = &hi_take(py)->base;
	return status;
}

static const char *const safepoints[] = {"usdt:python:gc__done", "usdt:python:gc__start",
					 NULL};

const struct hi_runtime_ops hi_runtime_cpython = {
	.name = "CPython",
	.safepoints = safepoints,
	.probe = py_probe,
	.self_check = py_self_check,
	.walk = hi_py_walk,
	.type_of = hi_py_type_of,
	.cursor = py_cursor,
	.cursor_free = py_cursor_free,
	.edges = hi_py_edges,
	.cut = hi_py_cut,
	.label = hi_py_label,
	.counted = hi_py_counted,
	.mark_losses = hi_py_mark_losses,
	.known_loss = hi_py_known_loss,
	.facts = hi_py_facts,
	.put_aside = hi_py_put_aside,
	.roots = hi_py_roots,
	.frames = hi_py_frames,
	.release = py_release,
};
