/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions by the ELF symbols of a module, where there is no DWARF. For decode/ only;
 * the caller holds hi_modules_lock(). Addresses are the target's. */
#ifndef HI_DECODE_MODULES_CODE_SYMBOLS_H
#define HI_DECODE_MODULES_CODE_SYMBOLS_H

#include "base/error.h"
#include "decode/modules/code_ranges.h"
#include "decode/modules/modules.h"

/* Reads the module's symbols, and where its sections of code are, or its segments where
 * it has no section headers. HI_NO_MEMORY. */
enum hi_status hi_code_symbols_read(struct hi_module *module,
				    struct hi_code_ranges *sections,
				    struct hi_error *err);
/*
 * The name of the function symbol that covers addr: the one that begins last; of several
 * there, a global one, and the one with the fewest leading underscores. One without size
 * reaches up to the next, and to the end of its section.
 * NULL: there is none. *start_ret: where it begins. Lives until close.
 */
const char *hi_code_symbol_at(struct hi_module *module,
			      const struct hi_code_ranges *sections, uint64_t addr,
			      uint64_t *start_ret);

#endif
