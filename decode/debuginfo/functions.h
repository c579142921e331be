/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Code of a module by symbols, names and lines: for those who look for places to
 * stop at. By the files alone; nothing of it needs a frozen image.
 */
#ifndef HI_DEBUGINFO_FUNCTIONS_H
#define HI_DEBUGINFO_FUNCTIONS_H

#include "decode/debuginfo/types.h"

struct hi_function_symbol {
	const char *name;    /* as the symbol table has it, without @version; hostile */
	uint64_t addr, size; /* target address */
	bool is_ifunc;	     /* addr is the resolver, not the function */
	bool is_code;	     /* STT_FUNC or STT_GNU_IFUNC */
};
/* By address; false stops. HI_NO_MEMORY only. */
typedef bool hi_function_symbol_fn(const struct hi_function_symbol *symbol, void *arg);
enum hi_status hi_module_each_symbol(struct hi_module *module, hi_function_symbol_fn *fn,
				     void *arg, struct hi_error *err);
/* Where the next symbol above addr begins; UINT64_MAX: none. */
uint64_t hi_module_next_symbol(struct hi_module *module, uint64_t addr);

#endif
