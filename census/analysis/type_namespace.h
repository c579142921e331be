/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The namespace that the name of a type has: of C++, the module of Rust, the package of
 * Go, the module of a class of Python.
 *
 *	shop::Session				shop
 *	std::__cxx11::basic_string<char>	std
 *	shop::List<std::string>::Node		shop
 *	alloc::vec::Vec<u8>			alloc::vec
 *	app.models.Invoice			app.models
 *	[]github.com/x/store.Item		github.com/x/store
 *	struct entry, dict, char []		none
 */
#ifndef HI_CENSUS_ANALYSIS_TYPE_NAMESPACE_H
#define HI_CENSUS_ANALYSIS_TYPE_NAMESPACE_H

#include <stddef.h>

/* Returns where the namespace begins in the name, and sets its length; 0: it has none.
 * name: hostile; NULL is fine. */
const char *hi_type_namespace(const char *name, size_t *length_ret);

#endif
