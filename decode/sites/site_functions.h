/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions that allocate for their callers: which argument is the size. Those of the C
 * library, of C++ and Rust by their symbols; others are found by what they call
 * (site_finder.c).
 */
#ifndef HI_DECODE_SITES_SITE_FUNCTIONS_H
#define HI_DECODE_SITES_SITE_FUNCTIONS_H

#include "base/error.h"
#include "decode/sites/code_calls.h"

enum { HI_SITE_NO_ARGUMENT = HI_CODE_ARGUMENTS };

struct hi_site_function {
	/* size = mul * argument `size` (* argument `count`) + add. size is
	 * HI_SITE_NO_ARGUMENT: always `add`, or, if is_any, a multiple of mul, + add. */
	uint8_t size, count;
	bool is_any;
	bool is_virtual; /* objects of the type have a table of virtual functions */
	bool gives_text; /* a copy of a string, whose size no caller states */
	uint64_t mul;
	int64_t add;
	/* The return address of the call that is the site, whoever calls the function; 0:
	 * its callers are sites. */
	uint64_t place;
	const char *type; /* of the objects; "" unknown; hostile */
};

/* False: a function of this symbol does not allocate, as far as is known. */
bool hi_site_function_named(const char *symbol, struct hi_site_function *ret);
/* The size that such a function allocates for these arguments, as far as it is known. */
struct hi_code_value hi_site_function_size(const struct hi_site_function *function,
					   const struct hi_code_call *call);
/* Is a function, by its demangled name, of a language's library: does it allocate for the
 * code that calls it? */
bool hi_site_is_library(const char *name);
/* Is it a function of what Rust's library brings along? A program may use the same, with
 * debug information of its own. */
bool hi_site_comes_with_rust(const char *name);
/* Is a file of source code one of a language's library? */
bool hi_site_is_library_file(const char *file);

#endif
