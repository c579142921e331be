/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program whose allocations make events with stacks, and what libdwfl says about the
 * stacks of a thread that stands still in the function that allocated. Such a program
 * says "held ADDR TID" (await it), is looked at, and goes on after a line of stdin.
 */
#ifndef HI_TESTS_SUPPORT_TRACED_STACKS_H
#define HI_TESTS_SUPPORT_TRACED_STACKS_H

#include <elfutils/libdwfl.h>

#include "probes/events/event_source.h"
#include "tests/support/fixture.h"

enum {
	TRACED_FRAMES = 1024,
	TRACED_EVENTS = 4096,
	TRACED_STACKS = 1 << 18,
	TRACED_SAME_FUNCTION = 1024
};

struct traced_frames {
	uint64_t pc[TRACED_FRAMES];
	size_t n;
	bool cut;
};

struct traced {
	struct hi_fixture *fx;
	struct hi_target *target;
	struct hi_event_functions functions;
	struct hi_event_source *source;
	struct hi_unwind_tables tables;
	struct hi_event_sink sink;
	struct hi_event
		events[TRACED_EVENTS]; /* the last ones, at n_events % TRACED_EVENTS */
	size_t n_events;
	struct hi_event_stack stacks[TRACED_STACKS]; /* by hash; 0: free */
	Dwfl *dwfl;				     /* NULL: not open */
	struct traced_frames truth, own;
};

struct traced_held {
	uint64_t block;
	int tid;
};

/* Starts to follow a program that is ready; ended with the test. The second awaits that
 * it says "ready". */
struct traced *traced_ready(struct hi_fixture *fx);
struct traced *traced_start(struct hi_fixture *fx);
/* Anew, of what is mapped now. */
void traced_find_tables(struct traced *t);
/* Drains the events, too. */
struct traced_held traced_await_held(struct traced *t);
/* Sets t->truth and t->own. */
void traced_look_at(struct traced *t, pid_t tid);
/* "go on", and awaits "done". */
void traced_let_go(struct traced *t);
/* Of the last event that gave the block; NULL: none. */
const struct hi_event_stack *traced_stack_of(struct traced *t, uint64_t addr);
void traced_print(const char *what, const void *frames, size_t n);
/* The walk in user space is libdwfl's. */
void traced_expect_own(const struct traced *t);
/* The event's is libdwfl's, or the innermost part that has room. */
void traced_expect_event(struct traced *t, uint64_t block);

#endif
