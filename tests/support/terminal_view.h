/* SPDX-License-Identifier: BSD-2-Clause */
/* A program on a terminal of our own, 24 lines high: what it draws, and keys for it. */
#ifndef HI_TESTS_SUPPORT_TERMINAL_VIEW_H
#define HI_TESTS_SUPPORT_TERMINAL_VIEW_H

#include <stddef.h>
#include <sys/types.h>
#include <termios.h>

struct terminal_view {
	pid_t pid;
	int terminal, other; /* other: the side of the program, held open */
	struct termios before;
	size_t used;
	char text[1 << 18];
};

/* Starts the program with its arguments up to NULL. Killed and reaped when the test
 * ends. */
struct terminal_view *terminal_view_open(unsigned columns, const char *program, ...)
	__attribute__((sentinel));
/* Until it writes this; what it wrote before is forgotten. Fails if it ends before. */
void terminal_view_await(struct terminal_view *v, const char *text);
void terminal_view_press(struct terminal_view *v, const char *key);
/* What comes after the screen was left; fails if the terminal is not as before. */
const char *terminal_view_end(struct terminal_view *v);

#endif
