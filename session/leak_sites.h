/* SPDX-License-Identifier: BSD-2-Clause */
/* Which lines of a program can have made its leaks, without a recording. */
#ifndef HI_SESSION_LEAK_SITES_H
#define HI_SESSION_LEAK_SITES_H

#include "census/analysis/alloc_sites.h"
#include "report/parts/leak_name.h"
#include "session/inspection.h"

/* Finds the calls that allocate, for hi_leak_sites_fit(); only where something is leaked,
 * as the code of the program is read. *ret: hi_alloc_sites_destroy(); NULL: the file has
 * none. */
enum hi_status hi_leak_sites_open(struct hi_inspection *in, struct hi_alloc_sites **ret,
				  struct hi_error *err);
/* Finds those that fit the leaked object at an address, which borrow from sites; none where
 * sites is NULL. name: as reports name it. */
struct hi_alloc_fits hi_leak_sites_fit(struct hi_inspection *in,
				       const struct hi_alloc_sites *sites,
				       uint64_t address, const struct hi_leak_name *name);

#endif
