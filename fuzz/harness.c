/* SPDX-License-Identifier: BSD-2-Clause */
/* What tests/support asks of the harness of tests: a failure is a crash. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/harness.h"

void hi_test_fail(const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "%s:%d: ", file, line);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	abort();
}

/* Worlds stay as long as the fuzzer. */
void hi_test_defer_call(void (*fn)(void *), void *arg)
{
	(void)fn;
	(void)arg;
}
