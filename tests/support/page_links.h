/* SPDX-License-Identifier: BSD-2-Clause */
/* Pages of files and their links, and whether these name a command and options that
 * exist. */
#ifndef HI_TESTS_SUPPORT_PAGE_LINKS_H
#define HI_TESTS_SUPPORT_PAGE_LINKS_H

#include "cli/pages/pages.h"
#include "report/address.h"

/* Opens the pages of a file, compared with another one (NULL: none); closed when the test
 * ends. */
struct hi_pages *page_links_open(const char *file, const char *other);

typedef void page_link_fn(const char *link, void *arg);
/* Calls fn for the link of each item and each cell. */
void page_each_link(const struct hi_page *page, page_link_fn *fn, void *arg);
/* What is wrong with the command, its argument or its options, by the table of the
 * command line; NULL: nothing. Static text. */
const char *page_link_fault(const struct hi_address *address);

#endif
