/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Documents of `alloc --json`, and recordings of fixtures/space_lives.c, which says what
 * each command has allocated.
 */
#ifndef HI_TESTS_SUPPORT_SPACED_H
#define HI_TESTS_SUPPORT_SPACED_H

#include <jansson.h>

#include "tests/support/fixture.h"
#include "tests/support/recording_run.h"

struct spaced {
	long long number, size, overhead;
};
struct spaced spaced_sum(struct spaced a, struct spaced b);
struct spaced spaced_times(struct spaced a, long long n);
void spaced_check(struct spaced expected, struct spaced actual);

/* ---- documents ---- */

/* Runs `alloc FILE --json --all` with more words, NULL at the end. The document is
 * checked against the schema, and its functions against the total. */
json_t *spaced_read(const char *file, ...);
/* The same of a command that was run. */
json_t *spaced_document(const struct hi_command *c);
/* The same, of which functions may not have all columns. */
json_t *spaced_columns(const struct hi_command *c);
/* An amount of a document. */
struct spaced spaced_of(json_t *amount);
/* "alloc", "survived", "live" of a row. */
struct spaced spaced_amount(json_t *row, const char *key);
struct spaced spaced_at_age(json_t *row, size_t age);
json_t *spaced_named(json_t *list, const char *name);
bool spaced_has(json_t *list, const char *name);
json_t *spaced_function(json_t *doc, const char *name);
json_t *spaced_total(json_t *doc);

/* ---- the fixture ---- */

struct hi_fixture *spaced_start(void);
struct spaced spaced_tell(struct hi_fixture *fx, const char *command);
/* A file for a recording; static, until the next call. */
const char *spaced_file(void);
/* Ends it by SIGINT; exit code 0. */
const struct hi_command *spaced_end(struct recording_run *run);
/* `heapinspect COMMAND --pid N TEXT`, as a second process; returns when it was answered.
 */
struct hi_command *spaced_mark(const struct hi_fixture *fx, const char *text);

#endif
