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
#include "tests/support/snapshots.h"

/* A snapshot of it, and then the questions to both. */
static const char *snapshot_of(const struct python *p)
{
	const char *file = snapshot_path(snapshot_directory(), "service.hisnap");
	struct hi_command *c = hi_heapinspect("snap", "--pid", p->pid, "-o", file);

	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	return file;
}

static json_t *rows_of(json_t *doc)
{
	return json_object_get(doc, "rows");
}

static void check_summary(json_t *doc)
{
	json_t *runtime = json_object_get(doc, "runtime");

	HI_ASSERT_STREQ("CPython", python_text(runtime, "name"));
	HI_ASSERT(strncmp(python_text(runtime, "version"), "3.11.", 5) == 0);
	HI_ASSERT(python_number(runtime, "tracked") > 5000);
	HI_ASSERT(python_row(json_object_get(doc, "types"), "type", "dict keys"));
	HI_ASSERT_EQ(0, python_number(json_object_get(doc, "leaks"), "bytes"));
}

static void check_census(const struct python *p, json_t *doc)
{
	json_t *rows = rows_of(doc), *session, *user;

	session = python_row(rows, "type", "myapp.cache.Session");
	user = python_row(rows, "type", "myapp.cache.User");
	HI_ASSERT(session && user);
	HI_ASSERT_EQ(atoi(python_said(p, "counts", 0)), python_number(session, "count"));
	HI_ASSERT_EQ(7, python_number(user, "count"));
	HI_ASSERT_EQ(
		atoi(python_said(p, "counts", 2)),
		python_number(python_row(rows, "type", "myapp.cache.Page"), "count"));
	HI_ASSERT_STREQ("runtime", python_text(session, "evidence"));
	/* With its items; a payload has more than 2000 bytes. */
	HI_ASSERT(python_number(session, "retained") >
		  2000 * atoi(python_said(p, "counts", 1)));
}

/* module myapp.cache -> dict "SESSIONS" -> Session -> list -> bytes */
static void check_path(const struct python *p, json_t *doc)
{
	static const char *const types[] = {"dict", "dict", "myapp.cache.Session", "list",
					    "bytes"};
	static const char *const edges[] = {"module myapp.cache", "[\"SESSIONS\"]",
					    "[\"s0\"]", ".items", "[0]"};
	json_t *row = json_array_get(rows_of(doc), 0),
	       *steps = json_object_get(row, "steps");

	HI_ASSERT_STREQ("module myapp.cache[\"SESSIONS\"][\"s0\"].items[0]",
			python_text(row, "path"));
	HI_ASSERT_STREQ("exact", python_text(row, "grade"));
	HI_ASSERT_EQ(6, json_array_size(steps));
	for (size_t i = 0; i < 5; i++) {
		json_t *step = json_array_get(steps, i + 1);

		HI_ASSERT_STREQ(types[i], python_text(step, "type"));
		HI_ASSERT_STREQ(edges[i], python_text(step, "edge"));
	}
	HI_ASSERT_EQ(
		python_address(p, "payload"),
		strtoull(python_text(json_array_get(steps, 5), "address"), NULL, 16));
}

/* Set of retainers with the one member. */
static json_t *set_of(json_t *doc, const char *member)
{
	json_t *row;
	size_t i;

	json_array_foreach(rows_of(doc), i, row)
	{
		json_t *members = json_object_get(row, "members");

		if (json_array_size(members) == 1 &&
		    strcmp(json_string_value(json_array_get(members, 0)), member) == 0)
			return row;
	}
	hi_test_fail(__FILE__, __LINE__, "no set {%s}", member);
}

/* What the tests ask, of the process or of the file. */
static void check_all(const struct python *p, const char *file)
{
	long long payload = 2000 * atoi(python_said(p, "counts", 1));
	const char *address = python_said(p, "payload", 0);
#define ASK(...)                                                                         \
	(file ? python_ask_file(file, PYTHON_WORDS(__VA_ARGS__))                         \
	      : python_ask(p, PYTHON_WORDS(__VA_ARGS__)))

	check_summary(ASK("summary", "--all"));
	check_census(p, ASK("census", "--type", "myapp.cache.*", "--all"));
	check_path(p, ASK("paths", address, "-k", "1"));
	HI_ASSERT(python_row(rows_of(ASK("census", "--by", "module", "--all")), "module",
			     "myapp.cache"));
	HI_ASSERT(python_number(set_of(ASK("retainers", "--all"), "module myapp.cache"),
				"bytes") > payload);
	HI_ASSERT(python_number(set_of(ASK("retainers", "--all", "--retainer",
					   "myapp.cache.Session"),
				       "myapp.cache.Session"),
				"bytes") > payload);
	HI_ASSERT(python_number(set_of(ASK("retainers", "--all", "--identity", "module",
					   "--retainer", "myapp.cache.*"),
				       "myapp.cache"),
				"bytes") > payload);
	HI_ASSERT_EQ(0, json_array_size(rows_of(ASK("leaks", "--all"))));
#undef ASK
}

HI_TEST_SCENARIO(python, a_service_is_known_by_its_modules_classes_and_attributes)
{
	struct python *p = python_start(NULL, "service", "40", NULL);

	check_all(p, NULL);
}

HI_TEST_SCENARIO(python, a_file_of_a_service_knows_them_too)
{
	struct python *p = python_start(NULL, "service", "40", NULL);
	const char *file = snapshot_of(p);
	struct hi_command *c;

	hi_fixture_end(p->fx);
	check_all(p, file);
	/* What needs its memory says so. */
	c = hi_heapinspect("audit", file);
	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT_MSG(strstr(c->err, "--pid"), "%s", c->err);
}

HI_TEST_SCENARIO(python, what_a_module_retains_is_a_tree_of_names)
{
	struct python *p = python_start(NULL, "service", "40", NULL);
	json_t *rows = rows_of(python_ask(p, PYTHON_WORDS("retained")));
	json_t *module = python_row(rows, "name", "module myapp.cache");
	json_t *sessions = python_row(rows, "name", "[\"SESSIONS\"]");
	long long payload = 2000 * atoi(python_said(p, "counts", 1));

	HI_ASSERT(module && sessions);
	HI_ASSERT_STREQ("dict", python_text(module, "type"));
	HI_ASSERT_EQ(0, python_number(module, "depth"));
	HI_ASSERT_EQ(1, python_number(sessions, "depth"));
	HI_ASSERT(python_number(sessions, "retained") > payload);
	HI_ASSERT(python_number(module, "retained") >
		  python_number(sessions, "retained"));
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

static struct told ask_itself(const struct python *p)
{
	struct told t = {};

	hi_fixture_tell(p->fx, "x");
	hi_fixture_read_until(p->fx, "told", take_answer, &t);
	HI_ASSERT(t.dicts && t.sentinel && t.rss);
	return t;
}

HI_TEST_SCENARIO(python, a_service_is_after_it_what_it_was_before)
{
	struct python *p = python_start(NULL, "service", "40", NULL);
	struct told before, after;

	ask_itself(p); /* what the question itself needs */
	before = ask_itself(p);
	python_ask(p, PYTHON_WORDS("summary"));
	python_ask(p, PYTHON_WORDS("audit"));
	python_ask(p, PYTHON_WORDS("summary", "--snapshot", "copy"));
	after = ask_itself(p);
	HI_ASSERT_EQ(before.dicts, after.dicts);
	HI_ASSERT_EQ(before.sentinel, after.sentinel);
	HI_ASSERT_MSG(llabs(after.rss - before.rss) <= 64, "RSS %lld KiB, then %lld",
		      before.rss, after.rss);
}

/* ---- at the end of a collection ---- */

HI_TEST_ROOT(python, a_plain_service_has_no_lost_references_at_the_end_of_a_collection)
{
	struct python *p = python_start(NULL, "service", "40", "busy");

	for (int i = 0; i < 5; i++) {
		json_t *doc = python_ask(
			p, PYTHON_WORDS("audit", "--at", "gc", "--timeout", "60s"));
		json_t *row = json_array_get(rows_of(doc), 0);

		HI_ASSERT_MSG(python_number(doc, "excess") == 0,
			      "%s at %s counts %lld, found %lld",
			      python_text(row, "type"), python_text(row, "example"),
			      python_number(row, "counted"), python_number(row, "found"));
		HI_ASSERT_EQ(0, python_number(doc, "lost"));
		HI_ASSERT(python_number(doc, "objects") > 10000);
	}
}

/* ---- calls of a function by itself ---- */

/* Ways that read the same are one, unless each is asked for. */
HI_TEST_SCENARIO(python, ways_through_a_function_that_calls_itself_are_one)
{
	struct python *p = python_start(NULL, "deep", NULL, NULL);
	char address[32];
	struct hi_command *c;
	size_t lines = 0;

	snprintf(address, sizeof(address), "%#llx",
		 (unsigned long long)python_address(p, "leaf"));
	HI_ASSERT_EQ(60, json_array_size(json_object_get(
				 python_ask(p, PYTHON_WORDS("paths", address, "-k", "60",
							    "--each")),
				 "rows")));
	c = hi_heapinspect("paths", address, "-k", "60", "--pid", p->pid);
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	for (const char *at = c->out; (at = strstr(at, "climb() leaf")); at++)
		lines++;
	/* The innermost waits in another line than the others. */
	HI_ASSERT_MSG(lines > 0 && lines <= 4, "%zu of them: %s", lines, c->out);
}

/* ---- whose variables ---- */

/* Variables of its memory manager are the runtime's, as all else that it holds. */
HI_TEST_SCENARIO(python, variables_of_its_allocator_are_the_runtime_s)
{
	struct python *p = python_start(NULL, "deep", NULL, NULL);
	json_t *rows = json_object_get(python_ask(p, PYTHON_WORDS("--all")), "roots");
	json_t *row = python_row(rows, "name", "arena_map_root");

	HI_ASSERT(row);
	HI_ASSERT_STREQ("runtime", python_text(row, "kind"));
	HI_ASSERT(python_number(row, "retained") > 100000);
	row = python_row(rows, "kind", "global");
	HI_ASSERT(row && strcmp(python_text(row, "name"), "arenas") != 0);
}
