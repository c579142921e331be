/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Code of a module by symbols, names and lines, to find addresses to stop at. Reads files
 * only; needs no frozen image.
 */
#ifndef HI_DECODE_MODULES_FUNCTIONS_H
#define HI_DECODE_MODULES_FUNCTIONS_H

#include "decode/modules/modules.h"

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
/* Returns the start of the next symbol above addr; UINT64_MAX: none. */
uint64_t hi_module_next_symbol(struct hi_module *module, uint64_t addr);

/* ---- by DWARF; nothing is found where there is none ---- */

/* An inlined call of a function. */
struct hi_inlined_call {
	const char *file; /* of the call; "" unknown; hostile */
	unsigned line;	  /* 0 unknown */
	uint64_t addr;	  /* of the body's first instruction there; 0 unknown */
};
struct hi_inlined_search {
	/* True: it is the function. linkage may be NULL; both are hostile. */
	bool (*is_wanted)(void *arg, const char *name, const char *linkage);
	bool (*on_call)(void *arg, const struct hi_inlined_call *call); /* false stops */
	void *arg;
};
/* Finds all inlined calls of a function in this module. Walks all of its debug
 * information twice. */
enum hi_status hi_module_inlined_calls(struct hi_module *module,
				       const struct hi_inlined_search *search,
				       struct hi_error *err);

/* The start of the code of a line. */
struct hi_line_location {
	uint64_t addr;	/* target address */
	unsigned line;	/* the one that was asked for, or the next that has code */
	uint64_t scope; /* the same for locations in one function or inlined call */
};
/*
 * Finds the lowest address of a line in each function and inlined call. A line without
 * code stands for the next one that has code. file: as the compiler had it, or the end of
 * that path, from a slash on. *file_known_ret: some unit has such a file. At most max
 * locations; free *ret. HI_NO_MEMORY only.
 */
enum hi_status hi_module_line_locations(struct hi_module *module, const char *file,
					unsigned line, size_t max,
					struct hi_line_location **ret, size_t *n_ret,
					bool *file_known_ret, struct hi_error *err);

#endif
