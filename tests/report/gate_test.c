/* SPDX-License-Identifier: BSD-2-Clause */
/* The language of gates: values by hand, and where an error is. */
#include <math.h>

#include "report/reports/check/check_report.h"
#include "tests/harness.h"

/* live.bytes is 1000, of the baseline 800; a type has as many objects as its name has
 * letters; nobody knows the pause. */
static bool value(void *arg, const struct hi_gate_metric *m, double *ret)
{
	(void)arg;
	if (m->subject == HI_GATE_SNAPSHOT)
		return false;
	*ret = m->baseline ? 800 : 1000;
	if (m->subject == HI_GATE_TYPE)
		*ret = (double)strlen(m->name);
	if (m->subject == HI_GATE_LEAK)
		*ret = 0;
	return true;
}

static void check_value(const char *text, double left, double right, bool is_true)
{
	struct hi_arena arena = {};
	struct hi_gate gate;
	struct hi_gate_result r;
	struct hi_error err = {};
	size_t column = 0;

	HI_ASSERT_OK(hi_gate_parse(text, &arena, &gate, &column, &err), &err);
	r = hi_gate_evaluate(&gate, value, NULL);
	HI_ASSERT(r.is_known);
	HI_ASSERT_MSG(r.left >= left - 1e-9 && r.left <= left + 1e-9, "%s: left %g", text,
		      r.left);
	HI_ASSERT_MSG(r.right >= right - 1e-9 && r.right <= right + 1e-9, "%s: right %g",
		      text, r.right);
	HI_ASSERT_MSG(r.is_true == is_true, "%s", text);
	hi_arena_free(&arena);
}

HI_TEST(gate, expressions_have_the_value_that_arithmetic_says)
{
	check_value("live.bytes > 64MiB", 1000, 67108864, false);
	check_value("live.bytes>=1000", 1000, 1000, true);
	check_value("live.bytes <= 999B", 1000, 999, false);
	check_value("live.bytes == 1K", 1000, 1024, false);
	check_value("live.bytes != 1KiB", 1000, 1024, true);
	check_value("live.bytes > 1.1 * baseline.live.bytes", 1000, 880, true);
	check_value("1 + 2 * 3 - 4 / 2 == (1 + 2) * 3 - 4", 5, 5, true);
	check_value("growth(live.bytes) > 5%", 0.25, 0.05, true);
	check_value("growth(leak.bytes) > 5%", 0, 0.05, false);
	check_value("type(\"struct session\").count < 15", 14, 15, true);
	check_value("type(\"a\").objects == 1", 1, 1, true);
	check_value("10 - 3 - 2 == 5", 5, 5, true);
	check_value("8 / 2 / 2 == 2", 2, 2, true);
	check_value("1.5 GiB > 2", 1610612736, 2, true);
	check_value("live.bytes > 110% * baseline.live.bytes", 1000, 880, true);
	check_value("leak.bytes / live.bytes >= 1%", 0, 0.01, false);
	check_value("growth(type=\"ab\", count) == 0", 0, 0, true);
	check_value("slope(type=\"abc\", count) > 0", 3, 0, true);
	check_value("slope(live.bytes) > 1KiB", 1000, 1024, false);
	check_value("survived(type=\"abc\").bytes > 0", 1000, 0, true);
	check_value("survived.count >= 1000", 1000, 1000, true);
}

static void check_wrong(const char *text, size_t column, const char *word)
{
	struct hi_arena arena = {};
	struct hi_gate gate;
	struct hi_error err = {};
	size_t at = 99999;

	HI_ASSERT_STATUS(HI_USAGE, hi_gate_parse(text, &arena, &gate, &at, &err));
	HI_ASSERT_MSG(at == column, "%s: column %zu: %s", text, at, err.text);
	HI_ASSERT_MSG(strstr(err.text, word), "%s: %s", text, err.text);
	hi_arena_free(&arena);
}

HI_TEST(gate, errors_tell_where_and_what)
{
	check_wrong("", 0, "not a metric");
	check_wrong("live.bytes", 10, "comparison");
	check_wrong("live.bytes > ", 13, "not a metric");
	check_wrong("liv.bytes > 0", 0, "not a metric");
	check_wrong("live.byte > 0", 5, "no such field");
	check_wrong("live > 0", 5, "a field");
	check_wrong("live.retained > 0", 5, "no such field");
	check_wrong("type(x).count > 0", 5, "in quotes");
	check_wrong("type(\"x.count > 0", 6, "closing quote");
	check_wrong("live.bytes > 12parsecs", 15, "unknown unit");
	check_wrong("live.bytes > 64MIB", 15, "unknown unit MIB;");
	check_wrong("live.bytes > 1 KiB 2", 19, "after");
	check_wrong("live.bytes > 1 2", 15, "after");
	check_wrong("live.bytes > 1e400", 13, "too large");
	check_wrong("live.bytes > 99999999TiB", 13, "too large");
	check_wrong("type(\"\").count > 1", 6, "empty");
	check_wrong("leak.bogus > 1", 5, "its fields: bytes, count, roots, likely");
	check_wrong("(live.bytes > 1", 12, ")");
	check_wrong("growth(baseline.live.bytes) > 1", 6, "already");
	check_wrong("live.bytes > 1 > 2", 15, "after");
}

/* Such a gate compares apples with pears, and never fails or always. */
HI_TEST(gate, both_sides_have_one_unit)
{
	check_wrong("live.bytes > 2ms", 13, "a time cannot be compared with bytes");
	check_wrong("leak.bytes > 1%", 13, "growth(METRIC)");
	check_wrong("growth(leak.bytes) > 64KiB", 21, "bytes cannot");
	check_wrong("live.count > 5KiB", 13, "compared with objects");
	check_wrong("live.bytes + live.count > 5", 11, "objects cannot");
	check_wrong("snapshot.pause > 1MiB", 17, "compared with a time");
}

static struct hi_gate unit_of(const char *text)
{
	struct hi_arena arena = {};
	struct hi_gate gate;
	struct hi_error err = {};
	size_t column = 0;

	HI_ASSERT_OK(hi_gate_parse(text, &arena, &gate, &column, &err), &err);
	hi_arena_free(&arena);
	return gate;
}

HI_TEST(gate, units_are_those_of_the_arithmetic)
{
	HI_ASSERT_EQ(HI_GATE_OF_BYTES, unit_of("live.bytes > 1").unit);
	HI_ASSERT_EQ(HI_GATE_OF_BYTES, unit_of("1 < 2 * live.bytes - 5%*1B").unit);
	HI_ASSERT_EQ(HI_GATE_OF_OBJECTS, unit_of("leak.roots > 1").unit);
	HI_ASSERT_EQ(HI_GATE_SHARE, unit_of("growth(live.count) > 1").unit);
	HI_ASSERT_EQ(HI_GATE_SHARE, unit_of("leak.bytes / live.bytes > 0.1").unit);
	HI_ASSERT_EQ(HI_GATE_PLAIN, unit_of("live.bytes / live.count > 64").unit);
	HI_ASSERT_EQ(HI_GATE_NS, unit_of("snapshot.pause > 5ms").unit);
	HI_ASSERT(unit_of("slope(live.bytes) > 1KiB").per_census);
	HI_ASSERT(!unit_of("live.bytes > 1KiB").per_census);
}

HI_TEST(gate, gate_tells_which_values_it_compares_over_time)
{
	HI_ASSERT(unit_of("survived.bytes > 0").needs_three);
	HI_ASSERT(unit_of("slope(live.bytes) > 0").needs_series);
	HI_ASSERT(!unit_of("growth(live.bytes) > 0").needs_series);
	check_wrong("slope(root(\"a\").retained) > 0", 5, "slope takes");
	check_wrong("slope(baseline.live.bytes) > 0", 5, "slope takes");
	check_wrong("slope(type=\"a\") > 0", 14, "expected a field");
	check_wrong("slope(type=a, count) > 0", 11, "in quotes");
	check_wrong("slope(live.bytes > 0", 17, "expected )");
	check_wrong("survived(typ=\"a\").bytes > 0", 9, "in quotes");
	check_wrong("baseline.survived.bytes > 0", 9, "no survivors");
	check_wrong("growth(survived.bytes) > 0", 6, "no survivors");
}

HI_TEST(gate, nesting_and_length_are_bounded)
{
	char text[4096];
	struct hi_arena arena = {};
	struct hi_gate gate;
	struct hi_error err = {};
	size_t column = 0, n = 0;

	memset(text, '(', 4000);
	text[4000] = 0;
	HI_ASSERT_STATUS(HI_USAGE, hi_gate_parse(text, &arena, &gate, &column, &err));
	HI_ASSERT(strstr(err.text, "too deep"));
	for (n = 0; n < 4000; n += 2)
		memcpy(text + n, "1+", 2);
	memcpy(text + n, "1>0", 4);
	HI_ASSERT_STATUS(HI_USAGE, hi_gate_parse(text, &arena, &gate, &column, &err));
	HI_ASSERT(strstr(err.text, "too long"));
	hi_arena_free(&arena);
}

HI_TEST(gate, unknown_values_are_told_apart)
{
	struct hi_arena arena = {};
	struct hi_gate gate;
	struct hi_gate_result r;
	struct hi_error err = {};
	size_t column = 0;

	HI_ASSERT_OK(hi_gate_parse("snapshot.pause > 1ms", &arena, &gate, &column, &err),
		     &err);
	r = hi_gate_evaluate(&gate, value, NULL);
	HI_ASSERT(!r.is_known && !r.is_true && r.unknown);
	HI_ASSERT(!gate.needs_baseline);
	HI_ASSERT_OK(
		hi_gate_parse("growth(live.bytes) > 1", &arena, &gate, &column, &err),
		&err);
	HI_ASSERT(gate.needs_baseline);
	hi_arena_free(&arena);
}

/* ---- slopes ---- */

static struct hi_check_slope fit(const double *values, size_t n)
{
	struct hi_check_slope slope = {};

	hi_check_slope_fit(values, n, &slope);
	HI_ASSERT_EQ(n, slope.n);
	return slope;
}

static void check_near(double expected, double got)
{
	HI_ASSERT_MSG(fabs(expected - got) <= 1e-6 * (1 + fabs(expected)), "%g, not %g",
		      got, expected);
}

/* Slopes and standard errors are those of R's lm() and confint(). */
HI_TEST(gate, slopes_are_those_of_least_squares)
{
	static const double line[] = {10, 13, 16, 19}, steps[] = {10, 21, 30};
	static const double saw[] = {10, 100, 40, 60, 20}, flat[] = {5, 5, 5};
	static const double last[] = {100, 100, 100, 100, 100, 100, 100, 190};
	struct hi_check_slope s = fit(line, 4);

	check_near(3, s.slope);
	check_near(0, s.margin);
	s = fit(steps, 3);
	check_near(10, s.slope);
	check_near(12.706 * sqrt(2.0 / 3 / 2), s.margin);
	s = fit(saw, 5);
	check_near(-2, s.slope);
	check_near(3.182 * sqrt(5080.0 / 3 / 10), s.margin);
	s = fit(flat, 3);
	check_near(0, s.slope);
	check_near(0, s.margin);
	/* One census that happens to be larger is no growth. */
	s = fit(last, 8);
	HI_ASSERT(s.slope > 0 && s.slope < s.margin);
}

HI_TEST(gate, a_growth_of_many_censuses_is_seen_through_noise)
{
	double values[200];

	for (int i = 0; i < 200; i++)
		values[i] = 1e9 + 3.0 * i + (i * 7919 % 13) - 6;
	HI_ASSERT(fabs(fit(values, 200).slope - 3) < 0.1);
	HI_ASSERT(fit(values, 200).margin < 0.1);
	/* Of huge values a straight line has no noise either. */
	for (int i = 0; i < 200; i++)
		values[i] = 1e15 + 4096.0 * i;
	check_near(4096, fit(values, 200).slope);
	HI_ASSERT(fit(values, 200).margin < 1);
}
