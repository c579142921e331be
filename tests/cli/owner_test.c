/* SPDX-License-Identifier: BSD-2-Clause */
/* `census --by owner` of C++: what is in buffers of its own counts with its object. */
#include <stdio.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/fixture.h"
#include "tests/support/json.h"
#include "tests/support/snapshots.h"

static json_t *owner_document(const char *by, const char *pid)
{
	return doc_of(
		hi_heapinspect("census", "--by", by, "--all", "--json", "--pid", pid));
}

/* A column of a type; 0: it has no row. */
static long long number_of_type(json_t *doc, const char *type, const char *column)
{
	json_t *row;
	size_t i;

	json_array_foreach(json_object_get(doc, "rows"), i, row)
	{
		if (strcmp(json_string_value(json_object_get(row, "type")), type) == 0)
			return json_integer_value(json_object_get(row, column));
	}
	return 0;
}

/* 4,000 rows in one vector, each with a name of 27 characters or more. */
HI_TEST_SCENARIO(by_owner, buffers_of_strings_count_with_what_has_them)
{
	struct hi_fixture *fx = hi_fixture_start("local_rows", NULL);
	char pid[16];

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	snprintf(pid, sizeof(pid), "%d", (int)fx->pid);

	json_t *types = owner_document("type", pid),
	       *owners = owner_document("owner", pid);
	long long rows = number_of_type(types, "Row", "shallow");
	long long names = number_of_type(types, "string buffer", "shallow");

	HI_ASSERT(rows >= 4000 * 40 && names >= 4000 * 28);
	HI_ASSERT_EQ(rows + names, number_of_type(owners, "Row", "shallow"));
	HI_ASSERT_EQ(rows + names, number_of_type(owners, "Row", "largest"));
	HI_ASSERT_EQ(0, number_of_type(owners, "string buffer", "shallow"));
	/* What is not of the type by itself counts too. */
	owners = doc_of(hi_heapinspect("census", "--by", "owner", "--type", "Row",
				       "--json", "--pid", pid));
	HI_ASSERT_EQ(rows + names, number_of_type(owners, "Row", "shallow"));
}

HI_TEST_SCENARIO(by_owner, all_paths_are_listed_where_that_is_asked)
{
	struct hi_fixture *fx = hi_fixture_start("local_rows", NULL);
	char pid[16];

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	snprintf(pid, sizeof(pid), "%d", (int)fx->pid);

	json_t *doc = doc_of(hi_heapinspect("paths", "string buffer", "--each", "--all",
					    "--json", "--pid", pid));

	HI_ASSERT(json_array_size(json_object_get(doc, "rows")) >= 4000);
}
