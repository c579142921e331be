/* SPDX-License-Identifier: BSD-2-Clause */
/* A recording whose every name is meant to do harm where it is shown: markup, URLs,
 * formats, characters that turn or hide a text, control bytes, invalid UTF-8, a megabyte.
 * A script in it sets window.__pwned, and a request goes to evil.test. */
#ifndef HI_TESTS_SUPPORT_HOSTILE_SNAPSHOT_H
#define HI_TESTS_SUPPORT_HOSTILE_SNAPSHOT_H

/* Writes IN/NAME; its path, until the test ends. Objects, types, roots, edges, modules,
 * functions, source files, marks, and what the header says of the process. */
const char *hostile_snapshot(const char *in, const char *name, unsigned objects);
/* The file of a series of so many of them. */
const char *hostile_series(const char *in, const char *name, unsigned censuses);

#endif
