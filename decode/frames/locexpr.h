/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DWARF expressions, evaluated: where a variable is, what a CFI rule yields. A stack
 * machine of our own, so that a hostile expression ends: at most 64 deep, 10,000
 * operations, 16 pieces. It is independent of frames; values of them come through `struct
 * hi_loc_env`.
 *
 * Operands come as libdw decoded them (Dwarf_Op). Source: DWARF 5, 2.5 and 2.6.
 * Not supported (HI_UNSUPPORTED): floating-point arithmetic, DW_OP_call*, address
 * spaces, vendor operations other than the GNU forms of DWARF 5 ones.
 */
#ifndef HI_DECODE_FRAMES_LOCEXPR_H
#define HI_DECODE_FRAMES_LOCEXPR_H

#include <elfutils/libdw.h>

#include "base/error.h"

enum {
	HI_LOC_STACK_MAX = 64,
	HI_LOC_STEPS_MAX = 10000,
	HI_LOC_PIECES_MAX = 16,
};

enum hi_loc_kind {
	HI_LOC_GONE,	 /* optimised out, or not recoverable */
	HI_LOC_MEMORY,	 /* at target address `value` */
	HI_LOC_REGISTER, /* in DWARF register `value` */
	HI_LOC_VALUE,	 /* it is nowhere, but its value is `value` */
	HI_LOC_BYTES,	 /* it is nowhere, but its bytes are `bytes` */
};

struct hi_loc_piece {
	enum hi_loc_kind kind;
	uint64_t value;
	const uint8_t *bytes; /* only BYTES; borrowed from the DWARF */
	size_t n_bytes;
	uint64_t bit_size;   /* 0: all of the variable */
	uint64_t bit_offset; /* in the location, of DW_OP_bit_piece */
};

struct hi_loc {
	struct hi_loc_piece pieces[HI_LOC_PIECES_MAX];
	size_t n_pieces; /* >= 1; 1 with bit_size 0: a plain location */
};

/* Callbacks of an expression. Any function may be NULL: not available. False: the
 * value is not known. */
struct hi_loc_env {
	void *arg;
	bool (*reg)(void *arg, uint64_t regno, uint64_t *ret);
	/* All of size bytes (<= 8) at a target address. */
	bool (*read)(void *arg, uint64_t addr, void *buf, size_t size);
	bool (*frame_base)(void *arg, uint64_t *ret);
	bool (*cfa)(void *arg, uint64_t *ret);
	bool (*tls)(void *arg, uint64_t offset, uint64_t *ret);
	/* The value of `regno` when the function was entered. */
	bool (*entry_reg)(void *arg, uint64_t regno, uint64_t *ret);
	uint64_t bias; /* of DW_OP_addr */
	/* The attribute of dwarf_getlocation; NULL: operations that need it (constants in
	 * blocks, typed values, entry values) are HI_UNSUPPORTED. */
	Dwarf_Attribute *attr;
};

/*
 * HI_NOT_FOUND: needs something that is not known (optimised out); HI_FAULT: it
 * reads unreadable memory; HI_BAD_DATA: malformed; HI_LIMIT: too long. No
 * operations at all is a location of kind GONE.
 */
enum hi_status hi_loc_eval(const Dwarf_Op *ops, size_t n_ops,
			   const struct hi_loc_env *env, struct hi_loc *ret,
			   struct hi_error *err);
/* The one value that an expression computes: of a memory location its address, of
 * a register its contents. HI_NOT_FOUND for pieces and bytes. */
enum hi_status hi_loc_eval_value(const Dwarf_Op *ops, size_t n_ops,
				 const struct hi_loc_env *env, uint64_t *ret,
				 struct hi_error *err);

#endif
