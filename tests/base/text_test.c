/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "base/text.h"
#include "tests/harness.h"

static const char *escaped(const char *text, size_t n)
{
	static char out[128];

	hi_text_escape(out, sizeof(out), text, n);
	return out;
}

HI_TEST(text, control_bytes_and_escape_sequences_become_visible)
{
	HI_ASSERT_STREQ("\\x1b[31mred\\n\\\\", escaped("\x1b[31mred\n\\", 10));
}

HI_TEST(text, utf8_passes_and_broken_utf8_is_escaped_byte_by_byte)
{
	HI_ASSERT_STREQ("gr\xc3\xbc\xc3\x9f", escaped("gr\xc3\xbc\xc3\x9f", 6));
	HI_ASSERT_STREQ("\\xc0\\xaf\\xff\\xe2\\x82", escaped("\xc0\xaf\xff\xe2\x82", 5));
}

HI_TEST(text, bidirectional_overrides_and_c1_controls_are_escaped)
{
	HI_ASSERT_STREQ("\\xe2\\x80\\xae", escaped("\xe2\x80\xae", 3));
	HI_ASSERT_STREQ("\\xc2\\x9b", escaped("\xc2\x9b", 2));
}

HI_TEST(text, long_text_is_cut_with_dots_between_pieces)
{
	char out[8];

	HI_ASSERT_EQ(7, hi_text_escape(out, sizeof(out), "abcdefghij", 10));
	HI_ASSERT_STREQ("abcd...", out);
	HI_ASSERT_EQ(7, hi_text_escape(out, sizeof(out), "\x01\x01\x01", 3));
	HI_ASSERT_STREQ("\\x01...", out);
	HI_ASSERT_EQ(7, hi_text_escape(out, sizeof(out), "abcdefg", 7));
}

HI_TEST(text, bytes_use_binary_units_and_round_up_into_the_next)
{
	char out[24];

	HI_ASSERT_STREQ("1023 B", hi_text_bytes(out, 1023));
	HI_ASSERT_STREQ("1.0 KiB", hi_text_bytes(out, 1024));
	HI_ASSERT_STREQ("1.0 MiB", hi_text_bytes(out, 1048575));
	HI_ASSERT_STREQ("16.0 EiB", hi_text_bytes(out, UINT64_MAX));
}

HI_TEST(text, counts_have_thousands_separators)
{
	char out[32];

	HI_ASSERT_STREQ("0", hi_text_count(out, 0));
	HI_ASSERT_STREQ("1,234,567", hi_text_count(out, 1234567));
	HI_ASSERT_STREQ("999", hi_text_count(out, 999));
}
