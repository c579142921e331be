/* SPDX-License-Identifier: BSD-2-Clause */
/* What looks like a chunk, a caller or a name that it is not. */
#include "tests/harness.h"
#include "tests/support/json.h"
#include "tests/support/targets.h"

static json_t *summary_of(const char *fixture)
{
	return target_ask(target_start(fixture, NULL), "--all");
}

HI_TEST_SCENARIO(looks,
		 a_page_like_a_chunk_is_none_and_a_stale_word_no_call_out_of_malloc)
{
	json_t *doc = summary_of("looks_like");

	HI_ASSERT_EQ(0, doc_number(doc, "allocator.damaged"));
	HI_ASSERT_EQ(0, doc_number(doc, "leaks.bytes"));
	HI_ASSERT_EQ(0, doc_number(doc, "snapshot.threads_in_allocator"));
}

HI_TEST_SCENARIO(looks,
		 a_cxx_variable_that_only_a_symbol_names_has_its_name_of_the_source)
{
	doc_row(doc_at(summary_of("symbols_only"), "roots"), "name", "app::the_registry");
}

HI_TEST_SCENARIO(looks, objects_after_the_first_member_of_a_record_are_not_leaked)
{
	json_t *doc = summary_of("first_member");

	HI_ASSERT(doc_number(doc, "objects.live") >= 100);
	HI_ASSERT_EQ(0, doc_number(doc, "leaks.objects"));
}
