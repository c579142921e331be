/* SPDX-License-Identifier: BSD-2-Clause */
/* Fills the ledger (census/analysis/ledger.h) from image, allocator and graph. */
#ifndef HI_DECODE_USAGE_LEDGER_H
#define HI_DECODE_USAGE_LEDGER_H

#include "census/analysis/analysis.h"
#include "census/analysis/ledger.h"
#include "decode/allocator.h"

/*
 * Rows (level 0): live, leak, free (level 1: by tcache, fastbin, bins, top), allocator,
 * fragmentation, stacks, mapped files, shared memory, other anonymous memory, kernel-made
 * mappings. `fragmentation`: resident bytes of heap pages that belong to no block. A page
 * that is shared by rows is divided by bytes. Objects outside of the allocator's regions
 * are live or leaked ones too, and are taken from the row of their mapping. allocator
 * NULL: no heap but those; then `leak` is what no known root reaches, and free memory is
 * unknown.
 */
enum hi_status hi_ledger_fill(const struct hi_image *image,
			      struct hi_allocator *allocator,
			      const struct hi_graph *graph, const struct hi_reach *reach,
			      uint64_t rss, struct hi_ledger *ret, struct hi_error *err);

struct hi_runtime;
/* Adds rows for free memory and for the runtime's own memory in its areas, and takes
 * their bytes from the row of the mappings. Used blocks there are objects, live or
 * leaked. After the walk of the runtime. */
void hi_ledger_add_runtime(struct hi_ledger *ledger, const struct hi_image *image,
			   const struct hi_runtime *runtime);

#endif
