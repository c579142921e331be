/* SPDX-License-Identifier: BSD-2-Clause */
/* Documents of `deep --json`. */
#ifndef HI_TESTS_CLI_DEEP_ANSWERS_H
#define HI_TESTS_CLI_DEEP_ANSWERS_H

#include "tests/support/json.h"
#include "tests/support/schema.h"

/* Asks with these words, checked against the schema. */
#define deep_answer(...)                                                                 \
	doc_checked(hi_heapinspect("deep", "--json", __VA_ARGS__), "deep.v1.json")

/* Finds the rows of a table. */
static inline json_t *deep_rows(json_t *doc, const char *key)
{
	return doc_at(doc_row(doc_at(doc, "tables"), "key", key), "rows");
}

/* Finds a number in the row of a function. */
static inline long long deep_number(json_t *rows, const char *function, const char *key)
{
	return doc_number(doc_row(rows, "function", function), "%s", key);
}

#endif
