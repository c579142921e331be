/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Short names of functions: "shop::parse_coupon" for "void shop::parse_coupon(int)", and
 * "std::vector<shop::Item>::push_back". Return types, parameters, ABI tags, qualifiers
 * and the compiler's suffixes are left out; types in the name are short (type_name.h).
 * Overloads of a function share a short name.
 *
 * Names are hostile: a name that is unbalanced, nested too deeply or too long stays as it
 * is.
 */
#ifndef HI_REPORT_FUNCTION_NAME_H
#define HI_REPORT_FUNCTION_NAME_H

#include "report/type_name.h"

enum { HI_FUNCTION_SHORT_SIZE = HI_TYPE_SHORT_SIZE }; /* of a buffer for any of them */

/* Writes the short name of a demangled function (not escaped, NULL counts as "") and a
 * terminating zero; longer text is cut. A path and a name in parentheses, "(no stack)",
 * stay. Returns out. */
const char *hi_function_short(const char *full, char *out, size_t size);

#endif
