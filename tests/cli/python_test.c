/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A web service in Python (fixtures/python/service.py) as a person would look at it,
 * live and out of a snapshot file. Its own words are the truth.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/python.h"

static void check_summary(json_t *doc)
{
	HI_ASSERT_STREQ("CPython", doc_text(doc, "runtime.name"));
	HI_ASSERT(strncmp(doc_text(doc, "runtime.version"), "3.11.", 5) == 0);
	HI_ASSERT(doc_number(doc, "runtime.tracked") > 5000);
	doc_row(doc_at(doc, "types"), "type", "dict keys");
	HI_ASSERT_EQ(0, doc_number(doc, "leaks.bytes"));
}

/* It says "counts SESSIONS PAYLOADS PAGES"; a payload has more than 2000 bytes. */
static long long bytes_of_payloads(const struct target *t)
{
	return 2000 * target_nth(t, "counts", 1);
}

static void check_census(const struct target *t, json_t *doc)
{
	json_t *session = doc_row(doc_at(doc, "rows"), "type", "myapp.cache.Session");

	HI_ASSERT_EQ(target_nth(t, "counts", 0), doc_number(session, "count"));
	HI_ASSERT_EQ(7, python_count(doc, "myapp.cache.User"));
	HI_ASSERT_EQ(target_nth(t, "counts", 2), python_count(doc, "myapp.cache.Page"));
	HI_ASSERT_STREQ("runtime", doc_text(session, "evidence"));
	/* With its items. */
	HI_ASSERT(doc_number(session, "retained") > bytes_of_payloads(t));
}

/* module myapp.cache -> dict "SESSIONS" -> Session -> list -> bytes */
static void check_path(const struct target *t, json_t *doc)
{
	static const char *const types[] = {"dict", "dict", "myapp.cache.Session", "list",
					    "bytes"};
	static const char *const edges[] = {"module myapp.cache", "[\"SESSIONS\"]",
					    "[\"s0\"]", ".items", "[0]"};
	json_t *row = doc_at(doc, "rows.0");

	HI_ASSERT_STREQ("module myapp.cache[\"SESSIONS\"][\"s0\"].items[0]",
			doc_text(row, "path"));
	HI_ASSERT_STREQ("exact", doc_text(row, "grade"));
	HI_ASSERT_EQ(6, doc_size(row, "steps"));
	for (size_t i = 0; i < 5; i++) {
		HI_ASSERT_STREQ(types[i], doc_text(row, "steps.%zu.type", i + 1));
		HI_ASSERT_STREQ(edges[i], doc_text(row, "steps.%zu.edge", i + 1));
	}
	HI_ASSERT_EQ(target_number(t, "payload"),
		     strtoull(doc_text(row, "steps.5.address"), NULL, 16));
}

/* Bytes of the set of retainers with the one member. */
static long long bytes_of_set(json_t *doc, const char *member)
{
	json_t *row;

	doc_each (row, doc_at(doc, "rows")) {
		if (doc_size(row, "members") == 1 &&
		    strcmp(doc_text(row, "members.0"), member) == 0)
			return doc_number(row, "bytes");
	}
	hi_test_fail(__FILE__, __LINE__, "no set {%s}", member);
}

/* What the tests ask, of the process or of the file. */
static void check_all(const struct target *t, const char *file)
{
	long long payload = bytes_of_payloads(t);
	const char *address = target_said(t, "payload");
#define ASK(...) (file ? python_ask_file(file, __VA_ARGS__) : python_ask(t, __VA_ARGS__))

	check_summary(ASK("summary", "--all"));
	check_census(t, ASK("census", "--type", "myapp.cache.*", "--all"));
	check_path(t, ASK("paths", address, "-k", "1"));
	doc_row(doc_at(ASK("census", "--by", "module", "--all"), "rows"), "module",
		"myapp.cache");
	HI_ASSERT(bytes_of_set(ASK("retainers", "--all"), "module myapp.cache") >
		  payload);
	HI_ASSERT(bytes_of_set(
			  ASK("retainers", "--all", "--retainer", "myapp.cache.Session"),
			  "myapp.cache.Session") > payload);
	HI_ASSERT(bytes_of_set(ASK("retainers", "--all", "--identity", "module",
				   "--retainer", "myapp.cache.*"),
			       "myapp.cache") > payload);
	HI_ASSERT_EQ(0, doc_size(ASK("leaks", "--all"), "rows"));
#undef ASK
}

static void check_what_a_module_retains_is_a_tree_of_names(const struct target *t)
{
	json_t *rows = doc_at(python_ask(t, "retained"), "rows");
	json_t *module = doc_row(rows, "name", "module myapp.cache");
	json_t *sessions = doc_row(rows, "name", "[\"SESSIONS\"]");

	HI_ASSERT_STREQ("dict", doc_text(module, "type"));
	HI_ASSERT_EQ(0, doc_number(module, "depth"));
	HI_ASSERT_EQ(1, doc_number(sessions, "depth"));
	HI_ASSERT(doc_number(sessions, "retained") > bytes_of_payloads(t));
	HI_ASSERT(doc_number(module, "retained") > doc_number(sessions, "retained"));
}

/* ---- it does not notice ---- */

struct told {
	long long dicts, sentinel, rss;
};

static void take_answer(const char *line, void *arg)
{
	struct told *t = arg;

	(void)sscanf(line, "dicts %lld", &t->dicts);
	(void)sscanf(line, "sentinel %lld", &t->sentinel);
	(void)sscanf(line, "rss %lld", &t->rss);
}

static struct told ask_itself(const struct target *p)
{
	struct told t = {};

	hi_fixture_tell(p->fx, "x");
	hi_fixture_read_until(p->fx, "told", take_answer, &t);
	HI_ASSERT(t.dicts && t.sentinel && t.rss);
	return t;
}

static void check_it_is_what_it_was_before(struct told before, struct told after)
{
	HI_ASSERT_EQ(before.dicts, after.dicts);
	HI_ASSERT_EQ(before.sentinel, after.sentinel);
	HI_ASSERT_MSG(llabs(after.rss - before.rss) <= 64, "RSS %lld KiB, then %lld",
		      before.rss, after.rss);
}

static void check_a_file_knows_them_too(const struct target *t, const char *file)
{
	struct hi_command *c;

	hi_fixture_end(t->fx);
	check_all(t, file);
	/* Options that need its memory are refused. */
	c = hi_heapinspect("audit", file);
	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT_MSG(strstr(c->err, "--pid"), "%s", c->err);
}

HI_TEST_SCENARIO(python, a_service_is_known_by_its_modules_classes_and_attributes)
{
	struct target *t = python_start(NULL, "service", "40", NULL);
	const char *file = target_snap(t);
	struct told before;

	ask_itself(t); /* what the question itself needs */
	before = ask_itself(t);
	check_all(t, NULL);
	check_what_a_module_retains_is_a_tree_of_names(t);
	python_ask(t, "audit");
	python_ask(t, "summary", "--snapshot", "copy");
	check_it_is_what_it_was_before(before, ask_itself(t));
	check_a_file_knows_them_too(t, file);
}

/* ---- at the end of a collection ---- */

HI_TEST_ROOT(python, a_plain_service_has_no_lost_references_at_the_end_of_a_collection)
{
	struct target *t = python_start(NULL, "service", "40", "busy");

	for (int i = 0; i < 5; i++) {
		json_t *doc = python_ask(t, "audit", "--at", "gc", "--timeout", "60s");
		json_t *row = doc_find(doc, "rows.0");

		HI_ASSERT_MSG(doc_number(doc, "excess") == 0,
			      "%s at %s counts %lld, found %lld", doc_text(row, "type"),
			      doc_text(row, "example"), doc_number(row, "counted"),
			      doc_number(row, "found"));
		HI_ASSERT_EQ(0, doc_number(doc, "lost"));
		HI_ASSERT(doc_number(doc, "objects") > 10000);
	}
}

/* ---- calls of a function by itself ---- */

/* Ways that read the same are one, unless each is asked for. */
static void
check_ways_through_a_function_that_calls_itself_are_one(const struct target *t)
{
	const char *address = target_said(t, "leaf");
	struct hi_command *c = target_run(t, "paths", address, "-k", "60");
	size_t lines = 0;

	HI_ASSERT_EQ(60, doc_size(python_ask(t, "paths", address, "-k", "60", "--each"),
				  "rows"));
	for (const char *at = c->out; (at = strstr(at, "climb() leaf")); at++)
		lines++;
	/* The innermost waits in another line than the others. */
	HI_ASSERT_MSG(lines > 0 && lines <= 4, "%zu of them: %s", lines, c->out);
}

/* Variables of its memory manager are the runtime's, as all else that it holds. */
static void check_variables_of_its_allocator_are_the_runtime_s(const struct target *t)
{
	json_t *rows = doc_at(python_ask(t, "--all"), "roots");
	json_t *row = doc_row(rows, "name", "arena_map_root");

	HI_ASSERT_STREQ("runtime", doc_text(row, "kind"));
	HI_ASSERT(doc_number(row, "retained") > 100000);
	HI_ASSERT(strcmp(doc_text(doc_row(rows, "kind", "global"), "name"), "arenas"));
}

HI_TEST_SCENARIO(python,
		 calls_of_a_function_by_itself_are_one_way_and_variables_have_kinds)
{
	struct target *t = python_start(NULL, "deep", NULL, NULL);

	check_ways_through_a_function_that_calls_itself_are_one(t);
	check_variables_of_its_allocator_are_the_runtime_s(t);
}
