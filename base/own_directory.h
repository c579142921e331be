/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Directories in which heapinspect keeps files between its runs: the cache, locks of
 * servers, sockets of marks. Their paths come from the environment, which may be another
 * user's: sudo can keep HOME and XDG_*. One that is not ours is not used.
 */
#ifndef HI_BASE_OWN_DIRECTORY_H
#define HI_BASE_OWN_DIRECTORY_H

#include <sys/types.h>

#include "base/error.h"

/*
 * Opens a directory of this user, in one that is this user's or root's and in which
 * others cannot replace it (Note [Directories of outputs] in base/output_directory.h). It
 * is made, with mode 0700, if it is not there, and so are those above it which would lie
 * in one of this user. forbidden: bits of the mode, 022 or 077. HI_OS; HI_USAGE: it is
 * not this user's alone.
 */
enum hi_status hi_own_directory_open(const char *path, mode_t forbidden, int *fd_ret,
				     struct hi_error *err);

#endif
