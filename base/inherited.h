/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory and descriptors that a fork has in common with the processes before it. */
#ifndef HI_BASE_INHERITED_H
#define HI_BASE_INHERITED_H

#include <stddef.h>

#include "base/error.h"

/*
 * Leaves it, in a process that is to have no rights (before hi_rights_drop(), which does
 * not look at this): unmaps shared memory that it could write to, as tables of a tracer
 * or maps of BPF programs, but for the mapping that begins at `keep`; and closes sockets
 * but for `socket`, and objects of the kernel without a file (programs and maps of BPF,
 * perf events, pidfds). The standard streams, files and pipes stay, and so does a
 * userfaultfd. HI_OS: /proc of this process cannot be read; some of it may be left.
 */
enum hi_status hi_inherited_drop(const void *keep, int socket, struct hi_error *err);

#endif
