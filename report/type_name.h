/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Short names of types, as people say them: "unordered_map<string, Order> node" for
 * "std::__detail::_Hash_node<std::pair<const std::__cxx11::basic_string<char, …". What
 * is known of a library's names stands in one table of rules. A name that no rule
 * matches stays as it is, without default template arguments.
 *
 * Names are hostile: a name that is unbalanced, nested too deeply or too long stays as
 * it is.
 */
#ifndef HI_REPORT_TYPE_NAME_H
#define HI_REPORT_TYPE_NAME_H

#include <stdbool.h>
#include <stddef.h>

enum { HI_TYPE_SHORT_SIZE = 4096 }; /* of a buffer for any short name */

/* Writes the short name of `full` (not escaped, NULL counts as "") and a terminating
 * zero; what does not fit is cut off. Returns out. */
const char *hi_type_short(const char *full, char *out, size_t size);
/* The same, and all qualifiers of names are left out: "shared_ptr<Order> block" for
 * shop::Order. Two types may have one unqualified name. */
const char *hi_type_unqualified(const char *full, char *out, size_t size);
/* Returns the name of a type in documents, raw: "(untyped)" for "" and NULL. */
static inline const char *hi_type_key(const char *type)
{
	return type && *type ? type : "(untyped)";
}

#endif
