/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions that allocate as many bytes as their callers ask for, by their declaration. */
#ifndef HI_DECODE_SITES_SITE_WRAPPERS_H
#define HI_DECODE_SITES_SITE_WRAPPERS_H

#include <stdbool.h>

#include "decode/modules/dwfl.h"

/*
 * Does this inlined call allocate for its caller: `void *xmalloc(size_t n)`? It returns
 * memory without a type, takes an unsigned number of four bytes or more, and none of its
 * variables points to a record: one that does makes objects of its own. A call that is
 * not inlined is judged by its code (site_finder.h). The caller holds hi_modules_lock().
 */
bool hi_site_gives_what_is_asked(const Dwarf_Die *inlined);

#endif
