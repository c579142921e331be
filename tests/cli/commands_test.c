/* SPDX-License-Identifier: BSD-2-Clause */
/* Every command on a running service, against what the service says of itself. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/fixture.h"
#include "tests/support/json.h"
#include "tests/support/schema.h"
#include "tests/support/snapshots.h"
#include "tests/support/stopping.h"

/* fixtures/leaky_service.c, with these arguments. */
enum { SESSIONS = 700, PAGES = 900, REQUESTS = 300, CHAINS = 40, RINGS = 60 };

static char pid_text[16];

static const char *start_service(void)
{
	struct hi_fixture *fx = hi_fixture_start("leaky_service", "700", "900", NULL);

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	snprintf(pid_text, sizeof(pid_text), "%d", (int)fx->pid);
	return pid_text;
}

HI_TEST_SCENARIO(commands, every_document_is_what_its_schema_says)
{
	const char *pid = start_service();

	hi_check_schema(hi_heapinspect("--pid", pid, "--json"), "summary.v1.json");
	hi_check_schema(hi_heapinspect("--pid", pid, "--json", "--conservative"),
			"summary.v1.json");
	hi_check_schema(hi_heapinspect("census", "--pid", pid, "--json"), "rows.v1.json");
	hi_check_schema(hi_heapinspect("retained", "--pid", pid, "--json", "--all"),
			"rows.v1.json");
	hi_check_schema(
		hi_heapinspect("retained", "--pid", pid, "--json", "--type", "session"),
		"rows.v1.json");
	hi_check_schema(hi_heapinspect("leaks", "--pid", pid, "--json"), "rows.v1.json");
	hi_check_schema(hi_heapinspect("paths", "struct session", "--pid", pid, "--json"),
			"rows.v1.json");
	hi_check_schema(hi_heapinspect("waste", "--pid", pid, "--json", "--all"),
			"rows.v1.json");
	hi_check_schema(hi_heapinspect("explain", "0x10", "--pid", pid, "--json"),
			"rows.v1.json");
	hi_check_schema(hi_heapinspect("retainers", "--pid", pid, "--json",
				       "--retainer=auto", "--max-set=1"),
			"rows.v1.json");
	hi_check_schema(hi_heapinspect("up", "--type=char*", "--pid", pid, "--json"),
			"rows.v1.json");
	hi_check_schema(hi_heapinspect("roots", "--root=pages=page_cache",
				       "--root=sessions=sessions", "--all-bins", "--pid",
				       pid, "--json"),
			"rows.v1.json");
	hi_check_schema(hi_heapinspect("census", "--root=pages=page_cache",
				       "--under=pages", "--pid", pid, "--json"),
			"rows.v1.json");
}

HI_TEST_SCENARIO(commands, a_process_without_malloc_is_what_the_schema_says)
{
	char pid[16];
	struct hi_command *c;
	struct hi_fixture *fx = hi_fixture_start("no_malloc", NULL);

	hi_fixture_await_program(fx->pid, "no_malloc");
	snprintf(pid, sizeof(pid), "%d", (int)fx->pid);
	c = hi_heapinspect("--pid", pid, "--json");
	kill(fx->pid, 9);
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	HI_ASSERT(doc_is_null(doc_of(c), "objects.live"));
	hi_check_schema(c, "summary.v1.json");
}

HI_TEST_SCENARIO(commands, the_summary_counts_what_the_service_holds_and_leaked)
{
	const char *pid = start_service();
	json_t *doc = doc_of(hi_heapinspect("--pid", pid, "--json", "--all"));
	json_t *types = doc_at(doc, "types");
	json_t *leaks = doc_at(doc, "leaks");
	json_t *shapes = doc_at(leaks, "roots");
	json_t *roots = doc_at(doc, "roots");
	json_t *typed = doc_at(doc, "typed");

	HI_ASSERT_STREQ("heapinspect/summary/v1", doc_text(doc, "schema"));
	HI_ASSERT_EQ(SESSIONS,
		     doc_number(doc_row(types, "type", "struct session"), "count"));
	HI_ASSERT_EQ(PAGES,
		     doc_number(doc_row(types, "type", "struct cache_entry"), "count"));
	/* Chunks of 48 bytes each for the structs. */
	HI_ASSERT_EQ(SESSIONS * 48,
		     doc_number(doc_row(types, "type", "struct session"), "shallow"));
	HI_ASSERT_EQ(REQUESTS, doc_number(doc_row(shapes, "shape", "single"), "count"));
	HI_ASSERT_EQ(CHAINS, doc_number(doc_row(shapes, "shape", "chain"), "count"));
	HI_ASSERT_EQ(CHAINS * 25,
		     doc_number(doc_row(shapes, "shape", "chain"), "objects"));
	HI_ASSERT_EQ(RINGS, doc_number(doc_row(shapes, "shape", "cycle"), "count"));
	HI_ASSERT_EQ(RINGS * 2, doc_number(doc_row(shapes, "shape", "cycle"), "objects"));
	HI_ASSERT_EQ(doc_number(leaks, "objects"), doc_number(doc, "objects.leak"));
	/* 900 entries with bodies of 2,000 bytes: chunks of 48 and 2,016. */
	HI_ASSERT_EQ(PAGES * (48 + 2016),
		     doc_number(doc_row(roots, "name", "page_cache"), "retained"));
	HI_ASSERT_EQ(doc_number(doc, "bytes.live"),
		     doc_number(typed, "exact") + doc_number(typed, "inferred") +
			     doc_number(typed, "untyped"));
}

HI_TEST_SCENARIO(commands, the_ledger_adds_up_to_rss)
{
	const char *pid = start_service(), *key;
	json_t *doc = doc_of(hi_heapinspect("--pid", pid, "--json"));
	json_t *ledger = doc_at(doc, "ledger"), *value;
	long long sum = 0;

	json_object_foreach(ledger, key, value)
	{
		if (json_is_integer(value) && strcmp(key, "rss") != 0)
			sum += json_integer_value(value);
	}
	HI_ASSERT_EQ(doc_number(ledger, "rss"), sum);
}

HI_TEST_SCENARIO(commands, the_page_is_at_most_a_screen_and_a_half)
{
	const char *pid = start_service();
	struct hi_command *c = hi_heapinspect("-q", "--pid", pid);
	size_t lines = 0;

	HI_ASSERT_EQ(0, c->exit_code);
	for (const char *s = c->out; *s; s++)
		lines += *s == '\n';
	HI_ASSERT_MSG(lines > 30 && lines <= 72, "%zu lines:\n%s", lines, c->out);
	HI_ASSERT_MSG(strstr(c->out, "page_cache") != NULL, "%s", c->out);
}

HI_TEST_SCENARIO(commands, paths_name_the_way_field_by_field)
{
	const char *pid = start_service();
	json_t *doc = doc_of(hi_heapinspect("paths", "struct session", "-k", "3",
					    "--each", "--pid", pid, "--json"));
	json_t *rows = doc_at(doc, "rows"), *steps;
	unsigned bucket;

	HI_ASSERT_EQ(3, json_array_size(rows));
	HI_ASSERT_EQ(SESSIONS, doc_number(doc, "targets"));
	for (size_t i = 0; i < 3; i++) {
		json_t *row = doc_at(rows, "%zu", i);

		HI_ASSERT_MSG(sscanf(doc_text(row, "path"), "sessions.buckets[%u]",
				     &bucket) == 1 &&
				      bucket < SESSIONS,
			      "%s", doc_text(row, "path"));
		HI_ASSERT_STREQ("exact", doc_text(row, "grade"));
	}
	steps = doc_at(rows, "0.steps");
	HI_ASSERT_STREQ("sessions", doc_text(steps, "0.name"));
	HI_ASSERT_STREQ("struct session",
			doc_text(steps, "%zu.type", json_array_size(steps) - 1));
}

HI_TEST_SCENARIO(commands, explain_tells_a_live_object_a_leak_and_a_variable_apart)
{
	const char *pid = start_service(), *address;
	json_t *steps, *row, *field;

	steps = doc_at(doc_of(hi_heapinspect("paths", "struct session", "-k", "1",
					     "--pid", pid, "--json")),
		       "rows.0.steps");
	address = doc_text(steps, "%zu.address", json_array_size(steps) - 1);
	row = doc_at(doc_of(hi_heapinspect("explain", address, "--pid", pid, "--json")),
		     "rows.0");
	HI_ASSERT_STREQ("live", doc_text(row, "state"));
	HI_ASSERT_STREQ("struct session", doc_text(row, "type"));
	HI_ASSERT_STREQ(address, doc_text(row, "block"));
	field = doc_row(doc_at(row, "fields"), "path", "inbox.capacity");
	HI_ASSERT_STREQ("256", doc_text(field, "value"));
	HI_ASSERT_EQ(1, doc_number(row, "referrers_total"));
	/* The root it hangs on, by its own address. */
	address = doc_text(steps, "0.address");
	row = doc_at(doc_of(hi_heapinspect("explain", address, "--pid", pid, "--json")),
		     "rows.0");
	HI_ASSERT_STREQ("variable", doc_text(row, "state"));
	HI_ASSERT_STREQ("sessions", doc_text(row, "variable"));
}

static json_t *explained(const char *what, const char *option, const char *target)
{
	const struct hi_command *c =
		hi_heapinspect("explain", what, option, target, "--json");

	return doc_at(doc_of(c), "rows.0");
}

HI_TEST_SCENARIO(commands, explain_takes_an_expression)
{
	const char *pid = start_service();
	json_t *newest = explained("page_cache.newest", "--pid", pid);
	json_t *older = explained("page_cache.newest->older", "--pid", pid);
	json_t *fields = doc_at(older, "fields");
	char file[] = "/tmp/hi-explain-XXXXXX";
	int fd = mkstemp(file);

	HI_ASSERT(fd >= 0);
	close(fd);
	HI_ASSERT_STREQ("struct cache_entry", doc_text(newest, "type"));
	HI_ASSERT_STREQ("struct cache_entry", doc_text(older, "type"));
	/* The list is linked in both directions. */
	HI_ASSERT_STREQ(doc_text(newest, "block"),
			doc_text(doc_row(fields, "path", "newer"), "value"));
	HI_ASSERT_EQ(atoi(doc_text(doc_row(doc_at(newest, "fields"), "path", "key"),
				   "value")) -
			     1,
		     atoi(doc_text(doc_row(fields, "path", "key"), "value")));
	HI_ASSERT_STREQ("variable",
			doc_text(explained("page_cache", "--pid", pid), "state"));
	HI_ASSERT_EQ(0, hi_heapinspect("snap", "--pid", pid, "-o", file)->exit_code);
	HI_ASSERT_STREQ(
		doc_text(older, "block"),
		doc_text(doc_of(hi_heapinspect("explain", "page_cache.newest->older",
					       file, "--json")),
			 "rows.0.block"));
	unlink(file);
}

HI_TEST_SCENARIO(commands, explain_refuses_an_expression_that_leads_nowhere)
{
	const char *pid = start_service();
	const struct hi_command *c =
		hi_heapinspect("explain", "page_cache.newst", "--pid", pid);

	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT_MSG(strstr(c->err, "explain: ") && strstr(c->err, "  page_cache.newst"),
		      "%s", c->err);
	/* The process was not stopped for it. */
	HI_ASSERT_MSG(!strstr(c->err, "paused"), "%s", c->err);
	c = hi_heapinspect("roots", "--root", "good=page_cache", "--root",
			   "bad=page_cash->newest", "--pid", pid);
	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT_MSG(strstr(c->err, "--root bad: ") && !strstr(c->err, "paused"), "%s",
		      c->err);
	HI_ASSERT_EQ(2, hi_heapinspect("explain", "", "--pid", pid)->exit_code);
	c = hi_heapinspect("explain", "page_cache.newest->newer", "--pid", pid);
	HI_ASSERT(c->exit_code != 0);
	HI_ASSERT_MSG(strstr(c->err, "is null"), "%s", c->err);
	c = hi_heapinspect("explain", "page_cache", "--conservative", "--pid", pid);
	HI_ASSERT_EQ(2, c->exit_code);
}

HI_TEST_SCENARIO(commands, explain_of_a_leak_and_of_nothing)
{
	const char *pid = start_service(), *address;
	json_t *leaks = doc_of(hi_heapinspect("leaks", "--pid", pid, "--json"));
	json_t *row;

	row = doc_row(doc_at(leaks, "rows"), "shape", "chain");
	address = doc_text(row, "example");
	row = doc_at(doc_of(hi_heapinspect("explain", address, "--pid", pid, "--json")),
		     "rows.0");
	HI_ASSERT_STREQ("leak", doc_text(row, "state"));
	HI_ASSERT_EQ(0, doc_number(row, "referrers_total"));
	row = doc_at(doc_of(hi_heapinspect("explain", "0x10", "--pid", pid, "--json")),
		     "rows.0");
	HI_ASSERT_STREQ("unmapped", doc_text(row, "state"));
	HI_ASSERT_EQ(0, hi_heapinspect("paths", address, "--pid", pid)->exit_code);
	HI_ASSERT(strstr(hi_heapinspect("paths", address, "--pid", pid)->out,
			 "it is a leak") != NULL);
}

static void check_state(struct hi_fixture *fx, const char *what, const char *state)
{
	char line[80], word[16], address[40], pid[16];
	json_t *row;

	HI_ASSERT(hi_fixture_line(fx, line, sizeof(line)));
	HI_ASSERT_EQ(2, sscanf(line, "%15s %39s", word, address));
	HI_ASSERT_STREQ(what, word);
	snprintf(pid, sizeof(pid), "%d", (int)fx->pid);
	row = doc_at(doc_of(hi_heapinspect("explain", address, "--pid", pid, "--json")),
		     "rows.0");
	HI_ASSERT_STREQ(state, doc_text(row, "state"));
}

HI_TEST_SCENARIO(commands, a_free_block_is_no_variable_though_untyped_words_are_near)
{
	struct hi_fixture *fx = hi_fixture_start("break_word", NULL);

	check_state(fx, "free", "free_tcache");
	check_state(fx, "word", "variable");
}

HI_TEST_SCENARIO(commands, retained_of_one_type_is_exact)
{
	const char *pid = start_service();
	json_t *doc = doc_of(hi_heapinspect("retained", "--type", "struct cache_entry",
					    "--pid", pid, "--json", "--all"));
	json_t *type = doc_at(doc, "of_type");

	HI_ASSERT_EQ(PAGES, doc_number(type, "count"));
	HI_ASSERT_EQ(PAGES * 48, doc_number(type, "shallow"));
	HI_ASSERT_EQ(PAGES * (48 + 2016), doc_number(type, "retained"));
	HI_ASSERT_EQ(PAGES, doc_size(doc, "rows"));
}

/* Each row is its own bytes, the rows one level below it, and what is in no row. */
static void check_row_sums(const json_t *rows)
{
	size_t n = json_array_size(rows);

	for (size_t i = 0; i < n; i++) {
		const json_t *row = doc_at(rows, "%zu", i);
		long long depth = doc_number(row, "depth"),
			  sum = doc_number(row, "shallow");
		bool has_children = doc_number(row, "children_not_listed");

		sum += doc_number(row, "children_not_listed_retained");
		for (size_t k = i + 1; k < n; k++) {
			const json_t *below = doc_at(rows, "%zu", k);

			if (doc_number(below, "depth") <= depth)
				break;
			has_children = true;
			if (doc_number(below, "depth") == depth + 1)
				sum += doc_number(below, "retained");
		}
		if (has_children)
			HI_ASSERT_EQ(doc_number(row, "retained"), sum);
	}
}

HI_TEST_SCENARIO(commands, siblings_of_one_type_are_one_row_of_retained)
{
	const char *pid = start_service();
	json_t *doc = doc_of(hi_heapinspect("retained", "--pid", pid, "--json", "--all"));
	json_t *rows = doc_at(doc, "rows");
	json_t *pages = doc_row(rows, "type", "struct cache_entry");
	json_t *table = doc_row(rows, "type", "struct session");

	HI_ASSERT_EQ(PAGES, doc_number(pages, "count"));
	HI_ASSERT_EQ(PAGES * (48 + 2016), doc_number(pages, "retained"));
	/* Chains of the table too. */
	HI_ASSERT_EQ(SESSIONS, doc_number(table, "count"));
	check_row_sums(rows);
}

HI_TEST_SCENARIO(commands, a_suspect_is_said_by_its_holder_number_and_type)
{
	const char *pid = start_service();
	struct hi_command *c = hi_heapinspect("--pid", pid);
	json_t *doc = doc_of(hi_heapinspect("--pid", pid, "--json"));
	json_t *first = doc_at(doc, "suspects.0");

	HI_ASSERT_STREQ("page_cache", doc_text(first, "path"));
	HI_ASSERT_STREQ("struct cache_entry", doc_text(first, "child_type"));
	HI_ASSERT_EQ(PAGES, doc_number(first, "children"));
	HI_ASSERT_EQ(PAGES * (48 + 2016), doc_number(first, "children_bytes"));
	HI_ASSERT_MSG(
		strstr(c->out, "page_cache: 900 × struct cache_entry hold 1.8 MiB ("),
		"%s", c->out);
}

HI_TEST_SCENARIO(commands, an_unknown_type_is_answered_with_the_nearest)
{
	const char *pid = start_service();
	struct hi_command *c = hi_heapinspect("paths", "struct sesion", "--pid", pid);

	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT(strstr(c->err, "struct session") != NULL);
	HI_ASSERT_EQ(2,
		     hi_heapinspect("census", "--type", "nothing_like_it", "--pid", pid)
			     ->exit_code);
}

HI_TEST_SCENARIO(commands, top_and_all_cut_text_and_json_alike)
{
	const char *pid = start_service();
	json_t *two = doc_of(hi_heapinspect("--pid", pid, "--json", "--top", "2"));
	json_t *cut = doc_of(hi_heapinspect("census", "--pid", pid, "--json", "--top",
					    "2", "--min-size", "1"));
	json_t *all = doc_of(hi_heapinspect("census", "--pid", pid, "--json", "--all"));
	json_t *row = doc_at(all, "rows.0");
	json_t *hidden = doc_at(cut, "hidden.by_top");
	long long bytes = 0;

	HI_ASSERT_EQ(2, doc_size(two, "types"));
	HI_ASSERT_EQ(2, doc_size(two, "roots"));
	HI_ASSERT_EQ(2, doc_size(cut, "rows"));
	HI_ASSERT(json_equal(row, doc_at(cut, "rows.0")));
	for (size_t i = 2; i < doc_size(all, "rows"); i++)
		bytes += doc_number(all, "rows.%zu.shallow", i);
	HI_ASSERT_EQ(bytes, doc_number(hidden, "bytes"));
}

/* The document without what a moment decides. */
static json_t *timeless(const struct hi_command *c)
{
	json_t *doc = doc_of(c);

	json_object_del(doc, "snapshot");
	json_object_del(doc, "ledger");
	json_object_del(doc, "phases");
	return doc;
}

HI_TEST_SCENARIO(commands, the_number_of_threads_changes_nothing)
{
	struct hi_fixture *fx = hi_fixture_start("leak_shapes", "cyclic", "7", NULL);
	char pid[16];
	json_t *one;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	snprintf(pid, sizeof(pid), "%d", (int)fx->pid);
	one = timeless(hi_heapinspect("--pid", pid, "--json", "--all", "--threads", "1"));
	HI_ASSERT(json_equal(one, timeless(hi_heapinspect("--pid", pid, "--json", "--all",
							  "--threads", "4"))));
	HI_ASSERT(json_equal(one, timeless(hi_heapinspect("--pid", pid, "--json", "--all",
							  "--threads", "1"))));
}

/* A file is written of an image that is not packed. */
HI_TEST_SCENARIO(commands, a_large_image_is_packed_and_that_changes_nothing)
{
	static const char *const parts[] = {"types", "roots", "leaks", "suspects",
					    "lesser_suspects"};
	struct hi_fixture *fx = hi_fixture_start("bench_shop", "1500000", NULL);
	char pid[16], file[512];
	json_t *one, *stored;
	struct hi_command *c;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	snprintf(pid, sizeof(pid), "%d", (int)fx->pid);
	snprintf(file, sizeof(file), "%s/shop.hisnap", snapshot_directory());
	c = hi_heapinspect("--pid", pid, "--json", "--threads", "1", "-v");
	HI_ASSERT_MSG(strstr(c->err, "packing the image"), "%s", c->err);
	one = timeless(c);
	for (unsigned i = 0; i < 2; i++)
		HI_ASSERT(json_equal(
			one, timeless(hi_heapinspect("--pid", pid, "--json", "--threads",
						     i ? "8" : "2"))));
	HI_ASSERT_EQ(0, hi_heapinspect("snap", "--pid", pid, "-o", file)->exit_code);
	stored = timeless(hi_heapinspect(file, "--json"));
	HI_ASSERT(doc_size(one, "suspects") > 0);
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		HI_ASSERT_MSG(json_equal(json_object_get(one, parts[i]),
					 json_object_get(stored, parts[i])),
			      "%s", parts[i]);
}

HI_TEST_SCENARIO(commands, strict_ends_with_4_when_the_heap_is_damaged)
{
	struct hi_fixture *fx = hi_fixture_start("overwritten_heap", NULL);
	char pid[16];
	struct hi_command *c;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	snprintf(pid, sizeof(pid), "%d", (int)fx->pid);
	c = hi_heapinspect("--pid", pid, "--strict", "--json");
	HI_ASSERT_EQ(4, c->exit_code);
	hi_check_schema(c, "summary.v1.json");
	HI_ASSERT_EQ(0, hi_heapinspect("--pid", pid)->exit_code);
}

HI_TEST_SCENARIO(commands, a_pause_budget_that_runs_out_gives_124)
{
	const char *pid = start_service();
	struct hi_command *c = hi_heapinspect("--pid", pid, "--max-pause", "1us");

	HI_ASSERT_EQ(124, c->exit_code);
	HI_ASSERT_EQ(0, c->out_size);
	HI_ASSERT_MSG(strchr(c->err, '\n') == c->err + c->err_size - 1, "%s", c->err);
	hi_test_expect_free(atoi(pid), "S");
}
