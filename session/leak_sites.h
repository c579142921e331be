/* SPDX-License-Identifier: BSD-2-Clause */
/* Which lines of a program can have made its leaks and other objects, without a recording. */
#ifndef HI_SESSION_LEAK_SITES_H
#define HI_SESSION_LEAK_SITES_H

#include "census/analysis/alloc_sites.h"
#include "report/parts/leak_name.h"
#include "session/inspection.h"

/* Finds those that fit the leaked object at an address; they live as long as the
 * inspection. None where the source has no sites. name: as reports name it. The first call
 * reads the code of the program. HI_NO_MEMORY. */
enum hi_status hi_leak_sites_fit(struct hi_inspection *in, uint64_t address,
				 const struct hi_leak_name *name,
				 struct hi_alloc_fits *ret, struct hi_error *err);
/* Finds those that fit an object of the program, live or leaked: one with a type, which no
 * runtime gave it, or a leaked one. */
enum hi_status hi_object_sites_fit(struct hi_inspection *in, hi_node node,
				   struct hi_alloc_fits *ret, struct hi_error *err);

#endif
