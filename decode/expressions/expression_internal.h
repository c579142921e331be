/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Declarations that the files of the expression compiler share.
 *
 *	expression_lex.c	text to tokens
 *	expression_type.c	C types, names of types, members of records
 *	expression_node.c	the tree: constants fold, offsets of loads add up
 *	expression_value.c	conversions and operators of C, with their checks
 *	expression_parse.c	the grammar
 *	expression_code.c	tree to instructions, hi_code_compile
 *	expression_run.c	the machine
 */
#ifndef HI_DECODE_EXPRESSIONS_EXPRESSION_INTERNAL_H
#define HI_DECODE_EXPRESSIONS_EXPRESSION_INTERNAL_H

#include "decode/expressions/expression.h"

enum {
	HI_EXPR_LENGTH_MAX = 8192, /* bytes of text */
	HI_EXPR_DEPTH_MAX = 64,	   /* of parentheses, indices, unary operators */
	HI_EXPR_TREE_MAX = 512,	   /* of the tree: a long sum is a deep one */
	HI_CODE_STACK = 64,	   /* values that wait for their operator */
};

/* ---- operations: of nodes and of instructions ---- */

/* In 64 bits, on a and b. No undefined case. */
#define HI_BINARY_OPS(X)                                                                 \
	X(ADD, a + b)                                                                    \
	X(SUB, a - b)                                                                    \
	X(MUL, a *b)                                                                     \
	X(AND, a &b)                                                                     \
	X(OR, a | b)                                                                     \
	X(XOR, a ^ b)                                                                    \
	X(SHL, b < 64 ? a << b : 0)                                                      \
	X(SHRU, b < 64 ? a >> b : 0)                                                     \
	X(SHRS, (uint64_t)((int64_t)a >> (b < 63 ? b : 63)))                             \
	X(EQ, a == b)                                                                    \
	X(NE, a != b)                                                                    \
	X(LTU, a < b)                                                                    \
	X(LEU, a <= b)                                                                   \
	X(LTS, (int64_t)a < (int64_t)b)                                                  \
	X(LES, (int64_t)a <= (int64_t)b)

enum hi_op {
#define HI_OP_ENUM(name, value) HI_OP_##name,
	HI_BINARY_OPS(HI_OP_ENUM)
#undef HI_OP_ENUM
		HI_OP_DIVU, /* these four fail where b is 0 */
	HI_OP_DIVS,
	HI_OP_MODU,
	HI_OP_MODS,
	HI_OP_BINARY_END,

	HI_OP_CONST, /* imm */
	HI_OP_SELF,
	HI_OP_DOLLAR,
	HI_OP_INDEX,
	HI_OP_CONTEXT, /* key imm */
	HI_OP_LOAD,    /* at a + imm */
	HI_OP_EXTEND,  /* a */
	HI_OP_USABLE,  /* a */
	/* nodes only */
	HI_OP_BOTH,   /* a && b */
	HI_OP_EITHER, /* a || b */
	HI_OP_CHOOSE, /* a ? b : c */
	/* instructions only */
	HI_OP_LOAD_SELF,
	HI_OP_LOAD_DOLLAR,
	HI_OP_JUMP,	  /* to imm */
	HI_OP_JUMP_ZERO,  /* takes the value */
	HI_OP_ZERO_ELSE,  /* jumps and keeps the value, else takes it */
	HI_OP_TRUTH_ELSE, /* the same for values that are not 0 */
	HI_OP_END,

	HI_OP_IMM = 0x80, /* flag of binary instructions: b is imm */
};

/* LOAD and EXTEND take the value's bits by value << left >> right. */
struct hi_insn {
	uint8_t op, size, left, right;
	bool is_signed;
	uint64_t imm;
};

struct hi_code {
	hi_type_id type;
	uint32_t n_insns;
	bool is_static, is_constant;
	uint64_t offset, stride, value, keys;
	struct hi_insn insns[];
};

struct hi_expression_node {
	uint8_t op, size, left, right;
	bool is_signed;
	uint16_t depth;
	uint64_t imm;
	struct hi_expression_node *a, *b, *c;
};

/* False: division by 0. */
bool hi_op_divide(unsigned op, uint64_t a, uint64_t b, uint64_t *ret);
static inline uint64_t hi_op_extract(uint64_t value, unsigned left, unsigned right,
				     bool is_signed)
{
	value <<= left;
	return is_signed ? (uint64_t)((int64_t)value >> right) : value >> right;
}

/* ---- C types ---- */

/* By value. Integers, characters, enumerations and uintptr_t are INTEGER. */
struct hi_ctype {
	enum hi_type_kind kind;
	uint8_t size; /* INTEGER: 1 to 8 */
	bool is_signed, is_bool;
	uint8_t builtin;	    /* a C type by its keywords, see expression_type.c */
	const struct hi_type *type; /* NULL: made here */
	const struct hi_ctype *to;  /* POINTER made here; NULL: type->target */
};

/* A value, or an object: then node is its address. */
struct hi_value {
	struct hi_expression_node *node;
	struct hi_ctype type;
	bool is_lvalue;
	uint16_t bit_size;  /* bit-field; 0: none */
	uint8_t bit_offset; /* of it */
	size_t column;
};

/* ---- the compiler's state ---- */

enum hi_token_kind { HI_TOKEN_END, HI_TOKEN_NAME, HI_TOKEN_NUMBER, HI_TOKEN_MARK };

/* Marks of up to two bytes as one number. */
#define HI_MARK(a, b) ((uint32_t)(a) | (uint32_t)(b) << 8)

struct hi_token {
	enum hi_token_kind kind;
	size_t column, length;
	uint32_t mark;
	uint64_t number;
	uint8_t size; /* of a number's type: 4 or 8 */
	bool is_signed;
};

struct hi_parser {
	const char *text;
	size_t length;
	struct hi_token token; /* the one to look at */
	const struct hi_scope *scope;
	struct hi_arena scratch; /* nodes, types: freed with the parser */
	unsigned depth;
	bool no_memory, too_deep;
	size_t error_column;
	enum hi_status status;
	struct hi_error *err;
};

/* Records the error unless there is one already. Returns false. */
bool hi_expr_fail(struct hi_parser *p, size_t column, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* The same for an allocation that failed. */
bool hi_expr_fail_memory(struct hi_parser *p);

/* ---- expression_lex.c ---- */
/* The token at or after `at`; false after an error. */
bool hi_expr_seek(struct hi_parser *p, size_t at);
/* Goes on to the next token. False after an error. */
bool hi_expr_next(struct hi_parser *p);
static inline bool hi_expr_is(const struct hi_parser *p, uint32_t mark)
{
	return p->token.kind == HI_TOKEN_MARK && p->token.mark == mark;
}
/* Takes the mark or fails: "expected ')', found 'x'". */
bool hi_expr_expect(struct hi_parser *p, uint32_t mark, const char *spelling);
/* Fails with "expected ..., found ...". Returns false. */
bool hi_expr_unexpected(struct hi_parser *p, const char *expected);
/* End of the name at `at`, "ns::Class<a, b>::name"; with_args false: no "<". */
size_t hi_expr_name_end(const struct hi_parser *p, size_t at, bool with_args);
/* True: the token is this name. */
bool hi_expr_is_word(const struct hi_parser *p, const char *word);
/* text[at .. end) as a string of the scratch arena; NULL: no memory. */
char *hi_expr_copy(struct hi_parser *p, size_t at, size_t end);

/* ---- expression_type.c ---- */
/* The type with this id, by value. Kind UNKNOWN: none, or an integer or pointer of more
 * than 8 bytes. */
struct hi_ctype hi_ctype_of(struct hi_parser *p, hi_type_id id);
struct hi_ctype hi_ctype_integer(unsigned size, bool is_signed);
/* `T *`. */
struct hi_ctype hi_ctype_pointer_to(struct hi_parser *p, struct hi_ctype to);
/* Returns the type that a pointer points at or an array consists of. */
struct hi_ctype hi_ctype_target(struct hi_parser *p, const struct hi_ctype *type);
bool hi_ctype_is_reference(const struct hi_ctype *type);
/* 0: not known, or nothing that has a size. */
uint64_t hi_ctype_size(const struct hi_ctype *type);
/* The id of the type of the target that it is; 0: none, a plain integer. */
hi_type_id hi_ctype_id(struct hi_parser *p, const struct hi_ctype *type);
enum { HI_CTYPE_NAME = 72 };
/* For messages: escaped and cut. Returns out. */
const char *hi_ctype_name(struct hi_parser *p, const struct hi_ctype *type,
			  char out[HI_CTYPE_NAME]);
/*
 * A type's name at `at` that ends in ")". *found_ret: there is one (else nothing
 * happened); then the token is the one after ")". False after an error.
 */
bool hi_expr_type(struct hi_parser *p, size_t at, struct hi_ctype *ret, bool *found_ret);

/* ---- expression_member.c ---- */
struct hi_found_member {
	struct hi_member member;
	uint64_t offset; /* from the start of the record that was searched */
	bool ambiguous;
};
/* As C and C++ find it: in anonymous members too, then in base classes. */
bool hi_expr_member(struct hi_parser *p, const struct hi_type *record, const char *name,
		    size_t length, struct hi_found_member *ret);
/* A static member of the record or its bases, with a known value. */
bool hi_expr_constant(struct hi_parser *p, const struct hi_type *record, const char *name,
		      size_t length, int64_t *ret);
enum { HI_NEAREST = 120 };
/* "; near it: 'NAME'" of the variables of the source, "" where none is near. */
const char *hi_expr_near_variable(struct hi_parser *p, const char *name, size_t length,
				  char out[HI_NEAREST]);
/* "'ht_table'", or "'a', 'b', 'c', ..." if none is near, or "no members". */
const char *hi_expr_nearest(struct hi_parser *p, const struct hi_type *record,
			    const char *name, size_t length, char out[HI_NEAREST]);

/* ---- expression_node.c ---- Never NULL; failures are in p->no_memory and p->too_deep.
 */
struct hi_expression_node *hi_node_leaf(struct hi_parser *p, enum hi_op op, uint64_t imm);
struct hi_expression_node *hi_node_binary(struct hi_parser *p, enum hi_op op,
					  struct hi_expression_node *a,
					  struct hi_expression_node *b);
struct hi_expression_node *hi_node_binary_imm(struct hi_parser *p, enum hi_op op,
					      struct hi_expression_node *a, uint64_t b);
/* The low bits of a value; of a load at addr, those from `shift` on. */
struct hi_expression_node *hi_node_extend(struct hi_parser *p,
					  struct hi_expression_node *a, unsigned bits,
					  bool is_signed);
struct hi_expression_node *hi_node_load(struct hi_parser *p,
					struct hi_expression_node *addr, unsigned shift,
					unsigned bits, bool is_signed);
/* Bytes of the block that starts at a, from there. */
struct hi_expression_node *hi_node_usable(struct hi_parser *p,
					  struct hi_expression_node *a);
struct hi_expression_node *hi_node_truth(struct hi_parser *p,
					 struct hi_expression_node *a); /* 0 or 1 */
struct hi_expression_node *hi_node_logic(struct hi_parser *p, enum hi_op op,
					 struct hi_expression_node *a,
					 struct hi_expression_node *b);
/* a ? b : c. */
struct hi_expression_node *hi_node_choose(struct hi_parser *p,
					  struct hi_expression_node *a,
					  struct hi_expression_node *b,
					  struct hi_expression_node *c);
/* node = this + *offset_ret + i * *stride_ret. */
bool hi_node_is_static(const struct hi_expression_node *node, uint64_t *offset_ret,
		       uint64_t *stride_ret);

/* ---- expression_value.c ---- False after an error; *v is changed in place. */
/* From object to value: loads, arrays and functions become pointers. References
 * become what they refer to; keep_reference: those to records become pointers. */
bool hi_value_load(struct hi_parser *p, struct hi_value *v, bool keep_reference);
bool hi_value_binary(struct hi_parser *p, const struct hi_token *operator,
		     struct hi_value * a, struct hi_value *b);
/* ! - + ~ * & */
bool hi_value_unary(struct hi_parser *p, const struct hi_token *operator,
		    struct hi_value * v);
/* *condition becomes condition ? b : c. */
bool hi_value_choose(struct hi_parser *p, struct hi_value *condition, struct hi_value *b,
		     struct hi_value *c);
/* (TYPE)v. */
bool hi_value_cast(struct hi_parser *p, const struct hi_ctype *to, struct hi_value *v);
/* v[index]. */
bool hi_value_index(struct hi_parser *p, struct hi_value *v, struct hi_value *index);
/* v.NAME, or v->NAME with arrow: NAME is text[column .. column + length). */
bool hi_value_member(struct hi_parser *p, struct hi_value *v, bool arrow, size_t column,
		     size_t length);
/* sizeof v. */
bool hi_value_size(struct hi_parser *p, const struct hi_value *v, uint64_t *ret);
/* The member of the record at `addr` becomes *ret. */
void hi_value_of_member(struct hi_parser *p, struct hi_expression_node *addr,
			const struct hi_found_member *found, struct hi_value *ret);

/* ---- expression_parse.c ---- */
/* Parses an expression from the current token on. False after an error. */
bool hi_expr_parse(struct hi_parser *p, struct hi_value *ret);

#endif
