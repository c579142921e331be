/* SPDX-License-Identifier: BSD-2-Clause */
/* Stacks that differ in frames of libraries alone are one row of pages, whose figures are
 * those of all (fixtures/library_ways.cc). */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/fixture.h"
#include "tests/support/json.h"
#include "tests/support/recording_run.h"
#include "tests/support/workshop.h"

struct library_ways {
	char file[256];
	long long blocks, bytes;	   /* of fill, as the fixture has them */
	long long made_blocks, made_bytes; /* of make */
};

static void take_ways_line(const char *line, void *arg)
{
	struct library_ways *w = arg;

	(void)sscanf(line, "kept %lld %lld", &w->blocks, &w->bytes);
	(void)sscanf(line, "made %lld %lld", &w->made_blocks, &w->made_bytes);
}

static struct library_ways record_ways(void)
{
	struct library_ways w = {};
	struct hi_fixture *fx = hi_fixture_start("library_ways", NULL);
	struct recording_run run;
	struct hi_command *c;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	snprintf(w.file, sizeof(w.file), "%s/app.hirec", workshop_open());
	run = recording_start(fx->pid, "-o", w.file, NULL);
	hi_fixture_tell(fx, "go");
	hi_fixture_read_until(fx, "done", take_ways_line, &w);
	c = recording_end(&run, SIGINT);
	HI_ASSERT_MSG(c->exit_code == 0, "exit %d: %s", c->exit_code, c->err);
	HI_ASSERT_EQ(160, w.blocks);
	return w;
}

static size_t count_lines_of(const char *page, const char *text)
{
	size_t n = 0;

	for (const char *at = page; (at = strstr(at, text)); at += strlen(text))
		n++;
	return n;
}

/* Contexts whose site is the function, in JSON, which has each stack; and their sums. */
static size_t sum_contexts(const struct library_ways *w, long long *objects,
			   long long *bytes)
{
	json_t *doc = doc_of(hi_heapinspect("census", "--by", "context", "--all",
					    "--json", w->file)),
	       *row;
	size_t n = 0;

	*objects = *bytes = 0;
	doc_each (row, doc_at(doc, "rows")) {
		if (!strstr(doc_text(row, "site.function"), "fill"))
			continue;
		n++;
		*objects += doc_number(row, "objects");
		*bytes += doc_number(row, "bytes");
	}
	return n;
}

static void check_rows_of_contexts(const struct library_ways *w)
{
	struct hi_command *c = hi_heapinspect("census", "--by", "context", "--width",
					      "120", "--all", w->file);
	long long objects, bytes, shown = 0;
	size_t stacks = sum_contexts(w, &objects, &bytes);
	const char *row;
	char text[64];

	HI_ASSERT_EQ(w->blocks, objects);
	HI_ASSERT_EQ(w->bytes, bytes);
	HI_ASSERT(stacks >= 4);
	HI_ASSERT_MSG(count_lines_of(c->out, "  fill ") == 1, "%s", c->out);
	row = strstr(c->out, "  fill ");
	HI_ASSERT_EQ(1, sscanf(row, "  fill %lld", &shown));
	HI_ASSERT_EQ(w->blocks, shown);
	snprintf(text, sizeof(text), "%.1f KiB", (double)bytes / 1024);
	HI_ASSERT_MSG(strstr(row, text) && strstr(row, text) < strchr(row, '\n'),
		      "%s: %s", text, c->out);
	HI_ASSERT_MSG(strstr(c->out, "row is of several stacks") ||
			      strstr(c->out, "rows are of several stacks"),
		      "%s", c->out);
	c = hi_heapinspect("census", "--by", "context", "--width", "300", "--all",
			   "--full-names", w->file);
	HI_ASSERT_MSG(count_lines_of(c->out, "  fill(") == stacks, "%zu: %s", stacks,
		      c->out);
}

HI_TEST_ROOT(library_ways, a_census_by_context_has_one_row_of_them)
{
	struct library_ways w = record_ways();

	check_rows_of_contexts(&w);
}

/* Direct callers of make() in JSON, which has those of the library; all of them together
 * have what make() has. */
static size_t check_callers_of_make(const struct library_ways *w)
{
	json_t *doc = doc_of(
		       hi_heapinspect("alloc", w->file, "--callers", "--all", "--json")),
	       *row, *caller;
	long long number = 0, bytes = 0;
	size_t n = 0;

	doc_each (row, doc_at(doc, "functions")) {
		if (!strstr(doc_text(row, "name"), "make(void*&)"))
			continue;
		HI_ASSERT_EQ(w->made_blocks, doc_number(row, "live.number"));
		doc_each (caller, doc_at(row, "callers")) {
			HI_ASSERT(!strstr(doc_text(caller, "name"), "pass("));
			number += doc_number(caller, "live.number");
			bytes += doc_number(caller, "live.size");
			n++;
		}
	}
	HI_ASSERT_EQ(w->made_blocks, number);
	HI_ASSERT_EQ(w->made_bytes, bytes);
	return n;
}

static void check_rows_of_callers(const struct library_ways *w)
{
	struct hi_command *c =
		hi_heapinspect("alloc", w->file, "--callers", "--all", "--width", "120");
	const char *make = strstr(c->out, "\n  make "), *row;
	char text[64];

	HI_ASSERT(check_callers_of_make(w) > 1);
	HI_ASSERT_MSG(make && count_lines_of(c->out, "called by pass, through ") == 1,
		      "%s", c->out);
	row = strstr(make, "called by pass, through ");
	snprintf(text, sizeof(text), "%.1f KiB", (double)w->made_bytes / 1024);
	/* Allocated and live, and nothing but this row is below make(). */
	HI_ASSERT_MSG(row == strstr(make, "called by") && strstr(row, text) &&
			      strstr(row, text) < strchr(row, '\n'),
		      "%s: %s", text, c->out);
	HI_ASSERT(!strstr(c->out, "called by std::"));
	c = hi_heapinspect("alloc", w->file, "--callers", "--all", "--full-names",
			   "--width", "300");
	HI_ASSERT_MSG(!strstr(c->out, "called by pass"), "%s", c->out);
}

HI_TEST_ROOT(library_ways, callers_of_the_program_are_one_row)
{
	struct library_ways w = record_ways();

	check_rows_of_callers(&w);
}
