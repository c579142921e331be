/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds CPython in a process that runs, for walks over its stacks. By symbols, and by
 * tables: of the memory only what does not change is read. */
#include "decode/runtimes/cpython_walk_find.h"

#include <stdio.h>
#include <string.h>

#include "decode/runtimes/cpython_rows.h"

enum {
	TSS_KEYS = 1024,   /* PTHREAD_KEYS_MAX */
	TSS_BLOCK = 32,	   /* keys that are in struct pthread itself */
	TSS_KEY_SIZE = 16, /* struct pthread_key_data: seq, data */
	TSS_DATA = 8,
	COOKIE_MINOR = 13,
	FREE_THREADED = 16, /* behind "xdebugpy" and the version */
	OLD_FRAME_BYTES = 112,
	OLD_CODE_BYTES = 144,
	OLD_UNIT_MINOR = 10, /* from here on an instruction is a unit of 2 bytes */
};

static bool has_python_symbol(struct hi_modules *modules, const char *name,
			      uint64_t *addr_ret)
{
	return hi_modules_symbol(modules, NULL, name, addr_ret, NULL, NULL) == HI_OK;
}

/* Functions that a version was the first to have. Py_Version says it from 3.11 on. */
static unsigned find_minor(struct hi_modules *modules)
{
	static const struct {
		const char *symbol;
		unsigned minor;
	} firsts[] = {{"PyModule_AddObjectRef", 10},
		      {"PyFrame_GetBack", 9},
		      {"PyCode_NewWithPosOnlyArgs", 8}};
	uint64_t addr;
	uint32_t version;

	if (has_python_symbol(modules, "Py_Version", &addr))
		return hi_modules_read(modules, addr, &version, 4, NULL) == HI_OK &&
				       version >> 24 == 3
			       ? version >> 16 & 255
			       : 0;
	for (size_t i = 0; i < sizeof(firsts) / sizeof(*firsts); i++)
		if (has_python_symbol(modules, firsts[i].symbol, &addr))
			return firsts[i].minor;
	return 0;
}

const struct hi_py_layout *hi_py_layout_of_minor(unsigned minor)
{
	for (size_t i = 0; hi_py_layouts[i]; i++)
		if (hi_py_layouts[i]->minor == minor)
			return hi_py_layouts[i];
	return NULL;
}

/* A build with other structures has other sizes, or says that it has no lock. */
static bool has_table_layout(struct hi_modules *modules, const struct hi_py_layout *l,
			     uint64_t runtime, uint64_t code_type)
{
	const struct hi_py_builtin *code = hi_py_builtins;
	uint64_t size = 0, header[FREE_THREADED / 8 + 1];

	while (code->name &&
	       (!hi_py_has_builtin(l, code) || strcmp(code->name, "code") != 0))
		code++;
	if (!code->name ||
	    hi_modules_read(modules, code_type + l->type_basicsize, &size, 8, NULL) !=
		    HI_OK ||
	    size != code->basicsize)
		return false;
	return l->minor < COOKIE_MINOR ||
	       (hi_modules_read(modules, runtime, header, sizeof(header), NULL) ==
			HI_OK &&
		memcmp(header, "xdebugpy", 8) == 0 && !header[FREE_THREADED / 8]);
}

static bool read_pthread_field(struct hi_modules *modules, const char *name,
			       uint32_t *offset_ret)
{
	uint32_t field[3]; /* size in bits, number, offset in bytes */
	uint64_t addr;

	if (!has_python_symbol(modules, name, &addr) ||
	    hi_modules_read(modules, addr, field, sizeof(field), NULL) != HI_OK ||
	    field[2] > 1 << 16)
		return false;
	*offset_ret = field[2];
	return true;
}

/* glibc: the first keys are in struct pthread, in front of the pointers to all. */
static bool find_tss(struct hi_modules *modules, uint64_t tss, struct hi_python_walk *ret)
{
	uint32_t key[2] = {}, pointers;

	if (hi_modules_read(modules, tss, key, sizeof(key), NULL) != HI_OK ||
	    key[0] != 1 || key[1] >= TSS_KEYS ||
	    !read_pthread_field(modules, "_thread_db_pthread_specific", &pointers) ||
	    pointers < TSS_BLOCK * TSS_KEY_SIZE)
		return false;
	ret->tss = key[1] % TSS_BLOCK * TSS_KEY_SIZE + TSS_DATA;
	if (key[1] < TSS_BLOCK)
		ret->tss += pointers - TSS_BLOCK * TSS_KEY_SIZE;
	else
		ret->tss_block = pointers + key[1] / TSS_BLOCK * 8;
	return true;
}

static void fill_offsets(const struct hi_py_layout *l, struct hi_python_walk *ret)
{
	bool is_old = l->thread_frame && l->frame_owner == 0;

	ret->minor = l->minor;
	ret->interp_next = l->interp_next;
	ret->thread_pthread = l->thread_pthread;
	ret->thread_frame = l->thread_frame ? l->thread_frame : l->thread_cframe;
	ret->has_cframe = !l->thread_frame;
	ret->cframe_current = l->cframe_current;
	ret->frame_size = is_old ? OLD_FRAME_BYTES : l->frame_localsplus;
	ret->frame_code = l->frame_code;
	ret->frame_previous = l->frame_previous;
	ret->frame_instr = l->frame_instr;
	ret->frame_owner = l->frame_owner;
	ret->frame_is_entry = l->frame_is_entry;
	ret->instr_unit = !is_old ? 0 : l->minor < OLD_UNIT_MINOR ? 1 : 2;
	ret->code_first_line = l->code_firstlineno;
	ret->code_filename = l->code_filename;
	ret->code_qualname = l->code_qualname;
	ret->code_lines = l->code_linetable;
	ret->code_size = is_old ? OLD_CODE_BYTES : l->code_instructions;
	ret->code_first_traceable = l->code_first_traceable;
	ret->code_instructions = l->code_instructions;
}

/* The layout of this minor version, with what the interpreter says of its own; the words
 * that say it never change. NULL: not known. */
static const struct hi_py_layout *find_walk_layout(struct hi_modules *modules,
						   unsigned minor, uint64_t runtime,
						   struct hi_py_layout *storage)
{
	const struct hi_py_layout *table = hi_py_layout_of_minor(minor);
	uint64_t words[HI_PY_OFFSETS_WORDS];

	if (!table || table->minor < COOKIE_MINOR ||
	    hi_modules_read(modules, runtime, words, sizeof(words), NULL) != HI_OK ||
	    !hi_py_apply_offsets(words, table, storage) ||
	    storage->frame_localsplus > HI_PYTHON_FRAME_MAX ||
	    storage->code_instructions > HI_PYTHON_CODE_MAX)
		return table;
	return storage;
}

bool hi_python_find(struct hi_modules *modules, struct hi_python_walk *ret)
{
	const struct hi_py_layout *l;
	struct hi_py_layout storage;
	uint64_t runtime, type;

	*ret = (struct hi_python_walk){};
	if (!has_python_symbol(modules, "_PyRuntime", &runtime) ||
	    !has_python_symbol(modules, "PyCode_Type", &type))
		return false;
	l = find_walk_layout(modules, find_minor(modules), runtime, &storage);
	if (!l || !has_table_layout(modules, l, runtime, type))
		return false;
	fill_offsets(l, ret);
	if (l->runtime_current)
		ret->current = runtime + l->runtime_current;
	ret->interpreters = runtime + l->runtime_interpreters_head;
	if (!find_tss(modules, runtime + l->runtime_tss, ret) && !ret->current)
		return false;
	ret->code_type = type;
	return true;
}

struct hi_module *hi_python_module(struct hi_modules *modules)
{
	uint64_t runtime;

	return has_python_symbol(modules, "_PyRuntime", &runtime)
		       ? hi_modules_at(modules, runtime)
		       : NULL;
}

/* NULL: not known. *runtime_ret: where the state of the interpreter lies. */
static const struct hi_py_layout *find_layout_of(struct hi_modules *modules,
						 unsigned minor,
						 struct hi_py_layout *storage,
						 uint64_t *runtime_ret)
{
	return has_python_symbol(modules, "_PyRuntime", runtime_ret)
		       ? find_walk_layout(modules, minor, *runtime_ret, storage)
		       : NULL;
}

uint64_t hi_python_allocators(struct hi_modules *modules, unsigned minor)
{
	struct hi_py_layout storage;
	uint64_t runtime;
	const struct hi_py_layout *l = find_layout_of(modules, minor, &storage, &runtime);

	return l && l->runtime_allocators ? runtime + l->runtime_allocators : 0;
}

uint32_t hi_python_pool_size(struct hi_modules *modules, unsigned minor)
{
	struct hi_py_layout storage;
	uint64_t runtime;
	const struct hi_py_layout *l = find_layout_of(modules, minor, &storage, &runtime);

	return l ? l->pool_size : 0;
}

/* As cpython_probe.c: the dict of modules has them or not. */
bool hi_python_has_marks(struct hi_modules *modules, struct hi_memory *memory,
			 unsigned minor)
{
	struct hi_py_reader reader = {.memory = memory};
	const struct hi_py_layout *l;
	struct hi_py_layout storage;
	uint64_t runtime, interp;

	if (!has_python_symbol(modules, "_PyRuntime", &runtime))
		return false;
	l = find_walk_layout(modules, minor, runtime, &storage);
	if (!l)
		return false;
	interp = hi_py_word(&reader, runtime + l->runtime_interpreters_head);
	return interp &&
	       hi_py_is_marked(&reader, hi_py_word(&reader, interp + l->interp_modules) -
						HI_PY_GC_HEAD);
}

/* ---- what another process has found ---- */

bool hi_python_walk_is_valid(const struct hi_python_walk *w)
{
	return w->code_type == 0 || (w->frame_size <= HI_PYTHON_FRAME_MAX &&
				     w->code_size <= HI_PYTHON_CODE_MAX &&
				     hi_py_layout_of_minor(w->minor) != NULL);
}
