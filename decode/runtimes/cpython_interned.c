/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The dict of interned strings: it does not count what it refers to. From 3.12 on it is
 * in the state of an interpreter, before it is a static variable, which a stripped
 * interpreter does not name.
 */
#include "decode/runtimes/cpython.h"

enum {
	INTERNED_STATE = 3,
	INTERNED_PROBE = 8,
	INTERNED_MIN = 256,
	WRONG_ONE_OF = 4,
	MAX_SECTIONS = 64,
};

struct interned {
	struct hi_runtime_cursor *c;
	unsigned seen, wrong;
};

static bool look_at_item(void *arg, uint64_t key, uint64_t value)
{
	struct interned *in = arg;
	uint32_t state = hi_py_u32(&in->c->reader, key + in->c->py->layout->str_state);
	struct hi_py_object o;

	in->seen++;
	in->wrong += key != value || !(state & INTERNED_STATE) ||
		     !hi_py_object_at(in->c, key, &o) || o.type->family != HI_PY_STR;
	return in->seen < INTERNED_PROBE;
}

static bool is_interned_dict(struct hi_runtime_cursor *c, uint64_t addr)
{
	struct interned in = {.c = c};
	struct hi_py_object o;

	if (!hi_py_object_at(c, addr, &o) || o.type->family != HI_PY_DICT ||
	    !o.type->exact ||
	    hi_py_word(&c->reader, addr + c->py->layout->dict_used) < INTERNED_MIN)
		return false;
	hi_py_dict_items(c, addr, INTERNED_PROBE * 4, look_at_item, &in);
	return in.seen == INTERNED_PROBE && in.wrong * WRONG_ONE_OF <= in.seen;
}

/* The word of the module's data that leads to the dict. */
static uint64_t search_data(struct hi_py *py, struct hi_runtime_cursor *c)
{
	struct hi_section_range ranges[MAX_SECTIONS];
	size_t n = hi_module_data(py->module, ranges, MAX_SECTIONS);

	for (size_t i = 0; i < n; i++)
		for (uint64_t at = (ranges[i].start + 7) & ~(uint64_t)7;
		     at + 8 <= ranges[i].end; at += 8) {
			uint64_t addr = hi_py_word(&c->reader, at);

			if (addr >= 4096 && addr % 16 == 0 &&
			    (addr < py->module->start || addr >= py->module->end) &&
			    is_interned_dict(c, addr))
				return addr;
		}
	return 0;
}

static uint64_t find_variable(struct hi_py *py, struct hi_runtime_cursor *c)
{
	static const char *const names[] = {"interned", "interned.lto_priv.0"};
	uint64_t addr, size;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (hi_modules_symbol(py->modules, py->module, names[i], &addr, &size,
				      NULL) == HI_OK &&
		    is_interned_dict(c, hi_py_word(&c->reader, addr)))
			return hi_py_word(&c->reader, addr);
	return search_data(py, c);
}

/* Several interpreters may share one. */
void hi_py_find_interned(struct hi_py *py, struct hi_runtime_cursor *c)
{
	for (size_t i = 0; i < py->interpreters.count; i++) {
		struct hi_py_interpreter *in = &py->interpreters.items[i];
		uint64_t offset = py->layout->interp_interned, dict;

		if (!offset) {
			in->interned = find_variable(py, c);
			return;
		}
		dict = hi_py_word(&c->reader, in->addr + offset);
		if (!hi_py_is_interned(py, dict))
			in->interned = dict;
	}
}
