/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests in C, run by Google Test.
 *
 *	HI_TEST(memory, read_past_the_end_faults_at_the_first_bad_byte)
 *	{
 *		HI_ASSERT_OK(hi_memory_read(mem, 0, buf, 1, &err), &err);
 *		HI_ASSERT_EQ(2, 1 + 1);
 *	}
 *
 * HI_TEST: label unit (no other process, milliseconds). HI_TEST_SCENARIO runs
 * fixtures; HI_TEST_ROOT needs root and is skipped without; HI_TEST_SLOW takes
 * more than a few seconds. HI_TEST_INTEROP asks readers of other people what they
 * find in our exports; HI_TEST_INTEROP_SLOW takes more than half a minute for it.
 * An assertion ends the test. HI_SKIP(reason) is a loud skip by hand and a failure
 * where CI=true.
 */
#ifndef HI_TESTS_HARNESS_H
#define HI_TESTS_HARNESS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"

struct hi_test {
	const char *suite, *name, *label, *file;
	int line;
	void (*body)(void);
};

#define HI_TEST_LABELLED(lbl, s, n)                                                      \
	static void hi_test_##s##_##n(void);                                             \
	static const struct hi_test hi_test_record_##s##_##n = {                         \
		#s, #n, lbl, __FILE__, __LINE__, hi_test_##s##_##n};                     \
	static const struct hi_test *const hi_test_entry_##s##_##n                       \
		__attribute__((used, section("hi_tests"))) = &hi_test_record_##s##_##n;  \
	static void hi_test_##s##_##n(void)
#define HI_TEST(s, n) HI_TEST_LABELLED("unit", s, n)
#define HI_TEST_SCENARIO(s, n) HI_TEST_LABELLED("scenario", s, n)
/* Its threads would keep the tests beside it from the processors: it runs alone. */
#define HI_TEST_BUSY(s, n) HI_TEST_LABELLED("scenario-busy", s, n)
/* Its tracer has a priority, and no time to sleep: one of these runs at a time. */
#define HI_TEST_STORM(s, n) HI_TEST_LABELLED("scenario-storm", s, n)
#define HI_TEST_ROOT(s, n) HI_TEST_LABELLED("root", s, n)
/* No other test with probes runs meanwhile: it counts them, or measures what they cost.
 */
#define HI_TEST_ROOT_ALONE(s, n) HI_TEST_LABELLED("root-alone", s, n)
#define HI_TEST_SLOW(s, n) HI_TEST_LABELLED("slow", s, n)
#define HI_TEST_INTEROP(s, n) HI_TEST_LABELLED("interop-fast", s, n)
#define HI_TEST_INTEROP_SLOW(s, n) HI_TEST_LABELLED("interop-slow", s, n)

/* All of these end the test (by a longjmp: free nothing by cleanup guards
 * that later tests depend on; hi_test_defer() runs on every way out). */
_Noreturn void hi_test_fail(const char *file, int line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
_Noreturn void hi_test_skip(const char *file, int line, const char *reason);
void hi_test_defer_call(void (*fn)(void *), void *arg);
/* Calls fn(arg) when the test ends, last first, at most 1024 a test. fn returns nothing
 * and takes one pointer of any type, which that of arg fits. */
#define hi_test_defer(fn, arg)                                                           \
	((void)sizeof((fn)(arg), 0), hi_test_defer_call((void (*)(void *))(fn), (arg)))
/* Fails the test, which goes on. */
void hi_test_error(const char *file, int line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
bool hi_test_has_failed(void); /* the test that runs; for what is deferred */
/* A line in the log of the test. */
void hi_test_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#define HI_ASSERT(cond)                                                                  \
	do {                                                                             \
		if (!(cond))                                                             \
			hi_test_fail(__FILE__, __LINE__, "%s", #cond);                   \
	} while (0)
#define HI_ASSERT_MSG(cond, ...)                                                         \
	do {                                                                             \
		if (!(cond))                                                             \
			hi_test_fail(__FILE__, __LINE__, __VA_ARGS__);                   \
	} while (0)
/* Integers of any kind, printed in decimal and hex. Expected first. */
#define HI_ASSERT_EQ(expected, actual)                                                   \
	do {                                                                             \
		long long hi_e_ = (long long)(expected), hi_a_ = (long long)(actual);    \
		if (hi_e_ != hi_a_)                                                      \
			hi_test_fail(__FILE__, __LINE__,                                 \
				     "%s: expected %lld (0x%llx), got %lld (0x%llx)",    \
				     #actual, hi_e_, (unsigned long long)hi_e_, hi_a_,   \
				     (unsigned long long)hi_a_);                         \
	} while (0)
#define HI_ASSERT_STREQ(expected, actual)                                                \
	do {                                                                             \
		const char *hi_e_ = (expected), *hi_a_ = (actual);                       \
		if (!hi_a_ || strcmp(hi_e_, hi_a_) != 0)                                 \
			hi_test_fail(__FILE__, __LINE__,                                 \
				     "%s: expected \"%s\", got \"%s\"", #actual, hi_e_,  \
				     hi_a_ ? hi_a_ : "(null)");                          \
	} while (0)
#define HI_ASSERT_OK(call, err)                                                          \
	do {                                                                             \
		enum hi_status hi_s_ = (call);                                           \
		if (hi_s_ != HI_OK)                                                      \
			hi_test_fail(__FILE__, __LINE__, "%s: %s (%s)", #call,           \
				     hi_status_text(hi_s_), (err)->text);                \
	} while (0)
#define HI_ASSERT_STATUS(expected, call)                                                 \
	do {                                                                             \
		enum hi_status hi_s_ = (call);                                           \
		if (hi_s_ != (expected))                                                 \
			hi_test_fail(__FILE__, __LINE__,                                 \
				     "%s: expected \"%s\", got \"%s\"", #call,           \
				     hi_status_text(expected), hi_status_text(hi_s_));   \
	} while (0)
#define HI_SKIP(reason) hi_test_skip(__FILE__, __LINE__, reason)

#endif
