/* SPDX-License-Identifier: BSD-2-Clause */
/* The mappings of an address space whose process may be gone, one query for each. */
#ifndef HI_ATTACH_MAPS_QUERY_H
#define HI_ATTACH_MAPS_QUERY_H

#include <stddef.h>

#include "base/error.h"

/*
 * The text that /proc/PID/maps would have, by its descriptor; parsed by hi_maps_parse().
 * *text and *capacity as of hi_proc_read(). HI_UNSUPPORTED: this kernel has no such query
 * (before Linux 6.11); HI_GONE: the memory is gone; HI_LIMIT, HI_NO_MEMORY.
 */
enum hi_status hi_maps_query(int maps_fd, char **text, size_t *capacity, size_t *size_ret,
			     struct hi_error *err);
/* HI_UNSUPPORTED as above, else HI_OK. */
enum hi_status hi_maps_query_check(int maps_fd, struct hi_error *err);

#endif
