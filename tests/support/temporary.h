/* SPDX-License-Identifier: BSD-2-Clause */
/* Files and directories that are removed when the test ends. */
#ifndef HI_TESTS_SUPPORT_TEMPORARY_H
#define HI_TESTS_SUPPORT_TEMPORARY_H

#include <stddef.h>

/* A new directory; its path is freed after the test, too. */
char *temporary_directory(void);
/* A new file with these bytes; as before. */
char *temporary_file(const void *bytes, size_t size);
/* Removes what is there when the test ends: a file, or a directory with all in it. */
void temporary_path(const char *path);

#endif
