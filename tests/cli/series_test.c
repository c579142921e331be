/* SPDX-License-Identifier: BSD-2-Clause */
/* A series of censuses of a process that grows and shrinks on command, against what
 * that process says of itself, sample by sample (fixtures/growing_service.c). */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "report/heap_profile/hp_reader.h"
#include "tests/harness.h"
#include "tests/support/command.h"
#include "tests/support/fixture.h"
#include "tests/support/json.h"
#include "tests/support/schema.h"
#include "tests/support/stopping.h"
#include "tests/support/waiting.h"
#include "tests/support/workshop.h"

#define PROGRAM HI_BINARY_DIR "/heapinspect"

struct held {
	long long nodes, node_bytes, blobs, blob_bytes;
	long long since_ns; /* CLOCK_REALTIME when it was so */
};

static struct hi_fixture *target;
static char pid_text[16];

static long long clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (long long)t.tv_sec * 1000000000 + t.tv_nsec;
}

static struct held read_held(void)
{
	struct held h = {};
	char line[256];

	HI_ASSERT(hi_fixture_line(target, line, sizeof(line)));
	HI_ASSERT_EQ(4, sscanf(line, "held %lld %lld %lld %lld", &h.nodes, &h.node_bytes,
			       &h.blobs, &h.blob_bytes));
	h.since_ns = clock_ns(CLOCK_REALTIME);
	return h;
}

static struct held order(const char *what, long n)
{
	char line[64];

	snprintf(line, sizeof(line), "%s %ld", what, n);
	hi_fixture_tell(target, line);
	return read_held();
}

static const char *start_target(void)
{
	target = hi_fixture_start("growing_service", NULL);
	read_held();
	snprintf(pid_text, sizeof(pid_text), "%d", (int)target->pid);
	return pid_text;
}

/* ---- JSON lines ---- */

/* The next document of a series; NULL at its end. */
static json_t *next_document(struct hi_fixture *series)
{
	static char line[1 << 20];

	return hi_fixture_line(series, line, sizeof(line)) ? doc_parse(line) : NULL;
}

static bool is_a(const json_t *doc, const char *schema)
{
	return strcmp(doc_text(doc, "schema"), schema) == 0;
}

static json_t *next_sample(struct hi_fixture *series)
{
	json_t *doc = next_document(series);

	HI_ASSERT_MSG(doc && is_a(doc, "heapinspect/series/v1"), "no sample");
	return doc;
}

/* A row by name; NULL: none. */
static json_t *row_of(const json_t *sample, const char *name)
{
	return doc_find_row(doc_at(sample, "rows"), "name", name);
}

static long long bytes_of(const json_t *sample, const char *name)
{
	const json_t *row = row_of(sample, name);

	return row ? doc_number(row, "bytes") : 0;
}

static void check_held(const json_t *sample, const struct held *h)
{
	const json_t *nodes = row_of(sample, "struct node");
	const json_t *blobs = row_of(sample, "struct blob");

	HI_ASSERT_EQ(h->nodes, nodes ? doc_number(nodes, "objects") : 0);
	HI_ASSERT_EQ(h->node_bytes, nodes ? doc_number(nodes, "bytes") : 0);
	HI_ASSERT_EQ(h->blobs, blobs ? doc_number(blobs, "objects") : 0);
	HI_ASSERT_EQ(h->blob_bytes, blobs ? doc_number(blobs, "bytes") : 0);
}

/* The next sample that was stopped after the target said what it holds. */
static json_t *sample_after(struct hi_fixture *series, const struct held *h)
{
	json_t *sample;

	do
		sample = next_sample(series);
	while (doc_number(sample, "time_ns") < h->since_ns);
	return sample;
}

static void expect_end(struct hi_fixture *series, const char *why)
{
	json_t *doc;

	do
		doc = next_document(series);
	while (doc && !is_a(doc, "heapinspect/series-end/v1"));
	HI_ASSERT_MSG(doc != NULL, "the series did not say its end");
	HI_ASSERT_STREQ(why, doc_text(doc, "end"));
	HI_ASSERT_EQ(0, hi_fixture_end(series));
}

/* ---- heap profiles ---- */

static struct hi_hp_series *read_profile(const char *path)
{
	struct hi_hp_series *hp = NULL;
	struct hi_error err = {};

	HI_ASSERT_OK(hi_hp_read(path, &hp, &err), &err);
	hi_test_defer(hi_hp_series_destroy, hp);
	return hp;
}

static long long value_of(const struct hi_hp_series *hp, size_t sample, const char *band)
{
	for (size_t i = hp->starts[sample]; i < hp->starts[sample + 1]; i++)
		if (strcmp(hp->bands[hp->points[i].band], band) == 0)
			return (long long)hp->points[i].value;
	return 0;
}

static const char *path_in(const char *directory, const char *name)
{
	static char paths[4][512];
	static unsigned next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", directory, name);
	return path;
}

static const char *find_hp2ps(void)
{
	static const char built[] = HI_SOURCE_DIR "/build/targets/hp2ps";

	if (access(built, X_OK) == 0)
		return built;
	if (access("/usr/bin/hp2ps", X_OK) == 0)
		return "/usr/bin/hp2ps";
	HI_SKIP("no hp2ps: run scripts/build-targets build/targets hp2ps");
}

/* ---- what is in the samples ---- */

HI_TEST_SCENARIO(series, every_sample_is_what_the_target_holds_then)
{
	static const long steps[][2] = {{1000, 10}, {4000, 300}, {10, 0},  {0, 700},
					{0, 0},	    {2500, 1},	 {2500, 2}};
	enum { STEPS = sizeof(steps) / sizeof(steps[0]), MOST = 200 };
	const char *pid = start_target(), *directory = workshop_open();
	long long node_bytes[MOST], blob_bytes[MOST];
	struct hi_fixture *series;
	struct hi_hp_series *hp;
	size_t n = 0;

	order("nodes", steps[0][0]);
	series = hi_fixture_start(PROGRAM, "census", "--every", "50ms", "--time", "wall",
				  "--json", "--hp", path_in(directory, "x.hp"), "--pid",
				  pid, NULL);
	for (size_t i = 0; i < STEPS; i++) {
		struct held held;

		order("nodes", steps[i][0]);
		held = order("blobs", steps[i][1]);
		for (int k = 0; k < 2; k++)
			check_held(sample_after(series, &held), &held);
	}
	/* The profile has what the lines have, in the same order; read them again
	 * from a second run that ends by itself. */
	kill(series->pid, SIGTERM);
	expect_end(series, "stopped");
	hp = read_profile(path_in(directory, "x.hp"));
	HI_ASSERT_MSG(!hp->truncated && hp->n_samples > 2 * STEPS, "%zu samples",
		      hp->n_samples);
	HI_ASSERT_STREQ("seconds", hp->sample_unit);
	/* Its last sample is the end: no bands. */
	HI_ASSERT_EQ(hp->starts[hp->n_samples - 1], hp->starts[hp->n_samples]);
	series = hi_fixture_start(PROGRAM, "census", "--every", "50ms", "--for", "600ms",
				  "--time", "wall", "--json", "--hp",
				  path_in(directory, "y.hp"), "--pid", pid, NULL);
	for (json_t *doc;
	     (doc = next_document(series)) && is_a(doc, "heapinspect/series/v1"); n++) {
		HI_ASSERT(n < MOST);
		HI_ASSERT_EQ((long long)n + 1, doc_number(doc, "sample"));
		node_bytes[n] = bytes_of(doc, "struct node");
		blob_bytes[n] = bytes_of(doc, "struct blob");
	}
	hp = read_profile(path_in(directory, "y.hp"));
	HI_ASSERT_EQ((long long)n + 1, hp->n_samples);
	for (size_t i = 0; i < n; i++) {
		HI_ASSERT_EQ(node_bytes[i], value_of(hp, i, "struct_node"));
		HI_ASSERT_EQ(blob_bytes[i], value_of(hp, i, "struct_blob"));
	}
	workshop_run("%s x.hp && %s y.hp && test -s y.ps", find_hp2ps(), find_hp2ps());
}

HI_TEST_SCENARIO(series, a_target_that_loads_or_becomes_another_program_is_followed)
{
	const char *pid = start_target();
	struct hi_fixture *series;
	struct held held = order("nodes", 321);

	series = hi_fixture_start(PROGRAM, "census", "--every", "50ms", "--json", "--pid",
				  pid, NULL);
	check_held(sample_after(series, &held), &held);
	held = order("load", 0);
	check_held(sample_after(series, &held), &held);
	/* The same program at other addresses: what was read before is of no use. */
	for (long i = 1; i <= 3; i++) {
		held = order("again", 0);
		HI_ASSERT_EQ(0, held.nodes);
		held = order("blobs", i * 10);
		check_held(sample_after(series, &held), &held);
	}
	kill(series->pid, SIGTERM);
	expect_end(series, "stopped");
}

/* Of a series with this interval for so long. */
static long long count_samples(const char *pid, const char *every, const char *span)
{
	struct hi_fixture *series =
		hi_fixture_start(PROGRAM, "census", "--every", every, "--for", span,
				 "--json", "--pid", pid, NULL);
	long long before = -1, n = 0;
	json_t *doc;

	while ((doc = next_document(series)) && is_a(doc, "heapinspect/series/v1")) {
		HI_ASSERT(doc_number(doc, "wall_ns") > before);
		before = doc_number(doc, "wall_ns");
		HI_ASSERT(doc_number(doc, "pause_ns") > 0);
		n++;
	}
	HI_ASSERT(doc && strcmp(doc_text(doc, "end"), "over") == 0);
	HI_ASSERT_EQ(n, doc_number(doc, "samples"));
	HI_ASSERT_EQ(0, hi_fixture_end(series));
	return n;
}

HI_TEST_SCENARIO(series, samples_come_at_the_times_that_were_asked_for)
{
	static const char *const spans[][2] = {
		{"1s", "4s"}, {"5s", "20s"}, {"20s", "80s"}};
	const char *pid = start_target();
	long long n = 0;

	/* 0, 1, 2, 3, 4 intervals; one may be late, and no interval may be shorter than
	 * a census on a machine that is busy. */
	for (size_t i = 0; i < 3 && n < 4; i++) {
		n = count_samples(pid, spans[i][0], spans[i][1]);
		HI_ASSERT_MSG(n <= 5, "%lld samples", n);
	}
	HI_ASSERT_MSG(n >= 4, "%lld samples", n);
}

HI_TEST_SCENARIO(series, stops_cost_no_cpu_time_and_work_does)
{
	const char *pid = start_target();
	struct hi_fixture *series =
		hi_fixture_start(PROGRAM, "census", "--every", "50ms", "--time", "cpu",
				 "--json", "--pid", pid, NULL);
	struct held idle, busy;
	json_t *doc = next_sample(series);
	long long worked;

	HI_ASSERT_STREQ("cpu", doc_text(doc, "axis"));
	for (int i = 0; i < 10; i++)
		doc = next_sample(series);
	/* A sleeper is stopped eleven times; the axis of the wall goes on. The first
	 * census may be late. */
	HI_ASSERT_MSG(doc_number(doc, "at_ns") * 10 < doc_number(doc, "wall_ns"),
		      "%lld of %lld ns", doc_number(doc, "at_ns"),
		      doc_number(doc, "wall_ns"));
	HI_ASSERT_MSG(doc_number(doc, "wall_ns") >= 300000000, "%lld ns",
		      doc_number(doc, "wall_ns"));
	idle = order("nodes", 1);
	doc = sample_after(series, &idle);
	worked = doc_number(doc, "at_ns");
	busy = order("busy", 400);
	doc = sample_after(series, &busy);
	worked = doc_number(doc, "at_ns") - worked;
	HI_ASSERT_MSG(worked >= 390000000 && worked < 500000000, "%lld ns", worked);
	kill(series->pid, SIGINT);
	expect_end(series, "stopped");
}

/* Until it has slept so many times more: it looks at the target in between. */
static void await_looks(pid_t first, unsigned n)
{
	pid_t series = hi_waiting_find_child(first, "hi-decoder");
	unsigned long long until = hi_process_naps(series) + n;

	for (int i = 0; i < 300000 && hi_process_naps(series) < until; i++)
		usleep(1000);
	HI_ASSERT(hi_process_naps(series) >= until);
}

HI_TEST_SCENARIO(series, growth_of_memory_is_an_interval_too)
{
	const char *pid = start_target();
	struct hi_fixture *series = hi_fixture_start(PROGRAM, "census", "--every", "4MB",
						     "--json", "--pid", pid, NULL);
	long long n = 1;

	next_sample(series);
	for (long i = 1; i <= 4; i++) {
		/* 4.9 MB each: one sample each, maybe before all of it is there. */
		struct held held = order("blobs", i * 1200);
		json_t *sample = next_sample(series);

		if (doc_number(sample, "time_ns") >= held.since_ns)
			check_held(sample, &held);
		else
			HI_ASSERT(bytes_of(sample, "struct blob") > 0 &&
				  bytes_of(sample, "struct blob") <= held.blob_bytes);
		n++;
	}
	/* Without growth there is none, however often it looks. */
	await_looks(series->pid, 30);
	kill(series->pid, SIGTERM);
	for (json_t *doc; (doc = next_document(series));) {
		HI_ASSERT(is_a(doc, "heapinspect/series-end/v1"));
		HI_ASSERT_EQ(n, doc_number(doc, "samples"));
	}
	HI_ASSERT_EQ(0, hi_fixture_end(series));
}

HI_TEST_SCENARIO(series, an_interval_shorter_than_a_census_is_stretched)
{
	const char *pid = start_target();
	long long ended = -1;
	struct hi_command *c = hi_heapinspect("census", "--every", "1ms", "--for", "1s",
					      "--json", "--pid", pid);
	const char *said = strstr(c->err, "longer than --every");
	json_t *lines = doc_lines(c->out), *doc;
	unsigned n = 0, late = 0;

	HI_ASSERT_EQ(0, c->exit_code);
	HI_ASSERT_MSG(said && !strstr(said + 1, "longer than --every"), "%s", c->err);
	doc_each (doc, lines) {
		if (!is_a(doc, "heapinspect/series/v1"))
			continue;
		/* One ends before the next one stops the target. */
		HI_ASSERT(doc_number(doc, "wall_ns") > ended);
		ended = doc_number(doc, "wall_ns");
		late += ended > 1000000000;
		n++;
	}
	HI_ASSERT(n >= 1 && n < 900);
	/* Nothing piled up that was to be done after the end. */
	HI_ASSERT_MSG(late <= 1, "%u after the end", late);
}

/* The documents of a file: each line of it is a whole one. */
static json_t *documents_of(const char *path)
{
	struct hi_command *c = hi_command_run(0, "cat", path, NULL);

	HI_ASSERT_MSG(c->out_size && c->out[c->out_size - 1] == '\n', "cut: %s", c->out);
	return doc_lines(c->out);
}

/* Samples, among them a mark, and the end. */
static void check_lines_against_schema(const json_t *lines)
{
	unsigned samples = 0, marks = 0;
	json_t *doc;

	doc_each (doc, lines) {
		hi_check_schema_of(doc, "series.v1.json");
		samples += is_a(doc, "heapinspect/series/v1");
		marks += is_a(doc, "heapinspect/series-mark/v1");
	}
	HI_ASSERT(samples >= 2 && marks >= 1);
	HI_ASSERT(is_a(doc_item(lines, json_array_size(lines) - 1),
		       "heapinspect/series-end/v1"));
}

HI_TEST_SCENARIO(series, every_line_is_what_its_schema_says)
{
	const char *pid = start_target(), *directory = workshop_open();
	char *const what[][4] = {
		{(char[]){"census"}, (char[]){"--type=struct *"}},
		{(char[]){"census"}, (char[]){"--by=class"}, (char[]){"--time=census"}},
		{(char[]){"retainers"}, (char[]){"--retainer=struct node"},
		 (char[]){"--identity=addr"}, (char[]){"--max-set=1"}},
		{(char[]){"roots"}, (char[]){"--root=n=nodes"},
		 (char[]){"--root=m=nodes"}, (char[]){"--top=1"}}};

	order("nodes", 30);
	for (size_t i = 0; i < sizeof(what) / sizeof(what[0]); i++) {
		struct hi_fixture *series;

		workshop_run("rm -f lines");
		series = hi_fixture_start(PROGRAM, what[i][0], "--every=100ms",
					  "--for=600s", "--json", "-o",
					  path_in(directory, "lines"), "--pid", pid,
					  what[i][1], what[i][2], what[i][3], NULL);
		while (hi_heapinspect("mark", pid, "\x1b[31m\xff")->exit_code)
			HI_ASSERT_MSG(!strchr("Z", hi_process_state(series->pid)),
				      "no series: %s", what[i][0]);
		workshop_run("until grep -q series-mark/v1 lines && "
			     "test $(grep -c series/v1 lines) -ge 2; do "
			     "sleep 0.05; done");
		kill(series->pid, SIGTERM);
		HI_ASSERT_EQ(0, hi_fixture_end(series));
		check_lines_against_schema(documents_of(path_in(directory, "lines")));
	}
}

/* ---- how it ends ---- */

HI_TEST_SCENARIO(series, the_end_of_the_target_ends_it_in_order)
{
	const char *pid = start_target(), *directory = workshop_open();
	struct hi_fixture *series =
		hi_fixture_start(PROGRAM, "census", "--every", "100ms", "--json", "--hp",
				 path_in(directory, "x.hp"), "--pid", pid, NULL);
	struct hi_hp_series *hp;
	struct held held = order("nodes", 777);

	check_held(sample_after(series, &held), &held);
	HI_ASSERT_EQ(0, hi_fixture_end(target));
	expect_end(series, "exited");
	hp = read_profile(path_in(directory, "x.hp"));
	HI_ASSERT(!hp->truncated && hp->n_samples >= 2);
	HI_ASSERT_EQ(held.node_bytes, value_of(hp, hp->n_samples - 2, "struct_node"));
	/* It is said, and a process that is gone from the start is refused. */
	HI_ASSERT_EQ(
		3,
		hi_heapinspect("census", "--every", "1s", "--pid", pid_text)->exit_code);
}

HI_TEST_SCENARIO(series, killed_at_any_moment_the_files_are_readable)
{
	const char *pid = start_target(), *directory = workshop_open();
	unsigned seed = 12345;

	order("nodes", 500);
	for (int round = 0; round < 12; round++) {
		const char *path = path_in(directory, "k.hp");
		struct hi_fixture *series =
			hi_fixture_start(PROGRAM, "retainers", "--every", "10ms",
					 "--json", "--hp", path, "--pid", pid, NULL);
		struct hi_hp_series *hp;
		size_t n = 0;

		next_sample(series);
		usleep(rand_r(&seed) % 400000);
		kill(series->pid, SIGKILL);
		while (next_document(series))
			n++;
		hi_fixture_end(series);
		hp = read_profile(path);
		/* A sample is in the profile before its line is told. */
		HI_ASSERT_MSG(hp->n_samples == n + 1 || hp->n_samples == n + 2,
			      "%zu samples, %zu lines", hp->n_samples, n + 1);
		for (size_t i = 0; i < hp->n_samples; i++)
			HI_ASSERT(hp->starts[i + 1] > hp->starts[i]);
		workshop_run("test -s k.prof && test -z \"$(tail -c1 k.prof)\"");
		/* The tracer may live a moment longer; then the target is free. */
		for (int i = 0; i < 2000 && hi_process_status(target->pid, "TracerPid");
		     i++)
			usleep(10000);
		HI_ASSERT_EQ(0, hi_process_status(target->pid, "TracerPid"));
		order("nodes", 500 + round);
	}
}

HI_TEST_SCENARIO(series, a_file_that_may_not_grow_keeps_whole_samples)
{
	const char *pid = start_target(), *directory = workshop_open();
	struct hi_hp_series *hp;
	struct hi_command *c;

	order("nodes", 10);
	c = hi_command_run(0, "prlimit", "--fsize=1000", PROGRAM, "census", "--every",
			   "20ms", "--for", "30s", "--hp", path_in(directory, "x.hp"),
			   "--pid", pid, NULL);
	HI_ASSERT_MSG(c->exit_code == 2 && strstr(c->err, "File too large"), "%d: %s",
		      c->exit_code, c->err);
	hp = read_profile(path_in(directory, "x.hp"));
	HI_ASSERT(!hp->truncated && hp->n_samples >= 2);
	for (size_t i = 0; i < hp->n_samples; i++)
		HI_ASSERT_EQ(640, value_of(hp, i, "struct_node"));
	c = hi_command_run(0, "prlimit", "--fsize=3000", PROGRAM, "census", "--every",
			   "20ms", "--for", "30s", "--json", "-o",
			   path_in(directory, "x.jsonl"), "--pid", pid, NULL);
	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT(json_array_size(documents_of(path_in(directory, "x.jsonl"))) >= 2);
}

HI_TEST_ROOT(series, a_full_disk_keeps_whole_samples)
{
	const char *pid = start_target(), *directory = workshop_open();
	char script[2048];
	struct hi_hp_series *hp;
	struct hi_command *c;

	if (geteuid() != 0)
		HI_SKIP("needs root to mount a small disk");
	snprintf(script, sizeof(script),
		 "mkdir small && mount -t tmpfs -o size=16k tmpfs small || exit 9\n"
		 "head -c 8192 /dev/zero >small/other\n"
		 "%s census --every 10ms --for 60s -q --hp small/x.hp --pid %s "
		 ">/dev/null; code=$?\n"
		 "cp small/x.hp small/x.prof .; exit $code",
		 PROGRAM, pid);
	workshop_write("full.sh", script);
	c = hi_command_run(0, "unshare", "-m", "sh", "-c", "cd \"$0\" && sh ./full.sh",
			   directory, NULL);
	HI_ASSERT_MSG(c->exit_code == 2 && strstr(c->err, "No space left"), "%d: %s",
		      c->exit_code, c->err);
	hp = read_profile(path_in(directory, "x.hp"));
	HI_ASSERT(!hp->truncated && hp->n_samples > 10);
}

HI_TEST_SCENARIO(series, a_bad_path_costs_the_target_nothing)
{
	const char *pid = start_target(), *directory = workshop_open();
	struct hi_command *c =
		hi_heapinspect("census", "--every", "1s", "--hp",
			       path_in(directory, "no/such/x.hp"), "--pid", pid);

	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT(strstr(c->err, "No such file") != NULL);
	/* What was there stays until the first sample. */
	workshop_write("old.hp", "old\n");
	c = hi_heapinspect("census", "--every", "1s", "--hp",
			   path_in(directory, "old.hp"), "--pid", pid, "--type", "nodd");
	HI_ASSERT_EQ(2, c->exit_code);
	workshop_run("test \"$(cat old.hp)\" = old && ! test -e old.prof");
}

/* ---- marks ---- */

HI_TEST_SCENARIO(series, marks_stand_where_they_were_set)
{
	const char *pid = start_target(), *directory = workshop_open();
	struct hi_fixture *series = hi_fixture_start(
		PROGRAM, "census", "--every", "200ms", "--time", "wall", "--json", "--hp",
		path_in(directory, "x.hp"), "--pid", pid, NULL);
	long long before = doc_number(next_sample(series), "wall_ns"), after;
	struct hi_command *c = hi_heapinspect("mark", pid, "it's a \"flush\"");
	struct hi_hp_series *hp;
	json_t *doc;

	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	while ((doc = next_document(series)) && !is_a(doc, "heapinspect/series-mark/v1"))
		before = doc_number(doc, "wall_ns");
	HI_ASSERT(doc != NULL);
	HI_ASSERT_STREQ("it's a \"flush\"", doc_text(doc, "mark"));
	after = doc_number(next_sample(series), "wall_ns");
	HI_ASSERT(before <= doc_number(doc, "at_ns"));
	HI_ASSERT(after >= doc_number(doc, "at_ns"));
	kill(series->pid, SIGTERM);
	expect_end(series, "stopped");
	hp = read_profile(path_in(directory, "x.hp"));
	HI_ASSERT_EQ(1, hp->n_marks);
	HI_ASSERT(hp->marks[0] <= hp->times[hp->n_samples - 1]);
	workshop_run("grep -q \"^MARK [0-9.]* it's a \\\"flush\\\"$\" x.prof");
}

HI_TEST_SCENARIO(series, a_mark_without_a_series_is_an_error)
{
	const char *pid = start_target();
	struct hi_fixture *series;

	HI_ASSERT_EQ(2, hi_heapinspect("mark", pid, "x")->exit_code);
	HI_ASSERT_EQ(2, hi_heapinspect("mark", "0", "x")->exit_code);
	HI_ASSERT_EQ(2, hi_heapinspect("mark", pid)->exit_code);
	/* A series that was killed has left its socket: nobody is there. */
	series = hi_fixture_start(PROGRAM, "census", "--every", "50ms", "--json", "--pid",
				  pid, NULL);
	next_sample(series);
	kill(series->pid, SIGKILL);
	hi_fixture_end(series);
	HI_ASSERT_EQ(2, hi_heapinspect("mark", pid, "x")->exit_code);
	/* The next one takes marks as if nothing had been. */
	series = hi_fixture_start(PROGRAM, "census", "--every", "50ms", "--json", "--pid",
				  pid, NULL);
	next_sample(series);
	HI_ASSERT_EQ(0, hi_heapinspect("mark", pid, "x")->exit_code);
	kill(series->pid, SIGTERM);
	expect_end(series, "stopped");
}

enum { NOBODY = 65534, ANOTHER = 65533 };

HI_TEST_ROOT(series, users_see_and_mark_their_own_alone)
{
	const char *directory = workshop_open();
	char path[512];

	if (geteuid() != 0)
		HI_SKIP("needs root to become other users");
	workshop_run("chmod 755 . && cp %s %s/growing_service .", PROGRAM,
		     HI_FIXTURE_DIR);
	snprintf(path, sizeof(path), "%s", path_in(directory, "heapinspect"));
	target = hi_fixture_start("/usr/bin/setpriv", "--reuid=65534", "--regid=65534",
				  "--clear-groups", path_in(directory, "growing_service"),
				  NULL);
	read_held();
	snprintf(pid_text, sizeof(pid_text), "%d", (int)target->pid);
	struct held held = order("nodes", 99);
	struct hi_fixture *series = hi_fixture_start(
		"/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
		path, "census", "--every", "100ms", "--json", "--pid", pid_text, NULL);
	struct hi_command *c;

	check_held(next_sample(series), &held);
	c = hi_command_run(NOBODY, path, "mark", pid_text, "mine", NULL);
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	c = hi_command_run(ANOTHER, path, "mark", pid_text, "not mine", NULL);
	HI_ASSERT_EQ(2, c->exit_code);
	kill(series->pid, SIGTERM);
	expect_end(series, "stopped");
	c = hi_command_run(ANOTHER, path, "census", "--every", "100ms", "--pid", pid_text,
			   NULL);
	HI_ASSERT_EQ(3, c->exit_code);
}

/* ---- the live view ---- */

/* What a terminal of this width was sent by a series of that time. */
static char *on_terminal(const char *pid, unsigned columns, const char *locale,
			 const char *span)
{
	static char command[1024];
	struct hi_command *c;

	snprintf(command, sizeof(command),
		 "stty cols %u rows 12; LC_ALL=%s TERM=xterm %s census --every 100ms "
		 "--for %s --pid %s",
		 columns, locale, PROGRAM, span, pid);
	c = hi_command_run(0, "script", "-qec", command, "/dev/null", NULL);
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->out);
	return c->out;
}

/* Columns up to the end of the line, without what ANSI says; *next: behind it. */
static unsigned columns_of(const char *line, const char **next)
{
	unsigned n = 0;

	while (*line && *line != '\n') {
		if (*line == '\033') {
			line += 1 + strcspn(line + 1, "ABCDEFGHJKhlm");
			if (*line == 'H')
				n = 0; /* the next screen */
			line += *line != '\0';
			continue;
		}
		/* A byte that goes on a character takes no column. */
		n += *line != '\r' && (*line & 0xc0) != 0x80;
		line++;
	}
	*next = *line ? line + 1 : line;
	return n;
}

static unsigned count_of(const char *text, const char *what)
{
	unsigned n = 0;

	for (const char *s = text; (s = strstr(s, what)); s += strlen(what))
		n++;
	return n;
}

HI_TEST_SCENARIO(series, a_terminal_shows_the_bands_and_is_left_as_it_was)
{
	const char *pid = start_target();

	order("nodes", 1000);
	order("blobs", 3);
	for (unsigned i = 0; i < 4; i++) {
		unsigned columns = i % 2 ? 120 : 80;
		const char *locale = i < 2 ? "C.UTF-8" : "C";
		char *shown = on_terminal(pid, columns, locale, "900ms"), *leave;

		/* Where a census takes long. */
		if (count_of(shown, "\033[H") < 2)
			shown = on_terminal(pid, columns, locale, "30s");
		leave = strstr(shown, "\033[?1049l");

		HI_ASSERT_EQ(1, count_of(shown, "\033[?1049h"));
		HI_ASSERT_EQ(1, count_of(shown, "\033[?1049l"));
		HI_ASSERT(leave > strstr(shown, "\033[?1049h"));
		HI_ASSERT_EQ(1, count_of(shown, "\033[?25h"));
		HI_ASSERT(count_of(shown, "\033[H") >= 2);
		HI_ASSERT(strstr(shown, "struct node ") && strstr(shown, "62.5 KiB"));
		HI_ASSERT(strstr(shown, "struct blob ") && strstr(shown, "12.0 KiB"));
		HI_ASSERT_EQ(i < 2, strstr(shown, i < 2 ? "█" : "\xe2") != NULL);
		/* What is said afterwards is on the screen that was there before. */
		*leave = '\0';
		for (const char *line = shown; *line;)
			HI_ASSERT(columns_of(line, &line) <= columns);
	}
}

/* ---- sets ---- */

HI_TEST_SCENARIO(series, numbers_of_sets_keep_their_meaning)
{
	const char *pid = start_target(), *directory = workshop_open();
	struct hi_fixture *series;
	long long nodes_set = 0;

	order("nodes", 100);
	series = hi_fixture_start(PROGRAM, "retainers", "--every", "50ms", "--json",
				  "--hp", path_in(directory, "r.hp"), "--pid", pid, NULL);
	for (long step = 0; step < 5; step++) {
		/* New sets come, old ones go and come back. */
		struct held held = order("blobs", step % 2 ? 0 : 50 * (step + 1));
		json_t *sample, *row;

		held = order("nodes", step == 3 ? 0 : 100 * (step + 1));
		sample = sample_after(series, &held);
		HI_ASSERT_EQ(held.node_bytes, bytes_of(sample, "{nodes}"));
		HI_ASSERT_EQ(held.blob_bytes, bytes_of(sample, "{blobs}"));
		row = row_of(sample, "{nodes}");
		if (!row)
			continue;
		if (!nodes_set)
			nodes_set = doc_number(row, "set");
		HI_ASSERT_EQ(nodes_set, doc_number(row, "set"));
	}
	kill(series->pid, SIGTERM);
	expect_end(series, "stopped");
	/* The key has the set once, and the profile calls it so. */
	workshop_run("test $(grep -c '^SET %lld = {<nodes>}$' r.prof) = 1 && "
		     "grep -q '^(%lld)nodes\t' r.hp",
		     nodes_set, nodes_set);
	workshop_run("%s r.hp && test -s r.ps", find_hp2ps());
}

HI_TEST_SCENARIO(series, type_or_root_may_disappear_and_return)
{
	static char words[][2][32] = {{"retainers", "--retainer=struct node"},
				      {"census", "--type=struct node"},
				      {"census", "--retained-by=nodes"}};
	const char *pid = start_target();

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		struct hi_fixture *series;
		struct held held = order("nodes", 50);

		series = hi_fixture_start(PROGRAM, words[i][0], words[i][1], "--every",
					  "50ms", "--json", "--pid", pid, NULL);
		for (long step = 0; step < 4; step++) {
			json_t *sample = sample_after(series, &held);

			if (i > 0)
				HI_ASSERT_EQ(held.node_bytes,
					     bytes_of(sample, "struct node"));
			else /* all nodes but the first are held by another one */
				HI_ASSERT_EQ(held.nodes ? held.node_bytes - 64 : 0,
					     bytes_of(sample, "{struct node}"));
			/* Longer than the failures that are forgiven. */
			for (int k = 0; k < 4; k++)
				sample = next_sample(series);
			held = order("nodes", step % 2 ? 50 : 0);
		}
		kill(series->pid, SIGTERM);
		expect_end(series, "stopped");
	}
	/* A name that never was is a mistake. */
	HI_ASSERT_EQ(2, hi_heapinspect("retainers", "--retainer=struct nod", "--every",
				       "1s", "--pid", pid)
				->exit_code);
}

HI_TEST_SCENARIO(series, bins_of_roots_follow_what_they_hold)
{
	const char *pid = start_target();
	struct hi_fixture *series;

	order("nodes", 100);
	series = hi_fixture_start(PROGRAM, "roots", "--root", "n=nodes", "--root",
				  "b=blobs", "--every", "50ms", "--json", "--pid", pid,
				  NULL);
	for (long step = 0; step < 4; step++) {
		struct held held = order("blobs", step % 2 ? 0 : 50 * (step + 1));
		json_t *sample;

		held = order("nodes", 100 * (step + 1));
		sample = sample_after(series, &held);
		HI_ASSERT_EQ(held.node_bytes, bytes_of(sample, "n"));
		HI_ASSERT_EQ(held.blob_bytes, bytes_of(sample, "b"));
		HI_ASSERT_EQ(doc_number(sample, "live.bytes") +
				     doc_number(sample, "leaked"),
			     doc_sum(doc_at(sample, "rows"), "bytes"));
		/* A root that is null holds nothing, and that is told. */
		HI_ASSERT_EQ(step % 2, doc_size(sample, "warnings"));
	}
	kill(series->pid, SIGTERM);
	expect_end(series, "stopped");
}

/* The machine is as busy as others make it, and more. */
HI_TEST_SCENARIO(series, without_an_idle_processor_the_interval_is_stretched)
{
	const char *pid = start_target(), *said;
	char threads[16];
	struct hi_command *c;

	snprintf(threads, sizeof(threads), "%ld", 2 * sysconf(_SC_NPROCESSORS_ONLN));
	hi_test_expect_line(hi_fixture_start("stop_threads", "busy", threads, NULL),
			    "ready");
	c = hi_heapinspect("census", "--every", "1ms", "--for", "4s", "--json", "--pid",
			   pid);
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	said = strstr(c->err, "no processor is idle");
	HI_ASSERT_MSG(said && strstr(said, "at most half of one"), "%s", c->err);
	HI_ASSERT_MSG(!strstr(said + 1, "no processor is idle"), "%s", c->err);
}

/* ---- stops that are over the pause budget ---- */

/* Both streams in one. */
static struct hi_fixture *start_mixed_series(const char *pid)
{
	char script[512];

	snprintf(script, sizeof(script),
		 "exec %s census --every 2s --max-pause 1s --json --pid %s 2>&1", PROGRAM,
		 pid);
	return hi_fixture_start("/bin/sh", "-c", script, NULL);
}

/* Lines up to one that has this word. */
static const char *await_word(struct hi_fixture *series, const char *word)
{
	static char line[1 << 16];

	do
		HI_ASSERT_MSG(hi_fixture_line(series, line, sizeof(line)), "no %s", word);
	while (!strstr(line, word));
	return line;
}

/* From now on it cannot be stopped. */
static void make_unstoppable(void)
{
	hi_fixture_tell(target, "sleep 0");
	for (int i = 0; i < 300000 && hi_process_state(target->pid) != 'D'; i++)
		hi_test_sleep_us(1000);
	HI_ASSERT_EQ('D', hi_process_state(target->pid));
}

HI_TEST_SCENARIO(series, a_census_over_the_pause_budget_is_left_out)
{
	struct hi_fixture *series = start_mixed_series(start_target());
	const char *line;
	struct held held;

	await_word(series, "heapinspect/series/v1");
	make_unstoppable();
	line = await_word(series, "no sample: ");
	HI_ASSERT_MSG(strstr(line, "pause budget"), "%s", line);
	hi_fixture_tell(target, "go on");
	held = read_held();
	held = order("nodes", 77);
	while (!strstr(await_word(series, "heapinspect/series/v1"), "\"objects\": 77") &&
	       clock_ns(CLOCK_REALTIME) < held.since_ns + 120000000000)
		;
	kill(series->pid, SIGTERM);
	await_word(series, "\"stopped\"");
	HI_ASSERT_EQ(0, hi_fixture_end(series));
}

HI_TEST_SCENARIO(series, three_censuses_over_the_pause_budget_end_it_with_124)
{
	struct hi_fixture *series = start_mixed_series(start_target());
	int status;

	await_word(series, "heapinspect/series/v1");
	make_unstoppable();
	await_word(series, "no sample: ");
	await_word(series, "no sample: ");
	await_word(series, "\"failed\"");
	await_word(series, "did not stop within the pause budget");
	status = hi_fixture_end(series);
	HI_ASSERT(WIFEXITED(status));
	HI_ASSERT_EQ(124, WEXITSTATUS(status));
	hi_fixture_tell(target, "go on");
	read_held();
}

/* ---- words ---- */

HI_TEST_SCENARIO(series, wrong_arguments_are_refused_in_one_line)
{
	static char wrong[][8][16] = {
		{"census", "--every", "x", "--pid", "1"},
		{"census", "--every", "0s", "--pid", "1"},
		{"census", "--every", "100", "--pid", "1"},
		{"census", "--for", "1s", "--pid", "1"},
		{"census", "--hp", "x.hp", "--pid", "1"},
		{"census", "--time", "cpu", "--pid", "1"},
		{"census", "--every", "1s", "--time=mutator", "--pid", "1"},
		{"census", "--every", "1s", "--core", "x"},
		{"census", "--every", "1s", "--untyped", "--pid", "1"},
		{"leaks", "--every", "1s", "--pid", "1"},
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		char program[] = PROGRAM, *argv[10] = {program};
		struct hi_command *c;

		for (int k = 0; k < 8 && *wrong[i][k]; k++)
			argv[k + 1] = wrong[i][k];
		c = hi_command_runv(0, argv);
		HI_ASSERT_MSG(c->exit_code == 2, "case %zu: %d", i, c->exit_code);
		HI_ASSERT_STREQ("", c->out);
		HI_ASSERT(c->err_size > 0);
	}
}
