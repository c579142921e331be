/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Types of what functions take and work on, by DWARF: parameters and the registers that
 * they come in, functions of records, values that std::function keeps. Reads files only;
 * needs no frozen image.
 */
#ifndef HI_DECODE_TYPES_FUNCTION_TYPES_H
#define HI_DECODE_TYPES_FUNCTION_TYPES_H

#include "decode/types/types.h"

struct hi_parameter {
	const char *name; /* "" none; hostile */
	hi_type_id type;
	int8_t argument; /* n: in the n-th integer argument register at the entry; -1:
			    elsewhere, or not known */
	bool is_located; /* the debug information has its place at the entry, or after the
			  * prologue: the function uses it */
};
/* The parameters of the function with this entry, in order, at most max. HI_NOT_FOUND:
 * there is no DWARF of it. */
enum hi_status hi_function_parameters(struct hi_types *types, struct hi_module *module,
				      uint64_t entry, struct hi_parameter *ret,
				      size_t max, size_t *n_ret, struct hi_error *err);
/* A function that takes pointers to records. */
struct hi_record_function {
	uint64_t entry, size;		       /* target address; size 0: unknown */
	const struct hi_parameter *parameters; /* all, in order */
	size_t n_parameters;
};
struct hi_record_functions {
	bool (*on_function)(void *arg,
			    const struct hi_record_function *f); /* false stops */
	void *arg;
};
/*
 * Every function of C and C++ in a module with a pointer or reference among its
 * parameters whose types are not declared as those of basic types, by DWARF; once for
 * each entry that the debug information has. Functions with another signature than their
 * source has are left out, as far as that is known. *has_dwarf_ret: the module has debug
 * information. Walks all of it.
 */
void hi_module_record_functions(struct hi_types *types, struct hi_module *module,
				const struct hi_record_functions *search,
				bool *has_dwarf_ret);
/* Returns the type of the value, which may have no name, that std::function and its like
 * keep in place: for a member function of a class (the manager) whose first base is a
 * template that defines where the value is kept. 0: it is not so, or there is no
 * DWARF. */
hi_type_id hi_function_value_in_place(struct hi_types *types, struct hi_module *module,
				      uint64_t entry);
/* The same for a value that the object points to. */
hi_type_id hi_function_value_elsewhere(struct hi_types *types, struct hi_module *module,
				       uint64_t entry);
/* Returns the type that the function's first parameter points to; 0: none, or no
 * DWARF. */
hi_type_id hi_function_subject(struct hi_types *types, struct hi_module *module,
			       uint64_t entry);
/* The variables of a function, without those of blocks inside of it; argument is -1. */
enum hi_status hi_function_locals(struct hi_types *types, struct hi_module *module,
				  uint64_t entry, struct hi_parameter *ret, size_t max,
				  size_t *n_ret, struct hi_error *err);

#endif
