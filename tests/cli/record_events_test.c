/* SPDX-License-Identifier: BSD-2-Clause */
/* record --keep-events, against what fixtures/alloc_events.c says that it did. */
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/fixture.h"
#include "tests/support/json.h"
#include "tests/support/recorded_sites.h"
#include "tests/support/recording_run.h"
#include "tests/support/schema.h"
#include "tests/support/snapshots.h"
#include "tests/support/workshop.h"

enum { BLOCKS_MOST = 1 << 14, OPERATIONS = 1000 };

/* Blocks that are live, of the fixture or by the events. */
struct block_set {
	size_t n;
	struct {
		unsigned long long addr, size, context;
	} blocks[BLOCKS_MOST];
};

/* What a recorded fixture says of itself, and the file. */
struct kept_run {
	struct hi_fixture *fx;
	struct hi_command *c; /* of record */
	char path[256];
	long long allocs, frees, resized;
	struct block_set live;
};

static void add_live_block(struct block_set *set, unsigned long long addr,
			   unsigned long long size, unsigned long long context)
{
	HI_ASSERT(set->n < BLOCKS_MOST);
	set->blocks[set->n].addr = addr;
	set->blocks[set->n].size = size;
	set->blocks[set->n++].context = context;
}

/* The index; set->n: none. */
static size_t find_live_block(const struct block_set *set, unsigned long long addr)
{
	size_t i = 0;

	while (i < set->n && set->blocks[i].addr != addr)
		i++;
	return i;
}

static void remove_live_block(struct block_set *set, unsigned long long addr)
{
	size_t i = find_live_block(set, addr);

	if (i < set->n)
		set->blocks[i] = set->blocks[--set->n];
}

static void take_live_line(const char *line, void *arg)
{
	struct kept_run *r = arg;
	unsigned long long addr, size;

	if (sscanf(line, "live %llx %llx", &addr, &size) == 2)
		add_live_block(&r->live, addr, size, 0);
}

static void record_alloc_events(struct kept_run *r)
{
	struct recording_run run;
	char line[128];

	*r = (struct kept_run){.fx = hi_fixture_start("alloc_events", NULL)};
	hi_fixture_read_until(r->fx, "ready", NULL, NULL);
	snprintf(r->path, sizeof(r->path), "%s/app.hirec", workshop_open());
	run = recording_start(r->fx->pid, "--keep-events", "--json", "-o", r->path, NULL);
	snprintf(line, sizeof(line), "go %d", OPERATIONS);
	hi_fixture_tell(r->fx, line);
	hi_fixture_read_until(r->fx, "done", NULL, NULL);
	hi_fixture_tell(r->fx, "live");
	hi_fixture_read_until(r->fx, "that is all", take_live_line, r);
	hi_fixture_tell(r->fx, "counts");
	HI_ASSERT(hi_fixture_line(r->fx, line, sizeof(line)));
	HI_ASSERT_EQ(3, sscanf(line, "counts %lld %lld %lld", &r->allocs, &r->frees,
			       &r->resized));
	r->c = recording_end(&run, SIGINT);
	HI_ASSERT_MSG(r->c->exit_code == 0, "exit %d: %s", r->c->exit_code, r->c->err);
}

static json_t *ask_kept_rows(const char *path, const char *sql)
{
	struct hi_command *c = hi_heapinspect("query", path, "--json", sql);

	HI_ASSERT_MSG(c->exit_code == 0, "%s: %s", sql, c->err);
	return doc_at(doc_of(c), "rows");
}

/* The column "n" of the only row. */
static long long ask_kept_number(const char *path, const char *sql)
{
	return doc_number(ask_kept_rows(path, sql), "0.n");
}

/* 0: NULL. */
static unsigned long long kept_address(const json_t *row, const char *key)
{
	const char *text = json_string_value(doc_find(row, "%s", key));

	return text ? strtoull(text, NULL, 16) : 0;
}

/* NULL: the product of reallocarray is none. */
static unsigned long long kept_size(const json_t *row)
{
	return doc_is_null(row, "size") ? ULLONG_MAX
					: (unsigned long long)doc_number(row, "size");
}

static json_t *recording_in_report(struct hi_command *c)
{
	hi_check_schema(c, "rows.v1.json");
	return doc_at(doc_of(c), "recording");
}

static struct kept_run kept;

static void check_they_are_as_many_as_the_program_counted(void)
{
	static const char kinds[] =
		"SELECT sum(kind = 'alloc') AS allocs, sum(kind = 'free') AS frees, "
		"sum(kind = 'realloc_begin') AS begins, sum(kind = 'realloc_end') AS "
		"ends, sum(kind = 'lost') AS lost, count(*) AS n, count(DISTINCT thread) "
		"AS threads, min(source = 'malloc') AS of_malloc, sum(sampled) AS "
		"sampled, max(serial) AS last FROM events";
	json_t *recording, *row;

	recording = recording_in_report(kept.c);
	row = doc_at(ask_kept_rows(kept.path, kinds), "0");
	/* More than a block of them: see census/events/event_list.h. */
	HI_ASSERT(kept.allocs + kept.frees + 2 * kept.resized > 8192);
	HI_ASSERT(kept.allocs > 500 && kept.frees > 200 && kept.resized > 200);
	HI_ASSERT_EQ(kept.allocs, doc_number(row, "allocs"));
	HI_ASSERT_EQ(kept.frees, doc_number(row, "frees"));
	HI_ASSERT_EQ(kept.resized, doc_number(row, "begins"));
	HI_ASSERT_EQ(kept.resized, doc_number(row, "ends"));
	HI_ASSERT_EQ(0, doc_number(row, "lost"));
	HI_ASSERT_EQ(0, doc_number(row, "sampled"));
	HI_ASSERT_EQ(8, doc_number(row, "threads"));
	HI_ASSERT_EQ(1, doc_number(row, "of_malloc"));
	HI_ASSERT_EQ(doc_number(row, "n") - 1, doc_number(row, "last"));
	HI_ASSERT_EQ(doc_number(row, "n"), doc_number(recording, "events_kept"));
	HI_ASSERT_EQ(0, doc_number(recording, "events_left_out"));
	/* Each thread's in the order in which they happened, within the recording. */
	HI_ASSERT_EQ(0,
		     ask_kept_number(
			     kept.path,
			     "SELECT count(*) AS n FROM (SELECT time_ns - lag(time_ns) "
			     "OVER (PARTITION BY thread ORDER BY serial) AS step FROM "
			     "events) WHERE step < 0"));
	HI_ASSERT(ask_kept_number(kept.path, "SELECT max(time_ns) AS n FROM events") <=
		  doc_number(recording, "duration_ns"));
}

/* ---- what is live by them ---- */

/* The reallocation that a thread is in: the old block, which others may get. */
struct replayed_call {
	unsigned long long thread;
	bool has_block;
	unsigned long long addr, size, context;
};

static struct replayed_call *find_replayed_call(const json_t *row)
{
	static struct replayed_call calls[16];
	unsigned long long thread = (unsigned long long)doc_number(row, "thread");
	size_t i = 0;

	while (calls[i].thread && calls[i].thread != thread)
		HI_ASSERT(++i < 16);
	calls[i].thread = thread;
	return &calls[i];
}

static void replay_realloc_begin(struct block_set *set, const json_t *row)
{
	struct replayed_call *call = find_replayed_call(row);
	size_t at = find_live_block(set, kept_address(row, "address"));

	call->has_block = at < set->n;
	if (at == set->n)
		return;
	call->addr = set->blocks[at].addr;
	call->size = set->blocks[at].size;
	call->context = set->blocks[at].context;
	remove_live_block(set, call->addr);
}

static void replay_row(struct block_set *set, const json_t *row)
{
	const char *kind = doc_text(row, "kind");
	unsigned long long addr = kept_address(row, "address");
	bool is_end = strcmp(kind, "realloc_end") == 0;
	struct replayed_call *call;

	if (strcmp(kind, "free") == 0)
		remove_live_block(set, addr);
	if (strcmp(kind, "realloc_begin") == 0)
		replay_realloc_begin(set, row);
	if (addr && (is_end || strcmp(kind, "alloc") == 0))
		add_live_block(set, addr, kept_size(row),
			       (unsigned long long)doc_number(row, "context"));
	if (!is_end || addr || !kept_size(row))
		return;
	/* It failed: the old block lives on. */
	call = find_replayed_call(row);
	if (call->has_block)
		add_live_block(set, call->addr, call->size, call->context);
}

static void check_replayed_they_give_what_is_live(void)
{
	static struct block_set set;
	json_t *rows, *row;
	size_t i, at;

	set.n = 0;
	rows = ask_kept_rows(kept.path, "SELECT kind, thread, address, size, context "
					"FROM events ORDER BY serial");
	doc_each (row, rows)
		replay_row(&set, row);
	/* As the fixture says. */
	HI_ASSERT_EQ(kept.live.n, set.n);
	HI_ASSERT(set.n > 300);
	for (i = 0; i < kept.live.n; i++) {
		at = find_live_block(&set, kept.live.blocks[i].addr);
		HI_ASSERT_MSG(at < set.n, "%llx is live", kept.live.blocks[i].addr);
		HI_ASSERT_EQ(kept.live.blocks[i].size, set.blocks[at].size);
	}
	/* And as the recording has it. */
	rows = ask_kept_rows(kept.path, "SELECT address, requested, context FROM "
					"allocations JOIN objects ON id = object");
	HI_ASSERT_EQ(set.n, json_array_size(rows));
	doc_each (row, rows) {
		at = find_live_block(&set, kept_address(row, "address"));
		HI_ASSERT(at < set.n);
		HI_ASSERT_EQ(set.blocks[at].size, doc_number(row, "requested"));
		HI_ASSERT_EQ(set.blocks[at].context, doc_number(row, "context"));
	}
}

static void check_they_are_in_an_exported_database(void)
{
	char path[300], counted[64];
	struct hi_command *c;

	snprintf(path, sizeof(path), "%s.db", kept.path);
	c = hi_heapinspect("export", "-f", "sqlite", "-o", path, kept.path);
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	c = hi_command_run(0, "python3", "-c",
			   "import sqlite3, sys\n"
			   "print(*sqlite3.connect(sys.argv[1]).execute('SELECT "
			   "sum(kind = \"alloc\"), sum(kind = \"free\") FROM "
			   "events').fetchone())\n",
			   path, NULL);
	snprintf(counted, sizeof(counted), "%lld %lld\n", kept.allocs, kept.frees);
	HI_ASSERT_STREQ(counted, c->out);
}

HI_TEST_ROOT(record_events, are_what_the_program_did)
{
	record_alloc_events(&kept);
	check_they_are_as_many_as_the_program_counted();
	check_replayed_they_give_what_is_live();
	check_they_are_in_an_exported_database();
}

/* ---- limits, and where there are none ---- */

/* Records a churn into a file of its own. */
static struct hi_command *record_churn(struct hi_fixture *fx, char path[256],
				       const char *option, const char *other,
				       const char *value)
{
	struct recording_run run;
	struct hi_command *c;

	snprintf(path, 256, "%s/app.hirec", workshop_open());
	run = recording_start(fx->pid, "-o", path, option, other, value, NULL);
	sites_tell(fx, "churn");
	c = recording_end(&run, SIGINT);
	HI_ASSERT_MSG(c->exit_code == 0, "exit %d: %s", c->exit_code, c->err);
	return c;
}

static void check_they_are_counted_beyond_the_limit(struct hi_fixture *fx)
{
	char path[256];
	struct hi_command *c =
		record_churn(fx, path, "--keep-events", "--max-file", "100KiB");
	json_t *recording;
	long long n_kept, left_out;

	HI_ASSERT_MSG(strstr(c->out, "events kept") &&
			      strstr(c->out, "events were not kept"),
		      "%s", c->out);
	c = hi_heapinspect("census", "--by", "site", "--json", path);
	recording = recording_in_report(c);
	n_kept = doc_number(recording, "events_kept");
	left_out = doc_number(recording, "events_left_out");
	HI_ASSERT_EQ(doc_number(recording, "events"), n_kept + left_out);
	HI_ASSERT(n_kept > 5000 && left_out > CHURNED);
	HI_ASSERT_EQ(n_kept, ask_kept_number(path, "SELECT count(*) AS n FROM events"));
	/* The first ones: of this program each block is freed at once. */
	HI_ASSERT_EQ(0,
		     ask_kept_number(path,
				     "SELECT count(*) AS n FROM (SELECT kind, lag(kind) "
				     "OVER (ORDER BY serial) AS before FROM events WHERE "
				     "serial > 10) WHERE kind = before"));
	/* The spool leaves nothing behind. */
	c = hi_command_run(0, "sh", "-c", "cd $(dirname $0) && ls -A", path, NULL);
	HI_ASSERT_STREQ("app.hirec\n", c->out);
}

static void check_they_are_none_without_the_option(struct hi_fixture *fx)
{
	char path[256];
	struct hi_command *c = record_churn(fx, path, NULL, NULL, NULL);

	HI_ASSERT(!strstr(c->out, "events kept"));
	c = hi_heapinspect("census", "--by", "site", "--json", path);
	HI_ASSERT(!doc_find(recording_in_report(c), "events_kept"));
	HI_ASSERT_EQ(0, ask_kept_number(path, "SELECT count(*) AS n FROM events"));
}

HI_TEST_ROOT(record_events, are_kept_up_to_a_limit)
{
	struct hi_fixture *fx = sites_start();

	check_they_are_counted_beyond_the_limit(fx);
	check_they_are_none_without_the_option(fx);
}

static void expect_refused(struct hi_command *c, const char *text)
{
	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT_MSG(strstr(c->err, text), "%s", c->err);
}

HI_TEST_SCENARIO(record_events, need_a_file_and_no_series)
{
	expect_refused(hi_heapinspect("record", "--pid", "1", "--keep-events"),
		       "--keep-events: -o FILE is missing");
	expect_refused(hi_heapinspect("record", "--pid", "1", "--keep-events", "--every",
				      "1s", "-o", "/tmp/x.hirec"),
		       "--keep-events: not with --every");
	expect_refused(hi_heapinspect("record", "--pid", "1", "--max-file", "1M", "-o",
				      "/tmp/x.hirec"),
		       "--max-file: only with --every or --keep-events");
}
