/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * JSON that a program printed.
 *
 *	json_t *doc = doc_of(hi_heapinspect("leaks", "--pid", pid, "--json"));
 *	json_t *row = doc_row(doc_at(doc, "rows"), "type", "struct node");
 *
 *	HI_ASSERT_EQ(7, doc_number(doc, "leaks.objects"));
 *	HI_ASSERT_STREQ("main", doc_text(row, "stack.%zu.function", i));
 *
 * A path has names of members and indexes of arrays, with '.' between, below a value;
 * "" is the value itself. It is a format of printf(). A value that is missing, or of
 * another type than the function says, fails the test, with its path and what it was
 * looked for in.
 */
#ifndef HI_TESTS_SUPPORT_JSON_H
#define HI_TESTS_SUPPORT_JSON_H

#include <jansson.h>
#include <stdbool.h>

#include "tests/support/command.h"

#define DOC_PATH __attribute__((format(printf, 2, 3)))

/* ---- documents, freed when the test ends; one that is none fails it ---- */

/* Parses what a command printed; it must have ended with 0, or with that exit code. */
json_t *doc_of(const struct hi_command *c);
json_t *doc_of_exit(const struct hi_command *c, int exit_code);
json_t *doc_parse(const char *text);
json_t *doc_read(const char *path);
/* Parses each line of a text, not of a million: the array of these documents. */
json_t *doc_lines(const char *text);

/* ---- values ---- */

json_t *doc_at(const json_t *doc, const char *path, ...) DOC_PATH;
/* NULL: there is nothing. */
json_t *doc_find(const json_t *doc, const char *path, ...) DOC_PATH;
long long doc_number(const json_t *doc, const char *path, ...) DOC_PATH;
double doc_real(const json_t *doc, const char *path, ...) DOC_PATH; /* or integer */
const char *doc_text(const json_t *doc, const char *path, ...) DOC_PATH;
bool doc_bool(const json_t *doc, const char *path, ...) DOC_PATH;
/* Fails the test unless something is there. */
bool doc_is_null(const json_t *doc, const char *path, ...) DOC_PATH;
/* Counts the items of an array. */
size_t doc_size(const json_t *doc, const char *path, ...) DOC_PATH;

/* ---- rows: an array of objects; `key` is a path below each ---- */

/* Finds the first row whose `key` is the text `value`. */
json_t *doc_row(const json_t *rows, const char *key, const char *value);
/* NULL: there is none. Fails the test where no row has a `key`. */
json_t *doc_find_row(const json_t *rows, const char *key, const char *value);
/* Add up a number that all rows have, or those whose `key` is `value`. */
long long doc_sum(const json_t *rows, const char *number);
long long doc_sum_of(const json_t *rows, const char *key, const char *value,
		     const char *number);
/* Returns the i-th item; NULL after the last one. */
json_t *doc_item(const json_t *rows, size_t i);
/* for (each item) */
#define doc_each(item, rows)                                                             \
	for (size_t item##_i_ = 0; ((item) = doc_item((rows), item##_i_)); item##_i_++)

#endif
