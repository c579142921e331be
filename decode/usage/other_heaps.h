/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Allocators and runtimes whose heap nothing here decodes: what they hold is neither
 * live, leaked nor free, it is unknown. Found by the names of modules, by symbols and
 * by sections; the table is in other_heaps.c.
 */
#ifndef HI_DECODE_USAGE_OTHER_HEAPS_H
#define HI_DECODE_USAGE_OTHER_HEAPS_H

#include "base/arena.h"
#include "decode/allocator.h"
#include "decode/modules/modules.h"

/*
 * Returns their names, "jemalloc, Go runtime"; "" if there is none. allocator is the one
 * that was walked, after the walk; NULL: no allocator is known. Refused ones are among
 * them, first: allocators, and the runtime of that name ("": none). The text lives in the
 * arena.
 */
enum hi_status hi_other_heaps_find(struct hi_modules *modules,
				   const struct hi_image *image,
				   const struct hi_allocator *allocator,
				   const struct hi_allocator_refusal *refused,
				   size_t n_refused, const char *refused_runtime,
				   struct hi_arena *arena, const char **ret,
				   struct hi_error *err);

#endif
