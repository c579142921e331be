/* SPDX-License-Identifier: BSD-2-Clause */
/* snap --every: a file of many censuses of a process that grows and shrinks on command,
 * against what that process says of itself (fixtures/growing_service.c). */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/json.h"
#include "tests/support/schema.h"
#include "tests/support/snapshots.h"

#define PROGRAM HI_BINARY_DIR "/heapinspect"
enum { STEPS = 7 };

static struct hi_fixture *target;
static char pid_text[16];

static void order_nodes(long n)
{
	char line[256];
	long nodes;

	if (n >= 0) {
		snprintf(line, sizeof(line), "nodes %ld", n);
		hi_fixture_tell(target, line);
	}
	HI_ASSERT(hi_fixture_line(target, line, sizeof(line)));
	HI_ASSERT_EQ(1, sscanf(line, "held %ld", &nodes));
}

static void start_target(void)
{
	target = hi_fixture_start("growing_service", NULL);
	order_nodes(-1);
	snprintf(pid_text, sizeof(pid_text), "%d", (int)target->pid);
}

static long long number_of(const json_t *object, const char *key)
{
	json_t *number = json_object_get(object, key);

	HI_ASSERT_MSG(json_is_integer(number), "no number %s", key);
	return json_integer_value(number);
}

static json_t *rows_of(json_t *doc)
{
	json_t *rows = json_object_get(doc, "rows");

	HI_ASSERT(json_array_size(rows) > 0);
	return rows;
}

/* It takes ten times as long as the question: once for each kind of document. */
static json_t *checked(struct hi_command *c, const char *schema, bool *is_checked)
{
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	if (!*is_checked)
		hi_check_schema(c, schema);
	*is_checked = true;
	return doc_of(c);
}

static json_t *list(const char *file)
{
	static bool is_checked;

	return checked(hi_heapinspect("snapshots", file, "--json"), "snapshots.v1.json",
		       &is_checked);
}

static bool exists(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0;
}

/* Of the nodes in a census's types. */
static long long nodes_in(json_t *doc, const char *array, const char *key)
{
	json_t *rows = json_object_get(doc, array), *row;
	size_t i;

	json_array_foreach(rows, i, row)
	{
		const char *type = json_string_value(json_object_get(row, "type"));

		if (type && strcmp(type, "struct node") == 0)
			return number_of(row, key);
	}
	return 0;
}

static long long nodes_of_sums(const char *file, const char *which)
{
	static bool is_checked;
	struct hi_command *c =
		hi_heapinspect("snapshots", file, "--census", which, "--json", "--all");

	return nodes_in(checked(c, "snapshots.v1.json", &is_checked), "types", "count");
}

static long long nodes_of_graph(const char *file, const char *which)
{
	static bool is_checked;
	struct hi_command *c =
		hi_heapinspect("census", file, "--census", which, "--json", "--all");

	return nodes_in(checked(c, "rows.v1.json", &is_checked), "rows", "count");
}

/* Until a census has as many nodes, at its end. */
static void wait_for(const char *file, long nodes)
{
	for (int i = 0; i < 1200; i++) {
		if (exists(file) && nodes_of_sums(file, "last") == nodes)
			return;
		usleep(50000);
	}
	HI_ASSERT_MSG(false, "no census of %ld nodes", nodes);
}

static int wait_status(struct hi_fixture *series)
{
	int status;

	HI_ASSERT(waitpid(series->pid, &status, 0) == series->pid);
	series->ended = 1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* ---- what is in the file ---- */

/* Does the curve fall by 5 % before it is higher, or, to the left, as high? */
static bool series_falls(json_t *rows, size_t i, int step)
{
	size_t n = json_array_size(rows);
	long long height = number_of(json_array_get(rows, i), "bytes");

	for (size_t k = i + (size_t)step; k < n; k += (size_t)step) {
		long long other = number_of(json_array_get(rows, k), "bytes");

		if (other > height || (step < 0 && other == height))
			return false;
		if (other < height && (height - other) * 20 >= height)
			return true;
	}
	return false;
}

/* The definition of --full, over the rows; the global maximum falls on both sides here.
 */
static bool is_wanted(json_t *rows, size_t i)
{
	return i == 0 || i == json_array_size(rows) - 1 ||
	       (series_falls(rows, i, -1) && series_falls(rows, i, 1));
}

HI_TEST_SCENARIO(snap_series, a_file_has_every_census_and_the_graphs_of_the_peaks)
{
	static const long nodes[STEPS] = {100, 1000, 400, 3000, 200, 700, 300};
	const char *file = snapshot_path(snapshot_directory(), "a.hisnap");
	struct hi_fixture *series;
	char which[24];
	json_t *doc, *rows;
	size_t graphs = 0;

	start_target();
	order_nodes(nodes[0]);
	series = hi_fixture_start(PROGRAM, "snap", "-q", "--every", "50ms", "--full",
				  "first,last,peaks:9", "-o", file, "--pid", pid_text,
				  NULL);
	wait_for(file, nodes[0]);
	for (int i = 1; i < STEPS; i++) {
		order_nodes(nodes[i]);
		wait_for(file, nodes[i]);
	}
	kill(series->pid, SIGTERM);
	HI_ASSERT_EQ(0, wait_status(series));
	doc = list(file);
	HI_ASSERT_STREQ("stopped", json_string_value(json_object_get(doc, "end")));
	HI_ASSERT_EQ(0, number_of(doc, "damaged") + number_of(doc, "lost") +
				number_of(doc, "torn"));
	rows = rows_of(doc);
	for (size_t i = 0; i < json_array_size(rows); i++) {
		json_t *row = json_array_get(rows, i);
		bool has = !json_is_null(json_object_get(row, "graph"));

		HI_ASSERT_EQ((long long)i + 1, number_of(row, "census"));
		HI_ASSERT_MSG(has == is_wanted(rows, i), "census %zu", i + 1);
		snprintf(which, sizeof(which), "%zu", i + 1);
		if (has) {
			HI_ASSERT_EQ(nodes_of_sums(file, which),
				     nodes_of_graph(file, which));
			graphs++;
		}
	}
	/* The three peaks, and both ends. */
	HI_ASSERT(graphs >= 4);
	HI_ASSERT_EQ(100, nodes_of_graph(file, "first"));
	HI_ASSERT_EQ(300, nodes_of_graph(file, "last"));
	HI_ASSERT_EQ(3000, nodes_of_graph(file, "peak"));
}

HI_TEST_SCENARIO(snap_series, two_censuses_of_a_file_are_compared)
{
	const char *file = snapshot_path(snapshot_directory(), "a.hisnap");
	char first[512], last[512];
	struct hi_fixture *series;
	struct hi_command *a, *b;
	json_t *row;

	start_target();
	order_nodes(100);
	series = hi_fixture_start(PROGRAM, "snap", "-q", "--every", "50ms", "-o", file,
				  "--pid", pid_text, NULL);
	wait_for(file, 100);
	order_nodes(1600);
	wait_for(file, 1600);
	HI_ASSERT_EQ(0, WEXITSTATUS(hi_fixture_end(target)));
	HI_ASSERT_EQ(0, wait_status(series));
	snprintf(first, sizeof(first), "%s@first", file);
	snprintf(last, sizeof(last), "%s@last", file);
	a = hi_heapinspect("diff", first, last, "--json");
	b = hi_heapinspect("diff", file, "--json");
	HI_ASSERT_EQ(1, a->exit_code);
	HI_ASSERT_STREQ(a->out, b->out);
	hi_check_schema(a, "rows.v1.json");
	a->exit_code = 0; /* 1 is a difference */
	row = json_array_get(rows_of(doc_of(a)), 0);
	HI_ASSERT_STREQ("struct node", json_string_value(json_object_get(row, "type")));
	a = hi_heapinspect("diff", last, last);
	HI_ASSERT_MSG(a->exit_code == 0, "%s%s", a->out, a->err);
	a = hi_heapinspect("diff", last, first, "--json");
	HI_ASSERT_EQ(1, a->exit_code);
	HI_ASSERT(strcmp(a->out, b->out) != 0);
}

/* Warm-up, peak and end of one file. */
HI_TEST_SCENARIO(snap_series, three_censuses_of_a_file_tell_what_survived)
{
	const char *file = snapshot_path(snapshot_directory(), "a.hisnap");
	char first[512], peak[512];
	struct hi_fixture *series;
	struct hi_command *c;
	json_t *row;

	start_target();
	order_nodes(100);
	series = hi_fixture_start(PROGRAM, "snap", "-q", "--every", "50ms", "--full",
				  "first,last,peaks:1", "-o", file, "--pid", pid_text,
				  NULL);
	wait_for(file, 100);
	order_nodes(1600);
	wait_for(file, 1600);
	order_nodes(900);
	wait_for(file, 900);
	HI_ASSERT_EQ(0, WEXITSTATUS(hi_fixture_end(target)));
	HI_ASSERT_EQ(0, wait_status(series));
	snprintf(first, sizeof(first), "%s@first", file);
	snprintf(peak, sizeof(peak), "%s@peak", file);
	c = hi_heapinspect("diff", "--three", first, peak, file, "--json");
	HI_ASSERT_MSG(c->exit_code == 1, "%s", c->err);
	hi_check_schema(c, "rows.v1.json");
	c->exit_code = 0; /* 1: something survived */
	row = json_array_get(rows_of(doc_of(c)), 0);
	HI_ASSERT_STREQ("struct node", json_string_value(json_object_get(row, "type")));
	HI_ASSERT_EQ(800, number_of(row, "count"));
	HI_ASSERT_EQ(1500, number_of(row, "born"));
	HI_ASSERT_STREQ(c->out,
			hi_heapinspect("diff", "--three", first, peak, "--json")->out);
}

/* ---- marks ---- */

static json_t *only_row(const char *file, const char *sql)
{
	struct hi_command *c = hi_heapinspect("query", file, "--json", sql);
	json_t *rows;

	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	hi_check_schema(c, "rows.v1.json");
	rows = json_object_get(doc_of(c), "rows");
	HI_ASSERT_EQ(1, json_array_size(rows));
	return json_array_get(rows, 0);
}

static void expect_text(const char *want, json_t *row, const char *key)
{
	HI_ASSERT_STREQ(want, json_string_value(json_object_get(row, key)));
}

/* The mark's time is between those of the censuses around it, everywhere. */
HI_TEST_SCENARIO(snap_series, a_mark_is_in_the_file_and_all_that_is_made_of_it)
{
	const char *in = snapshot_directory(), *file = snapshot_path(in, "a.hisnap");
	const char *hp = snapshot_path(in, "a.hp"), *svg = snapshot_path(in, "a.svg");
	struct hi_fixture *series;
	struct hi_command *c;
	long long wall, before;
	json_t *doc, *mark;
	char line[1200];

	start_target();
	order_nodes(100);
	series = hi_fixture_start(PROGRAM, "snap", "-q", "--every", "50ms", "-o", file,
				  "--pid", pid_text, NULL);
	wait_for(file, 100);
	c = hi_heapinspect("mark", pid_text, "it's \x1b[31m a \"flush\"");
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	order_nodes(900);
	wait_for(file, 900);
	kill(series->pid, SIGTERM);
	HI_ASSERT_EQ(0, wait_status(series));
	doc = list(file);
	HI_ASSERT_EQ(1, json_array_size(json_object_get(doc, "marks")));
	mark = json_array_get(json_object_get(doc, "marks"), 0);
	expect_text("it's \\x1b[31m a \"flush\"", mark, "text");
	before = number_of(mark, "census");
	wall = number_of(mark, "wall_ns");
	HI_ASSERT(before >= 1 && (size_t)before < json_array_size(rows_of(doc)));
	HI_ASSERT(wall >=
		  number_of(json_array_get(rows_of(doc), (size_t)before - 1), "wall_ns"));
	HI_ASSERT(wall <=
		  number_of(json_array_get(rows_of(doc), (size_t)before), "wall_ns"));
	/* The words for a person have it escaped. */
	c = hi_heapinspect("snapshots", file);
	HI_ASSERT_MSG(strstr(c->out, "it's \\x1b[31m a \"flush\""), "%s", c->out);
	mark = only_row(file,
			"SELECT m.text, m.wall_ns, sum(c.count) AS nodes FROM marks m "
			"JOIN censuses c USING (census) WHERE c.type = 'struct node'");
	expect_text("it's \\x1b[31m a \"flush\"", mark, "text");
	HI_ASSERT_EQ(wall, number_of(mark, "wall_ns"));
	HI_ASSERT_EQ(100, number_of(mark, "nodes"));
	c = hi_heapinspect("export", "-f", "hp", "-o", hp, file);
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	snprintf(line, sizeof(line), "grep -qx 'MARK %lld.%06lld' %s", wall / 1000000000,
		 wall / 1000 % 1000000, hp);
	HI_ASSERT_EQ(0, system(line));
	c = hi_heapinspect("graph", file, "-o", svg);
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	snprintf(line, sizeof(line), "test $(grep -c 'class=\"mark\"' %s) = 1", svg);
	HI_ASSERT_EQ(0, system(line));
}

/* ---- how it ends ---- */

HI_TEST_SCENARIO(snap_series, the_target_s_end_is_the_final_state)
{
	const char *file = snapshot_path(snapshot_directory(), "a.hisnap");
	struct hi_fixture *series;
	json_t *doc;

	start_target();
	order_nodes(77);
	series = hi_fixture_start(PROGRAM, "snap", "-q", "--every", "50ms", "--full",
				  "none", "-o", file, "--pid", pid_text, NULL);
	wait_for(file, 77);
	hi_fixture_end(target);
	HI_ASSERT_EQ(0, wait_status(series));
	doc = list(file);
	HI_ASSERT_STREQ("exited", json_string_value(json_object_get(doc, "end")));
	HI_ASSERT_EQ(77, nodes_of_sums(file, "last"));
	/* Without a graph nobody answers in its place. */
	HI_ASSERT_EQ(2, hi_heapinspect(file)->exit_code);
	HI_ASSERT(strstr(hi_heapinspect(file)->err, "no census has its graph"));
}

static char *word(const char *text)
{
	return (char *)(uintptr_t)text;
}

/* After so long, or so long after its first census. */
static unsigned run_and_kill(const char *file, bool first, unsigned us)
{
	char *argv[] = {word(PROGRAM),
			word("snap"),
			word("-q"),
			word("--every"),
			word("10ms"),
			word("-o"),
			(char *)(uintptr_t)file,
			word("--pid"),
			pid_text,
			NULL};
	pid_t pid = fork();
	json_t *doc;

	HI_ASSERT(pid >= 0);
	if (pid == 0) {
		execv(PROGRAM, argv);
		_exit(127);
	}
	for (int i = 0; first && i < 30000 && !exists(file); i++)
		usleep(1000);
	usleep(us);
	kill(pid, SIGKILL);
	HI_ASSERT(waitpid(pid, NULL, 0) == pid);
	if (!exists(file))
		return 0;
	doc = list(file);
	HI_ASSERT_EQ(0, number_of(doc, "damaged") + number_of(doc, "lost"));
	HI_ASSERT_STREQ("open", json_string_value(json_object_get(doc, "end")));
	/* The first is told apart from its graph by an instant only. */
	if (json_array_size(rows_of(doc)) > 1 ||
	    !json_is_null(json_object_get(json_array_get(rows_of(doc), 0), "graph")))
		HI_ASSERT_EQ(500, nodes_of_graph(file, "last"));
	HI_ASSERT_EQ(500, nodes_of_sums(file, "last"));
	unlink(file);
	return (unsigned)json_array_size(rows_of(doc));
}

HI_TEST_SCENARIO(snap_series, a_killed_writer_leaves_every_census_that_was_complete)
{
	const char *rounds = getenv("HI_SNAP_KILLS");
	int n = rounds ? atoi(rounds) : 12;
	const char *file = snapshot_path(snapshot_directory(), "a.hisnap");
	unsigned seed = 5, all = 0;

	start_target();
	order_nodes(500);
	for (int i = 0; i < n; i++)
		all += run_and_kill(file, i % 3, (unsigned)rand_r(&seed) % 600000);
	hi_test_note("%u censuses in %d files", all, n);
	HI_ASSERT(all > 0);
}

HI_TEST_SCENARIO(snap_series, a_full_disk_is_an_error_and_leaves_what_was_complete)
{
	const char *file = snapshot_path(snapshot_directory(), "a.hisnap");
	char command[1024];
	struct hi_command *c;
	json_t *doc;

	start_target();
	order_nodes(500);
	snprintf(command, sizeof(command),
		 "ulimit -f 160; exec '%s' snap --every 10ms --full all -o '%s' --pid %s",
		 PROGRAM, file, pid_text);
	c = hi_command_run(0, "bash", "-c", command, NULL);
	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT_MSG(strstr(c->err, "cannot write"), "%s", c->err);
	doc = list(file);
	HI_ASSERT_STREQ("failed", json_string_value(json_object_get(doc, "end")));
	HI_ASSERT(number_of(doc, "size") <= 160 * 1024);
	HI_ASSERT(json_array_size(rows_of(doc)) > 1);
	HI_ASSERT_EQ(500, nodes_of_graph(file, "last"));
	/* Not even one fits: nothing is left behind. */
	unlink(file);
	snprintf(command, sizeof(command),
		 "ulimit -f 4; exec '%s' snap --every 10ms -o '%s' --pid %s", PROGRAM,
		 file, pid_text);
	c = hi_command_run(0, "bash", "-c", command, NULL);
	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT(!exists(file));
}

HI_TEST_SCENARIO(snap_series, a_file_of_limited_size_has_fewer_censuses)
{
	const char *file = snapshot_path(snapshot_directory(), "a.hisnap");
	static const char *const spans[] = {"3s", "15s", "90s"};
	struct hi_command *c = NULL;
	json_t *doc, *rows;
	long long before = 0, steps = 0;
	size_t n;

	start_target();
	order_nodes(50);
	/* As long as it takes to fill the file. */
	for (int i = 0; i < 3 && !(c && strstr(c->err, "is dropped")); i++) {
		c = hi_heapinspect("snap", "--every", "10ms", "--for", spans[i],
				   "--max-file", "100KiB", "-o", file, "--pid", pid_text);
		HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	}
	HI_ASSERT_MSG(strstr(c->err, "every second census is dropped"), "%s", c->err);
	/* A census takes longer than that: said, too. */
	HI_ASSERT(strstr(c->err, "there are fewer"));
	doc = list(file);
	HI_ASSERT_STREQ("over", json_string_value(json_object_get(doc, "end")));
	HI_ASSERT(number_of(doc, "size") <= 100 * 1024 + 4096);
	rows = rows_of(doc);
	n = json_array_size(rows);
	HI_ASSERT_EQ(1, number_of(json_array_get(rows, 0), "census"));
	for (size_t i = 0; i < n; i++) {
		long long now = number_of(json_array_get(rows, i), "census");

		steps += now > before + 1;
		before = now;
	}
	HI_ASSERT(steps > 0); /* some are left out, but neither first nor last: */
	HI_ASSERT_EQ(50, nodes_of_graph(file, "first"));
	HI_ASSERT_EQ(50, nodes_of_graph(file, "last"));
	doc = doc_of(hi_heapinspect("census", file, "--json"));
	HI_ASSERT_EQ(before, number_of(json_object_get(doc, "snapshot"), "census"));
}

/* ---- bad input ---- */

static void check_refused(struct hi_command *c, const char *text)
{
	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT_MSG(strstr(c->err, text), "%s", c->err);
	HI_ASSERT_MSG(strchr(c->err, '\n') == c->err + strlen(c->err) - 1,
		      "not one line: %s", c->err);
}

HI_TEST_SCENARIO(snap_series, what_makes_no_sense_is_refused)
{
	static const char *const bad[] = {"x",	   "first,",  ",",	   "every:0",
					  "every", "peaks:0", "peaks:1e9", "first:1",
					  "",	   "none,all"};
	const char *one = HI_SOURCE_DIR "/tests/data/v1.hisnap";
	char at[512];

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		check_refused(hi_heapinspect("snap", "--pid", "1", "--every", "1s", "-o",
					     "/tmp/x", "--full", bad[i]),
			      "--full");
	check_refused(
		hi_heapinspect("snap", "--pid", "1", "-o", "/tmp/x", "--full", "all"),
		"only with --every");
	check_refused(
		hi_heapinspect("snap", "--pid", "1", "-o", "/tmp/x", "--max-file", "1M"),
		"only with --every");
	check_refused(hi_heapinspect("snap", "--every", "1s", "--pid", "1"), "-o FILE");
	check_refused(
		hi_heapinspect("snap", "--every", "1s", "--pid", "1", "-o", "/dev/null"),
		"regular file");
	check_refused(hi_heapinspect("snap", "--every", "1s", "--pid", "1", "-o",
				     "/nonexistent/a.hisnap"),
		      "cannot write");
	check_refused(hi_heapinspect("census", "--pid", "1", "--census", "2"),
		      "only with a snapshot file");
	check_refused(hi_heapinspect("census", one, "--census", "zwei"), "--census zwei");
	check_refused(hi_heapinspect("census", one, "--census", "2"), "has only one");
	snprintf(at, sizeof(at), "%s@peak", one);
	HI_ASSERT_EQ(0, hi_heapinspect("census", at)->exit_code);
	HI_ASSERT_EQ(0, hi_heapinspect("snapshots", one)->exit_code);
	list(one);
	check_refused(hi_heapinspect("snapshots", "/nonexistent"), "cannot read");
	check_refused(hi_heapinspect("snapshots"), "FILE.hisnap is missing");
}
