/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Addresses of pages: what a link leads to, whatever shows the page. An address is a
 * command line without the heap that it is about:
 *
 *	NAME[/ARGUMENT][?OPTION=VALUE[&OPTION=VALUE…]]
 *
 *	explain/0x55d0c8a2b2a0		heapinspect explain FILE 0x55d0c8a2b2a0
 *	census?top=100&all=		heapinspect census FILE --top 100 --all
 *	deep/clique/7%26order%3Dbytes	heapinspect deep FILE 'clique/7&order=bytes'
 *
 * In arguments and values all but letters, digits and "-_.~/:@," is %XX, so an address
 * is safe text, whatever the target has in its names. In a value "+" is a space, as forms
 * write it.
 */
#ifndef HI_REPORT_ADDRESS_H
#define HI_REPORT_ADDRESS_H

#include "report/display.h"

/* The texts live as long as the page and are never NULL; "" when out of memory, or when
 * the argument is longer than HI_ADDRESS_ARGUMENT: then there is no link. */
enum { HI_ADDRESS_ARGUMENT = 8192, HI_ADDRESS_OPTIONS = 16 };

/* argument: raw, may be hostile; NULL: none. No link leads to "." and "..". */
const char *hi_address(struct hi_page *page, const char *name, const char *argument);
/* Adds an option; value: raw, "" for one without a value. */
const char *hi_address_with(struct hi_page *page, const char *address, const char *option,
			    const char *value);
/* explain/0x…; "" for 0 and UINT64_MAX: unknown. */
const char *hi_address_of_object(struct hi_page *page, uint64_t address);
/* paths/TYPE: the objects of a type and what keeps them. */
const char *hi_address_of_type(struct hi_page *page, const char *hostile);

/* ---- links ---- */

/* Makes the last cell lead to the page of this address (address.h), which is copied. A
 * cell without a value, or an empty address, gets no link. Text shows no links. */
void hi_cell_link(struct hi_report_table *table, const char *address);
/* Makes the text of the last item lead to the page of this address (address.h), which is
 * copied; not of a table or a command. An empty address makes no link. Text shows no
 * links. */
void hi_page_link(struct hi_page *page, const char *address);
/* Makes no link of what was one. */
void hi_page_drop_links(struct hi_page *page);
/* Links that are made from now on lead to this census of the file, where they name none
 * and what they lead to is about one. */
void hi_page_link_census(struct hi_page *page, unsigned census);
/* ---- reading ---- */

/* An address in parts. Strings live in the arena. */
struct hi_address {
	const char *name;
	const char *argument; /* raw; NULL: none */
	struct hi_address_option {
		const char *name, *value;
	} options[HI_ADDRESS_OPTIONS];
	size_t n_options;
};
/* HI_USAGE: it is none: a wrong escape, a NUL or too many options. HI_LIMIT: too long.
 * HI_NO_MEMORY. */
enum hi_status hi_address_parse(const char *text, struct hi_arena *arena,
				struct hi_address *ret, struct hi_error *err);

#endif
