/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One error type: a returned status, and detail that the caller owns.
 *
 * Nothing on an error path allocates. Libraries never print. Outputs are
 * untouched on failure. Three cases must stay apart:
 *   - unreadable memory is a normal answer (HI_FAULT): count it, show it;
 *   - inconsistent data of the target (HI_BAD_DATA) names the address;
 *   - a programming error is an assert, never a status.
 */
#ifndef HI_BASE_ERROR_H
#define HI_BASE_ERROR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HI_MUST_CHECK [[nodiscard]]

#define HI_STATUSES(X)                                                                   \
	X(OK, "ok")                                                                      \
	X(NO_MEMORY, "out of memory")                                                    \
	X(OS, "system call failed")                                                      \
	X(FAULT, "address is not readable")                                              \
	X(GONE, "the target has exited")                                                 \
	X(BAD_DATA, "inconsistent data")                                                 \
	X(NOT_FOUND, "not found")                                                        \
	X(UNSUPPORTED, "not supported")                                                  \
	X(CANNOT_ATTACH, "cannot attach")                                                \
	X(TIMEOUT, "out of time")                                                        \
	X(MISSED, "the safepoint was not reached in time")                               \
	X(USAGE, "wrong usage")                                                          \
	X(LIMIT, "a limit was reached")

enum HI_MUST_CHECK hi_status {
#define HI_STATUS_ENUM(name, text) HI_##name,
	HI_STATUSES(HI_STATUS_ENUM)
#undef HI_STATUS_ENUM
};

struct hi_error {
	enum hi_status status;
	int os_errno;	  /* only HI_OS and HI_CANNOT_ATTACH; else 0 */
	uint64_t address; /* only HI_FAULT and HI_BAD_DATA: target address */
	char text[240];	  /* "what was attempted: why"; one line */
};

/*
 * Fills err (may be NULL) and returns status, so that
 *	return hi_fail(err, HI_FAULT, addr, "arena %u: top chunk", i);
 * is the whole error path.
 */
enum hi_status hi_fail(struct hi_error *err, enum hi_status status, uint64_t address,
		       const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* HI_OS with the current errno; its strerror is appended to the text. */
enum hi_status hi_fail_errno(struct hi_error *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* HI_NO_MEMORY; what: the object that was to be allocated. */
enum hi_status hi_fail_memory(struct hi_error *err, const char *what);

/* "out of memory" and so on; never NULL. */
const char *hi_status_text(enum hi_status status);

#endif
