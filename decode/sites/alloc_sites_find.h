/* SPDX-License-Identifier: BSD-2-Clause */
/* The calls of a program's code that allocate, with their functions, lines and types. */
#ifndef HI_DECODE_SITES_ALLOC_SITES_FIND_H
#define HI_DECODE_SITES_ALLOC_SITES_FIND_H

#include "census/analysis/alloc_sites.h"
#include "decode/types/types.h"

/*
 * Finds them in all modules but those of the system (site_finder.h). A site is the
 * innermost function, inlined or not, that is not of a language's library. types NULL:
 * only names tell types. Takes the lock of the modules. *ret: hi_alloc_sites_destroy().
 * HI_NO_MEMORY.
 */
enum hi_status hi_alloc_sites_find(struct hi_modules *modules, struct hi_types *types,
				   struct hi_alloc_sites **ret, struct hi_error *err);

#endif
