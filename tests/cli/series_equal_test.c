/* SPDX-License-Identifier: BSD-2-Clause */
/* Censuses of a series reuse much of the one before: each has what a single census of the
 * same heap has, whatever changed at random between them (fixtures/series_links.c). Two
 * processes do the same: one is followed by a series, the other is looked at anew. */
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>

#include "tests/harness.h"
#include "tests/support/command.h"
#include "tests/support/fixture.h"
#include "tests/support/json.h"

#define PROGRAM HI_BINARY_DIR "/heapinspect"

struct links {
	struct hi_fixture *fx;
	char pid[16];
};

static void start_links(struct links *links, const char *seed)
{
	links->fx = hi_fixture_start("series_links", seed, "4000", NULL);
	hi_fixture_read_until(links->fx, "ready", NULL, NULL);
	snprintf(links->pid, sizeof(links->pid), "%d", (int)links->fx->pid);
}

static void change_links(struct links *links, unsigned n)
{
	char text[32];

	snprintf(text, sizeof(text), "change %u", n);
	hi_fixture_tell(links->fx, text);
	hi_fixture_read_until(links->fx, "changed", NULL, NULL);
	hi_fixture_await_call(links->fx->pid, SYS_read);
}

static long long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (long long)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* The first sample that was stopped from now on. */
static json_t *next_sample_from_now(struct hi_fixture *series)
{
	static char line[1 << 20];
	long long from = now_ns();
	json_t *sample;

	do {
		HI_ASSERT(hi_fixture_line(series, line, sizeof(line)));
		sample = doc_parse(line);
	} while (doc_number(sample, "time_ns") < from);
	return sample;
}

static void compare_rows(const json_t *single, const json_t *sample)
{
	const json_t *rows = doc_at(sample, "rows"), *row;

	HI_ASSERT_EQ(doc_size(single, "rows"), doc_size(sample, "rows"));
	for (size_t i = 0; i < doc_size(single, "rows"); i++) {
		row = doc_row(rows, "name", doc_text(single, "rows.%zu.type", i));
		HI_ASSERT_EQ(doc_number(single, "rows.%zu.count", i),
			     doc_number(row, "objects"));
		HI_ASSERT_EQ(doc_number(single, "rows.%zu.shallow", i),
			     doc_number(row, "bytes"));
	}
}

/* Nothing changes any more when the sample is taken. */
static void check_sample(struct hi_fixture *series, const char *snapshot,
			 const char *twin)
{
	json_t *sample = next_sample_from_now(series);
	json_t *single = doc_of(hi_heapinspect("census", "--json", "--all", "--snapshot",
					       snapshot, "--pid", twin));
	json_t *leaks = doc_of(
		hi_heapinspect("leaks", "--json", "--snapshot", snapshot, "--pid", twin));

	HI_ASSERT_EQ(doc_number(single, "live.objects"),
		     doc_number(sample, "live.objects"));
	HI_ASSERT_EQ(doc_number(single, "live.bytes"), doc_number(sample, "live.bytes"));
	HI_ASSERT_EQ(doc_number(leaks, "leaks.bytes") +
			     doc_number(leaks, "leaks.likely_bytes"),
		     doc_number(sample, "leaked") + doc_number(sample, "likely"));
	compare_rows(single, sample);
}

static void follow_links(const char *seed, const char *snapshot)
{
	static const unsigned n_changes[] = {0, 1, 40, 400, 2000, 10};
	struct links followed, twin;
	struct hi_fixture *series;

	start_links(&followed, seed);
	start_links(&twin, seed);
	series = hi_fixture_start(PROGRAM, "census", "--every", "50ms", "--json", "--all",
				  "--snapshot", snapshot, "--pid", followed.pid, NULL);
	for (unsigned i = 0; i < sizeof(n_changes) / sizeof(*n_changes); i++) {
		change_links(&followed, n_changes[i]);
		change_links(&twin, n_changes[i]);
		check_sample(series, snapshot, twin.pid);
	}
}

HI_TEST_SCENARIO(series_equal, forked_samples_are_as_single_censuses)
{
	follow_links("11", "fork");
}

HI_TEST_SCENARIO(series_equal, copied_samples_are_as_single_censuses)
{
	follow_links("12", "copy");
}
