/* SPDX-License-Identifier: BSD-2-Clause */
/* Frames from 3.11 on: records in chunks of a thread's own stack, in generators, or in
 * frame objects. Source: pycore_frame.h, pycore_interpframe_structs.h. */
#include <string.h>

#include "decode/runtimes/cpython.h"
#include "decode/runtimes/cpython_rows.h"

enum {
	FRAME_BYTES = 128,
	OWNED_BY_OBJECT = 2,
	OWNED_BY_C = 3, /* from 3.12 on; of C's own stack (3.14) one more */
	REFERENCE_TAGS = 3,
	BORROWED = 1,
};

static uint64_t load_frame_word(const uint8_t *raw, uint32_t offset)
{
	uint64_t word;

	memcpy(&word, raw + offset, sizeof(word));
	return word;
}

/* Slots in use. The address that 3.14 has in its place is of when the frame called what
 * is no bytecode. */
static int64_t count_frame_slots(const struct hi_py_layout *l, const uint8_t *raw,
				 uint64_t slots)
{
	uint64_t end;
	int32_t top;

	if (!l->frame_stack_refs) {
		memcpy(&top, raw + l->frame_stacktop, sizeof(top));
		return top;
	}
	end = load_frame_word(raw, l->frame_stacktop);
	return end < slots || end - slots > INT32_MAX
		       ? -1
		       : (int64_t)(end - slots) / HI_PY_PTR;
}

/* 3.14: the lowest bit says that the frame does not count the reference. */
static void remove_tags(struct hi_py_frame *frame)
{
	frame->func_is_borrowed = frame->func & BORROWED;
	frame->code_is_borrowed = frame->code & BORROWED;
	frame->func &= ~(uint64_t)REFERENCE_TAGS;
	frame->code &= ~(uint64_t)REFERENCE_TAGS;
}

bool hi_py_new_frame_at(struct hi_runtime_cursor *c, uint64_t addr,
			struct hi_py_frame *ret)
{
	const struct hi_py_layout *l = c->py->layout;
	uint8_t raw[FRAME_BYTES];
	struct hi_py_object code;
	uint64_t instr;

	if (addr % 8 || l->frame_localsplus > sizeof(raw) ||
	    !hi_py_read(&c->reader, addr, raw, l->frame_localsplus))
		return false;
	*ret = (struct hi_py_frame){
		.addr = addr,
		.func = load_frame_word(raw, l->frame_func),
		.locals = load_frame_word(raw, l->frame_locals),
		.code = load_frame_word(raw, l->frame_code),
		.object = load_frame_word(raw, l->frame_object),
		.previous = load_frame_word(raw, l->frame_previous),
		.slots = addr + l->frame_localsplus,
		.stacktop = count_frame_slots(l, raw, addr + l->frame_localsplus),
		.of_object = raw[l->frame_owner] == OWNED_BY_OBJECT,
		.is_shim = raw[l->frame_owner] >= OWNED_BY_C};
	if (l->frame_stack_refs)
		remove_tags(ret);
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
	return hi_py_word(&c->reader, names + c->py->layout->tuple_items + i * 8u);
}
