/* SPDX-License-Identifier: BSD-2-Clause */
/* How much memory a command may take for what it reads: --max-memory, or a part of what
 * is free. */
#ifndef HI_CLI_DECODER_MEMORY_LIMIT_H
#define HI_CLI_DECODER_MEMORY_LIMIT_H

#include "session/options.h"

/* Sets what files may unpack to (base/memory_bound.h): --max-memory, or a quarter of the
 * free memory. Call it before any file is read, in the process with all rights. */
void hi_memory_limit_begin(const struct hi_options *options);
/* Bounds all that this process allocates from now on, beside what it has: --max-memory,
 * or three quarters of what was free when the command began. Allocations beyond it fail,
 * also those of libraries. */
void hi_memory_limit_process(void);

#endif
