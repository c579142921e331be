/* SPDX-License-Identifier: BSD-2-Clause */
/* Frames from 3.11 on: records in chunks of a thread's own stack, in generators, or in
 * frame objects. Source: pycore_frame.h. */
#include <string.h>

#include "decode/runtimes/cpython.h"
#include "decode/runtimes/cpython_rows.h"

enum {
	FRAME_BYTES = 128,
	TUPLE_ITEMS = 24,
	OWNED_BY_OBJECT = 2,
	OWNED_BY_C = 3, /* from 3.12 on */
};

static uint64_t load_frame_word(const uint8_t *raw, uint32_t offset)
{
	uint64_t word;

	memcpy(&word, raw + offset, sizeof(word));
	return word;
}

bool hi_py_new_frame_at(struct hi_runtime_cursor *c, uint64_t addr,
			struct hi_py_frame *ret)
{
	const struct hi_py_layout *l = c->py->layout;
	uint8_t raw[FRAME_BYTES];
	struct hi_py_object code;
	uint64_t instr;
	int32_t top;

	if (addr % 8 || l->frame_localsplus > sizeof(raw) ||
	    !hi_py_read(&c->reader, addr, raw, l->frame_localsplus))
		return false;
	memcpy(&top, raw + l->frame_stacktop, sizeof(top));
	*ret = (struct hi_py_frame){.addr = addr,
				    .func = load_frame_word(raw, l->frame_func),
				    .locals = load_frame_word(raw, l->frame_locals),
				    .code = load_frame_word(raw, l->frame_code),
				    .object = load_frame_word(raw, l->frame_object),
				    .previous = load_frame_word(raw, l->frame_previous),
				    .slots = addr + l->frame_localsplus,
				    .stacktop = top,
				    .of_object = raw[l->frame_owner] == OWNED_BY_OBJECT,
				    .is_shim = raw[l->frame_owner] == OWNED_BY_C};
	if (ret->is_shim)
		return true;
	if (!hi_py_object_at(c, ret->code, &code) || code.type->family != HI_PY_CODE)
		return false;
	ret->n_locals = hi_py_u32(&c->reader, ret->code + l->code_nlocalsplus);
	ret->n_stack = hi_py_u32(&c->reader, ret->code + l->code_stacksize);
	instr = load_frame_word(raw, l->frame_instr);
	ret->at = (int64_t)(instr - ret->code - l->code_instructions);
	return true;
}

uint64_t hi_py_new_local(struct hi_runtime_cursor *c, uint64_t code, uint32_t i)
{
	uint64_t names = hi_py_word(&c->reader, code + c->py->layout->code_names);
	struct hi_py_object o;

	if (!hi_py_object_at(c, names, &o) || o.type->family != HI_PY_TUPLE ||
	    i >= (uint64_t)o.size)
		return 0;
	return hi_py_word(&c->reader, names + TUPLE_ITEMS + i * 8u);
}
