/* SPDX-License-Identifier: BSD-2-Clause */
/* The Python programs of fixtures/python as targets: what they say of themselves, and
 * what the program under test says of them. */
#ifndef HI_TESTS_SUPPORT_PYTHON_H
#define HI_TESTS_SUPPORT_PYTHON_H

#include <jansson.h>
#include <stdint.h>

#include "tests/support/command.h"
#include "tests/support/fixture.h"

#define PYTHON "/usr/bin/python3.11"

struct python {
	struct hi_fixture *fx;
	char pid[16];
	size_t n_lines;
	char lines[32][120]; /* what it said before "ready" */
};

/* fixtures/python/NAME.py with an argument or two (NULL: none), ready. environment:
 * "NAME=value", NULL: none. */
struct python *python_start(const char *environment, const char *name,
			    const char *argument1, const char *argument2);
/* The N-th word (0: the first behind the key) of the line that begins with it. */
const char *python_said(const struct python *p, const char *key, unsigned n);
uint64_t python_address(const struct python *p, const char *key);

/* The document that a command printed about it, checked against its schema; words
 * end with NULL, --pid and --json are added. Fails the test where the command fails. */
json_t *python_ask(const struct python *p, const char *const *words);
/* The same with a snapshot file in place of the process. */
json_t *python_ask_file(const char *file, const char *const *words);
#define PYTHON_WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* In the array of objects `rows`: the one whose `key` is `text`; NULL. */
json_t *python_row(json_t *rows, const char *key, const char *text);
const char *python_text(json_t *object, const char *key); /* "" */
long long python_number(json_t *object, const char *key); /* fails without */

#endif
