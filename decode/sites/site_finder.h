/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls that allocate, in the code of all modules of a program; not named yet. */
#ifndef HI_DECODE_SITES_SITE_FINDER_H
#define HI_DECODE_SITES_SITE_FINDER_H

#include "base/arena.h"
#include "base/vector.h"
#include "decode/modules/modules.h"
#include "decode/sites/code_calls.h"

struct hi_found_site {
	uint64_t end;		   /* return address; the target's */
	struct hi_code_value size; /* a constant, or not */
	const char *type;	   /* certain; "" unknown; hostile */
	bool gives_text;
	bool is_virtual;    /* the type is that of a table of virtual functions */
	bool is_in_library; /* by the function's symbol */
};
struct hi_found_sites {
	struct HI_VECTOR(struct hi_found_site) all;
	struct hi_arena arena; /* types */
};

/*
 * Finds them. Functions that pass their parameter on as the size of what they return, and
 * those of a language's library, allocate for their callers, which are looked at in turn.
 * Files of the system and of the C++ library are not looked through. HI_NO_MEMORY;
 * hi_found_sites_free() in any case.
 */
enum hi_status hi_found_sites_read(struct hi_modules *modules, struct hi_found_sites *ret,
				   struct hi_error *err);
void hi_found_sites_free(struct hi_found_sites *sites);

/* "ns::T" of the name of its constructor, "ns::T::T", in buffer. False: it is none. */
bool hi_site_type_constructed(const char *name, char *buffer, size_t size);
/* The same of a function that allocates it: "std::allocator<ns::T>::allocate". */
bool hi_site_type_allocated(const char *name, char *buffer, size_t size);

#endif
