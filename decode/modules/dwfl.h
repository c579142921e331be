/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Handles of elfutils, for decode/ only.
 *
 * No handle of libdw, libdwfl or libelf is thread-safe. A caller holds
 * hi_modules_lock(), which is recursive, from before it asks for a handle until it is
 * done with all that came from it (Dwarf_Die, Dwarf_CFI; strings live until close). The
 * handles belong to hi_modules and live until hi_modules_close().
 *
 * libdw is for code at an address: frames, scopes, lines. Types and static variables are
 * read by decode/dwarf; see Note [Two readers of DWARF] in decode/dwarf/dwarf.h.
 */
#ifndef HI_DECODE_MODULES_DWFL_H
#define HI_DECODE_MODULES_DWFL_H

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <gelf.h>

#include "decode/modules/modules.h"

/* Recursive: see above. */
void hi_modules_lock(struct hi_modules *modules);
/* Ends hi_modules_lock(), as often as that was called. */
void hi_modules_unlock(struct hi_modules *modules);

/* Returns the image that the modules were opened with. */
const struct hi_image *hi_modules_image(const struct hi_modules *modules);
/* Returns the options that the modules were opened with; borrowed. */
const struct hi_modules_options *hi_modules_options(const struct hi_modules *modules);
/* The list that a module is in. */
struct hi_modules *hi_module_modules(const struct hi_module *module);
/* The index i for which hi_modules_get(modules, i) == module. */
size_t hi_module_index(const struct hi_module *module);

/* All modules at their mapped ranges. NULL: out of memory. A module's userdata
 * (dwfl_module_info) is its struct hi_module *. */
Dwfl *hi_modules_dwfl(struct hi_modules *modules);
/* NULL: libdwfl cannot use the ELF file, or would place it at another address. */
Dwfl_Module *hi_module_dwfl(struct hi_module *module);
/* The main DWARF, of the file or of its debug file. NULL: none. *bias_ret: to add to an
 * address in it for a target address. Inflates compressed sections, once: later
 * processes use the copy in the cache directory. */
Dwarf *hi_module_dwarf(struct hi_module *module, Dwarf_Addr *bias_ret);
/* The module's own ELF (file, or rebuilt from memory); NULL: none readable. */
Elf *hi_module_elf(struct hi_module *module);
/* The ELF of the separate debug file as it is on disk; sections may be compressed. NULL:
 * none. Looks for the file when it is called first. */
Elf *hi_module_debug_elf(struct hi_module *module);

/* The DIE that has the type: this one, or the one that it is a concrete instance of
 * (abstract origin, specification). False: there is none. */
bool hi_die_find_typed(const Dwarf_Die *die, Dwarf_Die *ret);
/* The DIE of a compilation unit becomes that of its split file (.dwo), if it has one: the
 * DIEs below are there. */
void hi_die_enter_split(Dwarf_Die *unit);
/* A string attribute (DW_AT_name, ...) of the DIE or of its origin; NULL: none. */
const char *hi_die_string(Dwarf_Die *die, unsigned name);

/* Program headers of the module's ELF, as ELF addresses; *n_ret may be 0. */
const GElf_Phdr *hi_module_phdrs(const struct hi_module *module, size_t *n_ret);

#endif
