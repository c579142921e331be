/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The interpreters that a test of CPython runs on: those of the environment's HI_PYTHONS
 * (paths, with colons between), else Debian's python3.11. scripts/test-pythons sets it.
 */
#ifndef HI_TESTS_SUPPORT_PYTHONS_H
#define HI_TESTS_SUPPORT_PYTHONS_H

/* fn for each, with a note in the log of the test. */
void hi_each_python(void (*fn)(const char *python));

#endif
