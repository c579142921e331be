/* SPDX-License-Identifier: BSD-2-Clause */
/* What `roots`, `retainers` and `explain` take of names: of types, of variables. On
 * fixtures/leaky_service.c. */
#include <string.h>

#include "tests/harness.h"
#include "tests/support/json.h"
#include "tests/support/targets.h"

/* Chunks of 40 bytes for a record, and of 8 for the size: sessions 50, entries 30. */
enum { SESSIONS = 50, ENTRIES = 30, SESSION = 48, ENTRY = 48 };

static void check_retainers_count_objects_of_the_type_alone(const struct target *t)
{
	json_t *doc = target_ask(t, "retainers", "--type", "session");

	HI_ASSERT_EQ(1, doc_size(doc, "rows"));
	HI_ASSERT_EQ(SESSIONS, doc_number(doc, "rows.0.objects"));
	HI_ASSERT_EQ(SESSIONS * SESSION, doc_number(doc, "rows.0.bytes"));
	HI_ASSERT_STREQ("session", doc_text(doc, "only.type"));
	HI_ASSERT_EQ(SESSIONS * SESSION, doc_number(doc, "only.bytes"));
	/* With what is hidden it is the whole heap. */
	HI_ASSERT_EQ(doc_number(target_ask(t, "census"), "live.bytes"),
		     doc_number(doc, "only.bytes") +
			     doc_number(doc, "only.hidden_bytes"));
}

static void check_bins_count_objects_of_the_type_alone(const struct target *t)
{
	json_t *doc = target_ask(t, "roots", "--root", "s=sessions", "--root",
				 "pages=page_cache", "--type",
				 "struct session,struct cache_entry"),
	       *row;
	unsigned filled = 0;

	HI_ASSERT_EQ(SESSIONS * SESSION, doc_number(doc, "rows.0.bytes"));
	HI_ASSERT_EQ(SESSIONS, doc_number(doc, "rows.0.objects"));
	HI_ASSERT_EQ(ENTRIES * ENTRY, doc_number(doc, "rows.1.bytes"));
	HI_ASSERT_EQ(SESSIONS * SESSION + ENTRIES * ENTRY,
		     doc_sum(doc_at(doc, "rows"), "bytes"));
	/* Those of no root are in NOROOT. */
	doc = target_ask(t, "roots", "--root", "s=sessions", "--type",
			 "struct cache_entry");
	doc_each (row, doc_at(doc, "rows"))
		filled += doc_number(row, "bytes") != 0;
	HI_ASSERT_EQ(1, filled);
	HI_ASSERT_EQ(ENTRIES * ENTRY, doc_sum(doc_at(doc, "rows"), "bytes"));
}

static void check_small_rows_are_hidden_and_counted(const struct target *t)
{
	static const char *const commands[] = {"retainers", "roots"};

	for (size_t i = 0; i < 2; i++) {
		struct hi_command *c =
			hi_heapinspect(commands[i], "--root", "s=sessions", "--type",
				       "struct session", "--min-size", "1MiB", "--pid",
				       t->pid, i ? NULL : "--under", "s", NULL);

		HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
		HI_ASSERT_MSG(strstr(c->out, "2.3 KiB hidden"), "%s", c->out);
	}
}

static void
check_a_type_that_nothing_has_is_an_error_with_near_names(const struct target *t)
{
	static const char *const commands[] = {"retainers", "roots"};

	for (size_t i = 0; i < 2; i++) {
		struct hi_command *c =
			hi_heapinspect(commands[i], "--type", "struct sesion", "--pid",
				       t->pid, i ? "--root" : NULL, "s=sessions");

		HI_ASSERT_EQ(2, c->exit_code);
		HI_ASSERT_MSG(strstr(c->err, "struct session"), "%s", c->err);
	}
}

static void check_a_variable_that_is_not_there_has_near_names(const struct target *t)
{
	struct hi_command *c;

	c = hi_heapinspect("roots", "--root", "s=sesions->buckets", "--pid", t->pid);
	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT_MSG(strstr(c->err, "'sesions'; near it: 'sessions'"), "%s", c->err);
	c = hi_heapinspect("explain", "page_cahce", "--pid", t->pid);
	HI_ASSERT_MSG(strstr(c->err, "near it: 'page_cache'"), "%s", c->err);
	c = hi_heapinspect("roots", "--root", "s=nothing_like_it", "--pid", t->pid);
	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT_MSG(!strstr(c->err, "near it"), "%s", c->err);
	c = hi_heapinspect("roots", "--root", "s=sesions->buckets", target_snap(t));
	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT_MSG(strstr(c->err, "near it: sessions"), "%s", c->err);
}

HI_TEST_SCENARIO(restrict_type, commands_take_names_of_types_and_variables)
{
	struct target *t = target_start("leaky_service", "50", "30", NULL);

	check_retainers_count_objects_of_the_type_alone(t);
	check_bins_count_objects_of_the_type_alone(t);
	check_small_rows_are_hidden_and_counted(t);
	check_a_type_that_nothing_has_is_an_error_with_near_names(t);
	check_a_variable_that_is_not_there_has_near_names(t);
}
