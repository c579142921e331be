/* SPDX-License-Identifier: BSD-2-Clause */
/* What `roots`, `retainers` and `explain` take of names: of types, of variables. On
 * fixtures/leaky_service.c. */
#include <stdio.h>
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

/* ---- types of C++, on fixtures/type_homes.cc ---- */

struct homes {
	struct target *t;
	const char *file;
	/* Of shop::Session: values, and objects that they live in. */
	long long sessions, objects;
};

static struct homes start_homes(void)
{
	static const char *const places[] = {
		"session alone", "session vector", "session list", "session map",
		"session hash",	 "session shared", "session pairs"};
	struct homes h = {.t = target_start("type_homes", NULL)};

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		h.sessions += target_number(h.t, places[i]);
	/* A vector is one block, and a node has two of `pairs`. */
	h.objects = h.sessions - target_number(h.t, "session vector") + 1 -
		    target_number(h.t, "session pairs") / 2;
	h.file = target_snap(h.t);
	return h;
}

static void check_gates_count_values(const struct homes *h)
{
	static const char *const names[] = {"shop::Session", "Session",
					    "struct shop::Session"};
	char gate[80];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(gate, sizeof(gate), "type(\"%s\").count != %lld", names[i],
			 h->sessions);
		HI_ASSERT_EQ(
			0,
			hi_heapinspect("check", h->file, "--fail-on", gate)->exit_code);
	}
}

static void check_a_type_is_no_value(const struct homes *h)
{
	struct hi_command *c =
		hi_heapinspect("explain", "shop::Session", "--pid", h->t->pid);

	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT_MSG(strstr(c->err, "shop::Session is a type: name a variable"), "%s",
		      c->err);
}

static void check_commands_select_them_all(const struct homes *h)
{
	json_t *doc = target_ask(h->t, "census", "--type", "shop::Session");
	struct hi_command *c =
		hi_heapinspect("census", "--width=100", h->file, "--type", "Session");
	char values[80];

	HI_ASSERT_EQ(h->objects, doc_sum(doc_at(doc, "rows"), "count"));
	HI_ASSERT_EQ(h->objects,
		     target_query(h->t, "SELECT count(*) FROM objects WHERE is_of(type, "
					"'shop::Session') AND state = 'live'"));
	HI_ASSERT_EQ(h->objects,
		     target_query(h->t, "SELECT sum(count) FROM types WHERE is_of(id, "
					"'Session')"));
	HI_ASSERT_MSG(strstr(c->out, "Session is taken as shop::Session\n"), "%s",
		      c->out);
	snprintf(values, sizeof(values), "Session: %lld values in %lld objects",
		 h->sessions, h->objects);
	HI_ASSERT_MSG(strstr(c->out, values), "%s", c->out);
	doc = target_ask(h->t, "paths", "Session");
	HI_ASSERT_EQ(h->objects, doc_number(doc, "targets"));
}

static void check_what_is_wrong_has_names_to_paste(const struct homes *h)
{
	struct hi_command *c = hi_heapinspect("census", h->file, "--type", "Cart");
	static const char missing[] = "type(\"shop::Sesion\").count > 0";

	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT_MSG(strstr(c->err, "shop::Cart") && strstr(c->err, "admin::Cart"), "%s",
		      c->err);
	c = hi_heapinspect("check", h->file, "--fail-on", "type(\"Cart\").count > 0");
	HI_ASSERT_EQ(2, c->exit_code);
	c = hi_heapinspect("check", h->file, "--fail-on", missing);
	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT_MSG(strstr(c->err, "near it: shop::Session"), "%s", c->err);
	HI_ASSERT_EQ(0, hi_heapinspect("check", h->file, "--allow-missing", "--fail-on",
				       missing)
				->exit_code);
}

HI_TEST_SCENARIO(restrict_type, types_are_found_wherever_they_live)
{
	struct homes h = start_homes();

	check_gates_count_values(&h);
	check_commands_select_them_all(&h);
	check_a_type_is_no_value(&h);
	check_what_is_wrong_has_names_to_paste(&h);
}
