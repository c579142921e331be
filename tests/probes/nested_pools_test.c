/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stacks through followed functions that call each other: those of
 * fixtures/nested_pools.c, frame by frame as the program itself noted its calls.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/events/event_source.h"
#include "probes/events/unwind_find.h"
#include "tests/harness.h"
#include "tests/support/fixture.h"

enum { FUNCTIONS = 16, EVENTS = 1 << 15, STACKS = 1 << 13, LINE = 1024 };

static const char *const pools[] = {"pool_outer:ret,size=$1", "pool_middle:ret,size=$1",
				    "pool_inner:ret,size=$1", "pool_self:ret,size=$1",
				    "pool_guard:ret,size=$1", "pool_jump:ret,size=$1",
				    "pool_tail:ret,size=$1"};
enum { POOLS = sizeof(pools) / sizeof(pools[0]) };

struct nested {
	struct hi_fixture *fx;
	struct hi_target *target;
	struct hi_event_functions functions;
	struct hi_event_source *source;
	struct hi_unwind_tables tables;
	struct hi_event_sink sink;
	struct hi_range of[FUNCTIONS]; /* where the functions of the program are */
	struct hi_event events[EVENTS];
	size_t n_events;
	struct hi_event_stack stacks[STACKS];
	size_t n_stacks;
	size_t compared, frames, missing;
};

static void end_nested(struct nested *p)
{
	hi_event_source_close(p->source);
	hi_unwind_tables_free(&p->tables);
	hi_target_close(p->target);
	free(p);
}

static void keep_nested_event(void *arg, const struct hi_event *event)
{
	struct nested *p = arg;

	HI_ASSERT(event->kind != HI_EVENT_LOST && p->n_events < EVENTS);
	p->events[p->n_events++] = *event;
}

static void keep_nested_stack(void *arg, const struct hi_event_stack *stack)
{
	struct nested *p = arg;

	HI_ASSERT(p->n_stacks < STACKS);
	memcpy(&p->stacks[p->n_stacks++], stack,
	       offsetof(struct hi_event_stack, frames) + stack->n * 8ul);
}

static void take_function_line(const char *line, void *arg)
{
	struct nested *p = arg;
	unsigned long start, end;
	unsigned i;

	if (sscanf(line, "function %u %lx %lx", &i, &start, &end) == 3 && i < FUNCTIONS)
		p->of[i] = (struct hi_range){start, end};
}

typedef enum hi_status open_fn(const struct hi_target *target,
			       const struct hi_event_functions *functions,
			       const struct hi_event_source_options *options,
			       struct hi_event_source **ret, struct hi_error *err);

static struct nested *follow_nested(open_fn *open)
{
	const struct hi_event_source_options options = {};
	struct nested *p = calloc(1, sizeof(*p));
	struct hi_call_spec specs[POOLS];
	struct hi_followed followed = {.calls = specs, .n_calls = POOLS};
	struct hi_error err;
	size_t column;

	HI_ASSERT(p);
	hi_test_defer(end_nested, p);
	p->sink = (struct hi_event_sink){
		.event = keep_nested_event, .stack = keep_nested_stack, .arg = p};
	p->fx = hi_fixture_start("nested_pools", NULL);
	hi_fixture_read_until(p->fx, "ready", take_function_line, p);
	for (size_t i = 0; i < POOLS; i++)
		HI_ASSERT_OK(hi_call_spec_parse(pools[i], &specs[i], &column, &err),
			     &err);
	HI_ASSERT_OK(hi_target_open(p->fx->pid, &p->target, &err), &err);
	HI_ASSERT_OK(
		hi_event_functions_find_with(p->target, &followed, &p->functions, &err),
		&err);
	HI_ASSERT_OK(open(p->target, &p->functions, &options, &p->source, &err), &err);
	HI_ASSERT_OK(hi_unwind_tables_find(p->target, &p->tables, &err), &err);
	HI_ASSERT_OK(hi_event_source_set_unwind(p->source, &p->tables, &err), &err);
	HI_ASSERT_OK(hi_event_source_start(p->source, &err), &err);
	return p;
}

/* ---- one block ---- */

/* malloc's event; NULL: none. */
static const struct hi_event *event_of(const struct nested *p, uint64_t addr)
{
	for (size_t i = p->n_events; i-- > 0;)
		if (p->events[i].addr == addr && p->events[i].source == 0 &&
		    p->events[i].kind == HI_EVENT_ALLOC)
			return &p->events[i];
	return NULL;
}

static const struct hi_event_stack *stack_named(const struct nested *p, uint64_t hash)
{
	for (size_t i = 0; i < p->n_stacks; i++)
		if (p->stacks[i].stack == hash)
			return &p->stacks[i];
	HI_ASSERT_MSG(false, "no stack %llx", (unsigned long long)hash);
	return NULL;
}

static bool is_in_function(const struct nested *p, unsigned function, uint64_t pc)
{
	const struct hi_range *of = &p->of[function % FUNCTIONS];

	return pc > of->start && pc <= of->end;
}

/* A frame's address is where the function that it calls returns to, which is noted of
 * those that are no pools. */
static void compare_frames(struct nested *p, const char *line,
			   const struct hi_event_stack *stack)
{
	unsigned long to = 0, next;
	unsigned function, i;
	int used;

	for (i = 0; sscanf(line, " %u:%lx%n", &function, &next, &used) == 2; i++) {
		HI_ASSERT_MSG(i < stack->n, "%u frames, and: %s", stack->n, line);
		HI_ASSERT_MSG(is_in_function(p, function, stack->frames[i]),
			      "frame %u is %llx, not in function %u: %s", i,
			      (unsigned long long)stack->frames[i], function, line);
		HI_ASSERT(!to || to == stack->frames[i]);
		to = next;
		line += used;
	}
	HI_ASSERT(i > 0);
	/* Outside of them are main() or a thread's beginning. */
	HI_ASSERT_MSG(!to || (i < stack->n && stack->frames[i] == to), "%u frames of %u",
		      i, stack->n);
	HI_ASSERT_EQ(0, stack->cut);
	p->frames += i;
}

static void compare_block(const char *line, void *arg)
{
	struct nested *p = arg;
	const struct hi_event *event;
	unsigned long addr;
	int used;

	if (sscanf(line, "block %lx%n", &addr, &used) != 1)
		return;
	event = event_of(p, addr);
	p->missing += !event;
	if (!event)
		return;
	HI_ASSERT_EQ(0, event->flags & HI_EVENT_STACK_CUT);
	compare_frames(p, line + used, stack_named(p, event->stack));
	p->compared++;
}

/* ---- the tests ---- */

struct said_lines {
	char (*lines)[LINE];
	size_t n;
};
enum { LINES = 1024 };

static void keep_said_line(const char *line, void *arg)
{
	struct said_lines *said = arg;

	HI_ASSERT(said->n < LINES);
	snprintf(said->lines[said->n++], LINE, "%s", line);
}

/* Events are read when all of them have been made. */
static void run_nested(struct nested *p, const char *command)
{
	struct said_lines said = {.lines = calloc(LINES, LINE)};
	struct hi_error err;

	HI_ASSERT(said.lines);
	hi_test_defer(free, said.lines);
	p->missing = p->compared = p->frames = 0;
	hi_fixture_tell(p->fx, command);
	hi_fixture_read_until(p->fx, "done", keep_said_line, &said);
	HI_ASSERT_OK(hi_event_source_drain(p->source, &p->sink, &err), &err);
	for (size_t i = 0; i < said.n; i++)
		compare_block(said.lines[i], p);
}

static uint64_t count_lost_calls(const struct nested *p)
{
	struct hi_event_stats stats;

	hi_event_source_stats(p->source, &stats);
	HI_ASSERT_EQ(0, stats.lost);
	return stats.lost_calls;
}

static void expect_whole_stacks(open_fn *open, int seeds)
{
	struct nested *p = follow_nested(open);
	char command[16];

	for (int seed = 0; seed < seeds; seed++) {
		snprintf(command, sizeof(command), "go %d", seed);
		run_nested(p, command);
		HI_ASSERT_EQ(0, p->missing);
		HI_ASSERT_EQ(800, p->compared);
		HI_ASSERT(p->frames > 4 * p->compared);
	}
	HI_ASSERT_EQ(0, count_lost_calls(p));
}

HI_TEST_ROOT(nested_pools, have_whole_stacks_through_calls_and_longjmps)
{
	expect_whole_stacks(hi_event_source_open, 8);
}

HI_TEST_ROOT(nested_pools, have_whole_stacks_by_perf_events)
{
	expect_whole_stacks(hi_event_source_open_by_perf, 2);
}

HI_TEST_ROOT(nested_pools, have_whole_stacks_as_on_old_kernels)
{
	expect_whole_stacks(hi_event_source_open_as_on_old_kernels, 2);
}

/* Before anything has returned, where the kernel's address is not known. */
HI_TEST_ROOT(nested_pools, do_not_move_frames_to_where_a_longjmp_left_them)
{
	struct nested *p = follow_nested(hi_event_source_open);

	run_nested(p, "first");
	HI_ASSERT_EQ(1, p->compared);
	run_nested(p, "first");
	HI_ASSERT_EQ(1, p->compared);
}

/* The kernel sees 64 calls return, of which malloc is the innermost one. */
HI_TEST_ROOT(nested_pools, are_followed_as_deep_as_the_kernel_does)
{
	struct nested *p = follow_nested(hi_event_source_open);

	run_nested(p, "deep 62");
	HI_ASSERT_EQ(1, p->compared);
	HI_ASSERT_EQ(63, p->frames);
	HI_ASSERT_EQ(0, count_lost_calls(p));
	run_nested(p, "deep 79");
	HI_ASSERT_EQ(1, p->missing);
	/* 80 pools and malloc. */
	HI_ASSERT_EQ(81 - HI_BPF_CALLERS, count_lost_calls(p));
	run_nested(p, "deep 62");
	HI_ASSERT_EQ(1, p->compared);
}
