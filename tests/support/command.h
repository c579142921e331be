/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs a program to its end and keeps what it printed. */
#ifndef HI_TESTS_SUPPORT_COMMAND_H
#define HI_TESTS_SUPPORT_COMMAND_H

#include <stddef.h>
#include <sys/types.h>

struct hi_command {
	char *out, *err; /* NUL-terminated; owned */
	size_t out_size, err_size;
	int exit_code; /* 128+n if ended by signal n; 124 when it took over 600 s */
};

/* argv up to NULL; argv[0] has a slash or is looked for on PATH. uid 0: as we
 * are, else setuid to it first. Freed when the test ends. */
struct hi_command *hi_command_run(uid_t uid, const char *argv0, ...)
	__attribute__((sentinel));
struct hi_command *hi_command_runv(uid_t uid, char *const argv[]);
/* The program under test with words up to NULL, and more of them (NULL: none). */
struct hi_command *hi_heapinspect_words(const char *const *words,
					const char *const *more);
/* The program under test, build/…/heapinspect, with these arguments. */
#define hi_heapinspect(...)                                                              \
	hi_command_run(0, HI_BINARY_DIR "/heapinspect", __VA_ARGS__, NULL)

#endif
