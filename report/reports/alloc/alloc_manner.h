/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Manners: which columns a space profile shows, by function, as MLWorks calls them. Of
 * those that match a function the last one counts. Where there are manners and none
 * matches, it has HI_ALLOC_USUAL; without any manner all functions have all columns.
 */
#ifndef HI_REPORT_REPORTS_ALLOC_ALLOC_MANNER_H
#define HI_REPORT_REPORTS_ALLOC_ALLOC_MANNER_H

#include <stdbool.h>
#include <stddef.h>

enum hi_alloc_columns {
	HI_ALLOC_CALLS = 1,   /* counted entries, of functions whose manner names them */
	HI_ALLOC_TIME = 2,    /* samples of time */
	HI_ALLOC_SPACE = 4,   /* alloc, survived, live */
	HI_ALLOC_COPIES = 8,  /* survived by age */
	HI_ALLOC_TYPES = 16,  /* ages by type */
	HI_ALLOC_USUAL = 7,   /* as MLWorks has it */
	HI_ALLOC_COLUMNS = 31 /* all */
};

struct hi_manner {
	const char *pattern; /* name or pattern of functions; NULL: of all */
	unsigned columns;    /* bits of enum hi_alloc_columns */
	unsigned depth;	     /* of callers, if has_depth; else as --callers says */
	bool has_depth;
};
/* Borrowed. */
struct hi_manners {
	const struct hi_manner *items;
	size_t n;
};

/* The manner of a function by its demangled name. */
struct hi_manner hi_manner_of(const struct hi_manners *manners, const char *function);

enum { HI_MANNER_DEPTH = 15 };
/*
 * Parses "PATTERN=calls,time,space,copies,types,depth=N", or without PATTERN=, which it
 * cuts. Keeps text. False: *why_ret (static) is what is wrong, *where_ret the word.
 */
bool hi_manner_parse(char *text, struct hi_manner *ret, const char **why_ret,
		     const char **where_ret);

#endif
