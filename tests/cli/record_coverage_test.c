/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Intervals of sampled recordings against what fixtures/sampled_sizes.c allocates: 95 of
 * 100 have the truth. HI_RECORD_RUNS is how many recordings there are, 200 if it is not
 * set.
 */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/fixture.h"
#include "tests/support/json.h"
#include "tests/support/recording_run.h"

/* Whose blocks are sampled: of larger ones nearly each is. live * (size + 16) bytes. */
static const struct truth {
	const char *function;
	long long bytes;
} truths[] = {{"make_16", 100000 * 32},
	      {"make_256", 20000 * 272},
	      {"make_4k", 2000 * 4112},
	      {"make_64k", 150 * 65552}};
enum { TRUTHS = sizeof(truths) / sizeof(truths[0]) };

struct seen {
	int intervals, covered, above, below;
	double off, variance; /* sums, in units of the truth */
};

static json_t *record_once(void)
{
	struct hi_fixture *fx = hi_fixture_start("sampled_sizes", NULL);
	struct recording_run run;
	struct hi_command *c;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	run = recording_start(fx->pid, "--sample", "64KiB", "--all", "--json", NULL);
	hi_fixture_tell(fx, "go");
	hi_fixture_read_until(fx, "done", NULL, NULL);
	c = recording_end(&run, SIGINT);
	hi_fixture_tell(fx, "quit");
	(void)hi_fixture_end(fx);
	return doc_of(c);
}

static const struct truth *truth_of(const json_t *row)
{
	const char *function = json_string_value(doc_find(row, "site.function"));

	for (size_t i = 0; function && i < TRUTHS; i++)
		if (strcmp(function, truths[i].function) == 0)
			return &truths[i];
	return NULL;
}

static void look_at_interval(const json_t *row, const struct truth *truth,
			     struct seen *seen)
{
	long long low = doc_number(row, "bytes_low"),
		  high = doc_number(row, "bytes_high");
	double off = (double)(doc_number(row, "bytes") - truth->bytes);

	seen->intervals++;
	seen->covered += low <= truth->bytes && truth->bytes <= high;
	seen->below += truth->bytes < low;
	seen->above += truth->bytes > high;
	seen->off += off / (double)truth->bytes;
	seen->variance += pow(off / (double)truth->bytes, 2);
}

static void look_at_recording(const json_t *doc, struct seen seen[TRUTHS])
{
	size_t found = 0;
	json_t *row;

	doc_each (row, doc_at(doc, "rows")) {
		const struct truth *truth = truth_of(row);

		if (!truth)
			continue;
		look_at_interval(row, truth, &seen[truth - truths]);
		found++;
	}
	HI_ASSERT_EQ(TRUTHS, found);
}

/* About 800 intervals: 4 standard deviations are 3 %. */
HI_TEST_SLOW(record_coverage, intervals_have_the_truth_in_95_of_100_recordings)
{
	const char *text = getenv("HI_RECORD_RUNS");
	int runs = text ? atoi(text) : 200;
	struct seen seen[TRUTHS] = {}, all = {};
	double share;

	if (geteuid() != 0)
		HI_SKIP("probes need root");
	for (int i = 0; i < runs; i++)
		look_at_recording(record_once(), seen);
	for (size_t i = 0; i < TRUTHS; i++) {
		hi_test_note("%s: %d of %d have the truth, %d lie above it, %d below; "
			     "estimates %+.2f %% off, %.2f standard errors",
			     truths[i].function, seen[i].covered, seen[i].intervals,
			     seen[i].below, seen[i].above,
			     100 * seen[i].off / seen[i].intervals,
			     seen[i].off / sqrt(seen[i].variance));
		HI_ASSERT(fabs(seen[i].off) < 5 * sqrt(seen[i].variance));
		all.intervals += seen[i].intervals;
		all.covered += seen[i].covered;
	}
	share = (double)all.covered / all.intervals;
	hi_test_note("all: %.1f %% of %d", 100 * share, all.intervals);
	HI_ASSERT(fabs(share - 0.95) < 4 * sqrt(0.95 * 0.05 / all.intervals));
}
