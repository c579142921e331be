/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/parse.h"

#include "tests/harness.h"

static uint64_t parsed_duration(const char *text)
{
	uint64_t ns = 0;

	return hi_parse_duration(text, &ns) ? ns : 0;
}

HI_TEST(parse, durations_have_units_from_ns_to_h)
{
	HI_ASSERT_EQ(7, parsed_duration("7ns"));
	HI_ASSERT_EQ(500000000, parsed_duration("0.5s"));
	HI_ASSERT_EQ(300000000000, parsed_duration("5min"));
	HI_ASSERT_EQ(3600000000000, parsed_duration("1h"));
	HI_ASSERT_EQ(0, parsed_duration("1"));
	HI_ASSERT_EQ(0, parsed_duration("0h"));
	HI_ASSERT_EQ(0, parsed_duration("1d"));
}
