/* SPDX-License-Identifier: BSD-2-Clause */
/* From the tree to instructions of a stack machine. */
#include "decode/expressions/expression_internal.h"

#include <string.h>

#include "base/vector.h"

struct maker {
	struct HI_VECTOR(struct hi_insn) insns;
	unsigned depth, deepest;
	uint64_t keys;
	bool no_memory;
};

/* pushes: change of the number of values on the stack. */
static size_t emit_insn(struct maker *m, struct hi_insn insn, int pushes)
{
	if (!hi_vector_push(&m->insns, insn))
		m->no_memory = true;
	m->depth = (unsigned)((int)m->depth + pushes);
	if (m->depth > m->deepest)
		m->deepest = m->depth;
	return m->insns.count - 1;
}

static size_t emit_op(struct maker *m, unsigned op, uint64_t imm, int pushes)
{
	return emit_insn(m, (struct hi_insn){.op = (uint8_t)op, .imm = imm}, pushes);
}

/* The jump at `at` leads to what comes next. */
static void set_jump_target(struct maker *m, size_t at)
{
	if (!m->no_memory)
		m->insns.items[at].imm = m->insns.count;
}

/* Depth: HI_EXPR_TREE_MAX. NOLINTBEGIN(misc-no-recursion) */

static void make_node(struct maker *m, const struct hi_expression_node *node);

static void make_load(struct maker *m, const struct hi_expression_node *node)
{
	struct hi_insn insn = {.op = node->op,
			       .size = node->size,
			       .left = node->left,
			       .right = node->right,
			       .is_signed = node->is_signed,
			       .imm = node->imm};

	if (node->op == HI_OP_LOAD && node->a->op == HI_OP_SELF)
		insn.op = HI_OP_LOAD_SELF;
	else if (node->op == HI_OP_LOAD && node->a->op == HI_OP_DOLLAR)
		insn.op = HI_OP_LOAD_DOLLAR;
	else
		make_node(m, node->a);
	emit_insn(m, insn, insn.op == HI_OP_LOAD || insn.op == HI_OP_EXTEND ? 0 : 1);
}

static void make_logic(struct maker *m, const struct hi_expression_node *node)
{
	size_t jump;

	make_node(m, node->a);
	jump = emit_op(m, node->op == HI_OP_BOTH ? HI_OP_ZERO_ELSE : HI_OP_TRUTH_ELSE, 0,
		       -1);
	make_node(m, node->b);
	set_jump_target(m, jump);
}

static void make_choice(struct maker *m, const struct hi_expression_node *node)
{
	size_t other, end;

	make_node(m, node->a);
	other = emit_op(m, HI_OP_JUMP_ZERO, 0, -1);
	make_node(m, node->b);
	end = emit_op(m, HI_OP_JUMP, 0, -1);
	set_jump_target(m, other);
	make_node(m, node->c);
	set_jump_target(m, end);
}

static void make_binary(struct maker *m, const struct hi_expression_node *node)
{
	make_node(m, node->a);
	if (node->b->op == HI_OP_CONST) {
		emit_op(m, node->op | HI_OP_IMM, node->b->imm, 0);
		return;
	}
	make_node(m, node->b);
	emit_op(m, node->op, 0, -1);
}

static void make_node(struct maker *m, const struct hi_expression_node *node)
{
	switch (node->op) {
	case HI_OP_CONTEXT:
		m->keys |= 1ull << node->imm;
		[[fallthrough]];
	case HI_OP_CONST:
	case HI_OP_SELF:
	case HI_OP_DOLLAR:
	case HI_OP_INDEX:
		emit_op(m, node->op, node->imm, 1);
		break;
	case HI_OP_LOAD:
	case HI_OP_EXTEND:
		make_load(m, node);
		break;
	case HI_OP_USABLE:
		make_node(m, node->a);
		emit_op(m, HI_OP_USABLE, 0, 0);
		break;
	case HI_OP_BOTH:
	case HI_OP_EITHER:
		make_logic(m, node);
		break;
	case HI_OP_CHOOSE:
		make_choice(m, node);
		break;
	default:
		make_binary(m, node);
		break;
	}
}

/* NOLINTEND(misc-no-recursion) */

static struct hi_code *finish_code(struct hi_parser *p, struct maker *m,
				   struct hi_arena *arena)
{
	size_t bytes = m->insns.count * sizeof(struct hi_insn);
	struct hi_code *code;

	if (m->deepest > HI_CODE_STACK) {
		hi_expr_fail(p, 0, "too many nested operands");
		return NULL;
	}
	code = m->no_memory ? NULL : hi_arena_alloc(arena, sizeof(*code) + bytes);
	if (!code) {
		hi_expr_fail_memory(p);
		return NULL;
	}
	code->n_insns = (uint32_t)m->insns.count;
	code->keys = m->keys;
	memcpy(code->insns, m->insns.items, bytes);
	return code;
}

static struct hi_code *generate_code(struct hi_parser *p, const struct hi_value *v,
				     bool as_lvalue, struct hi_arena *arena)
{
	struct maker maker = {};
	hi_type_id type = hi_ctype_id(p, &v->type);
	struct hi_code *code;

	if (p->no_memory) {
		hi_expr_fail_memory(p);
		return NULL;
	}
	make_node(&maker, v->node);
	emit_op(&maker, HI_OP_END, 0, 0);
	code = finish_code(p, &maker, arena);
	hi_vector_free(&maker.insns);
	if (!code)
		return NULL;
	code->type = type;
	code->is_constant = v->node->op == HI_OP_CONST;
	code->value = code->is_constant ? v->node->imm : 0;
	code->is_static =
		as_lvalue && hi_node_is_static(v->node, &code->offset, &code->stride);
	return code;
}

static bool must_have_address(struct hi_parser *p, const struct hi_value *v)
{
	if (v->bit_size)
		return hi_expr_fail(p, v->column, "a bit-field has no address");
	return v->is_lvalue ||
	       hi_expr_fail(p, v->column, "this is a value: it has no address");
}

static bool parse_whole_expression(struct hi_parser *p, bool as_lvalue,
				   struct hi_value *v)
{
	if (p->length > HI_EXPR_LENGTH_MAX)
		return hi_expr_fail(p, HI_EXPR_LENGTH_MAX, "longer than %d bytes",
				    HI_EXPR_LENGTH_MAX);
	if (!hi_expr_seek(p, 0) || !hi_expr_parse(p, v))
		return false;
	if (p->no_memory)
		return hi_expr_fail_memory(p);
	if (p->too_deep)
		return hi_expr_fail(p, p->token.column, "more than %d nested operations",
				    HI_EXPR_TREE_MAX);
	if (p->token.kind != HI_TOKEN_END)
		return hi_expr_unexpected(p, "an operator or the end");
	return as_lvalue ? must_have_address(p, v) : hi_value_load(p, v, true);
}

/* NOLINTNEXTLINE(readability-function-size): the header's contract */
enum hi_status hi_code_compile(const char *text, size_t length,
			       const struct hi_scope *scope, bool as_lvalue,
			       struct hi_arena *arena, const struct hi_code **ret,
			       size_t *column_ret, struct hi_error *err)
{
	struct hi_parser p = {.text = text, .length = length, .scope = scope, .err = err};
	struct hi_code *code = NULL;
	struct hi_value v = {};

	if (parse_whole_expression(&p, as_lvalue, &v))
		code = generate_code(&p, &v, as_lvalue, arena);
	hi_arena_free(&p.scratch);
	if (p.no_memory && p.status == HI_OK)
		hi_expr_fail_memory(&p);
	if (p.status == HI_OK)
		*ret = code;
	else if (column_ret)
		*column_ret = p.error_column;
	return p.status;
}

hi_type_id hi_code_type(const struct hi_code *code)
{
	return code->type;
}

bool hi_code_is_static(const struct hi_code *code, uint64_t *offset_ret,
		       uint64_t *stride_ret)
{
	if (!code->is_static)
		return false;
	*offset_ret = code->offset;
	*stride_ret = code->stride;
	return true;
}

bool hi_code_is_constant(const struct hi_code *code, uint64_t *value_ret)
{
	if (!code->is_constant)
		return false;
	*value_ret = code->value;
	return true;
}

uint64_t hi_code_context_keys(const struct hi_code *code)
{
	return code->keys;
}
