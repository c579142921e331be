/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of C++ types compared as people would: compilers, their debug
 * information and their RTTI write blanks, `const`, `struct` and `unsigned long`
 * in different places.
 */
#ifndef HI_TESTS_SUPPORT_TYPE_NAMES_H
#define HI_TESTS_SUPPORT_TYPE_NAMES_H

#include <stdbool.h>
#include <stddef.h>

enum { TYPE_NAME_MAX = 4096 };

/* The canonical form: no blanks but between words, no const, no keyword. */
void type_name_normalize(const char *name, char out[TYPE_NAME_MAX]);
/* expected: names with '|' between them; '%' stands for any part of a name, "?"
 * for no name (""). actual: one name. Both as they come. */
bool type_name_fits(const char *expected, const char *actual);

#endif
