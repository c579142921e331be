/* SPDX-License-Identifier: BSD-2-Clause */
/* Pages for tests, and what they are as text. */
#ifndef HI_TESTS_REPORT_PAGE_TEXT_H
#define HI_TESTS_REPORT_PAGE_TEXT_H

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/render/text.h"
#include "tests/harness.h"
#include "tests/support/page_widths.h"

/* The test frees it. */
static inline struct hi_page *page_new(void)
{
	struct hi_page *page = hi_page_create();

	HI_ASSERT(page != NULL);
	hi_test_defer(hi_page_destroy, page);
	return page;
}

/* The page as text; the test frees it. It loses nothing on narrower screens. */
static inline char *page_text_as(const struct hi_page *page,
				 struct hi_text_options options)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	struct hi_error err;
	enum hi_status status;

	HI_ASSERT(out != NULL);
	/* Widths of characters come from the locale. */
	setlocale(LC_CTYPE, "C.UTF-8");
	page_widths_check(page);
	status = hi_text_render(page, &options, out, &err);
	fclose(out);
	hi_test_defer(free, text);
	HI_ASSERT_OK(status, &err);
	return text;
}

static inline char *page_text(const struct hi_page *page, unsigned width)
{
	return page_text_as(page, (struct hi_text_options){.width = width, .utf8 = true});
}

#endif
