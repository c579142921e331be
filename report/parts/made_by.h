/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines of the program that can have allocated an object, by its code alone. */
#ifndef HI_REPORT_PARTS_MADE_BY_H
#define HI_REPORT_PARTS_MADE_BY_H

#include "census/analysis/alloc_sites.h"
#include "report/display.h"
#include "report/json_writer.h"

/* "parse_coupon", without parameters and unnamed namespaces; "(no symbol)". Safe. */
const char *hi_made_by_function(const struct hi_alloc_site *site, struct hi_page *page);
/* "shop.cc:33"; of a site without a line "libshop.so". Safe. */
const char *hi_made_by_line(const struct hi_alloc_site *site, struct hi_page *page);
/* "shop.cc:33", or "shop.cc:33, struct coupon" where the call has a type of its own and
 * the object has none. Safe. */
const char *hi_made_by_place(const struct hi_alloc_site *site, bool has_type,
			     struct hi_page *page);
/* "1 site fits", "12 sites fit". Safe. */
const char *hi_made_by_count(const struct hi_alloc_fits *fits, struct hi_page *page);
/* "can be made by order_new (shop.c:10) or order_copy (shop.c:31)", of sites that are
 * named. Safe. */
const char *hi_made_by_text(const struct hi_alloc_fits *fits, bool has_type,
			    struct hi_page *page);
/* Are there so few that each is named? */
bool hi_made_by_is_named(const struct hi_alloc_fits *fits);
/* Writes the member `key`: an object with the number of sites, and those that are named;
 * nothing where no site fits. */
void hi_made_by_json(const char *key, const struct hi_alloc_fits *fits,
		     struct hi_json *json);
/* The same as members of a schema, without braces. */
#define hi_made_by_schema "\"$ref\": \"#/definitions/made_by\""

#endif
