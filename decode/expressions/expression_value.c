/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Conversions and operators of C with their checks.
 *
 * Note [Integers of 32 and 64 bits]
 *
 * Values are 64 bits wide. int stands sign-extended, unsigned int zero-extended.
 * Arithmetic on unsigned int is cut to 32 bits, as in C; arithmetic on int is not:
 * where the results would differ it is undefined in C, and 64 bits are the natural result
 * for 1 << 40.
 */
#include "decode/expressions/expression_internal.h"

#include <string.h>

#include "base/text.h"

/* ---- from objects to values ---- */

static struct hi_value make_rvalue(struct hi_expression_node *node, struct hi_ctype type,
				   size_t column)
{
	return (struct hi_value){.node = node, .type = type, .column = column};
}

static bool no_value(struct hi_parser *p, const struct hi_value *v)
{
	char name[HI_CTYPE_NAME];

	hi_ctype_name(p, &v->type, name);
	switch ((unsigned)v->type.kind) {
	case HI_KIND_STRUCT:
	case HI_KIND_UNION:
		return hi_expr_fail(p, v->column,
				    "%s is not a number or pointer: name a member of it, "
				    "or take its address with '&'",
				    name);
	case HI_KIND_FLOAT:
		return hi_expr_fail(p, v->column,
				    "%s: floating-point arithmetic is not supported",
				    name);
	case HI_KIND_VOID:
		return hi_expr_fail(p, v->column, "void has no value: cast the pointer");
	case HI_KIND_DECLARATION:
		return hi_expr_fail(p, v->column,
				    "%s is only declared: its contents are not known",
				    name);
	default:
		return hi_expr_fail(p, v->column, "%s cannot be computed with", name);
	}
}

static void load_reference(struct hi_parser *p, struct hi_value *v)
{
	v->node =
		hi_node_load(p, v->node, 0, (unsigned)hi_ctype_size(&v->type) * 8, false);
	v->type = hi_ctype_target(p, &v->type);
}

static bool refers_to_record(struct hi_parser *p, const struct hi_value *v)
{
	struct hi_ctype to = hi_ctype_target(p, &v->type);

	return to.kind != HI_KIND_INTEGER && to.kind != HI_KIND_POINTER;
}

bool hi_value_load(struct hi_parser *p, struct hi_value *v, bool keep_reference)
{
	unsigned bits;

	if (v->is_lvalue && hi_ctype_is_reference(&v->type) &&
	    !(keep_reference && refers_to_record(p, v)))
		load_reference(p, v);
	switch ((unsigned)v->type.kind) {
	case HI_KIND_INTEGER:
	case HI_KIND_POINTER:
		if (!v->is_lvalue)
			return true;
		bits = v->bit_size ? v->bit_size : (unsigned)hi_ctype_size(&v->type) * 8;
		v->node =
			hi_node_load(p, v->node, v->bit_offset, bits, v->type.is_signed);
		break;
	case HI_KIND_ARRAY:
		v->type = hi_ctype_pointer_to(p, hi_ctype_target(p, &v->type));
		break;
	case HI_KIND_FUNCTION:
		v->type = hi_ctype_pointer_to(p, v->type);
		break;
	default:
		return no_value(p, v);
	}
	v->is_lvalue = false;
	return true;
}

/* ---- integers ---- */

/* The type that an integer has in an operation. */
static struct hi_ctype promoted_type_of(const struct hi_value *v)
{
	if (v->type.size > 4)
		return hi_ctype_integer(8, v->type.is_signed);
	if (v->type.size < 4 || (v->bit_size && v->bit_size < 32))
		return hi_ctype_integer(4, true);
	return hi_ctype_integer(4, v->type.is_signed);
}

static struct hi_ctype common_type_of(const struct hi_value *a, const struct hi_value *b)
{
	struct hi_ctype x = promoted_type_of(a), y = promoted_type_of(b);

	if (x.size != y.size)
		return x.size > y.size ? x : y;
	return x.is_signed ? y : x;
}

static bool is_unsigned_int(const struct hi_ctype *type)
{
	return type->size == 4 && !type->is_signed;
}

/* To the type that an operation has. See Note [Integers of 32 and 64 bits]. */
static void convert_value(struct hi_parser *p, struct hi_value *v,
			  const struct hi_ctype *to)
{
	if (is_unsigned_int(to) && (v->type.is_signed || v->type.size > 4))
		v->node = hi_node_extend(p, v->node, 32, false);
	v->type = *to;
	v->bit_size = 0;
}

static void promote_value(struct hi_parser *p, struct hi_value *v)
{
	struct hi_ctype type = promoted_type_of(v);

	convert_value(p, v, &type);
}

/* *v op *b in the type of *v. */
static void compute_binary(struct hi_parser *p, enum hi_op op, struct hi_value *v,
			   const struct hi_value *b)
{
	v->node = hi_node_binary(p, op, v->node, b->node);
	if (is_unsigned_int(&v->type))
		v->node = hi_node_extend(p, v->node, 32, false);
}

static void become_truth(struct hi_value *v, struct hi_expression_node *node)
{
	*v = make_rvalue(node, hi_ctype_integer(4, true), v->column);
}

/* ---- pointers ---- */

static bool element_size(struct hi_parser *p, const struct hi_value *v, uint64_t *ret)
{
	struct hi_ctype to = hi_ctype_target(p, &v->type);
	char name[HI_CTYPE_NAME];

	*ret = hi_ctype_size(&to);
	if (to.kind == HI_KIND_VOID || to.kind == HI_KIND_FUNCTION)
		*ret = 1; /* as gcc does */
	return *ret != 0 || hi_expr_fail(p, v->column,
					 "the size of %s, which this points to, is not "
					 "known",
					 hi_ctype_name(p, &to, name));
}

static bool is_pointer(const struct hi_value *v)
{
	return v->type.kind == HI_KIND_POINTER;
}

/* pointer + integer, pointer - integer */
static bool move_pointer(struct hi_parser *p, enum hi_op op, struct hi_value *v,
			 const struct hi_value *by)
{
	uint64_t size;

	if (!element_size(p, v, &size))
		return false;
	v->node = hi_node_binary(p, op, v->node,
				 hi_node_binary_imm(p, HI_OP_MUL, by->node, size));
	return true;
}

static bool subtract_pointers(struct hi_parser *p, const struct hi_token *op,
			      struct hi_value *a, const struct hi_value *b)
{
	char left[HI_CTYPE_NAME], right[HI_CTYPE_NAME];
	uint64_t size, other;

	if (!element_size(p, a, &size) || !element_size(p, b, &other))
		return false;
	if (size != other)
		return hi_expr_fail(p, op->column,
				    "'-' of pointers to different types: %s and %s",
				    hi_ctype_name(p, &a->type, left),
				    hi_ctype_name(p, &b->type, right));
	a->node = hi_node_binary(p, HI_OP_SUB, a->node, b->node);
	a->type = hi_ctype_integer(8, true);
	if ((size & (size - 1)) == 0)
		a->node = hi_node_binary_imm(p, HI_OP_SHRS, a->node,
					     (uint64_t)__builtin_ctzll(size));
	else
		a->node = hi_node_binary_imm(p, HI_OP_DIVS, a->node, size);
	return true;
}

static bool add_values(struct hi_parser *p, const struct hi_token *op, struct hi_value *a,
		       struct hi_value *b)
{
	bool minus = op->mark == HI_MARK('-', 0);
	struct hi_value swap;

	if (is_pointer(a) && is_pointer(b))
		return minus ? subtract_pointers(p, op, a, b)
			     : hi_expr_fail(p, op->column,
					    "pointers cannot be added, only subtracted");
	if (is_pointer(b)) {
		if (minus)
			return hi_expr_fail(p, op->column,
					    "a pointer cannot be subtracted from a "
					    "number: cast it to unsigned long");
		swap = *a;
		*a = *b;
		*b = swap;
	}
	return move_pointer(p, minus ? HI_OP_SUB : HI_OP_ADD, a, b);
}

/* ---- binary operators ---- */

static bool compare_values(struct hi_parser *p, const struct hi_token *op,
			   struct hi_value *a, struct hi_value *b)
{
	bool is_signed = false, equal = op->length == 2;
	struct hi_value *left = a, *right = b;
	enum hi_op kind;

	if (!is_pointer(a) && !is_pointer(b)) {
		struct hi_ctype type = common_type_of(a, b);

		convert_value(p, a, &type);
		convert_value(p, b, &type);
		is_signed = type.is_signed;
	}
	switch (op->mark) {
	case HI_MARK('=', '='):
		kind = HI_OP_EQ;
		break;
	case HI_MARK('!', '='):
		kind = HI_OP_NE;
		break;
	case HI_MARK('>', 0):
	case HI_MARK('>', '='):
		left = b;
		right = a;
		[[fallthrough]];
	default:
		kind = is_signed ? (equal ? HI_OP_LES : HI_OP_LTS)
				 : (equal ? HI_OP_LEU : HI_OP_LTU);
		break;
	}
	become_truth(a, hi_node_binary(p, kind, left->node, right->node));
	return true;
}

static bool shift_value(struct hi_parser *p, bool left, struct hi_value *a,
			struct hi_value *b)
{
	promote_value(p, a);
	promote_value(p, b);
	compute_binary(p,
		       left		   ? HI_OP_SHL
		       : a->type.is_signed ? HI_OP_SHRS
					   : HI_OP_SHRU,
		       a, b);
	return true;
}

static enum hi_op arithmetic_op(uint32_t mark, bool is_signed)
{
	switch (mark) {
	case HI_MARK('+', 0):
		return HI_OP_ADD;
	case HI_MARK('-', 0):
		return HI_OP_SUB;
	case HI_MARK('*', 0):
		return HI_OP_MUL;
	case HI_MARK('/', 0):
		return is_signed ? HI_OP_DIVS : HI_OP_DIVU;
	case HI_MARK('%', 0):
		return is_signed ? HI_OP_MODS : HI_OP_MODU;
	case HI_MARK('&', 0):
		return HI_OP_AND;
	case HI_MARK('|', 0):
		return HI_OP_OR;
	default:
		return HI_OP_XOR;
	}
}

static bool apply_arithmetic(struct hi_parser *p, const struct hi_token *op,
			     struct hi_value *a, struct hi_value *b)
{
	struct hi_ctype type;

	if (is_pointer(a) || is_pointer(b)) {
		char name[HI_CTYPE_NAME];

		if (op->mark == HI_MARK('+', 0) || op->mark == HI_MARK('-', 0))
			return add_values(p, op, a, b);
		return hi_expr_fail(
			p, op->column, "'%c' of a pointer (%s): cast it to unsigned long",
			(char)op->mark,
			hi_ctype_name(p, is_pointer(a) ? &a->type : &b->type, name));
	}
	type = common_type_of(a, b);
	convert_value(p, a, &type);
	convert_value(p, b, &type);
	compute_binary(p, arithmetic_op(op->mark, type.is_signed), a, b);
	return true;
}

bool hi_value_binary(struct hi_parser *p, const struct hi_token *operator,
		     struct hi_value * a, struct hi_value *b)
{
	size_t column = a->column;
	bool good;

	if (!hi_value_load(p, a, false) || !hi_value_load(p, b, false))
		return false;
	switch (operator->mark) {
	case HI_MARK('&', '&'):
	case HI_MARK('|', '|'):
		become_truth(a, hi_node_logic(p,
					      operator->mark == HI_MARK('&', '&')
						      ? HI_OP_BOTH
						      : HI_OP_EITHER,
					      a->node, b->node));
		return true;
	case HI_MARK('=', '='):
	case HI_MARK('!', '='):
	case HI_MARK('<', 0):
	case HI_MARK('<', '='):
	case HI_MARK('>', 0):
	case HI_MARK('>', '='):
		good = compare_values(p, operator, a, b);
		break;
	case HI_MARK('<', '<'):
	case HI_MARK('>', '>'):
		good = !is_pointer(a) && !is_pointer(b)
			       ? shift_value(p, operator->mark == HI_MARK('<', '<'), a, b)
			       : hi_expr_fail(p, operator->column,
					      "a shift of a pointer: cast it to unsigned "
					      "long");
		break;
	default:
		good = apply_arithmetic(p, operator, a, b);
		break;
	}
	a->column = column;
	return good;
}

/* ---- unary operators ---- */

static bool take_address_of_value(struct hi_parser *p, struct hi_value *v)
{
	if (v->bit_size)
		return hi_expr_fail(p, v->column, "a bit-field has no address");
	if (!v->is_lvalue && v->type.kind != HI_KIND_FUNCTION)
		return hi_expr_fail(p, v->column, "'&' of a value: it has no address");
	if (hi_ctype_is_reference(&v->type))
		load_reference(p, v);
	*v = make_rvalue(v->node, hi_ctype_pointer_to(p, v->type), v->column);
	return true;
}

static bool dereference_value(struct hi_parser *p, const struct hi_token *operator,
			      struct hi_value * v)
{
	char name[HI_CTYPE_NAME];

	if (!hi_value_load(p, v, false))
		return false;
	if (!is_pointer(v))
		return hi_expr_fail(p, operator->column,
				    "'*' of %s, which is not a pointer",
				    hi_ctype_name(p, &v->type, name));
	v->type = hi_ctype_target(p, &v->type);
	if (v->type.kind == HI_KIND_VOID)
		return hi_expr_fail(p, operator->column,
				    "a void * points to memory without a type: cast it");
	v->is_lvalue = v->type.kind != HI_KIND_FUNCTION;
	return true;
}

bool hi_value_unary(struct hi_parser *p, const struct hi_token *operator,
		    struct hi_value * v)
{
	struct hi_value zero = {};

	if (operator->mark == HI_MARK('&', 0))
		return take_address_of_value(p, v);
	if (operator->mark == HI_MARK('*', 0))
		return dereference_value(p, operator, v);
	if (!hi_value_load(p, v, false))
		return false;
	if (operator->mark == HI_MARK('!', 0)) {
		become_truth(v, hi_node_binary_imm(p, HI_OP_EQ, v->node, 0));
		return true;
	}
	if (is_pointer(v))
		return hi_expr_fail(p, operator->column,
				    "'%c' of a pointer: cast it to unsigned long",
				    (char)operator->mark);
	promote_value(p, v);
	switch (operator->mark) {
	case HI_MARK('~', 0):
		zero.node = hi_node_leaf(p, HI_OP_CONST, UINT64_MAX);
		compute_binary(p, HI_OP_XOR, v, &zero);
		return true;
	case HI_MARK('-', 0):
		zero.node = v->node;
		v->node = hi_node_leaf(p, HI_OP_CONST, 0);
		compute_binary(p, HI_OP_SUB, v, &zero);
		return true;
	default:
		return true;
	}
}

/* ---- the others ---- */

bool hi_value_choose(struct hi_parser *p, struct hi_value *condition, struct hi_value *b,
		     struct hi_value *c)
{
	struct hi_ctype type;

	if (!hi_value_load(p, condition, false) || !hi_value_load(p, b, false) ||
	    !hi_value_load(p, c, false))
		return false;
	if (is_pointer(b) || is_pointer(c)) {
		type = is_pointer(b) ? b->type : c->type;
		/* Two pointers of different types, or a number that is not 0. */
		if (is_pointer(b) && is_pointer(c) &&
		    hi_ctype_id(p, &b->type) != hi_ctype_id(p, &c->type))
			type = hi_ctype_pointer_to(
				p, (struct hi_ctype){.kind = HI_KIND_VOID, .builtin = 1});
	} else {
		type = common_type_of(b, c);
		convert_value(p, b, &type);
		convert_value(p, c, &type);
	}
	*condition = make_rvalue(
		hi_node_choose(p, hi_node_truth(p, condition->node), b->node, c->node),
		type, condition->column);
	return true;
}

bool hi_value_cast(struct hi_parser *p, const struct hi_ctype *to, struct hi_value *v)
{
	char name[HI_CTYPE_NAME];

	if (!hi_value_load(p, v, false))
		return false;
	if (to->kind == HI_KIND_INTEGER && to->is_bool)
		v->node = hi_node_truth(p, v->node);
	else if (to->kind == HI_KIND_INTEGER)
		v->node = hi_node_extend(p, v->node, to->size * 8u, to->is_signed);
	else if (to->kind != HI_KIND_POINTER)
		return hi_expr_fail(p, v->column,
				    "a cast to %s: only to integers and pointers",
				    hi_ctype_name(p, to, name));
	*v = make_rvalue(v->node, *to, v->column);
	return true;
}

bool hi_value_index(struct hi_parser *p, struct hi_value *v, struct hi_value *index)
{
	static const struct hi_token plus = {.mark = HI_MARK('+', 0)};
	char name[HI_CTYPE_NAME];

	if (!hi_value_load(p, v, false) || !hi_value_load(p, index, false))
		return false;
	if (!is_pointer(v))
		return hi_expr_fail(p, v->column,
				    "'[' behind %s, which is not an array or pointer",
				    hi_ctype_name(p, &v->type, name));
	if (is_pointer(index))
		return hi_expr_fail(p, index->column, "a pointer cannot be an index");
	return move_pointer(p, HI_OP_ADD, v, index) &&
	       dereference_value(
		       p, &(struct hi_token){.mark = plus.mark, .column = v->column}, v);
}

bool hi_value_size(struct hi_parser *p, const struct hi_value *v, uint64_t *ret)
{
	char name[HI_CTYPE_NAME];

	*ret = hi_ctype_size(&v->type);
	if (v->bit_size)
		return hi_expr_fail(p, v->column, "sizeof of a bit-field");
	return *ret != 0 || hi_expr_fail(p, v->column, "the size of %s is not known",
					 hi_ctype_name(p, &v->type, name));
}

/* ---- members ---- */

void hi_value_of_member(struct hi_parser *p, struct hi_expression_node *addr,
			const struct hi_found_member *found, struct hi_value *ret)
{
	*ret = (struct hi_value){
		.node = hi_node_binary_imm(p, HI_OP_ADD, addr, found->offset),
		.type = hi_ctype_of(p, found->member.type),
		.is_lvalue = true,
		.bit_size = found->member.bit_size,
		.bit_offset = found->member.bit_offset & 7,
		.column = ret->column,
	};
	if (ret->bit_size > 64)
		ret->type.kind = HI_KIND_UNKNOWN;
}

/* What stands before "." or "->" as an object. */
static bool resolve_record_operand(struct hi_parser *p, struct hi_value *v, bool arrow,
				   size_t column)
{
	char name[HI_CTYPE_NAME];

	if (v->is_lvalue && hi_ctype_is_reference(&v->type))
		load_reference(p, v);
	if (arrow) {
		if (v->is_lvalue &&
		    (v->type.kind == HI_KIND_STRUCT || v->type.kind == HI_KIND_UNION))
			return hi_expr_fail(p, column, "%s is not a pointer: use '.'",
					    hi_ctype_name(p, &v->type, name));
		if (!hi_value_load(p, v, false))
			return false;
	} else if (v->type.kind == HI_KIND_POINTER) {
		return hi_expr_fail(p, column, "%s is a pointer: use '->'",
				    hi_ctype_name(p, &v->type, name));
	}
	if (arrow && v->type.kind == HI_KIND_POINTER) {
		v->type = hi_ctype_target(p, &v->type);
		v->is_lvalue = true;
	}
	return true;
}

bool hi_value_member(struct hi_parser *p, struct hi_value *v, bool arrow, size_t column,
		     size_t length)
{
	char name[HI_CTYPE_NAME], near[HI_NEAREST], shown[40];
	struct hi_found_member found;

	if (!resolve_record_operand(p, v, arrow, v->column))
		return false;
	hi_ctype_name(p, &v->type, name);
	hi_text_escape(shown, sizeof(shown), p->text + column, length);
	if (v->type.kind == HI_KIND_DECLARATION)
		return hi_expr_fail(p, column,
				    "%s is only declared: its members are not known",
				    name);
	if (v->type.kind != HI_KIND_STRUCT && v->type.kind != HI_KIND_UNION)
		return hi_expr_fail(p, column, "%s has no members%s", name,
				    v->type.kind == HI_KIND_VOID ? ": cast the pointer"
								 : "");
	if (!hi_expr_member(p, v->type.type, p->text + column, length, &found))
		return hi_expr_fail(
			p, column, "%s has no member '%s'; it has %s", name, shown,
			hi_expr_nearest(p, v->type.type, p->text + column, length, near));
	if (found.ambiguous)
		return hi_expr_fail(p, column, "'%s' is in more than one base of %s",
				    shown, name);
	hi_value_of_member(p, v->node, &found, v);
	return true;
}
