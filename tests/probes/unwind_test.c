/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stacks of allocation events, and those that the same walk finds in user space, against
 * libdwfl's of the same thread: stacks of many shapes, and tables that change.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probes/events/unwind_builder.h"
#include "tests/harness.h"
#include "tests/support/traced_stacks.h"

static void expect_shape(struct traced *t, const char *shape)
{
	struct traced_held held;

	hi_test_note("%s", shape);
	hi_fixture_tell(t->fx, shape);
	held = traced_await_held(t);
	traced_look_at(t, held.tid);
	traced_expect_own(t);
	if (t->source)
		traced_expect_event(t, held.block);
	traced_let_go(t);
}

HI_TEST_ROOT(unwind, equals_libdwfl_without_frame_pointers)
{
	struct traced *t = traced_start(hi_fixture_start("unwind_shapes", NULL));

	expect_shape(t, "recurse 0");
	expect_shape(t, "recurse 5");
	expect_shape(t, "recurse 60");
}

HI_TEST_ROOT(unwind, is_cut_behind_the_last_frame_that_has_room)
{
	struct traced *t = traced_start(hi_fixture_start("unwind_shapes", NULL));

	expect_shape(t, "recurse 121");
	expect_shape(t, "recurse 122");
	expect_shape(t, "recurse 123");
	expect_shape(t, "recurse 300");
}

HI_TEST_ROOT(unwind, equals_libdwfl_with_frames_of_variable_size)
{
	struct traced *t = traced_start(hi_fixture_start("unwind_shapes", NULL));

	expect_shape(t, "alloca 9");
	expect_shape(t, "aligned 9");
	expect_shape(t, "both 9");
	expect_shape(t, "sort 7");
}

HI_TEST_ROOT(unwind, equals_libdwfl_behind_signal_handlers)
{
	struct traced *t = traced_start(hi_fixture_start("unwind_shapes", NULL));

	expect_shape(t, "signal 0");
	expect_shape(t, "signal 1");
	expect_shape(t, "signal 2");
	expect_shape(t, "signal 3");
}

HI_TEST_ROOT(unwind, ends_where_a_thread_begins)
{
	struct traced *t = traced_start(hi_fixture_start("unwind_shapes", NULL));

	expect_shape(t, "thread 4");
}

HI_TEST_ROOT(unwind, equals_libdwfl_behind_tail_calls)
{
	struct traced *t = traced_start(hi_fixture_start("unwind_shapes", NULL));

	expect_shape(t, "tail 0");
	expect_shape(t, "tail 3");
}

/* The return address is that of the next function. */
HI_TEST_ROOT(unwind, equals_libdwfl_where_a_function_ends_with_a_call)
{
	struct traced *t = traced_start(hi_fixture_start("unwind_shapes", NULL));

	expect_shape(t, "noreturn 0");
	expect_shape(t, "noreturn 4");
}

/* A signal interrupts clock_gettime() in the kernel's own code. */
HI_TEST_ROOT(unwind, equals_libdwfl_through_the_vdso)
{
	struct traced *t = traced_start(hi_fixture_start("unwind_shapes", NULL));

	for (int i = 0; i < 5; i++)
		expect_shape(t, "vdso 0");
}

/* Five million frames: the innermost ones are kept, and a walk has an end. */
HI_TEST_ROOT(unwind, ends_in_an_endless_recursion)
{
	struct traced *t = traced_start(hi_fixture_start("unwind_shapes", NULL));
	const struct hi_event_stack *stack;
	struct traced_held held;

	hi_fixture_tell(t->fx, "deep 5000000");
	held = traced_await_held(t);
	stack = traced_stack_of(t, held.block);
	HI_ASSERT(stack);
	HI_ASSERT_EQ(1, stack->cut);
	HI_ASSERT_EQ(HI_STACK_FRAMES, stack->n);
	for (unsigned i = 3; i < stack->n; i++)
		HI_ASSERT_EQ(stack->frames[2], stack->frames[i]);
	traced_let_go(t);
}

/* ---- files that are gone ---- */

static void remove_copy(void *path)
{
	unlink(path);
}

static void copy_fixture(const char *name, const char *path)
{
	char command[512];

	snprintf(command, sizeof(command), "cp " HI_FIXTURE_DIR "/%s %s", name, path);
	HI_ASSERT_EQ(0, system(command));
}

HI_TEST_ROOT(unwind, equals_libdwfl_in_a_deleted_program)
{
	static char path[64];
	struct hi_fixture *fx;
	struct traced *t;

	snprintf(path, sizeof(path), "/tmp/deleted-%d", (int)getpid());
	hi_test_defer(remove_copy, path);
	copy_fixture("unwind_shapes", path);
	fx = hi_fixture_start(path, NULL);
	hi_fixture_read_until(fx, "ready", NULL, NULL);
	HI_ASSERT_EQ(0, unlink(path));
	t = traced_ready(fx);
	expect_shape(t, "recurse 5");
	expect_shape(t, "both 5");
	expect_shape(t, "sort 7");
}

static void expect_static(const char *fixture)
{
	struct traced *t = traced_start(hi_fixture_start(fixture, NULL));

	expect_shape(t, "recurse 5");
	expect_shape(t, "both 5");
	expect_shape(t, "sort 7");
	expect_shape(t, "signal 3");
	expect_shape(t, "thread 3");
}

HI_TEST_ROOT(unwind, equals_libdwfl_in_static_programs)
{
	expect_static("unwind_shapes_static");
	expect_static("unwind_shapes_static_pie");
}

HI_TEST_ROOT(unwind, equals_libdwfl_where_there_is_no_eh_frame)
{
	struct traced *t =
		traced_start(hi_fixture_start("unwind_shapes_debug_frame", NULL));

	expect_shape(t, "recurse 5");
	expect_shape(t, "both 5");
	expect_shape(t, "sort 7");
	expect_shape(t, "signal 1");
}

/* ---- a library that is loaded while events are made ---- */

HI_TEST_ROOT(unwind, takes_more_tables_while_events_are_made)
{
	struct traced *t = traced_start(hi_fixture_start("unwind_shapes", NULL));
	const struct hi_event_stack *stack;
	struct hi_error err;
	struct traced_held held;

	hi_fixture_tell(t->fx, HI_FIXTURE_DIR "/libcalled_late.so");
	held = traced_await_held(t);
	stack = traced_stack_of(t, held.block);
	HI_ASSERT(stack);
	HI_ASSERT_EQ(1, stack->cut);
	HI_ASSERT_EQ(2, stack->n);
	traced_find_tables(t);
	HI_ASSERT_OK(hi_event_source_set_unwind(t->source, &t->tables, &err), &err);
	traced_let_go(t);
	expect_shape(t, HI_FIXTURE_DIR "/libcalled_late.so");
}

/* The same with modules below all others, so that nothing is where it was. */
static void shift_tables(const struct hi_unwind_tables *tables, unsigned n,
			 struct hi_unwind_tables *ret)
{
	struct hi_unwind_builder builder = {};
	struct hi_unwind_tables low;
	struct hi_error err;

	for (unsigned i = 0; i < n; i++) {
		const struct hi_unwind_rule wrong = {8 * (int)i + 400, 0, HI_UNWIND_RSP,
						     0};
		uint64_t start = 0x10000 + i * 0x3000ull;

		HI_ASSERT(hi_unwind_builder_begin(&builder, start, start + 0x2000));
		HI_ASSERT(hi_unwind_builder_row(&builder, start + i, &wrong));
		hi_unwind_builder_end(&builder);
	}
	HI_ASSERT_OK(hi_unwind_builder_finish(&builder, &low, &err), &err);
	HI_ASSERT_OK(hi_unwind_tables_merge(tables, &low, ret, &err), &err);
	hi_unwind_builder_free(&builder);
	hi_unwind_tables_free(&low);
}

/* All stacks lead to where the program began. */
static void expect_whole_stacks(const struct traced *t)
{
	uint64_t first = 0;
	size_t n = 0;

	for (size_t i = 0; i < TRACED_STACKS; i++) {
		const struct hi_event_stack *stack = &t->stacks[i];

		if (!stack->stack)
			continue;
		first = n++ ? first : stack->frames[stack->n - 1];
		HI_ASSERT_EQ(0, stack->cut);
		HI_ASSERT_EQ(first, stack->frames[stack->n - 1]);
	}
	hi_test_note("%zu stacks, %zu events", n, t->n_events);
	HI_ASSERT(n > 100);
}

HI_TEST_ROOT(unwind, never_mixes_tables_that_are_replaced)
{
	struct traced *t = traced_start(hi_fixture_start("unwind_cxx", NULL));
	struct hi_error err;

	for (unsigned i = 0; i < 300; i++) {
		struct hi_unwind_tables shifted;

		shift_tables(&t->tables, i % 7 * 5, &shifted);
		HI_ASSERT_OK(hi_event_source_set_unwind(t->source, &shifted, &err), &err);
		hi_unwind_tables_free(&shifted);
		HI_ASSERT_OK(hi_event_source_poll(t->source, 1, &t->sink, &err), &err);
	}
	expect_whole_stacks(t);
}

HI_TEST_ROOT(unwind, refuses_tables_without_a_word)
{
	struct traced *t = traced_start(hi_fixture_start("unwind_shapes", NULL));
	const struct hi_unwind_tables none = {};

	HI_ASSERT_STATUS(HI_BAD_DATA, hi_event_source_set_unwind(t->source, &none, NULL));
	expect_shape(t, "recurse 3");
}
