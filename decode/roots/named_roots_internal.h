/* SPDX-License-Identifier: BSD-2-Clause */
/* Named roots, compiled (named_roots.c) and evaluated (named_roots_find.c). */
#ifndef HI_DECODE_ROOTS_NAMED_ROOTS_INTERNAL_H
#define HI_DECODE_ROOTS_NAMED_ROOTS_INTERNAL_H

#include "base/vector.h"
#include "decode/expressions/expression_names.h"
#include "decode/roots/named_roots.h"

/* The value of an expression's code. */
enum hi_root_value {
	HI_ROOT_POINTER, /* the pointer */
	HI_ROOT_WORD,	 /* the address of a pointer */
	HI_ROOT_PLACE,	 /* the address of a record or an array */
};

struct hi_root_code {
	const struct hi_code *code;
	enum hi_root_value value;
	hi_type_id target; /* what lies where it leads to; 0 unknown */
	uint64_t size;	   /* PLACE without a type: bytes of the symbol */
};

/*
 * Variables in registers have no address. They get one above user space: local i of all
 * stacks that were read is at HI_LOCAL_BASE + i * HI_LOCAL_STRIDE.
 */
#define HI_LOCAL_BASE ((uint64_t)1 << 62)
enum { HI_LOCAL_STRIDE = 4096 };
/* Bytes of a variable that are read, at most. */
#define HI_ROOT_BYTES ((uint64_t)1 << 32)
/* Nothing is mapped below. */
enum { HI_ROOT_NULL_PAGE = 4096 };

struct hi_named_roots_private {
	const struct hi_image *image;
	struct hi_modules *modules;
	struct hi_types *types;
	struct hi_expression_names names;
	struct hi_expression_source source;	  /* of `names` */
	struct hi_stack **stacks;		  /* by thread; NULL: not read */
	struct HI_VECTOR(struct hi_local) values; /* locals without an address */
	struct hi_root_code *codes;		  /* by root */
	struct hi_arena arena;
};

/* One expression that is compiled. */
struct hi_root_compiling {
	struct hi_named_roots_private *p;
	const char *text;
	size_t column; /* of the error */
	bool in_thread;
	uint32_t thread; /* index */
	uint32_t frame;	 /* UINT32_MAX: all */
	bool no_memory;
};

/* ---- named_roots.c ---- */
/* Compiles an expression and classifies it by its type. HI_USAGE: nothing that leads to
 * objects. */
enum hi_status hi_root_compile(const char *text, const struct hi_scope *scope,
			       struct hi_types *types, struct hi_arena *arena,
			       struct hi_root_code *ret, size_t *column_ret,
			       struct hi_error *err);

/* ---- named_roots_names.c ---- */
/* Takes "thread:TID/frame:K/" off the text: the expression begins at *at_ret.
 * HI_USAGE: wrong at c->column. */
enum hi_status hi_root_prefix(struct hi_root_compiling *c, size_t *at_ret,
			      struct hi_error *err);
struct hi_expression_source hi_root_source(struct hi_root_compiling *c);
/* "; frame 2 is worker with job, n", where a frame is meant; else "". */
void hi_root_list_locals(const struct hi_root_compiling *c, char *out, size_t size);

/* ---- named_roots_find.c ---- */
/* One root, or one field of one object, that is evaluated. */
struct hi_root_finding {
	struct hi_named_roots_private *p;
	struct hi_typing *typing;
	const struct hi_graph *graph;
	uint64_t self; /* `this` */
	struct HI_VECTOR(hi_node) starts;
	uint64_t address;
	const char *warning;
	bool inside; /* a record in an object leads to what its words refer to */
	/* Private: */
	uint64_t base;	  /* of the words at hand */
	uint64_t refused; /* the last address that could not be read */
	bool refused_any;
	bool no_memory;
};
/* Adds the objects to f->starts, in any order, some more than once. */
void hi_root_find(struct hi_root_finding *f, const struct hi_root_code *code);

/* Bytes of the target, or of a local without an address. */
bool hi_named_roots_read(const struct hi_named_roots_private *p, uint64_t addr, void *buf,
			 size_t size);
/* The bytes of a local without an address; NULL: it is none. */
const struct hi_local *hi_named_roots_local(const struct hi_named_roots_private *p,
					    uint64_t addr);

#endif
