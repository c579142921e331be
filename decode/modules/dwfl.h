/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The handles of elfutils, for this folder only.
 *
 * No libdw, libdwfl or libelf handle is thread-safe: whoever uses one that came
 * from here holds hi_modules_lock() (recursive) from before the call until it is
 * done with everything that the handle gave out (Dwarf_Die, Dwarf_CFI, strings
 * are fine until close). The handles belong to hi_modules and live until
 * hi_modules_close().
 */
#ifndef HI_DECODE_MODULES_DWFL_H
#define HI_DECODE_MODULES_DWFL_H

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <gelf.h>

#include "decode/modules/modules.h"

void hi_modules_lock(struct hi_modules *modules);
void hi_modules_unlock(struct hi_modules *modules);

const struct hi_image *hi_modules_image(const struct hi_modules *modules);
const struct hi_modules_options *hi_modules_options(const struct hi_modules *modules);
struct hi_modules *hi_module_modules(const struct hi_module *module);
/* Its number: hi_modules_get(modules, index) == module. */
size_t hi_module_index(const struct hi_module *module);

/* All modules, reported at their mapped ranges; never NULL after open unless out
 * of memory. A module's userdata (dwfl_module_info) is its struct hi_module *. */
Dwfl *hi_modules_dwfl(struct hi_modules *modules);
/* NULL where libdwfl cannot use the ELF, or would place it elsewhere than we do. */
Dwfl_Module *hi_module_dwfl(struct hi_module *module);
/* The main DWARF (of the file or its debug file); add *bias_ret to an address in
 * it to get a target address. NULL: none. Inflates compressed sections (once:
 * later processes use the copy in the cache directory). */
Dwarf *hi_module_dwarf(struct hi_module *module, Dwarf_Addr *bias_ret);
/* The module's own ELF (file, or rebuilt from memory); NULL: none readable. */
Elf *hi_module_elf(struct hi_module *module);
/* The separate debug file's ELF as found on disk, sections maybe compressed;
 * NULL: none. Looks for it if nobody has yet. */
Elf *hi_module_debug_elf(struct hi_module *module);

/* The DIE that has the type: this one, or the one that it is a concrete instance of
 * (abstract origin, specification). False: there is none. */
bool hi_die_find_typed(const Dwarf_Die *die, Dwarf_Die *ret);

/* Program headers of the module's ELF, as ELF addresses; *n_ret may be 0. */
const GElf_Phdr *hi_module_phdrs(const struct hi_module *module, size_t *n_ret);

#endif
