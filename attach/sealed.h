/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pages that another process may map: in a file that is in memory only (memfd), whose
 * size is sealed. Only the process that made them can ever write to them; others get a
 * descriptor for reading, by which nothing else can be opened. Internal to attach/.
 */
#ifndef HI_ATTACH_SEALED_H
#define HI_ATTACH_SEALED_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Maps size bytes of such pages, zeroed; untouched ones use no memory. Freed by
 * hi_pages_free() and by closing *fd_ret. Aligned to huge pages where there is room for
 * one. NULL with errno.
 */
void *hi_sealed_alloc(size_t size, int *fd_ret);
/* Can it have pages of any number? False: files may not have any size (ulimit -f), and
 * this process may not change that. */
bool hi_sealed_is_possible(void);
/* A descriptor for reading of the pages of fd, to be sent; -1 with errno. */
int hi_sealed_open(int fd);
/* A descriptor for reading of a copy of these bytes; -1 with errno. */
int hi_sealed_copy(const void *bytes, size_t size);
/* Maps size bytes for reading, which fd must have; it stays the caller's. Freed by
 * hi_pages_free(). NULL with errno. */
void *hi_sealed_map(int fd, size_t size);

#endif
