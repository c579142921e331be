/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables of stacks for a running target. */
#ifndef HI_PROBES_EVENTS_UNWIND_FIND_H
#define HI_PROBES_EVENTS_UNWIND_FIND_H

#include "probes/events/unwind_tables.h"

/*
 * Makes tables of the code that target has mapped when it was opened; reads files only
 * (and the vdso). A file without call frame information has no table: stacks through it
 * are cut there. They are cut, too, where a limit is reached (HI_UNWIND_..._MAX).
 * HI_NO_MEMORY. *ret: freed by hi_unwind_tables_free().
 */
enum hi_status hi_unwind_tables_find(const struct hi_target *target,
				     struct hi_unwind_tables *ret, struct hi_error *err);
/* The same in a process without rights: see hi_safepoint_find_in(), which takes the image
 * too. */
enum hi_status hi_unwind_tables_find_in(const struct hi_target *target,
					struct hi_image *image,
					struct hi_unwind_tables *ret,
					struct hi_error *err);

#endif
