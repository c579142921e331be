/* SPDX-License-Identifier: BSD-2-Clause */
/* Layouts out of debug information: of structures that no release has, which the fixture
 * tells; and of releases, where they must be those of the tables. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/types/function_types.h"
#include "decode/runtimes/cpython_rows.h"
#include "harness.h"
#include "support/fixture.h"
#include "support/inspected.h"
#include "support/pythons.h"
#include "support/typed_process.h"

struct offsets {
	struct {
		char name[48];
		unsigned value;
	} items[64];
	unsigned n;
};

static void keep_line(const char *line, void *arg)
{
	struct offsets *o = arg;
	const char *space = strrchr(line, ' ');

	HI_ASSERT(o->n < 64);
	if (!space)
		return;
	snprintf(o->items[o->n].name, sizeof(o->items[o->n].name), "%.*s",
		 (int)(space - line), line);
	o->items[o->n++].value = (unsigned)strtoul(space + 1, NULL, 10);
}

static unsigned said(const struct offsets *o, const char *name)
{
	for (unsigned i = 0; i < o->n; i++)
		if (strcmp(o->items[i].name, name) == 0)
			return o->items[i].value;
	hi_test_fail(__FILE__, __LINE__, "the fixture does not say %s", name);
}

static void check_words(const struct hi_py_layout *l, const struct offsets *o)
{
#define CHECK(name) HI_ASSERT_EQ(said(o, #name), l->name)
	CHECK(runtime_interpreters_head);
	CHECK(runtime_core_initialized);
	CHECK(runtime_finalizing);
	CHECK(runtime_words_end);
	CHECK(runtime_size);
	CHECK(interp_modules);
	CHECK(interp_threads);
	CHECK(interp_gc);
	CHECK(interp_obmalloc);
	CHECK(interp_size);
	CHECK(gc_generations);
	CHECK(gc_permanent);
	CHECK(gc_collecting);
	CHECK(gc_enabled);
	CHECK(thread_interp);
	CHECK(thread_native_id);
	CHECK(obmalloc_arenas);
#undef CHECK
	HI_ASSERT(l->obmalloc_is_pointer);
}

static unsigned field(const struct hi_py_field *fields, const char *name)
{
	while (fields->kind != HI_PY_FIELD_END && strcmp(fields->name, name) != 0)
		fields++;
	HI_ASSERT_MSG(fields->kind != HI_PY_FIELD_END, "no field %s", name);
	return fields->offset;
}

static unsigned count_fields(const struct hi_py_field *fields)
{
	unsigned n = 0;

	while (fields[n].kind != HI_PY_FIELD_END)
		n++;
	return n;
}

static void check_tables(const struct hi_py_layout *l, const struct offsets *o)
{
	HI_ASSERT_EQ(said(o, "gc.garbage"), field(l->interp_fields, "gc.garbage"));
	HI_ASSERT_EQ(said(o, "codec_search_path"),
		     field(l->interp_fields, "codec_search_path"));
	HI_ASSERT_EQ(3, l->n_interp_skip); /* gc, list, types.builtins */
	HI_ASSERT_STREQ("list", l->free_lists[0].what);
	HI_ASSERT_EQ(said(o, "list"), l->free_lists[0].lists);
	HI_ASSERT_EQ(said(o, "list count"), l->free_lists[0].count);
	HI_ASSERT_EQ(40, l->free_lists[0].n);
	HI_ASSERT_EQ(0, l->free_lists[1].n);
	HI_ASSERT_EQ(said(o, "types.builtins[].tp_dict"), l->arrays[0].first);
	HI_ASSERT_EQ(7, l->arrays[0].n);
	HI_ASSERT_EQ(24, l->arrays[0].stride);
}

HI_TEST_SCENARIO(cpython_layout, debug_information_says_where_things_are)
{
	struct hi_fixture *fx = hi_fixture_start("python_moved", NULL);
	struct hi_py py = {.layout = &hi_py_layout_3_12};
	const struct hi_py_layout *l;
	struct hi_error err = {};
	struct offsets o = {};
	struct inspected *p;

	hi_fixture_read_until(fx, "ready", keep_line, &o);
	p = inspected_open(fx->pid, NULL);
	py.modules = p->modules;
	HI_ASSERT_OK(hi_modules_symbol(p->modules, NULL, "_PyRuntime", &py.runtime,
				       &py.runtime_size, &err),
		     &err);
	py.module = hi_modules_at(p->modules, py.runtime);
	l = hi_py_layout_of_dwarf(&py, p->types);
	HI_ASSERT(l);
	check_words(l, &o);
	check_tables(l, &o);
	/* What it has not stays. */
	HI_ASSERT_EQ(hi_py_layout_3_12.frame_stacktop, l->frame_stacktop);
	hi_arena_free(&py.arena);
}

HI_TEST_SCENARIO(cpython_layout, variables_of_a_function_have_types)
{
	struct hi_fixture *fx = hi_fixture_start("python_moved", NULL);
	struct hi_parameter locals[4];
	const struct hi_type *type;
	struct hi_error err = {};
	struct inspected *p;
	uint64_t addr, size;
	size_t n;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	p = inspected_open(fx->pid, NULL);
	HI_ASSERT_OK(hi_modules_symbol(p->modules, NULL, "use_self", &addr, &size, &err),
		     &err);
	HI_ASSERT_OK(hi_function_locals(p->types, hi_modules_at(p->modules, addr), addr,
					locals, 4, &n, &err),
		     &err);
	HI_ASSERT_EQ(1, n);
	HI_ASSERT_STREQ("self", locals[0].name);
	type = hi_type_get(p->types, locals[0].type);
	HI_ASSERT_EQ(HI_KIND_POINTER, type->kind);
	HI_ASSERT_STREQ("struct _is", hi_type_get(p->types, type->target)->name);
	HI_ASSERT_STATUS(HI_NOT_FOUND,
			 hi_function_locals(p->types, hi_modules_at(p->modules, addr),
					    addr + 1, locals, 4, &n, &err));
}

HI_TEST_SCENARIO(cpython_layout, a_function_of_two_pieces_has_variables_too)
{
	struct hi_fixture *fx = hi_fixture_start("python_moved", NULL);
	struct hi_parameter locals[4];
	struct hi_error err = {};
	struct inspected *p;
	uint64_t addr, size;
	size_t n;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	p = inspected_open(fx->pid, NULL);
	/* Its other piece; a compiler that made none proves nothing here. */
	HI_ASSERT_OK(hi_modules_symbol(p->modules, NULL, "use_in_pieces.cold", &addr,
				       &size, &err),
		     &err);
	HI_ASSERT_OK(
		hi_modules_symbol(p->modules, NULL, "use_in_pieces", &addr, &size, &err),
		&err);
	HI_ASSERT_OK(hi_function_locals(p->types, hi_modules_at(p->modules, addr), addr,
					locals, 4, &n, &err),
		     &err);
	HI_ASSERT_EQ(1, n);
	HI_ASSERT_STREQ("self", locals[0].name);
}

static const struct hi_py_layout *table_of(unsigned minor)
{
	for (size_t i = 0; hi_py_layouts[i]; i++)
		if (hi_py_layouts[i]->minor == minor)
			return hi_py_layouts[i];
	return NULL;
}

/* Words that a layout uses; others may be said all the same. */
static void check_same(const struct hi_py_layout *table, const struct hi_py_layout *l)
{
	const uint32_t *a = (const uint32_t *)table, *b = (const uint32_t *)l;

	for (size_t i = offsetof(struct hi_py_layout, interp_next) / 4;
	     i < offsetof(struct hi_py_layout, interp_fields) / 4; i++)
		HI_ASSERT_MSG(a[i] == b[i], "word %zu: the table says %u, not %u", i,
			      a[i], b[i]);
	/* (str_replace_inf is unused in 3.13.5, and has another name.) */
	for (size_t i = 0; l->interp_fields[i].kind != HI_PY_FIELD_END; i++)
		HI_ASSERT_EQ(field(table->interp_fields, l->interp_fields[i].name),
			     l->interp_fields[i].offset);
	HI_ASSERT(count_fields(l->interp_fields) + 1 >=
		  count_fields(table->interp_fields));
	for (size_t i = 0; table->thread_fields[i].kind != HI_PY_FIELD_END; i++)
		HI_ASSERT_EQ(table->thread_fields[i].offset, l->thread_fields[i].offset);
	for (size_t i = 0; table->free_lists[i].n; i++) {
		HI_ASSERT_EQ(table->free_lists[i].lists, l->free_lists[i].lists);
		HI_ASSERT_EQ(table->free_lists[i].count, l->free_lists[i].count);
		HI_ASSERT_EQ(table->free_lists[i].n, l->free_lists[i].n);
	}
	HI_ASSERT_EQ(table->n_interp_skip, l->n_interp_skip);
	for (size_t i = 0; i < table->n_interp_skip; i++) {
		HI_ASSERT_EQ(table->interp_skip[i].from, l->interp_skip[i].from);
		HI_ASSERT_EQ(table->interp_skip[i].to, l->interp_skip[i].to);
	}
	for (size_t i = 0; table->arrays && table->arrays[i].n; i++) {
		HI_ASSERT_EQ(table->arrays[i].first, l->arrays[i].first);
		HI_ASSERT_EQ(table->arrays[i].stride, l->arrays[i].stride);
		HI_ASSERT_EQ(table->arrays[i].n, l->arrays[i].n);
	}
	HI_ASSERT_EQ(table->runtime_size, l->runtime_size);
	HI_ASSERT_EQ(table->runtime_words_end, l->runtime_words_end);
	HI_ASSERT_EQ(table->frame_localsplus, l->frame_localsplus);
	HI_ASSERT_EQ(table->frame_previous, l->frame_previous);
	HI_ASSERT_EQ(table->frame_code, l->frame_code);
	HI_ASSERT_EQ(table->thread_frame, l->thread_frame);
	HI_ASSERT_EQ(table->thread_next, l->thread_next);
	HI_ASSERT_EQ(table->thread_interp, l->thread_interp);
	HI_ASSERT_EQ(table->obmalloc_arenas, l->obmalloc_arenas);
	HI_ASSERT_EQ(table->obmalloc_is_pointer, l->obmalloc_is_pointer);
}

/* The table, from 3.13 on with what the interpreter says of itself. What that cannot say,
 * where the collector's lists begin, is seen in the image. */
static const struct hi_py_layout *known_layout(struct hi_runtime *runtime,
					       struct hi_py_layout *ret)
{
	struct hi_py *py = (struct hi_py *)runtime;
	const struct hi_py_layout *table = table_of(py->layout->minor);
	const struct hi_py_layout *said = hi_py_layout_of_offsets(py, table, false);

	HI_ASSERT((said != NULL) == (table->minor >= 13));
	*ret = said ? *said : *table;
	if (ret->gc_generations == py->layout->gc_generations + 4)
		ret->gc_generations -= 4;
	return ret;
}

static void check_python(const char *python)
{
	struct hi_fixture *fx = hi_fixture_start(
		python, "-c", "print('ready', flush=True); import sys; sys.stdin.read(1)",
		NULL);
	const struct hi_py *py;
	struct hi_py_layout known;
	struct typed_process *p;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	p = typed_process_open(fx->pid, NULL);
	HI_ASSERT(p->runtime);
	py = (const struct hi_py *)p->runtime;
	hi_test_note("%s: %s", p->runtime->version, p->runtime->found_by);
	if (py->of_dwarf)
		check_same(known_layout(p->runtime, &known), py->layout);
	HI_ASSERT(strstr(p->runtime->found_by, py->of_dwarf ? "debug info" : "table"));
}

HI_TEST_SCENARIO(cpython_layout, tables_say_the_same_as_debug_information)
{
	hi_each_python(check_python);
}
