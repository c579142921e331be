/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * C expressions over a target: parsed, checked against its types, compiled to
 * a small stack program, run on an image.
 *
 *	primary   42 0x1f 'c' NAME ns::Class<int>::instance $ i this NULL true (expr)
 *	postfix   e.f  e->f  e[i]
 *	unary     * & - + ~ !  (TYPE)e  sizeof(TYPE)  sizeof e
 *	binary    * / % + - << >> < <= > >= == != & ^ | && || ?:
 *	functions align4(e) align8(e) u8(e) u16(e) u32(e) u64(e) (loads at address e),
 *	          usable(e): bytes from address e to the end of the block there; 0: none
 *
 * as in C: promotions, conversions and signs, pointer arithmetic in elements, bit-fields,
 * arrays decay, `f` and `&f` of a function are its address. If int would overflow the
 * value has 64 bits: 1 << 40 is 2 to the power of 40. A literal is typed as in C; so is a
 * constant (int if it fits, else long); i is a long. As in C++, members of `this` are
 * names, base classes are searched, references are what they refer to (but the lvalue of
 * a reference is its own word). No assignment, no call, no floating-point. Nothing
 * recurses over the target; the depth of an expression is bounded (64), so are its length
 * and its program.
 *
 * Note [Users of expressions]
 *
 * One compiler for all, each user with its scope: what `this` is, and a mask of the
 * other operands (hi_scope.allowed).
 *
 *	user                               `this`      allowed
 *	hints: pointer slot of a rule      the record  INDEX where it loops
 *	hints: first and last of a loop    the record  -
 *	hints: the rest of a rule          the record  DOLLAR, INDEX where it loops
 *	hints: refinements                 the record  DOLLAR: its address
 *	hints: targets by context          none        DOLLAR
 *	--root NAME=EXPR                   none        -
 *	--retainer TYPE.field              the record  -
 *
 * Two languages have a parser of their own. Conditions of --at (probes/condition.h) are
 * comparisons of one chain of loads with a number, joined by `&&`: what the BPF program
 * can evaluate; their operands are arguments in registers. Gates
 * (report/reports/check/gate.h) compute with figures of a report, in floating-point and
 * with units; report/ may not include decode/.
 */
#ifndef HI_DECODE_EXPRESSIONS_EXPRESSION_H
#define HI_DECODE_EXPRESSIONS_EXPRESSION_H

#include "base/arena.h"
#include "decode/types/types.h"

/* Context: a value for each key, then one bit for each key that has a value. */
enum { HI_CONTEXT_KEYS = 16, HI_CONTEXT_WORDS = HI_CONTEXT_KEYS + 1 };
static inline bool hi_context_has(const uint64_t *context, uint64_t key)
{
	return context && context[HI_CONTEXT_KEYS] >> key & 1;
}
/* Sets the value of a context key; key is below HI_CONTEXT_KEYS. */
static inline void hi_context_set(uint64_t *context, uint64_t key, uint64_t value)
{
	context[key] = value;
	context[HI_CONTEXT_KEYS] |= 1ull << key;
}
/* Removes the value of a context key. */
static inline void hi_context_clear(uint64_t *context, uint64_t key)
{
	context[key] = 0;
	context[HI_CONTEXT_KEYS] &= ~(1ull << key);
}

/* The meaning of a name that is no member of `self`. Exactly one kind. */
enum hi_name_kind {
	HI_NAME_NONE,
	HI_NAME_CONSTANT, /* value, signed */
	HI_NAME_CONTEXT,  /* value: index of the key; type: of what it holds */
	HI_NAME_VARIABLE, /* value: address of an object of `type` in memory */
	HI_NAME_FUNCTION, /* value: address of code */
};
struct hi_name {
	enum hi_name_kind kind;
	uint64_t value;
	hi_type_id type; /* VARIABLE, CONTEXT; 0: 64-bit unsigned integer */
};

/* The source of types and names; tests draw their own. */
struct hi_expression_source {
	void *arg;
	const struct hi_type *(*type)(void *arg, hi_type_id id); /* as hi_type_get */
	/* By readable name ("struct dict", "unsigned long"); 0 unknown. */
	hi_type_id (*type_named)(void *arg, const char *name);
	hi_type_id (*pointer_to)(void *arg, hi_type_id id);
	struct hi_name (*name)(void *arg, const char *name);
	/* Names of variables, for messages; false of fn stops. May be NULL. */
	void (*each_name)(void *arg, bool (*fn)(void *fn_arg, const char *name),
			  void *fn_arg);
};
/* Operands that an expression may have beside names, numbers and `this`. */
enum hi_expression_operand {
	HI_ALLOW_NONE = 0,
	HI_ALLOW_DOLLAR = 1, /* `$` */
	HI_ALLOW_INDEX = 2,  /* `i`; hides a member of this name */
};
struct hi_scope {
	const struct hi_expression_source *source;
	hi_type_id self;   /* its members are names, as in a C++ method; `this` is a
			    * pointer to it; 0: none */
	hi_type_id dollar; /* type of `$`; 0: `void *` */
	unsigned allowed;  /* mask of enum hi_expression_operand */
};

struct hi_code; /* lives in the arena */

/*
 * Compiles text[0 .. length). HI_BAD_DATA, and HI_NOT_FOUND for an unknown name:
 * *column_ret (may be NULL; from 0) is the place of the fault and err has what was
 * expected or found ("struct dict has no member 'ht_tabel'; it has 'ht_table'").
 * as_lvalue: must have an address.
 */
enum hi_status hi_code_compile(const char *text, size_t length,
			       const struct hi_scope *scope, bool as_lvalue,
			       struct hi_arena *arena, const struct hi_code **ret,
			       size_t *column_ret, struct hi_error *err);

/* Returns the type of the expression's value (or lvalue); 0: a plain integer. */
hi_type_id hi_code_type(const struct hi_code *code);
/* An lvalue at a fixed distance from `this`, known without looking at memory;
 * an index `i` counts as 0, and *stride_ret is the bytes that it adds per step. */
bool hi_code_is_static(const struct hi_code *code, uint64_t *offset_ret,
		       uint64_t *stride_ret);
/* The value needs nothing but constants. */
bool hi_code_is_constant(const struct hi_code *code, uint64_t *value_ret);
/* Bit per context key that it mentions. */
uint64_t hi_code_context_keys(const struct hi_code *code);

struct hi_code_input {
	void *arg;
	/* False: unreadable. size <= 8. */
	bool (*read)(void *arg, uint64_t addr, void *buf, size_t size);
	uint64_t (*usable)(void *arg, uint64_t addr); /* may be NULL */
	uint64_t self, dollar, index;
	const uint64_t *context; /* HI_CONTEXT_WORDS, or NULL: no key has a value */
	/* Memory that needs no read(): [start, start + size); size 0: none. */
	struct {
		const uint8_t *host;
		uint64_t start, size;
	} at_hand;
};
/* The value, or the address of an lvalue. False: memory is unreadable, a context key
 * has no value, or a division by 0. Thread-safe; no allocation. */
bool hi_code_run(const struct hi_code *code, const struct hi_code_input *in,
		 uint64_t *ret);

#endif
