/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * musl's dynamic linker allocates by the C library's own malloc, which no shim sees: a
 * struct dso of each library, and arrays of pointers to these. For allocator_run.is_known.
 */
#ifndef HI_TESTS_SUPPORT_MUSL_BLOCKS_H
#define HI_TESTS_SUPPORT_MUSL_BLOCKS_H

#include "decode/allocator.h"

enum { MUSL_BLOCKS_OF_LINKER = 4 }; /* of a program with one library, the shim */

bool musl_block_of_linker(const struct hi_image *image, const struct hi_block *block);

#endif
