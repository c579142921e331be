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

static const char *roots_of(const struct python *p)
{
	struct hi_command *c =
		hi_heapinspect("export", "-f", "csv", "--table", "roots", "--all",
			       "--pid", p->pid, "-o", "/dev/stdout");

	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	return c->out;
}

static int line_of(const struct python *p, const char *function)
{
	for (size_t i = 0; i < p->n_lines; i++) {
		char name[64];
		int line;

		if (sscanf(p->lines[i], "line %63s %d", name, &line) == 2 &&
		    strcmp(name, function) == 0)
			return line;
	}
	hi_test_fail(__FILE__, __LINE__, "it said no line of %s", function);
}

HI_TEST_SCENARIO(python_tasks, every_thread_has_its_stack_with_lines_and_names)
{
	struct python *p = python_start(NULL, "tasks", "200", NULL);
	const char *table = roots_of(p);

	HI_ASSERT(has_root(table, "wait_here", "by_thread", "tasks.py",
			   line_of(p, "wait_here")));
	HI_ASSERT(
		has_root(table, "wait_here", "job", "tasks.py", line_of(p, "wait_here")));
	HI_ASSERT(has_root(table, "dig", "bottom", "tasks.py", line_of(p, "dig")));
	HI_ASSERT(has_root(table, "main", "half_way", "tasks.py", line_of(p, "main")));
}

HI_TEST_SCENARIO(python_tasks, locals_of_the_deepest_call_are_found_by_their_names)
{
	struct python *p = python_start(NULL, "tasks", "3000", NULL);
	const char *local = python_said(p, "local", 0);
	json_t *doc = python_ask(p, PYTHON_WORDS("paths", local, "-k", "1"));
	json_t *row = json_array_get(json_object_get(doc, "rows"), 0);
	char text[120];

	snprintf(text, sizeof(text), "thread %s dig() bottom", p->pid);
	HI_ASSERT_STREQ(text, python_text(row, "path"));
	/* All 3001 calls are there: each has a list of its own. */
	row = python_row(
		json_object_get(python_ask(p, PYTHON_WORDS("census", "--all")), "rows"),
		"type", "list");
	HI_ASSERT(row && python_number(row, "count") >= 3001);
	doc = python_ask(p, PYTHON_WORDS("audit"));
	HI_ASSERT_EQ(0, python_number(doc, "excess"));
}

HI_TEST_SCENARIO(python_tasks, what_waits_keeps_its_locals_alive)
{
	struct python *p = python_start(NULL, "tasks", "20", NULL);
	json_t *rows =
		json_object_get(python_ask(p, PYTHON_WORDS("census", "--all")), "rows");
	json_t *jobs = python_row(rows, "type", "__main__.Job");

	/* Of the sleepers, the generator, the thread and the deepest call. */
	HI_ASSERT(jobs);
	HI_ASSERT_EQ(SLEEPERS + 3, python_number(jobs, "count"));
	HI_ASSERT(python_row(rows, "type", "coroutine"));
	rows = json_object_get(python_ask(p, PYTHON_WORDS("leaks")), "rows");
	HI_ASSERT(!python_row(rows, "type", "__main__.Job"));
}

HI_TEST_SCENARIO(python_tasks, all_interpreters_are_walked)
{
	static const char *const types[] = {"__main__.Main", "__main__.First",
					    "__main__.Second"};
	struct python *p = python_start(NULL, "interpreters", NULL, NULL);
	json_t *doc = python_ask(p, PYTHON_WORDS("census", "--all"));

	for (size_t i = 0; i < 3; i++) {
		json_t *row = python_row(json_object_get(doc, "rows"), "type", types[i]);

		HI_ASSERT_MSG(row, "no %s", types[i]);
		HI_ASSERT_EQ(OBJECTS, python_number(row, "count"));
	}
	HI_ASSERT_EQ(0, python_number(python_ask(p, PYTHON_WORDS("audit")), "excess"));
	doc = python_ask(p, PYTHON_WORDS("paths", "__main__.Second", "-k", "1"));
	doc = json_array_get(json_object_get(doc, "rows"), 0);
	HI_ASSERT_STREQ("exact", python_text(doc, "grade"));
	HI_ASSERT(strstr(python_text(doc, "path"), "module __main__[\"OBJECTS\"]") ==
		  python_text(doc, "path"));
	/* Not the main one's module of that name. */
	doc = json_array_get(json_object_get(doc, "steps"), 0);
	HI_ASSERT_STREQ("interpreter 2", python_text(doc, "detail"));
}

HI_TEST_SCENARIO(python_tasks, objects_of_a_python_inside_a_c_program_hang_on_its_structs)
{
	struct python p = {.fx = hi_fixture_start("python_embedded", NULL)};
	json_t *rows, *structs, *objects, *variable;

	hi_fixture_read_until(p.fx, "ready", NULL, NULL);
	snprintf(p.pid, sizeof(p.pid), "%d", (int)p.fx->pid);
	rows = json_object_get(python_ask(&p, PYTHON_WORDS("census", "--all")), "rows");
	structs = python_row(rows, "type", "struct plugin");
	objects = python_row(rows, "type", "__main__.Plugin");
	HI_ASSERT(structs && objects);
	HI_ASSERT_EQ(PLUGINS, python_number(structs, "count"));
	HI_ASSERT_EQ(PLUGINS, python_number(objects, "count"));
	/* 700 bytes and more of Python, 300 of C: the variable of C has all of it. */
	rows = json_object_get(python_ask(&p, PYTHON_WORDS("retained", "--all")), "rows");
	variable = python_row(rows, "name", "plugins");
	HI_ASSERT(variable && python_number(variable, "retained") >= PLUGINS * 1000);
	HI_ASSERT_EQ(0, python_number(python_ask(&p, PYTHON_WORDS("audit")), "excess"));
}
