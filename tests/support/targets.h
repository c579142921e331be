/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A fixture as a target: it says lines of truth and "ready", and heapinspect is asked
 * about it. Everything lives until the test ends.
 *
 *	struct target *t = target_start("lost_nodes", "7", NULL);
 *	json_t *doc = target_ask(t, "leaks", "--all");
 *
 *	HI_ASSERT_EQ(target_number(t, "leaks"), doc_number(doc, "leaks.objects"));
 */
#ifndef HI_TESTS_SUPPORT_TARGETS_H
#define HI_TESTS_SUPPORT_TARGETS_H

#include <jansson.h>

#include "tests/support/command.h"
#include "tests/support/fixture.h"

struct target {
	struct hi_fixture *fx;
	char pid[16];
	char *said; /* before "ready": lines, each with its newline */
};

/* hi_fixture_start(), and target_of() what it started. */
struct target *target_start(const char *name, ...) __attribute__((sentinel));
/* Reads what a fixture says until it is ready. */
struct target *target_of(struct hi_fixture *fx);

/* ---- truth ---- */

/* Finds the line that begins with the words `key`, and returns what is after them and
 * a blank, up to the newline. Fails the test where there is none. */
char *target_said(const struct target *t, const char *key);
/* The same as a number, decimal or 0x.... */
long long target_number(const struct target *t, const char *key);
/* The same of the i-th word after the key; 0: the first. */
long long target_nth(const struct target *t, const char *key, unsigned i);
/* Calls fn for each line. */
void target_each_line(const struct target *t, void (*fn)(const char *line, void *arg),
		      void *arg);

/* ---- heapinspect WORDS --pid PID ---- */

#define TARGET_WORDS(...) ((const char *const[]){__VA_ARGS__ __VA_OPT__(, ) NULL})
/* Fails the test unless it ends with 0. */
#define target_run(t, ...) target_run_words(t, TARGET_WORDS(__VA_ARGS__))
struct hi_command *target_run_words(const struct target *t, const char *const *words);
/* Returns the document that it prints with --json. */
#define target_ask(t, ...) target_ask_words(t, TARGET_WORDS(__VA_ARGS__))
json_t *target_ask_words(const struct target *t, const char *const *words);
/* Returns the path of a new snapshot file; words are more options. */
#define target_snap(t, ...) target_snap_words(t, TARGET_WORDS(__VA_ARGS__))
const char *target_snap_words(const struct target *t, const char *const *words);
/* Returns the number in the first column of the first row of a query. */
long long target_query(const struct target *t, const char *sql);

#endif
