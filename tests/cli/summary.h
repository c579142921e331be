/* SPDX-License-Identifier: BSD-2-Clause */
/* What `heapinspect --json` says of a process, for tests of whole services. */
#ifndef HI_TESTS_CLI_SUMMARY_H
#define HI_TESTS_CLI_SUMMARY_H

#include <stdio.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/command.h"
#include "tests/support/json.h"

/* option may be NULL. */
static inline json_t *summary_with(pid_t pid, const char *option)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", (int)pid);
	return doc_of(hi_heapinspect("--json", "--all", "--max-pause=30s", "--pid", text,
				     option));
}

/* A type has a row for each kind of evidence. key: "count", "shallow". */
static inline long long sum_of_type(json_t *doc, const char *type, const char *key)
{
	return doc_sum_of(doc_at(doc, "types"), "type", type, key);
}

static inline long long count_of_type(json_t *doc, const char *type)
{
	return sum_of_type(doc, type, "count");
}

static inline bool has_root(json_t *doc, const char *name)
{
	return doc_find_row(doc_at(doc, "roots"), "name", name) != NULL;
}

/* The terms of the ledger add up to RSS, unknown included; a term that is unknown is
 * null. */
static inline void check_ledger(json_t *doc)
{
	long long rss = doc_number(doc, "ledger.rss");
	long long sum = doc_number(doc, "ledger.unknown");
	json_t *row;

	HI_ASSERT(rss > 0);
	doc_each (row, doc_at(doc, "ledger.rows")) {
		if (doc_number(row, "level") == 0 && !doc_is_null(row, "resident"))
			sum += doc_number(row, "resident");
	}
	HI_ASSERT_EQ(rss, sum);
}

/* Share of the live bytes that have a type, exactly or by less, and that a field
 * names beyond that; in thousandths. */
static inline long long per_mille_typed(json_t *doc)
{
	return (doc_number(doc, "typed.exact") + doc_number(doc, "typed.inferred")) *
	       1000 / doc_number(doc, "bytes.live");
}
static inline long long per_mille_named(json_t *doc)
{
	return 1000 -
	       doc_number(doc, "typed.unnamed") * 1000 / doc_number(doc, "bytes.live");
}

#endif
