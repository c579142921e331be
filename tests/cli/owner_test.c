/* SPDX-License-Identifier: BSD-2-Clause */
/* `census --by owner` of C++: what is in buffers of its own counts with its object. */
#include "tests/harness.h"
#include "tests/support/json.h"
#include "tests/support/targets.h"

static json_t *rows_by(const struct target *t, const char *by)
{
	return doc_at(target_ask(t, "census", "--by", by, "--all"), "rows");
}

/* A column of a type, which has a row. */
static long long number_of_type(json_t *rows, const char *type, const char *column)
{
	return doc_number(doc_row(rows, "type", type), "%s", column);
}

static void check_all_paths_are_listed_where_that_is_asked(const struct target *t)
{
	HI_ASSERT(doc_size(target_ask(t, "paths", "string buffer", "--each", "--all"),
			   "rows") >= 4000);
}

/* 4,000 rows in one vector, each with a name of 27 characters or more. */
HI_TEST_SCENARIO(by_owner, buffers_of_strings_count_with_their_owner)
{
	struct target *t = target_start("local_rows", NULL);
	json_t *types = rows_by(t, "type"), *owners = rows_by(t, "owner");
	long long rows = number_of_type(types, "Row", "shallow");
	long long names = number_of_type(types, "string buffer", "shallow");

	HI_ASSERT(rows >= 4000 * 40 && names >= 4000 * 28);
	HI_ASSERT_EQ(rows + names, number_of_type(owners, "Row", "shallow"));
	HI_ASSERT_EQ(rows + names, number_of_type(owners, "Row", "largest"));
	HI_ASSERT_EQ(0, doc_sum_of(owners, "type", "string buffer", "shallow"));
	/* What is not of the type by itself counts too. */
	owners =
		doc_at(target_ask(t, "census", "--by", "owner", "--type", "Row"), "rows");
	HI_ASSERT_EQ(rows + names, number_of_type(owners, "Row", "shallow"));
	check_all_paths_are_listed_where_that_is_asked(t);
}
