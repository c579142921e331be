/* SPDX-License-Identifier: BSD-2-Clause */
/* The variables of a frame: what is live at its pc, and where or what it is. */
#include <stddef.h>
#include <string.h>

#include "decode/frames/frames_internal.h"

enum { VALUE_MAX = sizeof(((struct hi_local *)NULL)->value) };

/* Index of a word in user_regs_struct by DWARF number (sys/user.h). */
#define WORD(reg) (offsetof(struct user_regs_struct, reg) / 8)
static const uint8_t user_word[HI_DWARF_REGS] = {
	WORD(rax), WORD(rdx), WORD(rcx), WORD(rbx), WORD(rsi), WORD(rdi),
	WORD(rbp), WORD(rsp), WORD(r8),	 WORD(r9),  WORD(r10), WORD(r11),
	WORD(r12), WORD(r13), WORD(r14), WORD(r15), WORD(rip)};

/* One frame whose variables are evaluated. */
struct scope {
	struct hi_unwind *unwind;
	size_t index;
	const struct hi_unwound *frame;
	struct hi_locals *locals;
	uint64_t bias;
	bool frame_base_tried, frame_base_known;
	uint64_t frame_base;
};

/* ---- callbacks of expressions ---- */

static bool scope_register(void *arg, uint64_t regno, uint64_t *ret)
{
	const struct hi_frame_regs *regs = &((struct scope *)arg)->frame->regs;

	if (regno >= HI_DWARF_REGS || !(regs->known >> regno & 1))
		return false;
	*ret = regs->value[regno];
	return true;
}

static bool scope_read(void *arg, uint64_t addr, void *buf, size_t size)
{
	return hi_unwind_read(((struct scope *)arg)->unwind, addr, buf, size);
}

static bool scope_cfa(void *arg, uint64_t *ret)
{
	*ret = ((struct scope *)arg)->frame->cfa;
	return *ret != 0;
}

/* At most once a frame; an expression that needs itself has no value. */
static bool scope_frame_base(void *arg, uint64_t *ret)
{
	struct scope *scope = arg;
	struct hi_pc *pc = scope->frame->pc;
	struct hi_loc_env env = {.arg = scope,
				 .reg = scope_register,
				 .read = scope_read,
				 .cfa = scope_cfa,
				 .bias = scope->bias,
				 .attr = &pc->frame_base_attr};

	if (!scope->frame_base_tried) {
		scope->frame_base_tried = true;
		scope->frame_base_known =
			pc->frame_base &&
			hi_loc_eval_value(pc->frame_base, pc->n_frame_base, &env,
					  &scope->frame_base, NULL) == HI_OK;
	}
	*ret = scope->frame_base;
	return scope->frame_base_known;
}

/* ---- locals ---- */

static enum hi_status add_local(struct scope *scope, const struct hi_local *local,
				struct hi_error *err)
{
	if (scope->locals->all.count >= HI_LOCALS_MAX) {
		scope->locals->truncated = true;
		return HI_OK;
	}
	return hi_vector_push(&scope->locals->all, *local)
		       ? HI_OK
		       : hi_fail_memory(err, "locals");
}

static struct hi_local new_local(const struct scope *scope,
				 const struct hi_pc_variable *var)
{
	return (struct hi_local){.frame = (uint32_t)scope->index,
				 .name = var->name,
				 .function = var->function,
				 .type = var->type,
				 .is_parameter = var->is_parameter,
				 .size = var->size};
}

static uint64_t low_bits(uint64_t n)
{
	return n >= 64 ? UINT64_MAX : (1ull << n) - 1;
}

/* Bytes [at, at + n) of a value become known. */
static void set_bytes(struct hi_local *local, uint64_t at, const void *bytes, uint64_t n)
{
	if (at >= VALUE_MAX)
		return;
	if (n > VALUE_MAX - at)
		n = VALUE_MAX - at;
	memcpy(local->value + at, bytes, n);
	local->value_mask |= low_bits(n) << at;
}

/* The bytes of a piece, n at most, as far as they are known: its register, its
 * memory, its constant. */
static void set_piece(struct scope *scope, const struct hi_loc_piece *piece,
		      struct hi_local *local, uint64_t at, uint64_t n)
{
	uint64_t skip = piece->bit_offset / 8, word = 0;
	uint8_t bytes[VALUE_MAX];

	if (piece->bit_offset % 8 != 0)
		return;
	switch (piece->kind) {
	case HI_LOC_GONE:
		return;
	case HI_LOC_MEMORY:
		n = n < VALUE_MAX ? n : VALUE_MAX;
		if (n && scope_read(scope, piece->value + skip, bytes, n))
			set_bytes(local, at, bytes, n);
		return;
	case HI_LOC_BYTES:
		if (skip < piece->n_bytes)
			set_bytes(local, at, piece->bytes + skip,
				  n < piece->n_bytes - skip ? n : piece->n_bytes - skip);
		return;
	case HI_LOC_REGISTER:
		if (!scope_register(scope, piece->value, &word))
			return;
		break;
	case HI_LOC_VALUE:
		word = piece->value;
		break;
	}
	if (skip < 8)
		set_bytes(local, at, (uint8_t *)&word + skip,
			  n < 8 - skip ? n : 8 - skip);
}

static void note_register(struct scope *scope, const struct hi_loc_piece *piece)
{
	const struct hi_frame_regs *regs = &scope->frame->regs;

	if (piece->kind == HI_LOC_REGISTER && piece->value < HI_DWARF_REGS &&
	    regs->in_thread >> piece->value & 1)
		scope->locals->thread_registers |= 1ull << user_word[piece->value];
}

/* Where a register that a variable lives in was saved; 0: nowhere. */
static uint64_t saved_at(const struct scope *scope, const struct hi_loc_piece *piece)
{
	const struct hi_frame_regs *regs = &scope->frame->regs;

	if (piece->kind != HI_LOC_REGISTER || piece->value >= HI_DWARF_REGS ||
	    !(regs->known >> piece->value & 1))
		return 0;
	return regs->saved_at[piece->value];
}

/* A variable in one piece. */
static enum hi_status add_plain(struct scope *scope, const struct hi_pc_variable *var,
				const struct hi_loc_piece *piece, struct hi_error *err)
{
	struct hi_local local = new_local(scope, var);
	uint64_t slot = saved_at(scope, piece);

	note_register(scope, piece);
	if (piece->kind == HI_LOC_MEMORY || (slot != 0 && local.size <= 8)) {
		local.in_memory = true;
		local.address = slot ? slot : piece->value;
		if (slot && local.size == 0)
			local.size = 8;
		return add_local(scope, &local, err);
	}
	if (local.size == 0)
		local.size = piece->kind == HI_LOC_BYTES ? piece->n_bytes : 8;
	set_piece(scope, piece, &local, 0, local.size);
	return local.value_mask ? add_local(scope, &local, err) : HI_OK;
}

/* Of a variable too large for a value, the parts that are in memory. */
static enum hi_status add_memory_piece(struct scope *scope,
				       const struct hi_pc_variable *var,
				       const struct hi_loc_piece *piece,
				       struct hi_error *err)
{
	struct hi_local local = new_local(scope, var);

	if (piece->kind != HI_LOC_MEMORY || (piece->bit_size | piece->bit_offset) % 8)
		return HI_OK;
	local.type = 0;
	local.in_memory = true;
	local.address = piece->value + piece->bit_offset / 8;
	local.size = piece->bit_size / 8;
	return add_local(scope, &local, err);
}

static enum hi_status add_pieces(struct scope *scope, const struct hi_pc_variable *var,
				 const struct hi_loc *loc, struct hi_error *err)
{
	struct hi_local local = new_local(scope, var);
	enum hi_status status = HI_OK;
	uint64_t at = 0; /* bits */

	for (size_t i = 0; i < loc->n_pieces && status == HI_OK; i++) {
		const struct hi_loc_piece *piece = &loc->pieces[i];

		note_register(scope, piece);
		if (at % 8 == 0 && piece->bit_size % 8 == 0)
			set_piece(scope, piece, &local, at / 8, piece->bit_size / 8);
		if (var->size > VALUE_MAX)
			status = add_memory_piece(scope, var, piece, err);
		if (__builtin_add_overflow(at, piece->bit_size, &at))
			break;
	}
	if (local.size == 0)
		local.size = at / 8;
	if (status != HI_OK || !local.value_mask || var->size > VALUE_MAX)
		return status;
	return add_local(scope, &local, err);
}

static enum hi_status add_constant_local(struct scope *scope,
					 const struct hi_pc_variable *var,
					 struct hi_error *err)
{
	struct hi_loc_piece piece = {.kind = HI_LOC_VALUE, .value = var->constant};

	return add_plain(scope, var, &piece, err);
}

static enum hi_status add_variable_locals(struct scope *scope, struct hi_pc_variable *var,
					  struct hi_error *err)
{
	struct hi_loc_env env = {.arg = scope,
				 .reg = scope_register,
				 .read = scope_read,
				 .frame_base = scope_frame_base,
				 .cfa = scope_cfa,
				 .bias = scope->bias,
				 .attr = &var->attr};
	struct hi_loc loc;

	if (var->has_constant)
		return add_constant_local(scope, var, err);
	if (hi_loc_eval(var->ops, var->n_ops, &env, &loc, NULL) != HI_OK)
		return HI_OK; /* optimised out, or broken: it is not there */
	if (loc.n_pieces == 1 && loc.pieces[0].bit_size == 0)
		return add_plain(scope, var, &loc.pieces[0], err);
	return add_pieces(scope, var, &loc, err);
}

enum hi_status hi_locals_read(struct hi_unwind *unwind, size_t i,
			      struct hi_locals *locals, struct hi_error *err)
{
	struct scope scope = {.unwind = unwind,
			      .index = i,
			      .frame = &unwind->frames.items[i],
			      .locals = locals};
	struct hi_pc *pc = scope.frame->pc;
	enum hi_status status = hi_scopes_read(unwind->cache, pc, err);

	if (status != HI_OK || pc->n_variables == 0)
		return status;
	hi_module_dwarf(pc->module, &scope.bias);
	for (size_t v = 0; v < pc->n_variables && status == HI_OK; v++)
		status = add_variable_locals(&scope, &pc->variables[v], err);
	return status;
}
