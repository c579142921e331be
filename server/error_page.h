/* SPDX-License-Identifier: BSD-2-Clause */
/* Small pages that the server itself writes. */
#ifndef HI_SERVER_ERROR_PAGE_H
#define HI_SERVER_ERROR_PAGE_H

#include "server/answer.h"

/* Makes a page about an error, of a sentence or two; text is escaped. base: the text
 * before addresses ("/TOKEN/"), for a link to the first page; NULL: the one that asked
 * does not have the token. NULL: out of memory. */
struct hi_answer *hi_error_page(unsigned code, const char *base, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Makes a page that asks for a confirmation of the label's action: a button that posts to
 * address. */
struct hi_answer *hi_question_page(const char *base, const char *address,
				   const char *label, const char *text);
/* To another page. location: of fewer than 64 bytes. */
struct hi_answer *hi_redirection(unsigned code, const char *location);

#endif
