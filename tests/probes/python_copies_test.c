/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events of a Python with copies of pymalloc, by each of the means by which programs are
 * started: objects that the program keeps, those of free lists among them, and what it
 * drops.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "census/events/recording.h"
#include "probes/events/event_source.h"
#include "tests/harness.h"
#include "tests/support/fixture.h"

enum { KEPT = 1000, SIZE_OF_FLOAT = 32 };

static const char program[] = "import sys\n"
			      "kept = [None] * 1000\n"
			      "def keep():\n"
			      "    for i in range(1000): kept[i] = i * 1.5\n"
			      "def drop():\n"
			      "    for i in range(1000): kept[i] = None\n"
			      "print('ready', flush=True)\n"
			      "for line in sys.stdin:\n"
			      "    globals()[line.strip()]()\n"
			      "    print('done', flush=True)\n";

struct followed {
	struct hi_fixture *fx;
	struct hi_target *target;
	struct hi_event_functions functions;
	struct hi_event_source *source;
	struct hi_recording *recording;
	struct hi_event_sink sink;
};

static void apply_event(void *arg, const struct hi_event *event)
{
	struct followed *f = arg;
	struct hi_error err;

	HI_ASSERT_OK(hi_recording_apply(f->recording, event, &err), &err);
}

static void apply_stack(void *arg, const struct hi_event_stack *stack)
{
	struct followed *f = arg;
	struct hi_error err;

	HI_ASSERT_OK(hi_recording_stack(f->recording, stack, &err), &err);
}

typedef enum hi_status open_fn(const struct hi_target *target,
			       const struct hi_event_functions *functions,
			       const struct hi_event_source_options *options,
			       struct hi_event_source **ret, struct hi_error *err);

static void follow_python(struct followed *f, open_fn *open)
{
	const struct hi_event_source_options options = {};
	struct hi_error err;

	*f = (struct followed){};
	f->fx = hi_fixture_start("/usr/bin/python3.11", "-c", program, NULL);
	hi_fixture_read_until(f->fx, "ready", NULL, NULL);
	f->sink = (struct hi_event_sink){
		.event = apply_event, .stack = apply_stack, .arg = f};
	HI_ASSERT_OK(hi_target_open(f->fx->pid, &f->target, &err), &err);
	HI_ASSERT_OK(hi_event_functions_find(f->target, &f->functions, &err), &err);
	HI_ASSERT_OK(hi_recording_create(&f->recording, &err), &err);
	hi_recording_set_sources(f->recording, f->functions.sources,
				 f->functions.n_sources);
	HI_ASSERT_OK(open(f->target, &f->functions, &options, &f->source, &err), &err);
}

static void tell_followed(struct followed *f, const char *command)
{
	struct hi_error err;

	hi_fixture_tell(f->fx, command);
	hi_fixture_read_until(f->fx, "done", NULL, NULL);
	HI_ASSERT_OK(hi_event_source_drain(f->source, &f->sink, &err), &err);
}

static uint64_t count_live_floats(const struct followed *f)
{
	struct hi_live_allocation live;
	uint64_t n = 0;

	for (uint64_t at = 0; hi_recording_next(f->recording, &at, &live);)
		n += live.size == SIZE_OF_FLOAT;
	return n;
}

static void end_followed(struct followed *f)
{
	hi_event_source_close(f->source);
	hi_recording_destroy(f->recording);
	hi_target_close(f->target);
}

static void check_means(const char *name, open_fn *open)
{
	struct hi_recording_counts counts;
	struct hi_event_stats stats;
	struct hi_error err;
	struct followed f;
	uint64_t before, kept;

	follow_python(&f, open);
	if (!f.functions.n_sites)
		HI_SKIP("this Python has no copies of pymalloc");
	HI_ASSERT_OK(hi_event_source_start(f.source, &err), &err);
	tell_followed(&f, "drop"); /* nothing of it is kept yet */
	before = count_live_floats(&f);
	tell_followed(&f, "keep");
	kept = count_live_floats(&f);
	hi_recording_counts(f.recording, &counts);
	hi_event_source_stats(f.source, &stats);
	hi_test_note("%s (%s): %llu places, %llu floats before, %llu kept", name,
		     f.source->ops->name, (unsigned long long)f.functions.n_sites,
		     (unsigned long long)before, (unsigned long long)kept);
	HI_ASSERT_MSG(!*stats.why_no_optional, "%s: %s", name, stats.why_no_optional);
	HI_ASSERT(kept >= before + KEPT && kept <= before + KEPT + 20);
	HI_ASSERT_EQ(0, counts.lost);
	HI_ASSERT_EQ(0, counts.lost_frees);
	end_followed(&f);
}

HI_TEST_ROOT(python_copies, events_come_by_uprobe_multi)
{
	check_means("any", hi_event_source_open);
}

HI_TEST_ROOT(python_copies, events_come_by_perf_events)
{
	check_means("perf", hi_event_source_open_by_perf);
}

HI_TEST_ROOT(python_copies, events_come_as_on_old_kernels)
{
	check_means("old", hi_event_source_open_as_on_old_kernels);
}
