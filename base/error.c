/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/process_bound.h"

static void fill_error(struct hi_error *err, enum hi_status status, uint64_t address,
		       const char *fmt, va_list ap)
{
	err->status = status;
	err->os_errno = 0;
	err->address = address;
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
}

enum hi_status hi_fail(struct hi_error *err, enum hi_status status, uint64_t address,
		       const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return status;
	va_start(ap, fmt);
	fill_error(err, status, address, fmt, ap);
	va_end(ap);
	return status;
}

enum hi_status hi_fail_errno(struct hi_error *err, const char *fmt, ...)
{
	int saved = errno;
	const char *why = strerrordesc_np(saved);
	va_list ap;
	size_t used;

	if (!err)
		return HI_OS;
	va_start(ap, fmt);
	fill_error(err, HI_OS, 0, fmt, ap);
	va_end(ap);
	err->os_errno = saved;
	used = strlen(err->text);
	/* Some of the kernel's own are not known to libc: 524 is ENOTSUPP. */
	if (why)
		snprintf(err->text + used, sizeof(err->text) - used, ": %s", why);
	else
		snprintf(err->text + used, sizeof(err->text) - used, ": error %d", saved);
	return HI_OS;
}

enum hi_status hi_fail_memory(struct hi_error *err, const char *what)
{
	char bound[64];

	return hi_fail(err, HI_NO_MEMORY, 0, "%s: out of memory%s", what,
		       hi_process_bound_text(bound));
}

const char *hi_status_text(enum hi_status status)
{
	static const char *const texts[] = {
#define HI_STATUS_TEXT(name, text) text,
		HI_STATUSES(HI_STATUS_TEXT)
#undef HI_STATUS_TEXT
	};

	return (size_t)status < sizeof(texts) / sizeof(texts[0]) ? texts[status] : "?";
}
