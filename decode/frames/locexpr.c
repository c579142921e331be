/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/search.h"
#include "decode/frames/locexpr.h"

#include <dwarf.h>
#include <string.h>

/* A value with its type: size 0 is the generic type (8 bytes, no sign of its own). */
struct entry {
	uint64_t value; /* extended to 64 bits by its type */
	uint8_t size;	/* 0, or 1..8 */
	bool is_signed; /* only size > 0 */
};

struct machine {
	const Dwarf_Op *ops;
	size_t n_ops, next;
	const struct hi_loc_env *env;
	struct entry stack[HI_LOC_STACK_MAX];
	size_t depth;
	unsigned steps;
	/* A location that an operation named, until a piece or the end takes it. */
	bool pending;
	struct hi_loc_piece named;
	struct hi_loc *out;
	struct hi_error *err;
};

static enum hi_status fail_malformed(struct machine *m, const char *why)
{
	return hi_fail(m->err, HI_BAD_DATA, 0, "DWARF expression: %s", why);
}

static enum hi_status fail_unknown(struct machine *m, const char *what)
{
	return hi_fail(m->err, HI_NOT_FOUND, 0, "DWARF expression: %s is not known",
		       what);
}

static enum hi_status fail_unsupported_operation(struct machine *m, unsigned atom)
{
	return hi_fail(m->err, HI_UNSUPPORTED, 0, "DWARF expression: operation 0x%x",
		       atom);
}

/* ---- the stack ---- */

static uint64_t extend_to_size(uint64_t value, unsigned size, bool is_signed)
{
	unsigned shift = 64 - 8 * size;

	if (size == 0 || size >= 8)
		return value;
	return is_signed ? (uint64_t)((int64_t)(value << shift) >> shift)
			 : value << shift >> shift;
}

static enum hi_status push_entry(struct machine *m, struct entry e)
{
	if (m->depth == HI_LOC_STACK_MAX)
		return hi_fail(m->err, HI_LIMIT, 0,
			       "DWARF expression: stack is too deep");
	e.value = extend_to_size(e.value, e.size, e.is_signed);
	m->stack[m->depth++] = e;
	return HI_OK;
}

static enum hi_status push_plain_value(struct machine *m, uint64_t value)
{
	return push_entry(m, (struct entry){.value = value});
}

/* The entry `index` below the top. */
static struct entry *peek_entry(struct machine *m, uint64_t index)
{
	return index < m->depth ? &m->stack[m->depth - 1 - index] : NULL;
}

static enum hi_status pick_entry(struct machine *m, uint64_t index)
{
	const struct entry *e = peek_entry(m, index);

	return e ? push_entry(m, *e) : fail_malformed(m, "pick below the stack");
}

static enum hi_status drop_entry(struct machine *m)
{
	if (m->depth == 0)
		return fail_malformed(m, "drop on an empty stack");
	m->depth--;
	return HI_OK;
}

/* The n topmost move up by one, the top becomes the lowest of them. */
static enum hi_status rotate_entries(struct machine *m, size_t n)
{
	struct entry top;

	if (m->depth < n)
		return fail_malformed(m, "rotation on a short stack");
	top = m->stack[m->depth - 1];
	memmove(&m->stack[m->depth - n + 1], &m->stack[m->depth - n],
		(n - 1) * sizeof(top));
	m->stack[m->depth - n] = top;
	return HI_OK;
}

/* ---- arithmetic ---- */

static enum hi_status divide_entries(struct machine *m, struct entry a, struct entry b)
{
	bool is_signed = a.size == 0 || a.is_signed;

	if (b.value == 0)
		return fail_malformed(m, "division by zero");
	if (!is_signed)
		a.value /= b.value;
	else if (b.value == UINT64_MAX) /* INT64_MIN / -1 would trap */
		a.value = 0 - a.value;
	else
		a.value = (uint64_t)((int64_t)a.value / (int64_t)b.value);
	return push_entry(m, a);
}

/* The generic type is unsigned here (DWARF 5, 2.5.1.4), typed values have their own
 * sign. */
static enum hi_status modulo_entries(struct machine *m, struct entry a, struct entry b)
{
	if (b.value == 0)
		return fail_malformed(m, "division by zero");
	if (a.size == 0 || !a.is_signed)
		a.value %= b.value;
	else if (b.value == UINT64_MAX)
		a.value = 0;
	else
		a.value = (uint64_t)((int64_t)a.value % (int64_t)b.value);
	return push_entry(m, a);
}

static uint64_t shift_right(struct entry a, uint64_t n, bool arithmetic)
{
	if (arithmetic)
		return (uint64_t)((int64_t)a.value >> (n > 63 ? 63 : n));
	return n > 63 ? 0 : extend_to_size(a.value, a.size, false) >> n;
}

static bool compare_entries(unsigned atom, struct entry a, struct entry b)
{
	bool is_signed = a.size == 0 || a.is_signed;
	bool less = is_signed ? (int64_t)a.value < (int64_t)b.value : a.value < b.value;
	bool same = a.value == b.value;

	switch (atom) {
	case DW_OP_eq:
		return same;
	case DW_OP_ne:
		return !same;
	case DW_OP_lt:
		return less;
	case DW_OP_le:
		return less || same;
	case DW_OP_gt:
		return !less && !same;
	default: /* DW_OP_ge */
		return !less;
	}
}

static enum hi_status apply_binary_operation(struct machine *m, unsigned atom)
{
	struct entry a, b;

	if (m->depth < 2)
		return fail_malformed(m, "arithmetic on a short stack");
	b = m->stack[--m->depth];
	a = m->stack[--m->depth];
	switch (atom) {
	case DW_OP_and:
		a.value &= b.value;
		break;
	case DW_OP_or:
		a.value |= b.value;
		break;
	case DW_OP_xor:
		a.value ^= b.value;
		break;
	case DW_OP_plus:
		a.value += b.value;
		break;
	case DW_OP_minus:
		a.value -= b.value;
		break;
	case DW_OP_mul:
		a.value *= b.value;
		break;
	case DW_OP_div:
		return divide_entries(m, a, b);
	case DW_OP_mod:
		return modulo_entries(m, a, b);
	case DW_OP_shl:
		a.value = b.value > 63 ? 0 : a.value << b.value;
		break;
	case DW_OP_shr:
		a.value = shift_right(a, b.value, false);
		break;
	case DW_OP_shra:
		a.value = shift_right(a, b.value, true);
		break;
	default:
		return push_plain_value(m, compare_entries(atom, a, b));
	}
	return push_entry(m, a);
}

static enum hi_status apply_unary_operation(struct machine *m, const Dwarf_Op *op)
{
	struct entry a;

	if (m->depth == 0)
		return fail_malformed(m, "arithmetic on an empty stack");
	a = m->stack[--m->depth];
	switch (op->atom) {
	case DW_OP_abs:
		if ((int64_t)a.value < 0 && (a.size == 0 || a.is_signed))
			a.value = 0 - a.value;
		break;
	case DW_OP_neg:
		a.value = 0 - a.value;
		break;
	case DW_OP_not:
		a.value = ~a.value;
		break;
	default: /* DW_OP_plus_uconst */
		a.value += op->number;
		break;
	}
	return push_entry(m, a);
}

/* ---- values of the frame and of memory ---- */

static enum hi_status push_register(struct machine *m, uint64_t regno, uint64_t offset)
{
	const struct hi_loc_env *env = m->env;
	uint64_t value;

	if (!env->reg || !env->reg(env->arg, regno, &value))
		return fail_unknown(m, "a register");
	return push_plain_value(m, value + offset);
}

static enum hi_status push_frame_base(struct machine *m, uint64_t offset)
{
	const struct hi_loc_env *env = m->env;
	uint64_t value;

	if (!env->frame_base || !env->frame_base(env->arg, &value))
		return fail_unknown(m, "the frame base");
	return push_plain_value(m, value + offset);
}

static enum hi_status push_cfa(struct machine *m)
{
	const struct hi_loc_env *env = m->env;
	uint64_t value;

	if (!env->cfa || !env->cfa(env->arg, &value))
		return fail_unknown(m, "the frame's address");
	return push_plain_value(m, value);
}

static enum hi_status push_tls(struct machine *m)
{
	const struct hi_loc_env *env = m->env;
	uint64_t value;

	if (m->depth == 0)
		return fail_malformed(m, "thread-local address on an empty stack");
	if (!env->tls || !env->tls(env->arg, m->stack[--m->depth].value, &value))
		return fail_unknown(m, "the thread-local block");
	return push_plain_value(m, value);
}

static enum hi_status dereference_entry(struct machine *m, uint64_t size,
					struct entry type)
{
	const struct hi_loc_env *env = m->env;
	uint64_t addr, value = 0;

	if (m->depth == 0)
		return fail_malformed(m, "dereference on an empty stack");
	if (size == 0 || size > 8)
		return fail_malformed(m, "dereference with an invalid size");
	addr = m->stack[--m->depth].value;
	if (!env->read || !env->read(env->arg, addr, &value, size))
		return hi_fail(m->err, HI_FAULT, addr, "DWARF expression: dereference");
	type.value = value;
	return push_entry(m, type);
}

/* ---- operands that only the attribute can decode ---- */

/* The base type that operation `op` names; only integers of at most 8 bytes. */
static enum hi_status base_type(struct machine *m, const Dwarf_Op *op, struct entry *ret)
{
	Dwarf_Die die;
	Dwarf_Attribute attr;
	Dwarf_Word encoding = 0;
	int size;

	if (!m->env->attr || dwarf_getlocation_die(m->env->attr, op, &die) != 0)
		return fail_unsupported_operation(m, op->atom);
	size = dwarf_bytesize(&die);
	if (size < 1 || size > 8 ||
	    dwarf_formudata(dwarf_attr(&die, DW_AT_encoding, &attr), &encoding) != 0 ||
	    encoding == DW_ATE_float || encoding == DW_ATE_complex_float)
		return fail_unsupported_operation(m, op->atom);
	ret->size = (uint8_t)size;
	ret->is_signed = encoding == DW_ATE_signed || encoding == DW_ATE_signed_char;
	return HI_OK;
}

static enum hi_status convert_entry(struct machine *m, const Dwarf_Op *op)
{
	struct entry type = {};
	enum hi_status status;

	if (m->depth == 0)
		return fail_malformed(m, "conversion on an empty stack");
	if (op->number != 0) {
		status = base_type(m, op, &type);
		if (status != HI_OK)
			return status;
	}
	type.value = m->stack[--m->depth].value;
	return push_entry(m, type);
}

static enum hi_status push_typed(struct machine *m, const Dwarf_Op *op)
{
	struct entry type = {};
	enum hi_status status = base_type(m, op, &type);
	Dwarf_Attribute attr;
	Dwarf_Block block;

	if (status != HI_OK)
		return status;
	if (op->atom == DW_OP_deref_type || op->atom == DW_OP_GNU_deref_type)
		return dereference_entry(m, op->number, type);
	if (op->atom == DW_OP_regval_type || op->atom == DW_OP_GNU_regval_type) {
		status = push_register(m, op->number, 0);
		type.value = status == HI_OK ? m->stack[--m->depth].value : 0;
		return status == HI_OK ? push_entry(m, type) : status;
	}
	/* DW_OP_const_type */
	if (dwarf_getlocation_attr(m->env->attr, op, &attr) != 0 ||
	    dwarf_formblock(&attr, &block) != 0 || block.length > 8)
		return fail_malformed(m, "typed constant");
	memcpy(&type.value, block.data, block.length);
	return push_entry(m, type);
}

/* DW_OP_addrx, DW_OP_constx and their GNU forms: a word of .debug_addr. */
static enum hi_status push_indexed(struct machine *m, const Dwarf_Op *op)
{
	bool is_address = op->atom == DW_OP_addrx || op->atom == DW_OP_GNU_addr_index;
	Dwarf_Attribute attr;
	Dwarf_Addr addr;
	Dwarf_Word word;

	if (!m->env->attr || dwarf_getlocation_attr(m->env->attr, op, &attr) != 0)
		return fail_unsupported_operation(m, op->atom);
	if (is_address && dwarf_formaddr(&attr, &addr) == 0)
		return push_plain_value(m, addr + m->env->bias);
	if (!is_address && dwarf_formudata(&attr, &word) == 0)
		return push_plain_value(m, word);
	return fail_malformed(m, "address index");
}

/* Only DW_OP_entry_value(DW_OP_regN) can be answered; compilers emit no other. */
static enum hi_status push_entry_value(struct machine *m, const Dwarf_Op *op)
{
	const struct hi_loc_env *env = m->env;
	Dwarf_Attribute attr;
	Dwarf_Op *inner;
	size_t n_inner;
	uint64_t regno, value;

	if (!env->attr || dwarf_getlocation_attr(env->attr, op, &attr) != 0 ||
	    dwarf_getlocation(&attr, &inner, &n_inner) != 0 || n_inner != 1)
		return fail_unsupported_operation(m, op->atom);
	if (inner->atom >= DW_OP_reg0 && inner->atom <= DW_OP_reg31)
		regno = inner->atom - DW_OP_reg0;
	else if (inner->atom == DW_OP_regx)
		regno = inner->number;
	else
		return fail_unsupported_operation(m, op->atom);
	if (!env->entry_reg || !env->entry_reg(env->arg, regno, &value))
		return fail_unknown(m, "a value at the entry");
	return push_plain_value(m, value);
}

/* ---- locations ---- */

/* Only a piece may follow (DWARF 5, 2.6.1): the caller of run_operation() checks that. */
static enum hi_status name_location(struct machine *m, struct hi_loc_piece piece)
{
	m->pending = true;
	m->named = piece;
	return HI_OK;
}

static enum hi_status implicit_value(struct machine *m, const Dwarf_Op *op)
{
	Dwarf_Block block;

	if (!m->env->attr)
		return fail_unsupported_operation(m, op->atom);
	if (dwarf_getlocation_implicit_value(m->env->attr, op, &block) != 0)
		return fail_malformed(m, "implicit value");
	return name_location(m, (struct hi_loc_piece){.kind = HI_LOC_BYTES,
						      .bytes = block.data,
						      .n_bytes = block.length});
}

static enum hi_status stack_value(struct machine *m)
{
	if (m->depth == 0)
		return fail_malformed(m, "value of an empty stack");
	return name_location(m,
			     (struct hi_loc_piece){.kind = HI_LOC_VALUE,
						   .value = m->stack[--m->depth].value});
}

/* What the operations so far describe: a named location, else the address on top. */
static struct hi_loc_piece take_location(struct machine *m)
{
	struct hi_loc_piece piece = {.kind = HI_LOC_GONE};

	if (m->pending)
		piece = m->named;
	else if (m->depth > 0)
		piece = (struct hi_loc_piece){.kind = HI_LOC_MEMORY,
					      .value = m->stack[--m->depth].value};
	m->pending = false;
	return piece;
}

static enum hi_status end_piece(struct machine *m, uint64_t bit_size, uint64_t bit_offset)
{
	struct hi_loc_piece piece = take_location(m);

	if (bit_size == 0)
		return fail_malformed(m, "piece of no size");
	if (m->out->n_pieces == HI_LOC_PIECES_MAX)
		return hi_fail(m->err, HI_LIMIT, 0, "DWARF expression: too many pieces");
	piece.bit_size = bit_size;
	piece.bit_offset = bit_offset;
	m->out->pieces[m->out->n_pieces++] = piece;
	return HI_OK;
}

/* ---- control ---- */

/* Operations are sorted by their offset; a target inside one is malformed. Beyond the
 * offset of the last one it is the end, as the length of that one is not known. */
static enum hi_status jump_to_operation(struct machine *m, const Dwarf_Op *op)
{
	uint64_t target = op->offset + 3 + op->number;
	size_t low = hi_search(i, m->n_ops, m->ops[i].offset < target);

	if ((int64_t)target < 0 ||
	    (low < m->n_ops ? m->ops[low].offset != target
			    : target <= m->ops[m->n_ops - 1].offset))
		return fail_malformed(m, "jump into an operation");
	m->next = low;
	return HI_OK;
}

static enum hi_status branch_if_not_zero(struct machine *m, const Dwarf_Op *op)
{
	if (m->depth == 0)
		return fail_malformed(m, "branch on an empty stack");
	return m->stack[--m->depth].value ? jump_to_operation(m, op) : HI_OK;
}

/* ---- one operation ---- */

static enum hi_status run_ranged_operation(struct machine *m, const Dwarf_Op *op)
{
	if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31)
		return push_plain_value(m, op->atom - DW_OP_lit0);
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31)
		return push_register(m, op->atom - DW_OP_breg0, op->number);
	if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31)
		return name_location(
			m, (struct hi_loc_piece){.kind = HI_LOC_REGISTER,
						 .value = op->atom - DW_OP_reg0});
	return fail_unsupported_operation(m, op->atom);
}

static enum hi_status run_stack_operation(struct machine *m, const Dwarf_Op *op)
{
	switch (op->atom) {
	case DW_OP_addr:
		return push_plain_value(m, op->number + m->env->bias);
	case DW_OP_const1u ... DW_OP_consts:
		return push_plain_value(m, op->number);
	case DW_OP_dup:
		return pick_entry(m, 0);
	case DW_OP_over:
		return pick_entry(m, 1);
	case DW_OP_pick:
		return pick_entry(m, op->number);
	case DW_OP_drop:
		return drop_entry(m);
	case DW_OP_swap:
		return rotate_entries(m, 2);
	case DW_OP_rot:
		return rotate_entries(m, 3);
	case DW_OP_abs:
	case DW_OP_neg:
	case DW_OP_not:
	case DW_OP_plus_uconst:
		return apply_unary_operation(m, op);
	case DW_OP_and:
	case DW_OP_div ... DW_OP_mul:
	case DW_OP_or:
	case DW_OP_plus:
	case DW_OP_shl ... DW_OP_xor:
	case DW_OP_eq ... DW_OP_ne:
		return apply_binary_operation(m, op->atom);
	case DW_OP_bra:
		return branch_if_not_zero(m, op);
	case DW_OP_skip:
		return jump_to_operation(m, op);
	case DW_OP_nop:
		return HI_OK;
	default:
		return run_ranged_operation(m, op);
	}
}

static enum hi_status run_operation(struct machine *m, const Dwarf_Op *op)
{
	switch (op->atom) {
	case DW_OP_deref:
		return dereference_entry(m, 8, (struct entry){});
	case DW_OP_deref_size:
		return dereference_entry(m, op->number, (struct entry){});
	case DW_OP_bregx:
		return push_register(m, op->number, op->number2);
	case DW_OP_fbreg:
		return push_frame_base(m, op->number);
	case DW_OP_call_frame_cfa:
		return push_cfa(m);
	case DW_OP_form_tls_address:
	case DW_OP_GNU_push_tls_address:
		return push_tls(m);
	case DW_OP_addrx:
	case DW_OP_constx:
	case DW_OP_GNU_addr_index:
	case DW_OP_GNU_const_index:
		return push_indexed(m, op);
	case DW_OP_convert:
	case DW_OP_reinterpret:
	case DW_OP_GNU_convert:
	case DW_OP_GNU_reinterpret:
		return convert_entry(m, op);
	case DW_OP_const_type:
	case DW_OP_regval_type:
	case DW_OP_deref_type:
	case DW_OP_GNU_const_type:
	case DW_OP_GNU_regval_type:
	case DW_OP_GNU_deref_type:
		return push_typed(m, op);
	case DW_OP_entry_value:
	case DW_OP_GNU_entry_value:
		return push_entry_value(m, op);
	case DW_OP_regx:
		return name_location(m, (struct hi_loc_piece){.kind = HI_LOC_REGISTER,
							      .value = op->number});
	case DW_OP_implicit_value:
		return implicit_value(m, op);
	case DW_OP_implicit_pointer:
	case DW_OP_GNU_implicit_pointer:
		return name_location(m, (struct hi_loc_piece){.kind = HI_LOC_GONE});
	case DW_OP_stack_value:
		return stack_value(m);
	case DW_OP_piece:
		return op->number > UINT64_MAX / 8
			       ? fail_malformed(m, "piece with an invalid size")
			       : end_piece(m, op->number * 8, 0);
	case DW_OP_bit_piece:
		return end_piece(m, op->number, op->number2);
	default:
		return run_stack_operation(m, op);
	}
}

enum hi_status hi_loc_eval(const Dwarf_Op *ops, size_t n_ops,
			   const struct hi_loc_env *env, struct hi_loc *ret,
			   struct hi_error *err)
{
	struct hi_loc out;
	struct machine m = {
		.ops = ops, .n_ops = n_ops, .env = env, .out = &out, .err = err};
	enum hi_status status;

	out.n_pieces = 0;
	while (m.next < m.n_ops) {
		const Dwarf_Op *op = &m.ops[m.next++];

		if (++m.steps > HI_LOC_STEPS_MAX)
			return hi_fail(err, HI_LIMIT, 0, "DWARF expression: too long");
		if (m.pending && op->atom != DW_OP_piece && op->atom != DW_OP_bit_piece)
			return fail_malformed(&m, "operation after a location");
		status = run_operation(&m, op);
		if (status != HI_OK)
			return status;
	}
	if (out.n_pieces == 0)
		out.pieces[out.n_pieces++] = take_location(&m);
	else if (m.pending)
		return fail_malformed(&m, "location after the last piece");
	memcpy(ret->pieces, out.pieces, out.n_pieces * sizeof(out.pieces[0]));
	ret->n_pieces = out.n_pieces;
	return HI_OK;
}

enum hi_status hi_loc_eval_value(const Dwarf_Op *ops, size_t n_ops,
				 const struct hi_loc_env *env, uint64_t *ret,
				 struct hi_error *err)
{
	struct hi_loc loc;
	enum hi_status status = hi_loc_eval(ops, n_ops, env, &loc, err);
	const struct hi_loc_piece *piece = loc.pieces;

	if (status != HI_OK)
		return status;
	if (loc.n_pieces == 1 && piece->bit_size == 0) {
		if (piece->kind == HI_LOC_MEMORY || piece->kind == HI_LOC_VALUE) {
			*ret = piece->value;
			return HI_OK;
		}
		if (piece->kind == HI_LOC_REGISTER && env->reg &&
		    env->reg(env->arg, piece->value, ret))
			return HI_OK;
	}
	return hi_fail(err, HI_NOT_FOUND, 0,
		       "DWARF expression: its result is not a single value");
}
