/* SPDX-License-Identifier: BSD-2-Clause */
/* Frames of Python in recorded stacks, against what fixtures/python/allocations.py knows
 * of its own stacks. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/fixture.h"
#include "tests/support/json.h"
#include "tests/support/python.h"
#include "tests/support/pythons.h"
#include "tests/support/recording_run.h"
#include "tests/support/snapshots.h"
#include "tests/support/workshop.h"

enum { BLOCKS = 39, BLOCKS_MAX = 64, FRAMES_MAX = 64, LINE_MAX_CHARS = 128 };

struct noted_block {
	char address[24];
	unsigned n;
	char frames[FRAMES_MAX][LINE_MAX_CHARS]; /* "FUNCTION FILE LINE" */
};

struct noted_blocks {
	struct hi_fixture *fx;
	size_t n;
	struct noted_block *items;
	char file[256];
};

static void take_noted_line(const char *line, void *arg)
{
	struct noted_blocks *blocks = arg;
	char address[24], text[LINE_MAX_CHARS];
	unsigned depth;

	if (sscanf(line, "block %23s", address) == 1) {
		HI_ASSERT(blocks->n < BLOCKS_MAX);
		snprintf(blocks->items[blocks->n++].address, sizeof(address), "%s",
			 address);
	} else if (sscanf(line, "frame %23s %u %127[^\n]", address, &depth, text) == 3) {
		struct noted_block *block = &blocks->items[blocks->n - 1];

		HI_ASSERT_STREQ(block->address, address);
		HI_ASSERT(depth == block->n && depth < FRAMES_MAX);
		snprintf(block->frames[block->n++], sizeof(text), "%s", text);
	}
}

static struct noted_blocks record_blocks(const char *python)
{
	struct noted_blocks blocks = {.items = calloc(BLOCKS_MAX, sizeof(*blocks.items))};
	struct recording_run run;
	struct hi_command *c;

	HI_ASSERT(blocks.items);
	hi_test_defer(free, blocks.items);
	blocks.fx =
		hi_fixture_start("/usr/bin/env", "PYTHONUTF8=1", python,
				 HI_SOURCE_DIR "/fixtures/python/allocations.py", NULL);
	hi_fixture_read_until(blocks.fx, "ready", NULL, NULL);
	snprintf(blocks.file, sizeof(blocks.file), "%s/app.hirec", workshop_open());
	run = recording_start(blocks.fx->pid, "-o", blocks.file, NULL);
	hi_fixture_tell(blocks.fx, "go");
	hi_fixture_read_until(blocks.fx, "done", take_noted_line, &blocks);
	c = recording_end(&run, SIGINT);
	HI_ASSERT_MSG(c->exit_code == 0, "exit %d: %s", c->exit_code, c->err);
	HI_ASSERT_EQ(BLOCKS, blocks.n);
	return blocks;
}

static const char *word_of(const json_t *row, const char *key)
{
	const char *text = json_string_value(doc_find(row, "%s", key));

	return text ? text : "";
}

/* A value of the query is one text. */
static const char *ask_text(const char *file, const char *sql)
{
	struct hi_command *c = hi_heapinspect("query", file, "--json", sql);
	json_t *rows = doc_at(doc_of(c), "rows");

	HI_ASSERT_EQ(1, json_array_size(rows));
	return doc_text(rows, "0.said");
}

/* Rows of Python, by address and depth. */
static json_t *ask_python_rows(const char *file)
{
	struct hi_command *c = hi_heapinspect(
		"query", file, "--json",
		"SELECT o.address AS address, f.function AS function, f.file AS file, "
		"f.line AS line FROM objects o JOIN allocations a ON a.object = o.id "
		"JOIN context_frames f ON f.context = a.context WHERE f.module = "
		"'python' AND a.requested > 3000 AND a.requested < 3100 "
		"ORDER BY o.address, f.depth");

	return doc_at(doc_of(c), "rows");
}

static void format_row(const json_t *row, char *out, size_t size)
{
	const char *file = word_of(row, "file"), *slash = strrchr(file, '/');

	snprintf(out, size, "%s %s %lld", word_of(row, "function"),
		 slash ? slash + 1 : file,
		 doc_is_null(row, "line") ? 0 : doc_number(row, "line"));
}

/* Code that is freed at once may be gone before it is looked at, but it is never taken
 * for other code. */
static bool is_gone(const char *text, const char *noted)
{
	return strstr(noted, " made.py ") &&
	       strcmp(text, "(Python code that is gone)  0") == 0;
}

static void check_block(const struct noted_block *block, json_t *rows)
{
	unsigned n = 0;
	json_t *row;

	doc_each (row, rows) {
		char text[300];

		if (strcmp(word_of(row, "address"), block->address) != 0 || n == block->n)
			continue;
		format_row(row, text, sizeof(text));
		HI_ASSERT_MSG(strcmp(text, block->frames[n]) == 0 ||
				      is_gone(text, block->frames[n]),
			      "%s: frame %u is %s, not %s", block->address, n, text,
			      block->frames[n]);
		n++;
	}
	HI_ASSERT_MSG(n == block->n, "%s: %u frames of %u, then %s", block->address, n,
		      block->n, block->frames[n]);
}

static void check_stacks(const char *python)
{
	struct noted_blocks blocks = record_blocks(python);
	json_t *rows = ask_python_rows(blocks.file);

	for (size_t i = 0; i < blocks.n; i++)
		check_block(&blocks.items[i], rows);
}

HI_TEST_ROOT(record_python, stacks_have_the_frames_of_python)
{
	hi_each_python(check_stacks);
}

static const char extension_program[] =
	"import _cbuf, sys\n"
	"print('ready', flush=True)\n"
	"sys.stdin.readline()\n"
	"def make():\n"
	"    return _cbuf.Buffer(7777 // 8), bytes(5555)\n"
	"kept = make()\n"
	"print('done', flush=True)\n"
	"sys.stdin.read()\n";

/* What an extension takes from malloc is its own, though Python has called it. */
HI_TEST_ROOT(record_python, functions_of_extensions_are_sites)
{
	struct hi_fixture *fx =
		hi_fixture_start("/usr/bin/env", "PYTHONPATH=" HI_FIXTURE_DIR "/python",
				 PYTHON, "-c", extension_program, NULL);
	struct recording_run run;
	struct hi_command *c;
	char file[256];

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	snprintf(file, sizeof(file), "%s/app.hirec", workshop_open());
	run = recording_start(fx->pid, "-o", file, NULL);
	hi_fixture_tell(fx, "go");
	hi_fixture_read_until(fx, "done", NULL, NULL);
	c = recording_end(&run, SIGINT);
	HI_ASSERT_MSG(c->exit_code == 0, "exit %d: %s", c->exit_code, c->err);
	HI_ASSERT_STREQ("buffer_init",
			ask_text(file, "SELECT c.function AS said FROM contexts c JOIN "
				       "allocations a ON a.context = c.id "
				       "WHERE a.requested = 7777 / 8 * 8"));
	HI_ASSERT_STREQ("make",
			ask_text(file, "SELECT c.function AS said FROM contexts c JOIN "
				       "allocations a ON a.context = c.id "
				       "WHERE a.requested BETWEEN 5555 AND 5600"));
}

static long long count_rows(const char *file, const char *sql)
{
	struct hi_command *c = hi_heapinspect("query", file, "--all", "--json", sql);

	return (long long)doc_size(doc_of(c), "rows");
}

/* A library has no tables of its stacks in its first moments: the walk ends there, but
 * the lines of Python are known. */
HI_TEST_ROOT(record_python, allocations_of_a_new_library_have_a_line)
{
	static const char program[] = "import sys\n"
				      "print('ready', flush=True)\n"
				      "sys.stdin.readline()\n"
				      "import _curses\n"
				      "print('done', flush=True)\n"
				      "sys.stdin.readline()\n";
	struct hi_fixture *fx = hi_fixture_start(PYTHON, "-c", program, NULL);
	struct recording_run run;
	struct hi_command *c;
	char file[256];

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	snprintf(file, sizeof(file), "%s/app.hirec", workshop_open());
	run = recording_start(fx->pid, "-o", file, "--sample", "all", NULL);
	hi_fixture_tell(fx, "go");
	hi_fixture_read_until(fx, "done", NULL, NULL);
	c = recording_end(&run, SIGINT);
	HI_ASSERT_MSG(c->exit_code == 0, "exit %d: %s", c->exit_code, c->err);
	hi_test_note("%lld stacks are cut",
		     count_rows(file, "SELECT id FROM contexts WHERE truncated = 1"));
	HI_ASSERT(count_rows(file, "SELECT context FROM context_frames WHERE module LIKE "
				   "'%/_curses.%'") > 0);
	HI_ASSERT_EQ(0, count_rows(file,
				   "SELECT id FROM contexts WHERE truncated = 1 AND id "
				   "IN (SELECT context FROM context_frames WHERE module "
				   "LIKE '%/_curses.%') AND id NOT IN (SELECT context "
				   "FROM context_frames WHERE module = 'python')"));
}
