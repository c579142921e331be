/* SPDX-License-Identifier: BSD-2-Clause */
/* `retained --by thread`: what the fixture says that its threads hold alone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/fixture.h"
#include "tests/support/json.h"
#include "tests/support/pythons.h"
#include "tests/support/schema.h"
#include "tests/support/snapshots.h"

enum { TOLD = 3 };

/* fixtures/thread_holds.c: "thread TID NAME BYTES". */
struct told_thread {
	long id, bytes;
	char name[16];
};
struct told_threads {
	struct told_thread items[TOLD];
	size_t n;
	char pid[16];
	const char *file;
};

static struct told_threads start_threads(void)
{
	struct hi_fixture *fx = hi_fixture_start("thread_holds", NULL);
	struct told_threads told = {};
	struct hi_command *c;
	char line[128];

	while (hi_fixture_line(fx, line, sizeof(line)) && strcmp(line, "ready") != 0) {
		struct told_thread t = {};

		if (sscanf(line, "thread %ld %15s %ld", &t.id, t.name, &t.bytes) == 3) {
			HI_ASSERT(told.n < TOLD);
			told.items[told.n++] = t;
		}
	}
	HI_ASSERT_EQ(TOLD, told.n);
	snprintf(told.pid, sizeof(told.pid), "%d", (int)fx->pid);
	told.file = snapshot_path(snapshot_directory(), "threads.hisnap");
	c = hi_heapinspect("snap", "--pid", told.pid, "-o", told.file);
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	return told;
}

static json_t *row_of_thread(json_t *doc, const struct told_thread *t)
{
	json_t *row;

	doc_each (row, doc_at(doc, "threads"))
		if (doc_number(row, "thread") == t->id)
			return row;
	HI_ASSERT_MSG(false, "no thread %ld", t->id);
	return NULL;
}

/* By variables: the C library has a block for each thread, which words alone lead to. */
static long long bytes_by_variables(json_t *thread)
{
	long long bytes = 0;
	json_t *share;

	doc_each (share, doc_at(thread, "held"))
		if (!strstr(doc_text(share, "variables.0"), "(no variable)"))
			bytes += doc_number(share, "bytes");
	return bytes;
}

static size_t count_in_stack(json_t *thread, const char *function)
{
	size_t n = 0;
	json_t *frame;

	doc_each (frame, doc_at(thread, "stack"))
		n += !doc_is_null(frame, "function") &&
		     strcmp(doc_text(frame, "function"), function) == 0;
	return n;
}

static void check_told_threads(const struct told_threads *told, json_t *doc)
{
	for (size_t i = 0; i < told->n; i++) {
		const struct told_thread *t = &told->items[i];
		json_t *row = row_of_thread(doc, t);

		HI_ASSERT_STREQ(t->name, doc_text(row, "name"));
		HI_ASSERT_EQ(t->bytes, bytes_by_variables(row));
		HI_ASSERT_EQ(doc_number(row, "bytes"),
			     doc_sum(doc_at(row, "held"), "bytes"));
	}
}

static json_t *ask_threads(struct hi_command *c)
{
	json_t *doc = doc_of(c);

	hi_check_schema(c, "rows.v1.json");
	return doc;
}

static void check_a_process_has_stacks(const struct told_threads *told)
{
	json_t *doc = ask_threads(hi_heapinspect("retained", "--pid", told->pid, "--by",
						 "thread", "--json"));

	check_told_threads(told, doc);
	for (size_t i = 0; i < told->n; i++) {
		const struct told_thread *t = &told->items[i];
		json_t *row = row_of_thread(doc, t);

		HI_ASSERT_EQ(1, count_in_stack(row, "tell_thread"));
		HI_ASSERT_EQ(strcmp(t->name, "keeper") == 0 ? 5 : 0,
			     count_in_stack(row, "descend"));
	}
}

static void check_a_file_has_what_they_hold(const struct told_threads *told)
{
	json_t *doc = ask_threads(
		hi_heapinspect("retained", told->file, "--by", "thread", "--json"));
	json_t *row;

	check_told_threads(told, doc);
	doc_each (row, doc_at(doc, "threads"))
		HI_ASSERT(!doc_find(row, "stack"));
}

static void check_text_of_threads(const struct told_threads *told)
{
	struct hi_command *c =
		hi_heapinspect("retained", "--pid", told->pid, "--by", "thread");

	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	HI_ASSERT_MSG(strstr(c->out, "descend, 4 times "), "%s", c->out);
	HI_ASSERT_MSG(strstr(c->out, "descend(): list, descend(): cursor "), "%s",
		      c->out);
	c = hi_heapinspect("retained", told->file, "--by", "thread");
	HI_ASSERT_MSG(strstr(c->out, "stacks are not in a file"), "%s", c->out);
	c = hi_heapinspect("retained", told->file, "--by", "thread", "--type", "*");
	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT_MSG(strstr(c->err, "--by thread: not with --type"), "%s", c->err);
}

HI_TEST_SCENARIO(threads_command, threads_hold_what_the_fixture_says)
{
	struct told_threads told = start_threads();

	check_a_process_has_stacks(&told);
	check_a_file_has_what_they_hold(&told);
	check_text_of_threads(&told);
}

/* ---- stacks of Python ---- */

static const char script[] = "import sys, threading, time\n"
			     "def descend(n):\n"
			     "    if n: descend(n - 1)\n"
			     "    else:\n"
			     "        print('ready', flush=True)\n"
			     "        time.sleep(600)\n"
			     "def work():\n"
			     "    descend(3)\n"
			     "threading.Thread(target=work, daemon=True).start()\n"
			     "sys.stdin.read()\n";

struct script_line {
	const char *function;
	long long line;
};

/* The frames of the script, one after the other, whatever is between them. */
static bool has_script_stack(json_t *thread, const struct script_line *lines, size_t n)
{
	size_t at = 0;
	json_t *frame;

	doc_each (frame, doc_at(thread, "stack"))
		if (!doc_is_null(frame, "file") &&
		    strcmp(doc_text(frame, "file"), "<string>") == 0) {
			if (at == n ||
			    strcmp(doc_text(frame, "function"), lines[at].function) !=
				    0 ||
			    doc_number(frame, "line") != lines[at].line)
				return false;
			at++;
		}
	return at == n;
}

static bool has_python_stacks(pid_t leader_id, const char **out_ret)
{
	static const struct script_line worker[] = {{"descend", 6},
						    {"descend", 3},
						    {"descend", 3},
						    {"descend", 3},
						    {"work", 8}},
					leader[] = {{"<module>", 10}};
	bool has_worker = false, has_leader = false;
	struct hi_command *c;
	json_t *doc, *thread;
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", (int)leader_id);
	c = hi_heapinspect("retained", "--pid", pid, "--by", "thread", "--json");
	doc = doc_of(c);
	*out_ret = c->out;
	doc_each (thread, doc_at(doc, "threads")) {
		has_worker |= has_script_stack(thread, worker, 5);
		has_leader |= doc_number(thread, "thread") == leader_id &&
			      has_script_stack(thread, leader, 1);
	}
	return has_worker && has_leader;
}

/* After its word it needs a moment to come to its sleep. */
static void check_stacks_of_python(const char *python)
{
	struct hi_fixture *fx = hi_fixture_start(python, "-c", script, NULL);
	const char *out = "";
	bool ok = false;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	for (int i = 0; i < 20 && !ok; i++) {
		hi_fixture_settle(fx);
		ok = has_python_stacks(fx->pid, &out);
	}
	HI_ASSERT_MSG(ok, "%s: %s", python, out);
	hi_fixture_end(fx);
}

HI_TEST_SCENARIO(threads_command, stacks_of_python_have_its_functions_and_lines)
{
	hi_each_python(check_stacks_of_python);
}
