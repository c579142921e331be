/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Addresses of pages (report/address.h) and the command lines that they stand for.
 * A page only shows: what reads other files, looks at processes or writes is refused,
 * whatever the address says.
 */
#ifndef HI_CLI_PAGES_PAGES_REQUEST_H
#define HI_CLI_PAGES_PAGES_REQUEST_H

#include "cli/options/option_row.h"
#include "report/address.h"
#include "session/options.h"

/* What pages are about. Strings are borrowed. */
struct hi_pages_files {
	const char *file;   /* a snapshot, a recording, or a file of many censuses */
	const char *census; /* of it; NULL: the last one, or what the address says */
	const char *other;  /* what it is compared with; NULL: none */
	const char *other_census;
	bool other_is_later;
	bool full_names; /* on every page */
	unsigned threads;
};

struct hi_pages_request {
	struct hi_arena arena;
	const char *text; /* the address as it came */
	struct hi_address address;
	bool is_json;
	const struct hi_pages_files *files;
	struct hi_options options; /* once parsed */
	bool is_parsed;
	/* Equal for requests that count the same objects of the same census. */
	const char *key;
};

/* Returns what the option of this long name is for a page. */
enum hi_option_page hi_pages_option_of(const char *name);
/* Is there a page of this command? */
bool hi_pages_has_command(const char *name);
/* Is the page at the address about one census of a file, so that it takes census=? */
bool hi_pages_takes_census(const char *address);

/*
 * Reads an address into *ret: hi_pages_request_destroy(), also after errors.
 * HI_NOT_FOUND: there is no such page. HI_USAGE: it is none, or the command line would be
 * wrong: then the text of the error is empty, and hi_complaints() have it. HI_LIMIT,
 * HI_NO_MEMORY.
 */
enum hi_status hi_pages_request_read(const char *address,
				     const struct hi_pages_files *files,
				     struct hi_pages_request **ret, struct hi_error *err);
void hi_pages_request_destroy(struct hi_pages_request *r); /* NULL is fine */

/* Rows of a table of a page, at most; and of JSON. */
enum { HI_PAGES_ROWS = 10000, HI_PAGES_JSON_ROWS = 100000 };

/* "peak" out of "census?top=3&census=peak", in the arena of the page; NULL: none. */
const char *hi_pages_census_in(struct hi_page *texts, const char *address);
/* The address for a link on the page of the address `from`: with the census that was
 * chosen there. In the arena of texts. */
const char *hi_pages_keep_census(struct hi_page *texts, const char *from,
				 const char *address);
/* The address of the page that shows what a command line shows, in the arena. NULL: there
 * is none, it is about another heap, or memory ran out. */
const char *hi_pages_address_of(const char *command, const struct hi_pages_files *files,
				struct hi_page *page);

#endif
