/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The walk over a stack in the image. All that it reads may be garbage: stack pointers
 * must grow, return addresses must lie in code, and there are at most HI_FRAMES_MAX
 * frames.
 */
#include <stddef.h>
#include <string.h>

#include "decode/frames/frames_internal.h"

enum {
	/* A frame pointer further away than this is none. */
	FRAME_SPAN_MAX = 1 << 20,
	/* How often a signal frame may lead to a stack that lies lower. */
	STACK_SWITCHES_MAX = 16,
};

#define BIT(n) (1u << (n))

/* ---- reading ---- */

bool hi_unwind_read(struct hi_unwind *unwind, uint64_t addr, void *buf, size_t size)
{
	uint64_t offset = addr - unwind->window_start;
	size_t available = 0;

	if (offset < unwind->window_size && size <= unwind->window_size - offset) {
		memcpy(buf, unwind->window + offset, size);
		return true;
	}
	unwind->window = hi_memory_view(unwind->cache->image->memory, addr, &available);
	unwind->window_start = addr;
	unwind->window_size = unwind->window ? available : 0;
	if (size <= unwind->window_size) {
		memcpy(buf, unwind->window, size);
		return true;
	}
	return hi_modules_read(unwind->cache->modules, addr, buf, size, NULL) == HI_OK;
}

static bool read_stack_word(struct hi_unwind *unwind, uint64_t addr, uint64_t *ret)
{
	return hi_unwind_read(unwind, addr, ret, sizeof(*ret));
}

static bool is_in_executable_mapping(const struct hi_frame_cache *cache, uint64_t addr)
{
	const struct hi_mapping *m = hi_image_mapping_at(cache->image, addr);

	return m && (m->prot & HI_PROT_EXEC);
}

/* Is there a call instruction in front of addr? Encodings: Intel SDM vol. 2, CALL. */
static bool is_after_call(struct hi_unwind *unwind, uint64_t addr)
{
	uint8_t code[7];

	if (addr < sizeof(code) || !is_in_executable_mapping(unwind->cache, addr - 1) ||
	    !hi_unwind_read(unwind, addr - sizeof(code), code, sizeof(code)))
		return false;
	if (code[2] == 0xe8) /* call rel32 */
		return true;
	/* call r/m64 is ff /2 with 0 to 5 bytes of operand. */
	for (size_t i = 0; i < 6; i++)
		if (code[i] == 0xff && (code[i + 1] >> 3 & 7) == 2)
			return true;
	return false;
}

/* ---- registers ---- */

/* Order: DWARF number. */
static void thread_registers(const struct user_regs_struct *regs,
			     struct hi_frame_regs *ret)
{
	const uint64_t values[HI_DWARF_REGS] = {
		regs->rax, regs->rdx, regs->rcx, regs->rbx, regs->rsi, regs->rdi,
		regs->rbp, regs->rsp, regs->r8,	 regs->r9,  regs->r10, regs->r11,
		regs->r12, regs->r13, regs->r14, regs->r15, regs->rip};

	*ret = (struct hi_frame_regs){};
	memcpy(ret->value, values, sizeof(values));
	ret->known = ret->in_thread = BIT(HI_DWARF_REGS) - 1;
}

static void set_register(struct hi_frame_regs *regs, unsigned n, uint64_t value)
{
	regs->value[n] = value;
	regs->known |= BIT(n);
}

static void keep_register(const struct hi_frame_regs *from, unsigned from_n,
			  struct hi_frame_regs *to, unsigned n)
{
	if (from_n >= HI_DWARF_REGS || !(from->known & BIT(from_n)))
		return;
	set_register(to, n, from->value[from_n]);
	to->saved_at[n] = from->saved_at[from_n];
	if (from_n == n)
		to->in_thread |= from->in_thread & BIT(n);
}

static bool is_callee_saved(unsigned n)
{
	return n == HI_DWARF_RBX || n == HI_DWARF_RBP || (n >= HI_DWARF_R12 && n <= 15);
}

/* ---- expressions in rules ---- */

struct rule_scope {
	struct hi_unwind *unwind;
	const struct hi_frame_regs *regs;
	uint64_t cfa;
};

static bool rule_register(void *arg, uint64_t regno, uint64_t *ret)
{
	const struct rule_scope *scope = arg;

	if (regno >= HI_DWARF_REGS || !(scope->regs->known & BIT(regno)))
		return false;
	*ret = scope->regs->value[regno];
	return true;
}

static bool rule_read(void *arg, uint64_t addr, void *buf, size_t size)
{
	return hi_unwind_read(((struct rule_scope *)arg)->unwind, addr, buf, size);
}

static bool rule_cfa(void *arg, uint64_t *ret)
{
	*ret = ((struct rule_scope *)arg)->cfa;
	return *ret != 0;
}

static bool eval_rule(struct rule_scope *scope, const struct hi_cfi_rule *rule,
		      uint64_t *ret)
{
	struct hi_loc_env env = {
		.arg = scope, .reg = rule_register, .read = rule_read, .cfa = rule_cfa};

	return hi_loc_eval_value(rule->ops, rule->n_ops, &env, ret, NULL) == HI_OK;
}

static bool find_cfa(struct hi_unwind *unwind, const struct hi_cfi_row *row,
		     const struct hi_frame_regs *regs, uint64_t *ret)
{
	struct rule_scope scope = {unwind, regs, 0};

	if (row->cfa_is_expr)
		return eval_rule(&scope, &row->cfa, ret);
	if (!rule_register(&scope, row->cfa_reg, ret))
		return false;
	*ret += row->cfa.offset;
	return true;
}

/* ---- one step ---- */

static void apply_cfi_rule(struct rule_scope *scope, const struct hi_cfi_rule *rule,
			   struct hi_frame_regs *to, unsigned n)
{
	uint64_t addr = scope->cfa + rule->offset, value;

	switch (rule->kind) {
	case HI_CFI_SAME:
		if (is_callee_saved(n))
			keep_register(scope->regs, n, to, n);
		return;
	case HI_CFI_REGISTER:
		if (rule->offset < HI_DWARF_REGS)
			keep_register(scope->regs, (unsigned)rule->offset, to, n);
		return;
	case HI_CFI_VALUE:
		set_register(to, n, addr);
		return;
	case HI_CFI_VALUE_EXPR:
		if (eval_rule(scope, rule, &value))
			set_register(to, n, value);
		return;
	case HI_CFI_AT_EXPR:
		if (!eval_rule(scope, rule, &addr))
			return;
		[[fallthrough]];
	case HI_CFI_AT:
		if (!read_stack_word(scope->unwind, addr, &value))
			return;
		set_register(to, n, value);
		to->saved_at[n] = addr;
		return;
	case HI_CFI_UNDEFINED:
		return;
	}
}

enum step { STEP_ON, STEP_OUTERMOST, STEP_LOST };

/* The caller's registers by the rules of this frame. */
static enum step step_by_cfi(struct hi_unwind *unwind, struct hi_unwound *frame,
			     struct hi_frame_regs *to)
{
	const struct hi_cfi_row *row = &frame->pc->row;
	struct rule_scope scope = {unwind, &frame->regs, 0};

	if (row->regs[HI_DWARF_RIP].kind == HI_CFI_UNDEFINED) {
		/* _start and clone mark the outermost frame so. */
		find_cfa(unwind, row, &frame->regs, &frame->cfa);
		return STEP_OUTERMOST;
	}
	if (!find_cfa(unwind, row, &frame->regs, &scope.cfa))
		return STEP_LOST;
	frame->cfa = scope.cfa;
	*to = (struct hi_frame_regs){};
	set_register(to, HI_DWARF_RSP, scope.cfa);
	for (unsigned n = 0; n < HI_DWARF_REGS; n++)
		apply_cfi_rule(&scope, &row->regs[n], to, n);
	if (!(to->known & BIT(HI_DWARF_RIP)) || !(to->known & BIT(HI_DWARF_RSP)))
		return STEP_LOST;
	return to->value[HI_DWARF_RIP] == 0 ? STEP_OUTERMOST : STEP_ON;
}

static void set_caller(struct hi_unwound *frame, uint64_t cfa, uint64_t pc,
		       struct hi_frame_regs *to)
{
	frame->cfa = cfa;
	*to = (struct hi_frame_regs){};
	set_register(to, HI_DWARF_RSP, cfa);
	set_register(to, HI_DWARF_RIP, pc);
}

/* A call to an address that is no code (a null function pointer): its frame is only
 * the return address. */
static enum step step_out_of_range_call(struct hi_unwind *unwind,
					struct hi_unwound *frame,
					struct hi_frame_regs *to)
{
	uint64_t sp = frame->regs.value[HI_DWARF_RSP], pc;

	if (!read_stack_word(unwind, sp, &pc) || !is_after_call(unwind, pc))
		return STEP_LOST;
	set_caller(frame, sp + 8, pc, to);
	for (unsigned n = 0; n < HI_DWARF_RIP; n++)
		if (is_callee_saved(n))
			keep_register(&frame->regs, n, to, n);
	return STEP_ON;
}

/* Code without CFI: made at run time, or built without. If it keeps frame pointers,
 * the words at rbp are the caller's rbp and the return address. */
static enum step step_by_frame_pointer(struct hi_unwind *unwind, struct hi_unwound *frame,
				       struct hi_frame_regs *to)
{
	uint64_t sp = frame->regs.value[HI_DWARF_RSP];
	uint64_t fp = frame->regs.value[HI_DWARF_RBP], saved[2];

	if (!(frame->regs.known & BIT(HI_DWARF_RBP)) || fp % 8 != 0 || fp < sp ||
	    fp - sp > FRAME_SPAN_MAX || !hi_unwind_read(unwind, fp, saved, sizeof(saved)))
		return STEP_LOST;
	if (saved[1] == 0)
		return STEP_OUTERMOST;
	if (!is_after_call(unwind, saved[1]))
		return STEP_LOST;
	set_caller(frame, fp + 16, saved[1], to);
	set_register(to, HI_DWARF_RBP, saved[0]);
	to->saved_at[HI_DWARF_RBP] = fp;
	return STEP_ON;
}

static enum step step_frame(struct hi_unwind *unwind, struct hi_unwound *frame,
			    struct hi_frame_regs *to)
{
	if (frame->pc->row.present)
		return step_by_cfi(unwind, frame, to);
	if (!frame->pc->is_code)
		return unwind->frames.count == 1
			       ? step_out_of_range_call(unwind, frame, to)
			       : STEP_LOST;
	return step_by_frame_pointer(unwind, frame, to);
}

/* ---- the walk ---- */

/* The frame at pc. exact: that instruction runs (or was interrupted); else it is a
 * return address, and what it returns to is looked up by the byte in front of it, so
 * that a call at the very end of a function or block belongs to it. */
static enum hi_status add_frame(struct hi_unwind *unwind, uint64_t pc, bool exact,
				const struct hi_frame_regs *regs, struct hi_error *err)
{
	struct hi_unwound frame = {.regs = *regs};
	enum hi_status status =
		hi_frame_cache_pc(unwind->cache, pc - !exact, &frame.pc, err);

	/* A return address without a call in front of it, at the start of a function:
	 * makecontext() writes one. */
	if (status == HI_OK && !exact && !frame.pc->row.present &&
	    is_in_executable_mapping(unwind->cache, pc))
		status = hi_frame_cache_pc(unwind->cache, pc, &frame.pc, err);
	if (status != HI_OK)
		return status;
	frame.is_signal = frame.pc->row.present && frame.pc->row.is_signal;
	return hi_vector_push(&unwind->frames, frame) ? HI_OK
						      : hi_fail_memory(err, "frames");
}

/* Stack pointers grow, except that a signal handler may run on another stack. */
static bool may_follow(const struct hi_unwound *frame, const struct hi_frame_regs *to,
		       unsigned *switches)
{
	if (to->value[HI_DWARF_RSP] > frame->regs.value[HI_DWARF_RSP])
		return true;
	return frame->is_signal && ++*switches <= STACK_SWITCHES_MAX;
}

enum hi_status hi_unwind_thread(struct hi_unwind *unwind, const struct hi_thread *thread,
				struct hi_error *err)
{
	struct hi_frame_regs regs;
	enum hi_status status;
	unsigned switches = 0;

	thread_registers(&thread->regs, &regs);
	status = add_frame(unwind, regs.value[HI_DWARF_RIP], true, &regs, err);
	while (status == HI_OK) {
		struct hi_unwound *frame =
			&unwind->frames.items[unwind->frames.count - 1];
		enum step result = step_frame(unwind, frame, &regs);
		uint64_t pc = regs.value[HI_DWARF_RIP];
		bool exact = frame->is_signal;

		if (result == STEP_OUTERMOST)
			return HI_OK;
		unwind->truncated =
			result == STEP_LOST || unwind->frames.count == HI_FRAMES_MAX ||
			!is_in_executable_mapping(unwind->cache, pc - !exact) ||
			!may_follow(frame, &regs, &switches);
		if (unwind->truncated)
			return HI_OK;
		status = add_frame(unwind, pc, exact, &regs, err);
	}
	return status;
}
