/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Asks everything that there is to ask of one file's debug information, and aborts
 * where an answer cannot be. For tests and for the fuzzer: no test harness in it.
 */
#ifndef HI_TESTS_SUPPORT_TYPES_PROBE_H
#define HI_TESTS_SUPPORT_TYPES_PROBE_H

#include "decode/types/types.h"

/* An image in which the file behind fd is mapped. */
struct hi_image *types_probe_image(int fd, size_t size);
void types_probe_all(struct hi_modules *modules, struct hi_types *types);
/* Both, and everything between; how many types were made. */
uint64_t types_probe_file(int fd, size_t size);

#endif
