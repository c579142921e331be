/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Instructions of frozen modules (3.11, 3.12): code objects in the interpreter's data,
 * with their instructions behind them as an array of char. Words there are no references:
 * those that inline caches have (methods, versions) are borrowed. Source:
 * Include/cpython/code.h (_PyCode_DEF), Tools/scripts/deepfreeze.py, pycore_code.h
 * (_PyLoadMethodCache).
 */
#include "decode/runtimes/cpython.h"

enum {
	MAX_SECTIONS = 64,
	BATCH = 512,
	UNIT = 2,	     /* bytes of an instruction, by which ob_size counts */
	MAX_CODES = 1 << 16, /* a release has some 2,000 */
};

struct frozen {
	struct hi_py *py;
	struct hi_runtime_cursor *c;
	uint64_t code_type;
	struct hi_section_range data;
	bool ok;
};

static bool is_family(struct hi_runtime_cursor *c, uint64_t addr,
		      enum hi_py_family family)
{
	struct hi_py_object o;

	return hi_py_object_at(c, addr, &o) && o.type->family == family;
}

/* Its names are a tuple, its file name a str, and its instructions end in the data. */
static void add_code(struct frozen *f, uint64_t addr)
{
	const struct hi_py_layout *l = f->py->layout;
	struct hi_py_reader *r = &f->c->reader;
	uint64_t n = hi_py_word(r, addr + HI_PY_SIZE);
	uint64_t start = addr + l->code_instructions;

	if (!hi_py_word(r, addr) || n == 0 || start >= f->data.end ||
	    n > (f->data.end - start) / UNIT || f->py->own.count > MAX_CODES ||
	    !is_family(f->c, hi_py_word(r, addr + l->code_names), HI_PY_TUPLE) ||
	    !is_family(f->c, hi_py_word(r, addr + l->code_filename), HI_PY_STR))
		return;
	f->ok &=
		hi_vector_push(&f->py->own, ((struct hi_range){start, start + n * UNIT}));
}

static void scan_data(struct frozen *f)
{
	uint64_t words[BATCH], n;

	for (uint64_t at = (f->data.start + 7) & ~UINT64_C(7); at + 8 <= f->data.end;
	     at += n * 8) {
		n = (f->data.end - at) / 8 < BATCH ? (f->data.end - at) / 8 : BATCH;
		if (!hi_py_read(&f->c->reader, at, words, n * 8))
			for (uint64_t i = 0; i < n; i++)
				words[i] = hi_py_word(&f->c->reader, at + i * 8);
		for (uint64_t i = 0; i < n; i++)
			if (words[i] == f->code_type)
				add_code(f, at + i * 8 - HI_PY_TYPE);
	}
}

bool hi_py_own_frozen(struct hi_py *py, struct hi_runtime_cursor *c)
{
	struct frozen f = {.py = py, .c = c, .ok = true};
	struct hi_section_range ranges[MAX_SECTIONS];
	uint64_t size;
	size_t n;

	if (!py->layout->code_instructions ||
	    hi_modules_symbol(py->modules, py->module, "PyCode_Type", &f.code_type, &size,
			      NULL) != HI_OK)
		return true;
	n = hi_module_data(py->module, ranges, MAX_SECTIONS);
	for (size_t i = 0; i < n && f.ok; i++) {
		f.data = ranges[i];
		scan_data(&f);
	}
	return f.ok;
}
