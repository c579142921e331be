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
#include "tests/support/waiting.h"

#define PROGRAM HI_BINARY_DIR "/heapinspect"
enum { STEPS = 7 };

static struct hi_fixture *target;
static char pid_text[16];
static long held_bytes; /* of the nodes, as the target says */

static void order_nodes(long n)
{
	char line[256];
	long nodes;

	if (n >= 0) {
		snprintf(line, sizeof(line), "nodes %ld", n);
		hi_fixture_tell(target, line);
	}
	HI_ASSERT(hi_fixture_line(target, line, sizeof(line)));
	HI_ASSERT_EQ(2, sscanf(line, "held %ld %ld", &nodes, &held_bytes));
}

static void start_target(void)
{
	target = hi_fixture_start("growing_service", NULL);
	order_nodes(-1);
	snprintf(pid_text, sizeof(pid_text), "%d", (int)target->pid);
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
	return doc_sum_of(doc_at(doc, "%s", array), "type", "struct node", key);
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

/* `snap --every 50ms` into a file, which has the nodes of now; --full may be NULL. */
static struct hi_fixture *start_series(const char *file, const char *full, long nodes)
{
	struct hi_fixture *series =
		hi_fixture_start(PROGRAM, "snap", "-q", "--every", "50ms", "-o", file,
				 "--pid", pid_text, full ? "--full" : NULL, full, NULL);

	wait_for(file, nodes);
	return series;
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
	long long height = doc_number(rows, "%zu.bytes", i);

	for (size_t k = i + (size_t)step; k < n; k += (size_t)step) {
		long long other = doc_number(rows, "%zu.bytes", k);

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
	series = start_series(file, "first,last,peaks:9", nodes[0]);
	for (int i = 1; i < STEPS; i++) {
		order_nodes(nodes[i]);
		wait_for(file, nodes[i]);
	}
	kill(series->pid, SIGTERM);
	HI_ASSERT_EQ(0, wait_status(series));
	doc = list(file);
	HI_ASSERT_STREQ("stopped", doc_text(doc, "end"));
	HI_ASSERT_EQ(0, doc_number(doc, "damaged") + doc_number(doc, "lost") +
				doc_number(doc, "torn"));
	rows = doc_at(doc, "rows");
	for (size_t i = 0; i < json_array_size(rows); i++) {
		json_t *row = doc_item(rows, i);
		bool has = !doc_is_null(row, "graph");

		HI_ASSERT_EQ((long long)i + 1, doc_number(row, "census"));
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

/* A file with these graphs, in which the nodes grow to so many; returns its growth, and
 * the bytes of the nodes at both ends. */
static json_t *growth_of_nodes(const char *name, const char *full, long from, long to,
			       long bytes[2], const char **file_ret)
{
	const char *file = snapshot_path(snapshot_directory(), name);
	struct hi_fixture *series;

	order_nodes(from);
	bytes[0] = held_bytes;
	series = start_series(file, full, from);
	order_nodes(to);
	bytes[1] = held_bytes;
	wait_for(file, to);
	kill(series->pid, SIGTERM);
	HI_ASSERT_EQ(0, wait_status(series));
	*file_ret = file;
	return doc_at(list(file), "growth");
}

static void check_holder(json_t *growth, const long bytes[2])
{
	json_t *row = doc_row(doc_at(growth, "holders"), "variable", "nodes");

	HI_ASSERT_EQ(bytes[0], doc_number(row, "first_bytes"));
	HI_ASSERT_EQ(bytes[1], doc_number(row, "bytes"));
	HI_ASSERT_EQ(doc_number(growth, "graphs") < 4,
		     doc_is_null(row, "bytes_per_minute"));
	/* They stay as they are. */
	HI_ASSERT(!doc_find_row(doc_at(growth, "holders"), "variable", "blobs"));
}

HI_TEST_SCENARIO(snap_series, variables_grow_by_what_they_hold)
{
	const char *file;
	long bytes[2];
	json_t *growth;

	start_target();
	growth = growth_of_nodes("all.hisnap", "all", 100, 1100, bytes, &file);
	check_holder(growth, bytes);
	HI_ASSERT_EQ((long long)json_array_size(doc_at(list(file), "rows")),
		     doc_number(growth, "graphs"));
	growth = growth_of_nodes("ends.hisnap", "first,last", 50, 2000, bytes, &file);
	check_holder(growth, bytes);
	HI_ASSERT_EQ(2, doc_number(growth, "graphs"));
	HI_ASSERT(strstr(hi_heapinspect("snapshots", file)->out, "in 2 graphs: means"));
}

/* Compares the first census, of 100 nodes, and the last one, of 900. */
static void check_two_censuses_are_compared(const char *file, const char *first,
					    const char *last)
{
	struct hi_command *a = hi_heapinspect("diff", first, last, "--json");
	struct hi_command *b = hi_heapinspect("diff", file, "--json");

	HI_ASSERT_STREQ("struct node", doc_text(doc_of_exit(a, 1), "rows.0.type"));
	HI_ASSERT_STREQ(a->out, b->out);
	hi_check_schema(a, "rows.v1.json");
	a = hi_heapinspect("diff", last, last);
	HI_ASSERT_MSG(a->exit_code == 0, "%s%s", a->out, a->err);
	a = hi_heapinspect("diff", last, first, "--json");
	HI_ASSERT_EQ(1, a->exit_code);
	HI_ASSERT(strcmp(a->out, b->out) != 0);
}

/* Warm-up, peak and end. */
static void check_three_censuses_tell_what_survived(const char *file, const char *first,
						    const char *peak)
{
	struct hi_command *c =
		hi_heapinspect("diff", "--three", first, peak, file, "--json");
	json_t *row = doc_at(doc_of_exit(c, 1), "rows.0");

	hi_check_schema(c, "rows.v1.json");
	HI_ASSERT_STREQ("struct node", doc_text(row, "type"));
	HI_ASSERT_EQ(800, doc_number(row, "count"));
	HI_ASSERT_EQ(1500, doc_number(row, "born"));
	HI_ASSERT_STREQ(c->out,
			hi_heapinspect("diff", "--three", first, peak, "--json")->out);
}

HI_TEST_SCENARIO(snap_series, censuses_of_a_file_are_compared)
{
	const char *in = snapshot_directory(), *file = snapshot_path(in, "a.hisnap");
	const char *first = snapshot_path(in, "a.hisnap@first");
	struct hi_fixture *series;

	start_target();
	order_nodes(100);
	series = start_series(file, "first,last,peaks:1", 100);
	order_nodes(1600);
	wait_for(file, 1600);
	order_nodes(900);
	wait_for(file, 900);
	HI_ASSERT_EQ(0, WEXITSTATUS(hi_fixture_end(target)));
	HI_ASSERT_EQ(0, wait_status(series));
	check_two_censuses_are_compared(file, first, snapshot_path(in, "a.hisnap@last"));
	check_three_censuses_tell_what_survived(file, first,
						snapshot_path(in, "a.hisnap@peak"));
}

/* ---- marks ---- */

static json_t *only_row(const char *file, const char *sql)
{
	struct hi_command *c = hi_heapinspect("query", file, "--json", sql);
	json_t *rows;

	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	hi_check_schema(c, "rows.v1.json");
	rows = doc_at(doc_of(c), "rows");
	HI_ASSERT_EQ(1, json_array_size(rows));
	return doc_item(rows, 0);
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
	series = start_series(file, NULL, 100);
	c = hi_heapinspect("mark", pid_text, "it's \x1b[31m a \"flush\"");
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	order_nodes(900);
	wait_for(file, 900);
	kill(series->pid, SIGTERM);
	HI_ASSERT_EQ(0, wait_status(series));
	doc = list(file);
	HI_ASSERT_EQ(1, doc_size(doc, "marks"));
	mark = doc_at(doc, "marks.0");
	HI_ASSERT_STREQ("it's \\x1b[31m a \"flush\"", doc_text(mark, "text"));
	before = doc_number(mark, "census");
	wall = doc_number(mark, "wall_ns");
	HI_ASSERT(before >= 1 && (size_t)before < doc_size(doc, "rows"));
	HI_ASSERT(wall >= doc_number(doc, "rows.%lld.wall_ns", before - 1));
	HI_ASSERT(wall <= doc_number(doc, "rows.%lld.wall_ns", before));
	/* The words for a person have it escaped. */
	c = hi_heapinspect("snapshots", file);
	HI_ASSERT_MSG(strstr(c->out, "it's \\x1b[31m a \"flush\""), "%s", c->out);
	mark = only_row(file,
			"SELECT m.text, m.wall_ns, sum(c.count) AS nodes FROM marks m "
			"JOIN censuses c USING (census) WHERE c.type = 'struct node'");
	HI_ASSERT_STREQ("it's \\x1b[31m a \"flush\"", doc_text(mark, "text"));
	HI_ASSERT_EQ(wall, doc_number(mark, "wall_ns"));
	HI_ASSERT_EQ(100, doc_number(mark, "nodes"));
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
	series = start_series(file, "none", 77);
	hi_fixture_end(target);
	HI_ASSERT_EQ(0, wait_status(series));
	doc = list(file);
	HI_ASSERT_STREQ("exited", doc_text(doc, "end"));
	HI_ASSERT_EQ(77, nodes_of_sums(file, "last"));
	/* Without a graph nobody answers in its place. */
	HI_ASSERT_EQ(2, hi_heapinspect(file)->exit_code);
	HI_ASSERT(strstr(hi_heapinspect(file)->err, "no census has its graph"));
}

static char *word(const char *text)
{
	return (char *)(uintptr_t)text;
}

/* The process that writes ends with the one that was killed, a moment later. */
static void await_end_of_writer(pid_t writer)
{
	char exe[64], program[16];

	snprintf(exe, sizeof(exe), "/proc/%d/exe", (int)writer);
	for (int i = 0; writer && i < 10000; i++) {
		if (readlink(exe, program, sizeof(program)) < 0)
			return;
		usleep(1000);
	}
	HI_ASSERT_EQ(0, writer);
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
	pid_t pid = fork(), writer;
	json_t *doc;

	HI_ASSERT(pid >= 0);
	if (pid == 0) {
		execv(PROGRAM, argv);
		_exit(127);
	}
	for (int i = 0; first && i < 30000 && !exists(file); i++)
		usleep(1000);
	usleep(us);
	writer = hi_waiting_find_child(pid, "hi-decoder");
	kill(pid, SIGKILL);
	HI_ASSERT(waitpid(pid, NULL, 0) == pid);
	await_end_of_writer(writer);
	if (!exists(file))
		return 0;
	doc = list(file);
	HI_ASSERT_EQ(0, doc_number(doc, "damaged") + doc_number(doc, "lost"));
	HI_ASSERT_STREQ("open", doc_text(doc, "end"));
	/* The first is told apart from its graph by an instant only. */
	if (doc_size(doc, "rows") > 1 || !doc_is_null(doc, "rows.0.graph"))
		HI_ASSERT_EQ(500, nodes_of_graph(file, "last"));
	HI_ASSERT_EQ(500, nodes_of_sums(file, "last"));
	unlink(file);
	return (unsigned)doc_size(doc, "rows");
}

static void check_a_killed_writer_leaves_every_census_that_was_complete(void)
{
	const char *rounds = getenv("HI_SNAP_KILLS");
	int n = rounds ? atoi(rounds) : 12;
	const char *file = snapshot_path(snapshot_directory(), "a.hisnap");
	unsigned seed = 5, all = 0;

	for (int i = 0; i < n; i++)
		all += run_and_kill(file, i % 3, (unsigned)rand_r(&seed) % 600000);
	hi_test_note("%u censuses in %d files", all, n);
	HI_ASSERT(all > 0);
}

static void check_a_full_disk_is_an_error_and_leaves_what_was_complete(void)
{
	const char *file = snapshot_path(snapshot_directory(), "a.hisnap");
	char command[1024];
	struct hi_command *c;
	json_t *doc;

	snprintf(command, sizeof(command),
		 "ulimit -f 160; exec '%s' snap --every 10ms --full all -o '%s' --pid %s",
		 PROGRAM, file, pid_text);
	c = hi_command_run(0, "bash", "-c", command, NULL);
	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT_MSG(strstr(c->err, "cannot write"), "%s", c->err);
	doc = list(file);
	HI_ASSERT_STREQ("failed", doc_text(doc, "end"));
	HI_ASSERT(doc_number(doc, "size") <= 160 * 1024);
	HI_ASSERT(doc_size(doc, "rows") > 1);
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

static void check_a_file_of_limited_size_has_fewer_censuses(void)
{
	const char *file = snapshot_path(snapshot_directory(), "a.hisnap");
	static const char *const spans[] = {"3s", "15s", "90s"};
	struct hi_command *c = NULL;
	json_t *doc, *rows;
	long long before = 0, steps = 0;
	size_t n;

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
	HI_ASSERT_STREQ("over", doc_text(doc, "end"));
	HI_ASSERT(doc_number(doc, "size") <= 100 * 1024 + 4096);
	rows = doc_at(doc, "rows");
	n = json_array_size(rows);
	HI_ASSERT_EQ(1, doc_number(rows, "0.census"));
	for (size_t i = 0; i < n; i++) {
		long long now = doc_number(rows, "%zu.census", i);

		steps += now > before + 1;
		before = now;
	}
	HI_ASSERT(steps > 0); /* some are left out, but neither first nor last: */
	HI_ASSERT_EQ(50, nodes_of_graph(file, "first"));
	HI_ASSERT_EQ(50, nodes_of_graph(file, "last"));
	doc = doc_of(hi_heapinspect("census", file, "--json"));
	HI_ASSERT_EQ(before, doc_number(doc, "snapshot.census"));
}

HI_TEST_SCENARIO(snap_series, complete_censuses_survive_kill_and_full_disk)
{
	start_target();
	order_nodes(500);
	check_a_killed_writer_leaves_every_census_that_was_complete();
	check_a_full_disk_is_an_error_and_leaves_what_was_complete();
	check_a_file_of_limited_size_has_fewer_censuses();
}

/* ---- bad input ---- */

static void check_refused(struct hi_command *c, const char *text)
{
	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT_MSG(strstr(c->err, text), "%s", c->err);
	HI_ASSERT_MSG(strchr(c->err, '\n') == c->err + strlen(c->err) - 1,
		      "not one line: %s", c->err);
}

HI_TEST_SCENARIO(snap_series, invalid_arguments_are_refused)
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
