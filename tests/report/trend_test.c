/* SPDX-License-Identifier: BSD-2-Clause */
/* What is said of a slope and a limit. */
#include "report/parts/trend.h"

#include "tests/harness.h"

static const char *text_of(double rate, double low, double high,
			   struct hi_report_limit limit)
{
	static char text[HI_TREND_TEXT];
	const struct hi_slope slope = {rate, low, high, 10};

	return hi_trend_text(text, &slope, &limit);
}

#define MIB 1048576.0

HI_TEST(trend, a_rate_has_an_interval_in_its_unit)
{
	const struct hi_report_limit none = {};

	HI_ASSERT_STREQ("+15.4 MiB/min (15.2 to 15.5)",
			text_of(15.4 * MIB, 15.2 * MIB, 15.5 * MIB, none));
	HI_ASSERT_STREQ("-2.0 KiB/min (-3.0 to 1.0)", text_of(-2048, -3072, 1024, none));
	HI_ASSERT_STREQ("steady", text_of(10, -5, 60, none));
	HI_ASSERT_STREQ("steady", text_of(0, 0, 0, none));
}

HI_TEST(trend, a_limit_is_reached_between_two_moments)
{
	const struct hi_report_limit limit = {HI_LIMIT_CGROUP, 2048ull << 20,
					      1408ull << 20};
	const struct hi_report_limit full = {HI_LIMIT_CGROUP_V1, 1 << 20, 2 << 20};

	/* 640 MiB are left: 41.3 to 42.1 minutes. */
	HI_ASSERT_STREQ("+15.4 MiB/min (15.2 to 15.5): memory.max of 2.0 GiB in 41 to 43 "
			"min",
			text_of(15.4 * MIB, 15.2 * MIB, 15.5 * MIB, limit));
	/* 640 of a minute, 64 to 80 minutes, 20 to 32 hours, years. */
	HI_ASSERT_STREQ("+640.0 MiB/min (640.0 to 640.0): memory.max of 2.0 GiB in 60 s",
			text_of(640 * MIB, 640 * MIB, 640 * MIB, limit));
	HI_ASSERT_STREQ("+9.0 MiB/min (8.0 to 10.0): memory.max of 2.0 GiB in 64 to 80 "
			"min",
			text_of(9 * MIB, 8 * MIB, 10 * MIB, limit));
	HI_ASSERT_STREQ("+409.6 KiB/min (341.3 to 512.0): memory.max of 2.0 GiB in 21 to "
			"32 h",
			text_of(0.4 * MIB, MIB / 3, MIB / 2, limit));
	HI_ASSERT_STREQ(
		"+200.0 MiB/min (190.0 to 210.0): memory.max of 2.0 GiB in 3.0 to "
		"3.4 min",
		text_of(200 * MIB, 190 * MIB, 210 * MIB, limit));
	/* It may as well shrink. */
	HI_ASSERT_STREQ("+4.0 MiB/min (-2.0 to 10.0): memory.max of 2.0 GiB not before "
			"64 min",
			text_of(4 * MIB, -2 * MIB, 10 * MIB, limit));
	HI_ASSERT_STREQ("-4.0 MiB/min (-5.0 to -3.0)",
			text_of(-4 * MIB, -5 * MIB, -3 * MIB, limit));
	HI_ASSERT_STREQ("+1.0 MiB/min (1.0 to 1.0): memory.limit_in_bytes of 1.0 MiB is "
			"reached",
			text_of(MIB, MIB, MIB, full));
}

HI_TEST(trend, three_censuses_are_too_few)
{
	const struct hi_slope few = {.n = 3};
	const struct hi_report_limit limit = {HI_LIMIT_MACHINE, 2, 1};
	char text[HI_TREND_TEXT];

	HI_ASSERT_STREQ("too few censuses: it takes 4",
			hi_trend_text(text, &few, &limit));
}
