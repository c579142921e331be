/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How much memory the contents of files may take.
 *
 * Note [Unpacked files]
 *
 * A compressed file of some kilobytes can be made so that it unpacks to gigabytes. So
 * nothing is unpacked before its size is taken from a bound: one for the process, of all
 * files together, and a smaller one for each file, which grows with the file. Real heaps
 * and debug information are packed 3 to 10 times as small, and single columns of them
 * thousands of times: so only the sum of a file is compared with its size. A user who
 * gives the bound (--max-memory) means it: then the one for each file does not count.
 */
#ifndef HI_BASE_MEMORY_BOUND_H
#define HI_BASE_MEMORY_BOUND_H

#include "base/error.h"

/* A file of n bytes may take HI_UNPACKED_FREE + n * HI_UNPACKED_TIMES. */
#define HI_UNPACKED_FREE (UINT64_C(32) << 20)
enum { HI_UNPACKED_TIMES = 32 };

/* Sets the bound of all files of this process; UINT64_MAX: none, as before any call.
 * is_given: by the user. Call it before any thread is started. */
void hi_unpacked_set_bound(uint64_t bytes, bool is_given);

/* Bytes that one file has taken. Zeroed: nothing, and the size of the file is to be set.
 */
struct hi_unpacked {
	uint64_t file_size;
	_Atomic uint64_t taken;
};
/* Takes `bytes`, to be unpacked from `part` of the file `name`. HI_LIMIT: they are more
 * than is left, and nothing was taken. Thread-safe. */
enum hi_status hi_unpacked_take(struct hi_unpacked *file, uint64_t bytes,
				const char *name, const char *part, struct hi_error *err);
/* Returns whether they could be taken, and takes nothing. */
enum hi_status hi_unpacked_check(struct hi_unpacked *file, uint64_t bytes,
				 const char *name, const char *part,
				 struct hi_error *err);
/* Gives back what was taken. */
void hi_unpacked_release(struct hi_unpacked *file, uint64_t bytes);

#endif
