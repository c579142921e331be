/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which functions of a module call which others directly, by a look at every byte of its
 * code: a call that is none (its bytes belong to something else) is possible, as all of
 * them are read again in their function. Addresses are the target's.
 */
#ifndef HI_DECODE_SITES_MODULE_CALLS_H
#define HI_DECODE_SITES_MODULE_CALLS_H

#include "base/vector.h"
#include "decode/modules/modules.h"

struct hi_called_function {
	uint64_t start, end; /* [start, end) */
	const char *symbol;  /* hostile */
};
/* The memory that the loader writes the address of a function of another module to. */
struct hi_import {
	uint64_t slot;
	const char *symbol; /* hostile */
};
/* The same, of a function of this module. */
struct hi_own_slot {
	uint64_t slot, function;
};
struct hi_direct_call {
	/* A function's start, or the slot of an import. */
	uint64_t target;
	uint32_t caller; /* index in functions */
};

struct hi_module_calls {
	struct hi_module *module;
	struct HI_VECTOR(struct hi_called_function) functions; /* by start */
	struct HI_VECTOR(struct hi_import) imports;	       /* by slot */
	struct HI_VECTOR(struct hi_own_slot) own_slots;	       /* by slot */
	struct HI_VECTOR(struct hi_direct_call) calls;	       /* by target */
	uint8_t *code;
	uint64_t code_start;
	size_t code_size;
};

/* Reads them. A module without section headers, without symbols, or with more than 128
 * MiB of code has none. HI_NO_MEMORY. Takes the lock of the modules. */
enum hi_status hi_module_calls_read(struct hi_module *module, struct hi_module_calls *ret,
				    struct hi_error *err);
void hi_module_calls_free(struct hi_module_calls *calls);
/* An address that is called, or memory that has one, as `target` of struct
 * hi_direct_call: stubs lead to the slot that they read, and slots of functions of the
 * module to these. 0: neither a function nor an
 * import. */
uint64_t hi_module_calls_target(const struct hi_module_calls *calls, uint64_t addr);
/* The symbol of such a target; NULL: none. */
const char *hi_module_calls_symbol(const struct hi_module_calls *calls, uint64_t target);
/* The calls of a target: *n_ret of them. */
const struct hi_direct_call *hi_module_calls_of(const struct hi_module_calls *calls,
						uint64_t target, size_t *n_ret);

#endif
