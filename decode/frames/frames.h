/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads as frames with variables: unwinding over the image by .eh_frame and
 * .debug_frame, variables by location lists; thread-local blocks. Bounded: at
 * most HI_FRAMES_MAX frames a thread, cycles end the walk.
 */
#ifndef HI_DECODE_FRAMES_FRAMES_H
#define HI_DECODE_FRAMES_FRAMES_H

#include "base/cleanup.h"
#include "decode/types/types.h"

enum { HI_FRAMES_MAX = 4096 };

struct hi_frame {
	uint64_t pc;	      /* as for look-ups: call sites are pc - 1 already */
	uint64_t cfa;	      /* canonical frame address; 0 unknown */
	uint64_t sp;	      /* stack pointer in this frame */
	const char *function; /* source name, else symbol, else NULL; hostile */
	struct hi_module *module;
};

/*
 * A variable that is live at the frame's pc. Not those with static storage: see
 * types.h. A variable of an outer frame in a register that an inner frame has
 * saved is in_memory, where it was saved. A variable in pieces is one local by
 * value up to 64 bytes; of a larger one each piece in memory is a local of type 0.
 */
struct hi_local {
	uint32_t frame;	      /* index in the stack */
	const char *name;     /* hostile */
	const char *function; /* the inlined one it belongs to, else the frame's */
	hi_type_id type;
	bool is_parameter;
	bool in_memory;	  /* else its bytes are in `value` (register, piece, constant) */
	uint64_t address; /* only in_memory */
	uint64_t size;
	uint8_t value[64];   /* only !in_memory; first min(size, 64) bytes */
	uint64_t value_mask; /* only !in_memory: bit i set = byte i is known */
};

struct hi_stack {
	uint32_t thread;	 /* index into image->threads */
	struct hi_frame *frames; /* [0] is the innermost */
	size_t n_frames;
	struct hi_local *locals; /* by frame */
	size_t n_locals;
	uint64_t low,
		high; /* used stack: [sp - 128, end of its mapping or of the stack) */
	uint64_t tls_low,
		tls_high; /* TLS block and TCB at the stack's end; 0,0: elsewhere */
	/* The stack that sp is on, where that is not the thread's own (signal handlers
	 * on an alternate stack, coroutines); 0,0 otherwise. low and high then are of
	 * the thread's own stack. See Note [Which stack a thread is on]. */
	uint64_t alt_low, alt_high;
	bool truncated;		      /* unwinding stopped before the outermost frame */
	bool locals_truncated;	      /* there were more variables than HI_LOCALS_MAX */
	uint64_t registers_in_locals; /* bit per user_regs_struct word (r15=0 … gs=26)
					 that a live variable covers: of the innermost
					 frame, or of an outer one in a register that was
					 not saved */
};

/* The stack of one thread. HI_OK also for a stack that cannot be unwound: one
 * frame, truncated. */
enum hi_status hi_stack_read(struct hi_types *types, const struct hi_image *image,
			     uint32_t thread, struct hi_stack **ret,
			     struct hi_error *err);
/* stack may be NULL. */
void hi_stack_destroy(struct hi_stack *stack);
HI_DEFINE_GUARD(struct hi_stack *, hi_stack_destroy)

/* Finds module's TLS block of a thread; HI_NOT_FOUND: none or not allocated. */
enum hi_status hi_tls_block(struct hi_modules *modules, const struct hi_image *image,
			    struct hi_module *module, uint32_t thread,
			    uint64_t *start_ret, uint64_t *size_ret,
			    struct hi_error *err);

#endif
