/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pythons in states that nobody chose: amid allocations and collections, with other
 * allocators, starting, ending, without debug files, seen by an ordinary user. Either
 * what is told is right, or it is said what is not.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/python.h"
#include "tests/support/snapshots.h"

enum { STOPS = 15, STOPS_AT_LENGTH = 200, TREES = 500, NOBODY = 65534 };

/* Whoever is at work has references in hand that no word of memory is, and says that
 * objects are in none of its lists: a few, and no more than that. */
static bool says_what_is_not_right(const struct hi_command *c)
{
	return strstr(c->out, "of the runtime's heap are damaged") ||
	       strstr(c->out, "the collector was running");
}

static void check_stop(const char *pid, unsigned *undecoded, unsigned *told)
{
	struct hi_command *c = hi_heapinspect("audit", "--pid", pid, "-q", "--json");
	json_t *doc;

	/* Refused: in one line, with the reason. */
	if (c->exit_code == 2 && strstr(c->err, "no runtime with reference counts")) {
		++*undecoded;
		return;
	}
	doc = doc_of(c);
	HI_ASSERT(doc_number(doc, "objects") > TREES);
	if (says_what_is_not_right(c)) {
		++*told;
		return;
	}
	HI_ASSERT_MSG(doc_number(doc, "excess") <= 8, "%.1500s", c->out);
	/* What is held by what the audit cannot see is no great part. */
	HI_ASSERT(doc_number(doc, "lost") < 1 << 20);
}

static void stop_often(unsigned stops)
{
	struct target *p = python_start(NULL, "churn", NULL, NULL);
	unsigned undecoded = 0, told = 0;
	json_t *doc;

	for (unsigned i = 0; i < stops; i++)
		check_stop(p->pid, &undecoded, &told);
	hi_test_note("%u of %u stops: no runtime was found; %u: amid something, and said",
		     undecoded, stops, told);
	HI_ASSERT(undecoded <= stops / 4);
	HI_ASSERT(undecoded + told < stops);
	/* It is as it was: nothing of it is lost, and it still works. */
	doc = python_ask(p, "census", "--all");
	doc_row(doc_at(doc, "rows"), "type", "list");
	HI_ASSERT_EQ(0, hi_fixture_end(p->fx));
}

HI_TEST_SCENARIO(python_hostile, stops_at_any_time_tell_nothing_wrong)
{
	stop_often(STOPS);
}

HI_TEST_SLOW(python_hostile, hundreds_of_stops_at_any_time_tell_nothing_wrong)
{
	stop_often(STOPS_AT_LENGTH);
}

/* Between the start of a collection and its end its lists are in pieces. */
HI_TEST_ROOT(python_hostile, a_stop_inside_a_collection_is_said_to_be_one)
{
	struct target *p = python_start(NULL, "churn", NULL, NULL);
	struct hi_command *c = target_run(p, "audit", "--json", "--timeout", "60s",
					  "--at", "usdt:python:gc__start");
	json_t *doc = doc_of(c);

	HI_ASSERT_MSG(strstr(c->out, "the collector was running"), "%.600s", c->out);
	HI_ASSERT(doc_number(doc, "objects") > TREES);
	HI_ASSERT(doc_number(doc, "excess") <= 8);
}

/* ---- other allocators of its own ---- */

static void check_with(const char *environment)
{
	struct target *p = python_start(environment, "service", "20", NULL);

	HI_ASSERT_EQ(
		target_number(p, "counts"),
		python_count(python_ask(p, "census", "--all"), "myapp.cache.Session"));
	HI_ASSERT_EQ(0, doc_number(python_ask(p, "audit"), "excess"));
	HI_ASSERT_EQ(0, doc_size(python_ask(p, "leaks", "--all"), "rows"));
}

HI_TEST_SCENARIO(python_hostile, objects_in_blocks_of_malloc_are_known_too)
{
	check_with("PYTHONMALLOC=malloc");
}

HI_TEST_SCENARIO(python_hostile, objects_between_debug_marks_are_known_too)
{
	check_with("PYTHONMALLOC=debug");
}

/* ---- no debug files ---- */

HI_TEST_SCENARIO(python_hostile, a_stock_python_needs_no_debug_files)
{
	struct target *p = python_start(NULL, "service", "20", NULL);
	const char *empty = snapshot_directory(), *address = target_said(p, "payload");
	json_t *doc = python_ask(p, "census", "--all", "--debug-dir", empty);

	HI_ASSERT_EQ(0, doc_number(doc, "debug_info.by_build_id"));
	HI_ASSERT_EQ(20, python_count(doc, "myapp.cache.Session"));
	doc = python_ask(p, "paths", address, "-k", "1", "--debug-dir", empty);
	HI_ASSERT_STREQ("module myapp.cache[\"SESSIONS\"][\"s0\"].items[0]",
			doc_text(doc, "rows.0.path"));
	doc = python_ask(p, "audit", "--debug-dir", empty);
	HI_ASSERT_EQ(0, doc_number(doc, "excess"));
}

/* ---- an ordinary user ---- */

HI_TEST_ROOT(python_hostile, a_user_sees_their_own_python)
{
	static const char program[] = "class Mine: pass\n"
				      "keep = [Mine() for i in range(77)]\n"
				      "print('ready', flush=True)\n"
				      "import os; os.read(0, 1)\n";
	char *dir = snapshot_directory();
	struct target *t;
	struct hi_command *c;

	chmod(dir, 0755);
	HI_ASSERT_EQ(0, hi_command_run(0, "cp", HI_BINARY_DIR "/heapinspect", dir, NULL)
				->exit_code);
	t = target_start("/usr/bin/setpriv", "--reuid=65534", "--regid=65534",
			 "--clear-groups", PYTHON, "-c", program, NULL);
	c = hi_command_run(NOBODY, snapshot_path(dir, "heapinspect"), "census", "--type",
			   "__main__.Mine", "--pid", t->pid, NULL);
	HI_ASSERT_MSG(c->exit_code == 0, "exit %d: %s", c->exit_code, c->err);
	HI_ASSERT_MSG(strstr(c->out, "__main__.Mine") && strstr(c->out, " 77 "), "%s",
		      c->out);
}

/* ---- starting, ending ---- */

/* Whatever it is doing: exit code 0, and of a Python that is not decoded a word. */
static void check_any_time(const char *pid, unsigned *decoded, unsigned *said)
{
	struct hi_command *c = hi_heapinspect("--pid", pid, "-q", "--json");

	if (c->exit_code == 3 || (c->exit_code == 2 && strstr(c->err, "no process")))
		return; /* gone */
	HI_ASSERT_MSG(c->exit_code == 0 || strstr(c->err, "exit"), "exit %d: %s",
		      c->exit_code, c->err);
	if (c->exit_code)
		return;
	*decoded += doc_find(doc_of(c), "runtime") != NULL;
	*said += strstr(c->out, "starting") || strstr(c->out, "finalising");
}

HI_TEST_SCENARIO(python_hostile, an_interpreter_that_starts_is_no_riddle)
{
	unsigned decoded = 0, said = 0;

	for (int i = 0; i < 8; i++) {
		struct hi_fixture *fx = hi_fixture_start(
			PYTHON, "-c", "import asyncio, os; os.read(0, 1)", NULL);
		char pid[16];

		usleep((useconds_t)i * 1500);
		snprintf(pid, sizeof(pid), "%d", (int)fx->pid);
		check_any_time(pid, &decoded, &said);
		hi_fixture_end(fx);
	}
	hi_test_note("%u decoded, %u said to be starting", decoded, said);
}

/* It stands in the destructor of a module's last object, at its very end. */
HI_TEST_SCENARIO(python_hostile, an_interpreter_that_ends_is_refused_with_a_word)
{
	static const char program[] =
		"import os, sys\n"
		"class Last:\n"
		"    def __del__(self, write=os.write, read=os.read):\n"
		"        write(1, b'ready\\n')\n"
		"        read(0, 1)\n"
		"sys.last = Last()\n";
	struct target *t = target_start(PYTHON, "-c", program, NULL);
	struct hi_command *c = target_run(t);

	HI_ASSERT_MSG(strstr(c->out, "finalising"), "%s", c->out);
	HI_ASSERT_EQ(2, hi_heapinspect("audit", "--pid", t->pid)->exit_code);
}
