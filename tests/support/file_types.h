/* SPDX-License-Identifier: BSD-2-Clause */
/* The types of a file, without a process: an image in which it is mapped. */
#ifndef HI_TESTS_SUPPORT_FILE_TYPES_H
#define HI_TESTS_SUPPORT_FILE_TYPES_H

#include "tests/support/inspected.h"

/* Given back when the test ends. Fails the test if it cannot. */
struct inspected *inspected_file(const char *path);

#endif
