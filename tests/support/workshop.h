/* SPDX-License-Identifier: BSD-2-Clause */
/* A directory of its own for a test that compiles, strips and replaces programs;
 * removed when the test ends. */
#ifndef HI_TESTS_SUPPORT_WORKSHOP_H
#define HI_TESTS_SUPPORT_WORKSHOP_H

#include <sys/types.h>

/* Its path, new and empty. */
const char *workshop_open(void);
/* Writes a file into it. */
void workshop_write(const char *name, const char *text);
/* Runs a shell command in it; fails the test unless it succeeds. */
void workshop_run(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Starts a program of it that says "ready" and waits until its stdin ends. */
pid_t workshop_start(const char *name);
/* The end of a program that workshop_start can run: `int main` included. */
extern const char workshop_main[];

#endif
