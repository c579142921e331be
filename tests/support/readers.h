/* SPDX-License-Identifier: BSD-2-Clause */
/* Programs of other people that read what we export (tests/interop). */
#ifndef HI_TESTS_SUPPORT_READERS_H
#define HI_TESTS_SUPPORT_READERS_H

#include <jansson.h>
#include <sys/types.h>

/* What scripts/build-readers made; skips the test (in CI: fails it) without it. */
const char *readers_directory(void);
/* The same for a program on PATH, and for hp2ps, which scripts/build-targets fetches. */
void readers_need(const char *program);
const char *readers_hp2ps(void);

/* IN/real.hisnap of a running process, and of a Python service. */
const char *readers_snapshot(const char *in, pid_t pid);
const char *readers_python(const char *in);

/* heapinspect export FILE -f FORMAT -o IN/NAME; fails the test unless it went well and
 * said nothing. */
const char *readers_export(const char *file, const char *format, const char *table,
			   const char *in, const char *name);
/* Runs a reader, argv[0] on PATH, which must end well; what it printed, until the test
 * ends. */
const char *readers_ask(const char *const argv[]);
/* The same where that is a JSON document. */
json_t *readers_ask_json(const char *const argv[]);

#endif
