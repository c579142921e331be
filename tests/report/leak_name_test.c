/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of leaked texts. */
#include "report/parts/leak_name.h"

#include <string.h>

#include "tests/harness.h"
#include "tests/report/heap_pages.h"

static const char *name_of_text(const char *beginning, bool differ)
{
	struct hi_leak_name name = {.type = "",
				    .like = "",
				    .held = "",
				    .usable = 120,
				    .text = true,
				    .beginning = beginning,
				    .beginnings_differ = differ,
				    .least_members = 1,
				    .most_members = 1};

	return hi_leak_name_text(&name, HI_LEAK_SINGLE, page_new());
}

HI_TEST(leak_name, texts_are_cut_and_escaped)
{
	HI_ASSERT_STREQ("(untyped) 120 B, text", name_of_text(NULL, false));
	HI_ASSERT_STREQ("text of 120 B, \"GET / HTTP/1.1\"",
			name_of_text("GET / HTTP/1.1", false));
	HI_ASSERT_STREQ("text of 120 B, \"12345678901234567890\"",
			name_of_text("12345678901234567890", false));
	HI_ASSERT_STREQ("text of 120 B, \"12345678901234567...\"",
			name_of_text("123456789012345678901", false));
	HI_ASSERT_STREQ("texts of 120 B, as \"\\x1b[31mred\\n\"",
			name_of_text("\x1b[31mred\n", true));
	/* 18 escapes of four characters: four fit before the dots. */
	HI_ASSERT_STREQ("text of 120 B, \"\\x07\\x07\\x07\\x07...\"",
			name_of_text("\a\a\a\a\a\a\a\a\a\a\a\a\a\a\a\a\a\a", false));
	/* No half of a character is left: eight of two bytes fit. */
	HI_ASSERT_STREQ("text of 120 B, \"ääääääää...\"",
			name_of_text("äääääääääääääää", false));
}
