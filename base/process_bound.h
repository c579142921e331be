/* SPDX-License-Identifier: BSD-2-Clause */
/* The memory that this process may allocate, for errors that report a lack of it. */
#ifndef HI_BASE_PROCESS_BOUND_H
#define HI_BASE_PROCESS_BOUND_H

#include <stdint.h>

/* Notes that allocations beyond `bytes` will fail. 0: there is no bound, as before any
 * call. */
void hi_process_note_bound(uint64_t bytes);
/* Returns that bound as " (…)", "" where there is none; out needs 64 bytes. */
const char *hi_process_bound_text(char out[64]);

#endif
