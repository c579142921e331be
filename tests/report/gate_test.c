/* SPDX-License-Identifier: BSD-2-Clause */
/* The language of gates: values by hand, and where an error is. */
#include "report/views/gate.h"
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
	check_value("type(\"\").objects == 0", 0, 0, true);
	check_value("10 - 3 - 2 == 5", 5, 5, true);
	check_value("8 / 2 / 2 == 2", 2, 2, true);
	check_value("1.5GiB > 2ms", 1610612736, 2e6, true);
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
	check_wrong("live.bytes > 1 2", 15, "after");
	check_wrong("(live.bytes > 1", 12, ")");
	check_wrong("growth(baseline.live.bytes) > 1", 6, "already");
	check_wrong("live.bytes > 1 > 2", 15, "after");
}

HI_TEST(gate, what_is_nested_or_long_without_end_is_refused)
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

HI_TEST(gate, a_value_that_nobody_knows_is_told_apart)
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
