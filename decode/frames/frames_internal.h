/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Declarations that the files about frames share: rules of the call frame information,
 * the walk over a stack, facts about a pc. All of it under hi_modules_lock().
 */
#ifndef HI_DECODE_FRAMES_FRAMES_INTERNAL_H
#define HI_DECODE_FRAMES_FRAMES_INTERNAL_H

#include "base/arena.h"
#include "base/table.h"
#include "base/vector.h"
#include "decode/modules/dwfl.h"
#include "decode/frames/frames.h"
#include "decode/frames/locexpr.h"

/* Numbers of System V psABI x86-64, figure 3.36; 0..15 are the integer registers. */
enum {
	HI_DWARF_RBX = 3,
	HI_DWARF_RBP = 6,
	HI_DWARF_RSP = 7,
	HI_DWARF_R12 = 12,
	HI_DWARF_RIP = 16, /* the return address column */
	HI_DWARF_REGS = 17,
};

/* ---- rules (cfi.c) ---- */

enum hi_cfi_kind {
	HI_CFI_UNDEFINED,
	HI_CFI_SAME,
	HI_CFI_AT,	 /* in memory at cfa + offset */
	HI_CFI_VALUE,	 /* is cfa + offset */
	HI_CFI_REGISTER, /* is in register `offset` */
	HI_CFI_AT_EXPR,	 /* in memory at what ops yield */
	HI_CFI_VALUE_EXPR,
};

struct hi_cfi_rule {
	enum hi_cfi_kind kind;
	uint64_t offset;
	const Dwarf_Op *ops; /* only _EXPR; live until close */
	size_t n_ops;
};

/* How to leave a frame at one pc. */
struct hi_cfi_row {
	bool present; /* false: no CFI covers the pc */
	bool is_signal;
	bool cfa_is_expr;
	uint64_t cfa_reg;
	struct hi_cfi_rule cfa; /* offset, or ops */
	struct hi_cfi_rule regs[HI_DWARF_REGS];
};

/* ---- what is known of a pc ---- */

/* One variable that is live at a pc. */
struct hi_pc_variable {
	const char *name, *function;
	hi_type_id type;
	uint64_t size; /* of the type; 0 unknown */
	bool is_parameter;
	bool has_constant; /* no location: `constant` is its value */
	uint64_t constant;
	Dwarf_Attribute attr;
	const Dwarf_Op *ops;
	size_t n_ops;
};

struct hi_pc {
	uint64_t pc;		  /* as for look-ups */
	struct hi_module *module; /* NULL: none */
	bool is_code;		  /* in an executable mapping */
	struct hi_cfi_row row;
	bool scopes_read; /* what follows is filled in */
	const char *function;
	Dwarf_Attribute frame_base_attr;
	const Dwarf_Op *frame_base;
	size_t n_frame_base;
	struct hi_pc_variable *variables; /* owned */
	size_t n_variables;
};

/* ---- thread-local blocks (tls.c) ---- */

/* The place of each thread's block of a module. */
struct hi_tls_module {
	uint64_t size;
	uint64_t offset;     /* below the thread pointer; only id 0 */
	uint64_t id;	     /* number in the dtv; 0: the executable's static block */
	uint64_t generation; /* in which the id was given out; 0 unknown */
	uint32_t dtvp;	     /* offset of the dtv's address from the thread pointer */
	uint32_t value;	     /* offset of the block's address in a slot */
};

/* False: it has none, or libc has no descriptor of it. */
bool hi_tls_find_module(struct hi_modules *modules, struct hi_module *module,
			struct hi_tls_module *ret);
/* False: not allocated in this thread. */
bool hi_tls_find_block(struct hi_modules *modules, const struct hi_tls_module *tls,
		       const struct hi_thread *thread, uint64_t *start_ret);

/* Everything that is remembered between stacks of one image. The types keep it
 * (struct hi_types_companion). */
struct hi_frame_cache {
	struct hi_types *types;
	struct hi_modules *modules;
	const struct hi_image *image;
	struct hi_arena arena;
	struct hi_table pcs;	   /* look-up pc -> struct hi_pc * */
	struct hi_table units;	   /* module and offset of a unit -> its functions */
	struct hi_cfi_module *cfi; /* one a module */
	struct hi_scope_module *scopes;
	size_t n_modules;
	bool tls_read;
	struct HI_VECTOR(struct hi_tls_module) tls; /* of the modules that have any */
	uint64_t pthread_size;
};

/* HI_NO_MEMORY only. Valid until the cache is freed. */
enum hi_status hi_frame_cache_pc(struct hi_frame_cache *cache, uint64_t pc,
				 struct hi_pc **ret, struct hi_error *err);
/* Tables of one entry a module; HI_NO_MEMORY. hi_cfi_free() also on failure. */
enum hi_status hi_cfi_init(struct hi_frame_cache *cache, struct hi_error *err);
void hi_cfi_free(struct hi_frame_cache *cache);
/* Fills in row; leaves present false where there is none. */
void hi_cfi_read(struct hi_frame_cache *cache, struct hi_pc *pc);
/* Fills in function and variables, once. HI_NO_MEMORY only. */
enum hi_status hi_scopes_read(struct hi_frame_cache *cache, struct hi_pc *pc,
			      struct hi_error *err);
enum hi_status hi_scopes_init(struct hi_frame_cache *cache, struct hi_error *err);
void hi_scopes_free(struct hi_frame_cache *cache);

/* ---- the walk (unwind.c) ---- */

struct hi_frame_regs {
	uint64_t value[HI_DWARF_REGS];
	uint64_t saved_at[HI_DWARF_REGS]; /* target address; 0: nowhere in memory */
	uint32_t known;			  /* bit n: value[n] is known */
	uint32_t in_thread; /* bit n: it still is in the thread's own register n */
};

struct hi_unwound {
	struct hi_pc *pc;
	uint64_t cfa; /* 0 unknown */
	bool is_signal;
	struct hi_frame_regs regs;
};

struct hi_unwind {
	struct hi_frame_cache *cache;
	/* A copy of the stretch of stack that was read last. */
	const uint8_t *window;
	uint64_t window_start, window_size;
	struct HI_VECTOR(struct hi_unwound) frames;
	bool truncated;
};

/* All of size bytes at a target address, by the window. False: unreadable. */
bool hi_unwind_read(struct hi_unwind *unwind, uint64_t addr, void *buf, size_t size);
/* Fills frames; at least one. HI_NO_MEMORY only. The caller frees frames. */
enum hi_status hi_unwind_thread(struct hi_unwind *unwind, const struct hi_thread *thread,
				struct hi_error *err);

/* ---- variables of a frame (locals.c) ---- */

enum { HI_LOCALS_MAX = 200000 }; /* of one stack */

struct hi_locals {
	struct HI_VECTOR(struct hi_local) all;
	bool truncated;
	uint64_t thread_registers; /* as registers_in_locals of struct hi_stack */
};

/* Adds the variables of frames[i]. HI_NO_MEMORY only. */
enum hi_status hi_locals_read(struct hi_unwind *unwind, size_t i,
			      struct hi_locals *locals, struct hi_error *err);

/* ---- the extent of a stack (stack_range.c) ---- */

/* Fills in low, high, tls_low, tls_high and the alternate stack. HI_NO_MEMORY only. */
enum hi_status hi_stack_find_range(struct hi_unwind *unwind,
				   const struct hi_thread *thread, struct hi_stack *stack,
				   struct hi_error *err);

#endif
