/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls in the code of a program that allocate, as the code alone shows them, and which
 * of them can have made an object: by its size, its type, and whether it is text. No
 * recording is needed; a call that fits need not have been run.
 */
#ifndef HI_CENSUS_ANALYSIS_ALLOC_SITES_H
#define HI_CENSUS_ANALYSIS_ALLOC_SITES_H

#include <stdint.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/vector.h"

enum hi_alloc_site_size {
	HI_ALLOC_ANY_SIZE, /* a multiple of `size`, and `extra` */
	HI_ALLOC_OF_SIZE,  /* `size` bytes */
};
enum hi_alloc_site_type {
	HI_ALLOC_NO_TYPE,
	HI_ALLOC_LIKELY_TYPE,  /* of a variable near the call, or what it returns */
	HI_ALLOC_CERTAIN_TYPE, /* a constructor, an allocator of the type */
	/* The same, and its objects have a table of virtual functions: none is without
	 * a type. */
	HI_ALLOC_VIRTUAL_TYPE,
};

enum hi_alloc_site_text {
	HI_ALLOC_MAYBE_TEXT,
	HI_ALLOC_TEXT,	  /* it copies a string */
	HI_ALLOC_NO_TEXT, /* its type begins with something else than characters */
};

struct hi_alloc_site {
	const char *function, *file, *module; /* "" unknown; hostile */
	uint32_t line;			      /* 0 unknown */
	enum hi_alloc_site_size kind;
	uint64_t size, extra;
	enum hi_alloc_site_type type_grade;
	const char *type; /* "" unknown; hostile */
	enum hi_alloc_site_text text;
};

/* By function, file, line, then size: no two are the same. */
struct hi_alloc_sites {
	struct hi_alloc_site *items;
	size_t count;
	struct hi_arena arena; /* strings */
};
void hi_alloc_sites_destroy(struct hi_alloc_sites *sites); /* NULL is fine */
HI_DEFINE_GUARD(struct hi_alloc_sites *, hi_alloc_sites_destroy)

/* An object whose site is looked for. */
struct hi_alloc_sought {
	uint64_t above;	  /* a request of so many bytes has a smaller block */
	uint64_t usable;  /* bytes of its block */
	uint64_t used;	  /* that its type has; 0: not known */
	const char *type; /* "" unknown */
	/* Types that it may have, where it has none. */
	const char *const *maybe;
	size_t n_maybe;
	bool is_text, has_pointers;
};

enum { HI_ALLOC_NAMED = 3 };
struct hi_alloc_fits {
	uint32_t count; /* that fit best */
	const struct hi_alloc_site *named[HI_ALLOC_NAMED];
};
/* Finds the sites that fit best; count is 0 where none does. sites may be NULL. */
struct hi_alloc_fits hi_alloc_sites_fit(const struct hi_alloc_sites *sites,
					const struct hi_alloc_sought *sought);
/* At most the largest request whose block is smaller than one of `usable` bytes: as glibc
 * rounds, or, where it has no such blocks, in four steps from a power of two to the next.
 */
uint64_t hi_alloc_below(uint64_t usable);

#endif
