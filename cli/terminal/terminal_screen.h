/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The terminal of a live view: its alternate screen, and keys one by one. At most one
 * view is shown at a time. Whatever ends the program in order gives the terminal back as
 * it was, and Ctrl-Z does for as long as the program is stopped.
 */
#ifndef HI_CLI_TERMINAL_TERMINAL_SCREEN_H
#define HI_CLI_TERMINAL_TERMINAL_SCREEN_H

#include <stdbool.h>

/* Can the terminal behind standard output show one? */
bool hi_terminal_screen_is_possible(void);
/* Shows it on fd, which is a terminal. takes_keys: standard input is for the view. */
void hi_terminal_screen_open(int fd, bool takes_keys);
bool hi_terminal_screen_is_open(void);
/* Back to the screen that stays. Nothing where none is shown. */
void hi_terminal_screen_close(void);
/* Where keys are read now; -1: nowhere. */
int hi_terminal_screen_keys_fd(void);
unsigned hi_terminal_screen_lines(int fd);

/* For a process without rights: HI_FILES_TERMINAL (base/files.h). Returns -1 and errno,
 * which is 0 where it was done. */
int hi_terminal_screen_serve(const char *request);

/* For handlers of signals: the terminal as it was before the view. */
void hi_terminal_screen_leave(void);

#endif
