/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where Python runs: threads, coroutines, deep recursion, several interpreters, one
 * inside a C program.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/python.h"

enum { SLEEPERS = 30, OBJECTS = 300, PLUGINS = 60 };

/* A line of the table of roots: thread N FUNCTION() LOCAL, at FILE:LINE. */
static bool has_root(const char *table, const char *function, const char *local,
		     const char *file, int line)
{
	char name[120], place[120];

	snprintf(name, sizeof(name), " %s() %s", function, local);
	snprintf(place, sizeof(place), "%s:%d", file, line);
	for (const char *at = table; at; at = strchr(at + 1, '\n')) {
		const char *end = strchr(at + 1, '\n');
		size_t length = end ? (size_t)(end - at) : strlen(at);

		if (memmem(at, length, name, strlen(name)) &&
		    memmem(at, length, place, strlen(place)) &&
		    memmem(at, length, "thread ", 7))
			return true;
	}
	return false;
}

static int line_of(const struct target *t, const char *function)
{
	char key[64];

	snprintf(key, sizeof(key), "line %s", function);
	return (int)target_number(t, key);
}

static void check_every_thread_has_its_stack_with_lines_and_names(const struct target *t)
{
	const char *table = target_run(t, "export", "-f", "csv", "--table", "roots",
				       "--all", "-o", "/dev/stdout")
				    ->out;

	HI_ASSERT(has_root(table, "wait_here", "by_thread", "tasks.py",
			   line_of(t, "wait_here")));
	HI_ASSERT(
		has_root(table, "wait_here", "job", "tasks.py", line_of(t, "wait_here")));
	HI_ASSERT(has_root(table, "dig", "bottom", "tasks.py", line_of(t, "dig")));
	HI_ASSERT(has_root(table, "main", "half_way", "tasks.py", line_of(t, "main")));
}

static void check_locals_of_the_deepest_call_are_found(const struct target *t,
						       json_t *census)
{
	json_t *doc = python_ask(t, "paths", target_said(t, "local"), "-k", "1");
	char text[120];

	snprintf(text, sizeof(text), "thread %s dig() bottom", t->pid);
	HI_ASSERT_STREQ(text, doc_text(doc, "rows.0.path"));
	/* All 3001 calls are there: each has a list of its own. */
	HI_ASSERT(python_count(census, "list") >= 3001);
	HI_ASSERT_EQ(0, doc_number(python_ask(t, "audit"), "excess"));
}

static void check_what_waits_keeps_its_locals_alive(const struct target *t,
						    json_t *census)
{
	/* Of the sleepers, the generator, the thread and the deepest call. */
	HI_ASSERT_EQ(SLEEPERS + 3, python_count(census, "__main__.Job"));
	HI_ASSERT(python_count(census, "coroutine") > 0);
	HI_ASSERT(!doc_find_row(doc_at(python_ask(t, "leaks"), "rows"), "type",
				"__main__.Job"));
}

HI_TEST_SCENARIO(python_tasks, threads_deep_calls_and_coroutines_have_their_locals)
{
	struct target *t = python_start(NULL, "tasks", "3000", NULL);
	json_t *census = python_ask(t, "census", "--all");

	check_every_thread_has_its_stack_with_lines_and_names(t);
	check_locals_of_the_deepest_call_are_found(t, census);
	check_what_waits_keeps_its_locals_alive(t, census);
}

HI_TEST_SCENARIO(python_tasks, all_interpreters_are_walked)
{
	static const char *const types[] = {"__main__.Main", "__main__.First",
					    "__main__.Second"};
	struct target *t = python_start(NULL, "interpreters", NULL, NULL);
	json_t *doc = python_ask(t, "census", "--all");

	for (size_t i = 0; i < 3; i++)
		HI_ASSERT_EQ(OBJECTS, python_count(doc, types[i]));
	HI_ASSERT_EQ(0, doc_number(python_ask(t, "audit"), "excess"));
	doc = python_ask(t, "paths", "__main__.Second", "-k", "1");
	HI_ASSERT_STREQ("exact", doc_text(doc, "rows.0.grade"));
	HI_ASSERT(strstr(doc_text(doc, "rows.0.path"), "module __main__[\"OBJECTS\"]") ==
		  doc_text(doc, "rows.0.path"));
	/* Not the main one's module of that name. */
	HI_ASSERT_STREQ("interpreter 2", doc_text(doc, "rows.0.steps.0.detail"));
}

HI_TEST_SCENARIO(python_tasks, objects_of_a_python_inside_a_c_program_hang_on_its_structs)
{
	struct target *t = target_start("python_embedded", NULL);
	json_t *doc = python_ask(t, "census", "--all");

	HI_ASSERT_EQ(PLUGINS, python_count(doc, "struct plugin"));
	HI_ASSERT_EQ(PLUGINS, python_count(doc, "__main__.Plugin"));
	/* 700 bytes and more of Python, 300 of C: the variable of C has all of it. */
	doc = python_ask(t, "retained", "--all");
	HI_ASSERT(doc_number(doc_row(doc_at(doc, "rows"), "name", "plugins"),
			     "retained") >= PLUGINS * 1000);
	HI_ASSERT_EQ(0, doc_number(python_ask(t, "audit"), "excess"));
}
