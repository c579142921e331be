/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program's own pool and its mappings beside malloc: what is recorded is what
 * fixtures/pools.c says is live, piece by piece.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "census/events/recording.h"
#include "probes/events/event_source.h"
#include "tests/harness.h"
#include "tests/support/fixture.h"

static const char *const calls[] = {"pool_get:ret,size=$2",
				    "pool_take:ret=*$3,size=$1*$2*2",
				    "pools:pool_resize:ret,size=$4,old=$2"};
enum { CALLS = sizeof(calls) / sizeof(calls[0]), RECORDS = 1 << 14 };

struct followed_pools {
	struct hi_fixture *fx;
	struct hi_target *target;
	struct hi_event_functions functions;
	struct hi_event_source *source;
	struct hi_recording *recording;
	struct hi_event_sink sink;
	struct hi_call_spec specs[CALLS + 1];
	/* What is recorded of a family, and what the fixture says of it. */
	struct hi_live_allocation records[RECORDS];
	size_t n_records, said, missing, wrong;
	const char *word; /* its lines begin with it */
};

static void end_pools(struct followed_pools *p)
{
	hi_event_source_close(p->source);
	hi_recording_destroy(p->recording);
	hi_target_close(p->target);
	free(p);
}

static void take_pool_event(void *arg, const struct hi_event *event)
{
	struct followed_pools *p = arg;
	struct hi_error err;

	HI_ASSERT_OK(hi_recording_apply(p->recording, event, &err), &err);
}

static void take_pool_stack(void *arg, const struct hi_event_stack *stack)
{
	struct followed_pools *p = arg;
	struct hi_error err;

	HI_ASSERT_OK(hi_recording_stack(p->recording, stack, &err), &err);
}

static void parse_pool_calls(struct followed_pools *p)
{
	struct hi_error err;
	size_t column;

	for (size_t i = 0; i < CALLS; i++)
		HI_ASSERT_OK(hi_call_spec_parse(calls[i], &p->specs[i], &column, &err),
			     &err);
	HI_ASSERT_OK(hi_free_spec_parse("pool_put:$2", &p->specs[CALLS], &column, &err),
		     &err);
}

typedef enum hi_status open_fn(const struct hi_target *target,
			       const struct hi_event_functions *functions,
			       const struct hi_event_source_options *options,
			       struct hi_event_source **ret, struct hi_error *err);

static struct followed_pools *follow_pools(open_fn *open, uint64_t sample_bytes)
{
	const struct hi_event_source_options options = {};
	struct followed_pools *p = calloc(1, sizeof(*p));
	struct hi_followed followed = {.n_calls = CALLS + 1, .mappings = true};
	struct hi_error err;

	HI_ASSERT(p);
	hi_test_defer(end_pools, p);
	p->sink = (struct hi_event_sink){
		.event = take_pool_event, .stack = take_pool_stack, .arg = p};
	p->fx = hi_fixture_start("pools", NULL);
	hi_fixture_read_until(p->fx, "ready", NULL, NULL);
	parse_pool_calls(p);
	followed.calls = p->specs;
	HI_ASSERT_OK(hi_target_open(p->fx->pid, &p->target, &err), &err);
	HI_ASSERT_OK(
		hi_event_functions_find_with(p->target, &followed, &p->functions, &err),
		&err);
	HI_ASSERT_OK(hi_recording_create(&p->recording, &err), &err);
	hi_recording_set_sources(p->recording, p->functions.sources,
				 p->functions.n_sources);
	hi_recording_set_sampling(p->recording, sample_bytes);
	HI_ASSERT_OK(open(p->target, &p->functions, &options, &p->source, &err), &err);
	hi_event_source_set_sampling(p->source, sample_bytes);
	HI_ASSERT_OK(hi_event_source_start(p->source, &err), &err);
	return p;
}

static void make_pool_events(struct followed_pools *p, const char *line)
{
	struct hi_error err;

	hi_fixture_tell(p->fx, line);
	HI_ASSERT_OK(hi_event_source_poll(p->source, 1, &p->sink, &err), &err);
	hi_fixture_read_until(p->fx, "done", NULL, NULL);
	HI_ASSERT_OK(hi_event_source_drain(p->source, &p->sink, &err), &err);
}

static void compare_said(const char *line, void *arg)
{
	struct followed_pools *p = arg;
	unsigned long addr, size;
	char word[16];
	size_t i = 0;

	if (sscanf(line, "%15s %lx %lx", word, &addr, &size) != 3 ||
	    strcmp(word, p->word) != 0)
		return;
	p->said++;
	while (i < p->n_records && p->records[i].addr != addr)
		i++;
	p->missing += i == p->n_records;
	p->wrong += i < p->n_records && p->records[i].size != size;
}

/* The records of a family are those that the fixture says, no more and no fewer. */
static void expect_family(struct followed_pools *p, enum hi_event_family family,
			  const char *command, const char *word)
{
	uint64_t at = 0;

	p->n_records = p->said = p->missing = p->wrong = 0;
	p->word = word;
	while (p->n_records < RECORDS &&
	       hi_recording_next_of(p->recording, family, &at, &p->records[p->n_records]))
		p->n_records++;
	hi_fixture_tell(p->fx, command);
	hi_fixture_read_until(p->fx, "that is all", compare_said, p);
	HI_ASSERT(p->said > 0);
	HI_ASSERT_EQ(0, p->missing);
	HI_ASSERT_EQ(0, p->wrong);
	HI_ASSERT_EQ(p->said, p->n_records);
}

static void expect_pools(open_fn *open)
{
	struct followed_pools *p = follow_pools(open, 0);
	struct hi_recording_counts counts;

	for (int round = 0; round < 3; round++) {
		make_pool_events(p, "go 1500");
		expect_family(p, HI_FAMILY_CALLS, "live", "piece");
		expect_family(p, HI_FAMILY_MALLOC, "live", "slab");
		make_pool_events(p, "map 300");
		expect_family(p, HI_FAMILY_MAPPINGS, "maps", "map");
	}
	hi_recording_counts(p->recording, &counts);
	HI_ASSERT_EQ(0, counts.lost + counts.lost_frees + counts.lost_begins +
				counts.lost_ends + counts.unknown_frees);
	HI_ASSERT(hi_recording_is_valid(p->recording));
}

HI_TEST_ROOT(event_pools, have_the_pieces_that_are_live)
{
	expect_pools(hi_event_source_open);
}

HI_TEST_ROOT(event_pools, have_the_pieces_that_are_live_by_perf_events)
{
	expect_pools(hi_event_source_open_by_perf);
	expect_pools(hi_event_source_open_as_on_old_kernels);
}

static size_t count_records(const struct followed_pools *p, enum hi_event_family family)
{
	struct hi_live_allocation live;
	uint64_t at = 0;
	size_t n = 0;

	while (hi_recording_next_of(p->recording, family, &at, &live))
		n++;
	return n;
}

/* A slab and its first piece have one address: the end of the piece is not that of the
 * slab, whose free is still an event. */
HI_TEST_ROOT(event_pools, are_sampled_beside_malloc)
{
	struct followed_pools *p = follow_pools(hi_event_source_open, 64);

	make_pool_events(p, "go 1500");
	make_pool_events(p, "map 300");
	/* Slabs are much larger than the distance: all are samples. */
	expect_family(p, HI_FAMILY_MALLOC, "live", "slab");
	/* Mappings are no samples. */
	expect_family(p, HI_FAMILY_MAPPINGS, "maps", "map");
	HI_ASSERT(count_records(p, HI_FAMILY_CALLS) > 0);
	make_pool_events(p, "drop");
	HI_ASSERT_EQ(0, count_records(p, HI_FAMILY_CALLS));
	HI_ASSERT_EQ(0, count_records(p, HI_FAMILY_MALLOC));
	HI_ASSERT(hi_recording_is_valid(p->recording));
}

/* ---- functions ---- */

static enum hi_status find_call(const char *text, struct hi_error *err)
{
	struct hi_fixture *fx = hi_fixture_start("pools", NULL);
	struct hi_call_spec spec;
	struct hi_followed followed = {.calls = &spec, .n_calls = 1};
	struct hi_event_functions functions;
	struct hi_target *target = NULL;
	enum hi_status status;
	size_t column;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	HI_ASSERT_OK(hi_call_spec_parse(text, &spec, &column, err), err);
	HI_ASSERT_OK(hi_target_open(fx->pid, &target, err), err);
	status = hi_event_functions_find_with(target, &followed, &functions, err);
	hi_target_close(target);
	return status;
}

HI_TEST_SCENARIO(event_pools, unknown_functions_of_pools_are_reported)
{
	struct hi_error err;

	HI_ASSERT_EQ(HI_NOT_FOUND, find_call("pool_gte:ret", &err));
	HI_ASSERT_MSG(strstr(err.text, "pool_get"), "%s", err.text);
	HI_ASSERT_EQ(HI_NOT_FOUND, find_call("libpool:pool_get:ret", &err));
	HI_ASSERT_MSG(strstr(err.text, "module"), "%s", err.text);
	HI_ASSERT_OK(find_call("pools:pool_get:ret", &err), &err);
}
