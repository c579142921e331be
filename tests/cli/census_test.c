/* SPDX-License-Identifier: BSD-2-Clause */
/* `census` and its break-downs on a running service, against what the service
 * says of itself. */
#include <stdio.h>

#include "tests/harness.h"
#include "tests/support/fixture.h"
#include "tests/support/json.h"

/* fixtures/leaky_service.c, with these arguments. */
enum { SESSIONS = 3000, PAGES = 200 };

static char pid_text[16];

static const char *start_service(void)
{
	struct hi_fixture *fx = hi_fixture_start("leaky_service", "3000", "200", NULL);

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	snprintf(pid_text, sizeof(pid_text), "%d", (int)fx->pid);
	return pid_text;
}

HI_TEST_SCENARIO(census, every_break_down_adds_up_to_the_live_heap)
{
	static const char *const by[] = {"type", "type2", "module", "class"};
	const char *pid = start_service();

	for (unsigned i = 0; i < 4; i++) {
		json_t *doc = doc_of(hi_heapinspect("census", "--by", by[i], "--pid", pid,
						    "--json", "--all"));
		json_t *live = doc_at(doc, "live");
		json_t *rows = doc_at(doc, "rows");

		HI_ASSERT_STREQ(by[i], doc_text(doc, "by"));
		HI_ASSERT_EQ(doc_number(live, "bytes"), doc_sum(rows, "shallow"));
		HI_ASSERT_EQ(doc_number(live, "objects"), doc_sum(rows, "count"));
	}
}

HI_TEST_SCENARIO(census, children_tell_one_use_of_a_type_from_another)
{
	const char *pid = start_service();
	json_t *doc = doc_of(hi_heapinspect("census", "--by", "type2", "--type",
					    "struct session", "--pid", pid, "--json"));
	json_t *rows = doc_at(doc, "rows");
	bool to_itself = false;

	/* Chains of a hash table: some lead to the next one, the last of each not. */
	HI_ASSERT_EQ(SESSIONS, doc_sum(rows, "count"));
	HI_ASSERT_MSG(json_array_size(rows) >= 2, "%zu rows", json_array_size(rows));
	for (size_t i = 0; i < json_array_size(rows); i++) {
		json_t *children = doc_at(rows, "%zu.children", i);

		for (size_t k = 0; k < json_array_size(children); k++)
			to_itself |= strcmp(doc_text(children, "%zu", k),
					    "struct session") == 0;
	}
	HI_ASSERT(to_itself);
	/* What --type hides is told, in types and bytes. */
	HI_ASSERT(doc_number(doc, "hidden.by_type.bytes") > 0);
	HI_ASSERT(strstr(hi_heapinspect("census", "--by", "type2", "--type", "session",
					"--pid", pid, "-q")
				 ->out,
			 " hidden by --type") != NULL);
}

HI_TEST_SCENARIO(census, structs_of_the_program_are_its_records)
{
	const char *pid = start_service();
	json_t *modules =
		doc_at(doc_of(hi_heapinspect("census", "--by", "module", "--type",
					     "struct session", "--pid", pid, "--json")),
		       "rows");
	json_t *classes =
		doc_at(doc_of(hi_heapinspect("census", "--by", "class", "--type",
					     "struct session", "--pid", pid, "--json")),
		       "rows");

	HI_ASSERT_EQ(1, json_array_size(modules));
	HI_ASSERT_EQ(SESSIONS,
		     doc_number(doc_row(modules, "module", "leaky_service"), "count"));
	HI_ASSERT_EQ(1, json_array_size(classes));
	HI_ASSERT_EQ(SESSIONS, doc_number(doc_row(classes, "class", "record"), "count"));
	/* One is held by nobody else of them: what they retain includes their own. */
	HI_ASSERT(doc_number(classes, "0.retained") >= doc_number(classes, "0.shallow"));
}
