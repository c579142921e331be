/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Trees of operations in 64 bits. Constants fold while the tree grows, and stand
 * on the right; x + 8 + 16 is x + 24, and the constant of an address moves into
 * the load: a member of `this` is one LOAD.
 */
#include "decode/expressions/expression_internal.h"

bool hi_op_divide(unsigned op, uint64_t a, uint64_t b, uint64_t *ret)
{
	if (b == 0)
		return false;
	switch (op) {
	case HI_OP_DIVU:
		*ret = a / b;
		break;
	case HI_OP_MODU:
		*ret = a % b;
		break;
	case HI_OP_DIVS: /* the least number has no opposite */
		*ret = b == UINT64_MAX ? 0 - a : (uint64_t)((int64_t)a / (int64_t)b);
		break;
	default:
		*ret = b == UINT64_MAX ? 0 : (uint64_t)((int64_t)a % (int64_t)b);
		break;
	}
	return true;
}

static bool evaluate_constant_op(enum hi_op op, uint64_t a, uint64_t b, uint64_t *ret)
{
	switch ((unsigned)op) {
#define EVALUATE(name, value)                                                            \
	case HI_OP_##name:                                                               \
		*ret = value;                                                            \
		return true;
		HI_BINARY_OPS(EVALUATE)
#undef EVALUATE
	default:
		return hi_op_divide(op, a, b, ret);
	}
}

static struct hi_expression_node *new_node(struct hi_parser *p, enum hi_op op,
					   struct hi_expression_node *a,
					   struct hi_expression_node *b,
					   struct hi_expression_node *c)
{
	static struct hi_expression_node none = {.op = HI_OP_CONST};
	struct hi_expression_node *node = hi_arena_alloc(&p->scratch, sizeof(*node));
	uint16_t depth = 0;

	if (!node) {
		p->no_memory = true;
		return &none; /* never written to: makers look at no_memory */
	}
	if (a)
		depth = a->depth;
	if (b && b->depth > depth)
		depth = b->depth;
	if (c && c->depth > depth)
		depth = c->depth;
	p->too_deep |= depth >= HI_EXPR_TREE_MAX;
	*node = (struct hi_expression_node){.op = (uint8_t)op,
					    .a = a,
					    .b = b,
					    .c = c,
					    .depth = depth < UINT16_MAX ? depth + 1
									: depth};
	return node;
}

struct hi_expression_node *hi_node_leaf(struct hi_parser *p, enum hi_op op, uint64_t imm)
{
	struct hi_expression_node *node = new_node(p, op, NULL, NULL, NULL);

	if (!p->no_memory)
		node->imm = imm;
	return node;
}

static bool is_const(const struct hi_expression_node *node)
{
	return node->op == HI_OP_CONST;
}

static bool is_commutative(enum hi_op op)
{
	return op == HI_OP_ADD || op == HI_OP_MUL || op == HI_OP_AND || op == HI_OP_OR ||
	       op == HI_OP_XOR || op == HI_OP_EQ || op == HI_OP_NE;
}

/* a = x + constant. */
static bool is_sum(const struct hi_expression_node *a)
{
	return a->op == HI_OP_ADD && is_const(a->b);
}

/* Where b is constant and the operation changes nothing. */
static bool is_idle(enum hi_op op, uint64_t b)
{
	if (b == 0)
		return op == HI_OP_ADD || op == HI_OP_SUB || op == HI_OP_OR ||
		       op == HI_OP_XOR || op == HI_OP_SHL || op == HI_OP_SHRU ||
		       op == HI_OP_SHRS;
	return b == 1 && (op == HI_OP_MUL || op == HI_OP_DIVU || op == HI_OP_DIVS);
}

/* These four call one another on smaller trees: at most once for each constant
 * that moves. NOLINTBEGIN(misc-no-recursion) */

static struct hi_expression_node *make_simplified_node(struct hi_parser *p, enum hi_op op,
						       struct hi_expression_node *a,
						       struct hi_expression_node *b)
{
	uint64_t value;

	if (is_const(a) && is_const(b) &&
	    evaluate_constant_op(op, a->imm, b->imm, &value))
		return hi_node_leaf(p, HI_OP_CONST, value);
	if (is_const(b) && is_idle(op, b->imm))
		return a;
	if (is_const(b) && is_const(a) == false && a->op == op && is_const(a->b) &&
	    (op == HI_OP_ADD || op == HI_OP_MUL || op == HI_OP_AND))
		return hi_node_binary_imm(p, op, a->a,
					  op == HI_OP_ADD   ? a->b->imm + b->imm
					  : op == HI_OP_MUL ? a->b->imm * b->imm
							    : (a->b->imm & b->imm));
	return new_node(p, op, a, b, NULL);
}

/* Constants of sums move out: (x + 8) + y is (x + y) + 8. */
static struct hi_expression_node *make_sum_node(struct hi_parser *p,
						struct hi_expression_node *a,
						struct hi_expression_node *b)
{
	uint64_t constant = 0;

	if (is_const(b))
		return make_simplified_node(p, HI_OP_ADD, a, b);
	if (is_sum(a)) {
		constant += a->b->imm;
		a = a->a;
	}
	if (is_sum(b)) {
		constant += b->b->imm;
		b = b->a;
	}
	return make_simplified_node(p, HI_OP_ADD,
				    make_simplified_node(p, HI_OP_ADD, a, b),
				    hi_node_leaf(p, HI_OP_CONST, constant));
}

struct hi_expression_node *hi_node_binary(struct hi_parser *p, enum hi_op op,
					  struct hi_expression_node *a,
					  struct hi_expression_node *b)
{
	if (is_commutative(op) && is_const(a) && !is_const(b)) {
		struct hi_expression_node *swap = a;

		a = b;
		b = swap;
	}
	if (op == HI_OP_SUB && is_const(b)) {
		op = HI_OP_ADD;
		b = hi_node_leaf(p, HI_OP_CONST, 0 - b->imm);
	}
	return op == HI_OP_ADD ? make_sum_node(p, a, b)
			       : make_simplified_node(p, op, a, b);
}

struct hi_expression_node *hi_node_binary_imm(struct hi_parser *p, enum hi_op op,
					      struct hi_expression_node *a, uint64_t b)
{
	return hi_node_binary(p, op, a, hi_node_leaf(p, HI_OP_CONST, b));
}

/* NOLINTEND(misc-no-recursion) */

static bool is_boolean(const struct hi_expression_node *node)
{
	return (node->op >= HI_OP_EQ && node->op <= HI_OP_LES) ||
	       node->op == HI_OP_BOTH || node->op == HI_OP_EITHER ||
	       (is_const(node) && node->imm <= 1);
}

/* The value is as it is wanted already. */
static bool value_fits_bits(const struct hi_expression_node *node, unsigned bits,
			    bool is_signed)
{
	unsigned has = 64u - node->right;

	if (is_boolean(node))
		return true;
	if (node->op != HI_OP_LOAD && node->op != HI_OP_EXTEND)
		return false;
	if (node->is_signed)
		return is_signed && has <= bits;
	return has < bits || (has == bits && !is_signed);
}

struct hi_expression_node *hi_node_extend(struct hi_parser *p,
					  struct hi_expression_node *a, unsigned bits,
					  bool is_signed)
{
	unsigned shift = 64 - bits;
	struct hi_expression_node *node;

	if (is_const(a))
		return hi_node_leaf(p, HI_OP_CONST,
				    hi_op_extract(a->imm, shift, shift, is_signed));
	if (bits >= 64 || value_fits_bits(a, bits, is_signed))
		return a;
	node = new_node(p, HI_OP_EXTEND, a, NULL, NULL);
	if (!p->no_memory) {
		node->left = node->right = (uint8_t)shift;
		node->is_signed = is_signed;
	}
	return node;
}

/* Calls itself once, for less. NOLINTNEXTLINE(misc-no-recursion) */
struct hi_expression_node *hi_node_load(struct hi_parser *p,
					struct hi_expression_node *addr, unsigned shift,
					unsigned bits, bool is_signed)
{
	uint64_t offset = is_sum(addr) ? addr->b->imm : 0;
	struct hi_expression_node *node, *high;

	if (shift + bits > 64) {
		/* A packed bit-field in nine bytes. */
		node = hi_node_load(p, addr, shift, 64 - shift, false);
		high = hi_node_load(p, hi_node_binary_imm(p, HI_OP_ADD, addr, 8), 0, 8,
				    false);
		high = hi_node_binary_imm(p, HI_OP_SHL, high, 64 - shift);
		return hi_node_extend(p, hi_node_binary(p, HI_OP_OR, node, high), bits,
				      is_signed);
	}
	node = new_node(p, HI_OP_LOAD, is_sum(addr) ? addr->a : addr, NULL, NULL);
	if (p->no_memory)
		return node;
	node->imm = offset;
	node->size = (uint8_t)((shift + bits + 7) / 8);
	node->left = (uint8_t)(64 - shift - bits);
	node->right = (uint8_t)(64 - bits);
	node->is_signed = is_signed;
	return node;
}

struct hi_expression_node *hi_node_usable(struct hi_parser *p,
					  struct hi_expression_node *a)
{
	return new_node(p, HI_OP_USABLE, a, NULL, NULL);
}

struct hi_expression_node *hi_node_truth(struct hi_parser *p,
					 struct hi_expression_node *a)
{
	return is_boolean(a) ? a : hi_node_binary_imm(p, HI_OP_NE, a, 0);
}

struct hi_expression_node *hi_node_logic(struct hi_parser *p, enum hi_op op,
					 struct hi_expression_node *a,
					 struct hi_expression_node *b)
{
	a = hi_node_truth(p, a);
	b = hi_node_truth(p, b);
	if (is_const(a))
		return (a->imm != 0) == (op == HI_OP_BOTH) ? b : a;
	return new_node(p, op, a, b, NULL);
}

struct hi_expression_node *hi_node_choose(struct hi_parser *p,
					  struct hi_expression_node *a,
					  struct hi_expression_node *b,
					  struct hi_expression_node *c)
{
	if (is_const(a))
		return a->imm ? b : c;
	return new_node(p, HI_OP_CHOOSE, a, b, c);
}

/* ---- as a sum of this, i and constants ---- */

struct linear {
	uint64_t self, index, constant; /* factors */
};

/* Depth: HI_EXPR_TREE_MAX. NOLINTNEXTLINE(misc-no-recursion) */
static bool add_linear_terms(const struct hi_expression_node *node, uint64_t factor,
			     struct linear *ret)
{
	switch (node->op) {
	case HI_OP_CONST:
		ret->constant += factor * node->imm;
		return true;
	case HI_OP_SELF:
		ret->self += factor;
		return true;
	case HI_OP_INDEX:
		ret->index += factor;
		return true;
	case HI_OP_ADD:
		return add_linear_terms(node->a, factor, ret) &&
		       add_linear_terms(node->b, factor, ret);
	case HI_OP_SUB:
		return add_linear_terms(node->a, factor, ret) &&
		       add_linear_terms(node->b, 0 - factor, ret);
	case HI_OP_MUL:
		return is_const(node->b) &&
		       add_linear_terms(node->a, factor * node->b->imm, ret);
	case HI_OP_SHL:
		return is_const(node->b) && node->b->imm < 64 &&
		       add_linear_terms(node->a, factor << node->b->imm, ret);
	default:
		return false;
	}
}

bool hi_node_is_static(const struct hi_expression_node *node, uint64_t *offset_ret,
		       uint64_t *stride_ret)
{
	struct linear sum = {};

	if (!add_linear_terms(node, 1, &sum) || sum.self != 1)
		return false;
	*offset_ret = sum.constant;
	*stride_ret = sum.index;
	return true;
}
