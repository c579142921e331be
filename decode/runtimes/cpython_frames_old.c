/* SPDX-License-Identifier: BSD-2-Clause */
/* Frames up to 3.10: objects, whose locals, cells, free variables and stack are one
 * array. Source: Include/cpython/frameobject.h, Objects/frameobject.c. */
#include "decode/runtimes/cpython.h"
#include "decode/runtimes/cpython_rows.h"

enum {
	INSTRUCTION = 2, /* bytes */
	MAX_NAMES = 1 << 16,
};

/* Items of a tuple of names; 0: it is none. */
static uint32_t n_names(struct hi_runtime_cursor *c, uint64_t tuple)
{
	struct hi_py_object o;

	if (!hi_py_object_at(c, tuple, &o) || o.type->family != HI_PY_TUPLE ||
	    o.size < 0 || o.size > MAX_NAMES)
		return 0;
	return (uint32_t)o.size;
}

static uint32_t n_slots(struct hi_runtime_cursor *c, uint64_t code)
{
	const struct hi_py_layout *l = c->py->layout;
	uint32_t n = hi_py_u32(&c->reader, code + l->code_nlocalsplus);

	if (n > MAX_NAMES)
		return UINT32_MAX;
	return n + n_names(c, hi_py_word(&c->reader, code + l->code_cellvars)) +
	       n_names(c, hi_py_word(&c->reader, code + l->code_freevars));
}

/* Slots in use: as a number (3.10), or as the address of the next one. */
static int64_t stack_top(struct hi_runtime_cursor *c, const struct hi_py_frame *frame)
{
	const struct hi_py_layout *l = c->py->layout;
	uint64_t top;
	int32_t depth;

	if (l->frame_stackdepth) {
		depth = (int32_t)hi_py_u32(&c->reader, frame->addr + l->frame_stackdepth);
		return depth < 0 ? -1 : (int64_t)frame->n_locals + depth;
	}
	top = hi_py_word(&c->reader, frame->addr + l->frame_stacktop);
	return top < frame->slots ? -1 : (int64_t)((top - frame->slots) / 8);
}

/* f_lasti counts instructions in 3.10, bytes before. */
static int64_t last_instruction(struct hi_runtime_cursor *c, uint64_t addr)
{
	const struct hi_py_layout *l = c->py->layout;
	int32_t last = (int32_t)hi_py_u32(&c->reader, addr + l->frame_instr);

	return last < 0 || !l->frame_stackdepth ? last : (int64_t)last * INSTRUCTION;
}

bool hi_py_old_frame_at(struct hi_runtime_cursor *c, uint64_t addr,
			struct hi_py_frame *ret)
{
	const struct hi_py_layout *l = c->py->layout;
	struct hi_py_object frame, code;

	if (!hi_py_object_at(c, addr, &frame) || frame.type->family != HI_PY_FRAME)
		return false;
	*ret = (struct hi_py_frame){
		.addr = addr,
		.object = addr,
		.is_object = true,
		.code = hi_py_word(&c->reader, addr + l->frame_code),
		.previous = hi_py_word(&c->reader, addr + l->frame_previous),
		.slots = addr + l->frame_localsplus};
	if (!hi_py_object_at(c, ret->code, &code) || code.type->family != HI_PY_CODE)
		return false;
	ret->n_locals = n_slots(c, ret->code);
	ret->n_stack = hi_py_u32(&c->reader, ret->code + l->code_stacksize);
	ret->stacktop = stack_top(c, ret);
	ret->at = last_instruction(c, addr);
	return true;
}

/* Locals first, then cells, then what the closure has. */
uint64_t hi_py_old_local(struct hi_runtime_cursor *c, uint64_t code, uint32_t i)
{
	const struct hi_py_layout *l = c->py->layout;
	const uint32_t tuples[] = {l->code_names, l->code_cellvars, l->code_freevars};

	for (unsigned k = 0; k < 3; k++) {
		uint64_t names = hi_py_word(&c->reader, code + tuples[k]);
		uint32_t n = n_names(c, names);

		if (i < n)
			return hi_py_word(&c->reader,
					  names + c->py->layout->tuple_items + i * 8u);
		i -= n;
	}
	return 0;
}
