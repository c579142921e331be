/* SPDX-License-Identifier: BSD-2-Clause */
/* A frozen memory in parts that can be sent. Internal to attach/. */
#ifndef HI_ATTACH_FROZEN_SEND_H
#define HI_ATTACH_FROZEN_SEND_H

#include "attach/flat.h"
#include "attach/frozen_memory.h"

/* Puts all but the bytes themselves; those are in the blocks. */
void hi_frozen_put(const struct hi_frozen *frozen, struct hi_flat *flat);
/* Blocks of pages that it owns. */
size_t hi_frozen_blocks(const struct hi_frozen *frozen);
/* The descriptor of a block, which stays frozen's; -1: private pages. */
int hi_frozen_block_fd(const struct hi_frozen *frozen, size_t block);
/* The pages of a block. */
unsigned char *hi_frozen_block_pages(const struct hi_frozen *frozen, size_t block);
size_t hi_frozen_block_size(const struct hi_frozen *frozen, size_t block);
/*
 * Makes a memory of what was put. fds: of the blocks, for reading, which stay the
 * caller's; -1: private pages, zeroed and untouched. name is borrowed. HI_BAD_DATA,
 * HI_NO_MEMORY, HI_OS.
 */
enum hi_status hi_frozen_get(struct hi_flat_reader *reader, const char *name,
			     const int *fds, size_t n_fds, struct hi_frozen **ret,
			     struct hi_error *err);

#endif
