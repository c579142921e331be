/* SPDX-License-Identifier: BSD-2-Clause */
/* The Python programs of fixtures/python as targets, and what the program under test says
 * of them. */
#ifndef HI_TESTS_SUPPORT_PYTHON_H
#define HI_TESTS_SUPPORT_PYTHON_H

#include "tests/support/json.h"
#include "tests/support/targets.h"

#define PYTHON "/usr/bin/python3.11"

/* fixtures/python/NAME.py with an argument or two (NULL: none), ready. environment:
 * "NAME=value", NULL: none. */
struct target *python_start(const char *environment, const char *name,
			    const char *argument1, const char *argument2);

/* The document that a command printed about it, checked against its schema; --pid and
 * --json are added. Fails the test where the command fails. */
#define python_ask(t, ...) python_ask_words(t, TARGET_WORDS(__VA_ARGS__))
json_t *python_ask_words(const struct target *t, const char *const *words);
/* The same with a snapshot file in place of the process. */
#define python_ask_file(file, ...) python_ask_file_words(file, TARGET_WORDS(__VA_ARGS__))
json_t *python_ask_file_words(const char *file, const char *const *words);
/* The number of objects of a type in the rows of a census; 0: it has no row. */
long long python_count(const json_t *census, const char *type);

/* In the array of objects `rows`: the one whose `key` is `text`; NULL. */
json_t *python_row(json_t *rows, const char *key, const char *text);
const char *python_text(json_t *object, const char *key); /* "" */
long long python_number(json_t *object, const char *key); /* fails without */

#endif
