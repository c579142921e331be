/* SPDX-License-Identifier: BSD-2-Clause */
/* Which files belong to the system: headers and libraries that come with it or with the
 * compiler, by their paths alone. */
#ifndef HI_BASE_SYSTEM_FILES_H
#define HI_BASE_SYSTEM_FILES_H

#include <stdbool.h>
#include <string.h>

/* Is the path one of /usr or /lib, but for /usr/local and /usr/src, where people put their
 * own? */
static inline bool hi_is_system_file(const char *path)
{
	return strncmp(path, "/usr/", 5) == 0 ? strncmp(path, "/usr/local/", 11) != 0 &&
							strncmp(path, "/usr/src/", 9) != 0
					      : strncmp(path, "/lib", 4) == 0;
}

#endif
