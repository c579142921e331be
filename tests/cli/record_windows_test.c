/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Recordings by windows of a program that counts its allocations itself.
 */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/fixture.h"
#include "tests/support/json.h"
#include "tests/support/recording_run.h"
#include "tests/support/schema.h"
#include "tests/support/workshop.h"

enum { SHORT, KEPT, LIST, PAIR, GROWN, COUNTED };
static const char *const names[COUNTED] = {"make_short", "make_kept", "make_lost_list",
					   "make_lost_pair", "make_grown"};

static void ask_for_counts(struct hi_fixture *fx, unsigned long long ret[COUNTED])
{
	unsigned long long now;
	char line[200];

	hi_fixture_tell(fx, "counts");
	HI_ASSERT(hi_fixture_line(fx, line, sizeof(line)));
	HI_ASSERT_EQ(6, sscanf(line, "counts %llu %llu %llu %llu %llu %llu", &now,
			       &ret[0], &ret[1], &ret[2], &ret[3], &ret[4]));
}

/* NULL: windows saw none of its allocations. */
static json_t *find_row(const json_t *doc, const char *function)
{
	json_t *rows = doc_at(doc, "rows");

	for (size_t i = 0; i < json_array_size(rows); i++) {
		json_t *site = doc_find(rows, "%zu.site.function", i);

		if (json_is_string(site) &&
		    strcmp(json_string_value(site), function) == 0)
			return doc_at(rows, "%zu", i);
	}
	return NULL;
}

static long long seen_of(const json_t *doc, const char *function)
{
	const json_t *row = find_row(doc, function);

	return row ? doc_number(row, "seen") : 0;
}

/* high: null where nothing is known. */
static double high_of(const json_t *row, const char *figure)
{
	json_t *high = doc_at(row, "%s.high", figure);

	return json_is_null(high) ? INFINITY : json_number_value(high);
}

/* While the program runs on, it does so much in each site that the one before the recording
 * and the one after it have the truth between them. */
static void check_sites(const json_t *doc, int n, const unsigned long long *before,
			const unsigned long long *after)
{
	double seconds = doc_real(doc, "recording.duration_ns") * 1e-9;

	for (int i = 0; i < n; i++) {
		const json_t *row = find_row(doc, names[i]);
		double most = (double)(after[i] - before[i]), rate, low;

		if (!row) /* check_seen() finds whether that can be */
			continue;
		rate = doc_real(row, "allocations_per_s.value");
		low = doc_real(row, "allocations_per_s.low");
		hi_test_note("%s: %.0f a second, %.0f to %.0f; %.0f at most", names[i],
			     rate, low, high_of(row, "allocations_per_s"),
			     most / seconds);
		/* One in forty ranges begins above the truth by chance; with half as much
		 * more, hardly any. */
		HI_ASSERT((low - (rate - low) / 2) * seconds <= most);
		HI_ASSERT(low <= rate);
		HI_ASSERT(rate <= high_of(row, "allocations_per_s"));
	}
}

/* A round has one allocation of each of the two, and all windows see the same rounds; of
 * the others none may be seen where the program has hardly run in windows. */
static void check_seen(const json_t *doc)
{
	long long windows = doc_number(doc, "recording.windows");
	long long seen[COUNTED];

	for (int i = 0; i < COUNTED; i++)
		seen[i] = seen_of(doc, names[i]);
	HI_ASSERT(seen[SHORT] > 100);
	HI_ASSERT(llabs(seen[SHORT] - seen[KEPT]) <= windows);
	HI_ASSERT(llabs(seen[GROWN] - seen[SHORT] / 200) <= windows + 1);
	HI_ASSERT(llabs(seen[LIST] - seen[SHORT] / 400) <= windows + 1);
	HI_ASSERT(llabs(seen[PAIR] - seen[SHORT] / 1600) <= windows + 1);
}

/* Leaks are told from what is live, and no more than all there are. */
static void check_leaks(const json_t *doc, const char *function, unsigned long long after)
{
	const json_t *row = find_row(doc, function);

	if (!row)
		return;
	HI_ASSERT(doc_real(row, "leaked.value") > 0);
	HI_ASSERT(doc_real(row, "live_bytes.value") <= 0);
	HI_ASSERT(doc_real(row, "leaked.low") <= (double)after);
}

static void check_blocks(const json_t *doc, const unsigned long long *after)
{
	const json_t *kept = find_row(doc, names[KEPT]);
	/* Blocks that one in windows stands for. */
	double each = doc_real(doc, "recording.duration_ns") /
		      doc_real(doc, "recording.covered_ns") /
		      doc_real(doc, "recording.speed.low");

	check_leaks(doc, names[LIST], after[LIST]);
	check_leaks(doc, names[PAIR], after[PAIR]);
	HI_ASSERT(kept);
	HI_ASSERT(doc_real(kept, "leaked.value") <= 0);
	/* The ring is in a steady state: windows alone would say many times as much. Some
	 * blocks more could be of another size, of which none was seen. */
	HI_ASSERT(high_of(kept, "live_bytes") <= (20001 + 4 * each) * 112);
	HI_ASSERT(doc_real(kept, "live_bytes.low") <= 20001 * 112.0);
	HI_ASSERT(doc_real(kept, "live_bytes.value") > 0);
}

HI_TEST_ROOT_ALONE(record_windows, sites_have_what_the_program_counts)
{
	struct hi_fixture *fx = hi_fixture_start("counted_sites", NULL);
	unsigned long long before[COUNTED], after[COUNTED];
	struct recording_run run;
	json_t *doc;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	ask_for_counts(fx, before);
	run = recording_start(fx->pid, "--sample=windows", "--for=8s", "--json", NULL);
	doc = doc_of(recording_end(&run, 0));
	ask_for_counts(fx, after);
	hi_check_schema_of(doc, "windows.v1.json");
	HI_ASSERT(doc_number(doc, "recording.windows") >= 1);
	HI_ASSERT(doc_real(doc, "recording.covered_ns") <=
		  0.02e9 * doc_real(doc, "recording.windows"));
	check_sites(doc, COUNTED, before, after);
	check_seen(doc);
	check_blocks(doc, after);
}

static void expect_refusal(const char *option, const char *value)
{
	struct hi_command *c =
		hi_heapinspect("record", "--pid", "1", "--sample", "windows", "-o",
			       "none.hirec", option, value, NULL);

	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT_MSG(strstr(c->err, "not with --sample windows"), "%s", c->err);
	HI_ASSERT_MSG(strstr(c->err, option), "%s", c->err);
	HI_ASSERT(strstr(c->err, "--sample all"));
}

/* The message names the option, and what helps. */
HI_TEST_SCENARIO(record_windows, are_refused_where_every_event_is_needed)
{
	expect_refusal("--scan", "10");
	expect_refusal("--calls", "pool_get:ret,size=$1");
	expect_refusal("--frees", "pool_put:$1");
	expect_refusal("--mappings", NULL);
	expect_refusal("--keep-events", NULL);
}

/* A file of windows has no births of single objects, and options are for other files. */
static void check_refusals(const char *file)
{
	struct hi_command *c = hi_heapinspect("census", "--by", "site", file, NULL);

	HI_ASSERT(c->exit_code == 1 || c->exit_code == 2);
	HI_ASSERT_MSG(strstr(c->err, "recorded by windows"), "%s", c->err);
	c = hi_heapinspect("alloc", file, "--callers", NULL);
	HI_ASSERT(c->exit_code == 1 || c->exit_code == 2);
	HI_ASSERT_MSG(strstr(c->err, "recorded by windows"), "%s", c->err);
	c = hi_heapinspect("leaks", file, NULL);
	HI_ASSERT(strstr(c->out, "leaked"));
}

/* On a busy machine there may be no window, or none in which the program has run: then the
 * next one is longer. */
static const char *const times[] = {"--for=4s", "--for=10s", "--for=30s"};

static json_t *record_seen_sites(const struct hi_fixture *fx, const char *file)
{
	json_t *doc = NULL;

	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
		struct recording_run run =
			recording_start(fx->pid, "--sample=windows", times[i], "--json",
					"-o", file, NULL);

		doc = doc_of(recording_end(&run, 0));
		if (find_row(doc, names[SHORT]) && find_row(doc, names[KEPT]))
			break;
		remove(file);
	}
	return doc;
}

/* The file has all figures of the report, and they hold beside the program's counts. */
HI_TEST_ROOT_ALONE(record_windows, a_file_keeps_the_estimates)
{
	struct hi_fixture *fx = hi_fixture_start("counted_sites", NULL);
	unsigned long long before[COUNTED], after[COUNTED];
	char file[256];
	struct hi_command *c;
	json_t *live, *kept;

	snprintf(file, sizeof(file), "%s/windows.hirec", workshop_open());
	hi_fixture_read_until(fx, "ready", NULL, NULL);
	ask_for_counts(fx, before);
	live = record_seen_sites(fx, file);
	ask_for_counts(fx, after);
	kept = doc_of(hi_heapinspect("alloc", file, "--json", NULL));
	HI_ASSERT_STREQ("heapinspect/windows/v1", doc_text(kept, "schema"));
	/* The others are so rare that few windows may miss them. */
	check_sites(kept, KEPT + 1, before, after);
	HI_ASSERT(json_equal(doc_at(live, "recording"), doc_at(kept, "recording")));
	HI_ASSERT(json_equal(doc_at(live, "rows"), doc_at(kept, "rows")));
	HI_ASSERT(json_equal(doc_at(live, "live"), doc_at(kept, "live")));
	HI_ASSERT(json_equal(doc_at(live, "leaked"), doc_at(kept, "leaked")));
	c = hi_heapinspect("alloc", file, "--width=100", NULL);
	HI_ASSERT_EQ(0, c->exit_code);
	HI_ASSERT(strstr(c->out, "~allocations/s"));
	HI_ASSERT(strstr(c->out, "make_kept"));
	check_refusals(file);
}

HI_TEST_ROOT_ALONE(record_windows, the_page_names_its_method)
{
	struct hi_fixture *fx = hi_fixture_start("counted_sites", NULL);
	struct hi_command *c = NULL;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
		struct recording_run run = recording_start(fx->pid, "--sample=windows",
							   times[i], "--width=100", NULL);

		c = recording_end(&run, 0);
		HI_ASSERT_EQ(0, c->exit_code);
		if (strstr(c->out, "make_kept"))
			break;
	}
	HI_ASSERT(strstr(c->out, "windows of"));
	HI_ASSERT(strstr(c->out, "raked"));
	HI_ASSERT(strstr(c->out, "~allocations/s"));
	HI_ASSERT(strstr(c->out, "make_kept"));
}

/* Links of uprobe_multi do not reach it: it is recorded as without windows, and its live
 * blocks are the ring's. */
HI_TEST_ROOT_ALONE(record_windows, without_them_it_is_recorded_all_the_time)
{
	struct hi_fixture *fx =
		hi_fixture_start("counted_sites", "30000", "leaderless", NULL);
	struct recording_run run;
	struct hi_command *c;
	json_t *doc;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	run = recording_start(fx->pid, "--sample=windows", "--for=4s", "--json", NULL);
	c = recording_end(&run, 0);
	HI_ASSERT_EQ(0, c->exit_code);
	HI_ASSERT(strstr(c->err, "no windows here") ||
		  strstr(run.begun, "no windows here"));
	HI_ASSERT(strstr(c->err, "first thread") || strstr(run.begun, "first thread"));
	HI_ASSERT(!strstr(run.begun, "recording windows"));
	doc = doc_of(c);
	HI_ASSERT(strcmp("heapinspect/windows/v1", doc_text(doc, "schema")) != 0);
	HI_ASSERT(doc_number(doc, "recording.allocations") > 1000);
}

/* Each census has the windows since the begin, and its own estimates of what is live. */
static void check_series(const char *file, long long censuses)
{
	struct hi_command *c = hi_heapinspect("snapshots", file, "--json", NULL);
	json_t *doc = doc_of(c);

	HI_ASSERT_EQ(0, c->exit_code);
	HI_ASSERT(doc_size(doc, "rows") >= (size_t)censuses);
	doc = doc_of(hi_heapinspect("alloc", file, "--json", NULL));
	hi_check_schema_of(doc, "windows.v1.json");
	c = hi_heapinspect("census", "--by", "site", file, NULL);
	HI_ASSERT(c->exit_code == 1 || c->exit_code == 2);
	HI_ASSERT_MSG(strstr(c->err, "recorded by windows"), "%s", c->err);
}

HI_TEST_ROOT_ALONE(record_windows, a_series_has_them_at_each_census)
{
	struct hi_fixture *fx = hi_fixture_start("counted_sites", NULL);
	unsigned long long before[COUNTED], after[COUNTED];
	char file[256];
	struct recording_run run;
	json_t *doc;

	snprintf(file, sizeof(file), "%s/series.hirec", workshop_open());
	hi_fixture_read_until(fx, "ready", NULL, NULL);
	ask_for_counts(fx, before);
	run = recording_start(fx->pid, "--sample=windows", "--every=2s", "--for=7s",
			      "--json", "-o", file, NULL);
	doc = doc_of(recording_end(&run, 0));
	ask_for_counts(fx, after);
	hi_check_schema_of(doc, "windows.v1.json");
	HI_ASSERT(doc_number(doc, "recording.windows") >= 2);
	check_sites(doc, KEPT + 1, before, after);
	check_series(file, 2);
	doc = doc_of(hi_heapinspect("alloc", file, "--json", NULL));
	check_sites(doc, KEPT + 1, before, after);
}

/* The page of record: of a process as of its file. */
HI_TEST_ROOT_ALONE(record_windows, alloc_has_them_of_a_process)
{
	static const char *const words[] = {"--sample=windows", "--for=8s", "--json",
					    NULL};
	struct hi_fixture *fx = hi_fixture_start("counted_sites", NULL);
	unsigned long long before[COUNTED], after[COUNTED];
	struct recording_run run;
	json_t *doc;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	ask_for_counts(fx, before);
	run = recording_start_as("alloc", "recording pid", fx->pid, words);
	doc = doc_of(recording_end(&run, 0));
	ask_for_counts(fx, after);
	hi_check_schema_of(doc, "windows.v1.json");
	check_sites(doc, KEPT + 1, before, after);
}

static void expect_alloc_refusal(const char *option, const char *value)
{
	struct hi_command *c = hi_heapinspect("alloc", "--pid", "1", "--sample",
					      "windows", option, value, NULL);

	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT_MSG(strstr(c->err, option), "%s", c->err);
	HI_ASSERT_MSG(strstr(c->err, "--sample windows"), "%s", c->err);
}

HI_TEST_SCENARIO(record_windows, alloc_refuses_what_is_of_every_allocation)
{
	expect_alloc_refusal("--scan", "10");
	expect_alloc_refusal("--bars", NULL);
	expect_alloc_refusal("--callers", NULL);
	expect_alloc_refusal("--select", "make");
	expect_alloc_refusal("--centre", "main");
	expect_alloc_refusal("--every", "1s");
}

/* Windows see nothing from then on: they are none, and make no rate smaller. */
HI_TEST_ROOT_ALONE(record_windows, the_end_of_the_first_thread_ends_windows)
{
	struct hi_fixture *fx = hi_fixture_start("counted_sites", "3000", "leaves", NULL);
	struct recording_run run;
	struct hi_command *c;
	double seconds;
	json_t *doc;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	run = recording_start(fx->pid, "--sample=windows", "--json", NULL);
	sleep(2);
	hi_fixture_tell(fx, "leave");
	hi_fixture_read_until(fx, "left", NULL, NULL);
	recording_await(&run, "first thread of the program has ended", 1);
	sleep(4);
	c = recording_end(&run, SIGINT);
	HI_ASSERT_EQ(0, c->exit_code);
	doc = doc_of(c);
	HI_ASSERT(doc_number(doc, "recording.blind_ns") >= 3000000000);
	seconds = 1e-9 * (doc_real(doc, "recording.duration_ns") -
			  doc_real(doc, "recording.blind_ns"));
	/* One in each second, and none of those that saw nothing. */
	HI_ASSERT(doc_real(doc, "recording.windows") <= seconds + 2);
}
