/* SPDX-License-Identifier: BSD-2-Clause */
/* A space profile of a recording in a file. */
#ifndef HI_SESSION_SPACE_FILE_H
#define HI_SESSION_SPACE_FILE_H

#include "session/space/space_profile.h"

struct hi_space_file {
	char *exe; /* owned */
	int pid;
	size_t left_out; /* censuses whose objects are not in the file */
};

/*
 * Reads the file of the options into an empty profile. The censuses of record --every
 * count as those of alloc, as far as their objects are kept (--full). In a recording
 * without censuses, its end is one, and its beginning begins period 1. A file that has a
 * profile (alloc -o) gives that one. HI_NOT_FOUND: it has no recording, or the objects of
 * fewer than two censuses. HI_BAD_DATA, HI_NO_MEMORY. ret: hi_space_file_free().
 */
enum hi_status hi_space_file_read(const struct hi_options *options,
				  struct hi_space_profile *profile,
				  struct hi_space_file *ret, struct hi_error *err);
void hi_space_file_free(struct hi_space_file *file);

#endif
