/* SPDX-License-Identifier: BSD-2-Clause */
/* Likely types of what a call allocates, by the variables of the function around it. */
#ifndef HI_DECODE_SITES_SITE_VARIABLES_H
#define HI_DECODE_SITES_SITE_VARIABLES_H

#include "census/analysis/alloc_sites.h"
#include "decode/modules/dwfl.h"
#include "decode/types/types.h"

/*
 * Returns the type that a variable which is declared in the line of the call points to;
 * else the only type of the size of the call that a variable of the function, or its
 * result, points to. function: a function or an inlined call. NULL: none. Lives as long as
 * types. The caller holds hi_modules_lock().
 */
const struct hi_type *hi_site_variable_type(struct hi_types *types,
					    struct hi_module *module,
					    const Dwarf_Die *function,
					    const struct hi_alloc_site *site);
/* Can an object of the type begin with characters? */
bool hi_site_type_may_be_text(struct hi_types *types, const struct hi_type *type);

#endif
