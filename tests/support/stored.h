/* SPDX-License-Identifier: BSD-2-Clause */
/* Large files of tests/data, which are kept compressed (zstd). */
#ifndef HI_TESTS_SUPPORT_STORED_H
#define HI_TESTS_SUPPORT_STORED_H

/* tests/data/NAME.zst, unpacked: the path of a file that lives until the test ends. */
const char *stored_file(const char *name);

#endif
