/* SPDX-License-Identifier: BSD-2-Clause */
/* Files that a deep profile is made of: recordings, and data of Mercury's profiler. */
#ifndef HI_SESSION_DEEP_READ_H
#define HI_SESSION_DEEP_READ_H

#include "census/deep/deep_profile.h"
#include "session/options.h"

/* By its first bytes; of any version. */
bool hi_deep_is_file(const char *path);
/* *ret: hi_deep_profile_free(). Only the options for reading a file count. Errors: of
 * hi_inspect_open() and hi_deep_build(), or of hi_deep_mercury_read(). */
enum hi_status hi_deep_read(const struct hi_options *options,
			    const struct hi_deep_file *from, struct hi_deep_profile *ret,
			    struct hi_error *err);
/* Reads a whole file of at most so many bytes, and puts a NUL after it; free it.
 * HI_NOT_FOUND, HI_OS, HI_LIMIT: not a file, or too large. HI_NO_MEMORY. */
enum hi_status hi_deep_read_bytes(const char *path, uint64_t most, uint8_t **data_ret,
				  size_t *size_ret, struct hi_error *err);

#endif
